#include <stdlib.h>
#include <string.h>

#include "wave_lines.h"
#include "wave_cpu.h"

/* A step of the wave equation (wave_call.h) on the CPU. A tile is a range of rows and of planes. A thread
 * marches through its planes, PLANES at a time. With two Laplacians, the first one's results q are kept in a
 * ring of planes, with their images beside the rows' ends, so that both are one pass over memory.
 *
 *     z ^   p  z+8 .. z+11  is read for the first time
 *       |   q  z+4 .. z+7   is computed for all rows of the tile, and RADIUS rows beside them
 *       |   results of planes z .. z+3 replace p_before */

enum { BEFORE = STORE };

/* A point beside an end of x, and the point whose value stands there, times a sign or 0. */
typedef struct wave_beside {
  int at, from;
  real sign;
} wave_beside;

typedef struct wave_job {
  const kernels_launch *launch;
  const kernels_wave *call;
  wave_coefficients c[2];
  wave_beside beside[2 * RADIUS];
  int nx, ny, nz;
  int sums; /* 1: the first of two Laplacians is kept in rows of its own, to which layers are added, or there
             * is no drift */
  int finishes;    /* 1: ends change results */
  ptrdiff_t row;   /* from a row of a field to the next one */
  ptrdiff_t pitch; /* the same of rows with images beside their ends */
} wave_job;

/* A thread's memory. */
typedef struct wave_work {
  real *centre[PLANES];             /* rows with images beside their ends, near which alone they are set */
  real *images[PLANES][2 * RADIUS]; /* negated rows beside an end of y */
  real *sum[PLANES];
  real *before[PLANES]; /* what ends keep of rows that results replace */
  real *zero;
  real *q; /* DEEP planes of rows with images, RADIUS rows beside the tile included */
} wave_work;
enum { WORK_ROWS = PLANES * (3 + 2 * RADIUS) + 1 };

typedef struct wave_tile {
  int y0, y1, z0, z1;
} wave_tile;

/* Planes z .. z+count-1, by their first rows: of p from four planes below to four above. */
typedef struct wave_stack {
  int z, count;
  const real *p[DEEP], *factor[PLANES], *before[PLANES];
  real *out[PLANES];
} wave_stack;

static int least(int a, int b) {
  return a < b ? a : b;
}

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
  for (int k = 0; k < 2 * RADIUS; k++) {
    const wave_beside *b = &job->beside[k];
    row[b->at] = b->sign == 0 ? (real)0 : b->sign * row[b->from];
  }
}

/* Plane z may lie beside the ends, and few planes are wrapped more than once. */
static real *plane_at(const wave_job *job, const void *array, int z) {
  const kernels_shape *shape = &job->launch->shape;
  while (shape->whole && z < 0) z += job->nz;
  while (shape->whole && z >= job->nz) z -= job->nz;
  return (real *)array + (ptrdiff_t)(z + KERNELS_HALO) * shape->plane;
}

static wave_stack stack_make(const wave_job *job, int z, int count) {
  const kernels_wave *call = job->call;
  wave_stack stack = {.z = z, .count = count};
  for (int k = 0; k < count + 2 * RADIUS; k++) stack.p[k] = plane_at(job, call->p, z + k - RADIUS);
  for (int i = 0; i < count; i++) {
    stack.factor[i] = plane_at(job, call->factor, z + i);
    stack.before[i] = plane_at(job, call->before, z + i);
    stack.out[i] = plane_at(job, call->out, z + i);
  }
  return stack;
}

/* Plane i of a group. */
static wave_group group_plane(const wave_group *g, int i) {
  wave_group one = {.x = {g->x[i]},
                    .factor = {g->factor[i]},
                    .before = {g->before[i]},
                    .p = {g->p[i]},
                    .out = {g->out[i]},
                    .row = g->row};
  memcpy(one.z, &g->z[i], (1 + 2 * RADIUS) * sizeof *one.z);
  memcpy(one.y[0], g->y[i], sizeof one.y[0]);
  return one;
}

static void group_run(const wave_job *job, const wave_group *g, int count, wave_use use) {
  const wave_coefficients *c = &job->c[use == USE_TWICE];
  if (count == PLANES) {
    together[use](c, g, job->nx);
    return;
  }
  for (int i = 0; i < count; i++) {
    const wave_group one = group_plane(g, i);
    singly[use](c, &one, job->nx);
  }
}

