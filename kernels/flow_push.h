#ifndef FDAPP_KERNELS_FLOW_PUSH_H
#define FDAPP_KERNELS_FLOW_PUSH_H

#include "flow_pairs.h"

/* What is added to the conserved variables of a state, and sources, at a point. */

typedef struct flow_excess {
  number one, half; /* gamma - 1, and half of it */
} flow_excess;

static inline flow_excess flow_excess_make(const flow_gas *gas) {
  const flow_excess c = {NUMBER_FILL(gas->gamma - 1.0), NUMBER_FILL(0.5 * (gas->gamma - 1.0))};
  return c;
}

/* Adds step times the rates to the conserved variables of a state, as an observer who moves with it sees them
 * (flow_finish). */
ARITHMETIC void flow_push(const flow_excess *c, number step, const number *rates, const number *at,
                          number *out) {
  const number *u = at + FLOW_U, *push = rates + FLOW_U;
  const number density = NUMBER_FMA(step, rates[0], at[FLOW_DENSITY]);
  number v[3], heat = NUMBER_FMA((real)0.5 * rates[0], flow_square(u), rates[4]);
  for (int j = 0; j < 3; j++) {
    heat = NUMBER_FMA(-u[j], push[j], heat);
    v[j] = step * NUMBER_FMA(-u[j], rates[0], push[j]) / density;
    out[FLOW_U + j] = u[j] + v[j];
  }
  out[FLOW_DENSITY] = density;
  const number energy = NUMBER_FMA(c->one * step, heat, at[FLOW_PRESSURE]);
  out[FLOW_PRESSURE] = NUMBER_FMA(-c->half * density, flow_square(v), energy);
}

/* Sources read the state at the point, then a rate of each conserved variable. Those that are not given have
 * the factor 0, and any array. Last, density and velocity of the stage's f, on which the force acts: by those
 * of the state at the stage's end a scheme would lose its order. */
enum { SUPPLY_F = 2 * FLOW_UNKNOWNS, SUPPLY_POINTS = SUPPLY_F + FLOW_PRESSURE };

typedef struct supply_numbers {
  const real *step;
  number given[FLOW_UNKNOWNS]; /* 1 or 0 */
  number force[3];
  flow_excess excess;
} supply_numbers;

static inline supply_numbers supply_numbers_make(const flow_call *call) {
  supply_numbers c;
  c.step = (const real *)call->number;
  for (int k = 0; k < FLOW_UNKNOWNS; k++) c.given[k] = NUMBER_FILL(call->source[k] != NULL ? 1.0 : 0.0);
  for (int d = 0; d < 3; d++) c.force[d] = NUMBER_FILL(call->force[d]);
  c.excess = flow_excess_make(&call->gas);
  return c;
}

/* Sets the arrays that are read at the point. */
static inline void supply_arrays(const flow_call *call, const void *at[SUPPLY_POINTS]) {
  for (int k = 0; k < FLOW_UNKNOWNS; k++) {
    at[k] = call->out[k];
    at[FLOW_UNKNOWNS + k] = call->source[k] != NULL ? call->source[k] : call->out[k];
  }
  const int forced = call->force[0] != 0.0 || call->force[1] != 0.0 || call->force[2] != 0.0;
  for (int k = 0; k < FLOW_PRESSURE; k++) at[SUPPLY_F + k] = forced ? call->f[k] : call->out[k];
}

ARITHMETIC void supply_finish(const supply_numbers *c, const number *at, number *out) {
  const number *f = at + SUPPLY_F;
  number rates[FLOW_UNKNOWNS];
  for (int k = 0; k < FLOW_UNKNOWNS; k++) rates[k] = c->given[k] * at[FLOW_UNKNOWNS + k];
  for (int j = 0; j < 3; j++) {
    const number push = c->force[j] * f[FLOW_DENSITY];
    rates[FLOW_U + j] = rates[FLOW_U + j] + push;
    rates[FLOW_PRESSURE] = NUMBER_FMA(push, f[FLOW_U + j], rates[FLOW_PRESSURE]);
  }
  flow_push(&c->excess, NUMBER_FILL(*c->step), rates, at, out);
}

#endif
