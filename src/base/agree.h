#ifndef FDAPP_BASE_AGREE_H
#define FDAPP_BASE_AGREE_H

#include <mpi.h>

#include "base/check.h"

/* Makes a fault on any rank a fault on all of them. Collective over `comm`. Returns the status of the lowest
 * rank that failed, STATUS_OK if none did, the same on every rank; afterwards status_message() gives that
 * rank's words everywhere. STATUS_MPI is not agreed on but returned at once: after a failed message-passing
 * call the ranks are out of step, and only main can end the others. Call it after anything that can fail on
 * one rank alone and before the next collective call. */
status agree(MPI_Comm comm, status mine);

/* Whether the latest failure was agreed on: every rank knows it and leaves by itself. Otherwise it is known
 * here only, and main must end the others (MPI_Abort). */
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
