#include "problems/cases.h"

#include <math.h>
#include <stdlib.h>

/* Where a table's sums begin. */
enum { SUM = PROBLEM_SUM };

/* Along x nothing, along y and z factors of one, unless the field says otherwise. */
static void table_entry(const cases_velocity *v, axis axis, int64_t i, double table[KERNELS_TABLE]) {
  for (int k = 0; k < KERNELS_TABLE; k++) table[k] = axis != AXIS_X && k < SUM ? 1.0 : 0.0;
  velocities_at(v->config->velocity)->entry(v->config, v->grid, axis, i, table);
}

status cases_velocity_open(const config *config, const grid *grid, cases_velocity *velocity) {
  *velocity = (cases_velocity){.config = config, .grid = grid};
  for (int d = 0; d < 3; d++) {
    velocity->table[d] = malloc((size_t)grid->n[d] * sizeof *velocity->table[d]);
    if (velocity->table[d] == NULL) {
      cases_velocity_close(velocity);
      return status_fail(STATUS_MEMORY, "no memory for tables of the velocity");
    }
    for (int64_t i = 0; i < grid->n[d]; i++) table_entry(velocity, (axis)d, i, velocity->table[d][i]);
  }
  return STATUS_OK;
}

void cases_velocity_close(cases_velocity *velocity) {
  for (int d = 0; d < 3; d++) {
    free(velocity->table[d]);
    velocity->table[d] = NULL;
  }
}

/* In the arithmetic and the precision of the kernels: the largest time step and the sources are those of the
 * velocity that advects. */
static double value_single(const double *x, const double *y, const double *z, int d) {
  const float product = (float)y[d] * (float)z[d];
  const float sum = (float)y[SUM + d] + (float)z[SUM + d];
  return (double)fmaf((float)x[d], product, sum);
}

static double value_double(const double *x, const double *y, const double *z, int d) {
  return fma(x[d], y[d] * z[d], y[SUM + d] + z[SUM + d]);
}

double cases_velocity_at(const cases_velocity *velocity, axis component, int64_t z, int64_t y, int64_t x) {
  const double *of_column = velocity->table[AXIS_X][x];
  const double *of_row = velocity->table[AXIS_Y][y], *of_plane = velocity->table[AXIS_Z][z];
  return velocity->config->precision == PRECISION_SINGLE
             ? value_single(of_column, of_row, of_plane, (int)component)
             : value_double(of_column, of_row, of_plane, (int)component);
}

void cases_velocity_row(const void *user, int64_t z, int64_t y, double *row) {
  const cases_velocity *v = user;
  for (int64_t x = 0; x < v->grid->n[0]; x++) row[x] = cases_velocity_at(v, v->component, z, y, x);
}

double cases_velocity_factor(const config *config, double time) {
  const velocity_field *velocity = velocities_at(config->velocity);
  return velocity->factor == NULL ? 1.0 : velocity->factor(config, time);
}

int cases_velocity_steady(const config *config) {
  return velocities_at(config->velocity)->factor == NULL;
}

int cases_velocity_uniform(const config *config) {
  return velocities_at(config->velocity)->uniform;
}

/* Largest sum of |c_i|/h_i in one row; `row` holds 2 nx doubles. */
static double row_rate(const cases_velocity *fields, int64_t z, int64_t y, double *row) {
  const int64_t nx = fields->grid->n[0];
  cases_velocity velocity = *fields;
  double *sum = row + nx;
  for (int64_t x = 0; x < nx; x++) sum[x] = 0.0;
  for (int d = 0; d < 3; d++) {
    velocity.component = (axis)d;
    cases_velocity_row(&velocity, z, y, row);
    for (int64_t x = 0; x < nx; x++) sum[x] += fabs(row[x]) / velocity.grid->h[d];
  }
  double largest = 0.0;
  for (int64_t x = 0; x < nx; x++) largest = fmax(largest, sum[x]);
  return largest;
}

status cases_velocity_rate(const config *config, const grid *grid, double *rate) {
  double largest = 0.0;
  *rate = 0.0;
  if (cases_velocity_uniform(config)) {
    for (int d = 0; d < 3; d++) *rate += fabs(config->uniform[d]) / grid->h[d];
    return STATUS_OK;
  }
  cases_velocity velocity;
  CHECK(cases_velocity_open(config, grid, &velocity));
  const int64_t rows = grid->nz * grid->n[1];
  int complete = 1;
#pragma omp parallel reduction(max : largest) reduction(&& : complete)
  {
    double *row = malloc(2 * (size_t)grid->n[0] * sizeof *row);
    complete = row != NULL;
#pragma omp for schedule(static)
    for (int64_t i = 0; i < rows; i++) {
      if (row != NULL)
        largest = fmax(largest, row_rate(&velocity, grid->z0 + i / grid->n[1], i % grid->n[1], row));
    }
    free(row);
  }
  cases_velocity_close(&velocity);
  *rate = largest;
  return complete ? STATUS_OK : status_fail(STATUS_MEMORY, "no memory for a row of velocities");
}
