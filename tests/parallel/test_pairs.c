/* Two stages in one sweep on several ranks: the bits of one rank of the CPU backend that computes stage after
 * stage, with overlap and, halos staged, without, after a restart on another number of ranks, for every
 * scheme and precision, with a uniform velocity and one by formula, on uneven slabs and on slabs of 8 planes;
 * in upwind differences for one scheme. Thinner slabs take single stages and say so. A rank that stops is
 * named by the others, which wait for its halo planes within a sweep. Run on 3 ranks, or on 2, which leaves
 * out some of it; skipped on backends without pairs. `test_pairs BACKEND`; `test_pairs BACKEND brief`:
 * one shape of rk4 for each problem and precision; `test_pairs BACKEND REASON`: the last rank's device
 * refuses for this reason, so that no rank has pairs. Where halo planes for pairs do not fit into a device's
 * memory (emulated only), stages are single. Several ranks on one device, as with
 * FDAPP_EMULATED_SHARED, have no pairs, either. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emulated/launched.h"
#include "problems/cases.h"
#include "gather.h"
#include "open_solver.h"

static const char *refusal = ""; /* of the last rank alone */
static int brief;                /* 1: one shape of rk4 */
static int shared;               /* 1: FDAPP_EMULATED_SHARED is set */

enum { NX = 80, NY = 172, MOST = 37, STEPS = 4, HALF = STEPS / 2, PAIRS = 2, SKIPPED = 77 };
enum { RESERVE = 256 << 20 }; /* CONTEXT_RESERVE of kernels/cuda/context.h */

typedef struct run {
  const kernels *backend;
  char *phi;        /* packed points of the whole grid, on every rank */
  char single[128]; /* why stages were single, or "" */
  int sharing;      /* ranks on one device */
} run;

/* How the emulated device launches a pair whose blocks wait for one another: so many kernels, each of so many
 * blocks, those that compute seams included; 0: there is none. */
typedef struct form {
  int units, blocks;
} form;

/* Points along x in double precision, twice as many in single: tiles are the same. Ranks before and after the
 * restart. Forms on the first of these, with overlap, on 5 and on 2 multiprocessors (plan_make in
 * kernels/cuda/pair.cu). */
typedef struct shape {
  int n[3], ranks, then;
  form of_five, of_two;
} shape;

/* Odd rows are no whole vectors, so each block computes around its tile: in one piece along z, and, on two
 * ranks, in two. Of the others two have enough planes for blocks to hand rims to one another: in two pieces,
 * and in three units over seams, the last planes of which a further block computes on 5 multiprocessors. On 2
 * none is left beside a unit's blocks, and seams wait for the whole exchange. */
static const shape shapes[] = {
    {.n = {33, 26, 37}, .ranks = 2, .then = 3}, {.n = {31, 26, 37}, .ranks = 1, .then = 2},
    {{40, 28, 72}, 2, 3, {1, 4}, {1, 2}},       {.n = {40, 28, 24}, .ranks = 3, .then = 1},
    {.n = {40, 28, 16}, .ranks = 2, .then = 2}, {.n = {33, 26, 23}, .ranks = 3, .then = 2},
    {{40, 172, 30}, 2, 2, {3, 5}, {6, 2}},      {.n = {33, 26, 15}, .ranks = 2, .then = 1}};

typedef struct problem {
  const char *velocity;
  int difference;
} problem;

static const problem problems[] = {{"uniform", CONFIG_DIFFERENCE_CENTRAL},
                                   {"abc", CONFIG_DIFFERENCE_CENTRAL},
                                   {"uniform", CONFIG_DIFFERENCE_UPWIND}};

static config make_config(const shape *shape, int scheme, int precision, const problem *problem) {
  const int nx = (precision == PRECISION_SINGLE ? 2 : 1) * shape->n[0];
  const int n[3] = {nx, shape->n[1], shape->n[2]};
  config config = gaussian_config(n, problem->velocity, (enum precision)precision, STEPS);
  config.difference = problem->difference;
  config.scheme = scheme;
  return config;
}

static size_t plane_bytes(const config *config) {
  return (size_t)(config->n[0] * config->n[1]) * kernels_element_size(config->precision);
}

