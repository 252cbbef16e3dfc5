#ifndef FDAPP_CPU_CLOSED_H
#define FDAPP_CPU_CLOSED_H

/* Differences of lines in layers by rows of closures (closure_add), as the passes call them (ends.h). */

#include "task.h"

_Static_assert((int)CPU_ROWS == (int)CPU_PLANES, "bundles have as many rows of closures along y as along z");

/* Returns 1 if differences of the bundle along y or z are rows of a closure. */
LINE_INLINE int task_closed(const cpu_task *task, int axis) {
  return task->way.ends && task->layer->row[axis] >= 0;
}

/* For differences that may be computed later, on grids with ends alone: lines that are set, but never read,
 * cost others a third of their time (gcc 12). */
LINE_INLINE void lines_clear(const cpu_task *task, cpu_vector *lines, int count) {
  for (int i = 0; i < count && task->way.ends; i++) lines[i] = (cpu_vector){0};
}

/* The values that term t differences along an axis, on the line `offset` points from p along it. */
LINE_INLINE cpu_vector closed_value(const cpu_task *task, int t, axis along, cpu_place p, int offset) {
  const operation *o = task->way.of;
  const cpu_ends *ends = task->layer->ends;
  const real *in = task->job->in[o->term[t].along[along]];
  const cpu_vector line = line_load(in + p.at + offset * ends->of.step[along]);
  if (!o->term[t].product) return line;
  cpu_point at = layer_point(task->layer, p.k, p.r, p.b);
  at.p[along] += offset;
  return ends_velocity(ends, o, (int)along, at.p) * line;
}

/* Computes the differences of term t along y or z, on `count` lines from p on along this axis, each of which
 * is loaded once. count: CPU_ROWS or 1, a constant. */
LINE_INLINE void closed_rows(const cpu_task *task, int t, axis along, cpu_place p, int count,
                             cpu_vector *to) {
  const cpu_layer *layer = task->layer;
  const layer_ends *e = &layer->ends->of;
  const int row = layer->row[along], high = layer->high[along], inwards = high ? -1 : 1;
  const real *c = layer_coefficients(e, (int)along, high, (int)task->way.of->term[t].of, row);
  cpu_vector centre[CPU_ROWS];
#pragma GCC unroll 4
  for (int i = 0; i < count; i++) {
    centre[i] = closed_value(task, t, along, p, i);
    to[i] = (cpu_vector){0};
  }
  for (int j = 0; j < e->width; j++) {
    const cpu_vector value = closed_value(task, t, along, p, (j - row) * inwards);
#pragma GCC unroll 4
    for (int i = 0; i < count; i++)
      to[i] = closure_add(to[i], line_fill(c[i * inwards * CLOSURE_WIDTH + j]), value, centre[i]);
  }
}

/* Adds the pairs of the axes before, if term t is a chain. */
LINE_INLINE cpu_vector closed_add(const cpu_task *task, int t, cpu_vector closed, cpu_vector s) {
  if (task->way.of->term[t].fold == FOLD_CHAIN) return s + closed;
  return closed;
}

/* The lanes of line b that lie between the layers of x. */
LINE_INLINE cpu_lane_integers lanes_inside(const cpu_task *task, int b) {
  const int *inside = task->layer->ends->inside, x = task_column(task, b);
  const cpu_lane_integers lanes = lanes_make(), none = {0};
  return (lanes >= none + (inside[0] - x)) & (lanes < none + (inside[1] - x));
}

enum { CLOSURE_LINES = (CLOSURE_WIDTH + LINE - 1) / LINE };

/* Computes the differences of term t along x beside an end, on line p and those after it along y. Each lane
 * has its own row of the closure. count: CPU_ROWS or 1, a constant. */
LINE_INLINE void closed_columns(const cpu_task *task, int t, cpu_place p, int high, int count,
                                cpu_vector *to) {
  const operation_term *term = &task->way.of->term[t];
  const cpu_ends *ends = task->layer->ends;
  const int x = task_column(task, p.b), column = layer_column(ends, high, x);
  const int first = high ? ends->of.n[AXIS_X] - CLOSURE_WIDTH : 0;
  const real *from = task->job->in[term->along[AXIS_X]] + p.at + first - x;
  ptrdiff_t step = ends->of.step[AXIS_Y];
  real products[CPU_ROWS][CLOSURE_LINES * LINE];
  cpu_vector centre[CPU_ROWS];
#pragma GCC unroll 4
  for (int i = 0; i < count; i++) {
    const cpu_place at = {p.k, p.r + i, p.b, p.at + i * ends->of.step[AXIS_Y]};
    centre[i] = closed_value(task, t, AXIS_X, at, 0);
    for (int l = 0; l < CLOSURE_LINES && term->product; l++) {
      const cpu_vector line = closed_value(task, t, AXIS_X, at, first - x + l * LINE);
      memcpy(products[i] + l * LINE, &line, sizeof line);
    }
    to[i] = (cpu_vector){0};
  }
  if (term->product) {
    from = products[0];
    step = CLOSURE_LINES * LINE;
  }
  from += high ? CLOSURE_WIDTH - 1 : 0;
  for (int j = 0; j < ends->of.width; j++) {
    const cpu_vector c = columns_load(&ends->row[term->of][high][j], column);
#pragma GCC unroll 4
    for (int i = 0; i < count; i++) to[i] = closure_add(to[i], c, line_fill(from[i * step]), centre[i]);
    from += high ? -1 : 1;
  }
}

/* Computes those differences of a line beside ends of x, which lies in one layer, in both, or in none: it may
 * be the rest of a cache line. */
LINE_INLINE void closed_line(const cpu_task *task, int t, cpu_place p, int count, cpu_vector *to) {
  const cpu_ends *ends = task->layer->ends;
  const int x = task_column(task, p.b), high = x + LINE > ends->inside[1];
  if (!line_in_layer(ends, x)) return;
  closed_columns(task, t, p, high, count, to);
  if (!high || x >= ends->inside[0]) return;
  cpu_vector low[CPU_ROWS];
  closed_columns(task, t, p, 0, count, low);
  for (int i = 0; i < count; i++) to[i] = line_join(low[i], to[i], ends->inside[0] - x);
}

/* Returns 1 if all points of the line at column x lie in one layer of x. */
LINE_INLINE int task_closes(const cpu_task *task, int x) {
  if (!task->way.ends) return 0;
  const int *inside = task->layer->ends->inside;
  return x + LINE <= inside[0] || x >= inside[1];
}

/* Centre coefficients of a chain: those of the axes along which pairs of neighbours were added. */
LINE_INLINE cpu_vector chain_centre(const cpu_task *task, cpu_place p) {
  if (!task->way.ends) return task->job->frame.centre;
  const cpu_layer *layer = task->layer;
  const int set = (layer->row[AXIS_Y] < 0) << AXIS_Y | (layer->row[AXIS_Z] < 0) << AXIS_Z;
  const cpu_vector closed = line_fill(layer->ends->of.centre[set]);
  const cpu_vector centre = line_fill(layer->ends->of.centre[set | 1 << AXIS_X]);
  return line_choose(lanes_inside(task, p.b), centre, closed);
}

#endif
