#ifndef FDAPP_WAVE_POINT_H
#define FDAPP_WAVE_POINT_H

#include "arithmetic.h"
#include "stencil.h"

#ifndef NUMBER_FILL
#define NUMBER_FILL(x) ((real)(x))
#endif

/* The one order of arithmetic of the wave equation, by functions of arithmetic.h. The Laplacian of a point in
 * plane z is a sum over the planes in ascending order, so that an engine that marches upwards can add each
 * plane, when it arrives, to the sums of nine planes:
 *
 *   z-4, z-3, z-2, z-1, the point itself, [z+1, z+2,] the pairs of x, those of y, z+1, z+2, z+3, z+4.
 *
 * In the second Laplacian of a step the pairs come after z+2 (in brackets): blocks of a GPU that hand the
 * rims of the first one's result to each other have two planes of time for that. Pairs are added from the
 * outside. Mirror images along x and y therefore give mirrored bits; along z they do not, and planes beyond
 * an end are computed like all others. */
typedef struct wave_coefficients {
  number x[5], y[5], z[5]; /* of distance 0 .. 4; of distance 0 only their sum is read */
  number centre;
} wave_coefficients;

static inline wave_coefficients wave_coefficients_make(const stencil *stencil, double scale) {
  wave_coefficients c;
  for (int k = 0; k <= STENCIL_RADIUS; k++) {
    c.x[k] = NUMBER_FILL(scale * stencil->second[0][k]);
    c.y[k] = NUMBER_FILL(scale * stencil->second[1][k]);
    c.z[k] = NUMBER_FILL(scale * stencil->second[2][k]);
  }
  c.centre = NUMBER_FILL(scale * (stencil->second[0][0] + stencil->second[1][0] + stencil->second[2][0]));
  return c;
}

/* The planes below, and the point itself. */
ARITHMETIC number wave_rise(const wave_coefficients *c, number m4, number m3, number m2, number m1,
                            number centre) {
  number s = c->z[4] * m4;
  s = NUMBER_FMA(c->z[3], m3, s);
  s = NUMBER_FMA(c->z[2], m2, s);
  s = NUMBER_FMA(c->z[1], m1, s);
  return NUMBER_FMA(c->centre, centre, s);
}

/* Two planes above: z+1 and z+2 (k = 1), or z+3 and z+4 (k = 3). */
ARITHMETIC number wave_fall(const wave_coefficients *c, int k, number s, number near, number far) {
  return NUMBER_FMA(c->z[k + 1], far, NUMBER_FMA(c->z[k], near, s));
}

/* The same order for engines that march: the value p of plane z is added to the sums of nine planes. sums[i]
 * is that of plane z-4+i before, and of plane z-3+i after. Returns the sum of plane z-4. */
ARITHMETIC number wave_arrives(const wave_coefficients *c, number p, number sums[2 * STENCIL_RADIUS]) {
  const number done = NUMBER_FMA(c->z[4], p, sums[0]);
  sums[0] = NUMBER_FMA(c->z[3], p, sums[1]);
  sums[1] = NUMBER_FMA(c->z[2], p, sums[2]);
  sums[2] = NUMBER_FMA(c->z[1], p, sums[3]);
  sums[3] = NUMBER_FMA(c->centre, p, sums[4]);
  sums[4] = NUMBER_FMA(c->z[1], p, sums[5]);
  sums[5] = NUMBER_FMA(c->z[2], p, sums[6]);
  sums[6] = NUMBER_FMA(c->z[3], p, sums[7]);
  sums[7] = c->z[4] * p;
  return done;
}

/* 2 p - before. */
ARITHMETIC number wave_drift(number p, number before) {
  return NUMBER_FMA(NUMBER_FILL(2), p, -before);
}

/* q + d, and the result of two Laplacians from it. */
ARITHMETIC number wave_once(number q, number drift) {
  return q + drift;
}

ARITHMETIC number wave_twice(number factor, number laplacian, number once) {
  return NUMBER_FMA(factor, laplacian, once);
}

/* What a point on absorbing ends keeps of a result. rate: sum of 1/h over these ends. */
ARITHMETIC number wave_absorbed(number out, number before, number factor, number rate) {
  const number r = NUMBER_ROOT(factor) * rate;
  return NUMBER_FMA(r, before, out) / ((real)1 + r);
}

/* What a layer remembers (wave_layers.h): psi, or zeta, which is the term less D psi. */
ARITHMETIC number wave_remember(number b, number a, number memory, number input) {
  return NUMBER_FMA(a, input, b * memory);
}

/* A result of one Laplacian to which a layer's term is added. */
ARITHMETIC number wave_layered(number factor, number term, number out) {
  return NUMBER_FMA(factor, term, out);
}

/* What an entry of a source adds (wave_injection). */
ARITHMETIC real wave_injected(real out, const real weight[2], const real signal[2]) {
  return REAL_FMA(weight[1], signal[1], REAL_FMA(weight[0], signal[0], out));
}

ARITHMETIC number wave_energy(number p, number before, number operated, number factor) {
  const number change = p - before;
  return NUMBER_FMA(change, change, -(before * operated)) / factor;
}

#endif
