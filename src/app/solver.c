#include "app/solver.h"

#include <omp.h>
#include <string.h>

#include "base/log.h"
#include "base/number.h"
#include "config/kept.h"
#include "domain/node.h"
#include "files/rundir.h"
#include "problems/cases.h"
#include "problems/medium.h"
#include "problems/resample.h"
#include "stepping/leapfrog.h"

/* Returns 1 if the right-hand side, with its sources, does not depend on time. */
static int is_steady(const config *config, const equation *equation) {
  return equation_fact(equation->steady, config) && sources_steady(config);
}

/* Returns 1 if stages may be computed in pairs, for which states on several ranks have twice the halo planes.
 * Whether they are is known only to the devices. */
static int may_deepen(const config *config, const equation *equation, const grid *grid, int host_memory,
                      const scheme *scheme) {
  int result = 0;
  const int pairs = config->pairs != CONFIG_PAIRS_NO && equation_fact(equation->pairs, config) &&
                    is_steady(config, equation) && sources_count(config, equation) == 0 &&
                    scheme_pairs(scheme, &result) != 0;
  const int thin = grid->n[2] / grid->ranks < 2 * KERNELS_HALO;
  return !(host_memory || grid->ranks == 1 || thin) && pairs;
}

/* The copy of what kept snapshots in part hold of this slab. */
static size_t part_bytes(const config *config, const equation *equation, const grid *grid) {
  if (!config_kept_in_part(config)) return 0;
  const config_kept kept = config_kept_points(config);
  const int single = config->fields_single || config->precision == PRECISION_SINGLE;
  const char *names[CONFIG_DERIVED_MOST];
  const int fields = equation->unknowns + config_derived_names(config, names);
  const int64_t planes =
      config_kept_below(&kept, AXIS_Z, grid->z0 + grid->nz) - config_kept_below(&kept, AXIS_Z, grid->z0);
  const size_t copies = config->compress ? 2 : 1; /* compressed planes may be as large */
  return copies * (size_t)(fields * planes * kept.count[0] * kept.count[1]) *
         kernels_element_size(single ? PRECISION_SINGLE : PRECISION_DOUBLE);
}

/* A user's files while they are read: the slabs of all components of the velocity, or that of the initial
 * state or a source, and the planes of one that is resampled. */
static size_t file_bytes(const config *config, const grid *grid) {
  const size_t points = (size_t)grid->n[0] * (size_t)grid->n[1],
               element = kernels_element_size(config->precision);
  const size_t slab = (size_t)(grid->nz + 2 * KERNELS_HALO) * points * element;
  const int velocity =
      equation_is(config, EQUATION_CARRIED) && velocities_at(config->velocity)->from == PROBLEM_FILE;
  const int initial = cases_at(config->initial)->from == PROBLEM_FILE;
  const int source = config->source_data[0] != '\0';
  const int resampled = (velocity && config->velocity_resample) || (initial && config->initial_resample) ||
                        (source && config->source_resample);
  const size_t slabs = velocity ? 3 : (size_t)(initial || source);
  return slabs * slab + (resampled ? RESAMPLE_POINTS * points * sizeof(double) : 0);
}

