#include <stdlib.h>

#include "cpu.h"
#include "wave_cpu.h"
#include "wave_point.h"

/* Absorbing layers of waves (wave_layers.h), computed as lines across the layer, one for each depth: rows of
 * nx points in those of y and z, columns of ny points in those of x, which are copied from rows. */

enum { RADIUS = STENCIL_RADIUS };

typedef struct layer_job {
  const kernels_launch *launch;
  const kernels_wave *call;
  const wave_layers *layers;
  real first[3][RADIUS], second[3][RADIUS + 1];
} layer_job;

/* A layer at one plane, or of z at one row: lines of n points, `step` elements apart for each depth. */
typedef struct layer_rows {
  int axis, n;
  const real *p;
  ptrdiff_t p_step;
  real *psi, *term;
  ptrdiff_t step;
} layer_rows;

static const real *profile_of(const layer_job *job, int axis) {
  return (const real *)job->layers->profile + (ptrdiff_t)2 * axis * job->layers->points;
}

static real *part_of(const layer_job *job, int part, int axis, int end, int z) {
  return (real *)job->layers->memory + wave_layers_at(job->layers, &job->launch->shape, part, axis, end, z);
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
  for (int x = 0; x < l->n; x++) {
    const real d =
        first_derivative(c, r[0][x], r[1][x], r[2][x], r[3][x], r[5][x], r[6][x], r[7][x], r[8][x]);
    psi[x] = wave_remember(b, a, psi[x], d);
  }
}

/* The terms of a depth in the layer, from zeta, which stands in their place. */
static void remember_zeta(const layer_job *job, const layer_rows *l, int j, const real *zero) {
  const real *c1 = job->first[l->axis], *c2 = job->second[l->axis], *profile = profile_of(job, l->axis);
  const int points = job->layers->points;
  const real b = profile[j], a = profile[points + j];
  const real *r[2 * RADIUS + 1], *q[2 * RADIUS + 1];
  real *const term = l->term + j * l->step;
  find_rows(l->p, l->p_step, j, points + RADIUS, zero, r);
  find_rows(l->psi, l->step, j, points, zero, q);
#pragma omp simd
  for (int x = 0; x < l->n; x++) {
    const real d =
        first_derivative(c1, q[0][x], q[1][x], q[2][x], q[3][x], q[5][x], q[6][x], q[7][x], q[8][x]);
    const real s = second_derivative(c2, r[0][x], r[1][x], r[2][x], r[3][x], r[4][x], r[5][x], r[6][x],
                                     r[7][x], r[8][x]);
    term[x] = d + wave_remember(b, a, term[x], s + d);
  }
}

/* D psi of a depth: taken from the term, or the term itself. */
static void find_slope(const layer_job *job, const layer_rows *l, int j, int taken, const real *zero) {
  const real *c = job->first[l->axis], *q[2 * RADIUS + 1];
  real *const term = l->term + j * l->step;
  find_rows(l->psi, l->step, j, job->layers->points, zero, q);
#pragma omp simd
  for (int x = 0; x < l->n; x++) {
    const real d =
        first_derivative(c, q[0][x], q[1][x], q[2][x], q[3][x], q[5][x], q[6][x], q[7][x], q[8][x]);
    term[x] = taken ? term[x] - d : d;
  }
}

static void advance_rows(const layer_job *job, const layer_rows *l, const real *zero) {
  const int points = job->layers->points;
  for (int j = 0; j < points; j++) find_slope(job, l, j, 1, zero); /* which leaves zeta */
  for (int j = 0; j < points; j++) remember_psi(job, l, j, zero);
  for (int j = 0; j < points; j++) remember_zeta(job, l, j, zero);
  for (int j = points; j < points + RADIUS; j++) find_slope(job, l, j, 0, zero);
}

/* A layer of x or y in plane z. columns: room for p of one of x. */
static void advance_side(const layer_job *job, int axis, int end, int z, real *columns, const real *zero) {
  const kernels_shape *shape = &job->launch->shape;
  const int n = axis == AXIS_X ? shape->ny : shape->nx;
  layer_rows rows = {.axis = axis,
                     .n = n,
                     .p = row_of(job, z, end == 0 ? 0 : shape->ny - 1),
                     .p_step = end == 0 ? shape->ldx : -(ptrdiff_t)shape->ldx,
                     .psi = part_of(job, WAVE_PSI, axis, end, z),
                     .term = part_of(job, WAVE_TERM, axis, end, z),
                     .step = wave_layers_step(job->layers, shape, axis, axis)};
  if (axis == AXIS_X) {
    for (int y = 0; y < n; y++) {
      const real *row = row_of(job, z, y);
      for (int j = 0; j < job->layers->points + RADIUS; j++)
        columns[(ptrdiff_t)j * n + y] = row[end == 0 ? j : shape->nx - 1 - j];
    }
    rows.p = columns;
    rows.p_step = n;
  }
  advance_rows(job, &rows, zero);
}

