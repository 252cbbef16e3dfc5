#ifndef FDAPP_PROBLEMS_SOUND_H
#define FDAPP_PROBLEMS_SOUND_H

#include "problems/cases.h"

/* The case of a configuration as the acoustic pressure p in a medium at rest, with the velocity that belongs
 * to it. With k the wave vector, c the speed of sound and w = c |k|, at a time t:
 *
 *   SOUND_STANDS:   p = b + a X Y Z cos(w t), X = cos(k_x x) and so on; the velocity's x component is
 *                   a k_x/(density w) sin(w t) sin(k_x x) Y Z, and so on. If the low end of x is free,
 *                   X = sin(k_x x), and -cos(k_x x) takes the place of sin(k_x x);
 *   SOUND_TRAVELS:  p = b + a cos(s), s = k.(x - centre) - w t; the velocity is a cos(s)/(density c) k/|k|.
 *
 * b is initial.background, a is initial.amplitude. For other cases p is known only at t = 0, when the
 * velocity is zero. Pure functions of configuration, grid and index, as in cases.h. */
typedef struct sound_wave {
  const grid *grid;
  cases_solution pressure; /* used if a row is that of the case itself */
  int is_pressure_at_start;
  problem_sound kind;
  double offset, height; /* the component at this time is offset + height shape */
  double swing;          /* w t */
  double *table[3]; /* SOUND_STANDS: a factor per point of each axis; SOUND_TRAVELS: its part of the phase */
} sound_wave;

/* The pressure as a component; a component of the velocity is the number of its axis. */
enum { SOUND_PRESSURE = -1 };

/* Returns 1 if the solution is known at all times: the ends of axes must not change the wave. */
int sound_known(const config *config);

/* Prepares a component (SOUND_PRESSURE, or an axis) at `time`, which is 0 or a time at which the solution is
 * known. STATUS_MEMORY, and as cases_open; after an error there is nothing to close. config and grid must
 * outlive it. */
status sound_open(const config *config, const grid *grid, double time, int component, sound_wave *wave);
void sound_close(sound_wave *wave);
/* A field_row; user: a sound_wave. */
void sound_row(const void *user, int64_t z, int64_t y, double *row);
/* The same as cases_verdict. */
status sound_verdict(const sound_wave *wave);

#endif