void solver_estimate(const config *config, const equation *equation, const grid *grid, int host_memory,
                     solver_needs *needs) {
  const kernels_shape shape = grid_shape(grid, config->precision, host_memory);
  const size_t plane = kernels_field_bytes(&shape) / (size_t)(shape.nz + 2 * KERNELS_HALO);
  const scheme *scheme = scheme_form(schemes_all(config->scheme), equation_fact(equation->linear, config),
                                     is_steady(config, equation));
  const int states = scheme->slots * equation->unknowns;
  needs->fields = states + equation_fact(equation->array_count, config) + sources_count(config, equation);
  if (config->redistance_every > 0) needs->fields += DISTANCE_WORK;
  needs->fields +=
      config_statistics(config, NULL) > 0 ? config_statistics(config, NULL) + CONFIG_STATISTICS_WORK : 0;
  const char *names[CONFIG_DERIVED_MOST];
  const int derived = config_derived_names(config, names);
  if (derived > equation->unknowns) needs->fields += derived - equation->unknowns;
  const int depth = (may_deepen(config, equation, grid, host_memory, scheme) ? 2 : 1) * KERNELS_HALO;
  const size_t state = field_total_bytes(&shape, KERNELS_HALO);
  needs->device_bytes =
      (size_t)states * state + (size_t)(needs->fields - states) * kernels_field_bytes(&shape);
  if (leapfrog_depth(scheme, &shape) > KERNELS_HALO)
    needs->device_bytes += (size_t)states * (field_total_bytes(&shape, 2 * KERNELS_HALO) - state);
  equation_memory memory = {0};
  if (equation->memory != NULL) equation->memory(config, grid, &memory);
  needs->device_bytes += memory.bytes;
  needs->pair_bytes = (size_t)states * (field_total_bytes(&shape, depth) - state);
  if (!host_memory) needs->device_bytes += field_gather_bytes(&shape);
  /* buffers: staging of fields, pieces of checkpoints, and staging of halos in case MPI cannot take device
   * memory */
  const size_t packed = (size_t)shape.ny * (size_t)shape.nx * kernels_element_size(shape.precision);
  const size_t pieces = (size_t)field_piece_planes(plane, shape.nz) * plane +
                        (size_t)field_piece_planes(packed, shape.nz) * packed;
  const size_t halos = (size_t)(4 * equation->unknowns * depth) * plane;
  const size_t level_set = config->redistance_every > 0 ? redistance_host_bytes(grid, config->precision) : 0;
  needs->host_bytes = pieces + level_set + part_bytes(config, equation, grid) + file_bytes(config, grid) +
                      (host_memory ? needs->device_bytes : halos);
  const int copied = config->output_overlap && config_wants_states(config);
  needs->copy_bytes = copied ? (size_t)equation->unknowns * (size_t)shape.nz * plane : 0;
}

/* Limits the number of threads: OpenMP ends the program, or crashes, if it cannot start them. */
static status check_threads(int threads) {
  if (threads <= CONFIG_THREADS_MOST) return STATUS_OK;
  return status_fail(STATUS_USAGE, "OMP_NUM_THREADS: %d threads; accepted: at most %d, or compute.threads",
                     threads, CONFIG_THREADS_MOST);
}

/* Returns 1 unless a snapshot takes the place of the initial state, whose file may then be gone. */
static int begins(const config *config) {
  if (strcmp(config->restart, "latest") == 0) return !rundir_has_states(config->directory);
  return config->restart[0] == '\0';
}

/* The rates of an initial state in a file that may be gone, until its snapshot says them (restart.c). */
static schedule_rates unknown_rates(const config *config, const grid *grid) {
  return (schedule_rates){.advection = config->courant > 0.0 ? 1.0 / grid->h[0] : 0.0, .shares = 1};
}

status solver_rates(MPI_Comm comm, const config *config, const equation *equation, const grid *grid,
                    schedule_rates *rates) {
  char elsewhere[CASES_HELD];
  CHECK(agree(comm, check_threads(omp_get_max_threads())));
  CHECK(agree(comm, cases_files_check(config, grid, begins(config), elsewhere)));
  CHECK(agree(comm, sources_check(config, equation, grid, elsewhere)));
  CHECK(agree(comm, medium_check(config, grid, elsewhere)));
  *rates = (schedule_rates){0};
  const int of_state = equation->measure != NULL;
  const int unknown = of_state && cases_at(config->initial)->from == PROBLEM_FILE && !begins(config);
  if (unknown) *rates = unknown_rates(config, grid);
  CHECK(agree(comm, unknown ? STATUS_OK : equation->rates(config, grid, rates)));
  CHECK_MPI(MPI_Allreduce(MPI_IN_PLACE, &rates->advection, 1, MPI_DOUBLE, MPI_MAX, comm));
  CHECK_MPI(MPI_Allreduce(MPI_IN_PLACE, rates->along, 3, MPI_DOUBLE, MPI_MAX, comm));
  CHECK_MPI(MPI_Allreduce(MPI_IN_PLACE, &rates->other, 1, MPI_DOUBLE, MPI_MAX, comm));
  CHECK_MPI(MPI_Allreduce(MPI_IN_PLACE, rates->own, SCHEDULE_OWN, MPI_DOUBLE, MPI_MAX, comm));
  if (of_state && !unknown)
    memcpy(rates->initial, (double[]){rates->advection, rates->other}, sizeof rates->initial);
  const int varies = rates->advection > 0.0 && !cases_velocity_steady(config);
  rates->measured = config->adaptive && equation->measure != NULL;
  rates->factor = config->adaptive && varies ? equation->rate_factor : NULL;
  if (equation->shares != NULL) equation->shares(config, rates);
  if (elsewhere[0] != '\0')
    log_warning(
        "points of files lie elsewhere than this grid's, which are from 0, 0, 0 on, %.7g, %.7g, %.7g apart: "
        "%s (Origin, Spacing or coordinates); their values are taken point by point, resample = yes would "
        "interpolate",
        grid->h[0], grid->h[1], grid->h[2], elsewhere);
  return STATUS_OK;
}

