#include "problems/points.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "files/array_file.h"
#include "problems/problem.h"
#include "problems/rounded.h"
#include "settings/equations.h"

/* The section of the configuration that gives the places. */
typedef struct request {
  const config *config;
  const char *section, *list, *file;
} request;

/* Refuses the point or number of index i; users count from 1. */
static status refuse(const request *r, const char *name, int64_t i, const char *what) {
  return status_fail(STATUS_USAGE, "%s.%s: number %lld %s", r->section, name, (long long)i + 1, what);
}

/* Reads numbers that are separated by blanks and semicolons. [out] values: the caller frees them. */
static status read_numbers(const request *r, const char *name, const char *text, int64_t *count,
                           double **values) {
  *count = 0;
  *values = malloc((strlen(text) + 1) * sizeof **values);
  if (*values == NULL) return status_fail(STATUS_MEMORY, "no memory for a list of numbers");
  for (;;) {
    text += strspn(text, " \t;\"");
    char *end = NULL;
    const double value = strtod(text, &end);
    if (end == text || strcspn(text, "xX") < (size_t)(end - text)) break; /* nor hexadecimal ones */
    (*values)[(*count)++] = value;
    text = end;
  }
  if (*text == '\0') return STATUS_OK;
  return status_fail(STATUS_USAGE,
                     "%s.%s: not a list of numbers: %.80s; accepted: numbers with blanks between them",
                     r->section, name, text);
}

static status check_layers(const request *r, const points *points, const char *list) {
  const config *c = r->config;
  for (int64_t i = 0; i < 3 * points->count; i++) {
    const int d = (int)(i % 3);
    const double depth = c->layer_points * c->l[d] / (double)(c->n[d] - 1), x = points->at[i];
    const double slack = PROBLEM_SLACK * c->l[d];
    const double low = c->ends[d][0] == CONFIG_END_LAYER ? depth : 0.0;
    const double high = c->ends[d][1] == CONFIG_END_LAYER ? c->l[d] - depth : c->l[d];
    if (x >= low - slack && x <= high + slack) continue;
    char what[192];
    (void)snprintf(what, sizeof what, "has %c = %.9g, in an absorbing layer; accepted: %.15g to %.15g",
                   "xyz"[d], x, low, high);
    return refuse(r, list, i / 3, what);
  }
  return STATUS_OK;
}

/* Refuses places outside, and puts those that are there by rounding alone on the end. */
static status check_inside(const request *r, const points *points) {
  const char *list = r->file[0] != '\0' ? "file" : "points";
  for (int64_t i = 0; i < points->count; i++) {
    double *at = &points->at[3 * i];
    const double *l = r->config->l;
    int outside = 0;
    for (int d = 0; d < 3; d++) outside = outside || problem_outside(r->config, d, at[d]);
    for (int d = 0; d < 3 && !outside; d++) at[d] = fmin(fmax(at[d], 0.0), l[d]);
    if (!outside) continue;
    char what[192];
    (void)snprintf(what, sizeof what,
                   "(%.9g, %.9g, %.9g) is outside the domain; accepted: 0 to %.15g, 0 to %.15g, 0 to %.15g",
                   at[0], at[1], at[2], l[0], l[1], l[2]);
    return refuse(r, list, i, what);
  }
  return check_layers(r, points, list);
}

/* Reads numbers of the points' file, if it has them. */
static status read_file(const request *r, const char *name, int columns, points *points, int64_t *count,
                        double **values) {
  char key[64];
  *count = 0;
  if (r->file[0] == '\0') return STATUS_OK;
  (void)snprintf(key, sizeof key, "%s.file", r->section);
  CHECK(array_file_read(key, r->file, name, columns, count, values));
  const size_t numbers = (size_t)*count * (columns > 0 ? (size_t)columns : 1);
  if (*count > 0) points->hash += XXH3_64bits_withSeed(*values, numbers * sizeof **values, (uint64_t)name[0]);
  return STATUS_OK;
}

