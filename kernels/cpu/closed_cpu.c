#include "ends.h"

/* Rows of closures (closure_add): sums of products of one row's coefficients with lines. A loaded line serves
 * all rows of a bundle. */

_Static_assert((int)CPU_ROWS == (int)CPU_PLANES, "bundles have as many rows of closures along y as along z");

/* The values that are differenced along d, on the line `offset` points from p along d. from: a constant,
 * VELOCITY_NONE without a product. */
LINE_INLINE cpu_vector value_line(const cpu_layer *layer, const cpu_closed *closed, operation_velocity from,
                                  int d, const int p[3], int offset) {
  const layer_ends *e = &layer->ends->of;
  const cpu_vector line = line_load(closed->in + layer_element(e, p) + offset * e->step[d]);
  if (from == VELOCITY_NONE) return line;
  const int at[3] = {p[0] + (d == AXIS_X ? offset : 0), p[1] + (d == AXIS_Y ? offset : 0),
                     p[2] + (d == AXIS_Z ? offset : 0)};
  return ends_velocity(layer->ends, from, d, at) * line;
}

/* `count` lines from p on along d: CPU_ROWS or 1, a constant. [out] to: as far apart as `step`. */
LINE_INLINE void rows_line(const cpu_layer *layer, const cpu_closed *closed, operation_velocity from, int d,
                           const int p[3], int count, cpu_vector *to, int step) {
  const layer_ends *e = &layer->ends->of;
  const int row = layer->row[d], high = layer->high[d], inwards = high ? -1 : 1;
  const real *c = layer_coefficients(e, d, high, (int)closed->of, row);
  cpu_vector centre[CPU_ROWS], sum[CPU_ROWS];
  for (int i = 0; i < count; i++) {
    centre[i] = value_line(layer, closed, from, d, p, i);
    sum[i] = (cpu_vector){0};
  }
  for (int j = 0; j < e->width; j++) {
    const cpu_vector value = value_line(layer, closed, from, d, p, (j - row) * inwards);
    for (int i = 0; i < count; i++)
      sum[i] = closure_add(sum[i], line_fill(c[i * inwards * CLOSURE_WIDTH + j]), value, centre[i]);
  }
  for (int i = 0; i < count; i++) to[i * step] = sum[i];
}

LINE_INLINE void rows_bundle(const cpu_layer *layer, const cpu_closed *closed, operation_velocity from, int d,
                             const cpu_bundle *bundle, int planes) {
  const int count = d == AXIS_Y ? bundle->rows : planes, across = d == AXIS_Y ? planes : bundle->rows;
  for (int a = 0; a < across; a++) {
    for (int b = 0; b < bundle->patch->lines; b++) {
      const cpu_place place = d == AXIS_Y ? (cpu_place){.k = a, .b = b} : (cpu_place){.r = a, .b = b};
      const cpu_point at = bundle_point(bundle, place.k, place.r, b);
      cpu_vector *to = scratch_line(&layer->closures->row, place);
      const int step = d == AXIS_Y ? 1 : CPU_ROWS;
      if (count == CPU_ROWS) {
        rows_line(layer, closed, from, d, at.p, CPU_ROWS, to, step);
      } else {
        rows_line(layer, closed, from, d, at.p, 1, to, step);
      }
    }
  }
}

/* Along x the lines of a bundle are turned: each has a lane, and each column a vector. */
enum { CLOSURE_LINES = (CLOSURE_WIDTH + LINE - 1) / LINE, CLOSURE_COLUMNS = CLOSURE_LINES * LINE };

/* Interleaves the halves of `count` lines as if they were one array. If they hold n rows of a matrix, n a
 * power of two, log2(n) times that is its transpose. */
LINE_INLINE void lines_interleave(cpu_vector *lines, int count) {
  cpu_vector from[CLOSURE_COLUMNS];
  for (int i = 0; i < count; i++) from[i] = lines[i];
  for (int i = 0; i < count; i++) lines[i] = line_interleave(from[i / 2], from[(i + count) / 2], i % 2);
}

/* The columns that a closure reads at an end, of LINE lines from the bundle's line `first` on; lines beyond
 * its last one repeat that one. rows, planes: of the bundle, constants if possible. */
