/* One answer: phi, or the pressure of sound, and every figure of the diagnostics are bitwise the same on 1 to
 * 6 ranks, with 1 and 2 threads, with overlap and without, with pairs of stages and without, for every
 * scheme, form, precision and velocity, on an uneven grid. The reference is one rank and one thread of the
 * CPU backend; `test_one_answer cuda` holds another backend to the same bits. Run on 6 ranks.
 * `test_one_answer cuda NX NY NZ`: on a grid of which each rank has enough for the kernels of large launches.
 * `test_one_answer cuda peer`: halos from device to device, sent by the kernels themselves where they can.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "settings/equations.h"
#include "output/diagnostics.h"
#include "problems/cases.h"
#include "gather.h"
#include "open_solver.h"

enum { STEPS = 3 };

static int points[3] = {33, 17, 0};
static int by_peers = 0;

typedef struct answer {
  char *phi;  /* packed points of the whole grid */
  int pairs;  /* stages were computed in pairs */
  int shared; /* ranks shared a device */
  diagnostics_record record;
} answer;

static size_t phi_bytes(precision precision) {
  return (size_t)points[0] * (size_t)points[1] * (size_t)points[2] * kernels_element_size(precision);
}

/* Orders and diffusion take turns so that each meets every scheme, form, precision and velocity, and the
 * other. */
static int order_of(int scheme, int form, int precision, int velocity) {
  return 8 - 2 * ((scheme + form + 2 * precision + velocity) % 4);
}

static double diffusivity_of(int scheme, int form, int precision, int velocity) {
  return (scheme + form + precision + velocity / 2) % 2 == 0 ? 0.0 : 1e-3;
}

static config make_config(int scheme, int form, int precision, int velocity) {
  config config;
  memset(&config, 0, sizeof config);
  for (int d = 0; d < 3; d++) config.n[d] = points[d];
  config.l[0] = 1.0;
  config.l[1] = 0.7;
  config.l[2] = 1.3;
  config.form = (advection_form)form;
  config.diffusivity = diffusivity_of(scheme, form, precision, velocity);
  config.initial = velocity == velocities_find("abc") ? cases_find("manufactured") : cases_find("gaussian");
  for (int d = 0; d < 3; d++) {
    config.center[d] = 0.4 * config.l[d];
    config.wave_number[d] = 1;
    config.uniform[d] = 0.9 - 0.7 * d;
    config.abc[d] = 1.0 - 0.2 * d;
  }
  (void)snprintf(config.component[0], CONFIG_FORMULA_SIZE, "sin(2*pi*y/ly) + 0.3*cos(2*pi*z/lz)");
  (void)snprintf(config.component[1], CONFIG_FORMULA_SIZE, "exp(sin(2*pi*x))");
  (void)snprintf(config.component[2], CONFIG_FORMULA_SIZE, "0.7*cos(2*pi*(x + y/ly))");
  (void)snprintf(config.factor, CONFIG_FORMULA_SIZE, "cos(t)");
  config.width = 0.12;
  config.amplitude = 1.0;
  config.background = 0.1;
  config.velocity = velocity;
  config.period = 1.5;
  config.scheme = scheme;
  config.courant = 0.8;
  config.t_end = -1.0;
  config.steps = STEPS;
  config.precision = (enum precision)precision;
  config.order = order_of(scheme, form, precision, velocity);
  config.diagnostics_due.every = 1;
  return config;
}

static status measure(solver *solver, const schedule *schedule, answer *answer) {
  const equation *equation = solver->equation;
  const double time = schedule_time(schedule, STEPS);
  const double courant = schedule_dt(schedule, STEPS) * solver->rates.advection *
                         fabs(equation_rate_factor(equation, solver->config, time));
  diagnostics diagnostics;
  state *exact = NULL;
  if (equation->known_later(solver->config) && equation->known(solver->config, time)) {
    exact = stepper_scratch(&solver->stepper);
    CHECK(solver_fill(solver, time, exact));
  }
  CHECK(diagnostics_create(solver->comm, &solver->grid, equation->unknowns, equation->names, 1,
                           equation->known_later(solver->config), &diagnostics));
  CHECK(diagnostics_measure(&diagnostics, stepper_state(&solver->stepper), exact, NULL, schedule, STEPS,
                            courant, &answer->record));
  diagnostics_destroy(&diagnostics);
  return STATUS_OK;
}