static size_t bytes(const config *config) {
  return (size_t)config->n[2] * plane_bytes(config);
}

/* Steps from `first` to `last` (not included); from the initial state, or from that of `phi`. */
static status march(solver *solver, const config *config, run *run, int first, int last) {
  schedule schedule;
  field *phi = &stepper_state(&solver->stepper)->part[0];
  const grid *grid = &solver->grid;
  CHECK(schedule_make(config, &solver->rates, &schedule));
  CHECK(solver_initialise(solver));
  if (first > 0) {
    CHECK(field_store(phi, 0, grid->nz, run->phi + (size_t)grid->z0 * plane_bytes(config)));
    CHECK(solver_refresh(solver));
  }
  for (int step = first; step < last; step++) {
    const int sampled = step + 1 == last;
    CHECK(solver_step(solver, schedule_time(&schedule, step), schedule_dt(&schedule, step + 1), sampled));
  }
  CHECK(gather(solver->comm, grid, &stepper_state(&solver->stepper)->part[0], run->phi));
  return halo_leave(&solver->halo);
}

static status compute(MPI_Comm comm, const config *config, run *run, int first, int last) {
  solver solver;
  status result = open_solver(comm, config, equation_of(config), run->backend, &solver);
  (void)snprintf(run->single, sizeof run->single, "%s", solver.stepper.single);
  run->sharing = solver.sharing;
  if (result == STATUS_OK) result = march(&solver, config, run, first, last);
  solver_destroy(&solver);
  return result;
}

/* The same on the first `ranks` ranks; every rank has phi afterwards. */
static status compute_on(int ranks, const config *config, run *run, int first, int last) {
  MPI_Comm comm;
  int rank = 0;
  status result = STATUS_OK;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split(MPI_COMM_WORLD, rank < ranks ? 0 : MPI_UNDEFINED, rank, &comm);
  if (comm != MPI_COMM_NULL) {
    result = compute(comm, config, run, first, last);
    MPI_Comm_free(&comm);
  }
  wait_asleep(MPI_COMM_WORLD);
  MPI_Bcast(run->phi, (int)bytes(config), MPI_BYTE, 0, MPI_COMM_WORLD);
  return result;
}

/* Why stages must be single on so many ranks, of which so many share a device. */
static const char *expected_single(const config *config, int ranks, int sharing) {
  int result = 0;
  const scheme *form = scheme_form(schemes_at(config->scheme), 1, 1);
  if (scheme_pairs(form, &result) == 0) return "the scheme reads all of them again";
  if (ranks > 1 && (shared || sharing > 1)) return "ranks share a device";
  if (ranks == 3 && config->n[2] / ranks >= 8) return refusal;
  return ranks > 1 && config->n[2] / ranks < 8 ? "a slab has fewer than 8 planes" : "";
}

/* Returns 1 if HALF steps, each of PAIRS pairs, were launched in another form than the shape's, where that is
 * known. */
static int has_other_form(const shape *shape, int paired) {
  const char *count = getenv("FDAPP_EMULATED_MULTIPROCESSORS");
  const int five = count != NULL && strcmp(count, "5") == 0, two = count != NULL && strcmp(count, "2") == 0;
  const form none = {0, 0}, *form = !paired ? &none : five ? &shape->of_five : &shape->of_two;
  if (&emulated_launched == NULL || !(five || two)) return 0;
  return emulated_launched.most_blocks != form->blocks ||
         emulated_launched.together != PAIRS * HALF * form->units;
}

