/* An equation of four unknowns, made of single operators: bitwise the same on 1 to 3 ranks, with 1 and 2
 * threads, with overlap and without, for every scheme and both precisions, and resumed from a snapshot on
 * other ranks. The reference is one rank and one thread of the CPU backend; `test_wave cuda` holds another
 * backend to the same bits. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "domain/operators.h"
#include "gather.h"
#include "open_solver.h"
#include "snapshots/checkpoint.h"
#include "states.h"
#include "wave_system.h"

enum { STEPS = 4, MIDDLE = 2 };

static const int64_t points[3] = {21, 18, 26};
static char directory[256];

static size_t field_bytes(precision precision) {
  return (size_t)(points[0] * points[1] * points[2]) * kernels_element_size(precision);
}

static size_t answer_bytes(precision precision) {
  return (size_t)wave_system_equation.unknowns * field_bytes(precision);
}

static config make_config(int scheme, int precision) {
  config config;
  memset(&config, 0, sizeof config);
  for (int d = 0; d < 3; d++) {
    config.n[d] = points[d];
    config.l[d] = 1.0 + 0.2 * d;
    config.wave_number[d] = 1 + d;
  }
  config.scheme = scheme;
  config.precision = (enum precision)precision;
  config.order = scheme % 2 == 0 ? 8 : 4;
  config.courant = 0.7;
  config.t_end = -1.0;
  config.steps = STEPS;
  config.checkpoint_keep = 2;
  (void)snprintf(config.directory, sizeof config.directory, "%s", directory);
  return config;
}

static status march(solver *solver, int64_t from, int64_t to) {
  const double dt = solver->config->courant / solver->rates.advection;
  for (int64_t step = from; step < to; step++) CHECK(solver_step(solver, (double)step * dt, dt, 0));
  return solver_wait(solver);
}

/* The state of the middle written, or read in place of the first half of the run. */
static status meet_snapshot(solver *solver, int resumes) {
  checkpoint *checkpoint = NULL;
  checkpoint_state about = {.step = MIDDLE, .dt = 1.0};
  char path[CONFIG_PATH_SIZE];
  state *state = stepper_state(&solver->stepper);
  CHECK(checkpoint_create(solver->comm, &solver->grid, solver->config, wave_system_equation.unknowns,
                          wave_system_equation.names, &checkpoint));
  const status result = resumes ? checkpoint_read_latest(checkpoint, &about, state, path)
                                : checkpoint_write(checkpoint, &about, state);
  checkpoint_destroy(checkpoint);
  return result;
}

/* curl u stays zero: dv/dx - du/dy of whole fields, from the operators that exchange halos themselves. [out]
 * vorticity: the largest of this rank, over the size of its two terms. */
static status measure_vorticity(solver *solver, double *vorticity) {
  const stencil stencil = stencil_make(solver->config->order, solver->grid.h);
  const field *f = stepper_state(&solver->stepper)->part;
  field *slope = stepper_scratch(&solver->stepper)->part;
  const kernels_launch launch = {.context = solver->context,
                                 .queue = QUEUE_MAIN,
                                 .shape = solver->space.shape,
                                 .planes = {{0, solver->grid.nz}},
                                 .stencil = &stencil};
  kernels_plane_sums *sums = calloc((size_t)solver->grid.nz, sizeof *sums);
  double size = 0.0;
  *vorticity = 0.0;
  CHECK(operators_derivative(&solver->halo, &stencil, AXIS_X, &f[2], &slope[0]));
  CHECK(operators_derivative(&solver->halo, &stencil, AXIS_Y, &f[1], &slope[1]));
  CHECK(solver->backend->plane_sums(&launch, slope[0].data, slope[1].data, NULL, sums));
  for (int z = 0; z < solver->grid.nz; z++) {
    size = fmax(size, fmax(sums[z].maximum, -sums[z].minimum));
    *vorticity = fmax(*vorticity, sums[z].error_maximum);
  }
  *vorticity /= size;
  free(sums);
  return STATUS_OK;
}

