/* Kernels that send the edges of their slab to the neighbours themselves, in recorded steps: the bits of one
 * rank of the CPU, on slabs of 4 to 7 planes, whose planes are edges at both ends, on uneven ones, and on
 * some that a device with 2 multiprocessors computes by the pipeline, in tiny and in small tiles, cut and
 * whole. Run on 2 or 3 ranks; skipped where ranks share a device. `test_sends BACKEND`; `test_sends BACKEND
 * large`: also a slab that larger devices compute by the pipeline. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gather.h"
#include "open_solver.h"

enum { STEPS = 2, SKIPPED = 77 };

static config make_config(const int n[3], const char *velocity, precision precision) {
  config config = gaussian_config(n, velocity, precision, STEPS);
  config.overlap = 1;
  config.pairs = CONFIG_PAIRS_NO;
  config.transport = CONFIG_TRANSPORT_PEER;
  return config;
}

/* [out] recorded: 1 if steps were recorded. */
static status compute(MPI_Comm comm, const config *config, const kernels *backend, void *phi, int *recorded) {
  solver solver;
  schedule schedule;
  status result = open_solver(comm, config, equation_of(config), backend, &solver);
  if (result == STATUS_OK) result = schedule_make(config, &solver.rates, &schedule);
  if (result == STATUS_OK) result = solver_initialise(&solver);
  for (int step = 0; step < STEPS && result == STATUS_OK; step++)
    result = solver_step(&solver, schedule_time(&schedule, step), schedule_dt(&schedule, step + 1), 0);
  *recorded = solver.stepper.graphs[0] != NULL;
  if (result == STATUS_OK) result = gather(comm, &solver.grid, &stepper_state(&solver.stepper)->part[0], phi);
  if (result == STATUS_OK) result = halo_leave(&solver.halo);
  solver_destroy(&solver);
  return result;
}

/* Returns 1, on rank 0, if all ranks together compute other bits than one rank of the CPU. */
static int check(const kernels *backend, const int n[3], const char *velocity, precision precision) {
  config config = make_config(n, velocity, precision);
  const size_t bytes = (size_t)n[0] * (size_t)n[1] * (size_t)n[2] * kernels_element_size(precision);
  void *reference = malloc(bytes);
  void *phi = malloc(bytes);
  int recorded = 0;
  int unused = 0;
  int rank = 0;
  int wrong = reference == NULL || phi == NULL;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const status result = compute(MPI_COMM_WORLD, &config, backend, phi, &recorded);
  if (rank == 0) {
    wrong = wrong || result != STATUS_OK || !recorded ||
            compute(MPI_COMM_SELF, &config, kernels_find("cpu"), reference, &unused) != STATUS_OK ||
            memcmp(phi, reference, bytes) != 0;
    if (wrong)
      (void)printf("WRONG: %d x %d x %d, %s, precision %d, recorded %d: %s\n", n[0], n[1], n[2], velocity,
                   (int)precision, recorded, status_message(result));
  }
  free(reference);
  free(phi);
  return wrong;
}

/* Returns 1 if there are several ranks, each with a device of its own. */
static int usable(const kernels *backend, int ranks) {
  const int n[3] = {32, 32, 32};
  config config = make_config(n, "uniform", PRECISION_DOUBLE);
  solver solver;
  const int is = open_solver(MPI_COMM_WORLD, &config, equation_of(&config), backend, &solver) == STATUS_OK;
  if (is) (void)halo_leave(&solver.halo);
  solver_destroy(&solver);
  status_clear();
  return is && ranks > 1;
}

int main(int argc, char **argv) {
  static const int shapes[][3] = {{40, 21, 0},  {33, 20, 1},  {16, 17, 40},
                                  {41, 40, 48}, {72, 70, 34}, {128, 128, 160}};
  const size_t count = sizeof shapes / sizeof *shapes - (argc < 3);
  int ranks = 1;
  int wrong = 0;
  int code = SKIPPED;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const kernels *backend = kernels_find(argc > 1 ? argv[1] : "cuda");
  if (backend != NULL && backend->meet != NULL && backend->probe() == STATUS_OK && usable(backend, ranks)) {
    for (size_t s = 0; s < count; s++) {
      const int thin = shapes[s][2] < 2;
      const int n[3] = {shapes[s][0], shapes[s][1],
                        thin ? 4 * ranks + shapes[s][2] : shapes[s][2] * ranks / 2};
      wrong += check(backend, n, "uniform", PRECISION_DOUBLE);
      wrong += check(backend, n, "abc", PRECISION_SINGLE);
    }
    MPI_Bcast(&wrong, 1, MPI_INT, 0, MPI_COMM_WORLD);
    code = wrong == 0 ? 0 : 1;
  }
  MPI_Finalize();
  return code;
}