/* Checks that all ranks of one node that share a device together fit into its free memory. [out] deepens: 1
 * if the halo planes for pairs fit, too. */
static status check_memory(solver *solver, const node *node, int *deepens) {
  const kernels *backend = solver->backend;
  solver_needs needs;
  solver_estimate(solver->config, solver->equation, &solver->grid, backend->host_memory, &needs);
  const size_t mine = backend->host_memory ? needs.host_bytes : needs.device_bytes;
  int index = 0;
  int64_t needed = 0;
  int64_t more = 0;
  size_t available = 0;
  backend->device_identity(solver->context, &index, &solver->devices);
  CHECK(node_device_bytes(node, index, (int64_t)mine, &needed, &solver->sharing));
  CHECK(node_device_bytes(node, index, (int64_t)needs.pair_bytes, &more, &solver->sharing));
  CHECK(backend->memory_available(solver->context, &available));
  *deepens = (uint64_t)(needed + more) <= available;
  if ((uint64_t)needed <= available) return STATUS_OK;
  char wanted[NUMBER_TEXT], room[NUMBER_TEXT];
  return status_fail(STATUS_MEMORY,
                     "memory: %s needed by this node's ranks on %s, %s free: use a smaller grid, more "
                     "devices or nodes, or compute.precision = single",
                     number_bytes((double)needed, wanted), backend->describe(solver->context),
                     number_bytes((double)available, room));
}

/* Opens this rank's device, chosen by the rank's number on its node, and checks memory before allocating any.
 * [out] no_pairs: why it may compute no stages in pairs, or NULL. Collective. */
static status open_device(solver *solver, const char **no_pairs) {
  node node;
  kernels_setup setup;
  int deepens = 1;
  CHECK(node_open(solver->comm, &node));
  setup.device = node.rank;
  CHECK(node_threads(&node, solver->config->threads, &setup.threads));
  if (setup.threads > 0)
    omp_set_num_threads(setup.threads); /* for the host's work: initial and exact fields */
  solver->threads = omp_get_max_threads();
  CHECK(agree(solver->comm, check_threads(solver->threads)));
  CHECK(agree(solver->comm, solver->backend->context_create(&setup, &solver->context)));
  CHECK(agree(solver->comm, check_memory(solver, &node, &deepens)));
  CHECK_MPI(MPI_Allreduce(MPI_IN_PLACE, &solver->sharing, 1, MPI_INT, MPI_MAX, solver->comm));
  /* blocks of a pair wait for one another, while kernels of another rank may take the multiprocessors */
  *no_pairs = solver->sharing > 1 ? "ranks share a device"
              : !deepens          ? "the device has no memory for the halo planes of two"
                                  : NULL;
  return node_close(&node);
}

