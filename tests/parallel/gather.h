#ifndef FDAPP_TESTS_GATHER_H
#define FDAPP_TESTS_GATHER_H

#include <mpi.h>

#include "domain/field.h"

/* Collects the points of a field on rank 0 of `comm`, packed, plane after plane in global order: `all` there
 * holds nz ny nx elements, elsewhere it is not used. Collective. */
status gather(MPI_Comm comm, const grid *grid, const field *field, char *all);

/* A barrier at which ranks sleep: those that a test leaves out would keep the others from their processor. */
void wait_asleep(MPI_Comm comm);

/* A test's main program between MPI_Init and MPI_Finalize. Its first argument names the backend, by default
 * cpu. check: the number of wrong answers that this rank found. Returns the exit code: 0 if no rank found
 * any, 1, or 77 if the backend cannot run here. */
int check_on_backend(int argc, char **argv, int (*check)(const kernels *backend));

#endif
