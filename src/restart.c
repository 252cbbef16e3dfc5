#include "restart.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/agree.h"
#include "base/log.h"

/* The directory with all links followed; one that is not there is nobody's. [out] whole: the caller's to
 * free, NULL if it is not there. */
static status follow(const char *directory, char **whole) {
  *whole = realpath(directory, NULL);
  if (*whole != NULL || errno == ENOENT || errno == ENOTDIR) return STATUS_OK;
  return status_fail(STATUS_FILE, "%s: %s", directory, strerror(errno));
}

/* [out] inside: whether `file` lies in the run's own directory. */
static status find_inside(const char *file, const char *directory, int *inside) {
  char parent[CONFIG_PATH_SIZE];
  char *theirs = NULL;
  char *ours = NULL;
  (void)snprintf(parent, sizeof parent, "%s", file);
  char *slash = strrchr(parent, '/');
  if (slash != NULL) *(slash == parent ? slash + 1 : slash) = '\0';
  status result = follow(slash != NULL ? parent : ".", &theirs);
  if (result == STATUS_OK) result = follow(directory, &ours);
  *inside = theirs != NULL && ours != NULL && strcmp(theirs, ours) == 0;
  free(theirs);
  free(ours);
  return result;
}

/* Rank 0 looks, for all go the same way. */
static status in_directory(MPI_Comm comm, const char *file, const char *directory, int *inside) {
  int rank = 0;
  CHECK_MPI(MPI_Comm_rank(comm, &rank));
  CHECK(agree(comm, rank == 0 ? find_inside(file, directory, inside) : STATUS_OK));
  CHECK_MPI(MPI_Bcast(inside, 1, MPI_INT, 0, comm));
  return STATUS_OK;
}

/* A state from beyond the end of this run has nothing to go on to. */
static status check_not_past(const schedule *schedule, const char *path, const checkpoint_state *state) {
  if (schedule->lands && state->time > schedule->t_end) {
    return status_fail(STATUS_USAGE,
                       "%s: its time %.9g is beyond time.t_end = %.9g; accepted: an earlier state, or a "
                       "later end",
                       path, state->time, schedule->t_end);
  }
  if (!schedule->lands && state->step > schedule->last_step) {
    return status_fail(STATUS_USAGE,
                       "%s: its step %" PRId64 " is beyond time.steps = %" PRId64
                       "; accepted: an earlier state, or more steps",
                       path, state->step, schedule->last_step);
  }
  return STATUS_OK;
}

int restart_from_latest(const config *config) {
  return strcmp(config->restart, "latest") == 0;
}

status restart_read(MPI_Comm comm, const config *config, checkpoint *checkpoint, schedule *schedule,
                    field *phi, restart *restart) {
  const int latest = restart_from_latest(config);
  checkpoint_state state;
  char path[CONFIG_PATH_SIZE] = "";
  *restart = (struct restart){0};
  if (latest) {
    CHECK(checkpoint_read_latest(checkpoint, &state, phi, path));
    if (path[0] == '\0') log_info("restart    no state in %s: starting at t = 0\n", config->directory);
  } else if (config->restart[0] != '\0') {
    (void)snprintf(path, sizeof path, "%s", config->restart);
    CHECK(checkpoint_read(checkpoint, path, &state, phi));
  }
  if (path[0] == '\0') return STATUS_OK;
  int inside = latest;
  if (!latest) CHECK(in_directory(comm, path, config->directory, &inside));
  *restart = (struct restart){.resumed = 1, .goes_on = inside, .state = state};
  schedule_resume(schedule, config, state.step, state.time, state.dt, state.base_step, state.base_time);
  CHECK(agree(comm, check_not_past(schedule, path, &state)));
  log_info("restart    from %s: step %" PRId64 ", t = %.9g%s\n", path, state.step, state.time,
           state.departed ? ", its problem changed on the way" : "");
  return STATUS_OK;
}
