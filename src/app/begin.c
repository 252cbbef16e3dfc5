#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "app/unresolved.h"
#include "app/plan.h"
#include "app/remember.h"
#include "app/running.h"
#include "app/simulation.h"
#include "base/log.h"
#include "base/number.h"
#include "base/text.h"
#include "domain/backend.h"
#include "domain/node.h"
#include "problems/medium.h"
#include "problems/points.h"
#include "problems/problem.h"
#include "problems/wavelet.h"
#include "settings/scheme.h"

static status make_grid(MPI_Comm comm, const config *config, grid *grid) {
  int rank = 0;
  int ranks = 1;
  CHECK_MPI(MPI_Comm_rank(comm, &rank));
  CHECK_MPI(MPI_Comm_size(comm, &ranks));
  CHECK(agree(comm, problem_grid(config, ranks, rank, grid)));
  const int twice = schemes_all(config->scheme)->leap == 4;
  const int layered = config->ends[AXIS_Z][GRID_LOW] == CONFIG_END_LAYER ||
                      config->ends[AXIS_Z][GRID_HIGH] == CONFIG_END_LAYER;
  const int needed = (twice ? 2 * KERNELS_HALO : KERNELS_HALO) + (layered ? config->layer_points : 0);
  const int64_t least = grid->n[2] / ranks;
  if (ranks == 1 || least >= needed) return STATUS_OK;
  return agree(comm, status_fail(STATUS_USAGE,
                                 "grid: %" PRId64 " planes on %d ranks: %" PRId64
                                 " to a rank; accepted: at least %d with %s%s",
                                 grid->n[2], ranks, least, needed, schemes_all(config->scheme)->name,
                                 layered ? " and layers along z" : ""));
}

/* Refuses a file that the run reads and would move away as a result of an earlier run: its own configuration
 * could not run again. */
static status check_source(const config *config, const char *section, const char *name, int used,
                           const char *path) {
  if (path[0] == '\0' || !used || !rundir_owns(config->directory, path)) return STATUS_OK;
  return config_refuse(config, section, name,
                       "a result in output.directory, which a run moves into previous_N; accepted: a file "
                       "elsewhere or of another name, or another directory");
}

static status check_directory(const config *config) {
  CHECK(rundir_check(config->directory));
  const int moves = equation_is(config, EQUATION_CARRIED) && problem_uses(config, "velocity", "file");
  const int starts = problem_uses(config, "initial", "file"), sourced = config_sourced(config);
  CHECK(check_source(config, "initial", "file", starts, config->initial_file));
  CHECK(check_source(config, "velocity", "file", moves, config->velocity_file));
  CHECK(check_source(config, "source", "file", 1, config->source_data));
  CHECK(check_source(config, "medium", "file", medium_count(config) > 0, config->medium_file));
  CHECK(check_source(config, "point_sources", "file", sourced, config->source_file));
  CHECK(check_source(config, "point_sources", "wavelet_file", sourced, config->wavelet_file));
  return check_source(config, "receivers", "file", config_received(config), config->receiver_file);
}

static void report_solver(const simulation *sim, const char *note) {
  const solver *solver = &sim->solver;
  const char *overlap = sim->config->overlap ? "on" : "off";
  if (sim->grid.ranks == 1) overlap = "without effect on one rank";
  if (note[0] != '\0') log_info("backend    %s\n", note);
  log_info("backend    %s: %s\n", solver->backend->name, solver->backend->describe(solver->context));
  log_info("halos      %s (%s), overlap %s\n", transport_name(solver->transport.transport),
           solver->transport.reason, overlap);
  if (!solver->backend->host_memory) {
    const char *single = solver->stepper.single;
    log_info("stages     %s%s\n", single[0] == '\0' ? "two in one sweep" : "one by one: ", single);
  }
  if (solver->transport.warn)
    log_warning("halos are staged through host memory: %s", solver->transport.reason);
  if (!solver->backend->host_memory && solver->sharing > 1) {
    log_warning("%d ranks share a device (rank 0 sees %d): they take turns", solver->sharing,
                solver->devices);
  }
}

