#ifndef FDAPP_KERNELS_CPU_BUNDLE_H
#define FDAPP_KERNELS_CPU_BUNDLE_H

/* A bundle of lines: a strip of columns, a few rows, a few planes. Strips are whole rows if possible, because
 * the hardware prefetches along them. This file has the places of the bundle's lines and their neighbours,
 * loads, prefetches and stores; passes.h has the arithmetic.
 *
 *     y ^   rows y+4 .. y+7: neighbours, loaded once for all four rows
 *       |   +------+------+------+-- ... --+
 *       |   | line | line | line |         |   row y+3   of plane z; likewise planes
 *       |   | line | line | line |         |   row y+2   z+1, z+2 and z+3, whose
 *       |   | line | line | line |         |   row y+1   neighbours are z-4 .. z-1
 *       |   | line | line | line |         |   row y     and z+4 .. z+7
 *       |   +------+------+------+-- ... --+
 *       |   rows y-4 .. y-1: neighbours            x -> */

#include "lines.h"

enum { STRIP = CPU_STRIP_BYTES / CPU_LINE_BYTES }; /* most lines of a strip */

/* Offsets from a patch's first plane, z, to planes z-4 .. z+7. */
typedef struct cpu_column {
  int images; /* 0: the patch has CPU_PLANES planes, and these are consecutive; 1: some are images or missing
               */
  ptrdiff_t plane[CPU_PLANES + WIDTH - 1]; /* in place of a missing one: the last one */
} cpu_column;

typedef struct cpu_bundle {
  const cpu_frame *frame;
  const cpu_patch *patch;
  const cpu_column *column;
  int y, rows;                         /* rows: at most CPU_ROWS */
  int images;                          /* 1: some of rows y-4 .. y+7 are images or missing */
  ptrdiff_t row[CPU_ROWS + WIDTH - 1]; /* offsets of column 0 of these rows, as in cpu_column */
  ptrdiff_t ahead;                     /* offset from this bundle to the next one */
} cpu_bundle;

/* The column of line b of a patch. */
LINE_INLINE int line_column(const cpu_patch *patch, int b) {
  return patch->x0 + b * LINE + (b < patch->before ? 0 : patch->gap);
}

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

/* The stores of an output. waiting: for each row and plane of a bundle, a line that is the first half of a
 * cache line. */
typedef struct cpu_output {
  real *to;
  cpu_vector waiting[CPU_PLANES][CPU_ROWS];
} cpu_output;

/* A velocity from tables (kernels_tables) on a bundle and the lines around it. row[j][i]: the part of plane
 * z-4+j and row y-4+i, as products of the three components, then sums. */
typedef struct cpu_formula {
  const real *x;   /* tables along x */
  ptrdiff_t pitch; /* elements between components in x */
  real row[CPU_PLANES + WIDTH - 1][CPU_ROWS + WIDTH - 1][KERNELS_TABLE];
} cpu_formula;

LINE_INLINE cpu_vector formula_line(const cpu_formula *formula, axis component, int j, int i, int column) {
  const real *row = formula->row[j][i];
  return table_velocity(line_load(formula->x + component * formula->pitch + column),
                        line_fill(row[component]), line_fill(row[3 + component]));
}

/* An operand of a difference. f: a field; g: NULL, or a field that multiplies it; formula: NULL, or a
 * velocity whose component multiplies it; ahead: NULL, or the array that the next bundle will read at the
 * same place. */
typedef struct cpu_operand {
  const real *f, *g, *ahead;
  const cpu_formula *formula;
  axis component;
} cpu_operand;

/* Prefetches a line into the second-level cache. Memory must be kept busy during the arithmetic, and neither
 * out-of-order execution nor the hardware prefetcher reaches that far. */
LINE_INLINE void line_ahead(const real *line) {
  __builtin_prefetch(line, 0, 2);
}

/* Prefetches the line at p's place in the next bundle. */
LINE_INLINE void bundle_ahead(const cpu_bundle *bundle, const real *f, cpu_place p) {
  line_ahead(f + p.at + bundle->ahead);
}