/* Row y of a stack, but for what is differenced. Without drift, p and p_before count as zero. */
static wave_group group_make(const wave_job *job, const wave_work *work, const wave_stack *stack, int y) {
  const ptrdiff_t at = y * job->row;
  const int plain = job->call->plain;
  wave_group g = {.row = job->row};
  for (int i = 0; i < stack->count; i++) {
    g.factor[i] = stack->factor[i] + at;
    g.before[i] = plain ? work->zero : stack->before[i] + at;
    g.p[i] = plain ? work->zero : stack->p[i + RADIUS] + at;
    g.out[i] = stack->out[i] + at;
  }
  return g;
}

/* Row y of plane i of a stack of p, which may lie beside an end. */
static const real *row_beside(const wave_job *job, const wave_work *work, const wave_stack *stack, int i,
                              int y, real *image) {
  int sign = 1;
  const int from = image_of(job->call->ends[AXIS_Y], y, job->ny, &sign);
  const real *row = stack->p[i + RADIUS] + from * job->row;
  if (sign == 1) return row;
  if (sign == 0) return work->zero;
  for (int x = 0; x < job->nx; x++) image[x] = -row[x];
  return image;
}

/* The points of a row near its ends, with their images. */
static void copy_ends(const wave_job *job, const real *row, real *to) {
  const int end = LINE + RADIUS, last = (job->nx - RADIUS) / LINE * LINE - RADIUS;
  if (last <= end) {
    memcpy(to, row, (size_t)job->nx * sizeof *to);
  } else {
    memcpy(to, row, (size_t)end * sizeof *to);
    memcpy(to + last, row + last, (size_t)(job->nx - last) * sizeof *to);
  }
  complete_row(job, to);
}

/* The first Laplacian of p at row y of a stack: `use` puts it into g->out, or it is kept in work->sum. */
static void first_row(const wave_job *job, wave_work *work, const wave_stack *stack, wave_group *g, int y,
                      wave_use use) {
  for (int k = 0; k < stack->count + 2 * RADIUS; k++) g->z[k] = stack->p[k] + y * job->row;
  for (int i = 0; i < stack->count; i++) {
    for (int k = 0; k < 2 * RADIUS; k++) {
      const int at = k < RADIUS ? k - RADIUS : k - RADIUS + 1;
      g->y[i][k] = row_beside(job, work, stack, i, y + at, work->images[i][k]);
    }
    copy_ends(job, g->z[i + RADIUS], work->centre[i]);
    g->x[i] = work->centre[i];
    if (job->sums) g->out[i] = work->sum[i];
  }
  group_run(job, g, stack->count, job->sums ? USE_SUM : use);
}

/* Row y of plane z of q in a tile's ring. */
static real *ring_row(const wave_job *job, const wave_work *work, const wave_tile *tile, int z, int y) {
  const int rows = tile->y1 - tile->y0 + 2 * RADIUS;
  const int plane = (z - tile->z0 + DEEP) % DEEP;
  return work->q + ((ptrdiff_t)plane * rows + (y - tile->y0 + RADIUS)) * job->pitch + BEFORE;
}

/* Computes row y of q in a stack, which goes to row `to` of the ring. */
static void fill_row(const wave_job *job, wave_work *work, const wave_tile *tile, const wave_stack *stack,
                     int y, int to) {
  wave_group g = group_make(job, work, stack, y);
  real *q[PLANES];
  for (int i = 0; i < stack->count; i++) g.out[i] = q[i] = ring_row(job, work, tile, stack->z + i, to);
  first_row(job, work, stack, &g, y, USE_PRODUCT);
  for (int i = 0; i < stack->count && job->call->layers.points > 0; i++)
    CPU_NAME(wave_add_layers_)(job->launch, job->call, stack->z + i, y, NULL, work->sum[i]);
  for (int i = 0; i < stack->count; i++) {
    for (int x = 0; x < job->nx && job->sums; x += LINE) {
      const number product = line_load(g.factor[i] + x) * line_load(work->sum[i] + x);
      __builtin_memcpy(q[i] + x, &product, sizeof product);
    }
    complete_row(job, q[i]);
  }
}

