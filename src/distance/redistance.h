#ifndef FDAPP_DISTANCE_REDISTANCE_H
#define FDAPP_DISTANCE_REDISTANCE_H

#include "distance/distance.h"

/* Makes a level-set function a distance again that advection has distorted. Its surface is phi = 0, its sign
 * stays at every point. */
typedef struct redistance {
  distance distance;
  void *values; /* host: planes -1 .. nz of the slab, packed */
} redistance;

/* Prepares for fields of `space`. direct: whether device memory can be given to MPI. Collective, the same
 * status on every rank, as redistance_run. STATUS_MEMORY, STATUS_DEVICE, STATUS_MPI; redistance_close is due
 * all the same. */
status redistance_open(MPI_Comm comm, const grid *grid, const field_space *space, int direct,
                       redistance *redistance);
void redistance_close(redistance *redistance);

/* phi = distance to its surface, with its sign. Halos neither needed nor changed. A field without a surface,
 * or with a value that is not finite, stays as it is: measuring it tells what is wrong. Waits until done. */
status redistance_run(redistance *redistance, field *phi);

/* Bytes of host memory that a rank needs, beside DISTANCE_WORK fields. */
size_t redistance_host_bytes(const grid *grid, precision precision);

#endif
