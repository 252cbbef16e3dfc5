#ifndef FDAPP_DOMAIN_BACKEND_H
#define FDAPP_DOMAIN_BACKEND_H

#include <mpi.h>

#include "base/agree.h"
#include "kernels.h"

/* The backend of this name; for `auto`, the first of the registry that can run here. [out] note: why `auto`
 * skipped a backend, else "". Collective: the same on every rank. STATUS_DEVICE, STATUS_MPI. */
status backend_choose(MPI_Comm comm, const char *name, const kernels **backend, char *note, size_t size);

#endif
