#ifndef FDAPP_TESTS_WAVE_SYSTEM_H
#define FDAPP_TESTS_WAVE_SYSTEM_H

#include "equations/equation.h"

/* A linear wave equation with four unknowns, built from single operators on the program's public interface:
 *
 *     dp/dt = -c div u,   du/dt = -c grad p,   c = WAVE_SPEED.
 *
 * At t = 0 a plane wave of the configuration's wave numbers travels along its wave vector; it is an
 * eigenvector of the differences: u = (k / |k|) p with the modified wave numbers k. */
#define WAVE_SPEED 0.8
extern const equation wave_system_equation;

/* Modified wave number along axis d of the configured wave and order, from the textbook's series. */
double wave_modified(const config *config, int d);
/* Phase of the wave at a point. */
double wave_phase(const config *config, int64_t x, int64_t y, int64_t z);

#endif
