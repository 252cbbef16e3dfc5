#ifndef FDAPP_DOMAIN_HALO_PEER_H
#define FDAPP_DOMAIN_HALO_PEER_H

#include "domain/field.h"
#include "domain/halo_flags.h"

/* Halo exchange among the GPUs of one node without messages: each rank copies its edge planes straight into
 * its neighbours' halo planes. Flags say that one's halo planes may be overwritten, and that one's copies
 * have arrived. */

enum {
  HALO_PEER_BLOCKS = 64
}; /* most different fields: all slots of a scheme with the largest states, and more */

/* A field of this rank, and what its neighbours have in its place, in this rank's address space. */
typedef struct halo_peer_block {
  const void *mine;
  unsigned number;          /* the field's */
  char *theirs[SIDE_COUNT]; /* NULL where there is no neighbour */
} halo_peer_block;

typedef struct halo_peer {
  MPI_Comm comm;
  const kernels *backend; /* NULL: not open */
  kernels_context *context;
  int ranks[SIDE_COUNT];  /* MPI_PROC_NULL beyond an end of z */
  int sides;              /* different neighbours: 1 where both are the same rank */
  int planes[SIDE_COUNT]; /* that the neighbours own */
  halo_peer_block blocks[HALO_PEER_BLOCKS];
  int block_count;
  halo_flags flags;
  unsigned exchanges; /* so far */
} halo_peer;

/* For fields of the backend and shape of `like`; below, above: neighbours, MPI_PROC_NULL beyond an end of z.
 * Collective. STATUS_MPI, STATUS_DEVICE. */
status halo_peer_open(MPI_Comm comm, const field *like, int below, int above, halo_peer *peer);

/* Lets go of the neighbours' memory and flags. Not collective. */
void halo_peer_close(halo_peer *peer);

/* Copies the edge planes of `count` fields, which are computed; nothing reads the halo planes any more. A
 * field that is new here is opened by the neighbours, so fields must live as long as the peers: STATUS_DEVICE
 * if one lies where another lay, whose memory the neighbours still have open. On return the halo planes are
 * valid. Collective between neighbours. STATUS_MPI, STATUS_DEVICE. */
status halo_peer_exchange(halo_peer *peer, int count, const field *const fields[]);

#endif
