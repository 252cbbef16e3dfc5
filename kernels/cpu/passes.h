#ifndef FDAPP_KERNELS_CPU_PASSES_H
#define FDAPP_KERNELS_CPU_PASSES_H

/* An operation on a bundle, from its declaration. One pass goes through the bundle in x and y, another in z.
 * A loaded line serves all rows (or planes): three loads per result in y and z instead of nine. The part of a
 * term from the pass in x and y waits in scratch lines; the pass in z completes the term. The last term that
 * an output needs completes that output, too. */

#include "closed.h"

/* ---- Differences folded into a term ---- */

/* Component d of the velocity at p. */
LINE_INLINE cpu_vector velocity_line(const cpu_task *task, int d, cpu_place p) {
  const operation *o = task->way.of;
  if (o->velocity == VELOCITY_UNIFORM) return task->job->uniform[d];
  if (o->velocity == VELOCITY_TABLES) {
    return formula_line(&task->work->formula, (axis)d, STENCIL_RADIUS + p.k, STENCIL_RADIUS + p.r,
                        task_column(task, p.b));
  }
  const real *component = task->job->in[o->velocity_input + d];
  bundle_ahead(task->bundle, component, p);
  return line_load(component + p.at);
}

LINE_INLINE cpu_vector factor_line(const cpu_task *task, int t, int d, cpu_place p) {
  const cpu_vector component = velocity_line(task, d, p);
  return task->way.of->term[t].fold == FOLD_SPEED ? line_abs(component) : component;
}

LINE_INLINE int term_is_weighted(const operation *o, int t) {
  return o->term[t].fold == FOLD_VELOCITY || o->term[t].fold == FOLD_SPEED;
}

/* Stores the part in x and y until the pass in z, or completes the term if it has no difference in z. */
LINE_INLINE void term_begin(const cpu_task *task, int t, cpu_place p, cpu_vector part) {
  if (term_along(task->way.of, t, AXIS_Z)) {
    *scratch_line(&task->work->term[t], p) = part;
  } else {
    term_complete(task, t, p, part);
  }
}

/* dx and dy of a term, as one number. */
LINE_INLINE cpu_vector fold_xy(const cpu_task *task, int t, cpu_place p, cpu_vector dx, cpu_vector dy) {
  const operation *o = task->way.of;
  if (o->term[t].fold == FOLD_CHAIN) return dy; /* both axes' pairs are in one sum */
  if (!term_is_weighted(o, t)) return divergence_xy(dx, dy);
  return advective_xy(factor_line(task, t, 0, p), factor_line(task, t, 1, p), dx, dy);
}

/* Handles the differences of a pass in x and y. tx, ty: the terms that they belong to, or -1. */
LINE_INLINE void pass_xy_found(const cpu_task *task, int tx, int ty, cpu_place p, cpu_vector dx,
                               cpu_vector dy) {
  if (tx >= 0) term_begin(task, tx, p, tx == ty ? fold_xy(task, tx, p, dx, dy) : dx);
  if (ty >= 0 && ty != tx) term_begin(task, ty, p, dy);
}

LINE_INLINE void pass_z_found(const cpu_task *task, int t, cpu_place p, cpu_vector dz) {
  const operation *o = task->way.of;
  cpu_vector value = dz;
  if (o->term[t].fold == FOLD_CHAIN) {
    value = line_fma(chain_centre(task, p), line_load(task->job->in[o->term[t].along[AXIS_Z]] + p.at), dz);
  } else if (term_is_weighted(o, t)) {
    value = advective_add_z(*scratch_line(&task->work->term[t], p), factor_line(task, t, 2, p), dz);
  } else if (term_along(o, t, AXIS_X) || term_along(o, t, AXIS_Y)) {
    value = divergence_add_z(*scratch_line(&task->work->term[t], p), dz);
  }
  term_complete(task, t, p, value);
}

/* ---- Passes ---- */

/* Coefficients in registers; from memory each would cost a load per line. */
typedef struct pass_coefficients {
  cpu_vector c[STENCIL_RADIUS + 1];
} pass_coefficients;

LINE_INLINE pass_coefficients coefficients_load(const cpu_frame *frame, operation_difference of,
                                                axis direction) {
  pass_coefficients coefficients;
  for (int k = 0; k < STENCIL_RADIUS + (of == DIFFERENCE_SECOND); k++) {
    coefficients.c[k] = of == DIFFERENCE_FIRST    ? frame->first[direction][k]
                        : of == DIFFERENCE_SECOND ? frame->second[direction][k]
                                                  : frame->dissipation[direction][k];
  }
  return coefficients;
}

