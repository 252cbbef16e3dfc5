#include "open_solver.h"

#include <string.h>

#include "problems/cases.h"

config gaussian_config(const int n[3], const char *velocity, precision precision, int steps) {
  config config;
  memset(&config, 0, sizeof config);
  for (int d = 0; d < 3; d++) {
    config.n[d] = n[d];
    config.l[d] = 1.0 + 0.3 * d;
    config.center[d] = 0.4 * config.l[d];
    config.wave_number[d] = 1;
    config.uniform[d] = 0.9 - 0.7 * d;
    config.abc[d] = 1.0 - 0.3 * d;
  }
  config.initial = cases_find("gaussian");
  config.velocity = velocities_find(velocity);
  config.width = 0.12;
  config.amplitude = 1.0;
  config.background = 0.1;
  config.courant = 0.8;
  config.t_end = -1.0;
  config.steps = steps;
  config.precision = precision;
  config.order = 8;
  config.threads = 1;
  return config;
}

status open_solver(MPI_Comm comm, const config *config, const equation *equation, const kernels *backend,
                   solver *solver) {
  grid grid;
  int rank = 0, ranks = 1;
  memset(solver, 0, sizeof *solver);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  CHECK(problem_grid(config, ranks, rank, &grid));
  return solver_create(comm, config, equation, &grid, backend, solver);
}
