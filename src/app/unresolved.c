#include "app/unresolved.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/agree.h"
#include "base/log.h"
#include "config/config.h"
#include "problems/cases.h"
#include "problems/source.h"
#include "settings/equations.h"

/* Sums of the squares of first and of second differences along each axis. A wave with the phase k h per point
 * has a ratio of second to first of 4 sin^2(k h / 2), and a field the mean of its waves' ratios, weighted by
 * the squares of their first differences. */
typedef struct sums {
  double first[3], second[3];
} sums;

/* Planes of a stored field, or of an initial condition that is evaluated for them. */
typedef struct window {
  const grid *grid;
  const field *field; /* NULL: of `solution` */
  const cases_solution *solution;
  int beyond; /* 1: planes above this rank's are known, too */
  precision precision;
  double range[2];  /* of the owned planes of `solution` */
  void *loaded;     /* a plane in the field's precision */
  double *plane[3]; /* z, z + 1, z + 2 */
} window;

static void add(sums *sums, int d, double a, double b, double c) {
  sums->first[d] += (b - a) * (b - a);
  sums->second[d] += (c - 2.0 * b + a) * (c - 2.0 * b + a);
}

/* Adds row y of the window's first plane; with_z: all three planes are there. */
static void add_row(const window *window, int64_t y, int with_z, sums *sums) {
  const int64_t nx = window->grid->n[0], ny = window->grid->n[1];
  const int with_y = y + 2 < ny || !window->grid->bounded[1];
  const int64_t end = window->grid->bounded[0] ? nx - 2 : nx;
  const double *a = window->plane[0] + y * nx;
  const double *up[2] = {window->plane[0] + (y + 1) % ny * nx, window->plane[0] + (y + 2) % ny * nx};
  const double *next[2] = {window->plane[1] + y * nx, window->plane[2] + y * nx};
  for (int64_t x = 0; x < end; x++) add(sums, 0, a[x], a[(x + 1) % nx], a[(x + 2) % nx]);
  for (int64_t x = 0; x < nx && with_y; x++) add(sums, 1, a[x], up[0][x], up[1][x]);
  for (int64_t x = 0; x < nx && with_z; x++) add(sums, 2, a[x], next[0][x], next[1][x]);
}

static void add_plane(const window *window, int with_z, sums *sums) {
  double first[3] = {0.0}, second[3] = {0.0};
#pragma omp parallel for schedule(static) reduction(+ : first[:3], second[:3])
  for (int64_t y = 0; y < window->grid->n[1]; y++) {
    struct sums row = {0};
    add_row(window, y, with_z, &row);
    for (int d = 0; d < 3; d++) {
      first[d] += row.first[d];
      second[d] += row.second[d];
    }
  }
  for (int d = 0; d < 3; d++) {
    sums->first[d] += first[d];
    sums->second[d] += second[d];
  }
}

/* Evaluates local plane z, as it would be stored. */
static void evaluate(window *window, int z, double *plane) {
  const grid *grid = window->grid;
  double low = window->range[0], high = window->range[1];
#pragma omp parallel for schedule(static) reduction(min : low) reduction(max : high)
  for (int64_t y = 0; y < grid->n[1]; y++) {
    double *row = plane + y * grid->n[0];
    cases_row(window->solution, (grid->z0 + z) % grid->n[2], y, row);
    for (int64_t x = 0; x < grid->n[0]; x++) {
      if (window->precision == PRECISION_SINGLE) row[x] = (double)(float)row[x];
      low = fmin(low, row[x]);
      high = fmax(high, row[x]);
    }
  }
  window->range[0] = low;
  window->range[1] = high;
}

/* Loads local plane z, a halo plane or, if this rank has all planes, a periodic image, too. */
static status load(window *window, int z, double *plane) {
  const grid *grid = window->grid;
  const int64_t points = grid->n[0] * grid->n[1];
  if (grid->nz == grid->n[2]) z %= grid->nz;
  if (window->field == NULL) {
    evaluate(window, z, plane);
    return STATUS_OK;
  }
  CHECK(field_load(window->field, z, 1, window->loaded));
  if (window->precision == PRECISION_DOUBLE) {
    memcpy(plane, window->loaded, (size_t)points * sizeof *plane);
  } else {
    for (int64_t i = 0; i < points; i++) plane[i] = (double)((const float *)window->loaded)[i];
  }
  return STATUS_OK;
}

static status add_planes(window *window, sums *sums) {
  const grid *grid = window->grid;
  for (int k = 0; k < 2; k++) CHECK(load(window, k, window->plane[k]));
  for (int z = 0; z < grid->nz; z++) {
    const int with_z =
        (!grid->bounded[2] || grid->z0 + z + 2 < grid->n[2]) && (window->beyond || z + 2 < grid->nz);
    if (with_z) CHECK(load(window, z + 2, window->plane[2]));
    add_plane(window, with_z, sums);
    double *const first = window->plane[0];
    window->plane[0] = window->plane[1];
    window->plane[1] = window->plane[2];
    window->plane[2] = first;
  }
  return STATUS_OK;
}

