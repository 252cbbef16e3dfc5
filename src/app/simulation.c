#include "app/simulation.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "app/running.h"
#include "base/log.h"
#include "problems/problem.h"

/* Handles a request to stop: writes a state even if the configuration asks for none. */
static status stop(simulation *sim, control_reason reason) {
  CHECK(measure(sim));
  CHECK(due_begin_state(sim, 1, 0));
  CHECK(due_end_state(sim));
  return agree(sim->comm,
               status_fail(STATUS_STOPPED,
                           "stopped at step %" PRId64 " of %" PRId64 " (%s) after a checkpoint: resume "
                           "with restart.from=latest",
                           sim->step, sim->schedule.last_step,
                           reason == CONTROL_SIGNAL ? "on request" : "wall-clock limit"));
}

/* Seconds that a state is expected to take: as long as the slowest so far, twice if one is under way. Before
 * the first one: as on a slow disk (100 MB/s), but at most an eighth of the wall-clock limit, so that every
 * start makes progress although control.c leaves room for two. */
static double state_seconds(const simulation *sim) {
  const double times = checkpoint_pending(sim->checkpoint) ? 2.0 : 1.0;
  const double measured = checkpoint_longest(sim->checkpoint);
  const double slow = 1.0 + (double)checkpoint_file_bytes(&sim->grid, sim->config->precision,
                                                          equation_of(sim->config)->unknowns) /
                                1e8;
  return times * (measured > 0.0 ? measured : fmin(slow, sim->config->wall_limit / 8.0));
}

/* Shows the range of the latest measurement, which may be of an earlier step. */
static void show_progress(simulation *sim) {
  char range[128];
  char text[192];
  measure_describe(sim, 1, range, sizeof range);
  const int now = sim->latest.step == sim->step;
  (void)snprintf(text, sizeof text, now ? "%s" : "%s at step %" PRId64, range, sim->latest.step);
  sim->progress.last_step = sim->schedule.last_step;
  progress_show(&sim->progress, sim->step, schedule_time(&sim->schedule, sim->step), text, MPI_Wtime());
}

static status poll(simulation *sim) {
  control_reason reason = CONTROL_GO_ON;
  CHECK(due_poll(sim));
  energy_watch(&sim->perf.energy);
  CHECK(control_poll(&sim->control, sim->step, state_seconds(sim), &reason));
  show_progress(sim);
  return reason == CONTROL_GO_ON ? STATUS_OK : stop(sim, reason);
}

/* Returns 1 if the state of this step is measured, for a row of diagnostics or before it is written. */
static int measures_at(const simulation *sim, int64_t step) {
  const config *config = sim->config;
  return step == sim->schedule.last_step || schedule_meets(&sim->schedule, step, config->diagnostics_due) ||
         schedule_meets(&sim->schedule, step, config->fields_due) ||
         schedule_due(step, config->checkpoint_every);
}

/* Returns 1 if anything but the next step follows this one. */
static int pauses_after(const simulation *sim, int64_t step) {
  const config *config = sim->config;
  return control_due(&sim->control, step) || measures_at(sim, step) ||
         schedule_due(step, config->hash_every) || schedule_due(step, config->redistance_every) ||
         slices_due(&sim->slices, &sim->schedule, step) || probes_due(&sim->probes, &sim->schedule, step) ||
         (!equation_is(config, EQUATION_LEAPS) &&
          receivers_due(&sim->receivers, step)); /* waves always have valid halos */
}

/* A step beyond the largest time factor of the velocity would be too long. A formula is sampled before the
 * run, but samples may miss a peak. The same on every rank. */
static status check_factor(const simulation *sim, double time, double dt) {
  const scheme *scheme = sim->solver.stepper.scheme;
  char what[96];
  for (int i = 0; i < scheme->stages; i++) {
    const double at = time + scheme->stage[i].c * dt;
    const double factor = equation_rate_factor(sim->solver.equation, sim->config, at);
    if (problem_factor_allowed(factor)) continue;
    (void)snprintf(what, sizeof what, "velocity.factor is %g at t = %.9g; accepted: at most 1 in magnitude",
                   factor, at);
    return agree(sim->comm, measure_blown_up(sim, what));
  }
  return STATUS_OK;
}

/* Finds the size of the next step from the state, if the schedule asks for it. With steps of one size it
 * finds the rates of the state, too, before a step whose end is measured, because the Courant number there is
 * that of the step's start; and every WATCHED steps, because they are not finite where density or pressure is
 * not positive. At each step that would take 4 % of an inviscid step on a CPU in double precision, and 10 %
 * in single. */
