/* What the forms keep: mass in the conservative form, whatever the velocity and the differences; the square
 * norm in the skew form as dt goes to zero (test_numerics_time measures how fast); a constant field in the
 * advective form. */
#include "lab.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 300 };

/* Unequal numbers of points: with equal ones the differences see no divergence in the deformation. */
static config case_of(int velocity, advection_form form) {
  config config = lab_config(20, 16, 18);
  config.l[1] = 0.9;
  config.velocity = velocity;
  config.form = form;
  config.period = 0.7;
  config.center[0] = 0.3;
  return config;
}

static double step_size(const config *config) {
  lab lab;
  lab_open(&lab, config);
  const double dt = 0.9 / lab.solver.rates.advection;
  lab_close(&lab);
  return dt;
}

static double drift(const config *config, long double (*sum)(const struct config *, const double *),
                    double dt) {
  double *start = lab_solve(config, 0.0, 0);
  double *end = lab_solve(config, dt, STEPS);
  const double result = fabs((double)(sum(config, end) / sum(config, start) - 1.0L));
  free(start);
  free(end);
  return result;
}

static void test_mass_of_the_conservative_form(void **state) {
  (void)state;
  for (int scheme = 0; schemes_at(scheme) != NULL; scheme++) {
    for (int velocity = 0; lab_has_velocity(velocity); velocity++) {
      config config = case_of(velocity, FORM_CONSERVATIVE);
      config.scheme = scheme;
      config.diffusivity = velocity % 2 == 0 ? 0.0 : 1e-3;
      lab_between(drift(&config, lab_sum, step_size(&config)), 0.0, 1e-13, "drift of the mass, %s, %s",
                  schemes_at(config.scheme)->name, velocities_at(config.velocity)->name);
    }
  }
}

/* With upwind differences of every order, in the program's velocities and in one by formula whose components
 * vary along their own axes, change sign there and have a divergence. */
static void test_mass_of_upwind_differences(void **state) {
  (void)state;
  for (int order = 2; order <= 8; order += 2) {
    for (int velocity = 0; velocity == 0 || lab_has_velocity(velocity - 1); velocity++) {
      config config = case_of(velocity == 0 ? velocities_find("formula") : velocity - 1, FORM_CONSERVATIVE);
      (void)strcpy(config.factor, "1");
      (void)strcpy(config.component[0], "0.3 + sin(2*pi*x)*cos(2*pi*z)");
      (void)strcpy(config.component[1], "cos(2*pi*y/0.9) - 0.2");
      (void)strcpy(config.component[2], "0.4*sin(4*pi*z)");
      config.order = order;
      config.difference = CONFIG_DIFFERENCE_UPWIND;
      lab_between(drift(&config, lab_sum, 0.5 * step_size(&config)), 0.0, 1e-13,
                  "drift of the mass, upwind, order %d, %s", order, velocities_at(config.velocity)->name);
    }
  }
}

/* The tests above can fail: the advective form does not keep the mass. */
static void test_mass_of_the_advective_form(void **state) {
  (void)state;
  const config config = case_of(velocities_find("deformation"), FORM_ADVECTIVE);
  lab_between(drift(&config, lab_sum, step_size(&config)), 1e-10, 1.0, "drift of the mass, advective form");
}

/* The drift of the skew form is the scheme's, and vanishes with dt; that of the others is the space's. */
static void test_square_norm(void **state) {
  (void)state;
  static const double highest[3] = {[FORM_ADVECTIVE] = 1.0, [FORM_CONSERVATIVE] = 1.0, [FORM_SKEW] = 1e-10};
  static const double lowest[3] = {[FORM_ADVECTIVE] = 1e-8, [FORM_CONSERVATIVE] = 1e-8, [FORM_SKEW] = 0.0};
  for (int form = 0; form < 3; form++) {
    const config config = case_of(velocities_find("deformation"), (advection_form)form);
    lab_between(drift(&config, lab_squares, 0.02 * step_size(&config)), lowest[form], highest[form],
                "drift of the square norm, %s", config_form_name(config.form));
  }
}

static void test_constant_field_of_the_advective_form(void **state) {
  (void)state;
  for (int velocity = 0; lab_has_velocity(velocity); velocity++) {
    config config = case_of(velocity, FORM_ADVECTIVE);
    config.amplitude = 0.0;
    config.background = 0.7;
    config.diffusivity = 1e-3;
    double *start = lab_solve(&config, 0.0, 0);
    double *end = lab_solve(&config, step_size(&config), STEPS);
    lab_between(lab_difference(&config, start, end), 0.0, 1e-14, "change of a constant field, %s",
                velocities_at(config.velocity)->name);
    free(start);
    free(end);
  }
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_mass_of_the_conservative_form),
      cmocka_unit_test(test_mass_of_upwind_differences),
      cmocka_unit_test(test_mass_of_the_advective_form),
      cmocka_unit_test(test_square_norm),
      cmocka_unit_test(test_constant_field_of_the_advective_form),
  };
  return lab_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
