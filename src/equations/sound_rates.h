#ifndef FDAPP_EQUATIONS_SOUND_RATES_H
#define FDAPP_EQUATIONS_SOUND_RATES_H

#include "equations/equation.h"

/* The member `rates` of equations with a medium; it also checks their point sources. `advection` is that of
 * the fastest wave that the grid holds; `own` has 1 over the least speed, the largest impedance, and 1 over
 * the least one. */
enum { SOUND_SLOWNESS, SOUND_IMPEDANCE, SOUND_ADMITTANCE };
status sound_rates(const config *config, const grid *grid, schedule_rates *rates);

#endif
