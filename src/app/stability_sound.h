#ifndef FDAPP_APP_STABILITY_SOUND_H
#define FDAPP_APP_STABILITY_SOUND_H

#include "stepping/schedule.h"
#include "settings/scheme.h"

/* The largest step with which no mode of sound grows; upwind: with upwind differences. The modes rates->echo
 * count as further phases of their axes, which is an approximation (docs/explanation/equations.md, "Stability
 * limits"). Pure. */
double stability_sound(const scheme *scheme, int order, int upwind, const schedule_rates *rates);

#endif