/* A row of q beside an end of y. */
static void fill_image(const wave_job *job, wave_work *work, const wave_tile *tile, const wave_stack *stack,
                       int y) {
  int sign = 1;
  const int from = image_of(job->call->ends[AXIS_Y], y, job->ny, &sign);
  if (from < tile->y0 - RADIUS || from >= tile->y1 + RADIUS) {
    fill_row(job, work, tile, stack, from, y);
    return;
  }
  for (int i = 0; i < stack->count; i++) {
    const real *image = ring_row(job, work, tile, stack->z + i, from);
    real *q = ring_row(job, work, tile, stack->z + i, y);
    for (int x = 0; x < job->nx; x++) q[x] = sign == 0 ? (real)0 : (real)sign * image[x];
    complete_row(job, q);
  }
}

/* The end of z beyond which plane z lies, if fields are zero there. */
static int is_beyond(const wave_job *job, int z) {
  const wave_image *ends = job->call->ends[AXIS_Z];
  return (z < 0 && ends[0] == WAVE_ZERO) || (z >= job->nz && ends[1] == WAVE_ZERO);
}

/* Computes planes z .. z+count-1 of q for a tile, with the images that the second Laplacian reads. They lie
 * on one side of an end. */
static void fill_ring(const wave_job *job, wave_work *work, const wave_tile *tile, int z, int count) {
  const int low = tile->y0 - RADIUS, high = tile->y1 + RADIUS;
  const int first = low > 0 ? low : 0, end = least(high, job->ny);
  if (is_beyond(job, z)) {
    for (int i = 0; i < count; i++) {
      real *q = ring_row(job, work, tile, z + i, low) - BEFORE;
      memset(q, 0, (size_t)((high - low) * job->pitch) * sizeof *q);
    }
    return;
  }
  const wave_stack stack = stack_make(job, z, count);
  for (int y = first; y < end; y++) fill_row(job, work, tile, &stack, y, y);
  for (int y = low; y < first; y++) fill_image(job, work, tile, &stack, y);
  for (int y = end; y < high; y++) fill_image(job, work, tile, &stack, y);
}

/* The second Laplacian, of q, and the results. */
static void second_row(const wave_job *job, const wave_work *work, const wave_tile *tile,
                       const wave_stack *stack, wave_group *g, int y) {
  for (int k = 0; k < stack->count + 2 * RADIUS; k++)
    g->z[k] = ring_row(job, work, tile, stack->z + k - RADIUS, y);
  for (int i = 0; i < stack->count; i++) {
    g->x[i] = g->z[i + RADIUS];
    for (int k = 0; k < RADIUS; k++) {
      g->y[i][k] = g->x[i] + (k - RADIUS) * job->pitch;
      g->y[i][k + RADIUS] = g->x[i] + (k + 1) * job->pitch;
    }
  }
  group_run(job, g, stack->count, USE_TWICE);
}

/* The results with one Laplacian, which was kept. */
static void store_sums(const wave_job *job, const wave_work *work, const wave_stack *stack, int y) {
  const wave_group g = group_make(job, work, stack, y);
  for (int i = 0; i < stack->count; i++) {
    for (int x = 0; x < job->nx; x += LINE) {
      const number drift = wave_drift(line_load(g.p[i] + x), line_load(g.before[i] + x));
      const number result = wave_once(line_load(g.factor[i] + x) * line_load(work->sum[i] + x), drift);
      __builtin_memcpy(g.out[i] + x, &result, sizeof result);
    }
  }
}

/* Stores the results of a tile in planes z .. z+count-1. */
static void store_planes(const wave_job *job, wave_work *work, const wave_tile *tile, int z, int count) {
  const wave_stack stack = stack_make(job, z, count);
  for (int y = tile->y0; y < tile->y1; y++) {
    wave_group g = group_make(job, work, &stack, y);
    const wave_group ends = g;
    for (int i = 0; i < count && job->finishes; i++)
      CPU_NAME(wave_keep_row_)(job->launch, job->call, z + i, y, g.before[i], work->before[i]);
    if (job->call->twice) second_row(job, work, tile, &stack, &g, y);
    if (!job->call->twice) first_row(job, work, &stack, &g, y, USE_ONCE);
    if (!job->call->twice && job->sums) store_sums(job, work, &stack, y);
    for (int i = 0; i < count && !job->call->twice && job->call->layers.points > 0; i++)
      CPU_NAME(wave_add_layers_)(job->launch, job->call, z + i, y, ends.factor[i], ends.out[i]);
    for (int i = 0; i < count && job->finishes; i++) {
      CPU_NAME(wave_finish_row_)
      (job->launch, job->call, z + i, y, work->before[i], ends.factor[i], ends.out[i]);
    }
  }
}

