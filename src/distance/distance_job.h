#ifndef FDAPP_DISTANCE_DISTANCE_JOB_H
#define FDAPP_DISTANCE_DISTANCE_JOB_H

#include <mpi.h>

#include "distance/distance_options.h"

/* Runs fddistance from its input to its output: reads, prints the plan, computes, writes; with
 * DISTANCE_VALIDATE it stops before computing. Collective, the same status on every rank. STATUS_USAGE: the
 * data has no such set, or a value that is not a number; otherwise as the functions that it calls. */
status distance_job(MPI_Comm comm, const distance_options *options);

#endif