static status read_places(const request *r, points *points) {
  if (r->file[0] != '\0') {
    CHECK(read_file(r, "points", 3, points, &points->count, &points->at));
    if (points->count == 0)
      return status_fail(STATUS_USAGE, "%s.file = %s: no dataset points; accepted: one of shape (n, 3)",
                         r->section, r->file);
  } else {
    CHECK(read_numbers(r, "points", r->list, &points->count, &points->at));
    points->count /= 3;
  }
  return check_inside(r, points);
}

/* Refuses a number below `least` or beyond what other keys accept. */
static status check_range(const request *r, const char *name, double least, int64_t count,
                          const double *values) {
  static const double most = 1e30;
  char what[96];
  for (int64_t i = 0; i < count; i++) {
    if (values[i] >= least && values[i] <= most) continue;
    (void)snprintf(what, sizeof what, "is %g; accepted: %g to %g", values[i], least, most);
    return refuse(r, name, i, what);
  }
  return STATUS_OK;
}

/* One number for each point: from the file, or those of a list, of which one stands for all. */
static status read_each(const request *r, const char *name, const char *list, double least, points *points,
                        double **values) {
  int64_t count = 0;
  CHECK(read_file(r, name, 0, points, &count, values));
  if (count == 0) CHECK(read_numbers(r, name, list, &count, values));
  CHECK(check_range(r, name, least, count, *values));
  if (count == points->count) return STATUS_OK;
  if (count != 1)
    return status_fail(STATUS_USAGE, "%s.%s: %lld numbers for %lld point%s; accepted: one, or as many",
                       r->section, name, (long long)count, (long long)points->count,
                       points->count == 1 ? "" : "s");
  double *all = malloc((size_t)points->count * sizeof *all);
  if (all == NULL) return status_fail(STATUS_MEMORY, "no memory for %s of points", name);
  for (int64_t i = 0; i < points->count; i++) all[i] = (*values)[0];
  free(*values);
  *values = all;
  return STATUS_OK;
}

status points_sources(const config *config, points *points) {
  const request r = {config, "point_sources", config->source_points, config->source_file};
  char delay[32];
  *points = (struct points){.count = 0};
  (void)snprintf(delay, sizeof delay, "%.17g", config->delay);
  CHECK(read_places(&r, points));
  CHECK(read_each(&r, "amplitude", config->source_amplitude, -1e30, points, &points->amplitude));
  return read_each(&r, "delay", delay, 0.0, points, &points->delay);
}

/* Orders pointers to places by place, then as they stand. */
static int compare(const void *one, const void *other) {
  const double *a = *(const double *const *)one, *b = *(const double *const *)other;
  for (int d = 0; d < 3; d++)
    if (a[d] != b[d]) return a[d] < b[d] ? -1 : 1;
  return a < b ? -1 : a > b;
}

/* Refuses places that come twice, as lists of points do. */
static status check_different(const request *r, const points *points) {
  const double **sorted = malloc(((size_t)points->count + 1) * sizeof *sorted);
  status result = STATUS_OK;
  char what[96];
  if (sorted == NULL) return status_fail(STATUS_MEMORY, "no memory for places of receivers");
  for (int64_t i = 0; i < points->count; i++) sorted[i] = &points->at[3 * i];
  qsort(sorted, (size_t)points->count, sizeof *sorted, compare);
  for (int64_t i = 1; i < points->count && result == STATUS_OK; i++) {
    if (memcmp(sorted[i - 1], sorted[i], 3 * sizeof **sorted) != 0) continue;
    const int64_t earlier = (sorted[i - 1] - points->at) / 3 + 1;
    (void)snprintf(what, sizeof what, "is at the place of number %lld; accepted: each place once",
                   (long long)earlier);
    result = refuse(r, r->file[0] != '\0' ? "file" : "points", (sorted[i] - points->at) / 3, what);
  }
  free(sorted);
  return result;
}