LINE_INLINE void columns_turn(const cpu_layer *layer, const cpu_closed *closed, operation_velocity from,
                              int high, const cpu_bundle *bundle, int rows, int planes, int first,
                              cpu_vector *column) {
  const int x = high ? layer->ends->of.n[AXIS_X] - CLOSURE_WIDTH : 0, last = rows * planes - 1;
#pragma GCC unroll 16
  for (int lane = 0; lane < LINE; lane++) {
    const int line = first + lane < last ? first + lane : last;
    const int at[3] = {x, bundle->y + line % rows, bundle->patch->z + line / rows};
    for (int i = 0; i < CLOSURE_LINES; i++)
      column[lane * CLOSURE_LINES + i] = value_line(layer, closed, from, AXIS_X, at, i * LINE);
  }
#pragma GCC unroll 4
  for (int n = 1; n < LINE; n *= 2) lines_interleave(column, CLOSURE_COLUMNS);
}

/* [out] to: of LINE rows, CLOSURE_ROWS elements each. */
LINE_INLINE void columns_rows(const layer_ends *e, const cpu_closed *closed, int high,
                              const cpu_vector *column, real *to) {
  const real *c = layer_coefficients(e, AXIS_X, high, (int)closed->of, 0);
  const cpu_vector *end = column + (high ? CLOSURE_WIDTH - 1 : 0);
  const int inwards = high ? -1 : 1;
  cpu_vector centre[CLOSURE_ROWS], sum[CLOSURE_ROWS], result[CLOSURE_ROWS];
  for (int i = 0; i < CLOSURE_ROWS; i++) {
    centre[i] = end[i * inwards];
    sum[i] = (cpu_vector){0};
  }
  for (int j = 0; j < e->width; j++) {
    const cpu_vector value = end[j * inwards];
    for (int i = 0; i < CLOSURE_ROWS; i++)
      sum[i] = closure_add(sum[i], line_fill(c[i * CLOSURE_WIDTH + j]), value, centre[i]);
  }
  for (int i = 0; i < e->rows; i++) result[high ? e->rows - 1 - i : i] = sum[i];
  for (int i = e->rows; i < CLOSURE_ROWS; i++) result[i] = sum[i];
#pragma GCC unroll 3
  for (int n = 1; n < CLOSURE_ROWS; n *= 2) lines_interleave(result, CLOSURE_ROWS);
  memcpy(to, result, sizeof result);
}

LINE_INLINE void columns_end(const cpu_layer *layer, const cpu_closed *closed, operation_velocity from,
                             int high, const cpu_bundle *bundle, int rows, int planes) {
#pragma GCC unroll 4
  for (int first = 0; first < rows * planes; first += LINE) {
    cpu_vector column[CLOSURE_COLUMNS];
    columns_turn(layer, closed, from, high, bundle, rows, planes, first, column);
    columns_rows(&layer->ends->of, closed, high, column,
                 layer->closures->x[high] + LINE + first * CLOSURE_ROWS);
  }
}

LINE_INLINE void columns_bundle(const cpu_layer *layer, const cpu_closed *closed, operation_velocity from,
                                const cpu_bundle *bundle, int planes) {
  for (int high = 0; high < 2; high++) {
    if (!strip_meets(layer->ends, bundle->patch, high)) continue;
    if (bundle->rows == CPU_ROWS && planes == CPU_PLANES) {
      columns_end(layer, closed, from, high, bundle, CPU_ROWS, CPU_PLANES);
    } else if (bundle->rows == CPU_ROWS) {
      columns_end(layer, closed, from, high, bundle, CPU_ROWS, 1);
    } else {
      columns_end(layer, closed, from, high, bundle, 1, planes);
    }
  }
}

/* The function `of` with the source of the velocity as a constant. */
#define BY_SOURCE(of, ...)                                                                                   \
  if (!closed->product) {                                                                                    \
    of(layer, closed, VELOCITY_NONE, __VA_ARGS__);                                                           \
  } else if (layer->ends->velocity == VELOCITY_STORED) {                                                     \
    of(layer, closed, VELOCITY_STORED, __VA_ARGS__);                                                         \
  } else {                                                                                                   \
    of(layer, closed, VELOCITY_TABLES, __VA_ARGS__);                                                         \
  }

void CPU_NAME(closed_rows_cpu_)(const cpu_layer *layer, const cpu_closed *closed, int d,
                                const cpu_bundle *bundle, int planes) {
  BY_SOURCE(rows_bundle, d, bundle, planes)
}

void CPU_NAME(closed_columns_cpu_)(const cpu_layer *layer, const cpu_closed *closed, const cpu_bundle *bundle,
                                   int planes) {
  BY_SOURCE(columns_bundle, bundle, planes)
}
