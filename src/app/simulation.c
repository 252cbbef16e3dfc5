#include "app/simulation.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "app/control.h"
#include "output/diagnostics.h"
#include "app/perf.h"
#include "app/plan.h"
#include "app/progress.h"
#include "app/restart.h"

typedef struct simulation {
  MPI_Comm comm;
  const config *config;
  grid grid;
  rundir rundir; /* rank 0 */
  solver solver;
  checkpoint *checkpoint;
  diagnostics diagnostics;
  schedule schedule;
  restart restart;
  control control;
  perf perf;
  progress progress;
  int64_t step;       /* phi is at this step */
  int64_t saved_step; /* newest state on disk, -1 = none */
  int ends_again;     /* it had gone on from its last step, and ends there now */
} simulation;

static int is_root(const simulation *sim) {
  return sim->grid.rank == 0;
}

static int wants_states(const config *config) {
  return config->fields_every > 0 || config->checkpoint_every > 0;
}

/* Not finite: found before anything is written over a good state. */
static status check_finite(const simulation *sim, const diagnostics_record *record) {
  if (record->finite) return STATUS_OK;
  char last[64] = "no state was written";
  if (sim->saved_step >= 0) {
    (void)snprintf(last, sizeof last, "the last good state is that of step %" PRId64, sim->saved_step);
  } else if (!wants_states(sim->config)) {
    (void)strcpy(last, "no state is kept: output.checkpoint_every = 0");
  }
  return status_fail(STATUS_NOT_FINITE,
                     "the solution is not finite at step %" PRId64
                     ", t = %.9g (dt = %.6g, Courant number %.4g); %s",
                     record->step, record->time, record->dt, record->dt * sim->solver.rates.advection, last);
}

static status measure(simulation *sim, diagnostics_record *record) {
  perf_begin(&sim->perf, PERF_DIAGNOSTICS);
  CHECK(diagnostics_measure(&sim->diagnostics, &sim->schedule, sim->step, record));
  perf_end(&sim->perf, PERF_DIAGNOSTICS);
  CHECK(agree(sim->comm, check_finite(sim, record)));
  return STATUS_OK;
}

/* Whether the state of this step stays on disk: the first and the last of a directory do where pictures are
 * wanted. */
static int is_picture(const simulation *sim) {
  const int64_t every = sim->config->fields_every;
  const int ends = sim->saved_step < 0 || sim->step == sim->schedule.last_step;
  return every > 0 && (ends || schedule_due(sim->step, every));
}

/* The rows before a state are on the disk before it is, and both in this run's own directory. */
static status ready_for_state(const simulation *sim) {
  CHECK(rundir_check_held(&sim->rundir));
  return diagnostics_sync(&sim->diagnostics);
}

static status write_state(simulation *sim) {
  if (sim->saved_step == sim->step) return STATUS_OK;
  checkpoint_state about = {.step = sim->step,
                            .time = schedule_time(&sim->schedule, sim->step),
                            .dt = sim->schedule.dt,
                            .base_step = sim->schedule.base_step,
                            .base_time = sim->schedule.base_time,
                            .departed = sim->restart.from.departed};
  /* The state that the run began from keeps the dt that led to it. */
  if (sim->restart.resumed && sim->step == sim->restart.from.step) about = sim->restart.from;
  about.picture = is_picture(sim);
  perf_begin(&sim->perf, PERF_OUTPUT);
  CHECK(agree(sim->comm, is_root(sim) ? ready_for_state(sim) : STATUS_OK));
  CHECK(checkpoint_write(sim->checkpoint, &about, stepper_state(&sim->solver.stepper)));
  perf_end(&sim->perf, PERF_OUTPUT);
  sim->saved_step = sim->step;
  return STATUS_OK;
}

/* Whatever is due at this step: a row of diagnostics, a state. The first and the last step are always due,
 * where rows or states are wanted at all, and are looked at in any case; a state is never written before it
 * is known to be finite. */