/* A layer of z at row y. */
static void advance_end(const layer_job *job, int end, int y, const real *zero) {
  const kernels_shape *shape = &job->launch->shape;
  const wave_layers *layers = job->layers;
  const ptrdiff_t at = y * wave_layers_step(layers, shape, AXIS_Z, AXIS_Y);
  const layer_rows rows = {.axis = AXIS_Z,
                           .n = shape->nx,
                           .p = row_of(job, end == 0 ? 0 : shape->nz - 1, y),
                           .p_step = end == 0 ? shape->plane : -shape->plane,
                           .psi = part_of(job, WAVE_PSI, AXIS_Z, end, 0) + at,
                           .term = part_of(job, WAVE_TERM, AXIS_Z, end, 0) + at,
                           .step = wave_layers_step(layers, shape, AXIS_Z, AXIS_Z)};
  advance_rows(job, &rows, zero);
}

/* The layers of x and y in a plane. */
static void advance_plane(const layer_job *job, int z, real *columns, const real *zero) {
  for (int i = 0; i < 4; i++) {
    if (job->layers->there[i / 2][i % 2]) advance_side(job, i / 2, i % 2, z, columns, zero);
  }
}

status CPU_NAME(wave_layers_cpu_)(const kernels_launch *launch, const kernels_wave *call) {
  const wave_layers *layers = &call->layers;
  const kernels_shape *shape = &launch->shape;
  const int planes = shape->nz + 2 * layers->beyond;
  const size_t row = (size_t)(shape->nx > shape->ny ? shape->nx : shape->ny);
  const size_t columns = (size_t)wave_layers_depths(layers, WAVE_TERM) * (size_t)shape->ny;
  layer_job job = {.launch = launch, .call = call, .layers = layers};
  int complete = 1;
  for (int i = 0; i < 3 * RADIUS; i++)
    job.first[i / RADIUS][i % RADIUS] = (real)launch->stencil->first[i / RADIUS][i % RADIUS];
  for (int d = 0; d < 3; d++)
    for (int k = 0; k <= RADIUS; k++) job.second[d][k] = (real)launch->stencil->second[d][k];
#pragma omp parallel num_threads(launch->context->threads) reduction(&& : complete)
  {
    real *const zero = calloc(row + columns, sizeof *zero);
    complete = zero != NULL;
#pragma omp for schedule(static)
    for (int i = 0; i < planes; i++)
      if (complete) advance_plane(&job, i - layers->beyond, zero + row, zero);
    for (int end = 0; end < 2; end++) {
#pragma omp for schedule(static)
      for (int y = 0; y < shape->ny; y++)
        if (complete && layers->there[AXIS_Z][end]) advance_end(&job, end, y, zero);
    }
    free(zero);
  }
  return complete ? STATUS_OK : status_fail(STATUS_MEMORY, "no memory for absorbing layers");
}

/* Adds a row of terms at each of two ends. factor: NULL, or K. */
static void add_row(const wave_layers *layers, int axis, int i, int n, const real *const term[2],
                    ptrdiff_t step, int nx, const real *factor, real *sum) {
  const int reach = layers->points + RADIUS;
  for (int end = 0; end < 2; end++) {
    const int j = end == 0 ? i : n - 1 - i;
    if (!layers->there[axis][end] || j < 0 || j >= reach) continue;
    const real *restrict row = term[end] + j * step;
    if (factor == NULL) {
#pragma omp simd
      for (int x = 0; x < nx; x++) sum[x] += row[x];
    } else {
#pragma omp simd
      for (int x = 0; x < nx; x++) sum[x] = wave_layered(factor[x], row[x], sum[x]);
    }
  }
}

void CPU_NAME(wave_add_layers_)(const kernels_launch *launch, const kernels_wave *call, int z, int y,
                                const void *factor, void *row) {
  const wave_layers *layers = &call->layers;
  const kernels_shape *shape = &launch->shape;
  const layer_job job = {.launch = launch, .call = call, .layers = layers};
  const int reach = layers->points + RADIUS,
            plane = shape->whole ? (z % shape->nz + shape->nz) % shape->nz : z;
  const real *term[3][2];
  ptrdiff_t step[3];
  const real *const k = factor;
  real *const sum = row;
  for (int i = 0; i < 6; i++) term[i / 2][i % 2] = part_of(&job, WAVE_TERM, i / 2, i % 2, plane);
  for (int d = 0; d < 3; d++) step[d] = wave_layers_step(layers, shape, d, d);
  for (int end = 0; end < 2; end++) {
    for (int j = 0; j < reach && layers->there[AXIS_X][end]; j++) {
      const int x = end == 0 ? j : shape->nx - 1 - j;
      const real t = term[AXIS_X][end][j * step[AXIS_X] + y];
      sum[x] = k == NULL ? sum[x] + t : wave_layered(k[x], t, sum[x]);
    }
    term[AXIS_Z][end] += y * wave_layers_step(layers, shape, AXIS_Z, AXIS_Y);
  }
  add_row(layers, AXIS_Y, y, shape->ny, term[AXIS_Y], step[AXIS_Y], shape->nx, k, sum);
  add_row(layers, AXIS_Z, plane, shape->nz, term[AXIS_Z], step[AXIS_Z], shape->nx, k, sum);
}