static status find_sums(window *window, sums *sums) {
  const size_t points = (size_t)(window->grid->n[0] * window->grid->n[1]);
  window->loaded = malloc(points * sizeof(double));
  int held = window->loaded != NULL;
  for (int k = 0; k < 3; k++) {
    window->plane[k] = malloc(points * sizeof(double));
    held = held && window->plane[k] != NULL;
  }
  const status result = held ? add_planes(window, sums)
                             : status_fail(STATUS_MEMORY, "no memory for planes of the initial condition");
  for (int k = 0; k < 3; k++) free(window->plane[k]);
  free(window->loaded);
  return result;
}

/* Points per wave along an axis; infinity if nothing but rounding changes there. */
static double points_per_wave(const sums *sums, int d, double smallest) {
  if (sums->first[d] <= smallest) return INFINITY;
  const double half = asin(fmin(1.0, 0.5 * sqrt(sums->second[d] / sums->first[d])));
  return M_PI / half;
}

/* Writes what is not held; "" if nothing. */
static void describe(const config *config, const grid *grid, const sums *sums, double range, double largest,
                     char text[CASES_HELD]) {
  const double steps = range / (largest * problem_rounding(config->precision));
  const double noise = fmax(1e-6 * range, 4.0 * largest * problem_rounding(config->precision));
  const double points = (double)grid->n[0] * (double)grid->n[1] * (double)grid->n[2];
  text[0] = '\0';
  if (steps < CASES_LEAST_STEPS)
    (void)snprintf(text, CASES_HELD, "its values span %.2g steps of %s precision (fewer than %g)", steps,
                   config_precision_name(config->precision), CASES_LEAST_STEPS);
  for (int d = 0; d < 3; d++) {
    const size_t used = strlen(text);
    const double mean = points_per_wave(sums, d, points * noise * noise);
    if (mean < CASES_LEAST_POINTS)
      (void)snprintf(text + used, CASES_HELD - used,
                     "%salong %c its waves have %.3g points in the mean (fewer than %g; jumps count as short "
                     "waves)",
                     used > 0 ? "; " : "", "xyz"[d], mean, CASES_LEAST_POINTS);
  }
}

/* Warns by the sums over all ranks. */
static status warn(MPI_Comm comm, const config *config, const grid *grid, const sums *mine, double minimum,
                   double maximum) {
  sums all = {0};
  char text[CASES_HELD];
  CHECK_MPI(MPI_Allreduce(mine->first, all.first, 3, MPI_DOUBLE, MPI_SUM, comm));
  CHECK_MPI(MPI_Allreduce(mine->second, all.second, 3, MPI_DOUBLE, MPI_SUM, comm));
  describe(config, grid, &all, maximum - minimum, fmax(fabs(minimum), fabs(maximum)), text);
  if (text[0] != '\0') log_warning("the grid or the precision does not hold the initial condition: %s", text);
  return STATUS_OK;
}

static int examined(const config *config) {
  return cases_at(config->initial)->from != PROBLEM_FUNCTIONS && config->equation != EQUATION_flow;
}

status unresolved_warn(MPI_Comm comm, const config *config, const grid *grid, const field *initial,
                       double minimum, double maximum) {
  window window = {.grid = grid, .field = initial, .beyond = 1, .precision = config->precision};
  sums mine = {0};
  if (!examined(config) || minimum == maximum) return STATUS_OK;
  CHECK(agree(comm, find_sums(&window, &mine)));
  return warn(comm, config, grid, &mine, minimum, maximum);
}

/* [out] range: minimum and maximum on this rank. */
static status examine(const config *config, const grid *grid, sums *sums, double range[2]) {
  cases_solution solution;
  window window = {.grid = grid,
                   .solution = &solution,
                   .beyond = grid->ranks == 1 || cases_at(config->initial)->from == PROBLEM_FORMULA,
                   .precision = config->precision,
                   .range = {INFINITY, -INFINITY}};
  CHECK(cases_open(config, grid, 0.0, &solution));
  status result = find_sums(&window, sums);
  if (result == STATUS_OK) result = cases_verdict(&solution);
  cases_close(&solution);
  range[0] = window.range[0];
  range[1] = window.range[1];
  return result;
}

status unresolved_foresee(MPI_Comm comm, const config *config, const grid *grid) {
  sums mine = {0};
  double range[2] = {0.0, 0.0};
  if (!examined(config)) return STATUS_OK;
  CHECK(agree(comm, examine(config, grid, &mine, range)));
  double both[2] = {range[0], -range[1]};
  CHECK_MPI(MPI_Allreduce(MPI_IN_PLACE, both, 2, MPI_DOUBLE, MPI_MIN, comm));
  if (both[0] == -both[1]) {
    if (!config_sourced(config) && !source_given(config))
      log_warning("the initial state is %.9g at every point", both[0]);
    return STATUS_OK;
  }
  return warn(comm, config, grid, &mine, both[0], -both[1]);
}
