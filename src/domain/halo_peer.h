#ifndef FDAPP_DOMAIN_HALO_PEER_H
#define FDAPP_DOMAIN_HALO_PEER_H

#include "domain/field.h"
#include "domain/neighbours.h"

/* Halo exchange among the GPUs of one node without messages: each rank writes its edge planes into its
 * neighbours' halo planes, by copies or from the kernel that computes them. The devices meet
 * (kernels_meeting) when they are there, or a number behind each copy tells the neighbour (halo_peer_pass);
 * the hosts wait for nothing. */

enum {
  HALO_PEER_BLOCKS = 64
}; /* most different fields: all slots of a scheme with the largest states, and more */

/* A field of this rank, and the addresses at which this rank can write the neighbours' corresponding
 * fields. */
typedef struct halo_peer_block {
  const void *mine;
  unsigned number;          /* the field's */
  void *theirs[SIDE_COUNT]; /* NULL without a neighbour */
} halo_peer_block;

typedef struct halo_peer {
  neighbours neighbours;
  int planes[SIDE_COUNT]; /* planes that each neighbour owns */
  halo_peer_block blocks[HALO_PEER_BLOCKS];
  int block_count;
  unsigned passed; /* number of the latest exchange of halo_peer_pass */
} halo_peer;

/* For fields with the backend and shape of `like`. ranks: neighbours, MPI_PROC_NULL beyond an end of z.
 * Collective over comm. STATUS_MPI, STATUS_DEVICE, STATUS_MEMORY; halo_peer_close even after an error. */
status halo_peer_open(MPI_Comm comm, const field *like, const int ranks[SIDE_COUNT], halo_peer *peer);

/* Ends access to the neighbours' memory, when all work enqueued here is done; halo_peer_close also frees what
 * they had access to. Not collective; all ranks must have left before one closes, if they can. */
void halo_peer_leave(halo_peer *peer);
void halo_peer_close(halo_peer *peer);

/* ---- STATUS_MPI, STATUS_DEVICE. Neighbours open a field that is new here, all ranks at once, so fields must
 * live as long as the peers: STATUS_DEVICE if a field lies at the address of an earlier one that the
 * neighbours still have open ---- */

/* Enqueues on COPY: copies of `planes` edge planes at each side of `count` fields, and a meeting. Work on
 * COPY before must have computed them, and since the previous meeting neither this rank nor a neighbour may
 * have begun to read halo planes of the fields. For work on COPY afterwards these are valid. */
status halo_peer_exchange(halo_peer *peer, int count, const field *const fields[], int planes);

/* Enqueues on COPY: copies of `planes` edge planes at one side of `count` fields, after which the neighbour
 * is told so (kernels.pass). An exchange is one side, is_first, and then the other; its number is `passed`.
 * Conditions: those of halo_pass. */
status halo_peer_pass(halo_peer *peer, int count, const field *const fields[], int planes, kernels_side side,
                      int is_first);

/* [out] sending: what a kernel needs to send its edge planes of `field`, its output, itself. */
status halo_peer_sending(halo_peer *peer, const field *field, kernels_sending *sending);

/* Enqueues a meeting on MAIN. */
status halo_peer_meet(const halo_peer *peer);

#endif
