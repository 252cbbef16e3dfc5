#include "open_solver.h"

#include <string.h>

#include "problems/cases.h"

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
