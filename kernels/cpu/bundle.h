#ifndef FDAPP_KERNELS_CPU_BUNDLE_H
#define FDAPP_KERNELS_CPU_BUNDLE_H

/* Derivatives of a bundle of lines: a strip of columns, a few rows, a few planes. A pass goes through it in
 * each direction, and a line once loaded serves all rows (or planes) of the bundle: three loads a result in y
 * and z instead of nine. Strips are whole rows if they can be, for the hardware fetches ahead along them. A
 * pass hands each result to a function of the operation, which keeps it in a scratch line or stores it. */

#include "lines.h"

enum { STRIP = CPU_STRIP_BYTES / CPU_LINE_BYTES }; /* lines of a strip at most */

typedef struct cpu_bundle {
  const cpu_frame *frame;
  const cpu_patch *patch;
  int rows;                            /* CPU_ROWS or 1 */
  ptrdiff_t row[CPU_ROWS + WIDTH - 1]; /* offsets of column 0 of rows y-4 .. y+rows+3, in the first plane */
  ptrdiff_t ahead;                     /* from this bundle to the one that follows */
} cpu_bundle;

/* A line of a bundle. */
typedef struct cpu_place {
  int k, r, b;  /* plane, row and line in the bundle */
  ptrdiff_t at; /* offset in a field */
} cpu_place;

/* One vector for each line of a bundle. */
typedef struct cpu_scratch {
  cpu_vector line[STRIP][CPU_PLANES][CPU_ROWS];
} cpu_scratch;

LINE_INLINE cpu_vector *scratch_line(cpu_scratch *scratch, cpu_place p) {
  return &scratch->line[p.b][p.k][p.r];
}

/* What an operation does with a result: `d` at `p`. */
typedef void (*pass_function)(void *work, const cpu_bundle *bundle, cpu_place p, cpu_vector d);

/* A pass. f: the field; g: NULL, or a field that multiplies it; ahead: NULL, or what the following bundle
 * will want from memory at the same place; sums: NULL for a first derivative, else the pairs of a second
 * derivative are added to it, starting from zero in x. */
typedef struct cpu_pass {
  const real *f, *g, *ahead[2];
  cpu_scratch *sums;
  pass_function emit;
  void *work;
} cpu_pass;

/* Coefficients of a pass in registers: in memory, each of them would cost a load for each line. */
typedef struct pass_coefficients {
  cpu_vector c[STENCIL_RADIUS + 1];
} pass_coefficients;

LINE_INLINE pass_coefficients coefficients_load(const cpu_bundle *bundle, int second, axis direction) {
  pass_coefficients coefficients;
  const cpu_frame *frame = bundle->frame;
  for (int k = 0; k < STENCIL_RADIUS + second; k++)
    coefficients.c[k] = second ? frame->second[direction][k] : frame->first[direction][k];
  return coefficients;
}

/* The derivative at the middle of nine lines, or the pairs added to s. */
LINE_INLINE cpu_vector pass_derivative(const pass_coefficients *coefficients, int second, cpu_vector s,
                                       const cpu_vector *n) {
  const cpu_vector *c = coefficients->c;
  return second ? second_pairs(c, s, n[0], n[1], n[2], n[3], n[5], n[6], n[7], n[8])
                : first_derivative(c, n[0], n[1], n[2], n[3], n[5], n[6], n[7], n[8]);
}

/* Asks for a line that the following bundle reads, into the second cache. Memory has to be kept busy while
 * the arithmetic runs, and neither the order of execution nor the hardware's prefetching reaches that far. */
LINE_INLINE void bundle_ahead(const cpu_bundle *bundle, const real *f, cpu_place p) {
  __builtin_prefetch(f + p.at + bundle->ahead, 0, 2);
}

/* Hands over a result. */
LINE_INLINE void pass_emit(const cpu_bundle *bundle, cpu_pass pass, cpu_place p, cpu_vector d) {
  for (int i = 0; i < 2; i++) {
    if (pass.ahead[i] != NULL) bundle_ahead(bundle, pass.ahead[i], p);
  }
  pass.emit(pass.work, bundle, p, d);
}

LINE_INLINE void pass_x(const cpu_bundle *bundle, cpu_pass pass, int planes) {
  const cpu_frame *frame = bundle->frame;
  const cpu_patch *patch = bundle->patch;
  const int second = pass.sums != NULL;
  const pass_coefficients coefficients = coefficients_load(bundle, second, AXIS_X);
  for (int k = 0; k < planes; k++) {
    for (int r = 0; r < bundle->rows; r++) {
      const ptrdiff_t row = bundle->row[STENCIL_RADIUS + r] + k * frame->plane;
      for (int b = 0; b < patch->lines; b++) {
        const int x = patch->x0 + b * LINE;
        cpu_triple t, u;
        cpu_vector n[WIDTH];
        triple_load(&t, frame, pass.f + row, x);
        if (pass.g != NULL) {
          triple_load(&u, frame, pass.g + row, x);
          t = (cpu_triple){u.left * t.left, u.centre * t.centre, u.right * t.right};
        }
        neighbours_x(n, &t);
        const cpu_vector d = pass_derivative(&coefficients, second, (cpu_vector){0}, n);
        pass_emit(bundle, pass, (cpu_place){k, r, b, row + x}, d);
      }
    }
  }
}

