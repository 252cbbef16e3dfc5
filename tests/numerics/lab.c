#include "lab.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const kernels *backend;

int lab_main(int argc, char **argv, const struct CMUnitTest *tests, size_t count) {
  MPI_Init(&argc, &argv);
  const char *name = argc > 1 ? argv[1] : "cpu";
  backend = kernels_find(name);
  int failed = 0;
  if (backend == NULL || backend->probe() != STATUS_OK) {
    (void)printf("skipped: backend %s cannot run here\n", name);
    failed = LAB_SKIPPED;
  } else {
    failed = _cmocka_run_group_tests(name, tests, count, NULL, NULL);
  }
  MPI_Finalize();
  return failed;
}

static void expect(status result, const char *what) {
  if (result != STATUS_OK) fail_msg("%s: %s", what, status_message(result));
}

config lab_config(int nx, int ny, int nz) {
  config config;
  memset(&config, 0, sizeof config);
  const int n[3] = {nx, ny, nz};
  const double uniform[3] = {1.0, 0.7, -0.4};
  for (int d = 0; d < 3; d++) {
    config.n[d] = n[d];
    config.l[d] = 1.0;
    config.center[d] = 0.5;
    config.wave_number[d] = 1;
    config.uniform[d] = uniform[d];
    config.abc[d] = 1.0 - 0.2 * d;
  }
  config.initial = cases_find("gaussian");
  config.width = 0.15;
  config.amplitude = 1.0;
  config.period = 1.0;
  config.t_end = -1.0;
  config.precision = PRECISION_DOUBLE;
  config.order = 8;
  config.threads = 1;
  return config;
}

int64_t lab_points(const config *config) {
  return config->n[0] * config->n[1] * config->n[2];
}

void lab_open_equation(lab *lab, const config *config, const equation *equation) {
  lab->config = *config;
  expect(problem_grid(config, 1, 0, &lab->grid), "problem_grid");
  expect(solver_create(MPI_COMM_SELF, &lab->config, equation, &lab->grid, backend, &lab->solver),
         "solver_create");
  expect(solver_initialise(&lab->solver), "solver_initialise");
}

void lab_open(lab *lab, const config *config) {
  lab_open_equation(lab, config, equation_of(config));
}

void lab_close(lab *lab) {
  solver_destroy(&lab->solver);
}

double lab_weight(const grid *grid, const int p[3], int without) {
  double weight = 1.0;
  for (int d = 0; d < 3; d++)
    if (d != without) weight *= grid->h[d] * grid_weight(grid, d, p[d]);
  return weight;
}

void lab_bench_open(const kernels *on, const config *config, lab_bench *b) {
  const kernels_setup setup = {.threads = 1};
  memset(b, 0, sizeof *b);
  b->config = config;
  b->equation = equation_of(config);
  expect(problem_grid(config, 1, 0, &b->grid), "problem_grid");
  expect(on->context_create(&setup, &b->context), "context_create");
  const kernels_shape shape = grid_shape(&b->grid, config->precision, on->host_memory);
  expect(field_space_open(on, b->context, shape, &b->space), "field_space_open");
  expect(b->equation->create(config, &b->grid, &b->space, &b->terms), "create");
  state *const all[3] = {&b->f, &b->zero, &b->rate};
  for (int i = 0; i < 3; i++)
    expect(state_create(&b->space, b->equation->unknowns, b->equation->names, all[i]), "state_create");
  b->points = (int)lab_points(config);
  b->place = calloc((size_t)b->points, sizeof *b->place);
  b->weight = lab_array(config);
  assert_non_null(b->place);
  const int nx = (int)config->n[0], ny = (int)config->n[1];
  for (int k = 0; k < b->points; k++) {
    const int p[3] = {k % nx, k / nx % ny, k / (nx * ny)};
    memcpy(b->place[k], p, sizeof p);
    b->weight[k] = lab_weight(&b->grid, p, -1);
  }
}

void lab_bench_close(lab_bench *b) {
  b->equation->destroy(b->terms);
  state_destroy(&b->f);
  state_destroy(&b->zero);
  state_destroy(&b->rate);
  field_space_close(&b->space);
  b->space.backend->context_destroy(b->context);
  free(b->place);
  free(b->weight);
}

