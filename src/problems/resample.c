#include "problems/resample.h"

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
  const grid *grid;
  around *along[2];              /* for x and y, one per index */
  double *plane;                 /* a plane of the source */
  double *rows;                  /* that plane at this grid's x */
  double *ring;                  /* RESAMPLE_POINTS such planes at this grid's x and y */
  int64_t held[RESAMPLE_POINTS]; /* their indices, not wrapped */
} resampler;

static around find_around(const resampler *r, int d, int64_t i) {
  const int64_t n = r->grid->n[d], m = r->source->n[d];
  const int bounded = r->grid->ends[d][GRID_LOW] != GRID_PERIODIC;
  const int64_t position = i * (bounded ? m - 1 : m), intervals = bounded ? n - 1 : n;
  const int64_t below = (position >= 0 ? position : position - intervals + 1) / intervals;
  around around = {.first = below - (RESAMPLE_POINTS / 2 - 1)};
  if (bounded && around.first > m - RESAMPLE_POINTS) around.first = m - RESAMPLE_POINTS;
  if (bounded && around.first < 0) around.first = 0;
  const double x =
      (double)(below - around.first) + (double)(position - below * intervals) / (double)intervals;
  for (int k = 0; k < RESAMPLE_POINTS; k++) {
    around.at[k] = ((around.first + k) % m + m) % m;
    around.weight[k] = 1.0;
    for (int j = 0; j < RESAMPLE_POINTS; j++)
      if (j != k) around.weight[k] *= (x - j) / (k - j);
  }
  return around;
}

static status open_resampler(const dataset *source, const grid *grid, resampler *r) {
  const size_t nx = (size_t)grid->n[0], ny = (size_t)grid->n[1];
  const size_t mx = (size_t)source->n[0], my = (size_t)source->n[1];
  *r = (resampler){.source = source, .grid = grid};
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

status resample_planes(const dataset *source, const grid *grid, precision precision, void *planes) {
  const size_t bytes = (size_t)(grid->n[0] * grid->n[1]) * kernels_element_size(precision);
  const int bounded = grid->ends[2][GRID_LOW] != GRID_PERIODIC;
  resampler r;
  status result = open_resampler(source, grid, &r);
  for (int64_t i = 0; i < grid->nz + 2 * KERNELS_HALO && result == STATUS_OK; i++) {
    int64_t z = grid->z0 - KERNELS_HALO + i;
    if (bounded) z = (z + grid->n[2]) % grid->n[2];
    result = fill_plane(&r, z, precision, (char *)planes + (size_t)i * bytes);
  }
  close_resampler(&r);
  return result;
}
