#ifndef FDAPP_OUTPUT_DIAGNOSTICS_H
#define FDAPP_OUTPUT_DIAGNOSTICS_H

#include <stdio.h>

#include "output/rundir.h"
#include "stepping/schedule.h"
#include "app/solver.h"

/* Integrals, extrema and errors of phi, the same bits on any number of ranks: sums per z-plane in the
 * backend's fixed order (kernels.h), then over planes in global order on rank 0, all in double.
 *
 * mass = sum phi dV, l2 = sqrt(sum phi^2 dV), courant = dt |g(t)| max sum |c_i|/h_i,
 * err_l1 = sum |e| dV, err_l2 = sqrt(sum e^2 dV), err_linf = max |e|, e = phi - exact, dV = hx hy hz. */
typedef struct diagnostics_record {
  int64_t step;
  double time, dt, mass, l2, minimum, maximum, courant;
  double error_l1, error_l2, error_linf; /* NaN where no exact solution is known at this time */
  int finite;                            /* 0: phi holds something that is not a finite number */
} diagnostics_record;

typedef struct diagnostics {
  solver *solver;
  kernels_plane_sums *planes; /* this rank's */
  kernels_plane_sums *all;    /* rank 0: all planes in global order */
  int *counts, *offsets;      /* rank 0: bytes from each rank */
  FILE *file;                 /* rank 0, between diagnostics_open and diagnostics_close */
  char path[sizeof((rundir *)0)->path + sizeof "/" RUNDIR_DIAGNOSTICS];
  int64_t last;    /* rank 0: step of the latest row that diagnostics_open kept, -1: none */
  int with_errors; /* errors are measured, the file has their columns; may be set to 0 before
                      diagnostics_open where phi is no solution of the configuration */
} diagnostics;

/* Collective. Allocates; solver must outlive it. STATUS_MEMORY, STATUS_MPI. */
status diagnostics_create(solver *solver, diagnostics *diagnostics);
void diagnostics_destroy(diagnostics *diagnostics);

/* Measures phi at (step, time); [out] record on every rank. Collective. Overwrites the stepper's scratch
 * field if an exact solution is known; phi unchanged, halos not needed. STATUS_MEMORY, STATUS_DEVICE,
 * STATUS_MPI. */
status diagnostics_measure(diagnostics *diagnostics, const schedule *schedule, int64_t step,
                           diagnostics_record *record);

/* Rank 0: opens diagnostics.csv in the run directory: anew with a header, or, with from >= 0, keeping the
 * rows of steps up to `from`; that of `from` itself only if it is due by the configuration, for the run goes
 * on there, and rows that are missing right before it are warned of. An older file with other columns moves
 * into the first free previous_N. STATUS_FILE, STATUS_MEMORY. */
status diagnostics_open(diagnostics *diagnostics, const rundir *rundir, int64_t from);
/* Rank 0: [out] beyond: whether the table has rows of steps after `step`. STATUS_FILE. */
status diagnostics_goes_beyond(diagnostics *diagnostics, const rundir *rundir, int64_t step, int *beyond);
/* Rank 0: appends a row (%.17g) and flushes it. STATUS_FILE. */
status diagnostics_append(diagnostics *diagnostics, const diagnostics_record *record);
/* Rank 0: brings the rows to the disk. Before a state, so that none is there without its rows. STATUS_FILE.
 */
status diagnostics_sync(const diagnostics *diagnostics);
/* Rank 0: nothing if it is not open. STATUS_FILE. */
status diagnostics_close(diagnostics *diagnostics);

#endif