/* The difference of term t at the middle of nine lines; of a chain, the pairs added to s. */
LINE_INLINE cpu_vector pass_difference(const cpu_task *task, int t, const pass_coefficients *coefficients,
                                       cpu_vector s, const cpu_vector *n) {
  const cpu_vector *c = coefficients->c;
  const operation_term *term = &task->way.of->term[t];
  if (task->way.part == PART_LOAD) return n[STENCIL_RADIUS];
  if (task->way.part == PART_HALOS) return n[0] + n[WIDTH - 1];
  if (term->fold == FOLD_CHAIN) return second_pairs(c, s, n[0], n[1], n[2], n[3], n[5], n[6], n[7], n[8]);
  if (term->of == DIFFERENCE_SECOND)
    return second_derivative(c, n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7], n[8]);
  if (term->of == DIFFERENCE_FIRST)
    return first_derivative(c, n[0], n[1], n[2], n[3], n[5], n[6], n[7], n[8]);
  return even_difference(c, n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7], n[8]);
}

/* The input that term t differences along an axis. */
LINE_INLINE cpu_operand operand_make(const cpu_task *task, int t, int axis) {
  const operation *o = task->way.of;
  cpu_operand operand = {.f = task->job->in[o->term[t].along[axis]], .component = (enum axis)axis};
  if (o->term[t].product && o->velocity == VELOCITY_TABLES) operand.formula = &task->work->formula;
  if (o->term[t].product && o->velocity == VELOCITY_STORED)
    operand.g = task->job->in[o->velocity_input + axis];
  return operand;
}

/* The array in which an input is prefetched where the operation first reads it. */
LINE_INLINE const real *input_ahead(const cpu_task *task, int input) {
  const operation *o = task->way.of;
  const cpu_frame *frame = &task->job->frame;
  const ptrdiff_t reach = operation_differences(o, input, AXIS_Z)   ? frame->plane
                          : operation_differences(o, input, AXIS_Y) ? frame->row
                                                                    : 0;
  return task->job->in[input] + STENCIL_RADIUS * reach;
}

/* The array to prefetch for this axis, NULL for none. Each input is prefetched once. Along y, if x has
 * prefetched the same input, the first input that is read at the point alone takes its place. */
LINE_INLINE const real *operand_asks(const cpu_task *task, const int terms[3], int axis) {
  const operation *o = task->way.of;
  const operation_term *term = &o->term[terms[axis]];
  int again = 0;
  for (int other = 0; other < axis; other++)
    again |= terms[other] >= 0 && o->term[terms[other]].along[other] == term->along[axis];
  if (!again) return input_ahead(task, term->along[axis]);
  if (axis == AXIS_Z && term->product && o->velocity == VELOCITY_STORED)
    return input_ahead(task, o->velocity_input + axis);
  const unsigned alone = task->alone;
  return axis == AXIS_Y && alone != 0 ? task->job->in[__builtin_ctz(alone)] : NULL;
}

/* A pass in x and y, for the terms that have differences along them. */
typedef struct pass_xy {
  int tx, ty;
  cpu_operand x, y;
  pass_coefficients cx, cy;
  const real *rows; /* along y alone: the array to prefetch, and the steps from line to line and row to row */
  ptrdiff_t rows_line, rows_row;
} pass_xy;

/* Computes line b of plane k, on the bundle's rows from `first` on: one, or CPU_ROWS, of which the bundle may
 * lack the last ones if the line is of kind ANY. `rows` and `kind` are constants, because offsets from a
 * table cost more than counted ones. */
LINE_PASS void pass_xy_line(const cpu_task *task, const pass_xy *pass, int k, int b, int first, int rows,
                            int kind) {
  const cpu_bundle *bundle = task->bundle;
  const cpu_frame *frame = bundle->frame;
  const int column = task_column(task, b);
  const ptrdiff_t plane = k * frame->plane;
  const ptrdiff_t at = bundle->row[STENCIL_RADIUS + first] + plane + task_offset(task, b);
  const int images = kind == LINES_ANY;
  const int closed = images && pass->ty >= 0 && task_closed(task, AXIS_Y);
  const int layer_x = task->way.ends && (kind == LINES_WITHIN || line_in_layer(task->layer->ends, column));
  const int closed_x = pass->tx >= 0 && layer_x;
  cpu_vector m[WIDTH], n[CPU_ROWS + WIDTH - 1];
  cpu_lane_integers inside = {0};
  if (closed_x) inside = lanes_inside(task, b);
#pragma GCC unroll 12
  for (int j = 0; j < rows + WIDTH - 1; j++) {
    const ptrdiff_t from = images ? bundle->row[first + j] + plane + task_offset(task, b)
                                  : at + (j - STENCIL_RADIUS) * frame->row;
    if (closed) {
      n[j] = (cpu_vector){0};
    } else if (pass->ty >= 0) {
      n[j] = operand_line(pass->y, from, STENCIL_RADIUS + k, first + j, column);
    }
  }
#pragma GCC unroll 4
  for (int i = 0; i < rows; i++) {
    if (kind == LINES_ANY && first + i >= bundle->rows) break;
    const cpu_place p = {k, first + i, b, at + i * frame->row};
    cpu_vector dx = {0}, dy = {0};
    if (pass->tx >= 0) {
      if (!task_closes(task, column)) {
        operand_neighbours(m, frame, pass->x, p.at - column, STENCIL_RADIUS + k, STENCIL_RADIUS + first + i,
                           column, kind);
        dx = pass_difference(task, pass->tx, &pass->cx, (cpu_vector){0}, m);
      }
      if (closed_x) dx = line_choose(inside, dx, task->work->closed[AXIS_X][b][first + i]);
      operand_ahead(bundle, pass->x, p);
    }
    if (pass->ty >= 0) {
      if (closed) {
        dy = closed_add(task, pass->ty, task->work->closed[AXIS_Y][b][i], dx);
      } else {
        dy = pass_difference(task, pass->ty, &pass->cy, dx, n + i);
      }
      if (pass->tx >= 0) operand_ahead(bundle, pass->y, p);
      if (pass->tx < 0) line_ahead(pass->rows + p.b * pass->rows_line + p.r * pass->rows_row);
    }
    pass_xy_found(task, pass->tx, pass->ty, p, dx, dy);
  }
}