static status follow(simulation *sim) {
  enum { WATCHED = 8 };
  const int finds = sim->schedule.measured;
  if (!finds && sim->solver.equation->measure == NULL) return STATUS_OK;
  if (!finds && sim->step % WATCHED != 0 && !measures_at(sim, sim->step + 1)) return STATUS_OK;
  const schedule_rates before = sim->solver.rates;
  CHECK(solver_measure(&sim->solver));
  const double rate = sim->solver.rates.advection + sim->solver.rates.other;
  if (!isfinite(rate)) {
    if (!finds) sim->solver.rates = before;
    CHECK(measure(sim));
    return agree(sim->comm, measure_blown_up(sim, "no step size follows from it"));
  }
  if (finds) schedule_follow(&sim->schedule, &sim->solver.rates);
  return STATUS_OK;
}

static status sample(simulation *sim) {
  const double time = schedule_time(&sim->schedule, sim->step);
  CHECK(receivers_sample(&sim->receivers, &state_of(sim)->part[0], time, sim->step));
  return statistics_sample(&sim->statistics, state_of(sim), sim->step, time);
}

/* Takes a step, whose time is counted with that of finding its size, which waits for the steps before.
 * Before a pause it waits for the step, so that its time is counted as the step's, and for the other ranks.
 */
static status take_step(simulation *sim) {
  const int64_t next = sim->step + 1;
  perf_begin(&sim->perf, PERF_STEPS);
  CHECK(follow(sim));
  const double time = schedule_time(&sim->schedule, sim->step), dt = schedule_dt(&sim->schedule, next);
  const int pauses = pauses_after(sim, next);
  CHECK(check_factor(sim, time, dt));
  CHECK(solver_step(&sim->solver, time, dt, pauses));
  if (pauses) CHECK(control_meet(&sim->control, next));
  if (schedule_due(next, sim->config->redistance_every)) CHECK(solver_redistance(&sim->solver));
  schedule_advance(&sim->schedule);
  sim->step = next;
  CHECK(sample(sim));
  sim->perf.steps++;
  perf_end(&sim->perf, PERF_STEPS);
  return STATUS_OK;
}

/* The time loop. */
static status run_steps(simulation *sim) {
  const int64_t *last = &sim->schedule.last_step;
  while (sim->step < *last) {
    CHECK(take_step(sim));
    CHECK(due_write(sim, sim->step == *last));
    if (sim->step < *last && control_due(&sim->control, sim->step)) CHECK(poll(sim));
  }
  return STATUS_OK;
}

static status run_watched(simulation *sim) {
  control_init(&sim->control, sim->comm, sim->control.start, sim->config->wall_limit,
               halo_patience(&sim->solver.halo), sim->step);
  progress_start(&sim->progress, sim->step, sim->schedule.last_step, points_of(sim), MPI_Wtime());
  CHECK(energy_start(&sim->solver, &sim->perf.energy));
  const status result = run_steps(sim);
  energy_read(&sim->perf.energy);
  energy_close(&sim->perf.energy);
  progress_end(&sim->progress);
  return result;
}

static void summarise(const simulation *sim, const char *how) {
  const double seconds = sim->perf.seconds[PERF_STEPS];
  char ranges[STATE_FIELDS * 64];
  measure_describe(sim, sim->diagnostics.fields, ranges, sizeof ranges);
  log_info("%-10s %" PRId64 " step%s", how, sim->perf.steps, sim->perf.steps == 1 ? "" : "s");
  if (sim->perf.steps > 0)
    log_info(" in %.4g s, %.4g points/s", seconds, points_of(sim) * (double)sim->perf.steps / seconds);
  log_info("; diagnostics %.3g s, output %.3g s\n", sim->perf.seconds[PERF_DIAGNOSTICS],
           sim->perf.seconds[PERF_OUTPUT]);
  log_info("solution   %s at step %" PRId64 "\n", ranges, sim->latest.step);
  log_info("results    %s\n", sim->config->directory);
}

static status close_tables(simulation *sim) {
  CHECK(table_close(&sim->diagnostics.table));
  CHECK(table_close(&sim->probes.table));
  return table_close(&sim->hashes);
}

/* Writes the last row of a run that had continued from its last step. */
static status end_again(simulation *sim) {
  CHECK(measure(sim));
  const int row =
      is_root(sim) && config_ever(sim->config->diagnostics_due) && sim->diagnostics.table.last < sim->step;
  CHECK(agree(sim->comm, row ? diagnostics_append(&sim->diagnostics, &sim->latest) : STATUS_OK));
  CHECK(receivers_save(&sim->receivers, &sim->rundir));
  return agree(sim->comm, is_root(sim) ? close_tables(sim) : STATUS_OK);
}

