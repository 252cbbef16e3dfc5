#ifndef FDAPP_APP_RESTART_H
#define FDAPP_APP_RESTART_H

#include "snapshots/checkpoint.h"
#include "stepping/schedule.h"

/* The start of a run: t = 0, or a state that its configuration names. */
typedef struct restart {
  int resumed; /* 0: at t = 0 */
  int goes_on; /* 1: the state is the run's own by directory, name and step, or a link to one, so
                * the run's files are continued */
  char path[CONFIG_PATH_SIZE]; /* of the snapshot */
  checkpoint_state from;       /* the snapshot's data besides its fields; all zero at t = 0 */
} restart;

/* Returns 1 if the run asks for the newest state of its directory. That state is certain only when no other
 * run writes there. */
int restart_from_latest(const config *config);

/* Reads the snapshot that `config` names, if any, into `state` (only verifies it if NULL) and resumes the
 * schedule from it, with the rates of the initial state if these are not known. Rank 0 logs it. Collective
 * over comm. [out] restart. STATUS_USAGE for a state beyond the run's end; otherwise as checkpoint_read and
 * checkpoint_read_latest. */
status restart_read(MPI_Comm comm, const config *config, checkpoint *checkpoint, schedule_rates *rates,
                    schedule *schedule, state *state, restart *restart);

/* Refuses restart.from = latest in a directory where a run has ended without a snapshot; and in one that is
 * not there, if one of nearly the same name holds snapshots of the same problem on the same grid: the name is
 * probably mistyped. Names that differ in digits or in a letter by itself are those of several runs. Reads
 * and writes nothing else; for rank 0. STATUS_USAGE. */
status restart_check_directory(const config *config);

#endif