static void step_tile(const wave_job *job, wave_work *work, const wave_tile *tile) {
  int filled = tile->z0 - RADIUS;
  for (int z = tile->z0; z < tile->z1; z += PLANES) {
    const int count = least(PLANES, tile->z1 - z);
    while (job->call->twice && filled < z + count + RADIUS) {
      int more = least(PLANES, z + count + RADIUS - filled);
      if (filled < 0) more = least(more, -filled);
      if (filled < job->nz) more = least(more, job->nz - filled);
      fill_ring(job, work, tile, filled, more);
      filled += more;
    }
    store_planes(job, work, tile, z, count);
  }
}

/* Rows of a tile: as many as the window has room for, with what is read again or kept. */
static int tile_rows(const wave_job *job) {
  const size_t row = DEEP * (size_t)job->pitch * sizeof(real);
  const int room = (int)(job->launch->context->window_bytes / row) - 2 * RADIUS;
  const int rows = room < 2 * RADIUS ? 2 * RADIUS : room;
  return least(rows, job->ny);
}

static int open_work(const wave_job *job, int rows, wave_work *work) {
  const size_t pitch = (size_t)job->pitch;
  const size_t ring = job->call->twice ? DEEP * (size_t)(rows + 2 * RADIUS) : 0;
  real *memory = aligned_alloc(CPU_STORE_BYTES, (WORK_ROWS + ring) * pitch * sizeof *memory);
  if (memory == NULL) return 0;
  memset(memory, 0, WORK_ROWS * pitch * sizeof *memory);
  real *next = memory + BEFORE;
  work->zero = next;
  for (int i = 0; i < PLANES; i++) {
    real **const rooms[] = {&work->centre[i], &work->sum[i], &work->before[i]};
    for (int k = 0; k < 3; k++) *rooms[k] = next += pitch;
    for (int k = 0; k < 2 * RADIUS; k++) work->images[i][k] = next += pitch;
  }
  work->q = memory + WORK_ROWS * pitch;
  return 1;
}

static void close_work(wave_work *work) {
  free(work->zero - BEFORE);
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
                                .y1 = least((j + 1) * rows, job->ny),
                                .z0 = range.z0 + (int)((int64_t)planes * piece / pieces),
                                .z1 = range.z0 + (int)((int64_t)planes * (piece + 1) / pieces)};
        if (complete) step_tile(job, &work, &tile);
      }
    }
    if (complete) close_work(&work);
  }
  return complete ? STATUS_OK : status_fail(STATUS_MEMORY, "no memory for rows of the wave equation");
}

static wave_job job_make(const kernels_launch *launch, const kernels_wave *call) {
  const kernels_shape *shape = &launch->shape;
  wave_job job = {.launch = launch,
                  .call = call,
                  .nx = shape->nx,
                  .ny = shape->ny,
                  .nz = shape->nz,
                  .sums = call->twice ? call->layers.points > 0 : call->plain,
                  .row = shape->ldx,
                  .pitch = shape->ldx + 2 * BEFORE};
  for (int i = 0; i < 2; i++) job.c[i] = wave_coefficients_make(launch->stencil, call->scale[i]);
  for (int i = 0; i < 6 && !call->plain; i++)
    job.finishes |= call->absorbs[i / 2][i % 2] || call->ends[i / 2][i % 2] == WAVE_ODD;
  for (int k = 0; k < 2 * RADIUS; k++) {
    int sign = 0;
    const int at = k < RADIUS ? -1 - k : job.nx + k - RADIUS;
    const int from = image_of(call->ends[AXIS_X], at, job.nx, &sign);
    job.beside[k] = (wave_beside){at, from, (real)sign};
  }
  return job;
}

status CPU_NAME(wave_step_)(const kernels_launch *launch, const kernels_wave *call) {
  const wave_job job = job_make(launch, call);
  if (call->layers.points > 0) CHECK(CPU_NAME(wave_layers_cpu_)(launch, call));
  for (int i = 0; i < KERNELS_RANGES; i++) CHECK(step_range(&job, launch->planes[i]));
  return STATUS_OK;
}
