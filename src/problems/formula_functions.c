#include "problems/formula_functions.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "problems/rounded.h"

enum { POWER_PRECEDENCE = 7, RIGHT_ASSOCIATIVE = 1, FOLD = 1 };

/* The functions whose values are kept: those of rounded.h, which cost 100 ns to 10 us. */
#define OF_ONE(X)                                                                                            \
  X(sin)                                                                                                     \
  X(cos)                                                                                                     \
  X(tan)                                                                                                     \
  X(asin) X(acos) X(atan) X(sinh) X(cosh) X(tanh) X(asinh) X(acosh) X(atanh) X(exp) X(log) X(log2) X(log10)
#define OF_TWO(X) X(atan2) X(pow)

#define NUMBER(name) NUMBER_##name,
enum { OF_ONE(NUMBER) OF_TWO(NUMBER) KEPT };

/* 2^BITS values per function: the rows of a grid of 1024 points, with four places a cell, have 4096. */
enum { BITS = 12 };

/* The value of a function at a and b; `used` is 0 where there is none yet. */
typedef struct value_kept {
  uint64_t a, b;
  double value;
  uint64_t used;
} value_kept;

struct formula_memory {
  value_kept *of[KEPT]; /* made when the function is first called */
};

/* muParser's functions have no argument for the caller. */
static _Thread_local formula_memory *current;

formula_memory *formula_memory_make(void) {
  return calloc(1, sizeof(formula_memory));
}

void formula_memory_free(formula_memory *memory) {
  if (memory == NULL) return;
  for (int i = 0; i < KEPT; i++) free(memory->of[i]);
  free(memory);
}

void formula_memory_use(formula_memory *memory) {
  current = memory;
}

static uint64_t bits_of(double x) {
  uint64_t bits = 0;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

/* The place for a function's value at a and b (Fibonacci hashing), or NULL where nothing is kept. */
static value_kept *place_of(int function, uint64_t a, uint64_t b) {
  if (current == NULL) return NULL;
  value_kept **values = &current->of[function];
  if (*values == NULL) *values = calloc((size_t)1 << BITS, sizeof **values);
  if (*values == NULL) return NULL;
  return *values + (((a ^ (b << 1 | b >> 63)) * 0x9e3779b97f4a7c15U) >> (64 - BITS));
}

/* A function of one argument ignores b. */
static double kept(int function, double (*one)(double), double (*two)(double, double), double a, double b) {
  const uint64_t of_a = bits_of(a), of_b = bits_of(b);
  value_kept *place = place_of(function, of_a, of_b);
  if (place != NULL && place->used && place->a == of_a && place->b == of_b) return place->value;
  const double value = one != NULL ? one(a) : two(a, b);
  if (place != NULL) *place = (value_kept){of_a, of_b, value, 1};
  return value;
}

#define KEPT_OF_ONE(name)                                                                                    \
  static double kept_##name(double a) {                                                                      \
    return kept(NUMBER_##name, rounded_##name, NULL, a, 0.0);                                                \
  }
OF_ONE(KEPT_OF_ONE)

#define KEPT_OF_TWO(name)                                                                                    \
  static double kept_##name(double a, double b) {                                                            \
    return kept(NUMBER_##name, NULL, rounded_##name, a, b);                                                  \
  }
OF_TWO(KEPT_OF_TWO)

static double power(double x, double y) {
  return y == 2.0 ? x * x : kept_pow(x, y);
}

static double sign(double x) {
  return x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : 0.0;
}

static double sum_of(const double *values, int count) {
  double sum = values[0];
  for (int i = 1; i < count; i++) sum += values[i];
  return sum;
}

static double mean_of(const double *values, int count) {
  return sum_of(values, count) / count;
}

static double least_of(const double *values, int count) {
  double least = values[0];
  for (int i = 1; i < count; i++) least = fmin(least, values[i]);
  return least;
}

static double largest_of(const double *values, int count) {
  double largest = values[0];
  for (int i = 1; i < count; i++) largest = fmax(largest, values[i]);
  return largest;
}

static const struct {
  const char *name;
  muFun1_t call;
} functions[] = {
    {"sin", kept_sin},     {"cos", kept_cos},     {"tan", kept_tan},     {"asin", kept_asin},
    {"acos", kept_acos},   {"atan", kept_atan},   {"sinh", kept_sinh},   {"cosh", kept_cosh},
    {"tanh", kept_tanh},   {"asinh", kept_asinh}, {"acosh", kept_acosh}, {"atanh", kept_atanh},
    {"exp", kept_exp},     {"log", kept_log},     {"ln", kept_log},      {"log2", kept_log2},
    {"log10", kept_log10}, {"sqrt", sqrt},        {"abs", fabs},         {"sign", sign},
    {"rint", rint},
};

static const struct {
  const char *name;
  muMultFun_t call;
} lists[] = {{"min", least_of}, {"max", largest_of}, {"sum", sum_of}, {"avg", mean_of}};

enum { FUNCTIONS = sizeof functions / sizeof functions[0], LISTS = sizeof lists / sizeof lists[0] };

int formula_functions_has(const char *name) {
  for (int i = 0; i < FUNCTIONS; i++) {
    if (strcmp(functions[i].name, name) == 0) return 1;
  }
  for (int i = 0; i < LISTS; i++) {
    if (strcmp(lists[i].name, name) == 0) return 1;
  }
  return strcmp(name, "atan2") == 0;
}

const char *formula_functions_arguments(const char *name) {
  for (int i = 0; i < LISTS; i++) {
    if (strcmp(lists[i].name, name) == 0) return "one and more";
  }
  return strcmp(name, "atan2") == 0 ? "two" : "one";
}

void formula_functions_define(muParserHandle_t parser) {
  for (int i = 0; i < FUNCTIONS; i++) mupDefineFun1(parser, functions[i].name, functions[i].call, FOLD);
  for (int i = 0; i < LISTS; i++) mupDefineMultFun(parser, lists[i].name, lists[i].call, FOLD);
  mupDefineFun2(parser, "atan2", kept_atan2, FOLD);
  mupDefineOprt(parser, (const char[2]){FORMULA_POWER, '\0'}, power, POWER_PRECEDENCE, RIGHT_ASSOCIATIVE,
                FOLD);
}