static status write_due(simulation *sim, int ends) {
  const config *config = sim->config;
  const int row =
      config->diagnostics_every > 0 && (ends || schedule_due(sim->step, config->diagnostics_every));
  const int state = wants_states(config) && (ends || schedule_due(sim->step, config->fields_every) ||
                                             schedule_due(sim->step, config->checkpoint_every));
  if (!row && !state && !ends) return STATUS_OK;
  diagnostics_record record;
  CHECK(measure(sim, &record));
  if (row) {
    CHECK(agree(sim->comm, is_root(sim) ? diagnostics_append(&sim->diagnostics, &record) : STATUS_OK));
  }
  return state ? write_state(sim) : STATUS_OK;
}

/* A request to stop: the state goes to disk whatever the configuration says of states. */
static status stop(simulation *sim, control_reason reason) {
  diagnostics_record record;
  CHECK(measure(sim, &record));
  CHECK(write_state(sim));
  return agree(sim->comm,
               status_fail(STATUS_STOPPED,
                           "stopped at step %" PRId64 " of %" PRId64 " (%s) after a checkpoint: run again "
                           "with restart.from=latest to go on",
                           sim->step, sim->schedule.last_step,
                           reason == CONTROL_SIGNAL ? "on request" : "wall-clock limit"));
}

/* Seconds that a state is expected to take: as the slowest so far; before the first, as on a slow disk, but
 * with the room for two that control leaves at most a quarter of the limit, so that every start gets on. */
static double state_seconds(const simulation *sim) {
  const double measured = sim->perf.largest[PERF_OUTPUT];
  if (measured > 0.0) return measured;
  const double slow = 1.0 + (double)checkpoint_file_bytes(&sim->grid, sim->config->precision,
                                                          equation_of(sim->config)->unknowns) /
                                1e8;
  return fmin(slow, sim->config->wall_limit / 8.0);
}

static status poll(simulation *sim) {
  control_reason reason = CONTROL_GO_ON;
  CHECK(control_poll(&sim->control, sim->step, state_seconds(sim), &reason));
  progress_show(&sim->progress, sim->step, schedule_time(&sim->schedule, sim->step), MPI_Wtime());
  return reason == CONTROL_GO_ON ? STATUS_OK : stop(sim, reason);
}

/* Whether something else than the next step comes after this one. */
static int pauses_after(const simulation *sim, int64_t step) {
  const config *config = sim->config;
  return control_due(&sim->control, step) || step == sim->schedule.last_step ||
         schedule_due(step, config->diagnostics_every) || schedule_due(step, config->fields_every) ||
         schedule_due(step, config->checkpoint_every);
}

/* Before a pause the step is waited for, so that its time is counted as its own. */
static status advance(simulation *sim) {
  const int64_t next = sim->step + 1;
  perf_begin(&sim->perf, PERF_STEPS);
  CHECK(solver_step(&sim->solver, schedule_time(&sim->schedule, sim->step), schedule_dt(&sim->schedule, next),
                    pauses_after(sim, next)));
  sim->step = next;
  sim->perf.steps++;
  perf_end(&sim->perf, PERF_STEPS);
  return STATUS_OK;
}

/* The time loop. */
static status march(simulation *sim) {
  const int64_t last = sim->schedule.last_step;
  while (sim->step < last) {
    CHECK(advance(sim));
    CHECK(write_due(sim, sim->step == last));
    if (sim->step < last && control_due(&sim->control, sim->step)) CHECK(poll(sim));
  }
  return STATUS_OK;
}

static status march_watched(simulation *sim) {
  const double points = (double)sim->grid.n[0] * (double)sim->grid.n[1] * (double)sim->grid.n[2];
  control_init(&sim->control, sim->comm, sim->control.start, sim->config->wall_limit, sim->step);
  progress_start(&sim->progress, sim->step, sim->schedule.last_step, points, MPI_Wtime());
  const status result = march(sim);
  progress_end(&sim->progress);
  return result;
}

