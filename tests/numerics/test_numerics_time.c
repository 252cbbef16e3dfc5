/* Orders of the schemes in time by self-convergence on one grid: the space error is the same at every step
 * size, so differences of solutions at dt and dt/2 fall by 2^order. Also how the square norm drifts in the
 * skew form, which the space differences keep. */
#include "lab.h"

#include <math.h>
#include <stdlib.h>

#include "tableau.h"

/* dt, dt/2, dt/4: the order from the two differences. */
static double self_convergence(const config *config, double end, int64_t steps) {
  double *phi[3];
  for (int i = 0; i < 3; i++) phi[i] = lab_solve(config, end / (double)(steps << i), steps << i);
  const double order =
      lab_order(lab_difference(config, phi[0], phi[1]), lab_difference(config, phi[1], phi[2]), 2.0);
  for (int i = 0; i < 3; i++) free(phi[i]);
  return order;
}

static config case_of(int scheme, int velocity) {
  config config = lab_config(20, 18, 16);
  config.scheme = scheme;
  config.velocity = velocity;
  config.form = FORM_SKEW;
  config.center[0] = 0.4;
  return config;
}

/* rk4: Horner's form for the steady flow, stage fields for the others. */
static void test_orders(void **state) {
  (void)state;
  const int velocities[] = {velocities_find("abc"), velocities_find("deformation")};
  for (int scheme = 0; schemes_at(scheme) != NULL; scheme++) {
    for (int i = 0; i < 2; i++) {
      const config config = case_of(scheme, velocities[i]);
      const double order = tableau_of(schemes_at(scheme)->name)->order;
      lab_between(self_convergence(&config, 0.4, 80), order - 0.15, order + 0.15, "order of %s, %s flow",
                  schemes_at(config.scheme)->name, velocities_at(config.velocity)->name);
    }
  }
}

static void test_orders_with_source_and_diffusion(void **state) {
  (void)state;
  for (int scheme = 0; schemes_at(scheme) != NULL; scheme++) {
    config config = case_of(scheme, velocities_find("deformation"));
    config.initial = cases_find("manufactured");
    config.diffusivity = 0.01;
    const double order = tableau_of(schemes_at(scheme)->name)->order;
    lab_between(self_convergence(&config, 0.3, 40), order - 0.15, order + 0.15,
                "order of %s with source and diffusion", schemes_at(config.scheme)->name);
  }
}

/* |R(iy)| - 1 ~ y^6 for a scheme of order 4, y^4 for order 3: dt^5 and dt^3 over a given time. */
static void test_drift_of_the_skew_form(void **state) {
  (void)state;
  for (int scheme = 0; schemes_at(scheme) != NULL; scheme++) {
    const config config = case_of(scheme, velocities_find("abc"));
    double drift[2];
    for (int i = 0; i < 2; i++) {
      const int64_t steps = 40 << i;
      double *start = lab_solve(&config, 0.0, 0);
      double *end = lab_solve(&config, 0.5 / (double)steps, steps);
      drift[i] = fabs((double)(lab_squares(&config, end) / lab_squares(&config, start) - 1.0L));
      free(start);
      free(end);
    }
    const double order = tableau_drift_order(tableau_of(schemes_at(scheme)->name));
    lab_between(lab_order(drift[0], drift[1], 2.0), order - 0.15, order + 0.15,
                "exponent of the drift of the square norm, %s (%.1e)", schemes_at(config.scheme)->name,
                drift[1]);
  }
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_orders),
      cmocka_unit_test(test_orders_with_source_and_diffusion),
      cmocka_unit_test(test_drift_of_the_skew_form),
  };
  return lab_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
