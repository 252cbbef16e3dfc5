#ifndef FDAPP_KERNELS_CPU_BLOCKS_H
#define FDAPP_KERNELS_CPU_BLOCKS_H

/* Differences of a block of points in registers: one cache line of a row, in up to CPU_BLOCK planes. Whole
 * lines are all that is loaded: neighbours in x are shuffled out of three of them, neighbours in z are shared
 * by the block's planes. Compiled once per precision. */

#include <stddef.h>
#include <stdint.h>

#include "arithmetic.h"
#include "cpu.h"
#include "stores.h"

#define CPU_CONCAT(a, b) a##b
#define CPU_EXPAND(a, b) CPU_CONCAT(a, b)
#define CPU_NAME(name)   CPU_EXPAND(name, FDAPP_REAL)

#define BLOCK_INLINE static inline __attribute__((always_inline))

enum {
  STRIP = CPU_STRIP_BYTES / (int)sizeof(real),
  LINE = CPU_LINE_BYTES / (int)sizeof(real),
  WIDTH = 2 * STENCIL_RADIUS + 1
};

/* A field's shape, and the coefficients in its precision. */
typedef struct cpu_frame {
  int nx, ny;
  ptrdiff_t row, plane; /* strides in elements */
  real first[3][STENCIL_RADIUS];
  real second[3][STENCIL_RADIUS + 1];
  real centre; /* of the Laplacian */
} cpu_frame;

BLOCK_INLINE cpu_frame frame_make(const kernels_launch *launch) {
  const stencil *coefficients = launch->stencil;
  cpu_frame frame = {.nx = launch->shape.nx, .ny = launch->shape.ny, .row = launch->shape.ldx};
  frame.plane = frame.row * frame.ny;
  for (int d = 0; d < 3; d++) {
    for (int k = 0; k < STENCIL_RADIUS; k++) frame.first[d][k] = (real)coefficients->first[d][k];
    for (int k = 0; k <= STENCIL_RADIUS; k++) frame.second[d][k] = (real)coefficients->second[d][k];
  }
  frame.centre = (real)(coefficients->second[0][0] + coefficients->second[1][0] + coefficients->second[2][0]);
  return frame;
}

/* Offset of point (0, y, z); y may lie up to ny - 1 rows outside the plane and is wrapped. */
BLOCK_INLINE ptrdiff_t row_offset(const cpu_frame *frame, int y, int z) {
  if (y < 0) y += frame->ny;
  if (y >= frame->ny) y -= frame->ny;
  return (z + KERNELS_HALO) * frame->plane + y * frame->row;
}

/* Where a block lies; offsets are those of its first plane. */
typedef struct cpu_block {
  const cpu_frame *frame;
  int x;                /* first column */
  int edge;             /* whether some of its x neighbours are periodic images */
  ptrdiff_t row[WIDTH]; /* column 0 of rows y-4 .. y+4 */
  ptrdiff_t next;       /* column 0 of the row that follows, in this tile or the next one */
} cpu_block;

/* Offset of the block's first column in its plane k. */
BLOCK_INLINE ptrdiff_t block_at(const cpu_block *block, int k) {
  return block->row[STENCIL_RADIUS] + block->x + k * block->frame->plane;
}

/* Results of a block. */
typedef struct cpu_values {
  _Alignas(CPU_LINE_BYTES) real at[CPU_BLOCK][LINE];
} cpu_values;

/* The block's loops: over its planes, and over the points of a line. */
#define FOR_PLANES(k) for (int k = 0; k < planes; k++)
#define FOR_LINE(i)   _Pragma("omp simd") for (int i = 0; i < LINE; i++)

typedef real cpu_vector __attribute__((vector_size(CPU_LINE_BYTES), may_alias));
typedef __typeof__(_Generic((real)0, float : (int32_t)0, double : (int64_t)0)) lane_index;
typedef lane_index cpu_lane_indices __attribute__((vector_size(CPU_LINE_BYTES)));

BLOCK_INLINE cpu_vector line_load(const real *from) {
  cpu_vector line;
  __builtin_memcpy(&line, from, sizeof line);
  return line;
}

