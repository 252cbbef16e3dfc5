#include "problems/resample.h"

#include <math.h>
#include <stdlib.h>

#include "problems/problem.h"

/* The interpolation at a point of this grid along an axis: the source's points around it, the first of them
 * also as an index before wrapping around, and their weights. */
typedef struct around {
  int64_t first, at[RESAMPLE_POINTS];
  double weight[RESAMPLE_POINTS];
} around;

typedef struct resampler {
  const dataset *source;
  const dataset_place *place;
  const grid *grid;
  resample_fit fit[3];
  around *along[2];              /* for x and y, one per index */
  double *plane;                 /* a plane of the source */
  double *rows;                  /* that plane at this grid's x */
  double *ring;                  /* RESAMPLE_POINTS such planes at this grid's x and y */
  int64_t held[RESAMPLE_POINTS]; /* their indices, not wrapped */
} resampler;

resample_fit resample_fit_of(const dataset_place *place, const grid *grid, int d, int64_t n) {
  const double h = place->spacing[d], near = 1e-3 * h, length = grid->l[d];
  const double first = place->origin[d], last = first + (double)(n - 1) * h;
  if (!place->known[d]) return RESAMPLE_ALIKE;
  const double whole = grid->bounded[d] ? last - first : (double)n * h;
  if (fabs(whole - length) <= near) {
    if (fabs(first) <= near) return RESAMPLE_ALIKE;
    if (!grid->bounded[d]) return RESAMPLE_PERIOD;
  }
  const double end = grid_position(grid, d, grid->n[d] - 1);
  return first <= near && last >= end - near ? RESAMPLE_COVERS : RESAMPLE_OUTSIDE;
}

status resample_check(const dataset *source, const dataset_place *place, const grid *grid) {
  for (int d = 0; d < 3; d++) {
    if (resample_fit_of(place, grid, d, source->n[d]) != RESAMPLE_OUTSIDE) continue;
    const double h = place->spacing[d], first = place->origin[d];
    return status_fail(
        STATUS_USAGE,
        "%s = %s: along %c its points lie from %.9g to %.9g, %.9g apart (Origin, Spacing or coordinates); "
        "this %s axis of length %.9g has points from 0 to %.9g, %.9g apart; accepted: points "
        "that cover these%s",
        source->key, source->path, "xyz"[d], first, first + (double)(source->n[d] - 1) * h, h,
        grid->bounded[d] ? "bounded" : "periodic", grid->l[d], grid_position(grid, d, grid->n[d] - 1),
        grid->h[d], grid->bounded[d] ? "" : ", or one period of that length");
  }
  return STATUS_OK;
}

/* A position between the source's points: the point below it, and how far above that it lies. */
typedef struct position {
  int64_t below;
  double above;
} position;

/* The position of point i of this grid. Where both grids divide the axis, it is a fraction of integers,
 * without rounding. */
static position find_position(const resampler *r, int d, int64_t i) {
  const int bounded = r->grid->bounded[d];
  const int64_t n = r->grid->n[d], m = r->source->n[d], intervals = bounded ? n - 1 : n;
  if (r->fit[d] == RESAMPLE_ALIKE) {
    const int64_t parts = i * (bounded ? m - 1 : m);
    const int64_t below = (parts >= 0 ? parts : parts - intervals + 1) / intervals;
    return (position){below, (double)(parts - below * intervals) / (double)intervals};
  }
  double x = (grid_position(r->grid, d, i) - r->place->origin[d]) / r->place->spacing[d];
  if (fabs(x - nearbyint(x)) < 1e-6) x = nearbyint(x); /* a point of both, but for rounding */
  return (position){(int64_t)floor(x), x - floor(x)};
}

static int wraps(const resampler *r, int d) {
  return !r->grid->bounded[d] && r->fit[d] != RESAMPLE_COVERS;
}

static around find_around(const resampler *r, int d, int64_t i) {
  const int64_t m = r->source->n[d];
  const position at = find_position(r, d, i);
  around around = {.first = at.below - (RESAMPLE_POINTS / 2 - 1)};
  if (!wraps(r, d) && around.first > m - RESAMPLE_POINTS) around.first = m - RESAMPLE_POINTS;
  if (!wraps(r, d) && around.first < 0) around.first = 0;
  const double x = (double)(at.below - around.first) + at.above;
  for (int k = 0; k < RESAMPLE_POINTS; k++) {
    around.at[k] = ((around.first + k) % m + m) % m;
    around.weight[k] = 1.0;
    for (int j = 0; j < RESAMPLE_POINTS; j++)
      if (j != k) around.weight[k] *= (x - j) / (k - j);
  }
  return around;
}

