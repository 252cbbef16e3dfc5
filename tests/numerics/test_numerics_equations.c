/* Equations that the program does not have, on its public interface: several unknowns, and a right-hand side
 * that is not linear. */
#include "lab.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>

#include "tableau.h"
#include "wave_system.h"

static const double pi = 3.14159265358979323846;

/* Burgers' equation, du/dt = -u (du/dx + du/dy + du/dz): one fused stage whose stored velocity is u itself.
 */
typedef struct burgers {
  stencil stencil;
} burgers;

static status burgers_create(const config *config, const grid *grid, const field_space *space, void **self) {
  (void)space;
  burgers *burgers = calloc(1, sizeof *burgers);
  assert_non_null(burgers);
  burgers->stencil = stencil_make(config->order, grid->h);
  *self = burgers;
  return STATUS_OK;
}

static status burgers_stage(void *self, const stage *stage) {
  const burgers *burgers = self;
  kernels_launch launch = stage_launch(stage, &burgers->stencil);
  const field *f = &stage->f->part[0];
  kernels_call call = {.kind = OPERATION_advection, .options = ADVECTION_STORED | ADVECTION_GRADIENT};
  launch.edges = stage->edges;
  call.weight[WEIGHT_PART + ADVECTION_PART_A] = -1.0;
  for (int d = 0; d < 3; d++) call.in[ADVECTION_U + d] = f->data;
  stage_sum(stage, 0, &call);
  return f->backend->apply(&launch, &call);
}

static void burgers_row(const void *user, int64_t z, int64_t y, double *row) {
  const grid *grid = user;
  for (int64_t x = 0; x < grid->n[0]; x++) {
    row[x] = 0.6 +
             0.2 * sin(2.0 * pi * (double)x / (double)grid->n[0]) *
                 cos(2.0 * pi * (double)y / (double)grid->n[1]) +
             0.1 * sin(2.0 * pi * (double)z / (double)grid->n[2]);
  }
}

static status burgers_fill(const config *config, const grid *grid, double time, int unknown, field *field) {
  (void)config;
  (void)time;
  (void)unknown;
  return field_fill(field, grid->z0, grid->n[2], 0, burgers_row, grid);
}

static status burgers_rates(const config *config, const grid *grid, schedule_rates *rates) {
  (void)config;
  for (int d = 0; d < 3; d++) rates->advection += 0.9 / grid->h[d];
  return STATUS_OK;
}

static int yes(const config *config) {
  (void)config;
  return 1;
}

static const char *const burgers_names[] = {"u"};

static equation burgers_equation(int (*linear)(const config *)) {
  return (equation){.name = "burgers",
                    .unknowns = 1,
                    .names = burgers_names,
                    .linear = linear,
                    .steady = yes,
                    .rates = burgers_rates,
                    .fill = burgers_fill,
                    .create = burgers_create,
                    .destroy = free,
                    .stage = burgers_stage};
}

/* Points of the first unknown after `steps` steps over `end`. */
static double *solve(const config *config, const equation *equation, double end, int64_t steps) {
  lab lab;
  double *points = lab_array(config);
  lab_open_equation(&lab, config, equation);
  lab_march(&lab, 0.0, end / (double)steps, steps);
  lab_load(&lab, points);
  lab_close(&lab);
  return points;
}

static double order_of(const config *config, const equation *equation) {
  double *u[3];
  for (int i = 0; i < 3; i++) u[i] = solve(config, equation, 0.4, (int64_t)80 << i);
  const double order = lab_order(lab_difference(config, u[0], u[1]), lab_difference(config, u[1], u[2]), 2.0);
  for (int i = 0; i < 3; i++) free(u[i]);
  return order;
}

/* Every scheme keeps its order where the right-hand side is not linear. */
static void test_orders_of_a_nonlinear_equation(void **state) {
  (void)state;
  const equation burgers = burgers_equation(NULL);
  for (int i = 0; schemes_at(i) != NULL; i++) {
    config config = lab_config(20, 18, 16);
    config.scheme = i;
    const int order = tableau_of(schemes_at(i)->name)->order;
    lab_between(order_of(&config, &burgers), order - 0.15, order + 0.15, "order of %s, Burgers",
                schemes_at(config.scheme)->name);
  }
}

/* Horner's form does not: who calls this equation linear gets order 2. So the test above can fail, and
 * `linear` is not what `steady` is. */
static void test_horner_form_of_a_nonlinear_equation(void **state) {
  (void)state;
  const equation burgers = burgers_equation(yes);
  for (int i = 0; schemes_at(i) != NULL; i++) {
    config config = lab_config(20, 18, 16);
    config.scheme = i;
    if (schemes_at(i)->linear != NULL)
      lab_between(order_of(&config, &burgers), 1.75, 2.25, "order of %s in Horner's form, Burgers",
                  schemes_at(i)->name);
  }
}

/* A plane wave is an eigenvector: a step multiplies it by R(-i c |k*| dt), in all four unknowns. */
static double wave_error(const config *config, double dt, int steps) {
  lab lab;
  double squares = 0.0, worst = 0.0;
  double *found = lab_array(config);
  double *expected = lab_array(config);
  for (int d = 0; d < 3; d++) squares += pow(wave_modified(config, d), 2);
  const double complex z = -I * WAVE_SPEED * sqrt(squares) * dt;
  const double complex step = tableau_growth(tableau_of(schemes_at(config->scheme)->name), z);
  lab_open_equation(&lab, config, &wave_system_equation);
  lab_march(&lab, 0.0, dt, steps);
  for (int i = 0; i < lab.solver.equation->unknowns; i++) {
    const double along = i == 0 ? 1.0 : wave_modified(config, i - 1) / sqrt(squares);
    for (int64_t k = 0; k < lab_points(config); k++) {
      const int64_t x = k % config->n[0], y = k / config->n[0] % config->n[1],
                    z_ = k / (config->n[0] * config->n[1]);
      expected[k] = along * creal(cpow(step, steps) * cexp(I * wave_phase(config, x, y, z_)));
    }
    lab_load_field(&lab, i, found);
    worst = fmax(worst, lab_difference(config, found, expected));
  }
  lab_close(&lab);
  free(found);
  free(expected);
  return worst;
}

static void test_wave_of_four_unknowns(void **state) {
  (void)state;
  for (int scheme = 0; schemes_at(scheme) != NULL; scheme++) {
    for (int order = 2; order <= 8; order += 2) {
      config config = lab_config(20, 18, 16);
      config.scheme = scheme;
      config.order = order;
      config.wave_number[1] = 2;
      config.wave_number[2] = -1;
      lab_between(wave_error(&config, 0.03, 12), 0.0, 1e-12, "plane wave, %s, order %d",
                  schemes_at(config.scheme)->name, order);
    }
  }
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_orders_of_a_nonlinear_equation),
      cmocka_unit_test(test_horner_form_of_a_nonlinear_equation),
      cmocka_unit_test(test_wave_of_four_unknowns),
  };
  return lab_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