/* Columns before `count` of one line, the rest of another. */
BLOCK_INLINE cpu_vector line_join(cpu_vector a, cpu_vector b, int count) {
  cpu_lane_indices lanes;
  for (int i = 0; i < LINE; i++) lanes[i] = i;
  const cpu_lane_indices keep = lanes < (cpu_lane_indices){0} + count;
  return (cpu_vector)((keep & (cpu_lane_indices)a) | (~keep & (cpu_lane_indices)b));
}

/* Lines side by side. */
typedef struct cpu_triple {
  cpu_vector left, centre, right;
} cpu_triple;

/* The line of the block's columns in a row with the lines beside it, periodic images in their places. Columns
 * that are neither points nor images next to one hold anything. `row` is at the block's first column. */
BLOCK_INLINE void triple_load(cpu_triple *t, const cpu_block *block, const real *row) {
  t->centre = line_load(row);
  if (!block->edge) {
    t->left = line_load(row - LINE);
    t->right = line_load(row + LINE);
    return;
  }
  const real *first = row - block->x; /* the row's first column */
  const int nx = block->frame->nx;
  const int left = nx - block->x; /* columns from here on */
  t->left = line_load(block->x == 0 ? first + nx - LINE : row - LINE);
  if (left <= LINE) {
    t->centre = line_join(t->centre, line_load(first - left), left);
    t->right = line_load(first + LINE - left);
  } else {
    t->right = line_join(line_load(row + LINE), line_load(first - (left - LINE)), left - LINE);
  }
}

/* A line's neighbours in x: columns -4 .. -1, 1 .. 4 away. */
typedef struct cpu_neighbours {
  _Alignas(CPU_LINE_BYTES) real m[STENCIL_RADIUS][LINE];
  _Alignas(CPU_LINE_BYTES) real p[STENCIL_RADIUS][LINE];
} cpu_neighbours;

#ifdef __AVX512F__
/* The line `shift` columns to the right of a, b being the line that follows a. In registers: a load across
 * two lines takes three times as long as one of a whole line. */
#define LINE_SHIFT(a, b, shift)                                                                              \
  ((cpu_vector)_mm512_alignr_epi32((__m512i)(b), (__m512i)(a), (shift) * (int)sizeof(real) / 4))

/* `row`: where the lines come from, NULL if they are nowhere side by side in memory. */
BLOCK_INLINE void neighbours_x(cpu_neighbours *n, const cpu_triple *t, const real *row) {
  (void)row;
  *(cpu_vector *)n->m[0] = LINE_SHIFT(t->left, t->centre, LINE - 1);
  *(cpu_vector *)n->m[1] = LINE_SHIFT(t->left, t->centre, LINE - 2);
  *(cpu_vector *)n->m[2] = LINE_SHIFT(t->left, t->centre, LINE - 3);
  *(cpu_vector *)n->m[3] = LINE_SHIFT(t->left, t->centre, LINE - 4);
  *(cpu_vector *)n->p[0] = LINE_SHIFT(t->centre, t->right, 1);
  *(cpu_vector *)n->p[1] = LINE_SHIFT(t->centre, t->right, 2);
  *(cpu_vector *)n->p[2] = LINE_SHIFT(t->centre, t->right, 3);
  *(cpu_vector *)n->p[3] = LINE_SHIFT(t->centre, t->right, 4);
}
#else
/* No instruction shuffles two whole lines: loads beside the line, from `row`, or from a copy if that is NULL.
 */
BLOCK_INLINE void neighbours_x(cpu_neighbours *n, const cpu_triple *t, const real *row) {
  real copy[3 * LINE];
  if (row == NULL) {
    __builtin_memcpy(copy, t, sizeof copy);
    row = copy + LINE;
  }
#pragma GCC unroll 4
  for (int k = 0; k < STENCIL_RADIUS; k++) {
    __builtin_memcpy(n->m[k], row - 1 - k, sizeof n->m[k]);
    __builtin_memcpy(n->p[k], row + 1 + k, sizeof n->p[k]);
  }
}
#endif

