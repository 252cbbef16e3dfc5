#include <stdlib.h>
#include <string.h>

#include "cpu.h"
#include "wave_point.h"
#include "wave_cpu.h"

/* The wave equation (wave_call.h) on the CPU. A tile is a range of rows and of planes; a thread marches
 * through its planes. With two Laplacians, the first one's results q are kept for nine planes, with their
 * images beside the rows' ends, so that both are one pass over memory. */

enum { RADIUS = STENCIL_RADIUS, RING = 2 * STENCIL_RADIUS + 1 };
enum { STORE = CPU_STORE_BYTES / (int)sizeof(real), BEFORE = STORE };

typedef struct wave_job {
  const kernels_launch *launch;
  const kernels_wave *call;
  wave_coefficients c[2];
  int nx, ny, nz;
  size_t pitch; /* of rows with images beside their ends */
} wave_job;

/* A thread's memory. */
typedef struct wave_work {
  real *centre;             /* a row with its images */
  real *images[2 * RADIUS]; /* negated rows beside an end of y */
  real *zero;
  real *sum;
  real *q; /* RING planes of rows with images, RADIUS rows beside the tile included */
} wave_work;

typedef struct wave_tile {
  int y0, y1, z0, z1;
} wave_tile;

/* The point of 0 .. n-1 whose value stands at i, at most n-1 beyond an end, and what to multiply it by. */
static int image_of(const wave_image ends[2], int i, int n, int *sign) {
  *sign = 1;
  if (i >= 0 && i < n) return i;
  const wave_image kind = ends[i >= n];
  if (kind == WAVE_PERIODIC) return i < 0 ? i + n : i - n;
  *sign = kind == WAVE_EVEN ? 1 : kind == WAVE_ODD ? -1 : 0;
  return i < 0 ? -i : 2 * (n - 1) - i;
}

/* Sets the images beside the ends of a row of which nx points are there. */
static void complete_row(const wave_job *job, real *row) {
  for (int k = 1; k <= RADIUS; k++) {
    int low = 0, high = 0;
    const int from_low = image_of(job->call->ends[AXIS_X], -k, job->nx, &low);
    const int from_high = image_of(job->call->ends[AXIS_X], job->nx - 1 + k, job->nx, &high);
    row[-k] = low == 0 ? (real)0 : (real)low * row[from_low];
    row[job->nx - 1 + k] = high == 0 ? (real)0 : (real)high * row[from_high];
  }
}

/* Plane z may lie beside the ends, and few planes are wrapped more than once: a division would take as long
 * as a line's arithmetic. */
static const real *row_of(const wave_job *job, const void *array, int z, int y) {
  const kernels_shape *shape = &job->launch->shape;
  while (shape->whole && z < 0) z += job->nz;
  while (shape->whole && z >= job->nz) z -= job->nz;
  return (const real *)array + (ptrdiff_t)(z + KERNELS_HALO) * shape->plane + (ptrdiff_t)y * shape->ldx;
}

/* Row y of an array, which may lie beside an end; `image` is room for a row that is negated. */
static const real *row_beside(const wave_job *job, const wave_work *work, const void *array, int z, int y,
                              real *image) {
  int sign = 1;
  const int from = image_of(job->call->ends[AXIS_Y], y, job->ny, &sign);
  const real *row = row_of(job, array, z, from);
  if (sign == 1) return row;
  if (sign == 0) return work->zero;
  for (int x = 0; x < job->nx; x++) image[x] = -row[x];
  return image;
}

/* Fetches row y+1 of a plane into caches: they foresee the lines of a row, but not the next row. */
static void fetch_next(const wave_job *job, const void *array, int z, int y) {
  if (y + 1 >= job->ny) return;
  const real *next = row_of(job, array, z, y + 1);
  for (int x = 0; x < job->nx; x += STORE) __builtin_prefetch(next + x);
}

/* The rows that the Laplacian of one row reads: planes -4 .. 4, rows -4 .. 4 without its own. */
typedef struct wave_rows {
  const real *z[RING], *y[RING];
} wave_rows;

