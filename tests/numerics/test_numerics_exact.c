/* The whole solver against exact solutions, each written here in another way than in the program: errors fall
 * with the order of the differences. */
#include "lab.h"
#include "problems/cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tableau.h"
#include "textbook.h"

static const double pi = 3.14159265358979323846;

typedef double (*exact)(const config *config, double t, const double x[3]);

/* Largest error at t = steps dt. */
static double error_at(const config *config, double dt, int64_t steps, exact solution) {
  double *phi = lab_solve(config, dt, steps);
  double largest = 0.0;
  int64_t i = 0;
  for (int64_t z = 0; z < config->n[2]; z++) {
    for (int64_t y = 0; y < config->n[1]; y++) {
      for (int64_t x = 0; x < config->n[0]; x++, i++) {
        const double point[3] = {config->l[0] * (double)x / (double)config->n[0],
                                 config->l[1] * (double)y / (double)config->n[1],
                                 config->l[2] * (double)z / (double)config->n[2]};
        const double error = fabs(phi[i] - solution(config, (double)steps * dt, point));
        if (!(error <= largest)) largest = error;
      }
    }
  }
  free(phi);
  return largest;
}

/* cos a cos b cos c as the mean of four plane waves. */
static double cosine(const config *config, double t, const double x[3]) {
  double phase[3], sum = 0.0, squared = 0.0;
  for (int d = 0; d < 3; d++) {
    const double k = 2.0 * pi * config->wave_number[d] / config->l[d];
    phase[d] = k * (x[d] - config->uniform[d] * t);
    squared += k * k;
  }
  for (int i = 0; i < 4; i++) {
    sum += cos(phase[0] + (i & 1 ? phase[1] : -phase[1]) + (i & 2 ? phase[2] : -phase[2]));
  }
  return config->background + config->amplitude * 0.25 * sum * exp(-config->diffusivity * squared * t);
}

/* The periodic Gaussian by its Fourier series: each wave moves and decays. */
static double gaussian(const config *config, double t, const double x[3]) {
  double product = config->amplitude;
  for (int d = 0; d < 3; d++) {
    const double scale = config->width * sqrt(2.0 * pi) / config->l[d];
    double sum = scale;
    for (int m = 1; m <= 12; m++) {
      const double k = 2.0 * pi * m / config->l[d];
      const double decay = exp(-k * k * (0.5 * config->width * config->width + config->diffusivity * t));
      sum += 2.0 * scale * decay * cos(k * (x[d] - config->center[d] - config->uniform[d] * t));
    }
    product *= sum;
  }
  return config->background + product;
}

static double blob_around(const config *config, const double center[3], const double x[3]) {
  double squared = 0.0;
  for (int d = 0; d < 3; d++) {
    const double distance = remainder(x[d] - center[d], config->l[d]);
    squared += distance * distance;
  }
  const double r = sqrt(squared) / config->width;
  return config->background + (r < 1.0 ? config->amplitude * pow(cos(0.5 * pi * r), 8) : 0.0);
}

/* Where it started. */
static double blob_back(const config *config, double t, const double x[3]) {
  (void)t;
  return blob_around(config, config->center, x);
}

/* Two layers, as if each were alone. */
static double shear_layer(const config *config, double t, const double x[3]) {
  const double offset = remainder(x[1] - config->center[1] - config->uniform[1] * t, config->l[1]);
  return config->background + config->amplitude * tanh((0.25 * config->l[1] - fabs(offset)) / config->width);
}

/* Its centre turned about the middle of the box. */
static double blob_turned(const config *config, double t, const double x[3]) {
  const double angle = 2.0 * pi * t / config->period;
  const double dx = config->center[0] - 0.5 * config->l[0];
  const double dy = config->center[1] - 0.5 * config->l[1];
  const double center[3] = {0.5 * config->l[0] + cos(angle) * dx - sin(angle) * dy,
                            0.5 * config->l[1] + sin(angle) * dx + cos(angle) * dy, config->center[2]};
  return blob_around(config, center, x);
}

