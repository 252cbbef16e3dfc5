#ifndef FDAPP_TESTS_BURGERS_PAIRS_H
#define FDAPP_TESTS_BURGERS_PAIRS_H

#include "stencil.h"

/* Burgers' equation in three dimensions, du/dt + sum_d d(u^2/2)/dx_d = 0, on the engines of two-point fluxes
 * (pairs.h, pairs.cuh). The flux (u^2 + u v + v^2)/6 between points with the values u and v keeps the sum of
 * u^2. This is all that such a system needs; burgers.c and burgers.cu name it to an engine. */
typedef struct burgers_numbers {
  number first[3][STENCIL_RADIUS]; /* a_l; the derivative is the sum of 2 a_l times fluxes */
  number weight;                   /* of the right-hand side */
} burgers_numbers;

ARITHMETIC void burgers_pair(const burgers_numbers *c, int d, int l, int up, const number *own,
                             const number *other, number *sums) {
  const number u = own[0], v = other[0];
  const number a = up ? c->first[d][l] : -c->first[d][l];
  sums[0] = NUMBER_FMA(a, NUMBER_FMA(u, u + v, v * v), sums[0]);
}

/* at: the base. */
ARITHMETIC void burgers_finish(const burgers_numbers *c, const number *sums, const number *at, number *out) {
  out[0] = NUMBER_FMA(c->weight * (real)(-1.0 / 3.0), sums[0], at[0]);
}

static inline burgers_numbers burgers_numbers_make(const struct stencil *stencil, double weight) {
  burgers_numbers c;
  for (int d = 0; d < 3; d++)
    for (int l = 0; l < STENCIL_RADIUS; l++) c.first[d][l] = NUMBER_FILL(stencil->first[d][l]);
  c.weight = NUMBER_FILL(weight);
  return c;
}

#endif
