#include "app/control.h"

#include <signal.h>
#include <string.h>

static const double poll_seconds = 0.1;
static const double longest_interval = 1000.0; /* steps */

static volatile sig_atomic_t requested = 0;
static volatile sig_atomic_t interrupts = 0;

static void on_signal(int number) {
  if (number == SIGINT && interrupts++ > 0) {
    (void)signal(SIGINT, SIG_DFL);
    (void)raise(SIGINT);
  }
  requested = 1;
}

void control_set_signals(void) {
  static const int numbers[] = {SIGTERM, SIGINT, SIGUSR1, SIGUSR2, SIGHUP, SIGXCPU};
  struct sigaction action;
  struct sigaction before;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART; /* restarts interrupted system calls, also in MPI */
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
    /* under nohup SIGHUP is ignored, because the run shall outlive its terminal */
    const int known = sigaction(numbers[i], NULL, &before) == 0;
    if (known && numbers[i] == SIGHUP && before.sa_handler == SIG_IGN) continue;
    (void)sigaction(numbers[i], &action, NULL);
  }
  (void)signal(SIGPIPE, SIG_IGN);
}

void control_init(control *control, MPI_Comm comm, double start, double wall_limit, double patience,
                  long long step) {
  *control = (struct control){.comm = comm,
                              .patience = patience,
                              .start = start,
                              .wall_limit = wall_limit,
                              .last_time = MPI_Wtime(),
                              .last_step = step,
                              .next_step = step + 1};
}

int control_due(const control *control, long long step) {
  return step >= control->next_step;
}

/* Waits for a word of another rank. */
static status wait_for(const control *control, int rank, int tag, double until, long long step) {
  MPI_Request request;
  int done = 0;
  CHECK_MPI(MPI_Irecv(NULL, 0, MPI_BYTE, rank, tag, control->comm, &request));
  while (!done) {
    CHECK_MPI(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
    if (!done && MPI_Wtime() > until)
      return status_fail(STATUS_LATE, "rank %d has not come to step %lld for %g seconds", rank, step,
                         control->patience);
  }
  return STATUS_OK;
}

/* Rank 0 hears from all others and then answers, so that it knows who is missing. The others wait a tenth
 * longer than rank 0, so that it is the first to tell. */
status control_meet(const control *control, long long step) {
  enum { TAG_COMES = 41, TAG_GO };
  const double begun = MPI_Wtime();
  int rank = 0, ranks = 1;
  if (control->patience == 0.0) return STATUS_OK;
  CHECK_MPI(MPI_Comm_rank(control->comm, &rank));
  CHECK_MPI(MPI_Comm_size(control->comm, &ranks));
  if (rank > 0) {
    CHECK_MPI(MPI_Send(NULL, 0, MPI_BYTE, 0, TAG_COMES, control->comm));
    return wait_for(control, 0, TAG_GO, begun + 1.1 * control->patience, step);
  }
  for (int i = 1; i < ranks; i++) CHECK(wait_for(control, i, TAG_COMES, begun + control->patience, step));
  for (int i = 1; i < ranks; i++) CHECK_MPI(MPI_Send(NULL, 0, MPI_BYTE, i, TAG_GO, control->comm));
  return STATUS_OK;
}

status control_poll(control *control, long long step, double reserve, control_reason *reason) {
  const double now = MPI_Wtime();
  const double each = (now - control->last_time) / (double)(step - control->last_step);
  const double mine[4] = {requested ? 1.0 : 0.0, now - control->start, each, reserve};
  double most[4];
  CHECK_MPI(MPI_Allreduce(mine, most, 4, MPI_DOUBLE, MPI_MAX, control->comm));

  const double wanted = poll_seconds / (most[2] > 0.0 ? most[2] : poll_seconds);
  const double interval = wanted < 1.0 ? 1.0 : (wanted > longest_interval ? longest_interval : wanted);
  control->last_time = now;
  control->last_step = step;
  control->next_step = step + (long long)interval;

  /* the next poll is an interval away, and then the checkpoint must fit twice */
  const double needed = most[1] + (interval + 1.0) * most[2] + 2.0 * most[3];
  *reason = CONTROL_GO_ON;
  if (control->wall_limit > 0.0 && needed > control->wall_limit) *reason = CONTROL_WALL_LIMIT;
  if (most[0] > 0.0) *reason = CONTROL_SIGNAL;
  return STATUS_OK;
}
