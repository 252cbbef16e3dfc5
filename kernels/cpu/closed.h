#ifndef FDAPP_CPU_CLOSED_H
#define FDAPP_CPU_CLOSED_H

/* Differences of lines in layers, as the passes call them (ends.h). */

#include "task.h"

LINE_INLINE cpu_closed closed_make(const cpu_task *task, int t, int axis) {
  const operation_term *term = &task->way.of->term[t];
  const real *in = task->job->in[term->along[axis]] + KERNELS_HALO * task->job->frame.plane;
  return (cpu_closed){in, term->of, term->product};
}

/* The difference of term t along y or z by a row of a closure; of a chain, added to s. */
LINE_INLINE cpu_vector closed_row(const cpu_task *task, int t, int axis, cpu_place p, cpu_vector s) {
  const cpu_closed closed = closed_make(task, t, axis);
  const cpu_point at = place_point(task, p);
  cpu_vector line;
  CPU_NAME(closed_row_cpu_)(task->layer, &closed, axis, at.p, &line);
  if (task->way.of->term[t].fold == FOLD_CHAIN) return s + line;
  return line;
}

/* The differences of term t along x, where points in layers have rows of a closure. */
LINE_INLINE cpu_vector closed_line(const cpu_task *task, int t, cpu_place p, cpu_vector interior) {
  const cpu_closed closed = closed_make(task, t, AXIS_X);
  const cpu_point at = place_point(task, p);
  cpu_vector line = interior;
  CPU_NAME(closed_line_cpu_)(task->layer, &closed, at.p, &line);
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