static status open_resampler(const dataset *source, const dataset_place *place, const grid *grid,
                             resampler *r) {
  const size_t nx = (size_t)grid->n[0], ny = (size_t)grid->n[1];
  const size_t mx = (size_t)source->n[0], my = (size_t)source->n[1];
  *r = (resampler){.source = source, .place = place, .grid = grid};
  for (int d = 0; d < 3; d++) r->fit[d] = resample_fit_of(place, grid, d, source->n[d]);
  for (int d = 0; d < 2; d++) {
    r->along[d] = malloc((size_t)grid->n[d] * sizeof *r->along[d]);
    for (int64_t i = 0; i < grid->n[d] && r->along[d] != NULL; i++) r->along[d][i] = find_around(r, d, i);
  }
  for (int k = 0; k < RESAMPLE_POINTS; k++) r->held[k] = INT64_MIN;
  r->plane = malloc(mx * my * sizeof(double));
  r->rows = malloc(nx * my * sizeof(double));
  r->ring = malloc(RESAMPLE_POINTS * nx * ny * sizeof(double));
  if (r->along[0] != NULL && r->along[1] != NULL && r->plane != NULL && r->rows != NULL && r->ring != NULL)
    return STATUS_OK;
  return status_fail(STATUS_MEMORY, "%s = %s: no memory for planes of its grid", source->key, source->path);
}

static void close_resampler(resampler *r) {
  for (int d = 0; d < 2; d++) free(r->along[d]);
  free(r->plane);
  free(r->rows);
  free(r->ring);
}

/* Interpolates a plane of the source to this grid's x and y. */
static void resample_plane(const resampler *r, double *result) {
  const int64_t nx = r->grid->n[0], ny = r->grid->n[1], mx = r->source->n[0], my = r->source->n[1];
#pragma omp parallel
  {
#pragma omp for schedule(static)
    for (int64_t y = 0; y < my; y++) {
      for (int64_t x = 0; x < nx; x++) {
        const around *around = &r->along[0][x];
        double sum = 0.0;
        for (int k = 0; k < RESAMPLE_POINTS; k++) sum += around->weight[k] * r->plane[y * mx + around->at[k]];
        r->rows[y * nx + x] = sum;
      }
    }
#pragma omp for schedule(static)
    for (int64_t y = 0; y < ny; y++) {
      const around *around = &r->along[1][y];
      for (int64_t x = 0; x < nx; x++) {
        double sum = 0.0;
        for (int k = 0; k < RESAMPLE_POINTS; k++) sum += around->weight[k] * r->rows[around->at[k] * nx + x];
        result[y * nx + x] = sum;
      }
    }
  }
}

/* [out] planes: the source's planes around one of this grid's, interpolated to this grid's x and y. */
static status find_planes(resampler *r, const around *around, const double *planes[RESAMPLE_POINTS]) {
  const size_t plane = (size_t)(r->grid->n[0] * r->grid->n[1]);
  for (int k = 0; k < RESAMPLE_POINTS; k++) {
    const int64_t wanted = around->first + k;
    const size_t slot = (size_t)(((wanted % RESAMPLE_POINTS) + RESAMPLE_POINTS) % RESAMPLE_POINTS);
    planes[k] = r->ring + slot * plane;
    if (r->held[slot] == wanted) continue;
    CHECK(dataset_read(r->source, PRECISION_DOUBLE, around->at[k], 1, r->plane));
    CHECK(dataset_check_values(r->source, PRECISION_DOUBLE, around->at[k], 1, r->plane, PROBLEM_LARGEST));
    resample_plane(r, r->ring + slot * plane);
    r->held[slot] = wanted;
  }
  return STATUS_OK;
}

static status fill_plane(resampler *r, int64_t z, precision precision, void *result) {
  const int64_t points = r->grid->n[0] * r->grid->n[1];
  const around around = find_around(r, 2, z);
  const double *planes[RESAMPLE_POINTS];
  CHECK(find_planes(r, &around, planes));
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < points; i++) {
    double sum = 0.0;
    for (int k = 0; k < RESAMPLE_POINTS; k++) sum += around.weight[k] * planes[k][i];
    if (precision == PRECISION_SINGLE) {
      ((float *)result)[i] = (float)sum;
    } else {
      ((double *)result)[i] = sum;
    }
  }
  return STATUS_OK;
}

status resample_planes(const dataset *source, const dataset_place *place, const grid *grid,
                       precision precision, void *planes) {
  const size_t bytes = (size_t)(grid->n[0] * grid->n[1]) * kernels_element_size(precision);
  resampler r;
  status result = open_resampler(source, place, grid, &r);
  for (int64_t i = 0; i < grid->nz + 2 * KERNELS_HALO && result == STATUS_OK; i++) {
    int64_t z = grid->z0 - KERNELS_HALO + i;
    if (!wraps(&r, 2)) z = (z + grid->n[2]) % grid->n[2];
    result = fill_plane(&r, z, precision, (char *)planes + (size_t)i * bytes);
  }
  close_resampler(&r);
  return result;
}
