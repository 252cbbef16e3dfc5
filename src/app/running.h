#ifndef FDAPP_APP_RUNNING_H
#define FDAPP_APP_RUNNING_H

#include "app/answer.h"
#include "app/beyond.h"
#include "app/bound.h"
#include "app/control.h"
#include "app/perf.h"
#include "app/progress.h"
#include "app/restart.h"
#include "app/stability.h"
#include "app/statistics.h"
#include "config/kept.h"
#include "output/derived.h"
#include "output/diagnostics.h"
#include "output/hashes.h"
#include "output/probes.h"
#include "output/receivers.h"
#include "output/slices.h"

/* The state of a run, shared by its beginning (begin.c), its measurements (measure.c), its steps and its end
 * (simulation.c). Private to app/. */

typedef struct simulation {
  MPI_Comm comm;
  const config *config;
  grid grid;
  rundir rundir; /* rank 0 */
  solver solver;
  checkpoint *checkpoint;
  checkpoint *kept; /* kept snapshots that hold something else than the fields; NULL: kept snapshots are
                     * whole, or there are none */
  derived derived;
  state shown;        /* the state with what is derived from it, in the scratch state */
  int64_t shown_step; /* of `shown`; -1: the scratch state holds something else */
  diagnostics diagnostics;
  probes probes;
  slices slices;
  receivers receivers;
  statistics statistics;
  stencil stencil; /* of the statistics */
  schedule schedule;
  stability stability;
  restart restart;
  control control;
  perf perf;
  progress progress;
  answer answer;             /* of a finished run */
  table hashes;              /* rank 0: hashes.csv, if its header is set */
  diagnostics_record latest; /* of the latest measurement */
  bound bound;               /* how much the solution may grow */
  beyond_extremes extremes;
  int64_t files;      /* of the equation's files (equation->files), over all ranks */
  int64_t step;       /* step of the state */
  int64_t saved_step; /* newest snapshot on disk, -1 = none */
  int ends_again;     /* 1: an earlier start of this run went beyond the step at which it ends now */
} simulation;

static inline int is_root(const simulation *sim) {
  return sim->grid.rank == 0;
}

static inline state *state_of(simulation *sim) {
  return stepper_state(&sim->solver.stepper);
}

static inline double points_of(const simulation *sim) {
  return (double)sim->grid.n[0] * (double)sim->grid.n[1] * (double)sim->grid.n[2];
}

/* Returns 1 if an earlier start of the run reached its end. The files then stay as they are, unless
 * `ends_again`. */
static inline int is_finished(const simulation *sim) {
  return sim->saved_step == sim->schedule.last_step;
}

/* Prepares everything that can fail before a file is written. This and the functions below are collective. */
status begin_prepare(simulation *sim);

/* Finds the state to start from, opens the directory and its files, prints the plan. */
status begin_start(simulation *sim);

/* Sets `bound` from the state that the run starts from, or from what its snapshot says of an earlier start.
 * Overwrites the scratch state. STATUS_MEMORY, STATUS_DEVICE, STATUS_MPI; STATUS_USAGE as bound_open. */
status measure_start(simulation *sim);

/* Measures the state into `latest`. STATUS_BLOWN_UP if a field is not finite or has grown beyond what the
 * problem allows; STATUS_MEMORY, STATUS_DEVICE, STATUS_MPI. Overwrites the scratch state. */
status measure(simulation *sim);

/* STATUS_BLOWN_UP, with what is wrong after this step, and the last good snapshot. Not collective. */
status measure_blown_up(const simulation *sim, const char *what);

/* Writes the ranges of the first `fields` fields in `latest`, and the largest error of the first if it is
 * known: "phi -0.01 to 1, error 2e-05". Not collective. */
void measure_describe(const simulation *sim, int fields, char *text, size_t size);

#endif
