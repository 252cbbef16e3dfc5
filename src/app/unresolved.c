#include "app/unresolved.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/agree.h"
#include "base/log.h"
#include "base/text.h"
#include "config/config.h"
#include "equations/sources.h"
#include "problems/cases.h"
#include "problems/source.h"
#include "settings/equations.h"

/* Sums of the squares of first and of second differences along each axis. A wave with the phase k h per point
 * has a ratio of second to first of 4 sin^2(k h / 2), and a field the mean of its waves' ratios, weighted by
 * the squares of their first differences. Besides the largest second difference, which tells the width of the
 * narrowest pulse, and the sum of all values. */
typedef struct sums {
  double first[3], second[3], largest[3], total;
} sums;

/* What is looked at: a field, or rows that are evaluated. */
typedef struct subject {
  const char *name;
  field_row row; /* NULL: the field */
  const void *user;
  const field *field;
} subject;

/* Planes of a subject. */
typedef struct window {
  const grid *grid;
  const subject *subject;
  precision precision;
  double range[2];  /* of the planes that were evaluated */
  double *plane[3]; /* z, z + 1, z + 2 */
} window;

static void add(sums *sums, int d, double a, double b, double c) {
  sums->first[d] += (b - a) * (b - a);
  sums->second[d] += (c - 2.0 * b + a) * (c - 2.0 * b + a);
  sums->largest[d] = fmax(sums->largest[d], fabs(c - 2.0 * b + a));
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
  for (int64_t x = 0; x < nx; x++) sums->total += a[x];
}

static void add_plane(const window *window, int with_z, sums *sums) {
  double first[3] = {0.0}, second[3] = {0.0}, largest[3] = {0.0}, total = 0.0;
#pragma omp parallel for schedule(static) reduction(+ : first[:3], second[:3], total) reduction(max : largest[:3])
  for (int64_t y = 0; y < window->grid->n[1]; y++) {
    struct sums row = {0};
    add_row(window, y, with_z, &row);
    for (int d = 0; d < 3; d++) {
      first[d] += row.first[d];
      second[d] += row.second[d];
      largest[d] = fmax(largest[d], row.largest[d]);
    }
    total += row.total;
  }
  for (int d = 0; d < 3; d++) {
    sums->first[d] += first[d];
    sums->second[d] += second[d];
    sums->largest[d] = fmax(sums->largest[d], largest[d]);
  }
  sums->total += total;
}

/* Evaluates local plane z, as it would be stored. */
static void evaluate(window *window, int z, double *plane) {
  const grid *grid = window->grid;
  double low = window->range[0], high = window->range[1];
#pragma omp parallel for schedule(static) reduction(min : low) reduction(max : high)
  for (int64_t y = 0; y < grid->n[1]; y++) {
    double *row = plane + y * grid->n[0];
    window->subject->row(window->subject->user, (grid->z0 + z) % grid->n[2], y, row);
    for (int64_t x = 0; x < grid->n[0]; x++) {
      if (window->precision == PRECISION_SINGLE) row[x] = (double)(float)row[x];
      low = fmin(low, row[x]);
      high = fmax(high, row[x]);
    }
  }
  window->range[0] = low;
  window->range[1] = high;
}

static status load(window *window, int z, double *plane) {
  if (window->subject->row == NULL) return field_load_plane(window->subject->field, z, plane);
  evaluate(window, z, plane);
  return STATUS_OK;
}

