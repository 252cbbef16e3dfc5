/* How fast the discrete solution of advection can grow: the largest eigenvalue of the symmetric part of the
 * right-hand side, from its dense matrix, against the bound that the equation states. */
#include "lab.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NX = 19, NY = 9, NZ = 5, POINTS = NX * NY * NZ, SWEEPS = 150 };

static void expect(status result, const char *what) {
  if (result != STATUS_OK) fail_msg("%s: %s", what, status_message(result));
}

static double weight_of(const grid *grid, int k) {
  return grid_weight(grid, 0, k % NX) * grid_weight(grid, 1, k / NX % NY) *
         grid_weight(grid, 2, k / (NX * NY));
}

/* The right-hand side of each unit vector is a column. [out] matrix: its symmetric part in the inner product
 * of the weights, scaled to the common one. */
static void find_matrix(lab *lab, double *matrix) {
  solver *solver = &lab->solver;
  double *unit = lab_array(&lab->config), *column = lab_array(&lab->config);
  state f, zero, rate, *const all[3] = {&f, &zero, &rate};
  for (int i = 0; i < 3; i++)
    expect(state_create(&solver->space, 1, solver->equation->names, all[i]), "state_create");
  for (int j = 0; j < POINTS; j++) {
    const stage stage = {.planes = {{0, NZ}}, .out = &rate, .f = &f, .base = &zero, .weight = 1.0};
    memset(unit, 0, POINTS * sizeof *unit);
    unit[j] = 1.0;
    expect(field_store(&f.part[0], 0, NZ, unit), "field_store");
    const field *const fields[] = {&f.part[0]};
    expect(halo_exchange(&solver->halo, 1, fields), "halo_exchange");
    expect(solver->equation->stage(solver->terms, &stage), "stage");
    expect(solver_wait(solver), "solver_wait");
    expect(field_load(&rate.part[0], 0, NZ, column), "field_load");
    for (int i = 0; i < POINTS; i++) {
      const double half = 0.5 * column[i] * sqrt(weight_of(&lab->grid, i) / weight_of(&lab->grid, j));
      matrix[(size_t)i * POINTS + (size_t)j] += half;
      matrix[(size_t)j * POINTS + (size_t)i] += half;
    }
  }
  for (int i = 0; i < 3; i++) state_destroy(all[i]);
  free(unit);
  free(column);
}

/* w += matrix v, of a symmetric matrix: row after row, as vectors. Most of the test's time, so sanitizers,
 * which watch the program, leave it alone. */
__attribute__((no_sanitize("address", "undefined"))) static void multiply_add(const double *matrix,
                                                                              const double *v, double *w) {
  for (int j = 0; j < POINTS; j++) {
    const double *row = matrix + (size_t)j * POINTS;
    for (int i = 0; i < POINTS; i++) w[i] += row[i] * v[j];
  }
}

/* By the power method, from below: the matrix is shifted by a bound on its magnitude. */
static double largest_eigenvalue(const config *config, const double *matrix) {
  double *v = lab_array(config), *w = lab_array(config);
  double shift = 1.0, quotient = 0.0;
  uint64_t seed = LAB_SEED;
  for (int i = 0; i < POINTS; i++) {
    double sum = 0.0;
    for (int j = 0; j < POINTS; j++) sum += fabs(matrix[(size_t)i * POINTS + (size_t)j]);
    shift = fmax(shift, sum);
  }
  lab_randomise(config, &seed, v);
  for (int sweep = 0; sweep < SWEEPS; sweep++) {
    double product = 0.0, square = 0.0, norm = 0.0;
    for (int i = 0; i < POINTS; i++) w[i] = shift * v[i];
    multiply_add(matrix, v, w);
    for (int i = 0; i < POINTS; i++) {
      product += v[i] * w[i];
      square += v[i] * v[i];
      norm += w[i] * w[i];
    }
    quotient = product / square - shift;
    for (int i = 0; i < POINTS; i++) v[i] = w[i] / sqrt(norm);
  }
  free(v);
  free(w);
  return quotient;
}