LINE_INLINE void operand_ahead(const cpu_bundle *bundle, cpu_operand operand, cpu_place p) {
  if (operand.ahead != NULL) bundle_ahead(bundle, operand.ahead, p);
}

/* Loads the line at `at`: column x of plane j and row i of a formula. */
LINE_INLINE cpu_vector operand_line(cpu_operand operand, ptrdiff_t at, int j, int i, int x) {
  const cpu_vector line = line_load(operand.f + at);
  if (operand.formula != NULL) return formula_line(operand.formula, operand.component, j, i, x) * line;
  if (operand.g == NULL) return line;
  return line_load(operand.g + at) * line;
}

/* The neighbours of a line, of three kinds that are compiled apart. PLAIN: they lie beside it. ANY: they may
 * be periodic images, and a line may be in any layer. WITHIN: the line may be in layers of x alone, and no
 * neighbour that counts is an image. */
enum { LINES_PLAIN, LINES_ANY, LINES_WITHIN };

LINE_INLINE void operand_triple(cpu_triple *t, const cpu_frame *frame, const real *row, int x, int kind) {
  if (kind == LINES_WITHIN) {
    triple_load_within(t, frame, row, x);
  } else {
    triple_load(t, frame, row, x, kind == LINES_ANY);
  }
}

/* Loads the line at column x of a row, plane j and row i of a formula, and its neighbours in x. kind: a
 * constant. */
LINE_INLINE void operand_neighbours(cpu_vector *n, const cpu_frame *frame, cpu_operand operand, ptrdiff_t row,
                                    int j, int i, int x, int kind) {
  cpu_triple t, u;
  operand_triple(&t, frame, operand.f + row, x, kind);
  if (operand.formula != NULL) {
    t.left *= formula_line(operand.formula, operand.component, j, i, x - LINE);
    t.centre *= formula_line(operand.formula, operand.component, j, i, x);
    t.right *= formula_line(operand.formula, operand.component, j, i, x + LINE);
  } else if (operand.g != NULL) {
    operand_triple(&u, frame, operand.g + row, x, kind);
    t = (cpu_triple){u.left * t.left, u.centre * t.centre, u.right * t.right};
  }
  neighbours_x(n, &t);
}

/* Stores a line. The lines of each row and plane of a bundle come in ascending order, an even number of them,
 * and the first one begins a cache line. */
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
  const int first = patch->z - STENCIL_RADIUS, last = patch->z + patch->planes - 1 + STENCIL_RADIUS;
  cpu_column column = {.images = patch->planes < CPU_PLANES || first < frame->memory.z0 ||
                                 last >= frame->memory.z1};
  for (int j = 0; j < CPU_PLANES + WIDTH - 1; j++) {
    const int z = first + j < last ? first + j : last;
    column.plane[j] = (plane_of(frame, z) - patch->z) * frame->plane;
  }
  return column;
}

/* The bundle of `rows` rows from row y on. The next bundle begins `all` rows further on: in this strip, the
 * next one, or the next planes. */
LINE_INLINE cpu_bundle bundle_make(const cpu_frame *frame, const cpu_patch *patch, const cpu_column *column,
                                   int y, int rows, int all) {
  cpu_bundle bundle = {.frame = frame, .patch = patch, .column = column, .y = y, .rows = rows};
  const int first = y - STENCIL_RADIUS, last = y + rows - 1 + STENCIL_RADIUS;
  bundle.images = rows < CPU_ROWS || first < 0 || last >= frame->ny;
  for (int j = 0; j < CPU_ROWS + WIDTH - 1; j++)
    bundle.row[j] = row_offset(frame, first + j < last ? first + j : last, patch->z);
  bundle.ahead = y + all < patch->y1
                     ? all * frame->row
                     : (patch->next_y0 - y) * frame->row + (patch->next_z - patch->z) * frame->plane +
                           patch->next_x0 - patch->x0;
  return bundle;
}

#endif
