#ifndef FDAPP_DOMAIN_HALO_H
#define FDAPP_DOMAIN_HALO_H

#include "domain/halo_peer.h"
#include "domain/state.h"
#include "domain/transport.h"

/* Exchange of halo planes between neighbouring slabs: KERNELS_HALO planes each way, or all that deeper fields
 * have (field.depth), contiguous in the field and sent from there. If z is periodic, the first and the last
 * rank are neighbours. With ends they have one neighbour each, and halo planes beyond an end are not changed.
 * A rank that holds all of z exchanges nothing; if z is periodic its kernels wrap around
 * (kernels_shape.whole), and the contents of its halo planes have no meaning. */

enum { HALO_FIELDS = STATE_FIELDS }; /* most fields per exchange: a whole state */

typedef struct halo {
  MPI_Comm comm;
  int neighbour[SIDE_COUNT]; /* ranks below and above, MPI_PROC_NULL beyond an end of z */
  int alone;                 /* 1: a single rank, so nothing is exchanged */
  const kernels *backend;
  kernels_context *context;
  transport transport;
  size_t plane;      /* bytes of a plane */
  size_t slab;       /* bytes of the planes of a field that the rank with the most owns */
  MPI_Datatype unit; /* KERNELS_PLANE_UNIT bytes; counted in these, messages do not overflow int */
  int units;         /* units of a plane */
  int most;          /* most fields per exchange */
  int depth;         /* most planes per exchange */
  char *staging;  /* TRANSPORT_STAGED: planes to send below and above, and received from below and above, each
                   * of `most` fields, so that all fields of an exchange are one message */
  halo_peer peer; /* TRANSPORT_PEER; opened by the first exchange */
  kernels_event *computed; /* recorded by halo_exchange and halo_pass */
  kernels_event *begun;    /* TRANSPORT_PEER: recorded when the planes, or the last of them, may leave */
  kernels_event *edges;    /* the current exchange's: when the planes may leave */
  kernels_event *halos_ready;
  int behind; /* 1: halo_pass has been called since the latest meeting */
  const field *fields[HALO_FIELDS];
  int count;                                         /* fields in the current exchange; 0: none */
  int planes;                                        /* planes of each */
  MPI_Request requests[SIDE_COUNT][2 * HALO_FIELDS]; /* to a side: a receive and a send per message */
  double wait_seconds; /* host time spent in halo_end since creation; TRANSPORT_PEER: it only enqueues */
  double last_seconds; /* of the latest exchange, from when its planes were computed; TRANSPORT_PEER: unknown
                        * to the host */
} halo;

/* Prepares exchanges of at most `fields` (1 .. HALO_FIELDS) of `space` at once on the slabs of `grid`. Not
 * collective. STATUS_MEMORY, STATUS_DEVICE, STATUS_MPI; STATUS_USAGE if the halo planes of that many fields
 * have 512 GiB or more. Call halo_destroy, which frees the buffers, even after an error. */
status halo_create(MPI_Comm comm, const grid *grid, const field_space *space, transport transport, int fields,
                   halo *halo);
void halo_destroy(halo *halo);

/* Prepares exchanges of fields with up to `depth` halo planes; halo_create has done so for those of `space`.
 * No exchange may be under way. Not collective. Errors as of halo_create. */
status halo_deepen(halo *halo, int depth);

/* ---- For all functions below: STATUS_MPI, STATUS_DEVICE; after an error no halo is valid ---- */

/* Closes this rank's access to the neighbours' memory, and returns when they have done the same: a field may
 * only be freed when no neighbour has it open. Fields that have been exchanged must exist until then; other
 * fields may be exchanged later. Collective; call it before field_destroy and halo_destroy, unless some ranks
 * cannot get there. */
status halo_leave(halo *halo);

/* With TRANSPORT_PEER only after halo_meet, if halo planes were read since the previous exchange by anything
 * but the work that computed these planes. Starts sending the lowest and highest owned planes of `count`
 * fields (at most as many as halo_create was told), which must be computed when `edges` has passed: as many
 * planes as the fields have halo planes, or as the shallowest of them has. Every slab owns as many. Nothing
 * may read the fields' halo planes from then on. Until halo_end those planes must not change and the fields
 * must stay alive; interior planes may be computed. On asynchronous backends the planes leave in halo_end,
 * when the interior has been enqueued and runs. Collective between neighbours: every rank calls begin and end
 * in the same order. STATUS_USAGE: too many fields, or too deep. Peer copies allow at most HALO_PEER_BLOCKS
 * (halo_peer.h) different fields between two calls of halo_leave: STATUS_DEVICE beyond. */
status halo_begin(halo *halo, int count, const field *const fields[], kernels_event *edges);

/* Returns when the halos of the fields of halo_begin are valid for all work enqueued from now on, on any
 * queue. Owned planes are unchanged. */
status halo_end(halo *halo);

/* begin and end in one, for fields whose last operation was enqueued on MAIN. */
status halo_exchange(halo *halo, int count, const field *const fields[]);

/* Seconds that the latest exchange took from when its planes were computed, once everything enqueued is
 * done. */
status halo_seconds(const halo *halo, double *seconds);

/* Enqueued on MAIN: a meeting of neighbouring devices (kernels.h). It comes before halo_begin, and before a
 * launch that sends, if anything else has used halo planes since the previous one: a neighbour may still read
 * planes that this rank then overwrites. It also comes between a launch that sends and anything else that
 * reads the halos. halo_exchange begins with one. like: one of the fields to be exchanged. Only
 * TRANSPORT_PEER needs it; with other transports it does nothing. Devices wait for one another for
 * halo_patience at most: then STATUS_LATE names the rank that did not come. */
status halo_meet(halo *halo, const field *like);

/* Seconds for which devices wait for a neighbour; 0: no device waits for another. */
double halo_patience(const halo *halo);

/* Returns 1 if kernels may send their edge planes themselves. */
int halo_sends(const halo *halo);

/* Only where halo_sends is 1. [out] sending: for a launch on MAIN that writes all planes of `field`. When it
 * is enqueued, the halos of `field` are valid for the next launch that sends; for anything else, after
 * halo_meet. The same on all ranks, as halo_exchange. */
status halo_sending(halo *halo, const field *field, kernels_sending *sending);

/* Only where halo_sends is 1: an exchange behind a sweep that the next sweep does not wait for as a whole. A
 * sweep on MAIN computes the planes of `fields` from the edge at `side` on; that edge, all its halo planes,
 * is computed, and the halo beyond it is read, when `first` has passed. It has waited for the arrivals of the
 * previous exchange (kernels_launch.arrivals), whose sweep came from the other side, or halo_meet came
 * between; its fields are none that it reads. Then neighbours have read the halos that are written here.
 * [out] arrivals: what the next sweep on MAIN has to wait for. For anything else the halos are valid after
 * halo_meet. The same on all ranks, as halo_exchange. */
status halo_pass(halo *halo, int count, const field *const fields[], kernels_side side, kernels_event *first,
                 kernels_arrivals *arrivals);

#endif
