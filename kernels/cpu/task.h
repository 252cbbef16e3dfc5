#ifndef FDAPP_KERNELS_CPU_TASK_H
#define FDAPP_KERNELS_CPU_TASK_H

/* The execution of an operation on a bundle: its declaration, the call's arrays and numbers, scratch lines,
 * and the handling of completed terms. Everything is inlined into one function per way of an operation
 * (way.h), where the declaration is a constant. So loops over terms, and tests of their properties, are
 * resolved by the compiler. */

#include "ends.h"
#include "operation_traits.h"
#include "ways.h"

/* A way of an operation, with its constant options, and the declaration with all additions. */
typedef struct cpu_way {
  const operation *of;
  operation_kind kind;
  unsigned options;
  kernels_part part;
  int ends; /* 1: for grids with ends */
} cpu_way;

typedef struct cpu_work {
  cpu_scratch term[WAY_TERMS]; /* first the part in x and y, then the whole term */
  cpu_output out[WAY_OUTPUTS];
  cpu_formula formula;
  cpu_vector closed[3][STRIP]
                   [CPU_ROWS]; /* differences of a strip by rows of closures (closed.h), along each axis */
} cpu_work;

/* The data that all lines of a bundle share. */
typedef struct cpu_task {
  cpu_way way;
  const cpu_job *job;
  const cpu_bundle *bundle;
  cpu_work *work;
  int planes;
  const cpu_layer *layer; /* NULL without ends */
  unsigned options;       /* the call's */
  unsigned alone;         /* mask of the inputs that are read at the point and nowhere else */
} cpu_task;

/* Number of the bundle's lines. */
LINE_INLINE int task_lines(const cpu_task *task) {
  return task->way.ends ? task->layer->lines : task->bundle->patch->lines;
}

/* The column of line b of the bundle. */
LINE_INLINE int task_column(const cpu_task *task, int b) {
  return task->way.ends ? task->layer->line->x[b] : task->bundle->patch->x0 + b * LINE;
}

/* Offset of line b from column 0 of the bundle's first row. */
LINE_INLINE ptrdiff_t task_offset(const cpu_task *task, int b) {
  return task->way.ends ? task->layer->line->at[b] : task->bundle->patch->x0 + b * LINE;
}

/* ---- Properties of a declaration ---- */

LINE_INLINE int term_along(const operation *o, int t, int axis) {
  return t >= 0 && t < WAY_TERMS && operation_has(o, t) && o->term[t].along[axis] != OPERATION_NONE;
}

/* The axis of a term that is a single difference, or -1. */
LINE_INLINE int term_only_axis(const operation *o, int t) {
  const int x = term_along(o, t, AXIS_X), y = term_along(o, t, AXIS_Y), z = term_along(o, t, AXIS_Z);
  if (x + y + z != 1 || o->term[t].fold != FOLD_SUM || o->term[t].product) return -1;
  return x ? AXIS_X : y ? AXIS_Y : AXIS_Z;
}

/* Returns 1 if term t is computed in the pass of the one before it: single differences along further axes, as
 * in a gradient. */
LINE_INLINE int term_joins(const operation *o, int t) {
  if (t <= 0 || t >= WAY_TERMS) return 0;
  const int before = term_only_axis(o, t - 1), axis = term_only_axis(o, t);
  return before >= 0 && axis > before && o->term[t].of == o->term[t - 1].of;
}

/* The options of a call: those of its way, and the additions that the way may have. */
LINE_INLINE unsigned options_of_call(const cpu_way *way, const cpu_job *job) {
  return way->options | (job->additions & operation_additions(way->kind, way->options));
}

/* Mask of the inputs that are read at the point and nowhere else. */
LINE_INLINE unsigned inputs_at_point_alone(const operation *o) {
  unsigned differenced = 0;
#pragma GCC unroll 9
  for (int t = 0; t < WAY_TERMS; t++) {
    for (int axis = 0; axis < 3; axis++)
      if (term_along(o, t, axis)) differenced |= OPERATION_BIT(o->term[t].along[axis]);
  }
  return operation_points(o) & ~differenced;
}

/* ---- A point: operations.h ---- */

struct operation_point {
  const cpu_task *task;
  cpu_place place;
  int term; /* the term just completed, and its value */
  cpu_vector value;
};

/* Loads an input at the point. The first one that is read at the point alone was prefetched by the pass in y;
 * the others are prefetched here. */
ARITHMETIC cpu_vector point_input(const operation_point *at, int input) {
  const unsigned alone = at->task->alone, later = alone & (alone - 1);
  const real *from = at->task->job->in[input];
  if (operation_terms(at->task->way.of) != 0 && (later >> input & 1U))
    bundle_ahead(at->task->bundle, from, at->place);
  return line_load(from + at->place.at);
}

ARITHMETIC cpu_vector point_term(const operation_point *at, int term) {
  return term == at->term ? at->value : *scratch_line(&at->task->work->term[term], at->place);
}

