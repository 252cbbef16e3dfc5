#ifndef FDAPP_APP_JUMPS_H
#define FDAPP_APP_JUMPS_H

#include <mpi.h>

#include "domain/field.h"
#include "settings/settings.h"

/* [out] height: of the highest jump of a field along each axis at `time`, between neighbours, or between its
 * values on ends and those that enter there. A wave counts by what of it the grid does not hold: 0.17 of its
 * range with 6 points, 0.002 with 20. Looks at all points of the field, whose halos are valid. The same on
 * any number of ranks. Collective. STATUS_MEMORY, STATUS_DEVICE, STATUS_MPI. */
status jumps_find(MPI_Comm comm, const config *config, const grid *grid, const field *field, double time,
                  double height[3]);

#endif