/* The Laplacian of a row. late: the pairs come after z+2. */
__attribute__((always_inline)) static inline void laplacian(const wave_coefficients *c, const wave_rows *rows,
                                                            int n, int late, real *restrict sum) {
  const real *const *z = rows->z, *const *y = rows->y;
  const real *restrict m4 = z[0], *restrict m3 = z[1], *restrict m2 = z[2], *restrict m1 = z[3];
  const real *restrict p1 = z[5], *restrict p2 = z[6], *restrict p3 = z[7], *restrict p4 = z[8];
  const real *restrict f = z[4];
  const real *restrict a4 = y[0], *restrict a3 = y[1], *restrict a2 = y[2], *restrict a1 = y[3];
  const real *restrict b1 = y[5], *restrict b2 = y[6], *restrict b3 = y[7], *restrict b4 = y[8];
  const wave_coefficients k = *c;
#pragma omp simd
  for (int x = 0; x < n; x++) {
    real s = wave_rise(&k, m4[x], m3[x], m2[x], m1[x], f[x]);
    if (late) s = wave_fall(&k, 1, s, p1[x], p2[x]);
    s = second_pairs(k.x, s, f[x - 4], f[x - 3], f[x - 2], f[x - 1], f[x + 1], f[x + 2], f[x + 3], f[x + 4]);
    s = second_pairs(k.y, s, a4[x], a3[x], a2[x], a1[x], b1[x], b2[x], b3[x], b4[x]);
    if (!late) s = wave_fall(&k, 1, s, p1[x], p2[x]);
    sum[x] = wave_fall(&k, 3, s, p3[x], p4[x]);
  }
}

/* The first Laplacian of p at row y of plane z, into work->sum; work->centre holds the row itself. */
static void first_row(const wave_job *job, wave_work *work, int z, int y) {
  const void *p = job->call->p;
  wave_rows rows;
  memcpy(work->centre, row_of(job, p, z, y), (size_t)job->nx * sizeof(real));
  complete_row(job, work->centre);
  for (int k = -RADIUS; k <= RADIUS; k++) {
    rows.z[k + RADIUS] = row_of(job, p, z + k, y);
    if (k == 0) continue;
    real *image = work->images[k < 0 ? k + RADIUS : k + RADIUS - 1];
    rows.y[k + RADIUS] = row_beside(job, work, p, z, y + k, image);
  }
  rows.z[RADIUS] = work->centre;
  fetch_next(job, p, z + RADIUS, y);
  laplacian(&job->c[0], &rows, job->nx, 0, work->sum);
  if (job->call->layers.points > 0) CPU_NAME(wave_add_layers_)(job->launch, job->call, z, y, work->sum);
}

/* Applies the ends of axes to one point of a row of results. */
static void finish_point(const wave_job *job, const int at[3], const real *before, const real *factor,
                         real *out) {
  const int n[3] = {job->nx, job->ny, job->nz};
  int zero = 0;
  const unsigned axes = wave_ends_at(job->call, n, at, &zero);
  const real rate = (real)wave_rate(job->launch->stencil->spacing, axes);
  const int x = at[AXIS_X];
  if (axes != 0) out[x] = wave_absorbed(out[x], before[x], factor[x], rate);
  if (zero) out[x] = 0;
}

static int on_end(const wave_image ends[2], const int absorbs[2], int i, int n) {
  const int end = i == 0 ? 0 : 1;
  return (i == 0 || i == n - 1) && (absorbs[end] || ends[end] == WAVE_ODD);
}

static void finish_row(const wave_job *job, int z, int y, const real *before, const real *factor, real *out) {
  const kernels_wave *call = job->call;
  const int all = on_end(call->ends[AXIS_Y], call->absorbs[AXIS_Y], y, job->ny) ||
                  on_end(call->ends[AXIS_Z], call->absorbs[AXIS_Z], z, job->nz);
  const int step = all ? 1 : job->nx - 1;
  if (call->plain) return;
  for (int x = 0; x < job->nx; x += step) finish_point(job, (const int[3]){x, y, z}, before, factor, out);
}

/* Stores a row of results, of which work->sum holds the last Laplacian. q: that of two Laplacians, or NULL.
 */
static void store_row(const wave_job *job, const wave_work *work, int z, int y, const real *q) {
  const kernels_wave *call = job->call;
  const real *factor = row_of(job, call->factor, z, y), *p = row_of(job, call->p, z, y);
  const real *before = row_of(job, call->before, z, y);
  real *const sum = work->sum, *const out = (real *)row_of(job, call->out, z, y);
  const int plain = call->plain;
  fetch_next(job, call->factor, z, y);
  fetch_next(job, call->before, z, y);
#pragma omp simd
  for (int x = 0; x < job->nx; x++) {
    const real drift = plain ? (real)0 : wave_drift(p[x], before[x]);
    const real once = wave_once(q != NULL ? q[x] : factor[x] * sum[x], drift);
    sum[x] = q != NULL ? wave_twice(factor[x], sum[x], once) : once;
  }
  finish_row(job, z, y, before, factor, sum);
  memcpy(out, sum, (size_t)job->nx * sizeof *out);
}