/* [out] room: 1 if every node has host memory for a copy of its ranks' fields. */
static status has_room(const simulation *sim, int64_t bytes, int *room) {
  const kernels *host = kernels_find("cpu");
  size_t available = 0;
  int64_t needed = 0;
  int ranks = 0;
  node node;
  CHECK(node_open(sim->comm, &node));
  CHECK(node_device_bytes(&node, 0, bytes, &needed, &ranks));
  CHECK(node_close(&node));
  const int mine =
      host != NULL && host->memory_available(NULL, &available) == STATUS_OK && (uint64_t)needed <= available;
  status_clear();
  CHECK_MPI(MPI_Allreduce(&mine, room, 1, MPI_INT, MPI_MIN, sim->comm));
  return STATUS_OK;
}

/* Allocates the copy from which snapshots are written while steps continue, if there is room for it. */
static status hold_copy(simulation *sim) {
  const solver *solver = &sim->solver;
  solver_needs needs;
  solver_estimate(sim->config, solver->equation, &sim->grid, solver->backend->host_memory, &needs);
  const double bytes = (double)needs.copy_bytes;
  char text[NUMBER_TEXT];
  int held = 0;
  if (needs.copy_bytes == 0) return STATUS_OK;
  CHECK(has_room(sim, (int64_t)needs.copy_bytes, &held));
  if (held) CHECK(checkpoint_hold(sim->checkpoint, &solver->space, &held));
  if (held) {
    log_info("snapshots  written while steps go on, from a copy of %s per rank\n", number_bytes(bytes, text));
  } else {
    log_info("snapshots  steps wait for them: no memory for a copy of %s per rank\n",
             number_bytes(bytes, text));
  }
  return STATUS_OK;
}

/* Prepares kept snapshots that hold something else than the fields. They are always written from a copy of
 * what they hold. */
static status open_kept(simulation *sim) {
  int held = 0;
  if (!config_kept_in_part(sim->config)) return STATUS_OK;
  CHECK(checkpoint_create_part(sim->comm, &sim->grid, sim->config, sim->derived.count, sim->derived.names,
                               &sim->kept));
  CHECK(checkpoint_hold(sim->kept, &sim->solver.space, &held));
  return agree(sim->comm,
               held ? STATUS_OK : status_fail(STATUS_MEMORY, "no memory for what kept snapshots hold"));
}

static status open_snapshots(simulation *sim) {
  const equation *equation = equation_of(sim->config);
  return checkpoint_create(sim->comm, &sim->grid, sim->config, equation->unknowns, equation->names,
                           &sim->checkpoint);
}

/* Finds what stands for the values of the equation's files, without the sign. */
static status find_files(simulation *sim) {
  const equation *equation = sim->solver.equation;
  const uint64_t terms = equation->files != NULL ? equation->files(sim->solver.terms) : 0;
  const uint64_t mine = terms + sim->solver.sources.hash;
  uint64_t all = 0;
  CHECK_MPI(MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, sim->comm));
  sim->files = (int64_t)(all & INT64_MAX);
  return STATUS_OK;
}

static status create_hashes(simulation *sim) {
  const equation *equation = sim->solver.equation;
  if (sim->config->hash_every == 0) return STATUS_OK;
  return hashes_create(sim->config->hash_every, equation->unknowns, equation->names, sim->grid.n[2],
                       &sim->hashes);
}

static status check_names(const simulation *sim) {
  const equation *equation = equation_of(sim->config);
  CHECK(agree(sim->comm, config_units_check(sim->config, equation->unknowns, equation->names)));
  return agree(sim->comm, statistics_check(sim->config, equation->unknowns, equation->names));
}

