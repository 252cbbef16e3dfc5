#ifndef FDAPP_APP_BEYOND_H
#define FDAPP_APP_BEYOND_H

#include "app/bound.h"

/* The least and the largest value of the first field in all states that were measured, and their steps.
 * Begins as zeros. */
typedef struct beyond_extremes {
  int noted; /* 1: there is such a state */
  double value[2];
  int64_t step[2];
} beyond_extremes;

void beyond_note(beyond_extremes *extremes, const diagnostics_record *record);

/* Warns if the first field has left the range of its values at the start and of those that entered since, by
 * more than a tenth of it. The exact solution of advection without a source cannot, unless the velocity
 * diverges and the form is not advective: then nothing is said. `state` is that of `step`, the run's last
 * one. Rank 0 prints the value, its place or step, and what helps. Collective. STATUS_MEMORY, STATUS_DEVICE,
 * STATUS_MPI. */
status beyond_warn(const bound *bound, const beyond_extremes *extremes, const state *state, int64_t step);

#endif
