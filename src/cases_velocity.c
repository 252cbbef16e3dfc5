#include "cases.h"

#include <math.h>
#include <stdlib.h>

static const double pi = 3.14159265358979323846;

status cases_velocity_open(const config *config, const grid *grid, cases_velocity *velocity) {
  *velocity = (cases_velocity){.config = config, .grid = grid};
  for (int d = 0; d < 3; d++) {
    const size_t bytes = (size_t)grid->n[d] * sizeof(double);
    velocity->sine[d] = malloc(bytes);
    velocity->cosine[d] = malloc(bytes);
    if (velocity->sine[d] == NULL || velocity->cosine[d] == NULL) {
      cases_velocity_close(velocity);
      return status_fail(STATUS_MEMORY, "no memory for tables of the velocity");
    }
    for (int64_t i = 0; i < grid->n[d]; i++) {
      const double phase = 2.0 * pi * (double)i / (double)grid->n[d];
      velocity->sine[d][i] = sin(phase);
      velocity->cosine[d][i] = cos(phase);
    }
  }
  return STATUS_OK;
}

void cases_velocity_close(cases_velocity *velocity) {
  for (int d = 0; d < 3; d++) {
    free(velocity->sine[d]);
    free(velocity->cosine[d]);
    velocity->sine[d] = velocity->cosine[d] = NULL;
  }
}

/* Solid body around the axis z through the middle of the domain, counter-clockwise, one turn in `period`. */
static double rotation(const cases_velocity *v, int64_t x, int64_t y) {
  const double omega = 2.0 * pi / v->config->period;
  switch (v->component) {
  case AXIS_X:
    return -omega * ((double)y * v->grid->h[1] - 0.5 * v->grid->l[1]);
  case AXIS_Y:
    return omega * ((double)x * v->grid->h[0] - 0.5 * v->grid->l[0]);
  default:
    return 0.0;
  }
}

/* R. J. LeVeque, SIAM J. Numer. Anal. 33 (1996) 627, section 9.5, scaled to the domain: u = 2 sin^2(pi X)
 * sin(2 pi Y) sin(2 pi Z) and so on, with sin^2(pi X) = (1 - cos(2 pi X))/2. */
static double deformation(const cases_velocity *v, int64_t x, int64_t y, int64_t z) {
  switch (v->component) {
  case AXIS_X:
    return v->grid->l[0] * (1.0 - v->cosine[0][x]) * v->sine[1][y] * v->sine[2][z];
  case AXIS_Y:
    return -0.5 * v->grid->l[1] * v->sine[0][x] * (1.0 - v->cosine[1][y]) * v->sine[2][z];
  default:
    return -0.5 * v->grid->l[2] * v->sine[0][x] * v->sine[1][y] * (1.0 - v->cosine[2][z]);
  }
}

/* u = a sin Z + c cos Y, v = b sin X + a cos Z, w = c sin Y + b cos X, one wave across the domain; T. Dombre
 * et al., J. Fluid Mech. 167 (1986) 353. */
static double abc(const cases_velocity *v, int64_t x, int64_t y, int64_t z) {
  const double *k = v->config->abc;
  switch (v->component) {
  case AXIS_X:
    return k[0] * v->sine[2][z] + k[2] * v->cosine[1][y];
  case AXIS_Y:
    return k[1] * v->sine[0][x] + k[0] * v->cosine[2][z];
  default:
    return k[2] * v->sine[1][y] + k[1] * v->cosine[0][x];
  }
}

void cases_velocity_row(const void *user, int64_t z, int64_t y, double *row) {
  const cases_velocity *v = user;
  const int64_t nx = v->grid->n[0];
  for (int64_t x = 0; x < nx; x++) {
    switch (v->config->velocity) {
    case CONFIG_VELOCITY_ROTATION:
      row[x] = rotation(v, x, y);
      break;
    case CONFIG_VELOCITY_DEFORMATION:
      row[x] = deformation(v, x, y, z);
      break;
    case CONFIG_VELOCITY_ABC:
      row[x] = abc(v, x, y, z);
      break;
    default:
      row[x] = v->config->uniform[v->component];
      break;
    }
  }
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