static status add_planes(window *window, sums *sums) {
  const grid *grid = window->grid;
  for (int k = 0; k < 2; k++) CHECK(load(window, k, window->plane[k]));
  for (int z = 0; z < grid->nz; z++) {
    const int with_z = !grid->bounded[2] || grid->z0 + z + 2 < grid->n[2];
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
  int held = 1;
  for (int k = 0; k < 3; k++) {
    window->plane[k] = malloc(points * sizeof(double));
    held = held && window->plane[k] != NULL;
  }
  const status result = held
                            ? add_planes(window, sums)
                            : status_fail(STATUS_MEMORY, "no memory for planes of %s", window->subject->name);
  for (int k = 0; k < 3; k++) free(window->plane[k]);
  return result;
}

/* Points per wave along an axis; infinity if nothing but rounding changes there. */
static double points_per_wave(const sums *sums, int d, double smallest) {
  if (sums->first[d] <= smallest) return INFINITY;
  const double half = asin(fmin(1.0, 0.5 * sqrt(sums->second[d] / sums->first[d])));
  return M_PI / half;
}

/* The standard deviation, in spacings, of a gaussian with this largest second difference, a share of its
 * height. */
static double width_of(double share) {
  return share < 2.0 ? 1.0 / sqrt(-2.0 * log(1.0 - 0.5 * share)) : 0.0;
}

/* Writes which pulses are too narrow; nothing of a field that goes about as far to both sides of its mean, as
 * waves do, which are judged by their points per wave. */
static void describe_pulses(const config *config, const grid *grid, const sums *sums, double minimum,
                            double maximum, char *text, size_t size) {
  const double points = (double)grid->n[0] * (double)grid->n[1] * (double)grid->n[2];
  const double range = maximum - minimum, mean = sums->total / points;
  const double needed = cases_needed_width(config, PROBLEM_PULSE_WIDTH);
  int narrowest = 0;
  for (int d = 1; d < 3; d++)
    if (sums->largest[d] > sums->largest[narrowest]) narrowest = d;
  const double width = width_of(sums->largest[narrowest] / range);
  if (fmax(maximum - mean, mean - minimum) < 0.75 * range || width >= needed) return;
  (void)snprintf(text, size,
                 "along %c its narrowest pulse or edge is that of a gaussian of %.3g spacings (needs %g)",
                 "xyz"[narrowest], width, needed);
}

static void describe(const config *config, const grid *grid, const sums *sums, double minimum, double maximum,
                     char text[CASES_HELD]) {
  const double range = maximum - minimum, largest = fmax(fabs(minimum), fabs(maximum));
  const double steps = range / (largest * problem_rounding(config->precision));
  const double noise = fmax(1e-6 * range, 4.0 * largest * problem_rounding(config->precision));
  const double points = (double)grid->n[0] * (double)grid->n[1] * (double)grid->n[2];
  text[0] = '\0';
  if (steps < CASES_LEAST_STEPS)
    (void)snprintf(text, CASES_HELD, "its values span %.2g steps of %s precision (fewer than %g)", steps,
                   config_precision_name(config->precision), CASES_LEAST_STEPS);
  for (int d = 0; d < 3; d++) {
    const double mean = points_per_wave(sums, d, points * noise * noise);
    if (mean < CASES_LEAST_POINTS)
      text_add(text, CASES_HELD, "; ",
               "along %c its waves have %.3g points in the mean (fewer than %g; jumps count as short waves)",
               "xyz"[d], mean, CASES_LEAST_POINTS);
  }
  if (text[0] == '\0') describe_pulses(config, grid, sums, minimum, maximum, text, CASES_HELD);
}

/* Warns by the sums over all ranks. */
static status warn(MPI_Comm comm, const config *config, const grid *grid, const char *name, const sums *mine,
                   double minimum, double maximum) {
  sums all = {0};
  char text[CASES_HELD];
  CHECK_MPI(MPI_Allreduce(mine->first, all.first, 3, MPI_DOUBLE, MPI_SUM, comm));
  CHECK_MPI(MPI_Allreduce(mine->second, all.second, 3, MPI_DOUBLE, MPI_SUM, comm));
  CHECK_MPI(MPI_Allreduce(mine->largest, all.largest, 3, MPI_DOUBLE, MPI_MAX, comm));
  CHECK_MPI(MPI_Allreduce(&mine->total, &all.total, 1, MPI_DOUBLE, MPI_SUM, comm));
  describe(config, grid, &all, minimum, maximum, text);
  if (text[0] != '\0') log_warning("the grid or the precision does not hold %s: %s", name, text);
  return STATUS_OK;
}

static int examined(const config *config) {
  return cases_at(config->initial)->from != PROBLEM_FUNCTIONS && !equation_is(config, EQUATION_GAS);
}

static const char initial_name[] = "the initial condition";

status unresolved_warn(MPI_Comm comm, const config *config, const grid *grid, const field *initial,
                       double minimum, double maximum) {
  const subject subject = {.name = initial_name, .field = initial};
  window window = {.grid = grid, .subject = &subject, .precision = config->precision};
  sums mine = {0};
  if (!examined(config) || minimum == maximum) return STATUS_OK;
  CHECK(agree(comm, find_sums(&window, &mine)));
  return warn(comm, config, grid, initial_name, &mine, minimum, maximum);
}

/* Returns 1 if point i of axis d lies in a layer, its inner edge apart. */
static int in_layer(const config *config, const grid *grid, int d, int64_t i) {
  return (config->ends[d][GRID_LOW] == CONFIG_END_LAYER && i < config->layer_points) ||
         (config->ends[d][GRID_HIGH] == CONFIG_END_LAYER && i >= grid->n[d] - config->layer_points);
}

/* Raises largest[1] to the magnitudes of a plane, and largest[0] to those in layers. */
static void find_in_layers(const config *config, const grid *grid, int64_t z, const double *plane,
                           double largest[2]) {
  const int64_t nx = grid->n[0], ny = grid->n[1];
  const int outer = in_layer(config, grid, 2, z);
  for (int64_t i = 0; i < nx * ny; i++) {
    const double size = fabs(plane[i]);
    largest[1] = fmax(largest[1], size);
    if (outer || in_layer(config, grid, 1, i / nx) || in_layer(config, grid, 0, i % nx))
      largest[0] = fmax(largest[0], size);
  }
}

status unresolved_layers(MPI_Comm comm, const config *config, const grid *grid, const field *initial) {
  static const double least = 1e-3; /* share of the largest value that is worth a word */
  const size_t points = (size_t)(grid->n[0] * grid->n[1]);
  double largest[2] = {0.0, 0.0};
  if (!config_layered(config)) return STATUS_OK;
  double *plane = malloc(points * sizeof *plane);
  status result =
      plane != NULL ? STATUS_OK : status_fail(STATUS_MEMORY, "no memory for planes of %s", initial_name);
  for (int z = 0; z < grid->nz && result == STATUS_OK; z++) {
    result = field_load_plane(initial, z, plane);
    if (result == STATUS_OK) find_in_layers(config, grid, grid->z0 + z, plane, largest);
  }
  free(plane);
  CHECK(agree(comm, result));
  CHECK_MPI(MPI_Allreduce(MPI_IN_PLACE, largest, 2, MPI_DOUBLE, MPI_MAX, comm));
  if (largest[0] > least * largest[1])
    log_warning(
        "the initial pressure is up to %.3g in the layers that absorb: they take what enters them, and "
        "what begins there stays and may grow; it should be 0 there",
        largest[0]);
  return STATUS_OK;
}

/* Evaluates a subject. [out] range: minimum and maximum on this rank. */
static status examine(const config *config, const grid *grid, const subject *subject, sums *sums,
                      double range[2]) {
  window window = {
      .grid = grid, .subject = subject, .precision = config->precision, .range = {INFINITY, -INFINITY}};
  const status result = find_sums(&window, sums);
  range[0] = window.range[0];
  range[1] = window.range[1];
  return result;
}

/* [out] range: over all ranks, from that on this rank. */
static status join(MPI_Comm comm, double range[2]) {
  double both[2] = {range[0], -range[1]};
  CHECK_MPI(MPI_Allreduce(MPI_IN_PLACE, both, 2, MPI_DOUBLE, MPI_MIN, comm));
  range[0] = both[0];
  range[1] = -both[1];
  return STATUS_OK;
}

static status examine_case(const config *config, const grid *grid, sums *sums, double range[2]) {
  cases_solution solution;
  const subject subject = {.name = initial_name, .row = cases_row, .user = &solution};
  CHECK(cases_open(config, grid, 0.0, &solution));
  status result = examine(config, grid, &subject, sums, range);
  if (result == STATUS_OK) result = cases_verdict(&solution);
  cases_close(&solution);
  return result;
}

status unresolved_foresee(MPI_Comm comm, const config *config, const grid *grid) {
  sums mine = {0};
  double range[2] = {0.0, 0.0};
  const int flat = problem_uses(config, "initial", "amplitude") && config->amplitude == 0.0;
  if (!examined(config) && (!flat || equation_is(config, EQUATION_GAS))) return STATUS_OK;
  CHECK(agree(comm, examine_case(config, grid, &mine, range)));
  CHECK(join(comm, range));
  if (range[0] == range[1]) {
    if (!config_sourced(config) && !source_given(config))
      log_warning("the initial state is %.9g at every point", range[0]);
    return STATUS_OK;
  }
  return warn(comm, config, grid, initial_name, &mine, range[0], range[1]);
}

static status examine_source(const config *config, const grid *grid, int unknown, const char *dataset,
                             const char *name, sums *sums, double range[2]) {
  source source;
  const subject subject = {.name = name, .row = source_row, .user = &source};
  CHECK(source_open(config, grid, unknown, dataset, &source));
  status result = examine(config, grid, &subject, sums, range);
  if (result == STATUS_OK) result = source_verdict(&source);
  source_close(&source);
  return result;
}

status unresolved_sources(MPI_Comm comm, const config *config, const equation *equation, const grid *grid) {
  for (int i = 0; i < equation->unknowns; i++) {
    const char *dataset = sources_name(equation, i);
    int there = dataset != NULL && source_exists(config, i, dataset);
    sums mine = {0};
    char name[64];
    double range[2] = {0.0};
    CHECK_MPI(MPI_Allreduce(MPI_IN_PLACE, &there, 1, MPI_INT, MPI_MIN, comm));
    if (!there) continue;
    source_describe(config, i, dataset, name, sizeof name);
    CHECK(agree(comm, examine_source(config, grid, i, dataset, name, &mine, range)));
    CHECK(join(comm, range));
    if (range[0] < range[1]) CHECK(warn(comm, config, grid, name, &mine, range[0], range[1]));
  }
  return STATUS_OK;
}
