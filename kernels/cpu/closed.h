#ifndef FDAPP_CPU_CLOSED_H
#define FDAPP_CPU_CLOSED_H

/* Beside an end, differences along its axis are rows of a closure (closure_add in arithmetic.h). The passes
 * call these functions there; ends.h says where that is. */

#include "task.h"

_Static_assert((int)CPU_ROWS == (int)CPU_PLANES,
               "closed_rows computes rows along y as it computes planes along z");

/* Returns 1 if differences of the bundle along y or z are rows of a closure. */
LINE_INLINE int task_closed(const cpu_task *task, int axis) {
  return task->way.ends && task->layer->row[axis] >= 0;
}

/* The differences of a term along an axis that are rows of a closure, on the lines of a strip and on `count`
 * rows from the strip on, or planes if the axis is z. CPU_ROWS of them are computed side by side; if the
 * bundle has fewer, the last one takes the others' places. */
typedef struct cpu_closing {
  const cpu_ends *ends;
  const cpu_lines *line;
  const operation *of;
  int term, lines, count;
  axis along;
  int high, row;   /* along y and z: the end, and the closure's row of the strip */
  cpu_point point; /* the strip's first row and plane in the slab */
  ptrdiff_t at;    /* offset of column 0 of the strip */
} cpu_closing;

/* p: the strip's row and plane in the bundle, and the offset of its column 0. */
LINE_INLINE cpu_closing closing_make(const cpu_task *task, int t, axis along, cpu_place p, int count) {
  const cpu_layer *layer = task->layer;
  return (cpu_closing){.ends = layer->ends,
                       .line = layer->line,
                       .of = task->way.of,
                       .term = t,
                       .lines = layer->lines,
                       .count = count,
                       .along = along,
                       .high = layer->high[along],
                       .row = layer->row[along],
                       .point = {{0, layer->first[AXIS_Y] + p.r, layer->first[AXIS_Z] + p.k}},
                       .at = p.at};
}

/* What the term differences, on the line `offset` points along the axis and i rows, or planes, from line b of
 * the strip. in: this line in the array that is differenced. */
LINE_INLINE cpu_vector closing_value(const cpu_closing *c, int b, int i, int offset, const real *in) {
  if (!c->of->term[c->term].product) return line_load(in);
  cpu_point p = {{c->line->x[b], c->point.p[AXIS_Y] + c->line->y[b], c->point.p[AXIS_Z]}};
  p.p[c->along == AXIS_Z ? AXIS_Z : AXIS_Y] += i;
  p.p[c->along] += offset;
  return ends_velocity(c->ends, c->of, (int)c->along, p.p) * line_load(in);
}

/* Along y and z. Each line that the differences need is loaded once. */
LINE_CALLED void closed_rows(cpu_closing c, cpu_vector (*to)[CPU_ROWS]) {
  const layer_ends *e = &c.ends->of;
  const operation_term *term = &c.of->term[c.term];
  const int inwards = c.high ? -1 : 1, width = e->width;
  const ptrdiff_t step = e->step[c.along], *at = c.line->at;
  const real *in = c.ends->job.in[term->along[c.along]] + c.at, *row[CPU_ROWS];
  int same[CPU_ROWS]; /* a row that exists */
#pragma GCC unroll 4
  for (int i = 0; i < CPU_ROWS; i++) {
    same[i] = i < c.count ? i : c.count - 1;
    row[i] = layer_coefficients(e, (int)c.along, c.high, (int)term->of, c.row + same[i] * inwards);
  }
  for (int b = 0; b < c.lines; b++) {
    const real *line = in + at[b], *from = line - c.row * inwards * step;
    cpu_vector centre[CPU_ROWS], sum[CPU_ROWS];
#pragma GCC unroll 4
    for (int i = 0; i < CPU_ROWS; i++) {
      centre[i] = closing_value(&c, b, same[i], 0, line + same[i] * step);
      sum[i] = (cpu_vector){0};
    }
    for (int j = 0; j < width; j++, from += inwards * step) {
      const cpu_vector value = closing_value(&c, b, 0, (j - c.row) * inwards, from);
#pragma GCC unroll 4
      for (int i = 0; i < CPU_ROWS; i++) sum[i] = closure_add(sum[i], line_fill(row[i][j]), value, centre[i]);
    }
#pragma GCC unroll 4
    for (int i = 0; i < CPU_ROWS; i++) to[b][i] = sum[i];
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

/* Along x beside one end, on line b and the rows after it. Each lane has its own row of the closure. */
LINE_INLINE void closed_columns(const cpu_closing *c, int b, int high, cpu_vector *to) {
  const operation_term *term = &c->of->term[c->term];
  const cpu_ends *ends = c->ends;
  const int x = c->line->x[b], first = (high ? ends->of.n[AXIS_X] - CLOSURE_WIDTH : 0) - x;
  const int inwards = high ? -1 : 1, width = ends->of.width;
  const real *in = ends->job.in[term->along[AXIS_X]] + c->at + c->line->at[b], *from[CPU_ROWS];
  const cpu_columns *row = ends->row[term->of][high];
  real products[CPU_ROWS][CLOSURE_LINES * LINE];
  cpu_vector centre[CPU_ROWS], sum[CPU_ROWS];
#pragma GCC unroll 4
  for (int i = 0; i < CPU_ROWS; i++) {
    const int same = i < c->count ? i : c->count - 1;
    const real *line = in + same * ends->of.step[AXIS_Y];
    for (int l = 0; l < CLOSURE_LINES && term->product; l++) {
      const cpu_vector values = closing_value(c, b, same, first + l * LINE, line + first + l * LINE);
      memcpy(products[i] + l * LINE, &values, sizeof values);
    }
    from[i] = (term->product ? products[i] : line + first) + (high ? CLOSURE_WIDTH - 1 : 0);
    centre[i] = closing_value(c, b, same, 0, line);
    sum[i] = (cpu_vector){0};
  }
  for (int j = 0; j < width; j++) {
    const cpu_vector coefficients = columns_load(&row[j], layer_column(ends, high, x));
#pragma GCC unroll 4
    for (int i = 0; i < CPU_ROWS; i++)
      sum[i] = closure_add(sum[i], coefficients, line_fill(from[i][j * inwards]), centre[i]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < CPU_ROWS; i++) to[i] = sum[i];
}

/* Along x. A line overlaps one layer, both (short rows) or none (the rest of a cache line). */
LINE_CALLED void closed_lines(cpu_closing c, cpu_vector (*to)[CPU_ROWS]) {
  const int inside[2] = {c.ends->inside[0], c.ends->inside[1]};
  for (int b = 0; b < c.lines; b++) {
    const int x = c.line->x[b], low = x<inside[0], high = x + LINE> inside[1];
    if (low || high) closed_columns(&c, b, high, to[b]);
    if (!low || !high) continue;
    cpu_vector at_low[CPU_ROWS];
    closed_columns(&c, b, 0, at_low);
    for (int i = 0; i < CPU_ROWS; i++) to[b][i] = line_join(at_low[i], to[b][i], inside[0] - x);
  }
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
