#include <math.h>
#include <omp.h>
#include <stdlib.h>

#include "lines.h"

/* The min-plus product, tiled like a matrix product. A tile of TILE_ROWS rows by TILE_COLUMNS columns of
 * `out` stays in registers while k runs over a chunk. A panel of `in` is packed once, so that it stays in the
 * second-level cache and is read in order.
 *
 * Columns are consecutive in memory. Along y and z columns are pencils, and rows are the points i of a
 * pencil: the panel holds TILE_COLUMNS pencils. Along x columns are the points i, and rows are pencils: the
 * panel holds TILE_ROWS pencils. The other operand is the cost. A table needs no packing but is mirrored
 * about zero: then its entries for neighbouring i are consecutive, and those for the next k are one place
 * before. */

enum { TILE_LINES = 2, TILE_COLUMNS = TILE_LINES * LINE, CHUNK = 32 };
#ifdef __AVX512F__
enum { TILE_ROWS = 8 };
#else
enum { TILE_ROWS = 4 };
#endif

/* A chunk of k, with a lower bound of its costs to the block of i. */
typedef struct visit {
  real bound;
  int chunk;
} visit;

typedef struct search {
  const kernels_minplus *product;
  kernels_shape shape;
  int along_x;
  int points;                      /* of `out` along the axis */
  int width;                       /* points i of a tile */
  int panel_width;                 /* pencils per tile */
  ptrdiff_t panel;                 /* elements of a panel with its least values */
  ptrdiff_t across;                /* pencils that jobs divide: nx, or along x those of the whole slab */
  ptrdiff_t jobs_across, jobs;     /* jobs for these, and in all */
  ptrdiff_t point_step, line_step; /* elements between points of a pencil; between rows of pencils */
  int blocks, chunks;              /* numbers of blocks of i and chunks of k */
  real *costs;                     /* the mirrored table, or the matrix packed in blocks of i */
  ptrdiff_t block_step;            /* elements between blocks in `costs` */
  ptrdiff_t cost_step;             /* elements between values of k in `costs` */
  visit *visits;                   /* for each block all chunks, in ascending order of their bounds */
} search;

typedef struct tile {
  cpu_vector value[TILE_ROWS][TILE_LINES];
} tile;

/* Searches `count` values of k. a[r] is the operand of row r, b that of the columns. */
static void tile_search(int count, const real *a, ptrdiff_t a_step, const real *b, ptrdiff_t b_step,
                        tile *result) {
  tile t = *result;
  for (int k = 0; k < count; k++) {
    cpu_vector columns[TILE_LINES];
    for (int l = 0; l < TILE_LINES; l++) columns[l] = line_load(b + l * LINE);
    for (int r = 0; r < TILE_ROWS; r++) {
      const cpu_vector row = line_fill(a[r]);
      for (int l = 0; l < TILE_LINES; l++) t.value[r][l] = line_min(columns[l] + row, t.value[r][l]);
    }
    a += a_step;
    b += b_step;
  }
  *result = t;
}

/* The largest value of the tile. */
static real tile_most(const tile *t) {
  cpu_vector least = -t->value[0][0];
  for (int r = 0; r < TILE_ROWS; r++) {
    for (int l = 0; l < TILE_LINES; l++) least = line_min(-t->value[r][l], least);
  }
  real most = -least[0];
  for (int i = 1; i < LINE; i++) most = -least[i] > most ? -least[i] : most;
  return most;
}

/* Loads a tile's values before the search. Padding is minus infinity, which no cost can lower, so that it
 * never causes a search. */
static void tile_open(const search *s, const real *const rows[], int row_count, int columns, tile *t) {
  real limit[TILE_COLUMNS];
  for (int c = 0; c < TILE_COLUMNS; c++) limit[c] = c < columns ? (real)INFINITY : (real)-INFINITY;
  for (int r = 0; r < TILE_ROWS; r++) {
    for (int l = 0; l < TILE_LINES; l++) {
      cpu_vector value = r < row_count ? line_load(limit + l * LINE) : line_fill((real)-INFINITY);
      if (r < row_count && s->product->accumulate && l * LINE < columns)
        value = line_min(line_load(rows[r] + l * LINE), value);
      t->value[r][l] = value;
    }
  }
}

/* Stores a tile's values in the lines that belong to its rows. Adding zero turns -0 into +0. */
static void tile_close(const tile *t, real *const rows[], int row_count, int columns) {
  for (int r = 0; r < row_count; r++) {
    for (int l = 0; l < TILE_LINES && l * LINE < columns; l++) {
      const cpu_vector value = t->value[r][l] + line_fill(0);
      __builtin_memcpy(rows[r] + l * LINE, &value, sizeof value);
    }
  }
}

/* Visits all chunks that can lower a value of the tile of block `block`. lows: lower bounds of the values in
 * each chunk of the panel. Returns the number of values of k searched. */