/* Computes the differences of term t along an axis that are rows of closures, for a strip (cpu_closing). */
LINE_INLINE void pass_close(const cpu_task *task, int t, axis along, int k, int r, int count) {
  const cpu_bundle *bundle = task->bundle;
  const ptrdiff_t at = bundle->row[STENCIL_RADIUS + r] + k * bundle->frame->plane;
  const cpu_closing closing = closing_make(task, t, along, (cpu_place){k, r, 0, at}, count);
  if (along == AXIS_X) {
    closed_lines(closing, task->work->closed[along]);
  } else {
    closed_rows(closing, task->work->closed[along]);
  }
}

LINE_PASS void pass_xy_close(const cpu_task *task, const pass_xy *pass, int k) {
  const int rows = task->bundle->rows;
  if (!task->way.ends) return;
  if (pass->tx >= 0 && task->layer->ends->of.bounded[AXIS_X]) pass_close(task, pass->tx, AXIS_X, k, 0, rows);
  if (pass->ty >= 0 && task_closed(task, AXIS_Y)) pass_close(task, pass->ty, AXIS_Y, k, 0, rows);
}

/* Lines with periodic images are computed separately, so that the common path needs fewer registers. Ways
 * with ends take the offsets of all lines from the bundle, as those with images do, except for bundles beside
 * ends of x alone: without tests for the other axes these take a tenth less (single precision, 128^3). */
LINE_PASS void pass_xy_lines(const cpu_task *task, const pass_xy *pass, int k, int first, int rows) {
  const cpu_bundle *bundle = task->bundle;
  const int usual = task->way.ends ? LINES_WITHIN : LINES_PLAIN;
  const int any = task->way.ends ? !task->layer->within : pass->ty >= 0 && bundle->images;
  for (int b = 0; b < task_lines(task); b++) {
    const int edge = !task->way.ends && pass->tx >= 0 && line_at_edge(bundle->frame, task_column(task, b));
    if (__builtin_expect(any || edge, 0)) {
      pass_xy_line(task, pass, k, b, first, rows, LINES_ANY);
    } else {
      pass_xy_line(task, pass, k, b, first, rows, usual);
    }
  }
}

/* For a pass along y alone, on bundles of one plane. If a strip is whole rows, the next bundle is prefetched
 * row after row, in the order of memory, not line by line across rows. This saves d/dy up to a fifth of its
 * time, and others nothing (docs/explanation/performance.md, "Prefetches"). */
LINE_INLINE void pass_xy_rows_ahead(const cpu_bundle *bundle, pass_xy *pass) {
  const int whole = bundle->patch->lines * LINE >= bundle->frame->nx;
  pass->rows = pass->y.ahead + bundle->row[STENCIL_RADIUS] + bundle->patch->x0 + bundle->ahead;
  pass->rows_line = whole ? CPU_ROWS * LINE : LINE;
  pass->rows_row = whole ? LINE : bundle->frame->row;
}