static status make_grid(MPI_Comm comm, const config *config, grid *grid) {
  int rank = 0;
  int ranks = 1;
  CHECK_MPI(MPI_Comm_rank(comm, &rank));
  CHECK_MPI(MPI_Comm_size(comm, &ranks));
  return agree(comm, grid_make(config->n, config->l, ranks, rank, grid));
}

static void report_solver(const simulation *sim, const char *note) {
  const solver *solver = &sim->solver;
  const char *overlap = sim->config->overlap ? "on" : "off";
  if (sim->grid.ranks == 1) overlap = "without effect on one rank";
  if (note[0] != '\0') log_info("backend    %s\n", note);
  log_info("backend    %s: %s\n", solver->backend->name, solver->backend->describe(solver->context));
  log_info("halos      %s (%s), overlap %s\n", transport_name(solver->transport.transport),
           solver->transport.reason, overlap);
  if (solver->transport.warn)
    log_warning("halos are staged through host memory: %s", solver->transport.reason);
  if (!solver->backend->host_memory && solver->sharing > 1) {
    log_warning("%d ranks share a device (rank 0 sees %d): they take turns", solver->sharing,
                solver->devices);
  }
}

static status open_snapshots(simulation *sim) {
  const equation *equation = equation_of(sim->config);
  return checkpoint_create(sim->comm, &sim->grid, sim->config, equation->unknowns, equation->names,
                           &sim->checkpoint);
}

/* Everything that can fail before a file is written. */
static status prepare(simulation *sim) {
  const config *config = sim->config;
  const kernels *backend = NULL;
  char note[512] = "";
  CHECK(make_grid(sim->comm, config, &sim->grid));
  CHECK(agree(sim->comm, is_root(sim) ? rundir_check(config->directory) : STATUS_OK));
  CHECK(solver_backend(sim->comm, config, &backend, note, sizeof note));
  plan_problem(config, &sim->grid, backend->host_memory);
  CHECK(solver_create(sim->comm, config, equation_of(config), &sim->grid, backend, &sim->solver));
  sim->perf.backend = backend;
  CHECK(agree(sim->comm, schedule_make(config, &sim->solver.rates, &sim->schedule)));
  report_solver(sim, note);
  CHECK(diagnostics_create(&sim->solver, &sim->diagnostics));
  return open_snapshots(sim);
}

static status resume(simulation *sim, state *state) {
  CHECK(restart_read(sim->comm, sim->config, sim->checkpoint, &sim->schedule, state, &sim->restart));
  sim->step = sim->restart.from.step;
  return STATUS_OK;
}

static status validate(simulation *sim) {
  const config *config = sim->config;
  const kernels *backend = kernels_find(config->backend);
  char note[512] = "";
  schedule_rates rates;
  CHECK(make_grid(sim->comm, config, &sim->grid));
  CHECK(agree(sim->comm, is_root(sim) ? rundir_check(config->directory) : STATUS_OK));
  if (strcmp(config->backend, "auto") == 0)
    CHECK(solver_backend(sim->comm, config, &backend, note, sizeof note));
  if (note[0] != '\0') log_info("backend    %s\n", note);
  plan_problem(config, &sim->grid, backend != NULL && backend->host_memory);
  if (backend != NULL && backend->host_memory) CHECK(plan_memory(sim->comm, config, &sim->grid, backend));
  plan_rate(config, &sim->grid);
  CHECK(solver_rates(sim->comm, config, equation_of(config), &sim->grid, &rates));
  CHECK(agree(sim->comm, schedule_make(config, &rates, &sim->schedule)));
  if (config->restart[0] != '\0') {
    CHECK(open_snapshots(sim));
    CHECK(resume(sim, NULL));
  }
  plan_steps(config, &sim->grid, &sim->schedule, sim->step, !sim->restart.goes_on);
  plan_warn_unstable(config, &sim->schedule, &rates);
  return STATUS_OK;
}