/* A point's neighbours in z for the planes of a block: at[k + 4] is plane k. Passed by value: a variable
 * whose address is taken keeps a loop from being vectorised. */
typedef struct cpu_column {
  real at[CPU_BLOCK + 2 * STENCIL_RADIUS];
} cpu_column;

BLOCK_INLINE cpu_column column_load(const real *f, ptrdiff_t plane, int planes) {
  cpu_column column;
#pragma GCC unroll 12
  for (int k = 0; k < planes + 2 * STENCIL_RADIUS; k++) column.at[k] = f[(k - STENCIL_RADIUS) * plane];
  return column;
}

BLOCK_INLINE cpu_column column_times(cpu_column column, const cpu_column other, int planes) {
#pragma GCC unroll 12
  for (int k = 0; k < planes + 2 * STENCIL_RADIUS; k++) column.at[k] = other.at[k] * column.at[k];
  return column;
}

BLOCK_INLINE real column_first(const real *c, const cpu_column f, int k) {
  return first_derivative(c, f.at[k], f.at[k + 1], f.at[k + 2], f.at[k + 3], f.at[k + 5], f.at[k + 6],
                          f.at[k + 7], f.at[k + 8]);
}

BLOCK_INLINE real column_second(const real *c, real s, const cpu_column f, int k) {
  return second_pairs(c, s, f.at[k], f.at[k + 1], f.at[k + 2], f.at[k + 3], f.at[k + 5], f.at[k + 6],
                      f.at[k + 7], f.at[k + 8]);
}

/* Asks for the line of f that plane k of the next row's block needs. Memory has to be kept busy while the
 * arithmetic runs, and neither the order of execution nor the hardware's prefetching reaches that far. */
BLOCK_INLINE void block_ahead(const cpu_block *block, const real *f, int k) {
  __builtin_prefetch(f + block->next + block->x + k * block->frame->plane, 0, 3);
}

/* df/dx; with g: d(g f)/dx. Asks for the lines of `ahead` that follow. */
BLOCK_INLINE void block_first_x(cpu_values *out, const cpu_block *block, const real *f, const real *g,
                                const real *ahead, int planes) {
  const real *c = block->frame->first[0];
  FOR_PLANES(k) {
    cpu_triple t, u;
    cpu_neighbours n;
    const real *row = f + block_at(block, k);
    block_ahead(block, ahead, k);
    triple_load(&t, block, row);
    if (g != NULL) {
      triple_load(&u, block, g + block_at(block, k));
      t = (cpu_triple){u.left * t.left, u.centre * t.centre, u.right * t.right};
    }
    neighbours_x(&n, &t, block->edge || g != NULL ? NULL : row);
    FOR_LINE(i) {
      out->at[k][i] = first_derivative(c, n.m[3][i], n.m[2][i], n.m[1][i], n.m[0][i], n.p[0][i], n.p[1][i],
                                       n.p[2][i], n.p[3][i]);
    }
  }
}

/* df/dy; with g: d(g f)/dy. */
BLOCK_INLINE void block_first_y(cpu_values *out, const cpu_block *block, const real *f, const real *g,
                                int planes) {
  const real *c = block->frame->first[1];
  const ptrdiff_t *row = block->row;
  FOR_PLANES(k) {
    const real *a = f + block->x + k * block->frame->plane;
    const real *b = (g != NULL ? g : f) + block->x + k * block->frame->plane;
    FOR_LINE(i) {
      real n[WIDTH];
#pragma GCC unroll 9
      for (int j = 0; j < WIDTH; j++) n[j] = g != NULL ? b[row[j] + i] * a[row[j] + i] : a[row[j] + i];
      out->at[k][i] = first_derivative(c, n[0], n[1], n[2], n[3], n[5], n[6], n[7], n[8]);
    }
  }
}

