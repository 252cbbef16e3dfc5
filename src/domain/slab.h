#ifndef FDAPP_DOMAIN_SLAB_H
#define FDAPP_DOMAIN_SLAB_H

#include "domain/halo.h"

/* What a program that is built on fields needs before it makes any: this rank's part of a periodic grid, a
 * device to compute on, and the way to the neighbours. fdapp itself opens the parts one by one, as a
 * configuration says. */

typedef struct slab_request {
  int64_t n[3];        /* global points: nx, ny > 2 KERNELS_HALO, nz >= KERNELS_HALO on every rank */
  double l[3];         /* lengths */
  int order;           /* of the differences: 2, 4, 6 or 8 */
  precision precision; /* of the fields */
  const char *backend; /* "cpu", or "cuda" where it is built in */
  int fields;          /* exchanged at once, 1 .. HALO_FIELDS; a divergence needs 3 */
} slab_request;

typedef struct slab {
  MPI_Comm comm;
  grid grid;
  stencil stencil;
  const kernels *backend;
  kernels_context *context;
  field_space space; /* where fields are made */
  transport_choice transport;
  halo halo;
} slab;

/* Opens all of it: the device by the rank's place on its node, the CPU's threads by the rank's share of the
 * node. Collective over `comm`, which outlives the slab; the same status on every rank. slab_close is due all
 * the same. STATUS_USAGE for a grid too small for the ranks; STATUS_DEVICE, STATUS_MEMORY, STATUS_MPI. */
status slab_open(MPI_Comm comm, const slab_request *request, slab *slab);

/* Closes it. Not collective; fields of the slab are destroyed before, after halo_leave if any were exchanged.
 */
void slab_close(slab *slab);

#endif
