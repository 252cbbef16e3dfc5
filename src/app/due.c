#include "app/running.h"

static int is_due(const simulation *sim, config_period due) {
  return schedule_meets(&sim->schedule, sim->step, due);
}

/* Returns 1 if the state of this step is kept, as the first and the last of a directory are if any is. */
static int is_picture(const simulation *sim) {
  const config_period due = config_whole_due(sim->config);
  const int ends = sim->saved_step < 0 || sim->step == sim->schedule.last_step;
  return config_ever(due) && (ends || is_due(sim, due));
}

/* Called before a state is written: flushes the tables' rows to the disk, and checks that the directory is
 * still this run's own. */
static status ready_for_state(const simulation *sim) {
  CHECK(rundir_check_held(&sim->rundir));
  CHECK(table_sync(&sim->probes.table));
  CHECK(table_sync(&sim->hashes));
  return table_sync(&sim->diagnostics.table);
}

static int kept_pending(const simulation *sim) {
  return sim->kept != NULL && checkpoint_pending(sim->kept);
}

/* Ends the snapshots that were begun. The kept one is renamed first, so that a run that resumes has all kept
 * ones up to its step. */
static status end_state(simulation *sim) {
  if (!checkpoint_pending(sim->checkpoint) && !kept_pending(sim)) return STATUS_OK;
  CHECK(agree(sim->comm, is_root(sim) ? rundir_check_held(&sim->rundir) : STATUS_OK));
  if (sim->kept != NULL) CHECK(checkpoint_end(sim->kept));
  return checkpoint_end(sim->checkpoint);
}

status due_end_state(simulation *sim) {
  perf_begin(&sim->perf, PERF_OUTPUT);
  const status result = end_state(sim);
  perf_end(&sim->perf, PERF_OUTPUT);
  return result;
}

/* Finds the state with what is derived from it, for kept snapshots and slices, once at a step. Overwrites the
 * scratch state. */
static status show(simulation *sim) {
  stepper *stepper = &sim->solver.stepper;
  if (sim->shown_step == sim->step) return STATUS_OK;
  CHECK(agree(sim->comm, derived_find(&sim->derived, state_of(sim), stepper_scratch(stepper), &sim->shown)));
  sim->shown_step = sim->step;
  return STATUS_OK;
}

static status begin_kept(simulation *sim, const checkpoint_state *about) {
  CHECK(show(sim));
  return checkpoint_begin(sim->kept, about, &sim->shown);
}

status due_begin_state(simulation *sim, int whole, int kept) {
  whole = whole && sim->saved_step != sim->step;
  if (!whole && !kept) return STATUS_OK;
  checkpoint_state about = {.step = sim->step,
                            .time = schedule_time(&sim->schedule, sim->step),
                            .dt = schedule_stored_dt(&sim->schedule, sim->step),
                            .base_step = sim->schedule.base_step,
                            .base_time = sim->schedule.base_time,
                            .rate = sim->solver.rates.initial[0],
                            .other_rate = sim->solver.rates.initial[1],
                            .departed = sim->restart.from.departed};
  /* the state that the run started from keeps its dt */
  if (sim->restart.resumed && sim->step == sim->restart.from.step) about = sim->restart.from;
  about.files = sim->files;
  about.growth = sim->bound.from;
  about.picture = 1;
  perf_begin(&sim->perf, PERF_OUTPUT);
  CHECK(end_state(
      sim)); /* so that the statistics beside it are not taken for those of a snapshot that is gone */
  if (whole) CHECK(statistics_write(&sim->statistics, sim->step, about.time));
  CHECK(receivers_save(&sim->receivers, &sim->rundir));
  CHECK(agree(sim->comm, is_root(sim) ? ready_for_state(sim) : STATUS_OK));
  if (kept) CHECK(begin_kept(sim, &about));
  about.picture = is_picture(sim);
  if (whole) CHECK(checkpoint_begin(sim->checkpoint, &about, state_of(sim)));
  if (whole) sim->saved_step = sim->step;
  if (!sim->config->output_overlap) CHECK(end_state(sim));
  perf_end(&sim->perf, PERF_OUTPUT);
  return STATUS_OK;
}

static status write_hashes(simulation *sim) {
  uint64_t hash = 0;
  size_t count = 0;
  perf_begin(&sim->perf, PERF_HASH);
  CHECK(checkpoint_hash(sim->checkpoint, sim->step, state_of(sim), &hash));
  const uint64_t *planes = checkpoint_plane_hashes(sim->checkpoint, &count);
  CHECK(agree(sim->comm,
              is_root(sim) ? hashes_append(&sim->hashes, sim->step, hash, planes, count) : STATUS_OK));
  perf_end(&sim->perf, PERF_HASH);
  return STATUS_OK;
}

static status write_slices(simulation *sim) {
  CHECK(show(sim));
  return slices_write(&sim->slices, &sim->shown, &sim->schedule, sim->step);
}

status due_write_places(simulation *sim) {
  const schedule *schedule = &sim->schedule;
  const int planes = slices_due(&sim->slices, schedule, sim->step);
  const int points = probes_due(&sim->probes, schedule, sim->step);
  if (!planes && !points) return STATUS_OK;
  perf_begin(&sim->perf, PERF_SLICES);
  if (planes) CHECK(write_slices(sim));
  if (points) CHECK(probes_append(&sim->probes, state_of(sim), schedule, sim->step));
  perf_end(&sim->perf, PERF_SLICES);
  return STATUS_OK;
}

status due_write(simulation *sim, int ends) {
  const config *config = sim->config;
  const int row = config_ever(config->diagnostics_due) && (ends || is_due(sim, config->diagnostics_due));
  const int state = config_wants_states(config) && (ends || is_due(sim, config_whole_due(config)) ||
                                                    schedule_due(sim->step, config->checkpoint_every));
  const int kept = sim->kept != NULL && (ends || is_due(sim, config->fields_due));
  if (schedule_due(sim->step, config->hash_every)) CHECK(write_hashes(sim));
  if (!row && !state && !kept && !ends) return due_write_places(sim);
  CHECK(measure(sim));
  CHECK(due_write_places(sim));
  if (row) {
    CHECK(agree(sim->comm, is_root(sim) ? diagnostics_append(&sim->diagnostics, &sim->latest) : STATUS_OK));
  }
  return due_begin_state(sim, state, kept);
}

status due_poll(simulation *sim) {
  int written = 0;
  if (checkpoint_pending(sim->checkpoint)) {
    CHECK(checkpoint_written(sim->checkpoint, &written));
  } else if (kept_pending(sim)) {
    CHECK(checkpoint_written(sim->kept, &written));
  }
  return written ? due_end_state(sim) : STATUS_OK;
}
