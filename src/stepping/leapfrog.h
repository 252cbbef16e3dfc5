#ifndef FDAPP_STEPPING_LEAPFROG_H
#define FDAPP_STEPPING_LEAPFROG_H

#include "stepping/stepper.h"

/* Steps of second order in time (settings/scheme.h). The state has the field at t and the field at t - dt; a
 * step is one call of rhs.stage, which writes the new field over the older one, and then the two swap. */

/* Halo planes that a step reads: two Laplacians need twice KERNELS_HALO, unless z wraps around. */
int leapfrog_depth(const scheme *scheme, const kernels_shape *shape);

/* As stepper_step. Halos are exchanged after the step. */
status leapfrog_step(stepper *stepper, double t, double dt, int timed);

#endif
