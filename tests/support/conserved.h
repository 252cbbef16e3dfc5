#ifndef FDAPP_TESTS_CONSERVED_H
#define FDAPP_TESTS_CONSERVED_H

#include "flow.h"

/* Compressible flow in conserved variables, in double, written from the formulas of the two-point fluxes:
 * what flow_pairs.h computes in another form. States are five arrays of n[0] n[1] n[2] points, x fastest:
 * density, u, v, w, pressure; or density, momenta, total energy. Periodic. */
typedef struct conserved_box {
  int n[3];
  const stencil *stencil;
  flow_gas gas;
} conserved_box;

int conserved_points(const conserved_box *box);
/* rate = d(density, momenta, energy)/dt of a state of density, velocity and pressure. */
void conserved_rate(const conserved_box *box, double *const state[5], double *const rate[5]);
/* Between both kinds of states, in place. */
void conserved_from(const conserved_box *box, double *const state[5]);
void conserved_to(const conserved_box *box, double *const state[5]);

#endif
