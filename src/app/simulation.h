#ifndef FDAPP_APP_SIMULATION_H
#define FDAPP_APP_SIMULATION_H

#include "config/config.h"

#include <mpi.h>

/* A run, from its configuration to its files. */

/* Runs to the end. Collective over comm; the same status on every rank unless a rank failed alone
 * (agree_reached() tells). start: MPI_Wtime of the program's start, for the wall-clock limit. STATUS_OK;
 * STATUS_STOPPED after a checkpoint on request; STATUS_BLOWN_UP; STATUS_OTHER_ANSWER if all is written and
 * the hash is not the reference; STATUS_USAGE, MEMORY, DEVICE, FILE, DAMAGED, FOREIGN, MPI. */
status simulation_run(MPI_Comm comm, const config *config, double start);

/* Prints the plan and makes all checks that need no device and write nothing. Collective. */
status simulation_validate(MPI_Comm comm, const config *config);

#endif