LINE_PASS void pass_xy_run(const cpu_task *task, const int terms[3]) {
  const int tx = terms[AXIS_X], ty = terms[AXIS_Y];
  const operation_term *term = task->way.of->term;
  if (tx < 0 && ty < 0) return;
  pass_xy pass = {.tx = tx, .ty = ty};
  if (tx >= 0) {
    pass.x = operand_make(task, tx, AXIS_X);
    pass.x.ahead = operand_asks(task, terms, AXIS_X);
    pass.cx = coefficients_load(task->bundle->frame, term[tx].of, AXIS_X);
  }
  if (ty >= 0) {
    pass.y = operand_make(task, ty, AXIS_Y);
    pass.y.ahead = operand_asks(task, terms, AXIS_Y);
    pass.cy = coefficients_load(task->bundle->frame, term[ty].of, AXIS_Y);
    if (tx < 0) pass_xy_rows_ahead(task->bundle, &pass);
  }
  for (int k = 0; k < task->planes; k++) {
    pass_xy_close(task, &pass, k);
    for (int r = 0; r < (ty >= 0 ? 1 : task->bundle->rows); r++)
      pass_xy_lines(task, &pass, k, r, ty >= 0 ? CPU_ROWS : 1);
  }
}

/* Without images (a constant), the bundle has CPU_PLANES consecutive planes. Ways with ends are compiled with
 * images alone. */
LINE_PASS void pass_z_planes(const cpu_task *task, int t, cpu_operand z, int images) {
  const cpu_bundle *bundle = task->bundle;
  const ptrdiff_t plane = bundle->frame->plane;
  const pass_coefficients coefficients = coefficients_load(bundle->frame, task->way.of->term[t].of, AXIS_Z);
  const int closed = images && task_closed(task, AXIS_Z);
  for (int r = 0; r < bundle->rows; r++) {
    if (closed) pass_close(task, t, AXIS_Z, 0, r, task->planes);
    for (int b = 0; b < task_lines(task); b++) {
      const int column = task_column(task, b);
      const ptrdiff_t at = bundle->row[STENCIL_RADIUS + r] + task_offset(task, b);
      cpu_vector n[CPU_PLANES + WIDTH - 1];
#pragma GCC unroll 12
      for (int j = 0; j < CPU_PLANES + WIDTH - 1; j++) {
        const ptrdiff_t up = images ? bundle->column->plane[j] : (j - STENCIL_RADIUS) * plane;
        if (closed) {
          n[j] = (cpu_vector){0};
        } else {
          n[j] = operand_line(z, at + up, j, STENCIL_RADIUS + r, column);
        }
      }
#pragma GCC unroll 4
      for (int k = 0; k < CPU_PLANES; k++) {
        if (images && k >= task->planes) break;
        const cpu_place p = {k, r, b, at + k * plane};
        operand_ahead(bundle, z, p);
        const int chain = task->way.of->term[t].fold == FOLD_CHAIN;
        const cpu_vector s = chain ? *scratch_line(&task->work->term[t], p) : (cpu_vector){0};
        if (closed) {
          pass_z_found(task, t, p, closed_add(task, t, task->work->closed[AXIS_Z][b][k], s));
        } else {
          pass_z_found(task, t, p, pass_difference(task, t, &coefficients, s, n + k));
        }
      }
    }
  }
}

LINE_PASS void pass_z_run(const cpu_task *task, const int terms[3]) {
  const int t = terms[AXIS_Z];
  if (t < 0) return;
  cpu_operand z = operand_make(task, t, AXIS_Z);
  z.ahead = operand_asks(task, terms, AXIS_Z);
  const int images = task->way.ends || task->bundle->column->images;
  if (__builtin_expect(images, 0)) {
    pass_z_planes(task, t, z, 1);
  } else {
    pass_z_planes(task, t, z, 0);
  }
}

/* Runs both passes of term t and of the terms that join it; nothing if t has joined another term. */
LINE_PASS void passes_run(const cpu_task *task, int t) {
  const operation *o = task->way.of;
  if (!operation_has(o, t) || term_joins(o, t) || !(task->job->terms >> t & 1U)) return;
  const int last = !term_joins(o, t + 1) ? t : !term_joins(o, t + 2) ? t + 1 : t + 2;
  int terms[3];
  for (int axis = 0; axis < 3; axis++) {
    terms[axis] = term_along(o, t, axis)                       ? t
                  : last > t && term_along(o, t + 1, axis)     ? t + 1
                  : last > t + 1 && term_along(o, t + 2, axis) ? t + 2
                                                               : -1;
  }
  pass_xy_run(task, terms);
  pass_z_run(task, terms);
}

/* For operations without terms. The bundle may have any number of rows. */
LINE_PASS void pass_points(const cpu_task *task) {
  const cpu_bundle *bundle = task->bundle;
  for (int k = 0; k < task->planes; k++) {
    for (int r = 0; r < bundle->rows; r++) {
      const ptrdiff_t at = bundle->row[STENCIL_RADIUS] + r * bundle->frame->row + k * bundle->frame->plane;
      for (int b = 0; b < task_lines(task); b++)
        term_complete(task, -1, (cpu_place){k, r % CPU_ROWS, b, at + task_offset(task, b)}, (cpu_vector){0});
    }
  }
}

#endif
