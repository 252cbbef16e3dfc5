#ifndef FDAPP_CPU_GENERAL_H
#define FDAPP_CPU_GENERAL_H

/* The general engine: terms of any inputs along any axes, of two-point functions, and dampings. It computes a
 * line of a term at a time and loads each neighbour where it lies, from the first-level cache as a rule. The
 * passes load a neighbour once for several lines, which only lean operations allow. */

#include "passes.h"

/* The points of a bundle's line. */
LINE_INLINE operation_values general_own(const cpu_task *task, cpu_place p) {
  const cpu_patch *patch = task->bundle->patch;
  if (task->way.ends) {
    const cpu_point first = layer_point(task->layer, p.k, p.r, p.b);
    return (operation_values){task, p.at, {first.p[0], first.p[1], first.p[2]}, 0, 0};
  }
  return (operation_values){
      task, p.at, {task_column(task, p.b), task->bundle->y + p.r, patch->z + p.k}, 0, 0};
}

/* Their neighbours j points along an axis, within the stencil. */
LINE_INLINE operation_values general_beside(const operation_values *own, cpu_place p, int along, int j) {
  const cpu_bundle *bundle = own->task->bundle;
  const ptrdiff_t first = task_offset(own->task, p.b);
  operation_values v = *own;
  v.p[along] += j;
  if (along == AXIS_X) v.at += j;
  if (along == AXIS_X) v.shifted = 1;
  if (along == AXIS_Y) v.at = bundle->row[STENCIL_RADIUS + p.r + j] + p.k * bundle->frame->plane + first;
  if (along == AXIS_Z)
    v.at = bundle->row[STENCIL_RADIUS + p.r] + bundle->column->plane[STENCIL_RADIUS + p.k + j] + first;
  return v;
}

/* Point j from an end, on the line along this axis: for a layer of x one for all lanes. */
LINE_INLINE operation_values general_inwards(const operation_values *own, int along, int high, int j) {
  const layer_ends *e = &own->task->layer->ends->of;
  const int end = (high ? e->last[along] : 0) - e->start[along], to = high ? end - j : end + j;
  operation_values v = *own;
  v.at += (to - v.p[along]) * e->step[along];
  v.p[along] = to;
  v.one = along == AXIS_X;
  return v;
}

/* What term t differences along an axis, at v as a neighbour of `own`. */
LINE_INLINE cpu_vector general_value(const cpu_task *task, int t, int along, const operation_values *own,
                                     const operation_values *v) {
  const operation_term *term = &task->way.of->term[t];
  if (term->of == DIFFERENCE_PAIR) return operation_pair(task->way.kind, task->options, t, along, own, v);
  const cpu_vector value = value_input(v, term->along[along]);
  if (!term->product || term->of == DIFFERENCE_DAMPING) return value;
  return value_velocity(v, along) * value;
}

/* ---- Damping ---- */

/* The lanes whose flux lies in the grid with all points that it reads. `first`: the index of lane 0. */
LINE_INLINE cpu_lane_integers flux_inside(const cpu_task *task, int along, int first) {
  const layer_ends *e = &task->layer->ends->of;
  const cpu_lane_integers none = {0}, lanes = along == AXIS_X ? lanes_make() : none;
  const int low = task->job->frame.before - first - e->start[along];
  const int high = e->last[along] - task->job->frame.after - first - e->start[along];
  return (lanes >= none + low) & (lanes <= none + high);
}

/* The scale of a damping: of the axis, and in its layers of the point. */
LINE_INLINE cpu_vector damping_scale(const cpu_task *task, int along, const operation_values *own,
                                     cpu_place p) {
  cpu_vector scale = task->job->frame.damping[along];
  if (!task->way.ends) return scale;
  const cpu_ends *ends = task->layer->ends;
  const int x = own->p[AXIS_X];
  if (along != AXIS_X) {
    const int row = layer_row_of(task->layer, along, along == AXIS_Y ? p.r : p.k);
    return task_closed(task, along) ? line_fill(ends->of.damping[along][row]) : scale;
  }
  if (line_in_layer(ends, x)) {
    const cpu_lane_integers lanes = lanes_make(), none = {0};
    if (x < ends->inside[0])
      scale = line_choose(lanes < none + (ends->inside[0] - x), columns_load(&ends->damping[0], x), scale);
    if (x + LINE > ends->inside[1])
      scale = line_choose(lanes >= none + (ends->inside[1] - x),
                          columns_load(&ends->damping[1], layer_column(ends, 1, x)), scale);
  }
  return scale;
}

/* The damping of term t; beside ends without the fluxes that would read beyond them. */
LINE_INLINE cpu_vector general_damping(const cpu_task *task, int t, int along, const operation_values *own,
                                       cpu_place p) {
  const cpu_frame *frame = &task->job->frame;
  const int bounded = task->way.ends && task->layer->ends->of.bounded[along];
  cpu_vector f[WIDTH], speed[STENCIL_TAPS + 1], flux[STENCIL_TAPS];
#pragma GCC unroll 9
  for (int j = 0; j < WIDTH; j++) {
    const operation_values v = general_beside(own, p, along, j - STENCIL_RADIUS);
    f[j] = general_value(task, t, along, own, &v);
    if (j >= 1 && j <= STENCIL_TAPS + 1)
      speed[j - 1] = operation_speed(task->way.kind, task->options, t, along, &v);
  }
#pragma GCC unroll 5
  for (int j = 0; j < STENCIL_TAPS; j++) {
    flux[j] = damping_flux(frame->taps, frame->share, f[j], f[j + 1], f[j + 2], f[j + 3], f[j + 4], speed[j],
                           speed[j + 1]);
    if (bounded)
      flux[j] = line_choose(flux_inside(task, along, own->p[along] + j - 2), flux[j], (cpu_vector){0});
  }
  return damping_sum(frame->taps, damping_scale(task, along, own, p), flux[0], flux[1], flux[2], flux[3],
                     flux[4]);
}

