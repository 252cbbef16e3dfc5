#ifndef FDAPP_APP_RESTART_H
#define FDAPP_APP_RESTART_H

#include "snapshots/checkpoint.h"
#include "stepping/schedule.h"

/* Where a run begins: at t = 0, or at a state that its configuration names. */
typedef struct restart {
  int resumed;           /* 0: at t = 0 */
  int goes_on;           /* the state is the run's own by directory, name and step, or a link to such a one:
                            its files go on too */
  checkpoint_state from; /* what was read beside the fields; all zero at t = 0 */
} restart;

/* Whether the run asks for the newest state of its directory: known for certain only once no other run writes
 * there. */
int restart_from_latest(const config *config);

/* Reads the snapshot that `config` names, if any, into `state` (only verifies if it is NULL) and takes the
 * schedule on from it; rank 0 says so. Collective over comm. [out] restart. STATUS_USAGE for a state beyond
 * the run's end; otherwise as checkpoint_read and checkpoint_read_latest. */
status restart_read(MPI_Comm comm, const config *config, checkpoint *checkpoint, schedule *schedule,
                    state *state, restart *restart);

#endif