/* Two grids in the ratio 3 : 2, so many time steps that the error is the space differences'. */
static void check_order(config config, int coarse, double end, int64_t steps, exact solution, double order,
                        double slack, const char *what) {
  double error[2];
  for (int i = 0; i < 2; i++) {
    const int n = coarse + i * coarse / 2;
    for (int d = 0; d < 3; d++) config.n[d] = lround(n * config.l[d]);
    error[i] = error_at(&config, end / (double)steps, steps, solution);
  }
  lab_between(lab_order(error[0], error[1], 1.5), order - slack, order + slack, "order of %s (%.1e, %.1e)",
              what, error[0], error[1]);
}

static void test_translated_cosine(void **state) {
  (void)state;
  for (int order = 2; order <= 8; order += 2) {
    config config = lab_config(0, 0, 0);
    config.initial = cases_find("cosine");
    config.order = order;
    char what[64];
    (void)snprintf(what, sizeof what, "a moving wave, order %d", order);
    check_order(config, 28, 0.05, order == 8 ? 200 : 50, cosine, order, 0.1, what);
    config.difference = CONFIG_DIFFERENCE_UPWIND;
    (void)snprintf(what, sizeof what, "a moving wave, upwind order %d", order - 1);
    check_order(config, 28, 0.05, order == 8 ? 200 : 50, cosine, order - 1, 0.1, what);
  }
}

static void test_translated_and_spreading_gaussian(void **state) {
  (void)state;
  for (int order = 2; order <= 8; order += 2) {
    config config = lab_config(0, 0, 0);
    config.order = order;
    config.diffusivity = 0.01;
    config.scheme = schemes_find("ck45");
    config.background = 0.2;
    config.center[1] = 0.3;
    char what[64];
    (void)snprintf(what, sizeof what, "a moving, spreading Gaussian, order %d", order);
    check_order(config, 32, 0.15, 60, gaussian, order, 0.4, what);
  }
}

static void test_manufactured(void **state) {
  (void)state;
  for (int form = 0; form < 3; form++) {
    for (int velocity = 0; lab_has_velocity(velocity); velocity++) {
      config config = lab_config(0, 0, 0);
      config.initial = cases_find("manufactured");
      config.velocity = velocity;
      config.form = (advection_form)form;
      config.diffusivity = velocity % 2 == 0 ? 0.01 : 0.0;
      config.background = 0.5;
      config.scheme = velocity % 2 == 0 ? schemes_find("rk4") : schemes_find("ck45");
      char what[96];
      (void)snprintf(what, sizeof what, "the manufactured solution, %s, %s",
                     velocities_at(config.velocity)->name, config_form_name(config.form));
      check_order(config, 20, 0.1, 60, textbook_manufactured, 8.0, 0.3, what);
    }
  }
}

/* The same with upwind differences, in a velocity whose components vary along their own axes: in others the
 * three forms differ by rounding only. */
static void test_manufactured_upwind(void **state) {
  (void)state;
  for (int form = 0; form < 3; form++) {
    config config = lab_config(0, 0, 0);
    config.initial = cases_find("manufactured");
    config.velocity = velocities_find("deformation");
    config.form = (advection_form)form;
    config.difference = CONFIG_DIFFERENCE_UPWIND;
    config.background = 0.5;
    char what[96];
    (void)snprintf(what, sizeof what, "the manufactured solution, deformation, upwind, %s",
                   config_form_name(config.form));
    check_order(config, 20, 0.1, 60, textbook_manufactured, 7.0, 0.3, what);
  }
}

/* Part of a turn, which has a direction, and a whole one. */
static void test_rotation(void **state) {
  (void)state;
  config config = lab_config(0, 0, 0);
  config.initial = cases_find("blob");
  config.velocity = velocities_find("rotation");
  config.scheme = schemes_find("ck45");
  config.l[2] = 0.625;
  config.width = 0.3;
  config.center[0] = 0.65;
  config.center[1] = 0.45;
  config.center[2] = 0.3;
  check_order(config, 32, 0.4, 100, blob_turned, 8.0, 0.8, "a blob turned by 144 degrees");
  check_order(config, 32, 1.0, 250, blob_turned, 8.0, 0.8, "a blob turned once");
}

/* The differences' error is undone when the flow reverses: with d phi/dt = g(t) L phi and an integral of g of
 * zero, the semi-discrete solution is back too. What is left is the scheme's: its phase error changes sign
 * with g, its damping does not, so dt^5 for schemes of order 4, dt^3 for
 * those of order 3. */
