#ifndef FDAPP_KERNELS_CPU_BUNDLE_H
#define FDAPP_KERNELS_CPU_BUNDLE_H

/* A bundle of lines: a strip of columns, a few rows, a few planes. Strips are whole rows if they can be, for
 * the hardware fetches ahead along them. Where its lines and their neighbours lie, how they are loaded and
 * asked for ahead, and where results go; what is computed on it is in passes.h. */

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

#endif
