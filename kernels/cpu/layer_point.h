#ifndef FDAPP_CPU_LAYER_POINT_H
#define FDAPP_CPU_LAYER_POINT_H

/* An operation at one point of a layer. Along axes in whose layer the point lies, differences are rows of a
 * closure (closure_add); along the others they are the interior ones. Included after arithmetic.h, with
 * `number` a single point. */

#include "layer_ends.h"
#include "operations.h"

typedef struct layer_work {
  layer_ends ends;
  layers all;
  unsigned terms; /* mask of the terms in use */
  unsigned options;
  const real *in[OPERATION_INPUTS]; /* point (0, 0, 0) */
  real *out[OPERATION_OUTPUTS];     /* NULL: not written */
  const real *table[3];
  ptrdiff_t pitch; /* of the tables along x */
  int wraps[3];    /* 1: a whole periodic axis, so neighbours beyond its ends are images */
  real first[3][STENCIL_RADIUS], second[3][STENCIL_RADIUS + 1], dissipation[3][STENCIL_RADIUS];
  real uniform[3], scalar[OPERATION_SCALARS];
} layer_work;

struct operation_point {
  const layer_work *w;
  ptrdiff_t at;
  number term[OPERATION_TERMS];
};

ARITHMETIC number point_input(const operation_point *at, int input) {
  return at->w->in[input][at->at];
}

ARITHMETIC number point_term(const operation_point *at, int term) {
  return at->term[term];
}

ARITHMETIC number point_scalar(const operation_point *at, int scalar) {
  return at->w->scalar[scalar];
}

ARITHMETIC number layer_velocity(const operation *of, const layer_work *w, int d, const int p[3]) {
  if (of->velocity == VELOCITY_STORED) return w->in[of->velocity_input + d][layer_element(&w->ends, p)];
  if (of->velocity != VELOCITY_TABLES) return w->uniform[d];
  const real *y = w->table[AXIS_Y] + (ptrdiff_t)p[1] * KERNELS_TABLE;
  const real *z = w->table[AXIS_Z] + (ptrdiff_t)p[2] * KERNELS_TABLE;
  return table_velocity(w->table[AXIS_X][d * w->pitch + p[0]], y[d] * z[d], y[3 + d] + z[3 + d]);
}

/* The value that term t differences along axis d, read at element `there`, which is `offset` points from p. A
 * flux is multiplied by the velocity there. */
ARITHMETIC number layer_product(const operation *of, int t, const layer_work *w, int d, const int p[3],
                                int offset, ptrdiff_t there) {
  const number value = w->in[of->term[t].along[d]][there];
  if (!of->term[t].product) return value;
  int q[3] = {p[0], p[1], p[2]};
  q[d] += offset;
  return layer_velocity(of, w, d, q) * value;
}

/* The same for the point `offset` points from p, or its periodic image if the axis wraps. */
ARITHMETIC number layer_value(const operation *of, int t, const layer_work *w, int d, const int p[3],
                              ptrdiff_t at, int offset) {
  const int q = p[d] + offset;
  if (w->wraps[d] && q < 0) offset += w->ends.n[d];
  if (w->wraps[d] && q >= w->ends.n[d]) offset -= w->ends.n[d];
  return layer_product(of, t, w, d, p, offset, at + offset * w->ends.step[d]);
}

ARITHMETIC number layer_closed(const operation *of, int t, const layer_work *w, int d, const int p[3],
                               ptrdiff_t at, int row, int high) {
  const real *c = layer_coefficients(&w->ends, d, high, (int)of->term[t].of, row);
  const int inwards = high ? -1 : 1;
  const number centre = layer_product(of, t, w, d, p, 0, at);
  const ptrdiff_t step = inwards * w->ends.step[d];
  ptrdiff_t there = at - row * step;
  number sum = 0;
  for (int j = 0; j < w->ends.width; j++, there += step) {
    sum = closure_add(sum, c[j], layer_product(of, t, w, d, p, (j - row) * inwards, there), centre);
  }
  return sum;
}

