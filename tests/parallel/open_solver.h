#ifndef FDAPP_TESTS_OPEN_SOLVER_H
#define FDAPP_TESTS_OPEN_SOLVER_H

#include "app/solver.h"

/* `steps` steps of a Gaussian of order 8 on one thread, with a velocity that is "uniform" or "abc". */
config gaussian_config(const int n[3], const char *velocity, precision precision, int steps);

/* A solver on the ranks of `comm`, with the grid of `config`. solver_destroy closes it, after errors, too.
 * Collective. Errors as of solver_create. */
status open_solver(MPI_Comm comm, const config *config, const equation *equation, const kernels *backend,
                   solver *solver);

#endif
