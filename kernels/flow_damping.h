#ifndef FDAPP_KERNELS_FLOW_DAMPING_H
#define FDAPP_KERNELS_FLOW_DAMPING_H

#include "flow_push.h"

/* Dissipation of compressible flow in flux form, at a point: for each conserved variable q (density,
 * momentum, energy) and each axis d the damping of stencil.h,
 *
 *   dq/dt = dissipation damping T(speed delta^m q),   speed = |u_d| + c,   m = order/2.
 *
 * It is a divergence, so that it keeps mass, momentum and energy, and the sum of q^2 never grows by it. It is
 * smooth to the order of the differences less one, and takes half-waves of the grid.
 *
 * Neighbours come one by one in the order of flow_pairs.h, and those along z above after those along x and y.
 * So a point keeps the five fluxes around it twice: along x, then y; and along z. The value at the point is
 * subtracted from each neighbour's, so that the dissipation of a uniform flow is 0 to the bit. */
enum {
  DAMP_SPEED = FLOW_UNKNOWNS, /* after the rates: the speeds at the five points -2 .. 2 */
  DAMP_FLUX = DAMP_SPEED + STENCIL_TAPS,
  DAMP_AXIS = STENCIL_TAPS + STENCIL_TAPS * FLOW_UNKNOWNS, /* the sums of an axis */
  DAMP_SUMS = DAMP_SPEED + 2 * DAMP_AXIS
};

typedef struct damp_numbers {
  number tap[2 * STENCIL_RADIUS + 1][STENCIL_TAPS]; /* of the neighbour at -4 .. 4, in the flux at -2 .. 2 */
  number own[STENCIL_TAPS];                         /* of the flux at -2 .. 2, in the rate of the point */
  number share[2];   /* of the speed at a flux's point, and at the one before */
  number damping[3]; /* dissipation times that of stencil.h */
  number inner, gamma, step;
  flow_excess excess;
} damp_numbers;

static inline damp_numbers damp_numbers_make(const struct stencil *stencil, const flow_call *call) {
  const flow_gas *gas = &call->gas;
  damp_numbers c;
  for (int o = -STENCIL_RADIUS; o <= STENCIL_RADIUS; o++) {
    for (int j = 0; j < STENCIL_TAPS; j++) {
      const int tap = o - (j - 2) + 2; /* the flux's own point has tap 2 */
      c.tap[o + STENCIL_RADIUS][j] = NUMBER_FILL(tap >= 0 && tap < STENCIL_TAPS ? stencil->taps[tap] : 0.0);
    }
  }
  for (int j = 0; j < STENCIL_TAPS; j++) c.own[j] = c.tap[STENCIL_RADIUS][j];
  for (int i = 0; i < 2; i++) c.share[i] = NUMBER_FILL(stencil->share[i]);
  for (int d = 0; d < 3; d++) c.damping[d] = NUMBER_FILL(gas->dissipation * stencil->damping[d]);
  c.inner = NUMBER_FILL(1.0 / (gas->gamma - 1.0));
  c.excess = flow_excess_make(gas);
  c.gamma = NUMBER_FILL(gas->gamma);
  c.step = NUMBER_FILL(call->weight);
  return c;
}

ARITHMETIC void damp_conserved(const damp_numbers *c, const number *at, number *q) {
  q[0] = at[FLOW_DENSITY];
  for (int j = 0; j < 3; j++) q[1 + j] = at[FLOW_DENSITY] * at[FLOW_U + j];
  q[4] = NUMBER_FMA(c->inner, at[FLOW_PRESSURE], (real)0.5 * at[FLOW_DENSITY] * flow_square(at + FLOW_U));
}

/* A pressure below 0 within a step gives a finite speed, so that the state at the step's end shows where it
 * is not positive. */
ARITHMETIC number damp_speed(const damp_numbers *c, const number *at, int d) {
  const number square = c->gamma * at[FLOW_PRESSURE] / at[FLOW_DENSITY];
  return NUMBER_ABS(at[FLOW_U + d]) + NUMBER_ROOT(NUMBER_ABS(square));
}

/* The rates of an axis whose neighbours have all come; its sums are zero again. */
ARITHMETIC void damp_close(const damp_numbers *c, int d, const number *own, number *rates, number *axis) {
  number *speed = axis, *flux = axis + STENCIL_TAPS, sum[FLOW_UNKNOWNS];
  speed[2] = damp_speed(c, own, d);
  for (int k = 0; k < FLOW_UNKNOWNS; k++) sum[k] = NUMBER_FILL(0);
  for (int j = 0; j < STENCIL_TAPS; j++) {
    const number before = j > 0 ? speed[j - 1] : NUMBER_FILL(0);
    const number weight = c->own[j] * NUMBER_FMA(c->share[1], before, c->share[0] * speed[j]);
    for (int k = 0; k < FLOW_UNKNOWNS; k++) sum[k] = NUMBER_FMA(weight, flux[5 * j + k], sum[k]);
  }
  for (int k = 0; k < FLOW_UNKNOWNS; k++) rates[k] = NUMBER_FMA(c->damping[d], sum[k], rates[k]);
  for (int i = 0; i < DAMP_AXIS; i++) axis[i] = NUMBER_FILL(0);
}

ARITHMETIC void damp_pair(const damp_numbers *c, int d, int l, int up, const number *own, const number *other,
                          number *sums) {
  const int place = up ? 1 + l : -1 - l;
  const number *tap = c->tap[place + STENCIL_RADIUS];
  number *axis = sums + DAMP_SPEED + (d == 2 ? DAMP_AXIS : 0), here[FLOW_UNKNOWNS], there[FLOW_UNKNOWNS];
  damp_conserved(c, own, here);
  damp_conserved(c, other, there);
  for (int k = 0; k < FLOW_UNKNOWNS; k++) there[k] = there[k] - here[k];
  for (int j = 0; j < STENCIL_TAPS; j++) {
    number *flux = axis + STENCIL_TAPS + 5 * j;
    for (int k = 0; k < FLOW_UNKNOWNS; k++) flux[k] = NUMBER_FMA(tap[j], there[k], flux[k]);
  }
  if (l < 2) {
    const number speed = damp_speed(c, other, d);
    for (int j = 0; j < STENCIL_TAPS; j++) axis[j] = j - 2 == place ? speed : axis[j];
  }
  if (up && l == STENCIL_RADIUS - 1) damp_close(c, d, own, sums, axis);
}

ARITHMETIC void damp_finish(const damp_numbers *c, const number *rates, const number *at, number *out) {
  flow_push(&c->excess, c->step, rates, at, out);
}

#endif