ARITHMETIC number layer_difference(const operation *of, int t, const layer_work *w, int d, const int p[3],
                                   ptrdiff_t at) {
  int high;
  const int row = layer_row(&w->ends, d, p[d], &high);
  if (row >= 0) return layer_closed(of, t, w, d, p, at, row, high);
  number v[2 * STENCIL_RADIUS + 1];
  LAYER_UNROLL
  for (int k = 0; k <= 2 * STENCIL_RADIUS; k++) v[k] = layer_value(of, t, w, d, p, at, k - STENCIL_RADIUS);
  if (of->term[t].of == DIFFERENCE_FIRST)
    return first_derivative(w->first[d], v[0], v[1], v[2], v[3], v[5], v[6], v[7], v[8]);
  if (of->term[t].of == DIFFERENCE_SECOND)
    return second_derivative(w->second[d], v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8]);
  return even_difference(w->dissipation[d], v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8]);
}

/* Second differences along all axes. Along an axis with a closure its row replaces the pairs. */
ARITHMETIC number layer_chain(const operation *of, int t, const layer_work *w, const int p[3], ptrdiff_t at) {
  number sum = 0;
  int inside = 0;
  LAYER_UNROLL
  for (int d = 0; d < 3; d++) {
    int high;
    const int row = layer_row(&w->ends, d, p[d], &high);
    if (row >= 0) {
      sum = sum + layer_closed(of, t, w, d, p, at, row, high);
    } else {
      number v[2 * STENCIL_RADIUS + 1];
      LAYER_UNROLL
      for (int k = 0; k <= 2 * STENCIL_RADIUS; k++)
        v[k] = layer_value(of, t, w, d, p, at, k - STENCIL_RADIUS);
      sum = second_pairs(w->second[d], sum, v[0], v[1], v[2], v[3], v[5], v[6], v[7], v[8]);
      inside |= 1 << d;
    }
  }
  return NUMBER_FMA(w->ends.centre[inside], layer_product(of, t, w, 0, p, 0, at), sum);
}

ARITHMETIC number layer_term(const operation *of, int t, const layer_work *w, const int p[3], ptrdiff_t at) {
  const operation_term *term = &of->term[t];
  if (term->fold == FOLD_CHAIN) return layer_chain(of, t, w, p, at);
  number part[3] = {0, 0, 0}, c[3] = {0, 0, 0};
  int axes = 0, last = 0;
  LAYER_UNROLL
  for (int d = 0; d < 3; d++) {
    if (term->along[d] == OPERATION_NONE) continue;
    part[d] = layer_difference(of, t, w, d, p, at);
    axes++;
    last = d;
    if (term->fold == FOLD_SUM) continue;
    c[d] = layer_velocity(of, w, d, p);
    if (term->fold == FOLD_SPEED) c[d] = NUMBER_ABS(c[d]);
  }
  if (term->fold != FOLD_SUM) return advective(c[0], c[1], c[2], part[0], part[1], part[2]);
  if (axes == 3) return divergence_sum(part[0], part[1], part[2]);
  if (axes == 2) return divergence_xy(term->along[0] != OPERATION_NONE ? part[0] : part[1], part[last]);
  return part[last];
}

/* Coordinates of layer point number i. */
ARITHMETIC void layer_place(const layer_work *w, ptrdiff_t i, int p[3]) {
  int b = 0;
  while (b + 1 < w->all.count && i >= w->all.box[b + 1].first) b++;
  const layers_box *box = &w->all.box[b];
  const ptrdiff_t in_box = i - box->first;
  const unsigned row = (unsigned)(in_box / box->extent[0]), rows = (unsigned)box->extent[1];
  p[0] = box->origin[0] + (int)(in_box - (ptrdiff_t)row * box->extent[0]);
  p[1] = box->origin[1] + (int)(row % rows);
  p[2] = box->origin[2] + (int)(row / rows);
}

