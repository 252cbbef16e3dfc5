#ifndef FDAPP_OUTPUT_RECEIVERS_H
#define FDAPP_OUTPUT_RECEIVERS_H

#include <mpi.h>

#include "config/config.h"
#include "domain/state.h"
#include "files/rundir.h"
#include "problems/points.h"
#include "wave_call.h"

/* Receivers of waves and of sound: the pressure at places off the grid, every few steps. The rank that owns
 * the plane below a receiver interpolates it. Samples stay on the device until they are many or the file is
 * written: before each snapshot and at the end. The file is written as a whole, completely or not at all, so
 * that a run that resumes from a snapshot finds all samples up to its step.
 *
 * receivers.h5: positions (n, 3), time (m), step (m), p (m, n) in the run's precision, the attribute weights.
 */
typedef struct receivers {
  MPI_Comm comm;
  const kernels *backend;
  kernels_context *context;
  kernels_shape shape;
  const config *config; /* for units */
  int64_t every;
  points points;
  int *owned; /* numbers of this rank's receivers */
  wave_reception reception;
  void *traces; /* device: `room` samples of this rank's receivers */
  void *copy;   /* host: the same */
  int room, pending;
  int begun;    /* 1: `last` is the same on all ranks */
  int64_t last; /* step of the latest sample; -1: none */
  double *pending_time;
  int64_t *pending_step;
  /* rank 0: */
  int root;
  int *counts, *offsets, *numbers; /* of each rank's receivers */
  void *gathered;
  int64_t rows, rows_room;
  double *time;
  int64_t *step;
  void *values; /* rows x points.count */
  int changed;
} receivers;

/* Without receivers all functions do nothing. Collective; STATUS_USAGE, STATUS_FILE as points_receivers,
 * STATUS_MEMORY, STATUS_DEVICE, STATUS_MPI. receivers_destroy even after an error. */
status receivers_create(MPI_Comm comm, const grid *grid, const field_space *space, const config *config,
                        receivers *receivers);
void receivers_destroy(receivers *receivers);

/* Rank 0: continues the file of an earlier start with the samples up to step `from`, and warns of missing
 * ones; -1: begins anew. A file of other receivers or weights moves into the first free previous_N, with a
 * warning. */
status receivers_open(receivers *receivers, const rundir *rundir, int64_t from);

/* Returns 1 if a sample is due at this step. */
int receivers_due(const receivers *receivers, int64_t step);

/* Samples p, whose halos are valid, if a sample is due at this step and not there. Enqueued. Collective. */
status receivers_sample(receivers *receivers, const field *p, double time, int64_t step);

/* Writes the file with all samples so far. Collective. */
status receivers_save(receivers *receivers, const rundir *rundir);

#endif