status begin_prepare(simulation *sim) {
  const config *config = sim->config;
  const kernels *backend = NULL;
  char note[512] = "";
  CHECK(check_names(sim));
  CHECK(make_grid(sim->comm, config, &sim->grid));
  CHECK(agree(sim->comm, is_root(sim) ? check_directory(config) : STATUS_OK));
  CHECK(backend_choose(sim->comm, config->backend, &backend, note, sizeof note));
  plan_problem(config, &sim->grid, backend->host_memory);
  CHECK(solver_create(sim->comm, config, equation_of(config), &sim->grid, backend, &sim->solver));
  sim->perf.backend = backend;
  CHECK(agree(sim->comm, schedule_make(config, &sim->solver.rates, &sim->schedule)));
  CHECK(solver_settle(&sim->solver, sim->schedule.dt));
  report_solver(sim, note);
  const equation *equation = sim->solver.equation;
  CHECK(diagnostics_create(sim->comm, &sim->grid, equation->unknowns, equation->names,
                           config->diagnostics_due.every, equation_fact(equation->known_later, config),
                           &sim->diagnostics));
  if (equation->energy != NULL || equation->density != NULL) {
    double weight[STATE_FIELDS] = {0.0};
    if (equation->energy != NULL) equation->energy(sim->solver.terms, weight);
    CHECK(agree(sim->comm, diagnostics_add_energy(&sim->diagnostics, weight)));
  }
  if (equation->figures != NULL)
    CHECK(agree(sim->comm, diagnostics_add_figures(&sim->diagnostics, config, equation->figures)));
  CHECK(agree(sim->comm, derived_create(&sim->solver.space, &sim->grid, config, equation->figures,
                                        equation->unknowns, equation->names, &sim->derived)));
  CHECK(slices_create(sim->comm, &sim->grid, config, sim->derived.count, sim->derived.names, &sim->slices));
  CHECK(probes_create(sim->comm, &sim->grid, config, equation->unknowns - equation->earlier, equation->names,
                      &sim->probes));
  CHECK(statistics_create(sim->comm, &sim->grid, &sim->solver.space, config, equation->unknowns,
                          equation->names, &sim->statistics));
  CHECK(receivers_create(sim->comm, &sim->grid, &sim->solver.space, config, &sim->receivers));
  CHECK(agree(sim->comm, is_root(sim) ? create_hashes(sim) : STATUS_OK));
  CHECK(find_files(sim));
  CHECK(open_snapshots(sim));
  const checkpoint_memory memory = remember_of(&sim->solver);
  checkpoint_remember(sim->checkpoint, &memory);
  CHECK(open_kept(sim));
  return hold_copy(sim);
}

static status resume(simulation *sim, schedule_rates *rates, state *state) {
  CHECK(restart_read(sim->comm, sim->config, sim->checkpoint, rates, &sim->schedule, state, &sim->restart));
  sim->step = sim->restart.from.step;
  return STATUS_OK;
}

/* Names the files whose values the equation's terms use. */
static void name_files(const config *config, char *text, size_t size) {
  const int moves = equation_is(config, EQUATION_CARRIED), sourced = config_sourced(config);
  int medium = 0;
  for (int i = 0; i < CONFIG_MEDIA; i++) medium = medium || medium_of(config, i) == MEDIUM_FILE;
  const struct {
    int used;
    const char *key, *path;
  } files[] = {{moves, "velocity.file", config->velocity_file},
               {medium, "medium.file", config->medium_file},
               {sourced, "point_sources.file", config->source_file},
               {sourced, "point_sources.wavelet_file", config->wavelet_file},
               {1, "source.file", config->source_data}};
  for (size_t i = 0; i < sizeof files / sizeof *files; i++)
    if (files[i].used && files[i].path[0] != '\0')
      text_add(text, size, " or ", "%s = %s", files[i].key, files[i].path);
}

/* A snapshot that was computed with other values departs from its problem, as with other keys. */
static void compare_files(simulation *sim) {
  checkpoint_state *from = &sim->restart.from;
  if (!sim->restart.resumed || from->files == 0 || sim->files == 0 || from->files == sim->files) return;
  char names[3 * CONFIG_PATH_SIZE] = "";
  name_files(sim->config, names, sizeof names);
  log_warning("%s holds other values than those with which the snapshot was computed; from here on values "
              "are those of the file",
              names);
  from->departed = 1;
}

/* Checks places and files that a run reads after its files are open. */
static status check_points(const config *config) {
  points points = {.count = 0};
  wavelet wavelet = {.table = NULL};
  status result = config_sourced(config) ? points_sources(config, &points) : STATUS_OK;
  points_close(&points);
  if (result == STATUS_OK && config_sourced(config)) result = wavelet_open(config, &wavelet);
  wavelet_close(&wavelet);
  if (result == STATUS_OK && config_received(config)) result = points_receivers(config, &points);
  points_close(&points);
  return result;
}