/* Half of the steps on the shape's first number of ranks, the others on the second. */
static int check(config *config, run *run, const char *reference, const shape *shape) {
  const int ranks = shape->ranks, then = shape->then;
  int wrong = 0;
  for (config->overlap = 0; config->overlap < 2; config->overlap++) {
    config->transport = config->overlap ? CONFIG_TRANSPORT_AUTO : CONFIG_TRANSPORT_STAGED;
    for (int part = 0; part < 2; part++) {
      const int on = part == 0 ? ranks : then;
      if (&emulated_launched != NULL) emulated_launched = (emulated_launches){0};
      const status result = compute_on(on, config, run, part == 0 ? 0 : HALF, part == 0 ? HALF : STEPS);
      int rank = 0;
      MPI_Comm_rank(MPI_COMM_WORLD, &rank);
      const char *single = expected_single(config, on, run->sharing);
      const int as_said = result == STATUS_OK && (rank >= on || strcmp(run->single, single) == 0);
      const int looks = part == 0 && config->overlap && rank < on;
      if (as_said && !(looks && has_other_form(shape, single[0] == '\0'))) continue;
      (void)printf("WRONG: %d planes on %d ranks: %s; stages single: '%s'", (int)config->n[2], on,
                   status_message(result), run->single);
      if (&emulated_launched != NULL)
        (void)printf("; %d launches of at most %d blocks that wait for one another",
                     emulated_launched.together, emulated_launched.most_blocks);
      (void)printf("\n");
      wrong++;
    }
    if (memcmp(run->phi, reference, bytes(config)) == 0) continue;
    (void)printf(
        "WRONG: %s, %s velocity, difference %d, precision %d, %d planes on %d, then %d ranks, overlap "
        "%d: other bits\n",
        schemes_at(config->scheme)->name, velocities_at(config->velocity)->name, config->difference,
        (int)config->precision, (int)config->n[2], ranks, then, config->overlap);
    wrong++;
  }
  return wrong;
}

static int check_scheme(const kernels *backend, int scheme, int precision, const problem *problem) {
  /* slabs depend neither on the scheme nor on the problem */
  const int rk4 = strcmp(schemes_at(scheme)->name, "rk4") == 0;
  const int first_only = !rk4 || problem != problems || brief;
  const int upwind = problem->difference == CONFIG_DIFFERENCE_UPWIND;
  if (upwind && (!rk4 || precision == PRECISION_SINGLE)) return 0;
  if (brief && !rk4) return 0;
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  char *reference = malloc((size_t)NX * NY * MOST * sizeof(double));
  run run = {.phi = malloc((size_t)NX * NY * MOST * sizeof(double))};
  int wrong = 0;
  for (size_t s = 0, checked = 0; s < sizeof shapes / sizeof *shapes && !(first_only && checked); s++) {
    const shape *shape = &shapes[s];
    if (shape->ranks > ranks || shape->then > ranks) continue;
    const int thin = shape->n[2] / shape->ranks < 15 || shape->n[2] / shape->then < 15;
    /* where blocks do not hand rims to one another there are no upwind pairs */
    if (upwind && (shape->n[0] % 2 || thin)) continue;
    checked++;
    config config = make_config(shape, scheme, precision, problem);
    config.pairs = CONFIG_PAIRS_NO;
    run.backend = kernels_find("cpu");
    wrong += compute_on(1, &config, &run, 0, STEPS) != STATUS_OK;
    memcpy(reference, run.phi, bytes(&config));
    config.pairs = CONFIG_PAIRS_YES;
    run.backend = backend;
    wrong += check(&config, &run, reference, shape);
  }
  free(reference);
  free(run.phi);
  return wrong;
}

/* Sets the free memory of this process's emulated device, beside what is kept in reserve; 0: all of it. */
static void free_set(size_t bytes) {
  char text[32];
  (void)snprintf(text, sizeof text, "%zu", bytes + RESERVE);
  (void)(bytes == 0 ? unsetenv("FDAPP_EMULATED_FREE") : setenv("FDAPP_EMULATED_FREE", text, 1));
}

/* The last rank's device has just enough free memory for pairs, one byte less, just enough for single stages,
 * and one byte less than that: then the run is refused. */