/* Row y of plane z of q in a tile's ring. */
static real *ring_row(const wave_job *job, const wave_work *work, const wave_tile *tile, int z, int y) {
  const int rows = tile->y1 - tile->y0 + 2 * RADIUS;
  const int plane = (z - tile->z0 + RING) % RING;
  return work->q + ((size_t)plane * (size_t)rows + (size_t)(y - tile->y0 + RADIUS)) * job->pitch + BEFORE;
}

/* The end of z beyond which plane z lies, if fields are zero there. */
static int is_beyond(const wave_job *job, int z) {
  const wave_image *ends = job->call->ends[AXIS_Z];
  return (z < 0 && ends[0] == WAVE_ZERO) || (z >= job->nz && ends[1] == WAVE_ZERO);
}

/* Computes a plane of q for a tile, with the images that the second Laplacian reads. */
static void fill_ring(const wave_job *job, wave_work *work, const wave_tile *tile, int z) {
  for (int y = tile->y0 - RADIUS; y < tile->y1 + RADIUS; y++) {
    int sign = 1;
    const int from = image_of(job->call->ends[AXIS_Y], y, job->ny, &sign);
    real *q = ring_row(job, work, tile, z, y);
    if (sign == 0 || is_beyond(job, z)) {
      memset(q - RADIUS, 0, (size_t)(job->nx + 2 * RADIUS) * sizeof *q);
      continue;
    }
    const real *factor = row_of(job, job->call->factor, z, from);
    fetch_next(job, job->call->factor, z, from);
    first_row(job, work, z, from);
    for (int x = 0; x < job->nx; x++) q[x] = (real)sign * (factor[x] * work->sum[x]);
    complete_row(job, q);
  }
}

static void second_row(const wave_job *job, wave_work *work, const wave_tile *tile, int z, int y) {
  wave_rows rows;
  for (int k = -RADIUS; k <= RADIUS; k++) {
    rows.z[k + RADIUS] = ring_row(job, work, tile, z + k, y);
    rows.y[k + RADIUS] = ring_row(job, work, tile, z, y + k);
  }
  laplacian(&job->c[1], &rows, job->nx, 1, work->sum);
  store_row(job, work, z, y, rows.z[RADIUS]);
}

static void step_tile(const wave_job *job, wave_work *work, const wave_tile *tile) {
  const int ahead = job->call->twice ? RADIUS : 0;
  for (int z = tile->z0 - ahead; z < tile->z1 + ahead; z++) {
    if (job->call->twice) fill_ring(job, work, tile, z);
    const int done = z - ahead;
    if (done < tile->z0) continue;
    for (int y = tile->y0; y < tile->y1; y++) {
      if (job->call->twice) {
        second_row(job, work, tile, done, y);
      } else {
        first_row(job, work, done, y);
        store_row(job, work, done, y, NULL);
      }
    }
  }
}

/* Rows of a tile: as many as the window has room for, with what is read again or kept. */
static int tile_rows(const wave_job *job) {
  const size_t row = RING * job->pitch * sizeof(real);
  const int room = (int)(job->launch->context->window_bytes / row) - 2 * RADIUS;
  const int rows = room < 2 * RADIUS ? 2 * RADIUS : room;
  return rows < job->ny ? rows : job->ny;
}

static int open_work(const wave_job *job, int rows, wave_work *work) {
  const size_t fixed = 1 + 2 * RADIUS + 1 + 1;
  const size_t ring = job->call->twice ? RING * (size_t)(rows + 2 * RADIUS) : 0;
  real *memory = aligned_alloc(CPU_STORE_BYTES, (fixed + ring) * job->pitch * sizeof *memory);
  if (memory == NULL) return 0;
  memset(memory, 0, fixed * job->pitch * sizeof *memory);
  work->centre = memory + BEFORE;
  for (int k = 0; k < 2 * RADIUS; k++) work->images[k] = memory + (size_t)(k + 1) * job->pitch;
  work->zero = memory + (fixed - 2) * job->pitch;
  work->sum = memory + (fixed - 1) * job->pitch;
  work->q = memory + fixed * job->pitch;
  return 1;
}

