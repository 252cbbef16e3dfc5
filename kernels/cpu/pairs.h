#ifndef FDAPP_KERNELS_CPU_PAIRS_H
#define FDAPP_KERNELS_CPU_PAIRS_H

#include <limits.h>

#include "lines.h"

#define NUMBER_FILL(x) line_fill((real)(x))

/* The engine for two-point fluxes: what the 24 neighbours of a point add to its sums, one after the other,
 * and what follows from the sums. It knows no system of equations; a system is two functions and a few
 * counts. Neighbours come in the order of flow_pairs.h: along z those below, x, y, along z those above. */

enum { PAIRS_READS = 8, PAIRS_SUMS = 72, PAIRS_POINTS = 16, PAIRS_OUTPUTS = 8 };

/* Adds what a neighbour at distance l + 1 along d, above or below, adds to the sums of a point. */
typedef void pairs_pair(const void *numbers, int d, int l, int up, const number *own, const number *other,
                        number *sums);
/* Called when all neighbours along x and y are added. */
typedef void pairs_across(number *sums);
/* Computes the outputs from the sums, and from what is read at the point alone. */
typedef void pairs_finish(const void *numbers, const number *own, number *sums, const number *at, int points,
                          number *out);

/* A system: masks and counts are constants where it is used. */
typedef struct pairs_system {
  unsigned reads; /* mask of the inputs of which neighbours are read */
  int sums, outputs;
  pairs_pair *pair;
  pairs_finish *finish;
  pairs_across *across; /* or NULL */
} pairs_system;

typedef struct pairs_job {
  cpu_frame frame;
  const void *numbers;
  const real *in[PAIRS_READS];
  const real *at[PAIRS_POINTS];
  int points; /* of `at` that are in use */
  real *out[PAIRS_OUTPUTS];
} pairs_job;

/* A line with its neighbours along x in order, for lines that have periodic images among them. The rest is
 * room for whole lines (images_lines). */
typedef struct pairs_images {
  real of[PAIRS_READS][2 * STENCIL_RADIUS + 3 * LINE];
} pairs_images;

/* One point after the other, for short rows, and for lines that lie in the padding. */
static void images_points(const real *row, int nx, int x, real *of) {
  int column = x - STENCIL_RADIUS;
  if (column < 0) column += nx;
  for (int i = 0; i < 2 * STENCIL_RADIUS + LINE; i++) {
    of[i] = row[column];
    column = column + 1 < nx ? column + 1 : 0;
  }
}

/* The same by copies of whole lines; later ones overwrite what has no meaning. The last one is for columns of
 * the padding alone: they are computed, too, and not from memory that nobody has written. */
LINE_INLINE void images_lines(const real *row, int nx, int x, real *of) {
  const size_t side = STENCIL_RADIUS * sizeof *of, line = LINE * sizeof *of;
  const int left = nx - x; /* columns from x to the end */
  real *at = of + STENCIL_RADIUS;
  memcpy(of, row + (x > 0 ? x : nx) - STENCIL_RADIUS, side);
  memcpy(at, row + x, line);
  if (left > LINE) memcpy(at + LINE, row + x + LINE, side);
  if (left >= LINE + STENCIL_RADIUS) return;
  memcpy(at + left, row, line);
  memcpy(at + left + LINE, row + LINE, side);
}

LINE_CALLED void images_make(const pairs_job *job, unsigned reads, ptrdiff_t row, int x,
                             pairs_images *images) {
  const int nx = job->frame.nx;
  for (int f = 0; f < PAIRS_READS; f++) {
    if (!(reads >> f & 1U)) continue;
    if (nx < LINE + STENCIL_RADIUS || x >= nx) {
      images_points(job->in[f] + row, nx, x, images->of[f]);
    } else {
      images_lines(job->in[f] + row, nx, x, images->of[f]);
    }
  }
}

/* Adds one neighbour, whose values are `offset` elements after the pointers. */
LINE_INLINE void pairs_add(pairs_system system, const pairs_job *job, const real *const *from,
                           ptrdiff_t offset, int d, int l, int up, const number *own, number *sums) {
  number other[PAIRS_READS];
#pragma GCC unroll 8
  for (int f = 0; f < PAIRS_READS; f++)
    if (system.reads >> f & 1U) other[f] = line_load(from[f] + offset);
  system.pair(job->numbers, d, l, up, own, other, sums);
}