static void test_deformation(void **state) {
  (void)state;
  for (int scheme = 0; schemes_at(scheme) != NULL; scheme++) {
    config config = lab_config(30, 32, 28);
    config.scheme = scheme;
    config.initial = cases_find("blob");
    config.velocity = velocities_find("deformation");
    config.form = FORM_SKEW;
    config.width = 0.25;
    for (int d = 0; d < 3; d++) config.center[d] = 0.35;
    const double coarse = error_at(&config, 1.0 / 160, 160, blob_back);
    const double fine = error_at(&config, 1.0 / 320, 320, blob_back);
    const double order = tableau_drift_order(tableau_of(schemes_at(scheme)->name));
    lab_between(lab_order(coarse, fine, 2.0), order - 0.15, order + 0.15,
                "order of a blob deformed and back, %s (%.1e, %.1e)", schemes_at(config.scheme)->name, coarse,
                fine);
  }
}

/* The exact solutions that the program measures its own errors against. */
static void check_exact(const config *config, double t, exact solution, const char *what) {
  grid grid;
  cases_solution ours;
  double largest = 0.0;
  double *row = calloc((size_t)config->n[0], sizeof *row);
  assert_int_equal(grid_make(config->n, config->l, 1, 0, &grid), STATUS_OK);
  assert_true(cases_exact_known(config, t));
  assert_int_equal(cases_open(config, &grid, t, &ours), STATUS_OK);
  for (int64_t i = 0; i < config->n[1] * config->n[2]; i++) {
    const int64_t y = i % config->n[1];
    const int64_t z = i / config->n[1];
    cases_row(&ours, z, y, row);
    for (int64_t x = 0; x < config->n[0]; x++) {
      const double point[3] = {(double)x * grid.h[0], (double)y * grid.h[1], (double)z * grid.h[2]};
      largest = fmax(largest, fabs(row[x] - solution(config, t, point)));
    }
  }
  cases_close(&ours);
  free(row);
  lab_between(largest, 0.0, 1e-13, "%s in the program and here", what);
}

static void test_exact_solutions_of_the_program(void **state) {
  (void)state;
  config config = lab_config(19, 15, 12);
  config.l[1] = 0.8;
  config.l[2] = 0.9;
  config.background = 0.3;
  config.amplitude = 1.7;
  config.diffusivity = 0.01;
  config.wave_number[2] = 2;
  for (int i = 0; i < 3; i++) {
    const double t = 0.7 * i;
    config.initial = cases_find("cosine");
    check_exact(&config, t, cosine, "a moving, fading wave");
    config.initial = cases_find("gaussian");
    check_exact(&config, t, gaussian, "a moving, spreading Gaussian");
    config.initial = cases_find("manufactured");
    check_exact(&config, t, textbook_manufactured, "the manufactured solution");
  }
  config.diffusivity = 0.0;
  config.initial = cases_find("shear_layer");
  config.width = config.l[1] / 80;
  check_exact(&config, 0.7, shear_layer, "a moving shear layer");
  config.initial = cases_find("blob");
  config.width = 0.2;
  for (int d = 0; d < 3; d++) config.center[d] = 0.6 * config.l[d];
  config.velocity = velocities_find("rotation");
  check_exact(&config, 0.3, blob_turned, "a blob turned");
  const double middle = config.center[0];
  config.center[0] = 0.9; /* beyond the circle around the axis a point and its image turn apart */
  assert_false(cases_exact_exists(&config));
  config.center[0] = middle;
  config.initial = cases_find("gaussian");
  assert_false(cases_exact_exists(&config));
  config.width = 0.03;
  assert_true(cases_exact_exists(&config));
  config.initial = cases_find("blob");
  config.width = 0.2;
  config.velocity = velocities_find("deformation");
  check_exact(&config, 2.0 * config.period, blob_back, "a blob back");
  assert_false(cases_exact_known(&config, 0.5 * config.period));
}

/* Cases with jumps or kinks: their errors fall, but not with the order of the scheme; and not at all on a
 * return, which undoes the errors of the differences. */