static status validate(simulation *sim) {
  const config *config = sim->config;
  const kernels *backend = kernels_find(config->backend);
  char note[512] = "";
  schedule_rates rates;
  CHECK(agree(sim->comm, is_root(sim) ? restart_check_directory(sim->config) : STATUS_OK));
  CHECK(check_names(sim));
  CHECK(make_grid(sim->comm, config, &sim->grid));
  CHECK(agree(sim->comm, is_root(sim) ? check_directory(config) : STATUS_OK));
  CHECK(agree(sim->comm, is_root(sim) ? check_points(config) : STATUS_OK));
  if (strcmp(config->backend, "auto") == 0)
    CHECK(backend_choose(sim->comm, config->backend, &backend, note, sizeof note));
  if (note[0] != '\0') log_info("backend    %s\n", note);
  plan_problem(config, &sim->grid, backend != NULL && backend->host_memory);
  if (backend != NULL && backend->host_memory) CHECK(plan_memory(sim->comm, config, &sim->grid, backend));
  plan_rate(config, &sim->grid);
  CHECK(solver_rates(sim->comm, config, equation_of(config), &sim->grid, &rates));
  CHECK(agree(sim->comm, sources_try(config, equation_of(config), &sim->grid)));
  CHECK(agree(sim->comm, schedule_make(config, &rates, &sim->schedule)));
  if (config->restart[0] != '\0') {
    CHECK(open_snapshots(sim));
    CHECK(resume(sim, &rates, NULL));
  }
  plan_steps(config, &sim->grid, &sim->schedule, sim->step, !sim->restart.goes_on);
  CHECK(stability_find(sim->comm, config, &sim->grid, &sim->schedule, &rates, &sim->stability));
  stability_warn(config, &sim->schedule, &sim->stability);
  plan_waves(config, &sim->grid, &sim->schedule, &rates, sim->stability.dt);
  CHECK(plan_warn_divergence(sim->comm, config, &sim->grid, &rates));
  if (sim->restart.resumed) return STATUS_OK;
  CHECK(unresolved_foresee(sim->comm, config, &sim->grid));
  return unresolved_sources(sim->comm, config, equation_of(config), &sim->grid);
}

status simulation_validate(MPI_Comm comm, const config *config) {
  simulation sim = {.comm = comm, .config = config};
  const status result = validate(&sim);
  if (sim.checkpoint != NULL) checkpoint_destroy(sim.checkpoint);
  if (result != STATUS_MEMORY) return result;
  log_warning("not everything could be looked at here: %s", status_message(result)); /* a run may have more */
  status_clear();
  return STATUS_OK;
}

static status set_aside(simulation *sim) {
  char moved[64] = "";
  CHECK(rundir_set_aside(&sim->rundir, moved));
  if (moved[0] != '\0')
    log_info("output     results of an earlier run moved to %s/%s; folders previous_N stay until you remove "
             "them\n",
             sim->rundir.path, moved);
  return STATUS_OK;
}

/* Moves config.ini aside if a run did not write it like this, so that a user's file is not lost. */
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
  const schedule *schedule = &sim->schedule;
  const int64_t step = sim->step; /* `from`, if there is one */
  CHECK(write_config(sim));
  if (sim->kept != NULL) CHECK(rundir_make_fields(&sim->rundir));
  if (sim->hashes.header != NULL)
    CHECK(table_open(&sim->hashes, &sim->rundir, from, schedule_due(step, sim->config->hash_every)));
  CHECK(slices_open(&sim->slices, &sim->rundir, from));
  CHECK(probes_open(&sim->probes, &sim->rundir, from, probes_due(&sim->probes, schedule, step)));
  CHECK(receivers_open(&sim->receivers, &sim->rundir, from));
  return table_open(&sim->diagnostics.table, &sim->rundir, from,
                    schedule_meets(schedule, step, sim->config->diagnostics_due));
}

/* Finds out whether the files of a finished run have rows beyond its last step, or had states there. rewound:
 * on rank 0, 1 if states were moved aside. */
static status find_more(simulation *sim, int rewound) {
  status result = STATUS_OK;
  sim->ends_again = rewound;
  if (is_root(sim) && !rewound)
    result = table_goes_beyond(&sim->diagnostics.table, &sim->rundir, sim->step, &sim->ends_again);
  if (is_root(sim) && !rewound && result == STATUS_OK && sim->probes.count > 0)
    result = table_goes_beyond(&sim->probes.table, &sim->rundir, sim->step, &sim->ends_again);
  if (is_root(sim) && !rewound && result == STATUS_OK && sim->hashes.header != NULL)
    result = table_goes_beyond(&sim->hashes, &sim->rundir, sim->step, &sim->ends_again);
  CHECK(agree(sim->comm, result));
  CHECK_MPI(MPI_Bcast(&sim->ends_again, 1, MPI_INT, 0, sim->comm));
  return STATUS_OK;
}