/* Checks that all ranks evaluate the problem to the same bits, because each evaluates it for itself. */
static status compare_problem(MPI_Comm comm, const config *config, const grid *grid) {
  uint64_t mine = 0;
  CHECK(agree(comm, cases_fingerprint(config, grid, &mine)));
  uint64_t first = mine;
  CHECK_MPI(MPI_Bcast(&first, 1, MPI_UINT64_T, 0, comm));
  return agree(comm, mine == first
                         ? STATUS_OK
                         : status_fail(STATUS_DEVICE,
                                       "rank %d computes another initial condition or velocity than "
                                       "rank 0: its processor or its libraries are at fault",
                                       grid->rank));
}

static stepper_pairs pairs_of(const config *config) {
  static const stepper_pairs pairs[] = {[CONFIG_PAIRS_NO] = STEPPER_PAIRS_NO,
                                        [CONFIG_PAIRS_AUTO] = STEPPER_PAIRS_AUTO,
                                        [CONFIG_PAIRS_YES] = STEPPER_PAIRS_YES};
  return pairs[config->pairs];
}

/* The right-hand side of an equation with sources. They come last in a stage. */
static status begin_with_sources(void *self, const stage *stages, int count) {
  solver *solver = self;
  return sources_begin(&solver->sources, stages, count);
}

static status prepare_with_sources(void *self, const stage *stage, const field *fields[STATE_FIELDS],
                                   int *count) {
  const solver *solver = self;
  return solver->equation->prepare(solver->terms, stage, fields, count);
}

static status advance_with_sources(void *self, const stage *whole) {
  const solver *solver = self;
  stage stage = *whole;
  stage.edges = NULL; /* complete after the sources */
  CHECK(solver->equation->stage(solver->terms, &stage));
  return sources_add(&solver->sources, solver->terms, whole);
}

/* Sources are added after a stage. The first stage of a pair stays within the kernel, where the second one
 * differences it: that kernel would have to read sources, in tiles and in what surrounds them. */
static const char *refuse_pairs(void *self, const stage *first, const stage *second, int always) {
  (void)self;
  (void)first;
  (void)second;
  (void)always;
  return "there is a source";
}

static status allocate(solver *solver) {
  const config *config = solver->config;
  const equation *equation = solver->equation;
  CHECK(halo_create(solver->comm, &solver->grid, &solver->space, solver->transport.transport,
                    equation->unknowns, &solver->halo));
  CHECK(equation->create(config, &solver->grid, &solver->space, &solver->terms));
  CHECK(sources_open(config, equation, &solver->grid, &solver->space, &solver->sources));
  stepper_rhs rhs = {.self = solver->terms,
                     .linear = equation_fact(equation->linear, config),
                     .steady = is_steady(config, equation),
                     .repeats = equation_fact(equation->steady, config),
                     .sends = equation_fact(equation->sends, config),
                     .prepare = equation->prepare,
                     .stage = equation->stage,
                     .pair = equation->pair,
                     .pairs = pairs_of(config)};
  if (solver->sources.any) {
    rhs.self = solver;
    rhs.sends = 0;
    rhs.begin = begin_with_sources;
    if (rhs.prepare != NULL) rhs.prepare = prepare_with_sources;
    rhs.stage = advance_with_sources;
    rhs.pair.refused = refuse_pairs;
  }
  return stepper_create(&solver->space, equation->unknowns, equation->names, schemes_all(config->scheme), rhs,
                        &solver->halo, config->overlap, &solver->stepper);
}

status solver_create(MPI_Comm comm, const config *config, const equation *equation, const grid *grid,
                     const kernels *backend, solver *solver) {
  memset(solver, 0, sizeof *solver);
  solver->comm = comm;
  solver->config = config;
  solver->equation = equation;
  solver->grid = *grid;
  solver->backend = backend;
  const char *no_pairs = NULL;
  CHECK(open_device(solver, &no_pairs));
  CHECK(compare_problem(comm, config, grid));
  const kernels_shape shape = grid_shape(grid, config->precision, backend->host_memory);
  CHECK(agree(comm, field_space_open(backend, solver->context, shape, &solver->space)));
  CHECK(agree(comm, transport_choose(comm, &solver->space, config->transport, &solver->transport)));
  CHECK(agree(comm, allocate(solver)));
  CHECK(stepper_choose_pairs(&solver->stepper, &solver->space, no_pairs));
  if (config->redistance_every > 0)
    CHECK(redistance_open(comm, grid, &solver->space, solver->transport.messages, &solver->redistance));
  CHECK(solver_rates(comm, config, equation, grid, &solver->rates));
  /* a user's formula or file may be faulty at any point; evaluating it here finds that before a directory is
   * made */
  if (cases_at(config->initial)->from == PROBLEM_FUNCTIONS || !begins(config)) return STATUS_OK;
  return agree(comm, solver_fill(solver, 0.0, stepper_state(&solver->stepper)));
}