status points_receivers(const config *config, points *points) {
  const request r = {config, "receivers", config->receiver_points, config->receiver_file};
  *points = (struct points){.count = 0};
  CHECK(read_places(&r, points));
  return check_different(&r, points);
}

void points_close(points *points) {
  free(points->at);
  free(points->amplitude);
  free(points->delay);
  *points = (struct points){.count = 0};
}

/* The modified Bessel function I0, by its power series. */
static double bessel(double x) {
  double term = 1.0, sum = 1.0;
  for (int k = 1; k < 60; k++) {
    term *= 0.25 * x * x / (k * k);
    sum += term;
  }
  return sum;
}

static double kaiser(double x) {
  static const double b = 6.31, half = 4.0;
  const double inside = 1.0 - (x / half) * (x / half);
  const double sinc = x == 0.0 ? 1.0 : rounded_sin(PROBLEM_PI * x) / (PROBLEM_PI * x);
  return inside < 0.0 ? 0.0 : sinc * bessel(b * sqrt(inside)) / bessel(b);
}

/* Lagrange's weight of node k for a place `at` from node 0. */
static double lagrange(double at, int k) {
  double weight = 1.0;
  for (int i = 0; i < POINTS_NEAR; i++) {
    if (i != k) weight *= (at - i) / (double)(k - i);
  }
  return weight;
}

/* The point whose value stands at index i beyond an end, and the factor of its weight. */
static int64_t image_of(const config *config, const grid *grid, int d, int64_t i, double *sign) {
  const int64_t n = grid->n[d];
  *sign = 1.0;
  if (!grid->bounded[d]) return (i % n + n) % n;
  const int beyond = i < 0 || i >= n;
  if ((i <= 0 || i >= n - 1) && config->ends[d][i > 0] == CONFIG_END_FREE) *sign = beyond ? -1.0 : 0.0;
  if (!beyond) return i;
  return i < 0 ? -i : 2 * (n - 1) - i;
}

/* Returns 1 if a field goes on beyond an end as its image: not at walls that absorb sound. */
static int folds(const config *config, int d, int end) {
  const int absorbs = !equation_is(config, EQUATION_LEAPS) && config->absorbed[d][end] > 0.0;
  return config->ends[d][end] == CONFIG_END_FREE || (config->ends[d][end] == CONFIG_END_WALL && !absorbs);
}

/* Adds the weight of a point to an earlier entry of the same point. */
static void merge(points_axis *axis, int k) {
  for (int i = 0; i < k; i++) {
    if (axis->index[i] != axis->index[k] || axis->weight[k] == 0.0) continue;
    axis->weight[i] += axis->weight[k];
    axis->weight[k] = 0.0;
  }
}

points_axis points_weights(const config *config, const grid *grid, int d, double x, int sinc) {
  const int64_t n = grid->n[d];
  const double place = x / grid->h[d];
  const int64_t below = (int64_t)floor(place);
  int64_t first = below - 3;
  points_axis axis = {.base = below};
  if (grid->bounded[d] && first < 0 && !folds(config, d, GRID_LOW)) first = 0;
  if (grid->bounded[d] && first > n - POINTS_NEAR && !folds(config, d, GRID_HIGH)) first = n - POINTS_NEAR;
  const int shifted = first != below - 3;
  for (int k = 0; k < POINTS_NEAR; k++) {
    double sign = 1.0;
    axis.index[k] = image_of(config, grid, d, first + k, &sign);
    const double weight =
        sinc && !shifted ? kaiser((double)(first + k) - place) : lagrange(place - (double)first, k);
    axis.weight[k] = sign * weight;
    merge(&axis, k);
  }
  if (!grid->bounded[d]) axis.base = below % n;
  if (axis.base > n - 1) axis.base = n - 1;
  return axis;
}