/* [out] first: 1 if the directory must be locked before a state is read: for `latest`, because another run
 * may still write, and if a run was killed while it moved states away. */
static status open_first(const simulation *sim, int *first) {
  *first = restart_from_latest(sim->config) || (is_root(sim) && rundir_moves(sim->config->directory));
  CHECK_MPI(MPI_Bcast(first, 1, MPI_INT, 0, sim->comm));
  return STATUS_OK;
}

/* Finds the rates of the state, if steps follow from them, and the size of the next step: the rates of its
 * formulas are not rounded to the fields' precision, and say nothing of a snapshot. */
static status find_rates(simulation *sim) {
  schedule *schedule = &sim->schedule;
  if (sim->solver.equation->measure == NULL) return STATUS_OK;
  CHECK(solver_measure(&sim->solver));
  const int finite = isfinite(sim->solver.rates.advection + sim->solver.rates.other);
  if (finite && schedule->measured && sim->step < schedule->last_step)
    schedule_follow(schedule, &sim->solver.rates);
  return STATUS_OK;
}

status begin_start(simulation *sim) {
  const config *config = sim->config;
  state *state = stepper_state(&sim->solver.stepper);
  int first = 0;
  int rewound = 0; /* rank 0 */
  sim->saved_step = -1;
  sim->shown_step = -1;
  CHECK(agree(sim->comm, is_root(sim) ? restart_check_directory(config) : STATUS_OK));
  CHECK(open_first(sim, &first));
  /* read before the directory is opened, so that a refused state leaves no trace of this run */
  if (!first) CHECK(resume(sim, &sim->solver.rates, state));
  CHECK(agree(sim->comm, is_root(sim) ? rundir_open(config->directory, &sim->rundir) : STATUS_OK));
  if (first) CHECK(resume(sim, &sim->solver.rates, state));
  compare_files(sim);
  CHECK(sim->restart.resumed ? solver_refresh(&sim->solver) : solver_initialise(&sim->solver));
  CHECK(statistics_resume(&sim->statistics, &sim->restart));
  if (sim->restart.from.departed) CHECK(agree(sim->comm, diagnostics_drop_errors(&sim->diagnostics)));
  if (sim->restart.goes_on) {
    int rewound_kept = 0;
    CHECK(checkpoint_rewind(sim->checkpoint, sim->step, &rewound));
    if (sim->kept != NULL) CHECK(checkpoint_rewind(sim->kept, sim->step, &rewound_kept));
    sim->saved_step = sim->step;
  } else {
    CHECK(agree(sim->comm, is_root(sim) ? set_aside(sim) : STATUS_OK));
  }
  CHECK(find_rates(sim));
  plan_steps(config, &sim->grid, &sim->schedule, sim->step, !sim->restart.goes_on);
  CHECK(stability_find(sim->comm, config, &sim->grid, &sim->schedule, &sim->solver.rates, &sim->stability));
  stability_warn(config, &sim->schedule, &sim->stability);
  plan_waves(config, &sim->grid, &sim->schedule, &sim->solver.rates, sim->stability.dt);
  CHECK(plan_warn_divergence(sim->comm, config, &sim->grid, &sim->solver.rates));
  CHECK(measure_start(sim));
  if (!sim->restart.resumed) {
    CHECK(unresolved_layers(sim->comm, config, &sim->grid, &state->part[0]));
    CHECK(unresolved_warn(sim->comm, config, &sim->grid, &state->part[0], sim->latest.field[0].minimum,
                          sim->latest.field[0].maximum));
    CHECK(unresolved_sources(sim->comm, config, equation_of(config), &sim->grid));
  }
  if (is_finished(sim)) CHECK(find_more(sim, rewound));
  const int opens = is_root(sim) && (sim->ends_again || !is_finished(sim));
  return agree(sim->comm, opens ? open_files(sim, sim->restart.goes_on ? sim->step : -1) : STATUS_OK);
}
