#include <math.h>
#include <stdlib.h>

#include "problems/cases.h"

/* The slopes of a velocity that is given by tables. Component d is the product of X_d, Y_d and Z_d plus A_d
 * of y and B_d of z (cases.h), so its derivative along its own axis needs only that of one-dimensional
 * tables. */

typedef struct slopes {
  double *of[3];     /* of the factor of axis d in component d */
  double *of_sum[3]; /* of the sum, which depends on y and z alone */
} slopes;

static void close_slopes(slopes *slopes) {
  for (int d = 0; d < 3; d++) {
    free(slopes->of[d]);
    free(slopes->of_sum[d]);
  }
}

/* The difference of entry k of an axis's table at point i, as the scheme takes it. */
static double slope_of(const cases_velocity *velocity, const stencil *stencil, int d, int k, int64_t i) {
  const grid *grid = velocity->grid;
  const closure *closure = closure_of(stencil->order);
  double(*table)[KERNELS_TABLE] = velocity->table[d];
  const int64_t n = grid->n[d], from_end = i < n - 1 - i ? i : n - 1 - i;
  double slope = 0.0;
  if (grid->bounded[d] && from_end < closure->rows) {
    const double *row = closure->row[DIFFERENCE_FIRST][from_end];
    const int high = from_end != i;
    for (int j = 0; j < closure->width; j++) slope += row[j] * table[high ? n - 1 - j : j][k];
    return (high ? -slope : slope) / grid->h[d];
  }
  for (int j = STENCIL_RADIUS; j >= 1; j--)
    slope += stencil->first[d][j - 1] * (table[(i + j) % n][k] - table[(i - j + n) % n][k]);
  return slope;
}

static status open_slopes(const cases_velocity *velocity, const stencil *stencil, slopes *slopes) {
  for (int d = 0; d < 3; d++) {
    const int64_t n = velocity->grid->n[d];
    slopes->of[d] = malloc((size_t)n * sizeof(double));
    slopes->of_sum[d] = malloc((size_t)n * sizeof(double));
    if (slopes->of[d] == NULL || slopes->of_sum[d] == NULL)
      return status_fail(STATUS_MEMORY, "no memory for tables of the velocity");
    for (int64_t i = 0; i < n; i++) {
      slopes->of[d][i] = slope_of(velocity, stencil, d, d, i);
      slopes->of_sum[d][i] = d == AXIS_X ? 0.0 : slope_of(velocity, stencil, d, PROBLEM_SUM + d, i);
    }
  }
  return STATUS_OK;
}

/* Largest magnitude of a factor of component d along another axis. */
static double largest_factor(const cases_velocity *velocity, int along, int d) {
  double largest = 0.0;
  for (int64_t i = 0; i < velocity->grid->n[along]; i++)
    largest = fmax(largest, fabs(velocity->table[along][i][d]));
  return largest;
}

/* A bound on the change of component d between neighbours along its own axis, over the spacing; 0 only if it
 * does not change. */
static double largest_slope(const cases_velocity *velocity, int d) {
  const grid *grid = velocity->grid;
  double(*table)[KERNELS_TABLE] = velocity->table[d];
  const double others = largest_factor(velocity, (d + 1) % 3, d) * largest_factor(velocity, (d + 2) % 3, d);
  const int64_t n = grid->n[d], steps = grid->bounded[d] ? n - 1 : n;
  double largest = 0.0;
  for (int64_t i = 0; i < steps; i++) {
    const double *here = table[i], *next = table[(i + 1) % n];
    const double sum = d == AXIS_X ? 0.0 : fabs(next[PROBLEM_SUM + d] - here[PROBLEM_SUM + d]);
    largest = fmax(largest, (fabs(next[d] - here[d]) * others + sum) / grid->h[d]);
  }
  return largest;
}

/* Largest magnitude of the divergence in a row. */
static double row_divergence(const cases_velocity *velocity, const slopes *slopes, int64_t z, int64_t y) {
  double(*x)[KERNELS_TABLE] = velocity->table[AXIS_X];
  const double *of_row = velocity->table[AXIS_Y][y], *of_plane = velocity->table[AXIS_Z][z];
  const double u = of_row[AXIS_X] * of_plane[AXIS_X], v = slopes->of[AXIS_Y][y] * of_plane[AXIS_Y],
               w = of_row[AXIS_Z] * slopes->of[AXIS_Z][z],
               sum = slopes->of_sum[AXIS_Y][y] + slopes->of_sum[AXIS_Z][z];
  double largest = 0.0;
  for (int64_t i = 0; i < velocity->grid->n[0]; i++)
    largest = fmax(largest, fabs(slopes->of[AXIS_X][i] * u + x[i][AXIS_Y] * v + x[i][AXIS_Z] * w + sum));
  return largest;
}

static double largest_divergence(const cases_velocity *velocity, const slopes *slopes) {
  const grid *grid = velocity->grid;
  double largest = 0.0;
#pragma omp parallel for schedule(static) reduction(max : largest)
  for (int64_t i = 0; i < grid->nz * grid->n[1]; i++) {
    const double of_row = row_divergence(velocity, slopes, grid->z0 + i / grid->n[1], i % grid->n[1]);
    largest = fmax(largest, of_row);
  }
  return largest;
}

status cases_velocity_slopes(const config *config, const grid *grid, double slope[3], double *divergence) {
  const stencil stencil = stencil_make(config->order, grid->h);
  cases_velocity velocity;
  slopes slopes = {0};
  *divergence = 0.0;
  for (int d = 0; d < 3; d++) slope[d] = 0.0;
  if (cases_velocity_uniform(config) || cases_velocity_stored(config)) return STATUS_OK;
  CHECK(cases_velocity_open(config, grid, &velocity));
  const status result = open_slopes(&velocity, &stencil, &slopes);
  for (int d = 0; d < 3; d++) slope[d] = largest_slope(&velocity, d);
  /* without an error of its own the advective form keeps a constant, and the velocity has no divergence */
  if (result == STATUS_OK && fmax(slope[0], fmax(slope[1], slope[2])) > 0.0 && config->form != FORM_ADVECTIVE)
    *divergence = largest_divergence(&velocity, &slopes);
  close_slopes(&slopes);
  cases_velocity_close(&velocity);
  return result;
}