void solver_destroy(solver *solver) {
  if (solver->context == NULL) return;
  if (solver->halo.backend != NULL) halo_destroy(&solver->halo);
  stepper_destroy(&solver->stepper);
  redistance_close(&solver->redistance);
  solver->equation->destroy(solver->terms);
  sources_close(&solver->sources);
  if (solver->space.backend != NULL) field_space_close(&solver->space);
  solver->backend->context_destroy(solver->context);
  solver->context = NULL;
}

status solver_fill(const solver *solver, double time, state *state) {
  for (int i = 0; i < state->count; i++)
    CHECK(solver->equation->fill(solver->config, &solver->grid, time, i, &state->part[i]));
  return STATUS_OK;
}

status solver_settle(solver *solver, double dt) {
  const equation *equation = solver->equation;
  if (equation->settle == NULL) return STATUS_OK;
  return agree(solver->comm, equation->settle(solver->terms, dt, &solver->rates));
}

status solver_initialise(solver *solver) {
  state *state = stepper_state(&solver->stepper);
  CHECK(agree(solver->comm, solver_fill(solver, 0.0, state)));
  CHECK(solver_refresh(solver));
  if (solver->equation->start == NULL) return STATUS_OK;
  return agree(solver->comm, solver->equation->start(solver->terms, state));
}

status solver_refresh(solver *solver) {
  return stepper_connect(&solver->stepper);
}

status solver_measure(solver *solver) {
  state *const state = stepper_state(&solver->stepper);
  schedule_rates *rates = &solver->rates;
  CHECK(agree(solver->comm, solver->equation->measure(solver->terms, state, rates)));
  double all[] = {rates->advection, rates->other};
  CHECK_MPI(MPI_Allreduce(MPI_IN_PLACE, all, sizeof all / sizeof all[0], MPI_DOUBLE, MPI_MAX, solver->comm));
  rates->advection = all[0];
  rates->other = all[1];
  solver->equation->shares(solver->config, rates);
  return STATUS_OK;
}

status solver_step(solver *solver, double t, double dt, int sample) {
  CHECK(stepper_step(&solver->stepper, t, dt, sample));
  if (!sample) return STATUS_OK;
  CHECK(solver_wait(solver));
  return stepper_sample(&solver->stepper);
}

status solver_redistance(solver *solver) {
  CHECK(redistance_run(&solver->redistance, &stepper_state(&solver->stepper)->part[0]));
  return solver_refresh(solver);
}

status solver_wait(solver *solver) {
  for (int queue = 0; queue < QUEUE_COUNT; queue++) {
    CHECK(solver->backend->queue_wait(solver->context, (kernels_queue)queue));
  }
  return STATUS_OK;
}

/* Words of a stage beside those of the formula in stage.h. */
static int stage_words(const solver *solver) {
  return equation_fact(solver->equation->stage_words, solver->config) + solver->sources.count;
}

int solver_step_words(const solver *solver) {
  return solver->equation->unknowns * stepper_words(&solver->stepper) +
         solver->stepper.scheme->stages * stage_words(solver);
}

int solver_last_words(const solver *solver) {
  const int words = stepper_last_words(&solver->stepper);
  return words == 0 ? 0 : solver->equation->unknowns * words + stage_words(solver);
}

double solver_step_bytes(const solver *solver) {
  const double points = (double)solver->grid.n[0] * (double)solver->grid.n[1] * (double)solver->grid.nz;
  return points * (double)kernels_element_size(solver->config->precision) * solver_step_words(solver);
}
