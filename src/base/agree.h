#ifndef FDAPP_BASE_AGREE_H
#define FDAPP_BASE_AGREE_H

#include <mpi.h>

#include "base/check.h"

/* Makes an error on any rank an error on all of them. Collective over `comm`. Returns the status of the
 * lowest rank that failed, STATUS_OK if none did, the same on every rank; status_message() then gives that
 * rank's message everywhere. STATUS_MPI and STATUS_LATE are returned at once without agreement: after a
 * failed MPI call the ranks are out of step, and a rank that does not come would not come here either; only
 * main can end the others. Call it after anything that can fail on one rank
 * alone, before the next collective call. */
status agree(MPI_Comm comm, status mine);

/* Returns 1 if the latest failure was agreed on, so that every rank ends by itself. Otherwise only this rank
 * knows of it, and main must end the others (MPI_Abort). */
int agree_reached(void);

/* Records the text of MPI error `code` from `call`; returns STATUS_MPI. */
status agree_mpi_failure(int code, const char *call);

/* CHECK for MPI calls (communicators carry MPI_ERRORS_RETURN). */
#define CHECK_MPI(call)                                                                                      \
  do {                                                                                                       \
    const int check_mpi_ = (call);                                                                           \
    if (check_mpi_ != MPI_SUCCESS) return agree_mpi_failure(check_mpi_, #call);                              \
  } while (0)

#endif