status simulation_validate(MPI_Comm comm, const config *config) {
  simulation sim = {.comm = comm, .config = config};
  const status result = validate(&sim);
  if (sim.checkpoint != NULL) checkpoint_destroy(sim.checkpoint);
  return result;
}

/* Opens the run directory on rank 0 and brings it into order: a fresh run's, or one that goes on. */
static status open_directory(simulation *sim) {
  return agree(sim->comm, is_root(sim) ? rundir_open(sim->config->directory, &sim->rundir) : STATUS_OK);
}

static status set_aside(simulation *sim) {
  char moved[64] = "";
  CHECK(rundir_set_aside(&sim->rundir, moved));
  if (moved[0] != '\0')
    log_info("output     results of an earlier run moved to %s/%s\n", sim->rundir.path, moved);
  return STATUS_OK;
}

/* What somebody has written into the resolved configuration of an earlier start is not lost. */
static status keep_notes(const rundir *rundir) {
  char path[sizeof rundir->path + sizeof "/" RUNDIR_CONFIG];
  char moved[64];
  struct stat info;
  (void)snprintf(path, sizeof path, "%s/" RUNDIR_CONFIG, rundir->path);
  if (stat(path, &info) != 0 || (S_ISREG(info.st_mode) && config_is_resolved(path))) return STATUS_OK;
  CHECK(rundir_set_aside_one(rundir, RUNDIR_CONFIG, moved));
  log_info("output     " RUNDIR_CONFIG ", not as a run leaves it, moved to %s/%s\n", rundir->path, moved);
  return STATUS_OK;
}

static status write_config(simulation *sim) {
  char *text = NULL;
  CHECK(keep_notes(&sim->rundir));
  CHECK(config_text(sim->config, &text));
  const status result = rundir_write(&sim->rundir, RUNDIR_CONFIG, text);
  free(text);
  return result;
}

static status open_files(simulation *sim, int64_t from) {
  CHECK(write_config(sim));
  return diagnostics_open(&sim->diagnostics, &sim->rundir, from);
}

/* Whether the run had reached its end before: then its files stay as they are, if it had not gone on from
 * there. */
static int is_finished(const simulation *sim) {
  return sim->saved_step == sim->schedule.last_step;
}

/* Whether the files of a finished run say more than its last step. `rewound`: on rank 0, whether states did.
 */
static status find_more(simulation *sim, int rewound) {
  status result = STATUS_OK;
  sim->ends_again = rewound;
  if (is_root(sim) && !rewound)
    result = diagnostics_goes_beyond(&sim->diagnostics, &sim->rundir, sim->step, &sim->ends_again);
  CHECK(agree(sim->comm, result));
  CHECK_MPI(MPI_Bcast(&sim->ends_again, 1, MPI_INT, 0, sim->comm));
  return STATUS_OK;
}

/* Whether the directory has to be opened before a state is read: the latest is only known once no other run
 * writes, and what a run that died was moving away is no state to begin from. */
static status open_first(const simulation *sim, int *first) {
  *first = restart_from_latest(sim->config) || (is_root(sim) && rundir_moves(sim->config->directory));
  CHECK_MPI(MPI_Bcast(first, 1, MPI_INT, 0, sim->comm));
  return STATUS_OK;
}

static status start(simulation *sim) {
  const config *config = sim->config;
  state *state = stepper_state(&sim->solver.stepper);
  int first = 0;
  int rewound = 0; /* rank 0 */
  sim->saved_step = -1;
  CHECK(open_first(sim, &first));
  /* Otherwise a state that is refused leaves no trace of the run. */
  if (!first) CHECK(resume(sim, state));
  CHECK(open_directory(sim));
  if (first) CHECK(resume(sim, state));
  if (sim->restart.from.departed) sim->diagnostics.with_errors = 0;
  if (sim->restart.goes_on) {
    CHECK(checkpoint_rewind(sim->checkpoint, sim->step, &rewound));
    sim->saved_step = sim->step;
  } else {
    CHECK(agree(sim->comm, is_root(sim) ? set_aside(sim) : STATUS_OK));
  }
  plan_steps(config, &sim->grid, &sim->schedule, sim->step, !sim->restart.goes_on);
  plan_warn_unstable(config, &sim->schedule, &sim->solver.rates);
  CHECK(sim->restart.resumed ? solver_refresh(&sim->solver) : solver_initialise(&sim->solver));
  if (is_finished(sim)) CHECK(find_more(sim, rewound));
  const int opens = is_root(sim) && (sim->ends_again || !is_finished(sim));
  return agree(sim->comm, opens ? open_files(sim, sim->restart.goes_on ? sim->step : -1) : STATUS_OK);
}

