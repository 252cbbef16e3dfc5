#ifndef FDAPP_APP_JUMPS_H
#define FDAPP_APP_JUMPS_H

#include <mpi.h>

#include "domain/field.h"

/* What a grid does not hold of a field, and what meets the values that enter through ends. */
typedef struct jumps {
  double height;  /* of the highest jump between neighbours along an axis. A wave counts by what of it the
                   * grid does not hold: 0.17 of its range with 6 points, 0.002 with 20 */
  double ends[2]; /* minimum and maximum on the ends of axes; INFINITY, -INFINITY: there are none */
} jumps;

/* Looks at all points of a field whose halos are valid. The same on any number of ranks. Collective.
 * STATUS_MEMORY, STATUS_DEVICE, STATUS_MPI. */
status jumps_find(MPI_Comm comm, const grid *grid, const field *field, jumps *jumps);

#endif
