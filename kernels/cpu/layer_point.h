#ifndef FDAPP_CPU_LAYER_POINT_H
#define FDAPP_CPU_LAYER_POINT_H

/* An operation at one point of a layer. Along axes in whose layer the point lies, differences are rows of a
 * closure (closure_add); along the others they are the interior ones. Included after arithmetic.h, with
 * `number` a single point. */

#include "layers.h"
#include "operations.h"

/* Put before loops over axes, terms and neighbours: in unrolled loops the declaration's entries are constants
 * that the compiler folds. */
#define LAYER_UNROLL _Pragma("GCC unroll 9")

typedef struct layer_work {
  layers all;
  unsigned terms; /* mask of the terms in use */
  unsigned options;
  const real *in[OPERATION_INPUTS]; /* point (0, 0, 0) */
  real *out[OPERATION_OUTPUTS];     /* NULL: not written */
  real *result;                     /* ends->layer, or NULL: results go to `out` */
  const real *row, *table[3];
  ptrdiff_t pitch, step[3]; /* of the tables along x; elements from neighbour to neighbour along each axis */
  int n[3];                 /* owned points of the slab */
  int wraps[3];             /* 1: a whole periodic axis, so neighbours beyond its ends are images */
  int bounded[3], start[3]; /* global index of the slab's first point */
  int last[3];              /* global index of the grid's last point */
  int rows, width;
  real first[3][STENCIL_RADIUS], second[3][STENCIL_RADIUS + 1], dissipation[3][STENCIL_RADIUS];
  real centre[8]; /* centre coefficients of second differences, summed over a set of axes: bit d for axis d */
  real uniform[3], scalar[OPERATION_SCALARS];
  int enters;
  real weight[3], sign, number, pull[3][2][CLOSURE_ROWS]; /* of the inflow */
  const real *value[3][2];
  int couples;
  const real *coupled[3][2]; /* point (0, 0, 0) */
  real coupling[3][2][2];
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

ARITHMETIC ptrdiff_t layer_offset(const layer_work *w, const int p[3]) {
  return p[2] * w->step[2] + p[1] * w->step[1] + p[0];
}

ARITHMETIC number layer_velocity(const operation *of, const layer_work *w, int d, const int p[3]) {
  if (of->velocity == VELOCITY_STORED) return w->in[of->velocity_input + d][layer_offset(w, p)];
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
  if (w->wraps[d] && q < 0) offset += w->n[d];
  if (w->wraps[d] && q >= w->n[d]) offset -= w->n[d];
  return layer_product(of, t, w, d, p, offset, at + offset * w->step[d]);
}

/* The closure's row for a point, counted from its end, or -1 if it is not in a layer. [out] high: 1 at the
 * high end. */
ARITHMETIC int layer_row(const layer_work *w, int d, const int p[3], int *high) {
  const int from_low = w->start[d] + p[d];
  const int from_high = w->last[d] - from_low;
  *high = from_high < w->rows;
  if (!w->bounded[d] || (from_low >= w->rows && !*high)) return -1;
  return *high ? from_high : from_low;
}

ARITHMETIC number layer_closed(const operation *of, int t, const layer_work *w, int d, const int p[3],
                               ptrdiff_t at, int row, int high) {
  const operation_difference difference = of->term[t].of;
  const int block = (2 * d + high) * DIFFERENCES + (int)difference;
  const real *c = w->row + (block * CLOSURE_ROWS + row) * CLOSURE_WIDTH;
  const int inwards = high ? -1 : 1;
  const number centre = layer_product(of, t, w, d, p, 0, at);
  const ptrdiff_t step = inwards * w->step[d];
  ptrdiff_t there = at - row * step;
  number sum = 0;
  for (int j = 0; j < w->width; j++, there += step) {
    sum = closure_add(sum, c[j], layer_product(of, t, w, d, p, (j - row) * inwards, there), centre);
  }
  return sum;
}

ARITHMETIC number layer_difference(const operation *of, int t, const layer_work *w, int d, const int p[3],
                                   ptrdiff_t at) {
  int high;
  const int row = layer_row(w, d, p, &high);
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
    const int row = layer_row(w, d, p, &high);
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
  return NUMBER_FMA(w->centre[inside], layer_product(of, t, w, 0, p, 0, at), sum);
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

/* Adds the penalties of the values at the ends in whose layers a point lies, in the order x, y, z. */
ARITHMETIC number layer_enter(const operation *of, const layer_work *w, const int p[3], number result) {
  const ptrdiff_t at = layer_offset(w, p);
  const ptrdiff_t place[3] = {p[1] + (ptrdiff_t)w->n[1] * p[2], p[0] + (ptrdiff_t)w->n[0] * p[2],
                              p[0] + (ptrdiff_t)w->n[0] * p[1]};
  LAYER_UNROLL
  for (int d = 0; d < 3; d++) {
    int high;
    const int row = layer_row(w, d, p, &high);
    if (row < 0) continue;
    const number inwards = row == 0 ? w->sign * layer_velocity(of, w, d, p) : 0;
    const number speed = high ? -inwards : inwards;
    const number pull = w->pull[d][high][row];
    if (!(speed > 0) && pull == 0) continue;
    const number g = w->value[d][high] != NULL ? w->value[d][high][place[d]] : w->number;
    const number lacks = g - w->in[0][at + (high ? row : -row) * w->step[d]];
    if (speed > 0) result = NUMBER_FMA(w->weight[d] * speed, lacks, result);
    if (pull != 0) result = NUMBER_FMA(pull, lacks, result);
  }
  return result;
}

/* Adds the coupling penalties of the ends that a point lies on to output k, in the same order. */
ARITHMETIC number layer_couple(const operation *of, const layer_work *w, const int p[3], ptrdiff_t at, int k,
                               number result) {
  LAYER_UNROLL
  for (int d = 0; d < 3; d++) {
    const int i = w->start[d] + p[d];
    if (!w->bounded[d] || k != (of->outputs == 7 ? d : 0)) continue;
    LAYER_UNROLL
    for (int high = 0; high < 2; high++) {
      if (i != (high ? w->last[d] : 0)) continue;
      result = NUMBER_FMA(w->coupling[d][high][0], w->coupled[d][0][at], result);
      result = NUMBER_FMA(w->coupling[d][high][1], w->coupled[d][1][at], result);
    }
  }
  return result;
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
  point.at = layer_offset(w, p);
  LAYER_UNROLL
  for (int t = 0; t < OPERATION_TERMS; t++)
    point.term[t] = operation_has(of, t) && (w->terms >> t & 1U) ? layer_term(of, t, w, p, point.at) : 0;
  LAYER_UNROLL
  for (int k = 0; k < OPERATION_OUTPUTS; k++) {
    if (!operation_stores(of, k) || w->out[k] == NULL) continue;
    number result = operation_finish(kind, w->options, k, &point);
    if (k == 0 && w->enters) result = layer_enter(of, w, p, result);
    if (w->couples) result = layer_couple(of, w, p, point.at, k, result);
    *(w->result != NULL ? &w->result[k * w->all.points + i] : &w->out[k][point.at]) = result;
  }
}

ARITHMETIC void layer_store(const layer_work *w, ptrdiff_t i) {
  int p[3];
  layer_place(w, i, p);
  const ptrdiff_t at = layer_offset(w, p);
  for (int k = 0; k < OPERATION_OUTPUTS; k++)
    if (w->out[k] != NULL) w->out[k][at] = w->result[k * w->all.points + i];
}

static inline void layer_work_inflow(const kernels_inflow *inflow, layer_work *w) {
  w->enters = inflow != NULL;
  if (inflow == NULL) return;
  for (int d = 0; d < 3; d++) {
    w->weight[d] = (real)inflow->weight[d];
    for (int end = 0; end < 2; end++) {
      w->value[d][end] = (const real *)inflow->value[d][end];
      for (int i = 0; i < CLOSURE_ROWS; i++) w->pull[d][end][i] = (real)inflow->pull[d][end][i];
    }
  }
  w->sign = (real)inflow->sign;
  w->number = (real)inflow->number;
}

static inline void layer_work_coupling(const kernels_coupling *coupling, ptrdiff_t first, layer_work *w) {
  w->couples = coupling != NULL;
  for (int d = 0; d < 3 && w->couples; d++) {
    for (int i = 0; i < 2; i++) {
      w->coupled[d][i] = (const real *)coupling->of[d][i] + first;
      for (int end = 0; end < 2; end++) w->coupling[d][end][i] = (real)coupling->weight[d][end][i];
    }
  }
}

static inline void layer_work_grid(const kernels_launch *launch, const kernels_ends *ends, layer_work *w) {
  const kernels_shape *shape = &launch->shape;
  const int n[3] = {shape->nx, shape->ny, shape->nz};
  w->all = layers_make(launch, ends);
  w->step[0] = 1;
  w->step[1] = shape->ldx;
  w->step[2] = shape->plane;
  w->pitch = shape->ldx + 2 * KERNELS_TABLE_SIDE;
  for (int d = 0; d < 3; d++) {
    w->n[d] = n[d];
    w->bounded[d] = ends->bounded[d];
    w->wraps[d] = !ends->bounded[d] && (d != 2 || shape->whole);
    w->start[d] = d == 2 ? ends->z0 : 0;
    w->last[d] = (d == 2 ? ends->nz : n[d]) - 1;
  }
  w->rows = ends->rows;
  w->width = ends->width;
  w->row = (const real *)ends->row;
  w->result = (real *)ends->layer;
}

static inline void layer_work_stencil(const stencil *stencil, layer_work *w) {
  for (int d = 0; d < 3; d++) {
    for (int k = 0; k < STENCIL_RADIUS; k++) {
      w->first[d][k] = (real)stencil->first[d][k];
      w->dissipation[d][k] = (real)stencil->dissipation[d][k];
    }
    for (int k = 0; k <= STENCIL_RADIUS; k++) w->second[d][k] = (real)stencil->second[d][k];
  }
  for (int set = 0; set < 8; set++) {
    double sum = 0.0;
    for (int d = 0; d < 3; d++) sum += (set >> d & 1) ? stencil->second[d][0] : 0.0;
    w->centre[set] = (real)sum;
  }
}

/* Fills the data that all points of a launch share. */
static inline void layer_work_make(const kernels_launch *launch, const kernels_call *call,
                                   const kernels_ends *ends, const kernels_inflow *inflow,
                                   const kernels_coupling *coupling, layer_work *w) {
  const operation of = operation_describe(call->kind, call->options);
  const ptrdiff_t first = KERNELS_HALO * launch->shape.plane;
  layer_work_grid(launch, ends, w);
  layer_work_stencil(launch->stencil, w);
  layer_work_inflow(inflow, w);
  layer_work_coupling(coupling, first, w);
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