static void close_work(wave_work *work) {
  free(work->centre - BEFORE);
}

/* Threads divide the planes of a range, or the rows if planes are few. */
static status step_range(const wave_job *job, kernels_planes range) {
  const int threads = job->launch->context->threads, planes = range.z1 - range.z0;
  if (planes <= 0) return STATUS_OK;
  int rows = tile_rows(job), pieces = planes / (2 * RADIUS) < threads ? 1 : threads;
  if (pieces == 1 && rows * threads > job->ny) rows = (job->ny + threads - 1) / threads;
  const int across = (job->ny + rows - 1) / rows;
  int complete = 1;
#pragma omp parallel num_threads(threads) reduction(&& : complete)
  {
    wave_work work;
    complete = open_work(job, rows, &work);
#pragma omp for schedule(dynamic) collapse(2)
    for (int piece = 0; piece < pieces; piece++) {
      for (int j = 0; j < across; j++) {
        const wave_tile tile = {.y0 = j * rows,
                                .y1 = (j + 1) * rows < job->ny ? (j + 1) * rows : job->ny,
                                .z0 = range.z0 + (int)((int64_t)planes * piece / pieces),
                                .z1 = range.z0 + (int)((int64_t)planes * (piece + 1) / pieces)};
        if (complete) step_tile(job, &work, &tile);
      }
    }
    if (complete) close_work(&work);
  }
  return complete ? STATUS_OK : status_fail(STATUS_MEMORY, "no memory for rows of the wave equation");
}

static status step(const wave_job *job) {
  for (int i = 0; i < KERNELS_RANGES; i++) CHECK(step_range(job, job->launch->planes[i]));
  return STATUS_OK;
}

static void fill_images(const wave_job *job) {
  const kernels_shape *shape = &job->launch->shape;
  real *const first = (real *)job->call->out + KERNELS_HALO * shape->plane;
  for (int i = 0; i < 2 * job->call->depth; i++) {
    const int end = i % 2, k = 1 + i / 2;
    const wave_image kind = job->call->ends[AXIS_Z][end];
    const real sign = kind == WAVE_EVEN ? (real)1 : kind == WAVE_ODD ? (real)-1 : (real)0;
    if (kind == WAVE_PERIODIC) continue;
    const real *from = first + (end == 0 ? k : job->nz - 1 - k) * shape->plane;
    real *to = first + (end == 0 ? -k : job->nz - 1 + k) * shape->plane;
#pragma omp parallel for num_threads(job->launch->context->threads)
    for (ptrdiff_t x = 0; x < (ptrdiff_t)shape->ldx * shape->ny; x++) to[x] = sign * from[x];
  }
}

static void find_energy(const wave_job *job) {
  const kernels_wave *call = job->call;
#pragma omp parallel for collapse(2) num_threads(job->launch->context->threads)
  for (int z = 0; z < job->nz; z++) {
    for (int y = 0; y < job->ny; y++) {
      const real *p = row_of(job, call->p, z, y), *before = row_of(job, call->before, z, y);
      const real *operated = row_of(job, call->operated, z, y), *factor = row_of(job, call->factor, z, y);
      real *out = (real *)row_of(job, call->out, z, y);
      for (int x = 0; x < job->nx; x++) out[x] = wave_energy(p[x], before[x], operated[x], factor[x]);
    }
  }
}

status CPU_NAME(wave_cpu_)(const kernels_launch *launch, const kernels_wave *call) {
  wave_job job = {.launch = launch,
                  .call = call,
                  .nx = launch->shape.nx,
                  .ny = launch->shape.ny,
                  .nz = launch->shape.nz,
                  .pitch = (size_t)launch->shape.ldx + 2 * BEFORE};
  if (call->task == WAVE_STEP) {
    for (int i = 0; i < 2; i++) job.c[i] = wave_coefficients_make(launch->stencil, call->scale[i]);
    return step(&job);
  }
  if (call->task == WAVE_LAYERS) return CPU_NAME(wave_layers_cpu_)(launch, call);
  if (call->task == WAVE_INJECT) CPU_NAME(wave_inject_)(launch, call);
  if (call->task == WAVE_RECEIVE) CPU_NAME(wave_receive_)(launch, call);
  if (call->task == WAVE_IMAGES) fill_images(&job);
  if (call->task == WAVE_ENERGY) find_energy(&job);
  return STATUS_OK;
}
