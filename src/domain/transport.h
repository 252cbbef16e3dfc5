#ifndef FDAPP_DOMAIN_TRANSPORT_H
#define FDAPP_DOMAIN_TRANSPORT_H

#include <mpi.h>

#include "base/agree.h"
#include "settings/settings.h"
#include "domain/field.h"

/* The ways in which halo planes reach the neighbours. */
typedef enum transport {
  TRANSPORT_HOST,       /* fields are in host memory: MPI takes them as they are */
  TRANSPORT_CUDA_AWARE, /* messages from device memory */
  TRANSPORT_STAGED,     /* through pinned host buffers */
  TRANSPORT_PEER        /* written into the neighbours' memory: halo_peer.h */
} transport;

typedef struct transport_choice {
  transport transport;
  char reason[520]; /* the reason for the choice, for the plan, perf.json and the warning */
  int warn;         /* 1: to be warned of on standard error */
  int messages;     /* 1: MPI takes the fields' memory: it is the host's, or that was proved */
} transport_choice;

/* Chooses the transport for fields of `space`. Collective. Fields in host memory always travel by plain
 * messages. For `wanted` AUTO on a device:
 *
 * - PEER if all ranks are on one node and share no device, and a ring of peer copies and meetings returns
 *   every byte;
 * - CUDA_AWARE if MPI says that it is CUDA-aware, or its point-to-point layer is UCX with both CUDA modules
 *   loaded, and a ring exchange of device memory returns every byte;
 * - otherwise STAGED.
 *
 * If `wanted` is CUDA_AWARE or PEER and these conditions fail: STATUS_DEVICE with the reason; only PEER on
 * one rank becomes STAGED, as nothing is sent. An MPI that is not CUDA-aware never gets a device pointer. */
status transport_choose(MPI_Comm comm, const field_space *space, config_transport wanted,
                        transport_choice *choice);

const char *transport_name(transport transport);

#endif
