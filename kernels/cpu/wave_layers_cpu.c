#include <stdlib.h>
#include <string.h>

#include "cpu.h"
#include "wave_cpu.h"
#include "wave_point.h"

/* Absorbing layers of waves (wave_layers.h). Those of x are computed row by row from a copy with zeros beside
 * it, those of y and z as rows of nx points, one for each depth. */

enum { RADIUS = STENCIL_RADIUS };

typedef struct layer_job {
  const kernels_launch *launch;
  const kernels_wave *call;
  const wave_layers *layers;
  real first[3][RADIUS], second[3][RADIUS + 1];
} layer_job;

/* A layer of y or z at one plane or row: rows of nx points, `step` elements apart for each depth. */
typedef struct layer_rows {
  int axis, nx;
  const real *p;
  ptrdiff_t p_step;
  real *psi, *zeta, *term;
  ptrdiff_t step;
} layer_rows;

static const real *profile_of(const layer_job *job, int axis) {
  return (const real *)job->layers->profile + (ptrdiff_t)2 * axis * job->layers->points;
}

static real *part_of(const layer_job *job, int copies, int copy, int axis, int end, int z) {
  void *const array = copies == WAVE_TERM ? job->layers->term : job->layers->memory;
  return (real *)array + wave_layers_at(job->layers, &job->launch->shape, copies, copy, axis, end, z);
}

static const real *row_of(const layer_job *job, int z, int y) {
  const kernels_shape *shape = &job->launch->shape;
  return (const real *)job->call->p + (ptrdiff_t)(z + KERNELS_HALO) * shape->plane +
         (ptrdiff_t)y * shape->ldx;
}

/* The nine rows around a depth, of which those outside of 0 .. count - 1 are zero. */
static void find_rows(const real *base, ptrdiff_t step, int j, int count, const real *zero,
                      const real *rows[]) {
  for (int k = -RADIUS; k <= RADIUS; k++) {
    const int i = j + k;
    rows[k + RADIUS] = i >= 0 && i < count ? base + i * step : zero;
  }
}

static void remember_psi(const layer_job *job, const layer_rows *l, int j, const real *zero) {
  const real *c = job->first[l->axis], *profile = profile_of(job, l->axis);
  const real b = profile[j], a = profile[job->layers->points + j];
  const real *r[2 * RADIUS + 1];
  real *const psi = l->psi + j * l->step;
  find_rows(l->p, l->p_step, j, job->layers->points + RADIUS, zero, r);
#pragma omp simd
  for (int x = 0; x < l->nx; x++) {
    const real d =
        first_derivative(c, r[0][x], r[1][x], r[2][x], r[3][x], r[5][x], r[6][x], r[7][x], r[8][x]);
    psi[x] = wave_remember(b, a, psi[x], d);
  }
}

/* zeta and the terms of a depth in the layer. */
static void remember_zeta(const layer_job *job, const layer_rows *l, int j, const real *zero) {
  const real *c1 = job->first[l->axis], *c2 = job->second[l->axis], *profile = profile_of(job, l->axis);
  const int points = job->layers->points;
  const real b = profile[j], a = profile[points + j];
  const real *r[2 * RADIUS + 1], *q[2 * RADIUS + 1];
  real *const zeta = l->zeta + j * l->step, *const term = l->term + j * l->step;
  find_rows(l->p, l->p_step, j, points + RADIUS, zero, r);
  find_rows(l->psi, l->step, j, points, zero, q);
#pragma omp simd
  for (int x = 0; x < l->nx; x++) {
    const real d =
        first_derivative(c1, q[0][x], q[1][x], q[2][x], q[3][x], q[5][x], q[6][x], q[7][x], q[8][x]);
    const real s = second_derivative(c2, r[0][x], r[1][x], r[2][x], r[3][x], r[4][x], r[5][x], r[6][x],
                                     r[7][x], r[8][x]);
    zeta[x] = wave_remember(b, a, zeta[x], s + d);
    term[x] = d + zeta[x];
  }
}

