#ifndef FDAPP_APP_CONTROL_H
#define FDAPP_APP_CONTROL_H

#include <mpi.h>

#include "base/agree.h"

/* Requests to stop, by signals to any rank or by the wall-clock limit. The ranks agree on them at regular
 * steps. */

typedef enum control_reason { CONTROL_GO_ON, CONTROL_SIGNAL, CONTROL_WALL_LIMIT } control_reason;

typedef struct control {
  MPI_Comm comm;
  double start;      /* MPI_Wtime of the program's start */
  double wall_limit; /* seconds, 0 = none */
  double patience;   /* seconds that control_meet waits; 0: it does not */
  double last_time;  /* time of the last poll */
  long long last_step, next_step;
} control;

/* Catches SIGTERM, SIGINT, SIGUSR1, SIGUSR2, SIGXCPU (a limit of CPU time) and SIGHUP, unless SIGHUP is
 * ignored as under nohup. A second SIGINT ends the process at once. SIGPIPE is ignored: a reader that has
 * closed its end does not stop a run. */
void control_set_signals(void);

void control_init(control *control, MPI_Comm comm, double start, double wall_limit, double patience,
                  long long step);

/* Returns 1 if the ranks shall poll at `step`: about ten times per second, the same on every rank. */
int control_due(const control *control, long long step);

/* Waits until all ranks have come to `step`: what follows waits for them without a bound. Collective.
 * STATUS_MPI; STATUS_LATE, not collective, if one has not come after `patience` seconds: the message
 * names it. */
status control_meet(const control *control, long long step);

/* Polls, collectively, at a step that is due. `reserve`: seconds that a checkpoint is expected to take. [out]
 * reason, the same on every rank. STATUS_MPI. */
status control_poll(control *control, long long step, double reserve, control_reason *reason);

#endif
