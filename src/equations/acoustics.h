#ifndef FDAPP_EQUATIONS_ACOUSTICS_H
#define FDAPP_EQUATIONS_ACOUSTICS_H

#include "equations/equation.h"

extern const equation acoustics_equation;

/* The member `limit` of the equation. */
status acoustics_limit(const config *config, const grid *grid, const schedule_rates *rates, double dt,
                       equation_limit *limit);

#endif