static status march(solver *solver, answer *answer) {
  schedule schedule;
  CHECK(schedule_make(solver->config, &solver->rates, &schedule));
  CHECK(solver_initialise(solver));
  for (int64_t step = 0; step < schedule.last_step; step++) {
    CHECK(solver_step(solver, schedule_time(&schedule, step), schedule_dt(&schedule, step + 1), 0));
  }
  CHECK(measure(solver, &schedule, answer));
  return gather(solver->comm, &solver->grid, &stepper_state(&solver->stepper)->part[0], answer->phi);
}

static status compute(MPI_Comm comm, const config *config, const kernels *backend, answer *answer) {
  solver solver;
  status result = open_solver(comm, config, equation_of(config), backend, &solver);
  answer->pairs = result == STATUS_OK && solver.stepper.pairs != 0;
  answer->shared = result == STATUS_OK && solver.sharing > 1;
  if (result == STATUS_OK) result = march(&solver, answer);
  if (result == STATUS_OK) result = halo_leave(&solver.halo);
  solver_destroy(&solver);
  return result;
}

static int same(const config *config, const answer *a, const answer *b) {
  return memcmp(a->phi, b->phi, phi_bytes(config->precision)) == 0 &&
         memcmp(&a->record, &b->record, sizeof a->record) == 0;
}

/* Returns 1 if these ranks compute stages in pairs as one rank does, or share a device, or have slabs that
 * are too thin. */
static int paired(const config *config, int ranks, int alone, const answer *answer) {
  const int thin = points[2] / ranks < 2 * KERNELS_HALO;
  return answer->pairs ==
         (alone && config->pairs == CONFIG_PAIRS_YES && (ranks == 1 || (!thin && !answer->shared)));
}

/* One configuration on 1 .. all ranks. One rank has 1 and 2 threads; several have one of the two, which
 * changes from one number of ranks to the next and from turn to turn, as overlap and pairs do. Returns the
 * number of wrong answers on rank 0 of the world. */
static int compare(config config, int turn, const kernels *backend, answer *reference, answer *other) {
  int world_rank = 0;
  int world = 1;
  int wrong = 0;
  int alone = 0; /* one rank computes stages in pairs */
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world);
  if (world_rank == 0 && compute(MPI_COMM_SELF, &config, kernels_find("cpu"), reference) != STATUS_OK)
    wrong++;
  wait_asleep(MPI_COMM_WORLD);
  for (int ranks = 1; ranks <= world; ranks++) {
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, world_rank < ranks ? 0 : MPI_UNDEFINED, world_rank, &comm);
    for (int threads = 1; threads <= 2 && comm != MPI_COMM_NULL; threads++) {
      if (ranks > 1 && threads != 1 + (ranks + turn) % 2) continue;
      config.threads = threads;
      config.overlap = (ranks + turn / 2) % 2;
      config.pairs = (ranks == 1 ? threads == 1 : turn / 4 % 2) ? CONFIG_PAIRS_YES : CONFIG_PAIRS_NO;
      config.transport = threads == 2 ? CONFIG_TRANSPORT_STAGED : CONFIG_TRANSPORT_AUTO;
      if (by_peers) config.transport = CONFIG_TRANSPORT_PEER;
      if (by_peers) config.overlap = 1;
      memset(other->phi, 0xff, phi_bytes(config.precision));
      const status result = compute(comm, &config, backend, other);
      if (ranks == 1 && threads == 1) alone = other->pairs;
      if (world_rank == 0 && !paired(&config, ranks, alone, other)) {
        (void)printf("WRONG: pairs of stages: %d on %d ranks\n", other->pairs, ranks);
        wrong++;
      }
      if (result != STATUS_OK || (world_rank == 0 && !same(&config, reference, other))) {
        (void)printf("WRONG: %s %s %s %s on %d ranks, %d threads: %s\n", schemes_at(config.scheme)->name,
                     config_form_name(config.form), config_precision_name(config.precision),
                     velocities_at(config.velocity)->name, ranks, threads,
                     result == STATUS_OK ? "different bits" : status_message(result));
        wrong++;
      }
    }
    if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
    wait_asleep(MPI_COMM_WORLD);
  }
  return wrong;
}

