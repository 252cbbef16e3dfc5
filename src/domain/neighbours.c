#include "domain/neighbours.h"

enum { TAG_SWAP = 31 };

const double neighbours_patience = 60.0;

status neighbours_swap(const neighbours *neighbours, const void *mine, void *below, void *above, int bytes) {
  const int *ranks = neighbours->meeting.ranks;
  CHECK_MPI(MPI_Sendrecv(mine, bytes, MPI_BYTE, ranks[SIDE_ABOVE], TAG_SWAP, below, bytes, MPI_BYTE,
                         ranks[SIDE_BELOW], TAG_SWAP, neighbours->comm, MPI_STATUS_IGNORE));
  CHECK_MPI(MPI_Sendrecv(mine, bytes, MPI_BYTE, ranks[SIDE_BELOW], TAG_SWAP, above, bytes, MPI_BYTE,
                         ranks[SIDE_ABOVE], TAG_SWAP, neighbours->comm, MPI_STATUS_IGNORE));
  return STATUS_OK;
}

status neighbours_import(const neighbours *neighbours, void *mine, void *theirs[SIDE_COUNT]) {
  const kernels *backend = neighbours->backend;
  unsigned char own[KERNELS_HANDLE_BYTES] = {0};
  unsigned char handles[SIDE_COUNT][KERNELS_HANDLE_BYTES] = {{0}};
  theirs[SIDE_BELOW] = theirs[SIDE_ABOVE] = NULL;
  CHECK(agree(neighbours->comm, backend->memory_export(neighbours->context, mine, own)));
  CHECK(neighbours_swap(neighbours, own, handles[SIDE_BELOW], handles[SIDE_ABOVE], sizeof own));
  status result = STATUS_OK;
  for (int side = 0; side < neighbours->sides && result == STATUS_OK; side++) {
    if (neighbours->meeting.ranks[side] == MPI_PROC_NULL) continue;
    result = backend->memory_import(neighbours->context, handles[side], &theirs[side]);
  }
  if (neighbours->sides == 1) theirs[SIDE_ABOVE] = theirs[SIDE_BELOW];
  return agree(neighbours->comm, result);
}

void neighbours_release(const neighbours *neighbours, void *theirs[SIDE_COUNT]) {
  for (int side = 0; side < SIDE_COUNT; side++) {
    if (side < neighbours->sides && theirs[side] != NULL)
      neighbours->backend->memory_release(neighbours->context, theirs[side]);
    theirs[side] = NULL;
  }
}

status neighbours_open(MPI_Comm comm, const kernels *backend, kernels_context *context,
                       const int ranks[SIDE_COUNT], neighbours *neighbours) {
  const int below = ranks[SIDE_BELOW];
  const int above = ranks[SIDE_ABOVE];
  *neighbours = (struct neighbours){.comm = comm,
                                    .backend = backend,
                                    .context = context,
                                    .sides = below == above ? 1 : SIDE_COUNT,
                                    .meeting = {.ranks = {below, above}, .seconds = neighbours_patience}};
  kernels_meeting *meeting = &neighbours->meeting;
  CHECK(agree(comm, backend->memory_allocate(context, MEMORY_DEVICE, KERNELS_MEETING_BYTES, &meeting->mine)));
  return neighbours_import(neighbours, meeting->mine, meeting->theirs);
}

void neighbours_leave(neighbours *neighbours) {
  if (neighbours->backend != NULL) neighbours_release(neighbours, neighbours->meeting.theirs);
}

void neighbours_close(neighbours *neighbours) {
  neighbours_leave(neighbours);
  if (neighbours->meeting.mine != NULL)
    neighbours->backend->memory_free(neighbours->context, MEMORY_DEVICE, neighbours->meeting.mine);
  *neighbours = (struct neighbours){0};
}
