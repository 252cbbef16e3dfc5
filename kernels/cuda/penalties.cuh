#ifndef FDAPP_CUDA_PENALTIES_CUH
#define FDAPP_CUDA_PENALTIES_CUH

#include "layer_places.cuh"

/* Penalties at ends (kernels_inflow, kernels_coupling), point by point. Points p are those of the slab. ONLY:
 * the one axis in whose layer they lie, or SEVERAL. */

/* Adds the penalties of the values at the ends in whose layers a point lies, in the order x, y, z. velocity:
 * at the point, along the axes on whose ends it lies. in: the operation's input 0. */
template <int ONLY>
__device__ __forceinline__ static real layer_enter(const layer_ends *e, const int p[3],
                                                   const real velocity[3], const real *in, real result) {
  const ptrdiff_t at = layer_element(e, p);
  const ptrdiff_t place[3] = {p[1] + (ptrdiff_t)e->n[1] * p[2], p[0] + (ptrdiff_t)e->n[0] * p[2],
                              p[0] + (ptrdiff_t)e->n[0] * p[1]};
#pragma unroll
  for (int d = 0; d < 3; d++) {
    if (ONLY != SEVERAL && d != ONLY) continue;
    int high;
    const int row = layer_row(e, d, p[d], &high);
    if (row < 0) continue;
    const real inwards = row == 0 ? e->sign * velocity[d] : 0;
    const real speed = high ? -inwards : inwards;
    const real pull = e->pull[d][high][row];
    if (!(speed > 0) && pull == 0) continue;
    const real g = e->value[d][high] != NULL ? e->value[d][high][place[d]] : e->number;
    const real lacks = g - in[at + (high ? row : -row) * e->step[d]];
    if (speed > 0) result = NUMBER_FMA(e->weight[d] * speed, lacks, result);
    if (pull != 0) result = NUMBER_FMA(pull, lacks, result);
  }
  return result;
}

/* Adds the coupling penalties of the ends that a point lies on to output k, in the same order. outputs: mask
 * of the call's. */
template <int ONLY>
__device__ __forceinline__ static real layer_couple(const layer_ends *e, const int p[3], unsigned outputs,
                                                    int k, real result) {
  const ptrdiff_t at = layer_element(e, p);
#pragma unroll
  for (int d = 0; d < 3; d++) {
    if (ONLY != SEVERAL && d != ONLY) continue;
    const int i = e->start[d] + p[d];
    if (!e->bounded[d] || k != (outputs == 7 ? d : 0)) continue;
#pragma unroll
    for (int high = 0; high < 2; high++) {
      if (i != (high ? e->last[d] : 0)) continue;
#pragma unroll
      for (int j = 0; j < 2; j++) {
        real weight = e->coupling[d][high][j];
        if (e->medium[0] != NULL) weight = coupling_weight(j, weight, e->medium[0][at], e->medium[1][at]);
        result = NUMBER_FMA(weight, e->coupled[d][j][at], result);
      }
    }
  }
  return result;
}

/* Adds the penalties at a point to output k. velocity(axis): that at the point. in: the operation's input 0.
 */
template <int ONLY, class Velocity>
__device__ __forceinline__ static real layer_penalize(const layer_work &w, const int p[3], const real *in,
                                                      int k, real result, const Velocity &velocity) {
  if (k == 0 && w.ends.enters) {
    real along[3];
#pragma unroll
    for (int axis = 0; axis < 3; axis++) {
      int high;
      const bool on_end = (ONLY == SEVERAL || axis == ONLY) && layer_row(&w.ends, axis, p[axis], &high) == 0;
      along[axis] = on_end ? velocity(axis) : 0;
    }
    result = layer_enter<ONLY>(&w.ends, p, along, in, result);
  }
  return w.ends.couples ? layer_couple<ONLY>(&w.ends, p, w.outputs, k, result) : result;
}

#endif
