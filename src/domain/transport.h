#ifndef FDAPP_DOMAIN_TRANSPORT_H
#define FDAPP_DOMAIN_TRANSPORT_H

#include <mpi.h>

#include "base/agree.h"
#include "config/settings.h"
#include "domain/field.h"

/* How halo planes reach the neighbours. */
typedef enum transport {
  TRANSPORT_HOST,       /* fields are in host memory: MPI takes them as they are */
  TRANSPORT_CUDA_AWARE, /* device pointers into MPI */
  TRANSPORT_STAGED,     /* through pinned host buffers */
  TRANSPORT_PEER        /* copies straight into the neighbours' memory: halo_peer.h */
} transport;

typedef struct transport_choice {
  transport transport;
  char reason[512]; /* why, for the plan, perf.json and the warning */
  int warn;         /* 1: the user should hear of it on standard error */
} transport_choice;

/* Chooses the transport for fields of `space`. Collective. In host memory it is plain messages, whatever is
 * wanted. `wanted` AUTO: device memory goes to MPI only if MPI says that it is CUDA-aware or its
 * point-to-point layer is UCX with both CUDA modules loaded, and a ring exchange of device memory gives
 * back every byte; else staged. Where it does, and all ranks are on one node and a ring of peer copies
 * gives back every byte too, there are no messages at all: PEER. CUDA_AWARE or PEER where these do not
 * hold: STATUS_DEVICE with the reason, but for PEER on one rank, which is STAGED and sends nothing. An MPI
 * that is not CUDA-aware is never given a device pointer. */
status transport_choose(MPI_Comm comm, const field_space *space, config_transport wanted,
                        transport_choice *choice);

const char *transport_name(transport transport);

#endif