/* Returns the share of the bound that is reached. */
static double check(const config *config, const char *what) {
  double *matrix = calloc((size_t)POINTS * POINTS, sizeof *matrix);
  lab lab;
  equation_growth growth;
  assert_non_null(matrix);
  lab_open(&lab, config);
  field *work = &stepper_scratch(&lab.solver.stepper)->part[0];
  expect(lab.solver.equation->growth(lab.solver.terms, &lab.grid, work, &growth), "growth");
  find_matrix(&lab, matrix);
  const double largest = largest_eigenvalue(config, matrix), bound = growth.rate + growth.noise;
  lab_close(&lab);
  free(matrix);
  lab_between(largest, -1e30, bound * (1.0 + 1e-12) + 1e-9, "%s: largest rate of growth, bound %g", what,
              bound);
  return bound > 0.0 ? largest / bound : 0.0;
}

static config config_of(int order, advection_form form, config_difference difference) {
  config config = lab_config(NX, NY, NZ);
  config.order = order;
  config.form = form;
  config.difference = difference;
  return config;
}

/* The velocities that the program has, and one by formula that changes from point to point: its central
 * difference is less than its change. */
static void set_velocity(config *config, const char *name) {
  config->velocity = velocities_find(name);
  (void)strcpy(config->factor, "1");
  (void)strcpy(config->component[0], "sin(9*2*pi*x/lx + 1) + 0.3*cos(2*pi*y)");
  (void)strcpy(config->component[1], "cos(4*2*pi*y + 2) * sin(2*pi*x)");
  (void)strcpy(config->component[2], "sin(2*2*pi*z)");
}

static void the_bound_holds(void **state) {
  (void)state;
  static const char *const velocities[] = {"taylor_green", "deformation", "formula"};
  for (int order = 2; order <= 8; order += 2) {
    for (int i = 0; i < 3; i++) {
      const int form = (order / 2 + i) % 2; /* advective, conservative */
      config config = config_of(order, (advection_form)form, CONFIG_DIFFERENCE_CENTRAL);
      set_velocity(&config, velocities[i]);
      lab_between(check(&config, velocities[i]), 0.2, 1.0, "share of the bound, order %d", order);
      config.difference = CONFIG_DIFFERENCE_UPWIND;
      (void)check(&config, "upwind");
    }
  }
}

static void the_skew_form_grows_by_upwind_differences_alone(void **state) {
  (void)state;
  for (int order = 2; order <= 8; order += 2) {
    config config = config_of(order, FORM_SKEW, CONFIG_DIFFERENCE_CENTRAL);
    set_velocity(&config, "formula");
    lab_between(check(&config, "skew"), -1.0, 0.0, "skew: share of a bound of 0");
    config.difference = CONFIG_DIFFERENCE_UPWIND;
    (void)check(&config, "skew, upwind");
  }
}

static void the_bound_holds_with_ends(void **state) {
  (void)state;
  for (int order = 2; order <= 8; order += 2) {
    config config =
        config_of(order, order % 4 == 0 ? FORM_ADVECTIVE : FORM_CONSERVATIVE, CONFIG_DIFFERENCE_CENTRAL);
    config.ends[0][0] = config.ends[0][1] = CONFIG_END_OPEN;
    (void)strcpy(config.entering, "0");
    set_velocity(&config, "formula");
    lab_between(check(&config, "ends"), 0.2, 1.0, "share of the bound with ends, order %d", order);
    config.difference = CONFIG_DIFFERENCE_UPWIND;
    (void)check(&config, "ends, upwind");
  }
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_bound_holds),
      cmocka_unit_test(the_skew_form_grows_by_upwind_differences_alone),
      cmocka_unit_test(the_bound_holds_with_ends),
  };
  return lab_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
