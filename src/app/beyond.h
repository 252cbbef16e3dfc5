#ifndef FDAPP_APP_BEYOND_H
#define FDAPP_APP_BEYOND_H

#include "app/bound.h"

/* Warns if the first field has left the range of its values at the start and of those that entered since, by
 * more than a tenth of it. The exact solution of advection without a source cannot, unless the velocity
 * diverges and the form is not advective: then nothing is said. `record` is of `state`, measured at the end.
 * Rank 0 prints the value, its place and what helps. Collective. STATUS_MEMORY, STATUS_DEVICE, STATUS_MPI. */
status beyond_warn(const bound *bound, const diagnostics_record *record, const state *state);

#endif
