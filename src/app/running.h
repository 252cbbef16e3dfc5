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

/* The state of a run, shared by its beginning (begin.c), its measurements (measure.c), what it writes
 * (due.c), its steps and its end (simulation.c). Private to app/. */

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

/* Writes what is due at this step: a row of diagnostics, a state. The first and the last step are always due
 * if rows or states are written at all, and are always measured. A state is only written after the check that
 * it is bounded. */
status due_write(simulation *sim, int ends);
/* Writes slices and rows of probes. These depend on the step alone, not on where a run starts or ends. */
status due_write_places(simulation *sim);

/* Begins snapshots, beside whole ones the statistics. They end when their planes are written: at a poll,
 * before the next ones, or at the end of the run. whole, kept: 1 to write one with all points, and one of
 * what is kept. */
status due_begin_state(simulation *sim, int whole, int kept);
/* Ends snapshots if their planes are written. */
status due_poll(simulation *sim);
/* Ends the snapshots that were begun. */
status due_end_state(simulation *sim);

#endif