static int tile_fill(const search *s, const real *panel, const real *lows, int block, tile *t) {
  const real *costs = s->costs + block * s->block_step;
  const visit *visits = s->visits + (ptrdiff_t)block * s->chunks;
  const real least = (real)s->product->least;
  real most = tile_most(t);
  int searched = 0;
  for (int v = 0; v < s->chunks && most > least + visits[v].bound; v++) {
    if (!(most > lows[visits[v].chunk] + visits[v].bound)) continue;
    const int k = visits[v].chunk * CHUNK;
    const int count = s->product->count - k < CHUNK ? s->product->count - k : CHUNK;
    const real *cost = costs + k * s->cost_step;
    const real *in = panel + (ptrdiff_t)k * s->panel_width;
    if (s->along_x) {
      tile_search(count, in, TILE_ROWS, cost, s->cost_step, t);
    } else {
      tile_search(count, cost, s->cost_step, in, TILE_COLUMNS, t);
    }
    searched += count;
    if (least > (real)-INFINITY) most = tile_most(t);
  }
  return searched;
}

/* The pencils that a thread packs into one panel. */
typedef struct job {
  ptrdiff_t first[TILE_COLUMNS]; /* element of point 0 of each pencil */
  int pencils;
} job;

/* Job number `index`: as many pencils as a panel holds. */
static job job_of(const search *s, ptrdiff_t index) {
  const kernels_shape *shape = &s->shape;
  const ptrdiff_t first = index % s->jobs_across * s->panel_width, left = s->across - first;
  job j = {.pencils = left < s->panel_width ? (int)left : s->panel_width};
  for (int p = 0; p < j.pencils; p++) {
    const ptrdiff_t pencil = first + p;
    j.first[p] = s->along_x ? pencil / shape->ny * shape->plane + pencil % shape->ny * shape->ldx
                            : index / s->jobs_across * s->line_step + pencil;
  }
  return j;
}

/* Packs the pencils of a job, k by k; a missing pencil is infinite. */
static void panel_pack(const search *s, const job *j, real *panel) {
  const real *in = s->product->in;
  const int side_by_side = !s->along_x && j->pencils == TILE_COLUMNS;
  for (int k = 0; k < s->product->count; k++) {
    real *out = panel + (ptrdiff_t)k * s->panel_width;
    if (side_by_side) {
      __builtin_memcpy(out, in + j->first[0] + k * s->point_step, TILE_COLUMNS * sizeof *out);
      continue;
    }
    for (int p = 0; p < s->panel_width; p++)
      out[p] = p < j->pencils ? in[j->first[p] + k * s->point_step] : (real)INFINITY;
  }
}

/* The least value of each chunk of the panel; -infinity if nothing is to be skipped. */
static void panel_lows(const search *s, const real *panel, real *lows) {
  for (int chunk = 0; chunk < s->chunks; chunk++) {
    const int k = chunk * CHUNK;
    const int count = s->product->count - k < CHUNK ? s->product->count - k : CHUNK;
    const real *values = panel + (ptrdiff_t)k * s->panel_width;
    real least = (real)INFINITY;
#pragma omp simd reduction(min : least)
    for (int at = 0; at < count * s->panel_width; at++) least = values[at] < least ? values[at] : least;
    lows[chunk] = s->product->least > (double)-INFINITY ? least : (real)-INFINITY;
  }
}

/* Runs a job. panel: room for s->panel elements. */
static long long job_run(const search *s, ptrdiff_t index, real *panel) {
  const job j = job_of(s, index);
  real *out = s->product->out;
  real *lows = panel + (ptrdiff_t)s->product->count * s->panel_width;
  long long searched = 0;
  panel_pack(s, &j, panel);
  panel_lows(s, panel, lows);
  for (int block = 0; block < s->blocks; block++) {
    const int i = block * s->width;
    const int points = s->points - i < s->width ? s->points - i : s->width;
    const int row_count = s->along_x ? j.pencils : points;
    const int columns = s->along_x ? points : j.pencils;
    real *rows[TILE_ROWS] = {NULL};
    tile t;
    for (int r = 0; r < row_count; r++)
      rows[r] = s->along_x ? out + j.first[r] + i : out + j.first[0] + (i + r) * s->point_step;
    tile_open(s, (const real *const *)rows, row_count, columns, &t);
    searched += tile_fill(s, panel, lows, block, &t);
    tile_close(&t, rows, row_count, columns);
  }
  return searched * TILE_ROWS * TILE_COLUMNS;
}

/* Entry |i + offset - k| of the table for every i - k; zeros beyond the last point. */
static void table_mirror(search *s) {
  const kernels_minplus *product = s->product;
  const real *table = product->cost;
  const ptrdiff_t lowest = product->offset - (product->count - 1);
  const ptrdiff_t entries = (ptrdiff_t)s->points + product->count - 1;
  for (ptrdiff_t e = 0; e < entries + s->width; e++)
    s->costs[e] = e < entries ? table[lowest + e < 0 ? -(lowest + e) : lowest + e] : (real)0;
  s->costs += product->count - 1; /* the entry of i = k = 0 */
}

