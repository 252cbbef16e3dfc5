#ifndef FDAPP_EQUATIONS_TRIAL_H
#define FDAPP_EQUATIONS_TRIAL_H

#include "equations/equation.h"

/* The largest stable step beside ends of axes, found by trial. No theory of ends is needed: a step is stable
 * if the scheme lets no mode of the equation's own right-hand side grow, and modes beside ends are found on a
 * box of few points that has the same ends, spacings and differences as the run (Arnoldi's method).
 *
 * `problem` is the configuration with constant coefficients and with zero as the value of ends, so that the
 * right-hand side is linear; `grid` is the run's, for its spacings. Waves inside the grid are the caller's:
 * the box has some of their phases alone, so the limit is the smaller of both. [out] step: INFINITY if
 * nothing happens. Deterministic; not collective. STATUS_MEMORY, STATUS_DEVICE. */
status trial_step(const equation *equation, const config *problem, const grid *grid, double *step);

#endif