/* The terms of a depth beside the layer. */
static void spread_psi(const layer_job *job, const layer_rows *l, int j, const real *zero) {
  const real *c = job->first[l->axis], *q[2 * RADIUS + 1];
  real *const term = l->term + j * l->step;
  find_rows(l->psi, l->step, j, job->layers->points, zero, q);
#pragma omp simd
  for (int x = 0; x < l->nx; x++)
    term[x] = first_derivative(c, q[0][x], q[1][x], q[2][x], q[3][x], q[5][x], q[6][x], q[7][x], q[8][x]);
}

static void advance_rows(const layer_job *job, const layer_rows *l, const real *zero) {
  const int points = job->layers->points;
  for (int j = 0; j < points; j++) remember_psi(job, l, j, zero);
  for (int j = 0; j < points; j++) remember_zeta(job, l, j, zero);
  for (int j = points; j < points + RADIUS; j++) spread_psi(job, l, j, zero);
}

/* A layer of x at row y of plane z. line: room for p and psi with RADIUS zeros on each side. */
static void advance_line(const layer_job *job, int end, int z, int y, real *line) {
  const int points = job->layers->points, n = points + RADIUS, nx = job->launch->shape.nx;
  const real *row = row_of(job, z, y), *b = profile_of(job, AXIS_X), *a = b + points;
  const real *c1 = job->first[AXIS_X], *c2 = job->second[AXIS_X];
  real *const p = line + RADIUS, *const q = p + n + 2 * RADIUS;
  real *const psi = part_of(job, WAVE_MEMORY, WAVE_PSI, AXIS_X, end, z) + (ptrdiff_t)y * points;
  real *const zeta = part_of(job, WAVE_MEMORY, WAVE_ZETA, AXIS_X, end, z) + (ptrdiff_t)y * points;
  real *const term = part_of(job, WAVE_TERM, 0, AXIS_X, end, z) + (ptrdiff_t)y * n;
  for (int j = 0; j < n; j++) p[j] = row[end == 0 ? j : nx - 1 - j];
#pragma omp simd
  for (int j = 0; j < points; j++) {
    const real d =
        first_derivative(c1, p[j - 4], p[j - 3], p[j - 2], p[j - 1], p[j + 1], p[j + 2], p[j + 3], p[j + 4]);
    q[j] = psi[j] = wave_remember(b[j], a[j], psi[j], d);
  }
#pragma omp simd
  for (int j = 0; j < n; j++)
    term[j] =
        first_derivative(c1, q[j - 4], q[j - 3], q[j - 2], q[j - 1], q[j + 1], q[j + 2], q[j + 3], q[j + 4]);
#pragma omp simd
  for (int j = 0; j < points; j++) {
    const real s = second_derivative(c2, p[j - 4], p[j - 3], p[j - 2], p[j - 1], p[j], p[j + 1], p[j + 2],
                                     p[j + 3], p[j + 4]);
    zeta[j] = wave_remember(b[j], a[j], zeta[j], s + term[j]);
    term[j] += zeta[j];
  }
}

/* The layers of x and y in a plane. */
static void advance_plane(const layer_job *job, int z, real *line, const real *zero) {
  const kernels_shape *shape = &job->launch->shape;
  for (int end = 0; end < 2; end++) {
    for (int y = 0; y < shape->ny && job->layers->there[AXIS_X][end]; y++) advance_line(job, end, z, y, line);
    if (!job->layers->there[AXIS_Y][end]) continue;
    const layer_rows rows = {.axis = AXIS_Y,
                             .nx = shape->nx,
                             .p = row_of(job, z, end == 0 ? 0 : shape->ny - 1),
                             .p_step = end == 0 ? shape->ldx : -(ptrdiff_t)shape->ldx,
                             .psi = part_of(job, WAVE_MEMORY, WAVE_PSI, AXIS_Y, end, z),
                             .zeta = part_of(job, WAVE_MEMORY, WAVE_ZETA, AXIS_Y, end, z),
                             .term = part_of(job, WAVE_TERM, 0, AXIS_Y, end, z),
                             .step = shape->nx};
    advance_rows(job, &rows, zero);
  }
}

