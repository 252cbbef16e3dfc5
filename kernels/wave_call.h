#ifndef FDAPP_WAVE_CALL_H
#define FDAPP_WAVE_CALL_H

#include "launch.h"
#include "operation.h"
#include "wave_layers.h"

/* What a backend computes for the wave equation p_tt = c^2 Laplacian p (kernels.wave). All arrays are fields
 * in the launch's shape; K = c^2 dt^2 has valid halo planes, those beyond ends included. WAVE_STEP computes
 * the launch's planes and has `edges` (kernels_launch); other tasks are for the whole slab. */

/* What a field continues as beyond the end of an axis: its periodic image; its mirror image at the point on
 * the end, as it is or negated; or +0. Along z, WAVE_PERIODIC stands for an end that is not this slab's,
 * too: halo planes are read, or wrap around (kernels_shape.whole). */
typedef enum wave_image { WAVE_PERIODIC, WAVE_EVEN, WAVE_ODD, WAVE_ZERO } wave_image;

typedef enum wave_task {
  /* With q = K L p and d = 2 p - before (`plain`: d = 0), and L the Laplacian of the stencil times scale[0],
   * or scale[1] where it is applied to q:
   *
   *   out = q + d                        one Laplacian
   *   out = (q + d) + K L q              two (`twice`)
   *
   * With layers, on all planes of a slab, the step first advances what they remember by p, and finds their
   * terms t. To one Laplacian they add K t, one axis after the other: out = fma(K, t, out). With two, t is
   * added to the first Laplacian, and 2 KERNELS_HALO halo planes of p are read for that.
   *
   * `out` may be the array `before`. Halo planes that are read: KERNELS_HALO of p, or twice as many with two
   * Laplacians, and KERNELS_HALO of K. Beyond WAVE_ZERO, q is zero, too. At points on an end where absorbs is
   * 1, with r = sqrt(K)/h summed over these ends, the result is (out + r before)/(1 + r). On an end where the
   * field is WAVE_ODD the result is zero. */
  WAVE_STEP,
  /* Sets `depth` halo planes of `out` beyond those ends of z that are this slab's. */
  WAVE_IMAGES,
  /* out = ((p - before)^2 - before * operated)/K at every point: the density of twice the discrete energy,
   * where `operated` is the result of a plain WAVE_STEP on p. `out` may be `operated`. */
  WAVE_ENERGY,
  /* Adds point sources to `out` (wave_injection). */
  WAVE_INJECT,
  /* Interpolates p at receivers (wave_reception). */
  WAVE_RECEIVE
} wave_task;

/* What sources add at the points on which they act: of point i, at element place[i] of the field,
 *
 *   out = weight[2 e + 1] signal[2 s + 1] + (weight[2 e] signal[2 s] + out)
 *
 * for its entries e = first[i] .. first[i + 1] - 1 in ascending order, with s = source[e]; two fma each.
 * Arrays are in MEMORY_DEVICE, weights and signals in the field's precision. */
typedef struct wave_injection {
  int points;
  const int64_t *place;
  const int *first, *source;
  const void *weight, *signal;
} wave_injection;

/* Values at receivers: trace[r] = sum over k of wz[k] (sum over j of wy[j] (sum over i of wx[i] p)), each a
 * chain of fma from 0. Receiver r has WAVE_NEAR indices along x, along y and along z, planes of this slab or
 * its halos, from index[3 r WAVE_NEAR] on, and its weights likewise. */
enum { WAVE_NEAR = 8 };
typedef struct wave_reception {
  int receivers;
  const int *index;
  const void *weight;
  void *trace;
} wave_reception;

typedef struct kernels_wave {
  wave_task task;
  wave_image ends[3][2]; /* [axis][end] */
  int absorbs[3][2];
  int twice, plain, depth;
  double scale[2];
  const void *factor; /* K */
  const void *p, *before, *operated;
  void *out;
  wave_layers layers;
  wave_injection injection;
  wave_reception reception;
} kernels_wave;

/* The axes on whose absorbing ends a point lies, as bits. [out] zero: 1 if it lies on an end where the field
 * is zero. */
DESCRIBE unsigned wave_ends_at(const kernels_wave *call, const int n[3], const int at[3], int *zero) {
  unsigned axes = 0;
  *zero = 0;
  for (int d = 0; d < 3; d++) {
    for (int end = 0; end < 2; end++) {
      if (at[d] != end * (n[d] - 1)) continue;
      if (call->absorbs[d][end]) axes |= 1U << d;
      if (call->ends[d][end] == WAVE_ODD) *zero = 1;
    }
  }
  return axes;
}

/* The sum of 1/h over these axes. */
DESCRIBE double wave_rate(const double spacing[3], unsigned axes) {
  double rate = 0.0;
  for (int d = 0; d < 3; d++) {
    if (axes >> d & 1U) rate += 1.0 / spacing[d];
  }
  return rate;
}

#endif