/* `rows` is bundle->rows as a constant. */
LINE_INLINE void pass_y_rows(const cpu_bundle *bundle, cpu_pass pass, int planes, int rows) {
  const int second = pass.sums != NULL;
  const pass_coefficients coefficients = coefficients_load(bundle, second, AXIS_Y);
  for (int k = 0; k < planes; k++) {
    for (int b = 0; b < bundle->patch->lines; b++) {
      const ptrdiff_t at = bundle->patch->x0 + b * LINE + k * bundle->frame->plane;
      cpu_vector n[CPU_ROWS + WIDTH - 1];
#pragma GCC unroll 12
      for (int j = 0; j < rows + WIDTH - 1; j++) {
        n[j] = line_load(pass.f + bundle->row[j] + at);
        if (pass.g != NULL) n[j] = line_load(pass.g + bundle->row[j] + at) * n[j];
      }
#pragma GCC unroll 4
      for (int r = 0; r < rows; r++) {
        const cpu_place p = {k, r, b, bundle->row[STENCIL_RADIUS + r] + at};
        const cpu_vector s = second ? *scratch_line(pass.sums, p) : (cpu_vector){0};
        pass_emit(bundle, pass, p, pass_derivative(&coefficients, second, s, n + r));
      }
    }
  }
}

LINE_INLINE void pass_y(const cpu_bundle *bundle, cpu_pass pass, int planes) {
  if (bundle->rows == CPU_ROWS) {
    pass_y_rows(bundle, pass, planes, CPU_ROWS);
  } else {
    pass_y_rows(bundle, pass, planes, 1);
  }
}

/* `planes` is a constant. */
LINE_INLINE void pass_z(const cpu_bundle *bundle, cpu_pass pass, int planes) {
  const int second = pass.sums != NULL;
  const ptrdiff_t plane = bundle->frame->plane;
  const pass_coefficients coefficients = coefficients_load(bundle, second, AXIS_Z);
  for (int r = 0; r < bundle->rows; r++) {
    for (int b = 0; b < bundle->patch->lines; b++) {
      const ptrdiff_t at = bundle->row[STENCIL_RADIUS + r] + bundle->patch->x0 + b * LINE;
      cpu_vector n[CPU_PLANES + WIDTH - 1];
#pragma GCC unroll 12
      for (int j = 0; j < planes + WIDTH - 1; j++) {
        n[j] = line_load(pass.f + at + (j - STENCIL_RADIUS) * plane);
        if (pass.g != NULL) n[j] = line_load(pass.g + at + (j - STENCIL_RADIUS) * plane) * n[j];
      }
#pragma GCC unroll 4
      for (int k = 0; k < planes; k++) {
        const cpu_place p = {k, r, b, at + k * plane};
        const cpu_vector s = second ? *scratch_line(pass.sums, p) : (cpu_vector){0};
        pass_emit(bundle, pass, p, pass_derivative(&coefficients, second, s, n + k));
      }
    }
  }
}

/* Keeps a result in a scratch line. */
LINE_INLINE void scratch_emit(void *scratch, const cpu_bundle *bundle, cpu_place p, cpu_vector d) {
  (void)bundle;
  *scratch_line(scratch, p) = d;
}

LINE_INLINE void bundle_store(const cpu_bundle *bundle, real *to, cpu_place p, cpu_vector value) {
  line_copy(to + p.at, &value, bundle->patch->nontemporal);
}

/* The Laplacian's pairs: in x, then y, then z. */
LINE_INLINE void pass_laplacian(const cpu_bundle *bundle, const real *f, pass_function emit, void *work,
                                int planes) {
  cpu_scratch sums;
  cpu_pass pass = {.f = f, .sums = &sums, .emit = scratch_emit, .work = &sums};
  pass_x(bundle, pass, planes);
  pass.ahead[0] = f + STENCIL_RADIUS * bundle->frame->plane;
  pass_y(bundle, pass, planes);
  pass_z(bundle, (cpu_pass){.f = f, .sums = &sums, .emit = emit, .work = work}, planes);
}

/* From a bundle whose first row is y to the one after its last row: in this strip, the next one, or the next
 * planes. */
LINE_INLINE cpu_bundle bundle_make(const cpu_frame *frame, const cpu_patch *patch, int y, int rows) {
  cpu_bundle bundle = {.frame = frame, .patch = patch, .rows = rows};
  for (int j = 0; j < rows + WIDTH - 1; j++)
    bundle.row[j] = row_offset(frame, y + j - STENCIL_RADIUS, patch->z);
  bundle.ahead = y + rows < patch->y1
                     ? rows * frame->row
                     : (patch->y0 - y) * frame->row + (patch->next_z - patch->z) * frame->plane +
                           patch->next_x0 - patch->x0;
  return bundle;
}

/* Calls body(job, &bundle, planes) for all bundles of a patch, planes being a constant. */
#define BUNDLES_RUN(body, job, patch)                                                                        \
  do {                                                                                                       \
    for (int y = (patch)->y0, rows; y < (patch)->y1; y += rows) {                                            \
      rows = y + CPU_ROWS <= (patch)->y1 ? CPU_ROWS : 1;                                                     \
      const cpu_bundle bundle = bundle_make(&(job)->frame, patch, y, rows);                                  \
      if ((patch)->planes == CPU_PLANES) {                                                                   \
        body(job, &bundle, CPU_PLANES);                                                                      \
      } else {                                                                                               \
        body(job, &bundle, 1);                                                                               \
      }                                                                                                      \
    }                                                                                                        \
  } while (0)

#endif