/* A layer of z at row y. */
static void advance_end(const layer_job *job, int end, int y, const real *zero) {
  const kernels_shape *shape = &job->launch->shape;
  const ptrdiff_t at = (ptrdiff_t)y * shape->nx;
  const layer_rows rows = {.axis = AXIS_Z,
                           .nx = shape->nx,
                           .p = row_of(job, end == 0 ? 0 : shape->nz - 1, y),
                           .p_step = end == 0 ? shape->plane : -shape->plane,
                           .psi = part_of(job, WAVE_MEMORY, WAVE_PSI, AXIS_Z, end, 0) + at,
                           .zeta = part_of(job, WAVE_MEMORY, WAVE_ZETA, AXIS_Z, end, 0) + at,
                           .term = part_of(job, WAVE_TERM, 0, AXIS_Z, end, 0) + at,
                           .step = (ptrdiff_t)shape->ny * shape->nx};
  advance_rows(job, &rows, zero);
}

status CPU_NAME(wave_layers_)(const kernels_launch *launch, const kernels_wave *call) {
  const wave_layers *layers = &call->layers;
  const int planes = launch->shape.nz + 2 * layers->beyond;
  const size_t length = 2 * ((size_t)layers->points + 3 * RADIUS), row = (size_t)launch->shape.nx;
  layer_job job = {.launch = launch, .call = call, .layers = layers};
  int complete = 1;
  for (int i = 0; i < 3 * RADIUS; i++)
    job.first[i / RADIUS][i % RADIUS] = (real)launch->stencil->first[i / RADIUS][i % RADIUS];
  for (int d = 0; d < 3; d++)
    for (int k = 0; k <= RADIUS; k++) job.second[d][k] = (real)launch->stencil->second[d][k];
#pragma omp parallel num_threads(launch->context->threads) reduction(&& : complete)
  {
    real *const zero = calloc(row + length, sizeof *zero), *const line = zero + row;
    complete = zero != NULL;
#pragma omp for schedule(static)
    for (int i = 0; i < planes; i++)
      if (complete) advance_plane(&job, i - layers->beyond, line, zero);
    for (int end = 0; end < 2; end++) {
#pragma omp for schedule(static)
      for (int y = 0; y < launch->shape.ny; y++)
        if (complete && layers->there[AXIS_Z][end]) advance_end(&job, end, y, zero);
    }
    free(zero);
  }
  return complete ? STATUS_OK : status_fail(STATUS_MEMORY, "no memory for absorbing layers");
}

/* Adds a row of terms at each of two ends. */
static void add_row(const wave_layers *layers, int axis, int i, int n, const real *const term[2],
                    ptrdiff_t step, int nx, real *sum) {
  const int reach = layers->points + RADIUS;
  for (int end = 0; end < 2; end++) {
    const int j = end == 0 ? i : n - 1 - i;
    if (!layers->there[axis][end] || j < 0 || j >= reach) continue;
    const real *restrict row = term[end] + j * step;
#pragma omp simd
    for (int x = 0; x < nx; x++) sum[x] += row[x];
  }
}

void CPU_NAME(wave_add_layers_)(const kernels_launch *launch, const kernels_wave *call, int z, int y,
                                void *row) {
  const wave_layers *layers = &call->layers;
  const kernels_shape *shape = &launch->shape;
  const layer_job job = {.launch = launch, .call = call, .layers = layers};
  const int reach = layers->points + RADIUS,
            plane = shape->whole ? (z % shape->nz + shape->nz) % shape->nz : z;
  const real *term[3][2];
  real *const sum = row;
  for (int i = 0; i < 6; i++) term[i / 2][i % 2] = part_of(&job, WAVE_TERM, 0, i / 2, i % 2, plane);
  for (int end = 0; end < 2; end++) {
    const real *along = term[AXIS_X][end] + (ptrdiff_t)y * reach;
    for (int j = 0; j < reach && layers->there[AXIS_X][end]; j++)
      sum[end == 0 ? j : shape->nx - 1 - j] += along[j];
    term[AXIS_Z][end] += (ptrdiff_t)y * shape->nx;
  }
  add_row(layers, AXIS_Y, y, shape->ny, term[AXIS_Y], shape->nx, shape->nx, sum);
  add_row(layers, AXIS_Z, plane, shape->nz, term[AXIS_Z], (ptrdiff_t)shape->ny * shape->nx, shape->nx, sum);
}
