/* Every scheme, form and velocity, with and without diffusion and source, in every order of accuracy and in
 * both precisions, against the equation and the schemes as textbooks have them. */
#include "lab.h"

#include <stdlib.h>

#include "textbook.h"

/* Relative difference after a few steps; the first time is not 0, so that g(t) and the source have moved. */
static double difference(const config *config, int steps) {
  const double t = 0.13, dt = 0.011;
  lab lab;
  double *ours = lab_array(config);
  double *theirs = lab_array(config);
  lab_open(&lab, config);
  lab_load(&lab, theirs);
  lab_march(&lab, t, dt, steps);
  lab_load(&lab, ours);
  lab_close(&lab);
  textbook book = textbook_open(config);
  for (int i = 0; i < steps; i++) textbook_step(&book, t + i * dt, dt, theirs);
  textbook_close(&book);
  const double result = lab_difference(config, ours, theirs) / lab_largest(config, theirs);
  free(ours);
  free(theirs);
  return result;
}

static config case_of(int scheme, int velocity, int form) {
  config config = lab_config(17, 12, 14);
  config.l[1] = 0.8;
  config.l[2] = 1.1;
  config.background = 0.1;
  config.period = 1.5;
  config.scheme = scheme;
  config.velocity = velocity;
  config.form = (advection_form)form;
  return config;
}

static void test_schemes_forms_and_velocities(void **state) {
  (void)state;
  for (int scheme = 0; schemes_at(scheme) != NULL; scheme++) {
    for (int velocity = 0; lab_has_velocity(velocity); velocity++) {
      for (int form = 0; form < 3; form++) {
        config config = case_of(scheme, velocity, form);
        config.diffusivity = (scheme + velocity + form) % 2 == 0 ? 0.003 : 0.0;
        config.difference = (config_difference)((scheme + form) % 2);
        lab_between(difference(&config, 6), 0.0, 1e-12, "%s, %s, %s, kappa %g",
                    schemes_at(config.scheme)->name, velocities_at(config.velocity)->name,
                    config_form_name(config.form), config.diffusivity);
      }
    }
  }
}

static void test_source(void **state) {
  (void)state;
  for (int scheme = 0; schemes_at(scheme) != NULL; scheme++) {
    for (int velocity = 0; lab_has_velocity(velocity); velocity++) {
      config config = case_of(scheme, velocity, velocity % 3);
      config.initial = cases_find("manufactured");
      config.wave_number[0] = 2;
      config.diffusivity = 0.003;
      lab_between(difference(&config, 6), 0.0, 1e-12, "%s, %s with a source", schemes_at(config.scheme)->name,
                  velocities_at(config.velocity)->name);
    }
  }
}

static void test_orders_of_accuracy(void **state) {
  (void)state;
  for (int order = 2; order <= 8; order += 2) {
    config config = case_of(schemes_find("rk4"), velocities_find("abc"), FORM_SKEW);
    config.diffusivity = 0.003;
    config.order = order;
    for (int upwind = 0; upwind < 2; upwind++) {
      config.difference = upwind ? CONFIG_DIFFERENCE_UPWIND : CONFIG_DIFFERENCE_CENTRAL;
      lab_between(difference(&config, 6), 0.0, 1e-12, "order %d, upwind %d", order, upwind);
    }
    config.form = FORM_CONSERVATIVE;
    config.velocity = velocities_find("deformation"); /* |u| varies along x */
    lab_between(difference(&config, 6), 0.0, 1e-12, "order %d, conservative, upwind", order);
  }
}

static void test_single_precision(void **state) {
  (void)state;
  for (int scheme = 0; schemes_at(scheme) != NULL; scheme++) {
    config config = case_of(scheme, velocities_find("deformation"), FORM_CONSERVATIVE);
    config.diffusivity = 0.003;
    config.precision = PRECISION_SINGLE;
    /* At least one rounding of single precision is there, and little more. */
    lab_between(difference(&config, 6), 1e-9, 2e-6, "%s in single precision",
                schemes_at(config.scheme)->name);
  }
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_schemes_forms_and_velocities),
      cmocka_unit_test(test_source),
      cmocka_unit_test(test_orders_of_accuracy),
      cmocka_unit_test(test_single_precision),
  };
  return lab_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
