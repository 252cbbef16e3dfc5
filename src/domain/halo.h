#ifndef FDAPP_DOMAIN_HALO_H
#define FDAPP_DOMAIN_HALO_H

#include "domain/halo_peer.h"
#include "domain/state.h"
#include "domain/transport.h"

/* Exchange of halo planes between neighbouring slabs: KERNELS_HALO planes each way, contiguous in the field
 * and sent from there. Periodic in z, the first and the last rank are neighbours; with ends, they have one
 * neighbour each, and their halo planes beyond the end keep what they hold. A rank that holds all of z
 * exchanges nothing. If z is periodic its kernels wrap around (kernels_shape.whole), and its halo planes hold
 * anything. */

enum { HALO_FIELDS = STATE_FIELDS }; /* most fields exchanged at once: a whole state */

typedef struct halo {
  MPI_Comm comm;
  int below, above; /* neighbouring ranks, MPI_PROC_NULL beyond an end of z */
  int alone;        /* there is but this rank: nothing is done, nothing is waited for */
  const kernels *backend;
  kernels_context *context;
  transport transport;
  size_t bytes;      /* of KERNELS_HALO planes */
  MPI_Datatype unit; /* KERNELS_PLANE_UNIT bytes: messages are counted in these, for bytes may pass what an
                        int holds */
  int units;         /* of KERNELS_HALO planes */
  int most;          /* fields at once */
  char *staging; /* TRANSPORT_STAGED: what is sent below, sent above, received from below and from above, each
                  * `most` fields long, so that all fields of an exchange are one message */
  halo_peer peer;          /* TRANSPORT_PEER, from the first exchange on */
  kernels_event *computed; /* by halo_exchange */
  kernels_event *edges;    /* under way: when the planes may leave */
  kernels_event *halos_ready;
  const field *fields[HALO_FIELDS];
  int count;                                              /* fields under way; 0 = none */
  MPI_Request up[2 * HALO_FIELDS], down[2 * HALO_FIELDS]; /* a receive and a send for each message */
  double wait_seconds;                                    /* host time spent in halo_end since creation */
  double last_seconds; /* of the latest one, from when its planes were computed */
} halo;

/* Prepares exchanges of at most `fields` (1 .. HALO_FIELDS) of `space` at once on the slabs of `grid`. Not
 * collective. Buffers live until halo_destroy. STATUS_MEMORY, STATUS_DEVICE, STATUS_MPI; STATUS_USAGE if
 * the halo planes of that many fields have 512 GiB or more. halo_destroy is due all the same. */
status halo_create(MPI_Comm comm, const grid *grid, const field_space *space, transport transport, int fields,
                   halo *halo);
void halo_destroy(halo *halo);

/* Of all that follow: STATUS_MPI, STATUS_DEVICE; an exchange that fails leaves no halo valid. */

/* Closes what exchanges have opened of the neighbours' memory, and returns when they have, too: nobody frees
 * what another still has open. Fields that have been exchanged live until then; exchanges of others may
 * follow. Collective; before field_destroy and halo_destroy, where every rank gets there. */
status halo_leave(halo *halo);

/* Starts sending the lowest and highest KERNELS_HALO owned planes of `count` fields (as many as halo_create
 * was told at most), which are computed when `edges` is passed; nothing reads their halo planes from then on.
 * Between begin and end those planes must not change and the fields must stay alive; interior planes may be
 * computed. On backends that run asynchronously the planes leave in halo_end, when the interior has been
 * enqueued and runs. Collective between neighbours: every rank calls begin and end in the same order.
 * STATUS_USAGE: more fields than that. By peer copies at most HALO_PEER_BLOCKS (halo_peer.h) different fields
 * between one halo_leave and the next: STATUS_DEVICE beyond. */
status halo_begin(halo *halo, int count, const field *const fields[], kernels_event *edges);

/* Returns when the halos of the fields of halo_begin are valid for whatever is enqueued from now on, on
 * any queue. Owned planes unchanged. */
status halo_end(halo *halo);

/* begin and end in one, for fields whose last operation was enqueued on MAIN. */
status halo_exchange(halo *halo, int count, const field *const fields[]);

#endif
