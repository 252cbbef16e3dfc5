#ifndef FDAPP_DOMAIN_SLAB_H
#define FDAPP_DOMAIN_SLAB_H

#include "domain/halo.h"

/* The environment of a program built on the library: this rank's slab of a periodic grid, a device to compute
 * on, and the halo exchange. fdapp itself opens these parts one by one, as its configuration says. */

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

/* Opens the whole environment. The device is chosen by the rank's number on its node, the number of CPU
 * threads is the rank's share of the node. Collective over `comm`, which must outlive the slab; the same
 * status on every rank. Call slab_close even after an error. STATUS_USAGE for a grid too small for the ranks;
 * STATUS_DEVICE, STATUS_MEMORY, STATUS_MPI. */
status slab_open(MPI_Comm comm, const slab_request *request, slab *slab);

/* Closes the slab. Not collective. Fields of the slab are destroyed before, after halo_leave if any were
 * exchanged. */
void slab_close(slab *slab);

#endif
