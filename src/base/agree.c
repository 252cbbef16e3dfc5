#include "base/agree.h"

#include <stdio.h>

static int reached = 0;

int agree_reached(void) {
  return reached;
}

status agree_mpi_failure(int code, const char *call) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  (void)MPI_Error_string(code, text, &length);
  return status_fail(STATUS_MPI, "MPI: %s: %s", call, text);
}

status agree(MPI_Comm comm, status mine) {
  int rank = 0;
  int ranks = 1;
  reached = 0;
  if (mine == STATUS_MPI || mine == STATUS_LATE) return mine;
  CHECK_MPI(MPI_Comm_rank(comm, &rank));
  CHECK_MPI(MPI_Comm_size(comm, &ranks));
  const int claim = mine == STATUS_OK ? ranks : rank;
  int first = ranks;
  CHECK_MPI(MPI_Allreduce(&claim, &first, 1, MPI_INT, MPI_MIN, comm));
  if (first == ranks) return STATUS_OK;

  struct {
    int code;
    char text[STATUS_MESSAGE_SIZE];
  } fault = {.code = (int)mine};
  if (rank == first) (void)snprintf(fault.text, sizeof fault.text, "%s", status_message(mine));
  CHECK_MPI(MPI_Bcast(&fault, (int)sizeof fault, MPI_BYTE, first, comm));
  status_set_message(fault.text);
  reached = 1;
  return (status)fault.code;
}