static void summarise(const simulation *sim) {
  const double seconds = sim->perf.seconds[PERF_STEPS];
  const double points = (double)sim->grid.n[0] * (double)sim->grid.n[1] * (double)sim->grid.n[2];
  log_info("done       %" PRId64 " step%s", sim->perf.steps, sim->perf.steps == 1 ? "" : "s");
  if (sim->perf.steps > 0)
    log_info(" in %.4g s, %.4g points/s", seconds, points * (double)sim->perf.steps / seconds);
  log_info("; diagnostics %.3g s, output %.3g s\n", sim->perf.seconds[PERF_DIAGNOSTICS],
           sim->perf.seconds[PERF_OUTPUT]);
  log_info("results    %s\n", sim->config->directory);
}

/* The last row of a run that had gone on from its last step. */
static status end_again(simulation *sim) {
  diagnostics_record record;
  CHECK(measure(sim, &record));
  const int row = is_root(sim) && sim->config->diagnostics_every > 0 && sim->diagnostics.last < sim->step;
  CHECK(agree(sim->comm, row ? diagnostics_append(&sim->diagnostics, &record) : STATUS_OK));
  return agree(sim->comm, is_root(sim) ? diagnostics_close(&sim->diagnostics) : STATUS_OK);
}

static status run(simulation *sim) {
  perf_begin(&sim->perf, PERF_SETUP);
  CHECK(prepare(sim));
  CHECK(start(sim));
  perf_end(&sim->perf, PERF_SETUP);
  if (is_finished(sim)) {
    if (sim->ends_again) CHECK(end_again(sim));
    log_info("nothing to do: the run is at its last step, %" PRId64 "\n", sim->step);
    return STATUS_OK;
  }
  if (sim->saved_step < 0) CHECK(write_due(sim, 1));
  CHECK(march_watched(sim));
  CHECK(agree(sim->comm, is_root(sim) ? diagnostics_close(&sim->diagnostics) : STATUS_OK));
  CHECK(perf_write(&sim->perf, &sim->solver, &sim->rundir));
  summarise(sim);
  return STATUS_OK;
}

/* A run that ends early leaves its measurements too; if it cannot, it has ended as it has all the same. */
static status end_early(simulation *sim, status result) {
  char words[STATUS_MESSAGE_SIZE];
  (void)snprintf(words, sizeof words, "%s", status_message(result));
  status_clear();
  CHECK(agree(sim->comm, STATUS_OK)); /* from here on a fault is a new one */
  const status written = perf_write(&sim->perf, &sim->solver, &sim->rundir);
  if (written != STATUS_OK && !agree_reached()) return written;
  if (written != STATUS_OK) log_warning("no measurements: %s", status_message(written));
  summarise(sim);
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
    if (result == STATUS_STOPPED || result == STATUS_NOT_FINITE) result = end_early(sim, result);
    diagnostics_destroy(&sim->diagnostics);
    if (sim->checkpoint != NULL) checkpoint_destroy(sim->checkpoint);
    if (result == STATUS_OK || agree_reached()) {
      const status left = halo_leave(&sim->solver.halo);
      if (result == STATUS_OK) result = left;
    }
    solver_destroy(&sim->solver);
    rundir_close(&sim->rundir);
  }
  free(sim);
  return result;
}
