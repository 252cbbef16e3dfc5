#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "kernels.h"
#include "operation_traits.h"

/* The declarations of kernels/operations.h, without any engine. */

/* A point at which parts compute nothing: it notes what is read. */
#define FDAPP_REAL double
#include "arithmetic.h"
struct operation_point {
  unsigned *inputs, *terms;
};
#include "operations.h"

ARITHMETIC number point_input(const operation_point *at, int input) {
  *at->inputs |= OPERATION_BIT(input);
  return 1.0;
}

ARITHMETIC number point_term(const operation_point *at, int term) {
  *at->terms |= OPERATION_BIT(term);
  return 1.0;
}

ARITHMETIC number point_scalar(const operation_point *at, int scalar) {
  (void)at;
  (void)scalar;
  return 1.0;
}

ARITHMETIC number point_weight(const operation_point *at, int weight) {
  (void)at;
  (void)weight;
  return 1.0;
}

/* What parts and the sum read is what the declaration says that they read. */
static void output_check(const kernels_way *way, unsigned additions) {
  const unsigned options = way->options | additions;
  const operation o = operation_describe(way->kind, options);
  unsigned inputs = 0;
  for (int k = 0; k < OPERATION_OUTPUTS; k++) {
    unsigned terms = 0;
    const operation_point at = {&inputs, &terms};
    if (!operation_stores(&o, k)) continue;
    (void)operation_output(way->kind, options, operation_parts(&o, options), operation_own(&o), k, &at);
    if (terms != o.needs[k])
      fail_msg("%s with additions %#x: .needs[%d] is %#x, but its parts read the terms %#x", way->name,
               additions, k, o.needs[k], terms);
  }
  if (inputs != operation_points(&o))
    fail_msg("%s with additions %#x: its points are %#x, but its parts and the sum read the inputs %#x",
             way->name, additions, operation_points(&o), inputs);
}

static void every_declaration_is_sound(void **state) {
  unsigned found = 0;
  (void)state;
  for (const kernels_way *way = kernels_ways; way < kernels_ways + OPERATION_WAY_COUNT; way++) {
    const char *fault = operation_fault(way->kind, way->options);
    if (fault != NULL) fail_msg("kernels/operations.h: %s: %s", way->name, fault);
    const unsigned all = operation_additions(way->kind, way->options);
    for (unsigned additions = 0, more = 1; more; more = (additions = additions_next(all, additions)) != 0)
      if (operation_combines(way->kind, way->options, additions)) output_check(way, additions);
    found |= 1U << way->kind;
  }
#define X(name, additions)                                                                                   \
  if (!(found >> OPERATION_##name & 1U)) fail_msg("operation %s has no line in OPERATION_WAYS", #name);
  OPERATIONS(X)
#undef X
}

/* Each rule refuses a declaration that breaks it alone. */
static void every_rule_refuses(void **state) {
  enum { NONE = OPERATION_NONE };
  static const struct {
    operation of;
    const char *fault;
  } broken[] = {
      {{.outputs = 1, .needs = {1}, .term = {{DIFFERENCE_FIRST, FOLD_CHAIN, {0, 0, 0}, 0}}}, "FOLD_CHAIN"},
      {{.outputs = 1, .needs = {1}, .term = {{DIFFERENCE_SECOND, FOLD_CHAIN, {0, 1, 0}, 0}}}, "FOLD_CHAIN"},
      {{.outputs = 1,
        .needs = {1},
        .velocity = VELOCITY_UNIFORM,
        .term = {{DIFFERENCE_FIRST, FOLD_VELOCITY, {0, 0, NONE}, 0}}},
       "only FOLD_SUM"},
      {{.outputs = 1, .needs = {1}, .term = {{DIFFERENCE_FIRST, FOLD_SPEED, {0, 0, 0}, 0}}},
       "a velocity that there is not"},
      {{.outputs = 1,
        .needs = {1},
        .velocity = VELOCITY_UNIFORM,
        .term = {{DIFFERENCE_FIRST, FOLD_SUM, {0, 0, 0}, 1}}},
       "a flux needs"},
      {{.outputs = 1,
        .needs = {1},
        .velocity = VELOCITY_TABLES,
        .term = {{DIFFERENCE_DISSIPATION, FOLD_SUM, {0, 0, 0}, 1}}},
       "a flux has first differences only"},
      {{.outputs = 1,
        .needs = {3},
        .term = {OPERATION_TERM(DIFFERENCE_FIRST, 0, 0, 0),
                 OPERATION_TERM(DIFFERENCE_SECOND, 1, NONE, NONE)}},
       "second derivatives"},
      {{.outputs = 3, .needs = {1, 0}, .term = {OPERATION_TERM(DIFFERENCE_FIRST, 0, 0, 0)}},
       "an output needs no term"},
      {{.outputs = 1,
        .needs = {3},
        .term = {OPERATION_TERM(DIFFERENCE_FIRST, 0, 0, 0), OPERATION_TERM(DIFFERENCE_FIRST, 1, 1, 1)}},
       "as a field"},
      {{.outputs = 1,
        .needs = {3},
        .term = {OPERATION_TERM(DIFFERENCE_FIRST, 0, 1, 2), OPERATION_TERM(DIFFERENCE_FIRST, 3, 1, 2)}},
       "as a component"},
      {{.outputs = 1, .needs = {1}, .term = {OPERATION_TERM(DIFFERENCE_FIRST, 1, 0, NONE)}},
       "along each axis"},
      {{.outputs = 1,
        .needs = {1},
        .velocity = VELOCITY_TABLES,
        .term = {{DIFFERENCE_FIRST, FOLD_SUM, {0, 0, NONE}, 1}}},
       "of one input can leave out an axis"},
      {{.outputs = 1,
        .needs = {3},
        .velocity = VELOCITY_TABLES,
        .term = {{DIFFERENCE_FIRST, FOLD_SUM, {0, 0, 0}, 1}, OPERATION_TERM(DIFFERENCE_FIRST, 1, 2, 3)}},
       "two triples"},
      {{.outputs = 1, .needs = {1}, .part = {0, 1}, .term = {OPERATION_TERM(DIFFERENCE_FIRST, 0, 0, 0)}},
       "no sum that adds them"},
  };
  (void)state;
  for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
    const char *fault = declaration_fault(&broken[i].of, &broken[i].of);
    if (fault == NULL || strstr(fault, broken[i].fault) == NULL)
      fail_msg("declaration %d: expected \"%s\", found \"%s\"", (int)i, broken[i].fault,
               fault == NULL ? "no fault" : fault);
  }
  /* an addition brings the last term of an output that is always written */
  const operation late = {
      .outputs = 1,
      .needs = {3},
      .term = {OPERATION_TERM(DIFFERENCE_FIRST, 0, 0, 0), OPERATION_TERM(DIFFERENCE_FIRST, 0, 0, 0)}};
  operation least = late;
  least.needs[0] = 1;
  assert_non_null(strstr(declaration_fault(&late, &least), "not part of every way"));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_declaration_is_sound),
                                     cmocka_unit_test(every_rule_refuses)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