/* Packs the costs of each block of i, k by k. */
static void matrix_pack(search *s) {
  const kernels_minplus *product = s->product;
  const real *matrix = product->cost;
#pragma omp parallel for schedule(static)
  for (int block = 0; block < s->blocks; block++) {
    for (int k = 0; k < product->count; k++) {
      real *out = s->costs + block * s->block_step + k * s->cost_step;
      for (int w = 0; w < s->width; w++) {
        const ptrdiff_t i = block * s->width + w;
        out[w] = i < s->points ? matrix[i * product->pitch + k] : (real)0;
      }
    }
  }
}

/* The least cost between a block of i and a chunk of k. */
static real bound_of(const search *s, int block, int chunk) {
  const kernels_minplus *product = s->product;
  if (product->pitch != 0) return (real)-INFINITY;
  const int i0 = block * s->width;
  const int i1 = i0 + s->width < s->points ? i0 + s->width : s->points;
  const int k0 = chunk * CHUNK;
  const int k1 = k0 + CHUNK < product->count ? k0 + CHUNK : product->count;
  real least = (real)INFINITY;
  for (int e = i0 - (k1 - 1); e <= i1 - 1 - k0; e++) least = s->costs[e] < least ? s->costs[e] : least;
  return least;
}

static void visits_sort(const search *s) {
#pragma omp parallel for schedule(static)
  for (int block = 0; block < s->blocks; block++) {
    visit *visits = s->visits + (ptrdiff_t)block * s->chunks;
    for (int chunk = 0; chunk < s->chunks; chunk++) {
      const visit next = {.bound = bound_of(s, block, chunk), .chunk = chunk};
      int at = chunk;
      for (; at > 0 && visits[at - 1].bound > next.bound; at--) visits[at] = visits[at - 1];
      visits[at] = next;
    }
  }
}

/* Runs the jobs, each thread with a panel of its own. */
static void search_run(const search *s, int threads, real *panels) {
  long long pairs = 0;
#pragma omp parallel for schedule(dynamic) num_threads(threads) reduction(+ : pairs)
  for (ptrdiff_t index = 0; index < s->jobs; index++)
    pairs += job_run(s, index, panels + omp_get_thread_num() * s->panel);
  if (s->product->pairs != NULL) *s->product->pairs += (unsigned long long)pairs;
}

static search search_make(const kernels_launch *launch, const kernels_minplus *product) {
  const kernels_shape *shape = &launch->shape;
  const int along_x = product->along == AXIS_X, along_y = product->along == AXIS_Y;
  search s = {.product = product,
              .shape = *shape,
              .along_x = along_x,
              .points = along_x   ? shape->nx
                        : along_y ? shape->ny
                                  : shape->nz,
              .across = along_x ? (ptrdiff_t)shape->ny * shape->nz : shape->nx,
              .point_step = along_x   ? 1
                            : along_y ? shape->ldx
                                      : shape->plane,
              .line_step = along_y ? shape->plane : shape->ldx,
              .width = along_x ? TILE_COLUMNS : TILE_ROWS,
              .panel_width = along_x ? TILE_ROWS : TILE_COLUMNS,
              .chunks = (product->count + CHUNK - 1) / CHUNK};
  const int table = product->pitch == 0;
  s.jobs_across = (s.across + s.panel_width - 1) / s.panel_width;
  s.jobs = s.jobs_across * (along_x ? 1 : along_y ? shape->nz : shape->ny);
  s.panel = ((ptrdiff_t)product->count * s.panel_width + s.chunks + LINE - 1) / LINE * LINE;
  s.blocks = (s.points + s.width - 1) / s.width;
  s.cost_step = table ? -1 : s.width;
  s.block_step = table ? s.width : (ptrdiff_t)s.width * product->count;
  return s;
}

status CPU_NAME(minplus_cpu_)(const kernels_launch *launch, const kernels_minplus *product) {
  const int threads = launch->context->threads;
  search s = search_make(launch, product);
  const size_t costs = product->pitch == 0 ? (size_t)(s.points + product->count + s.width)
                                           : (size_t)s.blocks * (size_t)s.block_step;
  const size_t panels = (size_t)threads * (size_t)s.panel;
  real *memory = aligned_alloc(CPU_LINE_BYTES, (panels + costs + LINE) / LINE * CPU_LINE_BYTES);
  s.visits = malloc((size_t)s.blocks * (size_t)s.chunks * sizeof *s.visits);
  if (memory != NULL && s.visits != NULL) {
    s.costs = memory + panels;
    if (product->pitch == 0) {
      table_mirror(&s);
    } else {
      matrix_pack(&s);
    }
    visits_sort(&s);
    search_run(&s, threads, memory);
  }
  const int failed = memory == NULL || s.visits == NULL;
  free(s.visits);
  free(memory);
  return failed ? status_fail(STATUS_MEMORY, "no memory for the tables of a min-plus product") : STATUS_OK;
}
