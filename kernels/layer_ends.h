#ifndef FDAPP_KERNELS_LAYER_ENDS_H
#define FDAPP_KERNELS_LAYER_ENDS_H

/* The numbers of closures and penalties in layers, for both backends. Included after arithmetic.h, by C17 and
 * by CUDA files (C++17), there after device.cuh, which declares kernels.h as C. */

#include "kernels.h"

typedef struct layer_ends {
  int bounded[3];
  int start[3], last[3]; /* global indices of the slab's first and of the grid's last point */
  int rows, width;
  const real *row;               /* kernels_ends.row */
  real damping[3][CLOSURE_ROWS]; /* the damping's scale at points of layers */
  int n[3];
  ptrdiff_t step[3]; /* elements from neighbour to neighbour along each axis */
  real centre[8]; /* centre coefficients of second differences, summed over a set of axes: bit d for axis d */
  int enters;
  real weight[3], sign, number, pull[3][2][CLOSURE_ROWS]; /* of the inflow */
  const real *value[3][2];
  int couples;
  const real *coupled[3][2]; /* point (0, 0, 0) */
  real coupling[3][2][2];
  const real *medium[2]; /* of the coupling, likewise, or NULL */
} layer_ends;

/* The closure's row for point i along axis d, counted from its end, or -1 if it is not in a layer. [out]
 * high: 1 at the high end. */
ARITHMETIC int layer_row(const layer_ends *e, int d, int i, int *high) {
  const int from_low = e->start[d] + i;
  const int from_high = e->last[d] - from_low;
  *high = from_high < e->rows;
  if (!e->bounded[d] || (from_low >= e->rows && !*high)) return -1;
  return *high ? from_high : from_low;
}

/* The coefficients of a row for a difference. */
ARITHMETIC const real *layer_coefficients(const layer_ends *e, int d, int high, int of, int row) {
  return e->row + (((2 * d + high) * DIFFERENCES + of) * CLOSURE_ROWS + row) * CLOSURE_WIDTH;
}

/* Offset of point p of the slab from point (0, 0, 0). */
ARITHMETIC ptrdiff_t layer_element(const layer_ends *e, const int p[3]) {
  return p[2] * e->step[2] + p[1] * e->step[1] + p[0];
}

/* Weight i of a coupling in a medium. */
ARITHMETIC number coupling_weight(int i, number weight, number a, number b) {
  return weight * (i == 0 ? a : NUMBER_ROOT(a * b));
}

static inline void layer_ends_inflow(const kernels_inflow *inflow, layer_ends *e) {
  e->enters = inflow != NULL;
  if (inflow == NULL) return;
  for (int d = 0; d < 3; d++) {
    e->weight[d] = (real)inflow->weight[d];
    for (int end = 0; end < 2; end++) {
      e->value[d][end] = (const real *)inflow->value[d][end];
      for (int i = 0; i < CLOSURE_ROWS; i++) e->pull[d][end][i] = (real)inflow->pull[d][end][i];
    }
  }
  e->sign = (real)inflow->sign;
  e->number = (real)inflow->number;
}

static inline void layer_ends_coupling(const kernels_coupling *coupling, ptrdiff_t first, layer_ends *e) {
  e->couples = coupling != NULL;
  for (int i = 0; i < 2; i++)
    e->medium[i] = e->couples && coupling->medium[i] ? (const real *)coupling->medium[i] + first : NULL;
  for (int d = 0; d < 3 && e->couples; d++) {
    for (int i = 0; i < 2; i++) {
      e->coupled[d][i] = (const real *)coupling->of[d][i] + first;
      for (int end = 0; end < 2; end++) e->coupling[d][end][i] = (real)coupling->weight[d][end][i];
    }
  }
}

/* Fills `e` for all points of a launch. */
static inline void layer_ends_make(const kernels_launch *launch, const kernels_call *call, layer_ends *e) {
  const kernels_shape *shape = &launch->shape;
  const kernels_ends *ends = call->ends;
  const int n[3] = {shape->nx, shape->ny, shape->nz};
  const ptrdiff_t step[3] = {1, shape->ldx, shape->plane};
  for (int d = 0; d < 3; d++) {
    e->n[d] = n[d];
    e->step[d] = step[d];
    e->bounded[d] = ends->bounded[d];
    e->start[d] = d == AXIS_Z ? ends->z0 : 0;
    e->last[d] = (d == AXIS_Z ? ends->nz : n[d]) - 1;
  }
  e->rows = ends->rows;
  e->width = ends->width;
  e->row = (const real *)ends->row;
  const closure *closure = closure_of(launch->stencil->order);
  for (int i = 0; i < 3 * closure->rows; i++)
    e->damping[i % 3][i / 3] = (real)(launch->stencil->damping[i % 3] / closure->weight[i / 3]);
  for (int set = 0; set < 8; set++) {
    double sum = 0.0;
    for (int d = 0; d < 3; d++) sum += (set >> d & 1) ? launch->stencil->second[d][0] : 0.0;
    e->centre[set] = (real)sum;
  }
  layer_ends_inflow(call->inflow, e);
  layer_ends_coupling(call->coupling, KERNELS_HALO * shape->plane, e);
}

#endif
