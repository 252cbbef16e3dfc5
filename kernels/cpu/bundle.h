#ifndef FDAPP_KERNELS_CPU_BUNDLE_H
#define FDAPP_KERNELS_CPU_BUNDLE_H

/* Derivatives of a bundle of lines: a strip of columns, a few rows, a few planes. One pass goes through it in
 * x and y, one in z, and a line once loaded serves all rows (or planes) of the bundle: three loads a result
 * in y and z instead of nine. Strips are whole rows if they can be, for the hardware fetches ahead along
 * them. A pass hands each result to a function of the operation, which keeps it in a scratch line or stores
 * it. */

#include "lines.h"

enum { STRIP = CPU_STRIP_BYTES / CPU_LINE_BYTES }; /* lines of a strip at most */

/* Offsets from a patch's first plane, z, to planes z-4 .. z+planes+3. */
typedef struct cpu_column {
  int images; /* whether some of them are images; else they lie one after the other */
  ptrdiff_t plane[CPU_PLANES + WIDTH - 1];
} cpu_column;

typedef struct cpu_bundle {
  const cpu_frame *frame;
  const cpu_patch *patch;
  const cpu_column *column;
  int y, rows;                         /* rows: CPU_ROWS or 1 */
  int images;                          /* whether some rows beside its own are images */
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

/* Where results go. waiting: of each row and plane of a bundle a line that is the first half of a cache line.
 */
typedef struct cpu_output {
  real *to;
  cpu_vector waiting[CPU_PLANES][CPU_ROWS];
} cpu_output;

/* What an operation does with the derivatives at p in x and y, and with that in z. */
typedef void (*pass_xy_function)(void *work, const cpu_bundle *bundle, cpu_place p, cpu_vector dx,
                                 cpu_vector dy);
typedef void (*pass_z_function)(void *work, const cpu_bundle *bundle, cpu_place p, cpu_vector dz);

/* A velocity known by formula (kernels_tables) on a bundle and the lines around it. row[j][i]: what plane
 * z-4+j and row y-4+i bring to it, products of the three components, then sums. */
typedef struct cpu_formula {
  const real *x;   /* tables along x */
  ptrdiff_t pitch; /* from component to component there */
  real row[CPU_PLANES + WIDTH - 1][CPU_ROWS + WIDTH - 1][KERNELS_TABLE];
} cpu_formula;

LINE_INLINE cpu_vector formula_line(const cpu_formula *formula, axis component, int j, int i, int column) {
  const real *row = formula->row[j][i];
  return table_velocity(line_load(formula->x + component * formula->pitch + column),
                        line_fill(row[component]), line_fill(row[3 + component]));
}

/* What is differenced. f: a field; g: NULL, or a field that multiplies it; formula: NULL, or the velocity of
 * which a component does; ahead: NULL, or what the following bundle will want from memory at the same place.
 */
typedef struct cpu_operand {
  const real *f, *g, *ahead;
  const cpu_formula *formula;
  axis component;
} cpu_operand;

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

/* Asks for a line, into the second cache. Memory has to be kept busy while the arithmetic runs, and neither
 * the order of execution nor the hardware's prefetching reaches that far. */
LINE_INLINE void line_ahead(const real *line) {
  __builtin_prefetch(line, 0, 2);
}

/* The line at p's place in the following bundle. */
LINE_INLINE void bundle_ahead(const cpu_bundle *bundle, const real *f, cpu_place p) {
  line_ahead(f + p.at + bundle->ahead);
}

LINE_INLINE void operand_ahead(const cpu_bundle *bundle, cpu_operand operand, cpu_place p) {
  if (operand.ahead != NULL) bundle_ahead(bundle, operand.ahead, p);
}

/* The line at `at`, column x of plane j and row i of a formula. */
LINE_INLINE cpu_vector operand_line(cpu_operand operand, ptrdiff_t at, int j, int i, int x) {
  const cpu_vector line = line_load(operand.f + at);
  if (operand.formula != NULL) return formula_line(operand.formula, operand.component, j, i, x) * line;
  if (operand.g == NULL) return line;
  return line_load(operand.g + at) * line;
}

/* The line at column x of a row, plane j and row i of a formula, and its neighbours in x. */
LINE_INLINE void operand_neighbours(cpu_vector *n, const cpu_frame *frame, cpu_operand operand, ptrdiff_t row,
                                    int j, int i, int x, int images) {
  cpu_triple t, u;
  triple_load(&t, frame, operand.f + row, x, images);
  if (operand.formula != NULL) {
    t.left *= formula_line(operand.formula, operand.component, j, i, x - LINE);
    t.centre *= formula_line(operand.formula, operand.component, j, i, x);
    t.right *= formula_line(operand.formula, operand.component, j, i, x + LINE);
  } else if (operand.g != NULL) {
    triple_load(&u, frame, operand.g + row, x, images);
    t = (cpu_triple){u.left * t.left, u.centre * t.centre, u.right * t.right};
  }
  neighbours_x(n, &t);
}

/* What a pass in x and y computes. x, y: NULL if not wanted; second: pairs of second derivatives. */
typedef struct pass_xy_terms {
  const cpu_operand *x, *y;
  int second;
  pass_coefficients cx, cy;
} pass_xy_terms;

/* Line b of plane k, of the bundle's rows first .. first+rows-1. `rows` and `images` are constants: offsets
 * that are looked up cost more than those that are counted. */
LINE_INLINE void pass_xy_line(const cpu_bundle *bundle, const pass_xy_terms *terms, pass_xy_function emit,
                              void *work, int k, int b, int first, int rows, int images) {
  const cpu_frame *frame = bundle->frame;
  const cpu_operand *x = terms->x, *y = terms->y;
  const int column = bundle->patch->x0 + b * LINE;
  const ptrdiff_t plane = k * frame->plane;
  const ptrdiff_t at = bundle->row[STENCIL_RADIUS + first] + plane + column;
  cpu_vector m[WIDTH], n[CPU_ROWS + WIDTH - 1];
#pragma GCC unroll 12
  for (int j = 0; j < rows + WIDTH - 1; j++) {
    const ptrdiff_t from =
        images ? bundle->row[first + j] + plane + column : at + (j - STENCIL_RADIUS) * frame->row;
    if (y != NULL) n[j] = operand_line(*y, from, STENCIL_RADIUS + k, first + j, column);
  }
#pragma GCC unroll 4
  for (int i = 0; i < rows; i++) {
    const cpu_place p = {k, first + i, b, at + i * frame->row};
    cpu_vector dx = {0}, dy = {0};
    if (x != NULL) {
      operand_neighbours(m, frame, *x, p.at - column, STENCIL_RADIUS + k, STENCIL_RADIUS + first + i, column,
                         images);
      dx = pass_derivative(&terms->cx, terms->second, (cpu_vector){0}, m);
      operand_ahead(bundle, *x, p);
    }
    if (y != NULL) {
      dy = pass_derivative(&terms->cy, terms->second, dx, n + i);
      operand_ahead(bundle, *y, p);
    }
    emit(work, bundle, p, dx, dy);
  }
}

/* Few lines see images: what those need must not cost the others' code its registers. */
LINE_INLINE void pass_xy_rows(const cpu_bundle *bundle, const pass_xy_terms *terms, pass_xy_function emit,
                              void *work, int planes, int first, int rows) {
  for (int k = 0; k < planes; k++) {
    for (int b = 0; b < bundle->patch->lines; b++) {
      const int column = bundle->patch->x0 + b * LINE;
      const int images =
          (terms->y != NULL && bundle->images) || (terms->x != NULL && line_at_edge(bundle->frame, column));
      if (__builtin_expect(images, 0)) {
        pass_xy_line(bundle, terms, emit, work, k, b, first, rows, 1);
      } else {
        pass_xy_line(bundle, terms, emit, work, k, b, first, rows, 0);
      }
    }
  }
}

/* Derivatives in x and y; NULL: not wanted. second: the pairs of second derivatives instead, in dy those of
 * both. */
LINE_INLINE void pass_xy(const cpu_bundle *bundle, const cpu_operand *x, const cpu_operand *y, int second,
                         pass_xy_function emit, void *work, int planes) {
  const pass_xy_terms terms = {x, y, second, coefficients_load(bundle, second, AXIS_X),
                               coefficients_load(bundle, second, AXIS_Y)};
  if (y == NULL) {
    for (int r = 0; r < bundle->rows; r++) pass_xy_rows(bundle, &terms, emit, work, planes, r, 1);
  } else if (bundle->rows == CPU_ROWS) {
    pass_xy_rows(bundle, &terms, emit, work, planes, 0, CPU_ROWS);
  } else {
    pass_xy_rows(bundle, &terms, emit, work, planes, 0, 1);
  }
}

/* `planes` and `images` are constants. */
LINE_INLINE void pass_z_planes(const cpu_bundle *bundle, cpu_operand z, cpu_scratch *sums,
                               pass_z_function emit, void *work, int planes, int images) {
  const int second = sums != NULL;
  const ptrdiff_t plane = bundle->frame->plane;
  const pass_coefficients coefficients = coefficients_load(bundle, second, AXIS_Z);
  for (int r = 0; r < bundle->rows; r++) {
    for (int b = 0; b < bundle->patch->lines; b++) {
      const int column = bundle->patch->x0 + b * LINE;
      const ptrdiff_t at = bundle->row[STENCIL_RADIUS + r] + column;
      cpu_vector n[CPU_PLANES + WIDTH - 1];
#pragma GCC unroll 12
      for (int j = 0; j < planes + WIDTH - 1; j++) {
        const ptrdiff_t up = images ? bundle->column->plane[j] : (j - STENCIL_RADIUS) * plane;
        n[j] = operand_line(z, at + up, j, STENCIL_RADIUS + r, column);
      }
#pragma GCC unroll 4
      for (int k = 0; k < planes; k++) {
        const cpu_place p = {k, r, b, at + k * plane};
        operand_ahead(bundle, z, p);
        const cpu_vector s = second ? *scratch_line(sums, p) : (cpu_vector){0};
        emit(work, bundle, p, pass_derivative(&coefficients, second, s, n + k));
      }
    }
  }
}

/* The derivative in z; sums: NULL, or pairs of second derivatives, to which those in z are added instead. */
LINE_INLINE void pass_z(const cpu_bundle *bundle, cpu_operand z, cpu_scratch *sums, pass_z_function emit,
                        void *work, int planes) {
  if (__builtin_expect(bundle->column->images, 0)) {
    pass_z_planes(bundle, z, sums, emit, work, planes, 1);
  } else {
    pass_z_planes(bundle, z, sums, emit, work, planes, 0);
  }
}

/* Of each row and plane a bundle's lines come in ascending order, an even number of them, of which the first
 * begins a cache line. */
LINE_INLINE void bundle_store(const cpu_bundle *bundle, cpu_output *output, cpu_place p, cpu_vector value) {
  const int nontemporal = bundle->patch->nontemporal;
  real *to = output->to + p.at;
  if (STORE_LINES == 1 || !nontemporal) {
    line_copy(to, &value, nontemporal);
  } else if (p.b % STORE_LINES == 0) {
    output->waiting[p.k][p.r] = value;
  } else {
    line_copy(to - LINE, &output->waiting[p.k][p.r], nontemporal);
    line_copy(to, &value, nontemporal);
  }
}

/* Keeps dx + dy. */
LINE_INLINE void scratch_xy_emit(void *xy, const cpu_bundle *bundle, cpu_place p, cpu_vector dx,
                                 cpu_vector dy) {
  (void)bundle;
  *scratch_line(xy, p) = divergence_xy(dx, dy);
}

LINE_INLINE void pairs_emit(void *sums, const cpu_bundle *bundle, cpu_place p, cpu_vector x, cpu_vector xy) {
  (void)bundle;
  (void)x;
  *scratch_line(sums, p) = xy;
}

/* The Laplacian's pairs: in x, then y, then z. */
LINE_INLINE void pass_laplacian(const cpu_bundle *bundle, const real *f, pass_z_function emit, void *work,
                                int planes) {
  cpu_scratch sums;
  const cpu_operand x = {.f = f, .ahead = f + STENCIL_RADIUS * bundle->frame->plane}, y = {.f = f};
  pass_xy(bundle, &x, &y, 1, pairs_emit, &sums, planes);
  pass_z(bundle, y, &sums, emit, work, planes);
}

LINE_INLINE cpu_column column_make(const cpu_frame *frame, const cpu_patch *patch) {
  const int first = patch->z - STENCIL_RADIUS, count = patch->planes + WIDTH - 1;
  cpu_column column = {.images = first < frame->memory.z0 || first + count > frame->memory.z1};
  for (int j = 0; j < count; j++) column.plane[j] = (plane_of(frame, first + j) - patch->z) * frame->plane;
  return column;
}

/* From a bundle whose first row is y to the one after its last row: in this strip, the next one, or the next
 * planes. */
LINE_INLINE cpu_bundle bundle_make(const cpu_frame *frame, const cpu_patch *patch, const cpu_column *column,
                                   int y, int rows) {
  cpu_bundle bundle = {.frame = frame, .patch = patch, .column = column, .y = y, .rows = rows};
  bundle.images = y < STENCIL_RADIUS || y + rows + STENCIL_RADIUS > frame->ny;
  for (int j = 0; j < rows + WIDTH - 1; j++)
    bundle.row[j] = row_offset(frame, y + j - STENCIL_RADIUS, patch->z);
  bundle.ahead = y + rows < patch->y1
                     ? rows * frame->row
                     : (patch->y0 - y) * frame->row + (patch->next_z - patch->z) * frame->plane +
                           patch->next_x0 - patch->x0;
  return bundle;
}

/* Defines a patch_function that calls body(&job, &bundle, planes) for all bundles of a patch, planes being a
 * constant. Job and patch are copies that nobody else knows of: stored results could change any others, which
 * would be read again for each line. */
#define PATCH_FUNCTION(name, job_type, body)                                                                 \
  static void name(const void *data, const cpu_patch *given) {                                               \
    const job_type job = *(const job_type *)data;                                                            \
    const cpu_patch patch = *given;                                                                          \
    const cpu_column column = column_make(&job.frame, &patch);                                               \
    for (int y = patch.y0, rows; y < patch.y1; y += rows) {                                                  \
      rows = y + CPU_ROWS <= patch.y1 ? CPU_ROWS : 1;                                                        \
      const cpu_bundle bundle = bundle_make(&job.frame, &patch, &column, y, rows);                           \
      if (patch.planes == CPU_PLANES) {                                                                      \
        body(&job, &bundle, CPU_PLANES);                                                                     \
      } else {                                                                                               \
        body(&job, &bundle, 1);                                                                              \
      }                                                                                                      \
    }                                                                                                        \
  }

#endif
