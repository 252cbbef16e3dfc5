#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "problems/formula.h"
#include "problems/rounded.h"

/* Formulas against the same in C. */

static const double pi = 3.14159265358979323846;

static config make_config(void) {
  config config;
  memset(&config, 0, sizeof config);
  config.l[0] = 2.0;
  config.l[1] = 3.0;
  config.l[2] = 5.0;
  config.constant_count = 2;
  config.constants[0] = (config_constant){.name = "A", .value = 0.1};
  config.constants[1] = (config_constant){.name = "A_2", .value = 7.0};
  return config;
}

static double value_of(const char *text, double x, double y, double z) {
  const config config = make_config();
  formula *formula = NULL;
  const status read = formula_open(&config, text, "xyz", &formula);
  if (read != STATUS_OK) fail_msg("%s: %s", text, status_message(read));
  const double value = formula_at(formula, (const double[FORMULA_VARIABLES]){x, y, z});
  formula_close(formula);
  return value;
}

static void assert_value(const char *text, double x, double y, double z, double expected) {
  const double found = value_of(text, x, y, z);
  if (memcmp(&found, &expected, sizeof found) != 0)
    fail_msg("%s at %g, %g, %g: expected %.17g, found %.17g", text, x, y, z, expected, found);
}

static void operators(void **state) {
  (void)state;
  assert_value("1 + 2*3 - 4/8", 0, 0, 0, 6.5);
  assert_value("-x^2", 3, 0, 0, -9.0);
  assert_value("2^-1", 0, 0, 0, 0.5);
  assert_value("2^3^2", 0, 0, 0, 512.0);
  assert_value("2*x^3*y", 3, 5, 0, 270.0);
  assert_value("(x + y)*z", 1, 2, 3, 9.0);
  assert_value("x < y ? 10 : z > 2 ? 20 : 30", 1, 2, 3, 10.0);
  assert_value("x < y ? 10 : z > 2 ? 20 : 30", 2, 1, 3, 20.0);
  assert_value("x < y ? 10 : z > 2 ? 20 : 30", 2, 1, 0, 30.0);
  assert_value("(x <= 1) + (y >= 2) + (x == 1) + (x != 1) + (x < 1 || y > 1) + (x < 1 && y > 1)", 1, 2, 0,
               4.0);
  assert_value("1e-3*x + .5 + 2.", 1000, 0, 0, 3.5);
  assert_value("x^0.5", 2, 0, 0, sqrt(2.0));
  assert_value("\tx\t+\t1", 2, 0, 0, 3.0);
}

static void names(void **state) {
  (void)state;
  assert_value("pi", 0, 0, 0, pi);
  assert_value("lx + 10*ly + 100*lz", 0, 0, 0, 532.0);
  assert_value("A + A_2*x", 2, 0, 0, 14.1);
}

/* Of one argument each: correctly rounded, so the number that the definition gives. */
static void known_functions(void **state) {
  (void)state;
  assert_value("sin(x) + cos(y)", 0.3, 0.4, 0, rounded_sin(0.3) + rounded_cos(0.4));
  assert_value("tan(x)", 0.3, 0, 0, rounded_tan(0.3));
  assert_value("asin(x)*acos(y)*atan(z)", 0.3, 0.4, 0.5,
               rounded_asin(0.3) * rounded_acos(0.4) * rounded_atan(0.5));
  assert_value("atan2(x, y)", 0.3, -0.4, 0, rounded_atan2(0.3, -0.4));
  assert_value("sinh(x)*cosh(y)*tanh(z)", 0.3, 0.4, 0.5,
               rounded_sinh(0.3) * rounded_cosh(0.4) * rounded_tanh(0.5));
  assert_value("asinh(x) - acosh(y)", 0.3, 1.4, 0, rounded_asinh(0.3) - rounded_acosh(1.4));
  assert_value("atanh(x)", 0.3, 0, 0, rounded_atanh(0.3));
  assert_value("exp(x)", 0.3, 0, 0, rounded_exp(0.3));
  assert_value("log(x) - ln(x)", 0.3, 0, 0, 0.0);
  assert_value("ln(x)", 0.3, 0, 0, rounded_log(0.3));
  assert_value("log2(x) + log10(y)", 0.3, 0.4, 0, rounded_log2(0.3) + rounded_log10(0.4));
  assert_value("x^y", 0.3, 0.4, 0, rounded_pow(0.3, 0.4));
  assert_value("x^7", 0.3, 0, 0, rounded_pow(0.3, 7.0));
  assert_value("sqrt(x)", 2, 0, 0, sqrt(2.0));
  assert_value("abs(x) + sign(x) + rint(y)", -3, 2.5, 0, 4.0);
  assert_value("min(x, y, z) + 10*max(x, y, z) + 100*sum(x, y, z) + 1000*avg(x, y, z)", 1, 2, 6, 3961.0);
}

