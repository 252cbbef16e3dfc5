#ifndef FDAPP_CPU_CLOSED_H
#define FDAPP_CPU_CLOSED_H

/* Differences of lines in layers, as the passes call them (ends.h). */

#include "task.h"

/* Computes the differences of term t along an axis by rows of closures, before a pass along this axis. */
LINE_INLINE void closed_prepare(const cpu_task *task, int t, int axis) {
  if (!task->way.ends || t < 0) return;
  const cpu_layer *layer = task->layer;
  const operation_term *term = &task->way.of->term[t];
  const real *in = task->job->in[term->along[axis]] + KERNELS_HALO * task->job->frame.plane;
  const cpu_closed closed = {in, term->of, term->product};
  if (axis == AXIS_X) {
    if (layer->ends->of.bounded[AXIS_X])
      CPU_NAME(closed_columns_cpu_)(layer, &closed, task->bundle, task->planes);
  } else if (layer->row[axis] >= 0) {
    CPU_NAME(closed_rows_cpu_)(layer, &closed, axis, task->bundle, task->planes);
  }
}

/* The difference of term t along y or z by a row of a closure; of a chain, added to s. */
LINE_INLINE cpu_vector closed_row(const cpu_task *task, int t, cpu_place p, cpu_vector s) {
  const cpu_vector line = *scratch_line(&task->layer->closures->row, p);
  if (task->way.of->term[t].fold == FOLD_CHAIN) return s + line;
  return line;
}

/* The differences along x, where points in layers have rows of a closure. */
LINE_INLINE cpu_vector closed_line(const cpu_task *task, cpu_place p, cpu_vector interior) {
  const cpu_ends *ends = task->layer->ends;
  cpu_vector line = interior;
  for (int high = 0; high < 2; high++) {
    const int column = layer_column(ends, high, task->bundle->patch->x0 + p.b * LINE);
    if (!layer_has(ends, column)) continue;
    const int row = p.k * task->bundle->rows + p.r;
    const cpu_vector closed = line_load(task->layer->closures->x[high] + LINE + row * CLOSURE_ROWS + column);
    line = high ? line_join(line, closed, -column) : line_join(closed, line, ends->of.rows - column);
  }
  return line;
}

/* Centre coefficients of a chain: those of the axes along which pairs of neighbours were added. */
LINE_INLINE cpu_vector chain_centre(const cpu_task *task, cpu_place p) {
  if (!task->way.ends || !p.beside) return task->job->frame.centre;
  const cpu_layer *layer = task->layer;
  const int *inside = layer->ends->inside, x = task->bundle->patch->x0 + p.b * LINE;
  const int set = (layer->row[AXIS_Y] < 0) << AXIS_Y | (layer->row[AXIS_Z] < 0) << AXIS_Z;
  const cpu_vector closed = line_fill(layer->ends->of.centre[set]);
  const cpu_vector centre = line_fill(layer->ends->of.centre[set | 1 << AXIS_X]);
  if (!line_in_layer(layer->ends, x)) return centre;
  return line_join(line_join(closed, centre, inside[0] - x), closed, inside[1] - x);
}

#endif