/* Adds the neighbours of the line at column x, in order. along: the line with its neighbours along x. */
LINE_INLINE void pairs_gather(pairs_system system, const pairs_job *job, const real *const *along,
                              ptrdiff_t beside[2][2][STENCIL_RADIUS], int x, const number *own,
                              number *sums) {
  const real *const *in = job->in;
  for (int l = STENCIL_RADIUS - 1; l >= 0; l--)
    pairs_add(system, job, in, beside[1][0][l] + x, AXIS_Z, l, 0, own, sums);
  for (int l = STENCIL_RADIUS - 1; l >= 0; l--)
    pairs_add(system, job, along, -1 - l, AXIS_X, l, 0, own, sums);
  for (int l = 0; l < STENCIL_RADIUS; l++) pairs_add(system, job, along, 1 + l, AXIS_X, l, 1, own, sums);
  for (int l = STENCIL_RADIUS - 1; l >= 0; l--)
    pairs_add(system, job, in, beside[0][0][l] + x, AXIS_Y, l, 0, own, sums);
  for (int l = 0; l < STENCIL_RADIUS; l++)
    pairs_add(system, job, in, beside[0][1][l] + x, AXIS_Y, l, 1, own, sums);
  if (system.across != NULL) system.across(sums);
  for (int l = 0; l < STENCIL_RADIUS; l++)
    pairs_add(system, job, in, beside[1][1][l] + x, AXIS_Z, l, 1, own, sums);
}

/* Prefetches what the line of the next row reads first: its points in the plane furthest above, and what is
 * read at the point alone. Without that a stage of flow took 1.13 to 1.15 times as long (128^3, single
 * precision). */
LINE_INLINE void pairs_ahead(pairs_system system, const pairs_job *job, ptrdiff_t row, ptrdiff_t above,
                             int x) {
  const ptrdiff_t next = job->frame.row + x;
  for (int i = 0; i < job->points; i++) __builtin_prefetch(job->at[i] + row + next);
#pragma GCC unroll 8
  for (int f = 0; f < PAIRS_READS; f++)
    if (system.reads >> f & 1U) __builtin_prefetch(job->in[f] + above + next);
}

/* The line at column x. row: the offset of its row; beside: those of the rows beside it along y and z, below
 * and above. */
LINE_INLINE void pairs_line(pairs_system system, const pairs_job *job, ptrdiff_t row,
                            ptrdiff_t beside[2][2][STENCIL_RADIUS], int x, int nontemporal) {
  number own[PAIRS_READS], sums[PAIRS_SUMS], at[PAIRS_POINTS], out[PAIRS_OUTPUTS];
  const real *const *in = job->in;
  const real *along[PAIRS_READS];
  pairs_images images;
  const int edge = system.reads != 0 && line_at_edge(&job->frame, x);
  if (edge) images_make(job, system.reads, row, x, &images);
#pragma GCC unroll 8
  for (int f = 0; f < PAIRS_READS; f++) {
    if (!(system.reads >> f & 1U)) continue;
    own[f] = line_load(in[f] + row + x);
    along[f] = edge ? images.of[f] + STENCIL_RADIUS : in[f] + row + x;
  }
#pragma GCC unroll 72
  for (int i = 0; i < PAIRS_SUMS; i++)
    if (i < system.sums) sums[i] = line_fill(0);
  if (system.reads != 0) pairs_gather(system, job, along, beside, x, own, sums);
  if (system.reads != 0) pairs_ahead(system, job, row, beside[1][1][STENCIL_RADIUS - 1], x);
  for (int i = 0; i < job->points; i++) at[i] = line_load(job->at[i] + row + x);
  system.finish(job->numbers, own, sums, at, job->points, out);
#pragma GCC unroll 8
  for (int i = 0; i < PAIRS_OUTPUTS; i++)
    if (i < system.outputs) line_copy(job->out[i] + row + x, &out[i], nontemporal);
}

/* All lines of a patch. Stores around the caches need whole cache lines. The job is copied, so the compiler
 * knows that stores do not change it. */
LINE_INLINE void pairs_patch(pairs_system system, const pairs_job *given, const cpu_patch *patch) {
  const pairs_job job = *given;
  const cpu_frame *frame = &job.frame;
  const int nontemporal = patch->nontemporal && (int)STORE_LINES == 1;
  for (int z = patch->z; z < patch->z + patch->planes; z++) {
    for (int y = patch->y0; y < patch->y1; y++) {
      ptrdiff_t beside[2][2][STENCIL_RADIUS];
      for (int l = 0; l < STENCIL_RADIUS; l++) {
        beside[0][0][l] = row_offset(frame, y - 1 - l, z);
        beside[0][1][l] = row_offset(frame, y + 1 + l, z);
        beside[1][0][l] = row_offset(frame, y, plane_of(frame, z - 1 - l));
        beside[1][1][l] = row_offset(frame, y, plane_of(frame, z + 1 + l));
      }
      const ptrdiff_t row = row_offset(frame, y, z);
      for (int i = 0; i < patch->lines; i++)
        pairs_line(system, &job, row, beside, patch->x0 + i * LINE, nontemporal);
    }
  }
}

/* A launch whose tiles read the planes of `fields` fields again as they march. */
static inline tile_plan pairs_plan(int fields, int points, int outputs) {
  return (tile_plan){.window = fields > 0 ? fields * WIDTH : 1,
                     .arrays = fields + points + outputs,
                     .block = 1,
                     .blocks = {0, INT_MAX}};
}

#endif