static void faults_have_places(void **state) {
  static const struct {
    const char *text, *first, *second;
  } wrong[] = {
      {"cosx(x)", "character 1: ", "'cosx' is not known"},
      {"x + t", "character 5: ", "'t' is not known; accepted: numbers, x, y, z, pi, lx, ly, lz, A, A_2, sin"},
      {"sin(x", "character 6: ", "not closed"},
      {"x +", "character 4: ", "ends where a value"},
      {"2 x", "character 3: ", "'x' stands where an operator"},
      {"x)", "character 2: ", "')' is not expected"},
      {"x, y", "character 2: ", "comma"},
      {"sin(x, y)", "character ", "too many arguments of sin"},
      {"atan2(x)", "character ", "too few arguments of atan2"},
      {"x = 3", "character 3: ", "'=' cannot be read"},
      {"x ~ 3", "character 3: ", "'~' cannot be read"},
      {"\"x\"", "character 1: ", "cannot be read"},
      {"x + \xC3\xA9", "character 5: ", "a character beyond ASCII"},
      {"x ? 1", "character 6: ", "':'"},
      {"x^", "character 3: ", "ends where a value"},
      {"_pi", "character 1: ", "'_pi' is not known"},
      {"   ", "character ", "a formula is expected"},
      {"1e400", "character 1: ", "'1e400' is no number"},
      {"x + 1.2.3", "character 5: ", "'1.2.3' is no number"},
      {"2*0x10", "character 3: ", "'0x10' is no number"},
      {"1_000", "character 1: ", "'1_000' is no number"},
      {"1e", "character 1: ", "'1e' is no number"},
      {"1:2", "character 2: ", "':' without '?'"},
      {"x ? 1 : y : 2", "character 11: ", "':' without '?'"},
      {"x % 2", "character 3: ", "'%' cannot be read"},
      {"!x", "character 1: ", "'!' cannot be read"},
      {"50%", "character 3: ", "'%' cannot be read"},
      {"3! != x", "character 2: ", "'!' cannot be read"},
      {"x**2", "character 2: ", "'**' cannot be read; accepted: ^"},
      {"x + \x01", "character 5: ", "a control character"},
      {"sin x", "character 1: ", "'sin' without its arguments"},
      {"max(x, y) + (x, y)", "character ", "parentheses of no function"},
  };
  const config config = make_config();
  (void)state;
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    formula *formula = NULL;
    assert_int_equal(formula_open(&config, wrong[i].text, "xyz", &formula), STATUS_USAGE);
    assert_null(formula);
    const char *said = status_message(STATUS_USAGE);
    if (strncmp(said, wrong[i].first, strlen(wrong[i].first)) != 0 || strstr(said, wrong[i].second) == NULL ||
        strstr(said, "; accepted: ") == NULL)
      fail_msg("%s: %s", wrong[i].text, said);
    status_clear();
  }
}

static void of_time(void **state) {
  const config config = make_config();
  formula *formula = NULL;
  (void)state;
  assert_int_equal(formula_open(&config, "A*t", "t", &formula), STATUS_OK);
  assert_true(formula_varies(formula));
  assert_true(formula_at(formula, (const double[FORMULA_VARIABLES]){20.0}) == 2.0);
  formula_close(formula);
  assert_int_equal(formula_open(&config, "A/2", "t", &formula), STATUS_OK);
  assert_false(formula_varies(formula));
  formula_close(formula);
  assert_int_equal(formula_open(&config, "x", "t", &formula), STATUS_USAGE);
  status_clear();
}

/* Values that are kept are those of their arguments: places that come again, in several orders, more of them
 * than are kept, and zeros of both signs. */
static void places_that_come_again(void **state) {
  const config config = make_config();
  formula *formula = NULL;
  (void)state;
  assert_int_equal(formula_open(&config, "sin(x)*cos(y) + atan2(y, x) + exp(x)^y", "xyz", &formula),
                   STATUS_OK);
  for (int i = 0; i < 40000; i++) {
    const int k = i < 20000 ? i : i * 7 % 20000;
    const double x = k % 100 * 0.03, y = k / 100 * 0.02; /* z changes alone now and then */
    const double found = formula_at(formula, (const double[FORMULA_VARIABLES]){x, y, i % 3});
    const double power = rounded_pow(rounded_exp(x), y);
    const double expected = rounded_sin(x) * rounded_cos(y) + rounded_atan2(y, x) + power;
    if (memcmp(&found, &expected, sizeof found) != 0)
      fail_msg("at %g, %g: expected %a, found %a", x, y, expected, found);
  }
  formula_close(formula);
  assert_int_equal(formula_open(&config, "atan2(x, -1)", "xyz", &formula), STATUS_OK);
  for (int i = 0; i < 4; i++) {
    const double zero = i % 2 == 0 ? 0.0 : -0.0;
    const double found = formula_at(formula, (const double[FORMULA_VARIABLES]){zero});
    assert_true(found == (i % 2 == 0 ? rounded_atan2(0.0, -1.0) : rounded_atan2(-0.0, -1.0)));
  }
  formula_close(formula);
}

static void free_names(void **state) {
  static const char *const taken[] = {"x",   "t", "pi", "lz", "sin", "atan2",
                                      "avg", "",  "2a", "_a", "a-b", "a b"};
  static const char *const free[] = {"a", "B2", "a_b", "xx", "Pi"};
  (void)state;
  for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++) assert_false(formula_name_free(taken[i]));
  for (size_t i = 0; i < sizeof free / sizeof free[0]; i++) assert_true(formula_name_free(free[i]));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(operators),
      cmocka_unit_test(names),
      cmocka_unit_test(known_functions),
      cmocka_unit_test(faults_have_places),
      cmocka_unit_test(of_time),
      cmocka_unit_test(free_names),
      cmocka_unit_test(places_that_come_again),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