static int is_rough(const initial_case *tried) {
  static const char *const rough[] = {"sphere", "slotted", "sphere_distance", "slotted_distance"};
  for (size_t i = 0; i < sizeof rough / sizeof rough[0]; i++) {
    if (strcmp(tried->name, rough[i]) == 0) return 1;
  }
  return 0;
}

/* Mean error against the solution that the program states, which runs print as their error. [in, out] steps:
 * their number; 0: as many as are stable. */
static double stated_error(const config *config, double end, int64_t *steps) {
  lab lab;
  double *ours = lab_array(config), *stated = lab_array(config), sum = 0.0;
  lab_open(&lab, config);
  const schedule_rates *rates = &lab.solver.rates;
  const double least = end * (rates->advection / 0.8 + 3.0 * rates->other);
  if (*steps == 0) *steps = 3 * (int64_t)ceil(least / 3.0);
  lab_march(&lab, 0.0, end / (double)*steps, *steps);
  lab_load(&lab, ours);
  assert_int_equal(solver_fill(&lab.solver, end, stepper_state(&lab.solver.stepper)), STATUS_OK);
  lab_load(&lab, stated);
  lab_close(&lab);
  for (int64_t i = 0; i < lab_points(config); i++) sum += fabs(ours[i] - stated[i]);
  free(ours);
  free(stated);
  return sum / (double)lab_points(config);
}

/* Where the solution is known, compares two grids in the ratio 3 : 2. Steps are proportional to the spacings,
 * so a smooth case has at least the order of rk4. A wrong solution leaves an error that no grid changes.
 * Returns 1 if the solution is known. */
static int check_stated(config config) {
  const equation *equation = equation_of(&config);
  const initial_case *tried = cases_at(config.initial);
  const velocity_field *velocity = velocities_at(config.velocity);
  const double end = velocity->known != NULL ? config.period : 0.1;
  double error[2];
  int64_t steps = 0;
  int coarse = 20;
  if (is_rough(tried) && velocity->motion == PROBLEM_RETURN) return 0;
  for (config.width = 0.4; !equation->known(&config, end); config.width *= 0.5)
    if (config.width <= 0.05) return 0;
  while (coarse * config.width < tried->narrowest) coarse += 20;
  for (int fine = 1; fine >= 0; fine--) {
    for (int d = 0; d < 3; d++) config.n[d] = lround((coarse + fine * coarse / 2) * config.l[d]);
    error[fine] = stated_error(&config, end, &steps);
    steps = steps / 3 * 2;
  }
  lab_between(lab_order(error[0], error[1], 1.5), is_rough(tried) ? 0.3 : 3.5, INFINITY,
              "order of %s, %s, kappa %g (%.1e, %.1e)", tried->name, velocity->name, config.diffusivity,
              error[0], error[1]);
  return 1;
}

/* Every case in every velocity, off the middle of a box of three lengths. */
static void test_every_stated_solution(void **state) {
  (void)state;
  for (int velocity = 0; lab_has_velocity(velocity); velocity++) {
    int known = 0;
    for (int i = 0; cases_at(i) != NULL; i++) {
      config config = lab_config(0, 0, 0);
      if (cases_at(i)->from != PROBLEM_FUNCTIONS) continue;
      config.initial = i;
      config.velocity = velocity;
      config.background = 0.3;
      config.amplitude = 1.7;
      config.period = 0.5;
      for (int d = 0; d < 3; d++) {
        config.l[d] = 1.2 - 0.2 * d;
        config.center[d] = 0.5 * config.l[d] + 0.06 - 0.05 * d;
        config.wave_number[d] = (const int[3]){1, 2, -1}[d];
      }
      known += check_stated(config);
      config.diffusivity = 0.01;
      known += check_stated(config);
    }
    if (velocities_at(velocity)->motion != 0 && known == 0)
      fail_msg("%s moves things as it says, but not one of these cases", velocities_at(velocity)->name);
  }
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_translated_cosine),
      cmocka_unit_test(test_translated_and_spreading_gaussian),
      cmocka_unit_test(test_manufactured),
      cmocka_unit_test(test_manufactured_upwind),
      cmocka_unit_test(test_rotation),
      cmocka_unit_test(test_deformation),
      cmocka_unit_test(test_exact_solutions_of_the_program),
      cmocka_unit_test(test_every_stated_solution),
  };
  return lab_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