static status run(solver *solver, int resumes, char *answer) {
  double vorticity = 0.0;
  CHECK(solver_initialise(solver));
  if (!resumes) CHECK(march(solver, 0, MIDDLE));
  CHECK(meet_snapshot(solver, resumes));
  if (resumes) CHECK(solver_refresh(solver));
  CHECK(march(solver, MIDDLE, STEPS));
  for (int i = 0; i < wave_system_equation.unknowns; i++) {
    CHECK(gather(solver->comm, &solver->grid, &stepper_state(&solver->stepper)->part[i],
                 answer + (size_t)i * field_bytes(solver->config->precision)));
  }
  CHECK(measure_vorticity(solver, &vorticity));
  const double round_off = solver->config->precision == PRECISION_SINGLE ? 2e-5 : 4e-14;
  return vorticity < round_off ? STATUS_OK : status_fail(STATUS_USAGE, "vorticity %g", vorticity);
}

static status compute(MPI_Comm comm, const config *config, const kernels *backend, int resumes,
                      char *answer) {
  solver solver;
  status result = open_solver(comm, config, &wave_system_equation, backend, &solver);
  if (result == STATUS_OK) result = run(&solver, resumes, answer);
  if (result == STATUS_OK) result = halo_leave(&solver.halo);
  solver_destroy(&solver);
  return result;
}

/* One configuration on 1 .. all ranks; each resumes, too, from what the ranks before it wrote. */
static int compare(config config, const kernels *backend, const char *reference, char *other) {
  int world_rank = 0, world = 1, wrong = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world);
  for (int ranks = 1; ranks <= world; ranks++) {
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, world_rank < ranks ? 0 : MPI_UNDEFINED, world_rank, &comm);
    for (int resumes = 1; resumes >= 0 && comm != MPI_COMM_NULL; resumes--) {
      config.threads = 1 + resumes;
      config.overlap = (ranks + resumes) % 2;
      config.transport = resumes ? CONFIG_TRANSPORT_STAGED : CONFIG_TRANSPORT_AUTO;
      memset(other, 0xff, answer_bytes(config.precision));
      const status result = compute(comm, &config, backend, resumes, other);
      if (result != STATUS_OK ||
          (world_rank == 0 && memcmp(reference, other, answer_bytes(config.precision)) != 0)) {
        (void)printf("WRONG: %s %s on %d ranks%s: %s\n", schemes_at(config.scheme)->name,
                     config_precision_name(config.precision), ranks, resumes ? ", resumed" : "",
                     result == STATUS_OK ? "different bits" : status_message(result));
        wrong++;
      }
    }
    if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
    wait_asleep(MPI_COMM_WORLD);
  }
  return wrong;
}

static int check_all(const kernels *backend) {
  int rank = 0, wrong = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  states_directory(MPI_COMM_WORLD, directory);
  char *reference = malloc(answer_bytes(PRECISION_DOUBLE));
  char *other = malloc(answer_bytes(PRECISION_DOUBLE));
  for (int scheme = 0; schemes_at(scheme) != NULL; scheme++) {
    for (int precision = 0; precision < 2; precision++) {
      config config = make_config(scheme, precision);
      config.threads = 1;
      if (rank == 0 && compute(MPI_COMM_SELF, &config, kernels_find("cpu"), 0, reference) != STATUS_OK) {
        (void)printf("WRONG: reference: %s\n", status_message(STATUS_USAGE));
        wrong++;
      }
      wait_asleep(MPI_COMM_WORLD);
      wrong += compare(config, backend, reference, other);
    }
  }
  free(reference);
  free(other);
  states_remove(MPI_COMM_WORLD, directory);
  return wrong;
}

int main(int argc, char **argv) {
  return check_on_backend(argc, argv, check_all);
}
