#include "problems/resample.h"

#include <math.h>
#include <stdlib.h>

#include "problems/problem.h"

/* The interpolation at a point of this grid along an axis: the source's points around it, the first of them
 * also as an index before wrapping around, and their weights. */
typedef struct around {
  int64_t first, at[RESAMPLE_POINTS];
  double weight[RESAMPLE_POINTS];
  int below;    /* the place lies between this one of the points and the next, */
  double above; /* so far beyond it */
  int linear;   /* only these two count */
} around;

/* To points a plane is interpolated along x and y, then along z. To cells it is interpolated along z first:
 * of a fine dataset fewer values have to be held then. */
typedef struct resample_cells {
  const dataset *source;
  const dataset_place *place;
  const grid *grid;
  resample_fit fit[3];
  around *along[2];              /* for x and y, one per index, or per part of each cell */
  double *plane;                 /* a plane of the source, to cells at a place between two of them */
  double *rows;                  /* that plane at this grid's x */
  double *ring;                  /* RESAMPLE_POINTS such planes, to points at this grid's x and y */
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

static around find_around(const resampler *r, int d, position at, int linear) {
  const int64_t m = r->source->n[d];
  around around = {.first = at.below - (RESAMPLE_POINTS / 2 - 1)};
  if (!wraps(r, d) && around.first > m - RESAMPLE_POINTS) around.first = m - RESAMPLE_POINTS;
  if (!wraps(r, d) && around.first < 0) around.first = 0;
  const double x = (double)(at.below - around.first) + at.above;
  around.below = (int)fmin(x, RESAMPLE_POINTS - 2);
  around.above = x - around.below;
  around.linear = linear;
  for (int k = 0; k < RESAMPLE_POINTS; k++) {
    around.at[k] = ((around.first + k) % m + m) % m;
    around.weight[k] = linear ? fmax(0.0, 1.0 - fabs(x - k)) : 1.0;
    for (int j = 0; j < RESAMPLE_POINTS && !linear; j++)
      if (j != k) around.weight[k] *= (x - j) / (k - j);
  }
  return around;
}

double resample_midpoint(const grid *grid, int d, int64_t i, int part) {
  const double low = grid->bounded[d] && i == 0 ? 0.0 : -0.5;
  const double high = grid->bounded[d] && i == grid->n[d] - 1 ? 0.0 : 0.5;
  const double place = ((double)i + low + (high - low) * (part + 0.5) / RESAMPLE_PARTS) * grid->h[d];
  if (place < 0.0) return place + grid->l[d];
  return !grid->bounded[d] && place >= grid->l[d] ? place - grid->l[d] : place;
}

/* The interpolation at the midpoint of a part of this grid's cell i. */
static around find_within(const resampler *r, int d, int64_t i, int part) {
  const int alike = r->fit[d] == RESAMPLE_ALIKE, bounded = r->grid->bounded[d];
  const int64_t m = r->source->n[d];
  const double spacing = alike ? r->grid->l[d] / (double)(bounded ? m - 1 : m) : r->place->spacing[d];
  const double origin = alike ? 0.0 : r->place->origin[d];
  double x = (resample_midpoint(r->grid, d, i, part) - origin) / spacing;
  if (!wraps(r, d))
    x = fmin(fmax(x, 0.0), (double)(m - 1)); /* cells may reach beyond what covers the points */
  return find_around(r, d, (position){(int64_t)floor(x), x - floor(x)}, spacing < r->grid->h[d]);
}

/* parts: of a cell along each axis; 0: to points. */
static status open_resampler(const dataset *source, const dataset_place *place, const grid *grid, int parts,
                             resampler *r) {
  const int each = parts > 0 ? parts : 1;
  const size_t nx = (size_t)grid->n[0] * (size_t)each, ny = (size_t)grid->n[1];
  const size_t mx = (size_t)source->n[0], my = (size_t)source->n[1];
  *r = (resampler){.source = source, .place = place, .grid = grid};
  for (int d = 0; d < 3; d++) r->fit[d] = resample_fit_of(place, grid, d, source->n[d]);
  for (int d = 0; d < 2; d++) {
    const int64_t count = grid->n[d] * each;
    r->along[d] = malloc((size_t)count * sizeof *r->along[d]);
    for (int64_t i = 0; i < count && r->along[d] != NULL; i++)
      r->along[d][i] = parts > 0 ? find_within(r, d, i / parts, (int)(i % parts))
                                 : find_around(r, d, find_position(r, d, i), 0);
  }
  for (int k = 0; k < RESAMPLE_POINTS; k++) r->held[k] = INT64_MIN;
  r->plane = malloc(mx * my * sizeof(double));
  r->rows = malloc(nx * my * sizeof(double));
  r->ring = malloc(RESAMPLE_POINTS * (parts > 0 ? mx * my : nx * ny) * sizeof(double));
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

static status read_plane(const resampler *r, int64_t z, double *plane) {
  CHECK(dataset_read(r->source, PRECISION_DOUBLE, z, 1, plane));
  return dataset_check_values(r->source, PRECISION_DOUBLE, z, 1, plane, PROBLEM_LARGEST);
}

/* The place in the ring of a plane of the source. */
static int64_t slot_of(int64_t wanted) {
  return (wanted % RESAMPLE_POINTS + RESAMPLE_POINTS) % RESAMPLE_POINTS;
}

/* [out] planes: the source's planes around one of this grid's, interpolated to this grid's x and y. */
static status find_planes(resampler *r, const around *around, const double *planes[RESAMPLE_POINTS]) {
  const int64_t plane = r->grid->n[0] * r->grid->n[1];
  for (int k = 0; k < RESAMPLE_POINTS; k++) {
    const int64_t wanted = around->first + k, slot = slot_of(wanted);
    planes[k] = r->ring + slot * plane;
    if (r->held[slot] == wanted) continue;
    CHECK(read_plane(r, around->at[k], r->plane));
    resample_plane(r, r->ring + slot * plane);
    r->held[slot] = wanted;
  }
  return STATUS_OK;
}

static status fill_plane(resampler *r, int64_t z, precision precision, void *result) {
  const int64_t points = r->grid->n[0] * r->grid->n[1];
  const around around = find_around(r, 2, find_position(r, 2, z), 0);
  const double *planes[RESAMPLE_POINTS];
  CHECK(find_planes(r, &around, planes));
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < points; i++) {
    double sum = 0.0;
    for (int k = 0; k < RESAMPLE_POINTS; k++) sum += around.weight[k] * planes[k][i];
    kernels_put(precision, result, (size_t)i, sum);
  }
  return STATUS_OK;
}

status resample_planes(const dataset *source, const dataset_place *place, const grid *grid,
                       precision precision, void *planes) {
  const size_t bytes = (size_t)(grid->n[0] * grid->n[1]) * kernels_element_size(precision);
  resampler r;
  status result = open_resampler(source, place, grid, 0, &r);
  for (int64_t i = 0; i < grid->nz + 2 * KERNELS_HALO && result == STATUS_OK; i++) {
    int64_t z = grid->z0 - KERNELS_HALO + i;
    if (!wraps(&r, 2)) z = (z + grid->n[2]) % grid->n[2];
    result = fill_plane(&r, z, precision, (char *)planes + (size_t)i * bytes);
  }
  close_resampler(&r);
  return result;
}

status resample_cells_open(const dataset *source, const dataset_place *place, const grid *grid,
                           resample_cells **cells) {
  resampler *r = *cells = calloc(1, sizeof *r);
  if (r != NULL && open_resampler(source, place, grid, RESAMPLE_PARTS, r) == STATUS_OK) return STATUS_OK;
  resample_cells_close(r);
  *cells = NULL;
  return status_fail(STATUS_MEMORY, "%s = %s: no memory for planes of its grid", source->key, source->path);
}

void resample_cells_close(resample_cells *cells) {
  if (cells != NULL) close_resampler(cells);
  free(cells);
}

static double second_difference(const double *f) {
  return f[-1] - 2.0 * f[0] + f[1];
}

/* The one of two numbers that is nearer to zero; zero if their signs differ. */
static double lesser(double a, double b) {
  if (a * b <= 0.0) return 0.0;
  return fabs(a) < fabs(b) ? a : b;
}

/* The interpolation of the values f of its points. Unless it is linear, it is held between the two values
 * around and a parabola through them, bent twice as much as the lesser of their second differences says:
 * smooth data keep their order, and beside a jump, where one of the two is zero, nothing rings. */
static double weighed(const around *around, const double f[RESAMPLE_POINTS]) {
  double sum = 0.0;
  for (int k = 0; k < RESAMPLE_POINTS; k++)
    if (around->weight[k] != 0.0) sum += around->weight[k] * f[k];
  if (around->linear) return sum;
  const int j = around->below;
  const double s = around->above, low = fmin(f[j], f[j + 1]), high = fmax(f[j], f[j + 1]);
  const double here = second_difference(&f[j > 0 ? j : 1]);
  const double next = second_difference(&f[j + 1 < RESAMPLE_POINTS - 1 ? j + 1 : j]);
  const double bent = f[j] + s * (f[j + 1] - f[j]) - s * (1.0 - s) * lesser(here, next);
  return fmin(fmax(sum, fmin(bent, low)), fmax(bent, high));
}

/* Of values of a source's row, or of its rows, `step` apart. */
static double weighed_along(const around *around, const double *values, int64_t step) {
  double f[RESAMPLE_POINTS];
  for (int k = 0; k < RESAMPLE_POINTS; k++) f[k] = values[around->at[k] * step];
  return weighed(around, f);
}

/* The source at a place along z, in `plane`. */
static status find_section(resampler *r, const around *around) {
  const int64_t plane = r->source->n[0] * r->source->n[1];
  const double *planes[RESAMPLE_POINTS];
  for (int k = 0; k < RESAMPLE_POINTS; k++) {
    const int64_t wanted = around->first + k, slot = slot_of(wanted);
    planes[k] = r->ring + slot * plane;
    if ((around->weight[k] == 0.0 && around->linear) || r->held[slot] == wanted) continue;
    CHECK(read_plane(r, around->at[k], r->ring + slot * plane));
    r->held[slot] = wanted;
  }
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < plane; i++) {
    double f[RESAMPLE_POINTS] = {0.0};
    for (int k = 0; k < RESAMPLE_POINTS; k++)
      if (around->weight[k] != 0.0 || !around->linear) f[k] = planes[k][i];
    r->plane[i] = weighed(around, f);
  }
  return STATUS_OK;
}

status resample_cells_plane(resample_cells *cells, int64_t z, int part, double *values) {
  resampler *const r = cells;
  const int64_t nx = r->grid->n[0] * RESAMPLE_PARTS, ny = r->grid->n[1] * RESAMPLE_PARTS;
  const int64_t mx = r->source->n[0], my = r->source->n[1], n = r->grid->n[2];
  const around along_z = find_within(r, 2, (z % n + n) % n, part);
  CHECK(find_section(r, &along_z));
#pragma omp parallel
  {
#pragma omp for schedule(static)
    for (int64_t y = 0; y < my; y++)
      for (int64_t x = 0; x < nx; x++)
        r->rows[y * nx + x] = weighed_along(&r->along[0][x], r->plane + y * mx, 1);
#pragma omp for schedule(static)
    for (int64_t y = 0; y < ny; y++)
      for (int64_t x = 0; x < nx; x++) values[y * nx + x] = weighed_along(&r->along[1][y], r->rows + x, nx);
  }
  return STATUS_OK;
}
