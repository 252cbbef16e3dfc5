#include "problems/cases.h"

#include <math.h>
#include <stdlib.h>

static const double pi = 3.14159265358979323846;
enum { SUM = 3 }; /* where a table's sums begin */

/* The fields:
 *
 * rotation: of a solid body around the axis z through the middle of the domain, counter-clockwise, one turn
 * in `period`.
 *
 * deformation: R. J. LeVeque, SIAM J. Numer. Anal. 33 (1996) 627, section 9.5, scaled to the domain: u = 2
 * sin^2(pi X) sin(2 pi Y) sin(2 pi Z) and so on, with sin^2(pi X) = (1 - cos(2 pi X))/2.
 *
 * abc: u = a sin Z + c cos Y, v = b sin X + a cos Z, w = c sin Y + b cos X, one wave across the domain; T.
 * Dombre et al., J. Fluid Mech. 167 (1986) 353. */

/* What a velocity's formula needs at an index of one axis; kernels_tables. */
static void rotation(const cases_velocity *v, axis axis, int64_t i, double *table) {
  const double omega = 2.0 * pi / v->config->period;
  const double from_middle = (double)i * v->grid->h[axis] - 0.5 * v->grid->l[axis];
  if (axis == AXIS_X) table[AXIS_Y] = omega * from_middle;
  if (axis == AXIS_Y) table[SUM + AXIS_X] = -omega * from_middle;
}

static void deformation(const cases_velocity *v, axis axis, int64_t i, double *table) {
  const double phase = 2.0 * pi * (double)i / (double)v->grid->n[axis];
  const double *l = v->grid->l;
  for (int d = 0; d < 3; d++) table[d] = d == (int)axis ? 1.0 - cos(phase) : sin(phase);
  const double amplitude[3] = {l[0], -0.5 * l[1], -0.5 * l[2]};
  for (int d = 0; d < 3 && axis == AXIS_X; d++) table[d] *= amplitude[d];
}

static void abc(const cases_velocity *v, axis axis, int64_t i, double *table) {
  const double *k = v->config->abc;
  const double phase = 2.0 * pi * (double)i / (double)v->grid->n[axis];
  switch (axis) {
  case AXIS_X:
    table[AXIS_Y] = k[1] * sin(phase);
    table[AXIS_Z] = k[1] * cos(phase);
    break;
  case AXIS_Y:
    table[SUM + AXIS_X] = k[2] * cos(phase);
    table[SUM + AXIS_Z] = k[2] * sin(phase);
    break;
  default:
    table[SUM + AXIS_X] = k[0] * sin(phase);
    table[SUM + AXIS_Y] = k[0] * cos(phase);
    break;
  }
}

/* Along x nothing, along y and z factors of one, unless the field says otherwise. */
static void table_entry(const cases_velocity *v, axis axis, int64_t i, double table[KERNELS_TABLE]) {
  for (int k = 0; k < KERNELS_TABLE; k++) table[k] = axis != AXIS_X && k < SUM ? 1.0 : 0.0;
  switch (v->config->velocity) {
  case CONFIG_VELOCITY_ROTATION:
    rotation(v, axis, i, table);
    break;
  case CONFIG_VELOCITY_DEFORMATION:
    deformation(v, axis, i, table);
    break;
  case CONFIG_VELOCITY_ABC:
    abc(v, axis, i, table);
    break;
  case CONFIG_VELOCITY_UNIFORM:
    for (int d = 0; d < 3 && axis == AXIS_X; d++) table[d] = v->config->uniform[d];
    break;
  case CONFIG_VELOCITY_COUNT:
    break;
  }
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
  return cases_velocity_steady(config) ? 1.0 : cos(pi * time / config->period);
}

int cases_velocity_steady(const config *config) {
  return config->velocity != CONFIG_VELOCITY_DEFORMATION;
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
  if (config->velocity == CONFIG_VELOCITY_UNIFORM) {
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
