#ifndef FDAPP_DOMAIN_HALO_PEER_H
#define FDAPP_DOMAIN_HALO_PEER_H

#include "domain/field.h"
#include "domain/halo_flags.h"

/* Halo exchange among the GPUs of one node without messages: each rank copies its edge planes directly into
 * its neighbours' halo planes. Flags (halo_flags.h) say when a rank's halo planes may be overwritten, and
 * when its copies have arrived. */

enum {
  HALO_PEER_BLOCKS = 64
}; /* most different fields: all slots of a scheme with the largest states, and more */

/* A field of this rank, and the addresses at which this rank can write the neighbours' corresponding
 * fields. */
typedef struct halo_peer_block {
  const void *mine;
  unsigned number;          /* the field's */
  char *theirs[SIDE_COUNT]; /* NULL without a neighbour */
} halo_peer_block;

typedef struct halo_peer {
  MPI_Comm comm;
  const kernels *backend; /* NULL: not open */
  kernels_context *context;
  int ranks[SIDE_COUNT];  /* MPI_PROC_NULL beyond an end of z */
  int sides;              /* number of different neighbours: 1 if both are the same rank */
  int planes[SIDE_COUNT]; /* planes that each neighbour owns */
  halo_peer_block blocks[HALO_PEER_BLOCKS];
  int block_count;
  halo_flags flags;
  unsigned exchanges; /* number of exchanges so far */
} halo_peer;

/* For fields with the backend and shape of `like`. below, above: neighbours, MPI_PROC_NULL beyond an end of
 * z. Collective. STATUS_MPI, STATUS_DEVICE. */
status halo_peer_open(MPI_Comm comm, const field *like, int below, int above, halo_peer *peer);

/* Closes the neighbours' memory and flags. Not collective. */
void halo_peer_close(halo_peer *peer);

/* Copies `planes` edge planes at each side of `count` fields, which must be computed; nothing may read the
 * halo planes any more. On return the halo planes are valid. Neighbours open a field that is new here, so
 * fields must live as long as the peers: STATUS_DEVICE if a field lies at the address of an earlier one that
 * the neighbours still have open. Collective between neighbours. STATUS_MPI, STATUS_DEVICE. */
status halo_peer_exchange(halo_peer *peer, int count, const field *const fields[], int planes);

#endif
