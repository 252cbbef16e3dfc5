#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <mpfr.h>
#include <stdint.h>
#include <string.h>

#include "problems/rounded.h"

/* Every function against MPFR with 400 bits, rounded to a double at the end; and the known arguments whose
 * values lie nearest to the middle between two doubles (V. Lefevre and J.-M. Muller, Worst cases for correct
 * rounding of the elementary functions in double precision, ARITH 15, 2001), which no evaluation in pairs of
 * doubles can decide. */

enum { RANDOM = 5000, DIGITS = 400 };

typedef struct function {
  const char *name;
  double (*found)(double x);
  int (*expected)(mpfr_t result, const mpfr_t x, mpfr_rnd_t rounding);
  double low, high; /* of arguments */
  double hard;      /* an argument of the tables, or 0 */
} function;

static const function functions[] = {
    {"sin", rounded_sin, mpfr_sin, -30.0, 30.0, 0x1.E0000000001C2p-20},
    {"cos", rounded_cos, mpfr_cos, -30.0, 30.0, 0x1.06B505550E6B2p-9},
    {"tan", rounded_tan, mpfr_tan, -30.0, 30.0, 0.0},
    {"asin", rounded_asin, mpfr_asin, -1.0, 1.0, 0.0},
    {"acos", rounded_acos, mpfr_acos, -1.0, 1.0, 0.0},
    {"atan", rounded_atan, mpfr_atan, -9.0, 9.0, 0.0},
    {"sinh", rounded_sinh, mpfr_sinh, -9.0, 9.0, 0.0},
    {"cosh", rounded_cosh, mpfr_cosh, -9.0, 9.0, 0.0},
    {"tanh", rounded_tanh, mpfr_tanh, -21.0, 21.0, 0.0},
    {"asinh", rounded_asinh, mpfr_asinh, -9.0, 9.0, 0.0},
    {"acosh", rounded_acosh, mpfr_acosh, 1.0, 9.0, 0.0},
    {"atanh", rounded_atanh, mpfr_atanh, -1.0, 1.0, 0.0},
    {"exp", rounded_exp, mpfr_exp, -760.0, 720.0, 0x1.ACCFBE46B4EF0p-1},
    {"log", rounded_log, mpfr_log, 0.0, 3.0, 0x1.62A88613629B6p+678},
    {"log2", rounded_log2, mpfr_log2, 0.0, 9.0, 0.0},
    {"log10", rounded_log10, mpfr_log10, 0.0, 9.0, 0.0},
};
enum { FUNCTIONS = sizeof functions / sizeof functions[0] };

static double uniform(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return (double)(*state >> 11) * 0x1p-53;
}

static int same(double a, double b) {
  return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

static double expected_of(const function *f, double x) {
  mpfr_t value;
  mpfr_init2(value, DIGITS);
  mpfr_set_d(value, x, MPFR_RNDN);
  f->expected(value, value, MPFR_RNDN);
  const double result = mpfr_get_d(value, MPFR_RNDN);
  mpfr_clear(value);
  return result;
}

static void check(const function *f, double x) {
  const double expected = expected_of(f, x), found = f->found(x);
  if (!same(expected, found)) fail_msg("%s(%a): expected %a, found %a", f->name, x, expected, found);
}

static void nearest_to_the_exact_value(void **state) {
  uint64_t random = 88172645463325252U;
  (void)state;
  for (int i = 0; i < FUNCTIONS; i++) {
    const function *f = &functions[i];
    for (int k = 0; k < RANDOM; k++) {
      const double x = f->low + (f->high - f->low) * uniform(&random);
      check(f, x);
      check(f, x * ldexp(1.0, -k % 64)); /* small ones too; outside the domain both are NaN */
    }
    if (f->hard != 0.0) check(f, f->hard);
  }
}

static void ends_of_the_range(void **state) {
  static const double arguments[] = {
      0.0,      -0.0,      1.0,    -1.0,      0.5,       2.0,      3.0,
      INFINITY, -INFINITY, NAN,    0x1p-1074, 0x1p-1022, 0x1p1023, 709.78,
      709.79,   -708.5,    -744.9, -745.2,    1e22,      -1e22,    0x1.921fb54442d18p+1};
  (void)state;
  for (int i = 0; i < FUNCTIONS; i++) {
    for (size_t k = 0; k < sizeof arguments / sizeof arguments[0]; k++) check(&functions[i], arguments[k]);
  }
}

static void check_power(double x, double y) {
  mpfr_t a, b;
  mpfr_inits2(DIGITS, a, b, (mpfr_ptr)NULL);
  mpfr_set_d(a, x, MPFR_RNDN);
  mpfr_set_d(b, y, MPFR_RNDN);
  mpfr_pow(a, a, b, MPFR_RNDN);
  const double expected = mpfr_get_d(a, MPFR_RNDN), found = rounded_pow(x, y);
  mpfr_clears(a, b, (mpfr_ptr)NULL);
  if (!same(expected, found)) fail_msg("pow(%a, %a): expected %a, found %a", x, y, expected, found);
}

static void powers(void **state) {
  uint64_t random = 88172645463325252U;
  (void)state;
  for (int k = 0; k < RANDOM; k++) {
    const double x = (uniform(&random) - 0.5) * ldexp(1.0, k % 40 - 20);
    check_power(x, rint(40.0 * (uniform(&random) - 0.5)));
    check_power(ldexp(rint(x * 0x1p20), -8),
                k % 66 - 33); /* exact ones and such in the middle of two doubles */
    check_power(fabs(x), 60.0 * (uniform(&random) - 0.5));
    check_power(1.0 + x * 0x1p-30, 1e9 * (uniform(&random) - 0.5));
  }
  static const double ends[] = {0.0,  -0.0,     1.0,       -1.0, 0.5,   2.0,      3.0,
                                -3.0, INFINITY, -INFINITY, NAN,  1e300, 0x1p-1074};
  for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
    for (size_t k = 0; k < sizeof ends / sizeof ends[0]; k++) check_power(ends[i], ends[k]);
  }
}

static void two_arguments(void **state) {
  uint64_t random = 88172645463325252U;
  (void)state;
  for (int k = 0; k < RANDOM; k++) {
    const double y = uniform(&random) - 0.5, x = uniform(&random) - 0.5;
    mpfr_t a, b;
    mpfr_inits2(DIGITS, a, b, (mpfr_ptr)NULL);
    mpfr_set_d(a, y, MPFR_RNDN);
    mpfr_set_d(b, x, MPFR_RNDN);
    mpfr_atan2(a, a, b, MPFR_RNDN);
    assert_true(same(mpfr_get_d(a, MPFR_RNDN), rounded_atan2(y, x)));
    mpfr_clears(a, b, (mpfr_ptr)NULL);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nearest_to_the_exact_value),
      cmocka_unit_test(ends_of_the_range),
      cmocka_unit_test(powers),
      cmocka_unit_test(two_arguments),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