void lab_store(lab *lab, const double *points) {
  field *phi = &stepper_state(&lab->solver.stepper)->part[0];
  const int64_t count = lab_points(&lab->config);
  if (lab->config.precision == PRECISION_DOUBLE) {
    expect(field_store(phi, 0, lab->grid.nz, points), "field_store");
  } else {
    float *narrow = malloc((size_t)count * sizeof *narrow);
    for (int64_t i = 0; i < count; i++) narrow[i] = (float)points[i];
    expect(field_store(phi, 0, lab->grid.nz, narrow), "field_store");
    free(narrow);
  }
  expect(solver_refresh(&lab->solver), "solver_refresh");
}

void lab_load(lab *lab, double *points) {
  lab_load_field(lab, 0, points);
}

void lab_load_field(lab *lab, int unknown, double *points) {
  const field *phi = &stepper_state(&lab->solver.stepper)->part[unknown];
  const int64_t count = lab_points(&lab->config);
  if (lab->config.precision == PRECISION_DOUBLE) {
    expect(field_load(phi, 0, lab->grid.nz, points), "field_load");
  } else {
    float *narrow = malloc((size_t)count * sizeof *narrow);
    expect(field_load(phi, 0, lab->grid.nz, narrow), "field_load");
    for (int64_t i = 0; i < count; i++) points[i] = (double)narrow[i];
    free(narrow);
  }
}

void lab_march(lab *lab, double t, double dt, int64_t steps) {
  for (int64_t i = 0; i < steps; i++) {
    expect(solver_step(&lab->solver, t + (double)i * dt, dt, 0), "solver_step");
  }
  expect(solver_wait(&lab->solver), "solver_wait");
}

double *lab_solve(const config *config, double dt, int64_t steps) {
  lab lab;
  double *points = lab_array(config);
  lab_open(&lab, config);
  lab_march(&lab, 0.0, dt, steps);
  lab_load(&lab, points);
  lab_close(&lab);
  return points;
}

double *lab_array(const config *config) {
  double *points = calloc((size_t)lab_points(config), sizeof *points);
  assert_non_null(points);
  return points;
}

void lab_randomise(const config *config, uint64_t *seed, double *points) {
  for (int64_t i = 0; i < lab_points(config); i++) { /* xorshift64, G. Marsaglia 2003 */
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    points[i] = (double)(*seed >> 11) * 0x1p-52 - 1.0;
  }
}

double lab_largest(const config *config, const double *a) {
  double largest = 0.0;
  for (int64_t i = 0; i < lab_points(config); i++) {
    /* A number that is not one is the largest of all. */
    if (!(fabs(a[i]) <= largest)) largest = fabs(a[i]);
    if (isnan(largest)) return INFINITY;
  }
  return largest;
}

double lab_difference(const config *config, const double *a, const double *b) {
  double largest = 0.0;
  for (int64_t i = 0; i < lab_points(config); i++) {
    const double difference = fabs(a[i] - b[i]);
    if (isnan(difference)) return INFINITY;
    if (difference > largest) largest = difference;
  }
  return largest;
}

long double lab_sum(const config *config, const double *a) {
  long double sum = 0.0L;
  for (int64_t i = 0; i < lab_points(config); i++) sum += (long double)a[i];
  return sum;
}

long double lab_squares(const config *config, const double *a) {
  long double sum = 0.0L;
  for (int64_t i = 0; i < lab_points(config); i++) sum += (long double)a[i] * (long double)a[i];
  return sum;
}

double lab_order(double coarse, double fine, double ratio) {
  return log(coarse / fine) / log(ratio);
}

void lab_between(double value, double low, double high, const char *format, ...) {
  char name[256];
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(name, sizeof name, format, arguments);
  va_end(arguments);
  (void)printf("    %-60s %.6g\n", name, value);
  if (!(value >= low && value <= high)) fail_msg("%s: %.17g is not within %g and %g", name, value, low, high);
}
