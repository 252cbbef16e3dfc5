#ifndef FDAPP_APP_STABILITY_SOUND_H
#define FDAPP_APP_STABILITY_SOUND_H

#include "kernels.h"
#include "stepping/scheme.h"

/* The largest step with which no mode of sound with upwind differences grows. sound: speed/h along each axis.
 * echo: decay and frequency of the fastest wave beside ends of each axis, or zeros; it counts as one more
 * phase of its axis: exact for one axis with ends; for two up to 10 % too small a step (order 4). Pure. */
double stability_sound(const scheme *scheme, int order, const double sound[3], const double echo[3][2]);

#endif