static status find_answer(simulation *sim) {
  const double updates =
      points_of(sim) * (double)sim->solver.stepper.scheme->stages * (double)sim->perf.steps;
  perf_begin(&sim->perf, PERF_HASH);
  CHECK(answer_find(sim->comm, sim->config, sim->checkpoint, sim->step, state_of(sim), updates,
                    sim->perf.seconds[PERF_STEPS], &sim->answer));
  perf_end(&sim->perf, PERF_HASH);
  return STATUS_OK;
}

static status tell_answer(const simulation *sim) {
  answer_print(&sim->answer, sim->config);
  return agree(sim->comm, answer_judge(&sim->answer, sim->config));
}

static status do_nothing(simulation *sim) {
  if (sim->ends_again) CHECK(end_again(sim));
  CHECK(find_answer(sim));
  log_info("nothing to do: the run is at its last step, %" PRId64 "\n", sim->step);
  return tell_answer(sim);
}

static status run(simulation *sim) {
  perf_begin(&sim->perf, PERF_SETUP);
  CHECK(begin_prepare(sim));
  CHECK(begin_start(sim));
  perf_end(&sim->perf, PERF_SETUP);
  if (is_finished(sim)) return do_nothing(sim);
  CHECK(sample(sim));
  CHECK(sim->saved_step < 0 ? due_write(sim, 1) : due_write_places(sim));
  CHECK(run_watched(sim));
  CHECK(due_end_state(sim));
  CHECK(statistics_write(&sim->statistics, sim->step, schedule_time(&sim->schedule, sim->step)));
  statistics_warn(&sim->statistics);
  CHECK(receivers_save(&sim->receivers, &sim->rundir));
  CHECK(agree(sim->comm, is_root(sim) ? close_tables(sim) : STATUS_OK));
  CHECK(find_answer(sim));
  CHECK(perf_write(&sim->perf, &sim->solver, &sim->rundir, &sim->answer));
  summarise(sim, "done");
  CHECK(beyond_warn(&sim->bound, &sim->extremes, state_of(sim), sim->step,
                    schedule_time(&sim->schedule, sim->step)));
  return tell_answer(sim);
}

/* Writes the measurements of a run that ends early. If that fails it warns, and keeps the run's status. A run
 * that has blown up ends the snapshot under way before, because the message names it as the last good state.
 */
static status end_early(simulation *sim, status result) {
  char words[STATUS_MESSAGE_SIZE];
  (void)snprintf(words, sizeof words, "%s", status_message(result));
  status_clear();
  CHECK(agree(sim->comm, STATUS_OK)); /* later errors are new ones */
  if (result == STATUS_BLOWN_UP) CHECK(due_end_state(sim));
  const status written = perf_write(&sim->perf, &sim->solver, &sim->rundir, NULL);
  if (written != STATUS_OK && !agree_reached()) return written;
  if (written != STATUS_OK) log_warning("no measurements: %s", status_message(written));
  summarise(sim, result == STATUS_STOPPED ? "stopped" : "blew up");
  status_set_message(words);
  return agree(sim->comm, result);
}

status simulation_run(MPI_Comm comm, const config *config, double start) {
  simulation *sim = calloc(1, sizeof *sim);
  const status allocated =
      sim != NULL ? STATUS_OK : status_fail(STATUS_MEMORY, "no memory for the simulation");
  status result = agree(comm, allocated);
  if (result == STATUS_OK) {
    sim->comm = comm;
    sim->config = config;
    sim->control.start = start;
    sim->rundir.lock = -1;
    result = run(sim);
    if (result == STATUS_STOPPED || result == STATUS_BLOWN_UP) result = end_early(sim, result);
    diagnostics_destroy(&sim->diagnostics);
    probes_destroy(&sim->probes);
    slices_destroy(&sim->slices);
    receivers_destroy(&sim->receivers);
    derived_destroy(&sim->derived);
    statistics_destroy(&sim->statistics);
    table_destroy(&sim->hashes);
    if (sim->checkpoint != NULL) checkpoint_destroy(sim->checkpoint);
    if (sim->kept != NULL) checkpoint_destroy(sim->kept);
    const int together = result == STATUS_OK || agree_reached();
    if (together) {
      const status left = halo_leave(&sim->solver.halo);
      if (result == STATUS_OK) result = left;
    }
    /* otherwise neighbours' devices may still write to this rank's memory, until main ends them all */
    if (together || !halo_sends(&sim->solver.halo)) solver_destroy(&sim->solver);
    rundir_close(&sim->rundir);
  }
  free(sim);
  return result;
}
