#include "app/restart.h"

#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/agree.h"
#include "base/log.h"
#include "equations/equation.h"
#include "files/rundir.h"
#include "settings/equations.h"

/* Follows all links of a path. [out] whole: the caller frees it; NULL if there is no such file. */
static status follow(const char *path, char **whole) {
  *whole = realpath(path, NULL);
  if (*whole != NULL || errno == ENOENT || errno == ENOTDIR) return STATUS_OK;
  return status_fail(STATUS_FILE, "%s: %s", path, strerror(errno));
}

/* Returns 1 if a path names the state of this step in `directory`. The path is modified. */
static int is_own_state(char *path, int64_t step, const char *directory) {
  long long named = -1;
  char *slash = strrchr(path, '/');
  if (!rundir_is_state(slash != NULL ? slash + 1 : path, &named) || named != step) return 0;
  if (slash != NULL) *(slash == path ? slash + 1 : slash) = '\0';
  char *parent = realpath(slash != NULL ? path : ".", NULL);
  const int own = parent != NULL && strcmp(parent, directory) == 0;
  free(parent);
  return own;
}

/* [out] inside: 1 if `file` is the run's own state of this step, by name or as a link to it. */
static status find_inside(const char *file, int64_t step, const char *directory, int *inside) {
  char given[CONFIG_PATH_SIZE];
  char *meant = NULL;
  char *ours = NULL;
  (void)snprintf(given, sizeof given, "%s", file);
  status result = follow(file, &meant);
  if (result == STATUS_OK) result = follow(directory, &ours);
  *inside =
      ours != NULL && (is_own_state(given, step, ours) || (meant != NULL && is_own_state(meant, step, ours)));
  free(meant);
  free(ours);
  return result;
}

/* Only rank 0 looks, so that all ranks decide the same. */
static status in_directory(MPI_Comm comm, const char *file, int64_t step, const char *directory,
                           int *inside) {
  int rank = 0;
  CHECK_MPI(MPI_Comm_rank(comm, &rank));
  CHECK(agree(comm, rank == 0 ? find_inside(file, step, directory, inside) : STATUS_OK));
  CHECK_MPI(MPI_Bcast(inside, 1, MPI_INT, 0, comm));
  return STATUS_OK;
}

/* Refuses a state beyond the end of this run. A state beyond it by less than schedule.c counts as a step is
 * at the end. */
static status check_not_past(const schedule *schedule, const char *path, const checkpoint_state *state) {
  const double round_off = fmax(1e-9 * schedule->dt, 4.0 * DBL_EPSILON * schedule->t_end);
  if (schedule->lands && state->time - schedule->t_end > round_off) {
    return status_fail(STATUS_USAGE,
                       "%s: its time %.12g is beyond time.t_end = %.12g; accepted: an earlier state, or a "
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

/* Waves have one step size: p_before belongs to a time dt before p, and a shortened last step would be one of
 * lower order. The message has the steps that end at or after the end asked for. */
static status check_step(const config *config, const schedule *schedule, const char *path,
                         const checkpoint_state *state) {
  if (!equation_is(config, EQUATION_LEAPS) || state->dt == schedule->dt) return STATUS_OK;
  const double end = schedule->lands ? schedule->t_end : (double)schedule->last_step * schedule->dt;
  const double steps = ceil(end / state->dt * (1.0 - 1e-9));
  char why[96] = "";
  if (schedule->divided > 0.0)
    (void)snprintf(why, sizeof why, ", which divides output.%s = %g",
                   config_output_key(config, schedule->divided), schedule->divided);
  return status_fail(
      STATUS_USAGE,
      "%s: its steps have dt = %.17g, and this run's have dt = %.17g%s; accepted: the same dt, "
      "for instance by time.dt = %.17g with time.steps = %.0f (t = %.9g)",
      path, state->dt, schedule->dt, why, state->dt, steps, steps * state->dt);
}

/* Steps of one size follow from the state at t = 0. A resumed run does not read its file, which may be gone:
 * the snapshot says what its rates were. */
static status recall_rates(const config *config, const char *path, const checkpoint_state *from,
                           schedule_rates *rates, schedule *schedule) {
  const equation *equation = equation_of(config);
  if (equation->measure == NULL || rates->initial[0] > 0.0) return STATUS_OK;
  if (!(from->rate > 0.0)) {
    if (config->adaptive || config->dt > 0.0) return STATUS_OK;
    return config_refuse(config, "time", "courant",
                         "no step size follows, because %s does not hold the rates of the initial state; "
                         "accepted: time.dt (the latest step had dt = %.17g), or adaptive = yes",
                         path, from->dt);
  }
  rates->advection = rates->initial[0] = from->rate;
  rates->other = rates->initial[1] = from->other_rate;
  equation->shares(config, rates);
  return schedule_make(config, rates, schedule);
}

int restart_from_latest(const config *config) {
  return strcmp(config->restart, "latest") == 0;
}

status restart_read(MPI_Comm comm, const config *config, checkpoint *checkpoint, schedule_rates *rates,
                    schedule *schedule, state *state, restart *restart) {
  const int latest = restart_from_latest(config);
  checkpoint_state from;
  char path[CONFIG_PATH_SIZE] = "";
  *restart = (struct restart){0};
  if (latest) {
    CHECK(checkpoint_read_latest(checkpoint, &from, state, path));
    if (path[0] == '\0')
      log_warning("restart.from = latest: no snapshot in %s: starting at t = 0", config->directory);
  } else if (config->restart[0] != '\0') {
    (void)snprintf(path, sizeof path, "%s", config->restart);
    CHECK(checkpoint_read(checkpoint, path, &from, state));
  }
  if (path[0] == '\0') return STATUS_OK;
  int inside = latest;
  if (!latest) CHECK(in_directory(comm, path, from.step, config->directory, &inside));
  *restart = (struct restart){.resumed = 1, .goes_on = inside, .from = from};
  (void)snprintf(restart->path, sizeof restart->path, "%s", path);
  CHECK(agree(comm, recall_rates(config, path, &from, rates, schedule)));
  schedule_resume(schedule, config, from.step, from.time, from.dt, from.base_step, from.base_time);
  CHECK(agree(comm, check_not_past(schedule, path, &from)));
  CHECK(agree(comm, check_step(config, schedule, path, &from)));
  log_info("restart    from %s: step %" PRId64 ", t = %.9g%s\n", path, from.step, from.time,
           from.departed ? ", its problem changed on the way" : "");
  return STATUS_OK;
}
