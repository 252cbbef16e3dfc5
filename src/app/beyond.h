#ifndef FDAPP_APP_BEYOND_H
#define FDAPP_APP_BEYOND_H

#include "app/bound.h"

/* The least and the largest value of the first field in all states that were measured, their steps, and the
 * highest jump then. Begins as zeros. */
typedef struct beyond_extremes {
  int noted; /* 1: there is such a state */
  int left;  /* 1: one of them had values farther out than ripples of its highest jump */
  double value[2], jump[2];
  int64_t step[2];
} beyond_extremes;

/* `bound` has what has entered until this state. */
void beyond_note(beyond_extremes *extremes, const bound *bound, const diagnostics_record *record);

/* Warns if the first field has left the range of its values at the start and of those that entered since, by
 * more than a tenth of it. The exact solution of advection cannot, but for what sources add and, in forms
 * other than the advective one, what a velocity that converges may bring in this time. `state` is that of
 * `step` and `time`, the run's last ones. Rank 0 prints the value, its place or step, and what helps.
 * Collective. STATUS_MEMORY, STATUS_DEVICE, STATUS_MPI. */
status beyond_warn(const bound *bound, const beyond_extremes *extremes, const state *state, int64_t step,
                   double time);

#endif
