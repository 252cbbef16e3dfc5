#ifndef FDAPP_DOMAIN_NEIGHBOURS_H
#define FDAPP_DOMAIN_NEIGHBOURS_H

#include "base/agree.h"
#include "kernels.h"

/* The ranks below and above on the same node, with access to their devices' memory, and what the devices need
 * to meet (kernels_meeting). */
typedef struct neighbours {
  MPI_Comm comm;
  const kernels *backend; /* has `meet`. NULL: not open */
  kernels_context *context;
  int sides; /* number of different neighbours: 1 if both are the same rank */
  kernels_meeting meeting;
} neighbours;

/* Seconds that a device waits for a neighbour: ranks are this far apart only if one has stopped. */
extern const double neighbours_patience;

/* ranks: below and above, MPI_PROC_NULL: none. Collective over comm, and so is the status. STATUS_MPI,
 * STATUS_DEVICE, STATUS_MEMORY; neighbours_close even after an error. */
status neighbours_open(MPI_Comm comm, const kernels *backend, kernels_context *context,
                       const int ranks[SIDE_COUNT], neighbours *neighbours);

/* Ends the access that neighbours_open gave; nothing on any queue may still meet. All ranks must have done so
 * before neighbours_close frees what they had access to. Neither is collective. */
void neighbours_leave(neighbours *neighbours);
void neighbours_close(neighbours *neighbours);

/* Sends `bytes` of `mine` to both neighbours and receives theirs; `below` and `above` are not changed where
 * there is none. Collective between neighbours. STATUS_MPI. */
status neighbours_swap(const neighbours *neighbours, const void *mine, void *below, void *above, int bytes);

/* Gives both neighbours access to a block of MEMORY_DEVICE, and opens theirs; NULL where there is none.
 * Collective over the communicator, and so is the status. STATUS_MPI, STATUS_DEVICE. */
status neighbours_import(const neighbours *neighbours, void *mine, void *theirs[SIDE_COUNT]);
void neighbours_release(const neighbours *neighbours, void *theirs[SIDE_COUNT]);

#endif