ARITHMETIC void layer_compute(const operation *of, operation_kind kind, const layer_work *w, ptrdiff_t i) {
  int p[3];
  layer_place(w, i, p);
  operation_point point;
  point.w = w;
  point.at = layer_element(&w->ends, p);
  LAYER_UNROLL
  for (int t = 0; t < OPERATION_TERMS; t++)
    point.term[t] = operation_has(of, t) && (w->terms >> t & 1U) ? layer_term(of, t, w, p, point.at) : 0;
  number velocity[3];
  LAYER_UNROLL
  for (int d = 0; d < 3; d++) {
    int high;
    velocity[d] =
        w->ends.enters && layer_row(&w->ends, d, p[d], &high) == 0 ? layer_velocity(of, w, d, p) : 0;
  }
  real *const apart = w->ends.result;
  LAYER_UNROLL
  for (int k = 0; k < OPERATION_OUTPUTS; k++) {
    if (!operation_stores(of, k) || w->out[k] == NULL) continue;
    number result = operation_finish(kind, w->options, k, &point);
    if (k == 0 && w->ends.enters) result = layer_enter(&w->ends, p, velocity, w->in[0], result);
    if (w->ends.couples) result = layer_couple(&w->ends, p, of->outputs, k, result);
    *(apart != NULL ? &apart[k * w->all.points + i] : &w->out[k][point.at]) = result;
  }
}

ARITHMETIC void layer_store(const layer_work *w, ptrdiff_t i) {
  int p[3];
  layer_place(w, i, p);
  const ptrdiff_t at = layer_element(&w->ends, p);
  for (int k = 0; k < OPERATION_OUTPUTS; k++)
    if (w->out[k] != NULL) w->out[k][at] = w->ends.result[k * w->all.points + i];
}

static inline void layer_work_stencil(const stencil *stencil, layer_work *w) {
  for (int d = 0; d < 3; d++) {
    for (int k = 0; k < STENCIL_RADIUS; k++) {
      w->first[d][k] = (real)stencil->first[d][k];
      w->dissipation[d][k] = (real)stencil->dissipation[d][k];
    }
    for (int k = 0; k <= STENCIL_RADIUS; k++) w->second[d][k] = (real)stencil->second[d][k];
  }
}

/* Fills the data that all points of a launch share. */
static inline void layer_work_make(const kernels_launch *launch, const kernels_call *call,
                                   const kernels_ends *ends, const kernels_inflow *inflow,
                                   const kernels_coupling *coupling, layer_work *w) {
  const operation of = operation_describe(call->kind, call->options);
  const ptrdiff_t first = KERNELS_HALO * launch->shape.plane;
  layer_ends_make(launch, ends, inflow, coupling, &w->ends);
  layer_work_stencil(launch->stencil, w);
  w->all = layers_make(launch, ends);
  w->pitch = launch->shape.ldx + 2 * KERNELS_TABLE_SIDE;
  for (int d = 0; d < 3; d++) w->wraps[d] = !ends->bounded[d] && (d != AXIS_Z || launch->shape.whole);
  w->terms = of.terms;
  w->options = call->options;
  for (int i = 0; i < OPERATION_INPUTS; i++)
    w->in[i] = (of.inputs >> i & 1U) ? (const real *)call->in[i] + first : NULL;
  for (int k = 0; k < OPERATION_OUTPUTS; k++)
    w->out[k] = operation_stores(&of, k) ? (real *)call->out[k] + first : NULL;
  w->table[0] = (const real *)call->tables.x;
  w->table[1] = (const real *)call->tables.y;
  w->table[2] = (const real *)call->tables.z;
  for (int d = 0; d < 3; d++) w->uniform[d] = (real)call->uniform[d];
  for (int i = 0; i < OPERATION_SCALARS; i++) w->scalar[i] = (real)call->scalar[i];
}

#endif