/* The order with ends of z: slabs of 6 or 7 planes hold the closures of order 6 at most. */
static int order_in_slabs(int order) {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  return order == 8 && points[2] / ranks < 8 ? 6 : order;
}

/* The same with ends, of axes that take turns. */
static void open_ends(config *config, int turn) {
  const int axes = 1 + turn % 7;
  for (int d = 0; d < 3; d++) {
    for (int end = 0; end < 2; end++) {
      if (axes >> d & 1) config->ends[d][end] = CONFIG_END_OPEN;
    }
  }
  if (axes >> 2 & 1) config->order = order_in_slabs(config->order);
  if (turn % 2 == 1) config->difference = CONFIG_DIFFERENCE_UPWIND;
  const char *enters = turn % 3 == 0 ? "0.3" : turn % 3 == 1 ? "0.1 + x*y*cos(9*t)" : "x - y*z";
  (void)snprintf(config->entering, sizeof config->entering, "%s",
                 cases_exact_can_enter(config) ? CONFIG_EXACT : enters);
}

/* Sound, with ends of all kinds in turn or none, and mostly with upwind differences, whose stages difference
 * the fields that they change. */
static void make_sound(config *config, int turn) {
  static const config_end kinds[] = {CONFIG_END_WALL, CONFIG_END_FREE, CONFIG_END_ABSORBING};
  config->equation = EQUATION_acoustics;
  config->density = 0.8;
  config->sound_speed = 1.3;
  config->diffusivity = 0.0;
  config->difference = turn % 5 == 4 ? CONFIG_DIFFERENCE_CENTRAL : CONFIG_DIFFERENCE_UPWIND;
  config->courant = 0.4;
  config->order = 8 - 2 * ((turn + turn / 4) % 4);
  for (int d = 0; d < 3; d++) {
    for (int end = 0; end < 2; end++)
      if (turn >> d & 1) config->ends[d][end] = kinds[(turn + d + end) % 3];
  }
  if (turn >> 2 & 1) config->order = order_in_slabs(config->order);
}

/* All forms with the first scheme, whose stages are of every kind: with and without base and extras. The
 * others in turn, for each takes the kernels of the first. */
static int check_all(const kernels *backend) {
  int rank = 0;
  int ranks = 1;
  int wrong = 0;
  int cases = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (points[2] == 0) points[2] = ranks <= 3 ? 25 : 37; /* the thinnest slabs that have pairs on 3 ranks */
  answer reference = {.phi = malloc(phi_bytes(PRECISION_DOUBLE))};
  answer other = {.phi = malloc(phi_bytes(PRECISION_DOUBLE))};
  for (int scheme = 0; schemes_at(scheme) != NULL; scheme++) {
    for (int form = 0; form < 3; form++) {
      for (int precision = 0; precision < 2; precision++) {
        for (int velocity = 0; velocities_at(velocity) != NULL; velocity++) {
          if (scheme > 0 && form != (scheme + velocity) % 3) continue;
          if (velocities_at(velocity)->from == PROBLEM_FILE) continue;
          if (by_peers && form != FORM_ADVECTIVE) continue; /* the others send as diffusion does */
          config config = make_config(scheme, form, precision, velocity);
          config.threads = 1;
          wrong += compare(config, cases++, backend, &reference, &other);
          if (scheme > 0 || (2 * form + precision + velocity) % 4 != 0) continue;
          open_ends(&config, cases);
          wrong += compare(config, cases++, backend, &reference, &other);
        }
      }
    }
  }
  for (int turn = 0; schemes_at(turn / 2) != NULL; turn++) {
    config config = make_config(turn / 2, 0, turn % 2, velocities_find("uniform"));
    make_sound(&config, turn);
    config.threads = 1;
    wrong += compare(config, cases++, backend, &reference, &other);
  }
  if (rank == 0) (void)printf("%d configurations, %d wrong answers\n", cases, wrong);
  free(reference.phi);
  free(other.phi);
  return wrong;
}

int main(int argc, char **argv) {
  for (int d = 0; d < 3 && argc == 5; d++) points[d] = atoi(argv[2 + d]);
  by_peers = argc == 3 && strcmp(argv[2], "peer") == 0;
  return check_on_backend(argc, argv, check_all);
}