static int check_room(const kernels *backend) {
  const char *const crowded = "the device has no memory for the halo planes of two";
  const shape shape = {.n = {40, 28, 48}};
  config config = make_config(&shape, 0, PRECISION_DOUBLE, problems);
  solver_needs needs;
  grid grid;
  int rank = 0, ranks = 1, wrong = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  while (strcmp(schemes_at(config.scheme)->name, "rk4") != 0) config.scheme++;
  config.pairs = CONFIG_PAIRS_YES;
  wrong += grid_make(config.n, config.l, ranks, rank, &grid) != STATUS_OK;
  solver_estimate(&config, equation_of(&config), &grid, 0, &needs);
  const size_t pairs = needs.device_bytes + needs.pair_bytes;
  const size_t room[] = {pairs, pairs - 1, needs.device_bytes, needs.device_bytes - 1};
  for (int i = 0; i < 4; i++) {
    solver solver;
    if (rank == ranks - 1) free_set(room[i]);
    const status result = open_solver(MPI_COMM_WORLD, &config, equation_of(&config), backend, &solver);
    const char *single = solver.stepper.single;
    const int right =
        i == 3 ? result == STATUS_MEMORY : result == STATUS_OK && strcmp(single, i == 0 ? "" : crowded) == 0;
    if (!right) (void)printf("WRONG: room %d: %s; stages single: '%s'\n", i, status_message(result), single);
    wrong += !right;
    status_clear();
    if (result == STATUS_OK) (void)halo_leave(&solver.halo);
    solver_destroy(&solver);
    free_set(0);
  }
  return wrong;
}

/* The last rank stops after a step. */
static int check_late(const kernels *backend) {
  const shape shape = {.n = {40, 28, 48}};
  config config = make_config(&shape, 0, PRECISION_SINGLE, problems);
  solver solver;
  schedule schedule;
  char expected[64];
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  while (strcmp(schemes_at(config.scheme)->name, "rk4") != 0) config.scheme++;
  config.pairs = CONFIG_PAIRS_YES;
  config.overlap = 1;
  status result = open_solver(MPI_COMM_WORLD, &config, equation_of(&config), backend, &solver);
  if (result == STATUS_OK) result = schedule_make(&config, &solver.rates, &schedule);
  if (result == STATUS_OK) result = solver_initialise(&solver);
  if (result == STATUS_OK) result = solver_step(&solver, 0.0, schedule_dt(&schedule, 1), 0);
  int wrong = result != STATUS_OK;
  if (solver.stepper.single[0] == '\0' && halo_sends(&solver.halo) && rank < ranks - 1) {
    (void)snprintf(expected, sizeof expected, "rank %d sent no halo planes for 1 seconds", ranks - 1);
    solver.halo.peer.neighbours.meeting.seconds = 1.0;
    for (int step = 1; step < STEPS && result == STATUS_OK; step++)
      result = solver_step(&solver, schedule_time(&schedule, step), schedule_dt(&schedule, step + 1), 0);
    if (result == STATUS_OK) result = backend->queue_wait(solver.halo.context, QUEUE_MAIN);
    wrong = result != STATUS_LATE || strstr(status_message(result), expected) == NULL;
  }
  if (wrong) (void)printf("WRONG: rank %d, the last one has stopped: %s\n", rank, status_message(result));
  status_clear();
  MPI_Barrier(MPI_COMM_WORLD);
  (void)halo_leave(&solver.halo);
  status_clear();
  solver_destroy(&solver);
  return wrong;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  const kernels *backend = kernels_find(argc > 1 ? argv[1] : "cuda");
  int code = SKIPPED;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  brief = argc > 2 && strcmp(argv[2], "brief") == 0;
  shared = getenv("FDAPP_EMULATED_SHARED") != NULL;
  if (argc > 2 && !brief) refusal = argv[2];
  if (refusal[0] != '\0' && rank == 2) setenv("FDAPP_EMULATED_SHARED_KIB", "163", 1);
  if (backend == NULL || backend->apply_pair == NULL || backend->probe() != STATUS_OK) {
    (void)printf("skipped: the backend cannot run here, or has no pairs\n");
  } else {
    int wrong = 0;
    for (int scheme = 0; schemes_at(scheme) != NULL; scheme++) {
      /* what a device refuses does not depend on the scheme */
      if (argc > 2 && strcmp(schemes_at(scheme)->name, "rk4") != 0) continue;
      for (int precision = 0; precision < 2; precision++) {
        for (size_t p = 0; p < (refusal[0] != '\0' || shared ? 1 : sizeof problems / sizeof *problems); p++)
          wrong += check_scheme(backend, scheme, precision, &problems[p]);
      }
    }
    wrong += check_late(backend);
    if (&emulated_launched != NULL && argc == 2) wrong += check_room(backend);
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    code = wrong == 0 ? 0 : 1;
  }
  MPI_Finalize();
  return code;
}
