#ifndef FDAPP_APP_STABILITY_H
#define FDAPP_APP_STABILITY_H

#include <mpi.h>

#include "equations/equation.h"

/* The step of a run against the limit that its equation names. */
typedef struct stability {
  double dt;    /* the longest step */
  double share; /* the largest share of it, at most 1, that is stable */
  equation_limit limit;
} stability;

/* Collective: the same on every rank. STATUS_MEMORY, STATUS_DEVICE, STATUS_MPI. */
status stability_find(MPI_Comm comm, const config *config, const grid *grid, const schedule *schedule,
                      const schedule_rates *rates, stability *stability);

/* Warns if the step is too long, naming the limit and a step that is stable. Rank 0 prints. */
void stability_warn(const config *config, const schedule *schedule, const stability *stability);

#endif
