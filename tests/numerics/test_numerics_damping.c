/* The dissipation of upwind differences in the conservative form, by the rate of change at random states with
 * it less that without it: the integral is kept, and the energy falls by what theory says, on periodic axes
 * and between ends, in velocities whose components change sign along their own axes. The backend gives the
 * bits of the CPU's. */
#include "lab.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NX = 37, NY = 21, NZ = 18, STATES = 3 };

static const kernels *tested;

static void expect(status result, const char *what) {
  if (result != STATUS_OK) fail_msg("%s: %s", what, status_message(result));
}

/* The rate of change at a state, in double or as it comes. */
static void evaluate(const kernels *on, const config *config, const double *at, double *rate) {
  lab_bench b;
  const int single = config->precision == PRECISION_SINGLE;
  lab_bench_open(on, config, &b);
  float *narrow = calloc((size_t)b.points, sizeof *narrow);
  assert_non_null(narrow);
  for (int k = 0; k < b.points; k++) narrow[k] = (float)at[k];
  expect(field_store(&b.f.part[0], 0, b.grid.nz, single ? (const void *)narrow : (const void *)at),
         "field_store");
  const stage stage = {.planes = {{0, b.grid.nz}}, .out = &b.rate, .f = &b.f, .base = &b.zero, .weight = 1.0};
  expect(b.equation->stage(b.terms, &stage), "stage");
  expect(on->queue_wait(b.context, QUEUE_MAIN), "queue_wait");
  expect(field_load(&b.rate.part[0], 0, b.grid.nz, single ? (void *)narrow : (void *)rate), "field_load");
  for (int k = 0; k < b.points && single; k++) rate[k] = (double)narrow[k];
  free(narrow);
  lab_bench_close(&b);
}

/* The velocities: by formula, stored; and Arnold, Beltrami and Childress's, from tables. Components of the
 * first change sign along their own axes. */
static double speed_at(const lab_bench *b, int d, const int p[3]) {
  double x[3], angle[3];
  for (int e = 0; e < 3; e++) {
    x[e] = grid_position(&b->grid, e, p[e]);
    angle[e] = 2.0 * acos(-1.0) * x[e] / b->config->l[e];
  }
  if (velocities_at(b->config->velocity)->from == PROBLEM_FORMULA)
    return (const double[3]){0.5 - x[0] * (1.0 + x[1]), x[1] - 0.3 * x[2], 0.2 - x[2] * x[0]}[d];
  const double *a = b->config->abc;
  return (const double[3]){a[0] * sin(angle[2]) + a[2] * cos(angle[1]),
                           a[1] * sin(angle[0]) + a[0] * cos(angle[2]),
                           a[2] * sin(angle[1]) + a[1] * cos(angle[0])}[d];
}

/* The energy that dissipation takes: over all m-th differences along each axis that lie in the grid, the sum
 * of |u| times the square, where |u| is that in the middle of their points, or the mean of the two there. */
static double taken(const lab_bench *b, const double *f) {
  static const double share[] = {2.0, 12.0, 60.0, 280.0};
  static const int pascal[][5] = {{1, -1}, {1, -2, 1}, {1, -3, 3, -1}, {1, -4, 6, -4, 1}};
  const int64_t *n = b->config->n;
  const int m = b->config->order / 2, step[3] = {1, (int)n[0], (int)(n[0] * n[1])};
  double sum = 0.0;
  for (int i = 0; i < 3 * b->points; i++) {
    const int d = i % 3, k = i / 3, around = (int)n[d], *p = b->place[k];
    double difference = 0.0, speed = 0.0;
    if (p[d] + m >= around && b->grid.bounded[d]) continue;
    for (int j = 0; j <= m; j++) {
      int q[3] = {p[0], p[1], p[2]};
      q[d] = (p[d] + j) % around;
      difference += pascal[m - 1][j] * f[k + (q[d] - p[d]) * step[d]];
      if (j == m / 2) speed += 0.5 * fabs(speed_at(b, d, q));
      if (j == (m + 1) / 2) speed += 0.5 * fabs(speed_at(b, d, q));
    }
    sum += lab_weight(&b->grid, p, d) * speed * difference * difference;
  }
  return sum / share[m - 1];
}

static config config_of(int order, precision precision, const char *velocity, unsigned bounded) {
  static const char *const flow[3] = {"0.5 - x*(1 + y)", "y - 0.3*z", "0.2 - z*x"};
  config config = lab_config(NX, NY, NZ);
  config.order = order;
  config.precision = precision;
  config.form = FORM_CONSERVATIVE;
  config.l[1] = 0.7;
  config.l[2] = 1.2;
  config.velocity = velocities_find(velocity);
  (void)strcpy(config.factor, "1");
  (void)strcpy(config.entering, "0.3");
  for (int d = 0; d < 3; d++) {
    (void)strcpy(config.component[d], flow[d]);
    if (bounded >> d & 1U) config.ends[d][0] = config.ends[d][1] = CONFIG_END_OPEN;
  }
  return config;
}

static void check(config config) {
  uint64_t seed = LAB_SEED;
  double *at = lab_array(&config), *plain = lab_array(&config), *upwind = lab_array(&config),
         *other = lab_array(&config), worst_mass = 0.0, worst_energy = 0.0;
  lab_bench b;
  lab_bench_open(kernels_find("cpu"), &config, &b);
  for (int i = 0; i < STATES; i++) {
    lab_randomise(&config, &seed, at);
    config.difference = CONFIG_DIFFERENCE_CENTRAL;
    evaluate(tested, &config, at, plain);
    config.difference = CONFIG_DIFFERENCE_UPWIND;
    evaluate(tested, &config, at, upwind);
    evaluate(kernels_find("cpu"), &config, at, other);
    assert_memory_equal(upwind, other, (size_t)b.points * sizeof *other);
    double mass = 0.0, masses = 0.0, energy = 0.0;
    for (int k = 0; k < b.points; k++) {
      const double added = b.weight[k] * (upwind[k] - plain[k]);
      mass += added;
      masses += fabs(added);
      energy += at[k] * added;
    }
    const double expected = -taken(&b, at);
    worst_mass = fmax(worst_mass, fabs(mass) / masses);
    worst_energy = fmax(worst_energy, fabs(energy / expected - 1.0));
    assert_true(energy < 0.0);
  }
  if (config.precision == PRECISION_DOUBLE) {
    lab_between(worst_mass, 0.0, 1e-13, "order %d, %s: change of the integral", config.order,
                velocities_at(config.velocity)->name);
    lab_between(worst_energy, 0.0, 1e-12, "order %d, %s: energy that theory does not explain", config.order,
                velocities_at(config.velocity)->name);
  }
  lab_bench_close(&b);
  free(at);
  free(plain);
  free(upwind);
  free(other);
}

static void mass_is_kept_and_energy_falls(void **state) {
  (void)state;
  for (int order = 2; order <= 8; order += 2) {
    for (unsigned bounded = 0; bounded < 8; bounded += bounded == 0 ? 1 : 2)
      check(config_of(order, PRECISION_DOUBLE, "formula", bounded));
    check(config_of(order, PRECISION_SINGLE, "formula", 5));
    check(config_of(order, PRECISION_DOUBLE, "abc", 0));
    check(config_of(order, PRECISION_SINGLE, "abc", 0));
  }
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(mass_is_kept_and_energy_falls)};
  tested = kernels_find(argc > 1 ? argv[1] : "cpu");
  return lab_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