/* ---- Differences ---- */

/* The difference of term t along an axis by the stencil; of a chain, its pairs added to s. */
LINE_INLINE cpu_vector general_inside(const cpu_task *task, int t, int along, const operation_values *own,
                                      cpu_place p, cpu_vector s) {
  const cpu_frame *frame = &task->job->frame;
  const operation_difference of = task->way.of->term[t].of;
  cpu_vector n[WIDTH];
  const pass_coefficients c =
      coefficients_load(frame, of == DIFFERENCE_PAIR ? DIFFERENCE_FIRST : of, (axis)along);
#pragma GCC unroll 9
  for (int j = 0; j < WIDTH; j++) {
    const operation_values v = general_beside(own, p, along, j - STENCIL_RADIUS);
    n[j] = general_value(task, t, along, own, &v);
  }
  if (of == DIFFERENCE_PAIR) return first_derivative(c.c, n[0], n[1], n[2], n[3], n[5], n[6], n[7], n[8]);
  return pass_difference(task, t, &c, s, n);
}

/* The same by rows of the closure at an end: lane i of a line of x has row `row` + i, that of others `row`.
 */
LINE_INLINE cpu_vector general_closed(const cpu_task *task, int t, int along, int high, int row,
                                      const operation_values *own) {
  const cpu_ends *ends = task->layer->ends;
  const operation_difference of = task->way.of->term[t].of;
  const int rows = of == DIFFERENCE_PAIR ? DIFFERENCE_FIRST : (int)of;
  const real *c = along == AXIS_X ? NULL : layer_coefficients(&ends->of, along, high, rows, row);
  const cpu_vector centre = general_value(task, t, along, own, own);
  cpu_vector sum = {0};
#pragma GCC unroll 1
  for (int j = 0; j < ends->of.width; j++) {
    const operation_values v = general_inwards(own, along, high, j);
    const cpu_vector weight =
        along == AXIS_X ? columns_load(&ends->row[rows][high][j], row) : line_fill(c[j]);
    sum = closure_add(sum, weight, general_value(task, t, along, own, &v), centre);
  }
  return sum;
}

/* The difference of term t along an axis; of a chain, added to s. */
LINE_INLINE cpu_vector general_difference(const cpu_task *task, int t, int along, const operation_values *own,
                                          cpu_place p, cpu_vector s) {
  if (task->way.of->term[t].of == DIFFERENCE_DAMPING) return general_damping(task, t, along, own, p);
  if (along != AXIS_X && task_closed(task, along)) {
    const cpu_layer *layer = task->layer;
    const int i = along == AXIS_Y ? p.r : p.k;
    const int row = layer_row_of(layer, along, i);
    return closed_add(task, t, general_closed(task, t, along, layer->high[along], row, own), s);
  }
  const int x = own->p[AXIS_X];
  if (along != AXIS_X || !task->way.ends || !line_in_layer(task->layer->ends, x))
    return general_inside(task, t, along, own, p, s);
  const cpu_ends *ends = task->layer->ends;
  cpu_vector value = {0};
  if (!task_closes(task, x)) value = general_inside(task, t, along, own, p, s);
#pragma GCC unroll 1
  for (int high = 0; high < 2; high++) {
    if (high ? x + LINE <= ends->inside[1] : x >= ends->inside[0]) continue;
    const cpu_vector closed = general_closed(task, t, along, high, layer_column(ends, high, x), own);
    const cpu_lane_integers lanes = lanes_make(), none = {0};
    const cpu_lane_integers here =
        high ? lanes >= none + (ends->inside[1] - x) : lanes < none + (ends->inside[0] - x);
    value = line_choose(here, closed, value);
  }
  return value;
}

/* ---- Terms ---- */

LINE_PASS cpu_vector general_term(const cpu_task *task, int t, cpu_place p) {
  const operation *o = task->way.of;
  const operation_term *term = &o->term[t];
  const operation_values own = general_own(task, p);
  cpu_vector d[3] = {{0}, {0}, {0}}, sum = {0};
  int count = 0;
#pragma GCC unroll 3
  for (int along = 0; along < 3; along++) {
    if (term->along[along] == OPERATION_NONE) continue;
    d[along] = general_difference(task, t, along, &own, p, sum);
    if (term->fold != FOLD_CHAIN && count++ > 0) {
      sum = sum + d[along];
    } else {
      sum = d[along];
    }
  }
  if (term->fold == FOLD_CHAIN)
    return line_fma(chain_centre(task, p), value_input(&own, term->along[AXIS_X]), sum);
  if (!term_is_weighted(o, t)) return sum;
  return advective(factor_line(task, t, 0, p), factor_line(task, t, 1, p), factor_line(task, t, 2, p), d[0],
                   d[1], d[2]);
}

/* All terms of a bundle, in ascending order at each line. */
LINE_PASS void general_run(const cpu_task *task) {
  const cpu_bundle *bundle = task->bundle;
  for (int k = 0; k < task->planes; k++) {
    for (int r = 0; r < bundle->rows; r++) {
      for (int b = 0; b < task_lines(task); b++) {
        const cpu_place p = {
            k, r, b, bundle->row[STENCIL_RADIUS + r] + k * bundle->frame->plane + task_offset(task, b)};
#pragma GCC unroll 9
        for (int t = 0; t < WAY_TERMS; t++) {
          if (operation_has(task->way.of, t) && (task->job->terms >> t & 1U))
            term_complete(task, t, p, general_term(task, t, p));
        }
      }
    }
  }
}

#endif
