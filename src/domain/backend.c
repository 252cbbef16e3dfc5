#include "domain/backend.h"

#include <stdio.h>
#include <string.h>

/* The backend that this rank would take; [out] its index in the registry. */
static status find(const char *name, const kernels **backend, int *index, char *note, size_t size) {
  note[0] = '\0';
  *index = 0;
  if (strcmp(name, "auto") != 0) {
    *backend = kernels_find(name);
    if (*backend == NULL) {
      return status_fail(STATUS_DEVICE, "compute.backend = %s: not built into this program; see fdapp --list",
                         name);
    }
    return (*backend)->probe();
  }
  for (int i = 0; i < kernels_count(); i++) {
    *backend = kernels_at(i);
    *index = i;
    const status found = (*backend)->probe();
    if (found == STATUS_OK) return STATUS_OK;
    (void)snprintf(note, size, "%s passed over: %s", (*backend)->name, status_message(found));
    status_clear();
  }
  return status_fail(STATUS_DEVICE, "no backend can run here (%s)", note);
}

status backend_choose(MPI_Comm comm, const char *name, const kernels **backend, char *note, size_t size) {
  int mine = 0;
  int first = 0;
  CHECK(agree(comm, find(name, backend, &mine, note, size)));
  CHECK_MPI(MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, comm));
  /* refused, because one rank on its CPU would delay all others on their GPUs */
  return agree(comm, mine == first ? STATUS_OK
                                   : status_fail(STATUS_DEVICE,
                                                 "compute.backend = auto: other ranks can use %s, this one "
                                                 "cannot: %s",
                                                 kernels_at(first)->name, note));
}
