#ifndef FDAPP_HALO_PEER_H
#define FDAPP_HALO_PEER_H

#include "base/agree.h"
#include "field.h"

/* Halo exchange among the GPUs of one node without messages that carry planes: each rank copies its edge
 * planes straight into its neighbours' halo planes. Messages are empty: that one's halo planes may be
 * overwritten, and that one's copies have arrived. */

enum {
  PEER_SIDES = 2 /* the ranks below and above */,
  PEER_BLOCKS = 16 /* fields, at most */,
  PEER_TOKENS = 4
};

/* A field of this rank, and what its neighbours have in its place, in this rank's address space. */
typedef struct peer_block {
  const void *mine;
  char *theirs[PEER_SIDES];
} peer_block;

typedef struct halo_peer {
  MPI_Comm comm;
  const kernels *backend; /* NULL: not open */
  kernels_context *context;
  int ranks[PEER_SIDES];
  int sides;              /* different neighbours: 1 where both are the same rank */
  int planes[PEER_SIDES]; /* that the neighbours own */
  peer_block blocks[PEER_BLOCKS];
  int block_count;
  MPI_Request tokens[PEER_TOKENS];
} halo_peer;

/* For fields of the backend and shape of `like`. Collective between neighbours, as peer_exchange is.
 * STATUS_MPI. */
status peer_open(MPI_Comm comm, const field *like, int below, int above, halo_peer *peer);

/* Lets go of the neighbours' memory. Not collective. */
void peer_close(halo_peer *peer);

/* Copies the edge planes of `count` fields, which are computed; nothing reads the halo planes any more. A
 * field that is new here is opened by the neighbours, so fields must live as long as the peers. On return the
 * halo planes are valid. STATUS_MPI, STATUS_DEVICE. */
status peer_exchange(halo_peer *peer, int count, const field *const fields[]);

#endif
