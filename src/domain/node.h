#ifndef FDAPP_DOMAIN_NODE_H
#define FDAPP_DOMAIN_NODE_H

#include <mpi.h>
#include <stdint.h>

#include "base/agree.h"

/* The ranks that share a node, and each one's share of its resources. */
typedef struct node {
  MPI_Comm comm; /* this node's ranks */
  int rank, ranks;
} node;

/* Collective over comm. Released by node_close. STATUS_MPI. */
status node_open(MPI_Comm comm, node *node);
status node_close(node *node);

/* CPU threads for this rank: `wanted` if positive, else OMP_NUM_THREADS if it is a number (returns 0: OpenMP
 * decides), else node_share of the processors that it may use. Collective over the node. STATUS_MPI. */
status node_threads(const node *node, int wanted, int *threads);

/* A rank's share of `processors` on which `sharing` ranks may run, at least 1. It is limited by the rank's
 * share of `quota`, the processor time that a container grants all `ranks` of the node (base/groups.h). */
int node_share(int processors, int sharing, int quota, int ranks);

/* [out] sum: of `bytes` over the node's ranks with the same `device`; sharing: number of these ranks.
 * Collective over the node. STATUS_MPI. */
status node_device_bytes(const node *node, int device, int64_t bytes, int64_t *sum, int *sharing);

/* [out] first: 1 if no lower rank of the node has the same `device`. Collective over the node. STATUS_MPI. */
status node_is_first(const node *node, int device, int *first);

#endif
