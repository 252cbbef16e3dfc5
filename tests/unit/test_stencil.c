#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>

#include "stencil.h"

/* Coefficients and symbols against published figures and against polynomials. */

static const double pi = 3.14159265358979323846;

static void assert_near(double expected, double found, double error) {
  if (!(fabs(expected - found) <= error)) fail_msg("expected %.12g, found %.12g", expected, found);
}

static void known_coefficients(void **state) {
  (void)state;
  const stencil s = stencil_make(8, (const double[3]){1.0, 0.5, 2.0});
  const double first[4] = {4.0 / 5.0, -1.0 / 5.0, 4.0 / 105.0, -1.0 / 280.0};
  const double second[5] = {-205.0 / 72.0, 8.0 / 5.0, -1.0 / 5.0, 8.0 / 315.0, -1.0 / 560.0};
  assert_int_equal(s.order, 8);
  for (int k = 0; k < 4; k++) {
    assert_true(s.first[0][k] == first[k]);
    assert_true(s.first[1][k] == first[k] / 0.5 && s.first[2][k] == first[k] / 2.0);
  }
  for (int k = 0; k < 5; k++) {
    assert_true(s.second[0][k] == second[k]);
    assert_true(s.second[1][k] == second[k] / 0.25 && s.second[2][k] == second[k] / 4.0);
  }
}

/* Order p: exact on x^0 .. x^p for the first, x^0 .. x^(p+1) for the second derivative, and not beyond. */
static void exact_on_polynomials(void **state) {
  (void)state;
  for (int order = 2; order <= 8; order += 2) {
    const stencil s = stencil_make(order, (const double[3]){1.0, 1.0, 1.0});
    for (int power = 0; power <= order + 2; power++) {
      double first = 0.0, second = power == 0 ? s.second[0][0] : 0.0;
      for (int k = 1; k <= 4; k++) {
        first += s.first[0][k - 1] * (pow(k, power) - pow(-k, power));
        second += s.second[0][k] * (pow(k, power) + pow(-k, power));
      }
      const double first_error = fabs(first - (power == 1 ? 1.0 : 0.0));
      const double second_error = fabs(second - (power == 2 ? 2.0 : 0.0));
      assert_true(power == order + 1 ? first_error > 1e-3 : first_error < 1e-9);
      assert_true(power == order + 2 ? second_error > 1e-3 : second_error < 1e-9);
    }
  }
}

/* The upwind-biased difference -f' + D f of a flow to the right: no weight on the last point downstream,
 * twice the central one on the last point upstream; of one order less than the central difference. */
static void dissipation_makes_upwind(void **state) {
  (void)state;
  for (int order = 2; order <= 8; order += 2) {
    const stencil s = stencil_make(order, (const double[3]){0.5, 1.0, 2.0});
    const int last = order / 2 - 1;
    assert_near(0.0, -s.first[0][last] + s.dissipation[0][last], 1e-16);
    assert_near(2.0 * s.first[0][last], s.first[0][last] + s.dissipation[0][last], 1e-16);
    assert_true(s.dissipation[1][last] == s.dissipation[0][last] / 2.0);
    for (int power = 0; power <= order; power++) {
      double sum = 0.0;
      for (int k = 1; k <= 4; k++)
        sum += s.dissipation[1][k - 1] * (pow(k, power) + pow(-k, power) - (power == 0 ? 2.0 : 0.0));
      assert_true(power == order ? fabs(sum) > 1e-3 : fabs(sum) < 1e-9);
    }
    for (int i = 1; i <= 32; i++) assert_true(stencil_dissipation_symbol(order, pi * i / 32.0) > 0.0);
    /* At the Nyquist wave delta^2k is 4^k: 2, 4/3, 16/15, 32/35. */
    const double nyquist[4] = {2.0, 4.0 / 3.0, 16.0 / 15.0, 32.0 / 35.0};
    assert_near(nyquist[order / 2 - 1], stencil_dissipation_symbol(order, pi), 1e-12);
  }
}

static void known_symbols(void **state) {
  (void)state;
  assert_near(1.730598, stencil_first_maximum(8), 5e-7);
  assert_near(1.730598, stencil_first_symbol(8, 2.0334), 5e-7);
  assert_near(1.0, stencil_first_maximum(2), 1e-12);
  assert_near(6.501587, stencil_second_symbol(8, pi), 5e-7);
  assert_near(4.0, stencil_second_symbol(2, pi), 1e-12);
  for (int order = 2; order <= 8; order += 2) {
    assert_near(0.0, stencil_first_symbol(order, 0.0), 1e-15);
    assert_near(0.0, stencil_first_symbol(order, pi), 1e-12);
    assert_near(0.0, stencil_second_symbol(order, 0.0), 1e-15);
    assert_near(0.1, stencil_first_symbol(order, 0.1), 2e-4);
    assert_near(0.01, stencil_second_symbol(order, 0.1), 1e-5);
  }
  /* Leading relative error (kh)^8 / 630. */
  assert_near(pow(0.3, 8) / 630.0, 1.0 - stencil_first_symbol(8, 0.3) / 0.3, 0.05 * pow(0.3, 8) / 630.0);
  /* Points per wavelength for an error of 1 %. */
  assert_near(0.01, 1.0 - stencil_first_symbol(8, 2.0 * pi / 4.70) / (2.0 * pi / 4.70), 1e-4);
  assert_near(0.01, 1.0 - stencil_first_symbol(6, 2.0 * pi / 5.71) / (2.0 * pi / 5.71), 1e-4);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(known_coefficients),
      cmocka_unit_test(exact_on_polynomials),
      cmocka_unit_test(dissipation_makes_upwind),
      cmocka_unit_test(known_symbols),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
