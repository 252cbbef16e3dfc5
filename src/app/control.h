#ifndef FDAPP_APP_CONTROL_H
#define FDAPP_APP_CONTROL_H

#include <mpi.h>

#include "base/agree.h"

/* Requests to stop: signals to any rank and the wall-clock limit, agreed on by all ranks now and then. */

typedef enum control_reason { CONTROL_GO_ON, CONTROL_SIGNAL, CONTROL_WALL_LIMIT } control_reason;

typedef struct control {
  MPI_Comm comm;
  double start;      /* MPI_Wtime of the program's start */
  double wall_limit; /* seconds, 0 = none */
  double last_time;  /* of the last poll */
  long long last_step, next_step;
} control;

/* Catches SIGTERM, SIGINT, SIGUSR1, SIGUSR2, SIGXCPU (a limit of CPU time) and, unless it is ignored as under
 * nohup, SIGHUP; a second SIGINT ends the process at once. A reader of the output that is gone (SIGPIPE) is
 * no reason to stop. */
void control_set_signals(void);

void control_init(control *control, MPI_Comm comm, double start, double wall_limit, long long step);

/* Whether `step` is one at which all ranks ask one another: about ten times a second, the same on every rank.
 */
int control_due(const control *control, long long step);

/* Asks: collective, at a step that is due. `reserve`: seconds that a checkpoint is expected to take. [out]
 * reason, the same on every rank. STATUS_MPI. */
status control_poll(control *control, long long step, double reserve, control_reason *reason);

#endif
