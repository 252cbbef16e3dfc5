/* The tables of the schemes: what follows from them against known numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>

#include "stepping/scheme.h"

static const scheme *form_of(config_scheme name, int linear, int steady) {
  return scheme_form(scheme_of(name), linear, steady);
}

/* Least words per point and step: those of 8, 11 and 13 as convex combinations, Horner's form and stage
 * fields have them, 14 for two registers without an increment. */
static void test_words(void **state) {
  (void)state;
  static const struct {
    config_scheme scheme;
    int linear, steady, words, slots, stages;
  } cases[] = {{CONFIG_SCHEME_SSPRK3, 1, 1, 8, 3, 3}, {CONFIG_SCHEME_SSPRK3, 0, 0, 8, 3, 3},
               {CONFIG_SCHEME_RK4, 1, 1, 11, 3, 4},   {CONFIG_SCHEME_RK4, 1, 0, 13, 4, 4},
               {CONFIG_SCHEME_RK4, 0, 1, 13, 4, 4},   {CONFIG_SCHEME_RK4, 0, 0, 13, 4, 4},
               {CONFIG_SCHEME_CK45, 1, 1, 14, 2, 5},  {CONFIG_SCHEME_CK45, 0, 0, 14, 2, 5}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const scheme *scheme = form_of(cases[i].scheme, cases[i].linear, cases[i].steady);
    assert_int_equal(scheme_words(scheme), cases[i].words);
    assert_int_equal(scheme->slots, cases[i].slots);
    assert_int_equal(scheme->stages, cases[i].stages);
  }
}

/* The ends of the intervals on the imaginary and the negative real axis: 2 sqrt 2 and sqrt 3 in closed form,
 * the others from the literature. */
static void test_limits(void **state) {
  (void)state;
  static const struct {
    config_scheme scheme;
    double imaginary, real, accuracy;
  } cases[] = {{CONFIG_SCHEME_RK4, 2.8284271247461903, 2.7852935634052816, 1e-9},
               {CONFIG_SCHEME_SSPRK3, 1.7320508075688772, 2.5127453266183286, 1e-9},
               {CONFIG_SCHEME_CK45, 3.3407179, 4.6567571, 1e-6}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const scheme *scheme = scheme_of(cases[i].scheme);
    assert_true(fabs(scheme_imaginary_limit(scheme) - cases[i].imaginary) < cases[i].accuracy);
    assert_true(fabs(scheme_real_limit(scheme) - cases[i].real) < cases[i].accuracy);
  }
}

/* A table that a stage can follow: slots that exist, f not overwritten, a constant state kept, times that
 * agree with the weights (the state of a stage is at the time c of the stage that reads it). */
static void check_table(const scheme *scheme) {
  double time[SCHEME_SLOTS] = {0.0}; /* of the states in the slots, over dt */
  assert_true(scheme->stages > 0 && scheme->stages <= SCHEME_STAGES && scheme->slots <= SCHEME_SLOTS);
  for (int i = 0; i < scheme->stages; i++) {
    const scheme_stage *stage = &scheme->stage[i];
    assert_true(stage->out != stage->f);
    assert_true(stage->out < scheme->slots && stage->f < scheme->slots && stage->base < scheme->slots);
    assert_true(fabs(time[stage->f] - stage->c) < 1e-13);
    double sum = time[stage->base] + stage->weight * (time[stage->f] - time[stage->base]) + stage->b;
    for (int k = 0; k < stage->extras; k++)
      sum += stage->extra[k].weight * (time[stage->extra[k].slot] - time[stage->base]);
    time[stage->out] = sum;
  }
  assert_true(fabs(time[scheme->result] - 1.0) < 1e-13);
}

/* For small z a step of order p is exp z up to a term of z^(p+1); the form for linear right-hand sides is the
 * same polynomial. */
static void test_tables(void **state) {
  (void)state;
  for (int i = 0; i < CONFIG_SCHEME_COUNT; i++) {
    const scheme *scheme = scheme_of((config_scheme)i);
    check_table(scheme);
    const double error = fabs(scheme_growth(scheme, 0.1, 0.0) - exp(0.1));
    const double next = fabs(scheme_growth(scheme, 0.05, 0.0) - exp(0.05));
    assert_true(fabs(log2(error / next) - (scheme->order + 1)) < 0.1);
    const struct scheme *form = scheme_form(scheme, 1, 1);
    for (int k = 0; k < 16; k++)
      assert_true(fabs(scheme_growth(form, -0.2 * k, 0.15 * k) - scheme_growth(scheme, -0.2 * k, 0.15 * k)) <
                  1e-13);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_words),
      cmocka_unit_test(test_limits),
      cmocka_unit_test(test_tables),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
