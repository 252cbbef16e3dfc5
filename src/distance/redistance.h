#ifndef FDAPP_DISTANCE_REDISTANCE_H
#define FDAPP_DISTANCE_REDISTANCE_H

#include "distance/distance.h"

/* Restores a level-set function that advection has distorted to a signed distance. Its surface is phi = 0;
 * the sign of every point stays. */
typedef struct redistance {
  distance distance;
  void *values; /* host memory: planes -1 .. nz of the slab, packed */
} redistance;

/* Prepares for fields of `space`. direct: 1 if MPI can take device memory. Collective, as is redistance_run;
 * the same status on every rank. STATUS_MEMORY, STATUS_DEVICE, STATUS_MPI; call redistance_close even after
 * an error. */
status redistance_open(MPI_Comm comm, const grid *grid, const field_space *space, int direct,
                       redistance *redistance);
void redistance_close(redistance *redistance);

/* phi = distance to its surface, with its sign. Halos are neither needed nor changed. A field without a
 * surface, or with a value that is not finite, is not changed; diagnostics report such a field. Waits until
 * done. */
status redistance_run(redistance *redistance, field *phi);

/* Bytes of host memory that a rank needs besides DISTANCE_WORK fields. */
size_t redistance_host_bytes(const grid *grid, precision precision);

#endif
