#ifndef FDAPP_APP_STABILITY_SOUND_H
#define FDAPP_APP_STABILITY_SOUND_H

#include "kernels.h"
#include "stepping/scheme.h"

/* The largest step with which no mode of sound with upwind differences grows. sound: speed/h along each axis.
 * echo: schedule_rates.echo; these modes count as further phases of their axes, which is an approximation
 * (docs/explanation/equations.md, "Stability limits"). Pure. */
double stability_sound(const scheme *scheme, int order, const double sound[3], const double echo[3][2][2]);

#endif