ARITHMETIC cpu_vector point_scalar(const operation_point *at, int scalar) {
  return at->task->job->scalar[scalar];
}

ARITHMETIC cpu_vector point_weight(const operation_point *at, int weight) {
  return at->task->job->weight[weight];
}

/* ---- Neighbours: the functions of terms in operations.h ---- */

/* What functions of terms read at: a line of points, or one point for all lanes. */
struct operation_values {
  const cpu_task *task;
  ptrdiff_t at; /* element of the first point */
  int p[3];     /* this point, in the slab; images lie outside */
  int one;      /* 1: it stands for all lanes */
  int shifted;  /* 1: along x, so some of the points may be images */
};

/* Loads a line at column x of a row that begins or ends in images. */
static __attribute__((noinline, unused)) void values_gather(const real *row, int x, int nx, real *line) {
  for (int i = 0; i < LINE; i++) line[i] = row[(x + i + nx) % nx];
}

LINE_INLINE cpu_vector values_line(const operation_values *v, const real *f) {
  const cpu_frame *frame = v->task->bundle->frame;
  const int x = v->p[AXIS_X];
  real line[LINE];
  if (v->one) return line_fill(f[v->at]);
  if (!v->shifted || (x >= 0 && x + LINE <= frame->nx)) return line_load(f + v->at);
  values_gather(f + v->at - x, x, frame->nx, line);
  return line_load(line);
}

/* Component d of a velocity from tables. These have images, and unused elements beyond (kernels_tables). */
LINE_INLINE cpu_vector values_formula(const operation_values *v, int d) {
  const cpu_job *job = v->task->job;
  const real *x = job->table[AXIS_X] + d * (job->frame.row + 2 * KERNELS_TABLE_SIDE) + v->p[AXIS_X];
  const real *y = job->table[AXIS_Y] + (ptrdiff_t)v->p[AXIS_Y] * KERNELS_TABLE;
  const real *z = job->table[AXIS_Z] + (ptrdiff_t)v->p[AXIS_Z] * KERNELS_TABLE;
  return table_velocity(v->one ? line_fill(*x) : line_load(x), line_fill(y[d] * z[d]),
                        line_fill(y[3 + d] + z[3 + d]));
}

ARITHMETIC cpu_vector value_input(const operation_values *at, int input) {
  return values_line(at, at->task->job->in[input]);
}

ARITHMETIC cpu_vector value_velocity(const operation_values *at, int axis) {
  const operation *o = at->task->way.of;
  if (o->velocity == VELOCITY_TABLES) return values_formula(at, axis);
  if (o->velocity == VELOCITY_STORED) return value_input(at, o->velocity_input + axis);
  return at->task->job->uniform[axis];
}

/* Returns 1 if output k needs term t and a later one. */
LINE_INLINE int output_waits(const operation *o, int k, int t) {
  return t >= 0 && (o->needs[k] >> t & 1U) && o->needs[k] >> t > 1U;
}

/* The same of any output after the first LEAN_OUTPUTS. */
LINE_INLINE int further_waits(const operation *o, int t) {
  int waits = 0;
#pragma GCC unroll 6
  for (int k = LEAN_OUTPUTS; k < WAY_OUTPUTS; k++) waits |= output_waits(o, k, t);
  return waits;
}

/* The same of any output. */
LINE_INLINE int term_waits(const operation *o, int t) {
  return output_waits(o, 0, t) || output_waits(o, 1, t) || output_waits(o, 2, t) ||
         (WAY_OUTPUTS > LEAN_OUTPUTS && further_waits(o, t));
}

/* Computes output k if this term completes it, and stores it, unless it waits for penalties. */
LINE_INLINE void output_complete(const cpu_task *task, const operation_point *at, int k) {
  const operation *o = task->way.of;
  const int last = o->needs[k] == 0 ? -1 : 31 - __builtin_clz(o->needs[k]);
  if (!operation_stores(o, k) || last != at->term) return;
  /* Few lines side by side are too short for the hardware's prefetcher. */
  if (task->way.ends) __builtin_prefetch(task->work->out[k].to + at->place.at + task->bundle->ahead, 1, 2);
  const cpu_vector value = operation_output(task->way.kind, task->options, operation_parts(o, task->options),
                                            operation_own(o), k, at);
  if (task->way.ends && k < LEAN_OUTPUTS && (task->layer->holds >> k & 1U)) {
    *scratch_line(&task->layer->held[k], at->place) = value;
  } else {
    bundle_store(task->bundle, &task->work->out[k], at->place, value);
  }
}

/* Called when term t has its value at p; t is -1 for operations without terms. */
LINE_INLINE void term_complete(const cpu_task *task, int t, cpu_place p, cpu_vector value) {
  const operation *o = task->way.of;
  const operation_point at = {task, p, t, value};
  if (term_waits(o, t)) *scratch_line(&task->work->term[t], p) = value;
#pragma GCC unroll 9
  for (int k = 0; k < WAY_OUTPUTS; k++) output_complete(task, &at, k);
}

#endif
