#include "ends.h"

/* Rows of closures (closure_add). Along y and z all points of a line have the same row, along x each point
 * has its own. */

/* The values that are differenced along d, on the line `offset` points from p along d. from: a constant,
 * VELOCITY_NONE without a product. */
LINE_INLINE cpu_vector value_line(const cpu_layer *layer, const cpu_closed *closed, operation_velocity from,
                                  int d, const int p[3], int offset) {
  const int at[3] = {p[0] + (d == AXIS_X ? offset : 0), p[1] + (d == AXIS_Y ? offset : 0),
                     p[2] + (d == AXIS_Z ? offset : 0)};
  const cpu_vector line = line_load(closed->in + layer_element(&layer->ends->of, at));
  if (from == VELOCITY_NONE) return line;
  return ends_velocity(layer->ends, from, d, at) * line;
}

LINE_INLINE cpu_vector row_line(const cpu_layer *layer, const cpu_closed *closed, operation_velocity from,
                                int d, const int p[3]) {
  const layer_ends *e = &layer->ends->of;
  const int row = layer->row[d], high = layer->high[d], inwards = high ? -1 : 1;
  const real *c = layer_coefficients(e, d, high, (int)closed->of, row);
  const cpu_vector centre = value_line(layer, closed, from, d, p, 0);
  cpu_vector sum = {0};
  for (int j = 0; j < e->width; j++) {
    const cpu_vector value = value_line(layer, closed, from, d, p, (j - row) * inwards);
    sum = closure_add(sum, line_fill(c[j]), value, centre);
  }
  return sum;
}

/* Points of a closure's row along x, from the left, in whole lines. */
enum { CLOSURE_LINES = (CLOSURE_WIDTH + LINE - 1) / LINE };

LINE_INLINE cpu_vector columns_line(const cpu_layer *layer, const cpu_closed *closed, operation_velocity from,
                                    const int p[3], cpu_vector line) {
  const cpu_ends *ends = layer->ends;
  const cpu_vector centre = value_line(layer, closed, from, AXIS_X, p, 0);
  for (int high = 0; high < 2; high++) {
    const int column = layer_column(ends, high, p[0]);
    if (!layer_has(ends, column)) continue;
    const int first = high ? ends->of.n[AXIS_X] - CLOSURE_WIDTH : 0;
    real value[CLOSURE_LINES * LINE];
    for (int i = 0; i < CLOSURE_LINES; i++) {
      const cpu_vector part = value_line(layer, closed, from, AXIS_X, p, first + i * LINE - p[0]);
      memcpy(value + i * LINE, &part, sizeof part);
    }
    cpu_vector sum = {0};
    for (int j = 0; j < ends->of.width; j++) {
      const cpu_vector c = columns_load(&ends->row[high][closed->of][j], column);
      sum = closure_add(sum, c, line_fill(value[high ? CLOSURE_WIDTH - 1 - j : j]), centre);
    }
    line = high ? line_join(line, sum, -column) : line_join(sum, line, ends->of.rows - column);
  }
  return line;
}

/* The function `of` with the source of the velocity as a constant. */
#define BY_SOURCE(of, layer, closed, ...)                                                                    \
  if (!(closed)->product) {                                                                                  \
    *line = of(layer, closed, VELOCITY_NONE, __VA_ARGS__);                                                   \
  } else if ((layer)->ends->velocity == VELOCITY_STORED) {                                                   \
    *line = of(layer, closed, VELOCITY_STORED, __VA_ARGS__);                                                 \
  } else {                                                                                                   \
    *line = of(layer, closed, VELOCITY_TABLES, __VA_ARGS__);                                                 \
  }

void CPU_NAME(closed_row_cpu_)(const cpu_layer *layer, const cpu_closed *closed, int d, const int p[3],
                               cpu_vector *line) {
  BY_SOURCE(row_line, layer, closed, d, p)
}

void CPU_NAME(closed_line_cpu_)(const cpu_layer *layer, const cpu_closed *closed, const int p[3],
                                cpu_vector *line) {
  BY_SOURCE(columns_line, layer, closed, p, *line)
}