/* df/dz; with g: d(g f)/dz. */
BLOCK_INLINE void block_first_z(cpu_values *out, const cpu_block *block, const real *f, const real *g,
                                int planes) {
  const ptrdiff_t at = block_at(block, 0), plane = block->frame->plane;
  FOR_LINE(i) {
    cpu_column column = column_load(f + at + i, plane, planes);
    if (g != NULL) column = column_times(column, column_load(g + at + i, plane, planes), planes);
#pragma GCC unroll 4
    FOR_PLANES(k) out->at[k][i] = column_first(block->frame->first[2], column, k);
  }
}

/* The Laplacian: pairs in x, then y, then z, then the centre. */
BLOCK_INLINE void block_laplacian(cpu_values *out, const cpu_block *block, const real *f, int planes) {
  const cpu_frame *frame = block->frame;
  const ptrdiff_t *row = block->row;
  FOR_PLANES(k) {
    cpu_triple t;
    cpu_neighbours n;
    const real *a = f + block->x + k * frame->plane;
    block_ahead(block, f + STENCIL_RADIUS * frame->plane, k);
    triple_load(&t, block, f + block_at(block, k));
    neighbours_x(&n, &t, block->edge ? NULL : f + block_at(block, k));
    FOR_LINE(i) {
      const real s = second_pairs(frame->second[0], (real)0, n.m[3][i], n.m[2][i], n.m[1][i], n.m[0][i],
                                  n.p[0][i], n.p[1][i], n.p[2][i], n.p[3][i]);
      out->at[k][i] = second_pairs(frame->second[1], s, a[row[0] + i], a[row[1] + i], a[row[2] + i],
                                   a[row[3] + i], a[row[5] + i], a[row[6] + i], a[row[7] + i], a[row[8] + i]);
    }
  }
  FOR_LINE(i) {
    const cpu_column column = column_load(f + block_at(block, 0) + i, frame->plane, planes);
#pragma GCC unroll 4
    FOR_PLANES(k) {
      const real s = column_second(frame->second[2], out->at[k][i], column, k);
      out->at[k][i] = REAL_FMA(frame->centre, column.at[k + STENCIL_RADIUS], s);
    }
  }
}

BLOCK_INLINE void block_store(real *to, const cpu_block *block, const cpu_values *values,
                              const cpu_patch *patch, int planes) {
  FOR_PLANES(k) lines_store(to + block_at(block, k), values->at[k], CPU_LINE_BYTES, patch->nontemporal);
}

BLOCK_INLINE void block_place(cpu_block *block, int x) {
  block->x = x;
  block->edge = x < STENCIL_RADIUS || x + LINE + STENCIL_RADIUS > block->frame->nx;
}

/* For row y of a patch; block_place chooses the columns. */
BLOCK_INLINE cpu_block block_make(const cpu_frame *frame, const cpu_patch *patch, int y) {
  cpu_block block = {.frame = frame};
  for (int k = 0; k < WIDTH; k++) block.row[k] = row_offset(frame, y + k - STENCIL_RADIUS, patch->z);
  block.next = y + 1 < patch->y1 ? row_offset(frame, y + 1, patch->z)
                                 : row_offset(frame, patch->y0, patch->next_z) + patch->next_x0 - patch->x0;
  return block;
}

/* Calls body(job, &block, patch, planes) for all blocks of a patch, planes being a constant. */
#define BLOCKS_RUN(body, job, patch)                                                                         \
  do {                                                                                                       \
    if ((patch)->planes == 4) {                                                                              \
      BLOCKS_PLANES(body, job, patch, 4);                                                                    \
    } else if ((patch)->planes == 2) {                                                                       \
      BLOCKS_PLANES(body, job, patch, 2);                                                                    \
    } else {                                                                                                 \
      BLOCKS_PLANES(body, job, patch, 1);                                                                    \
    }                                                                                                        \
  } while (0)
#define BLOCKS_PLANES(body, job, patch, planes)                                                              \
  for (int y = (patch)->y0; y < (patch)->y1; y++) {                                                          \
    cpu_block block = block_make(&(job)->frame, patch, y);                                                   \
    for (int b = 0; b < (patch)->count; b += LINE) {                                                         \
      block_place(&block, (patch)->x0 + b);                                                                  \
      body(job, &block, patch, planes);                                                                      \
    }                                                                                                        \
  }

#endif
