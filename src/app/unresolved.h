#ifndef FDAPP_APP_UNRESOLVED_H
#define FDAPP_APP_UNRESOLVED_H

#include <mpi.h>

#include "settings/settings.h"
#include "domain/field.h"
#include "equations/equation.h"

/* Warns of an initial condition by a formula or from a file that the grid or the precision does not hold,
 * with the numbers; named cases are examined by cases_not_held. `initial` is the stored field, with valid
 * halos, minimum and maximum are its range. One pass over the field, plane by plane. Collective.
 * STATUS_MEMORY, STATUS_DEVICE, STATUS_MPI. */
status unresolved_warn(MPI_Comm comm, const config *config, const grid *grid, const field *initial,
                       double minimum, double maximum);

/* Warns of an initial pressure within layers that absorb: they take what enters them and not what begins
 * there. Collective. STATUS_MEMORY, STATUS_DEVICE, STATUS_MPI. */
status unresolved_layers(MPI_Comm comm, const config *config, const grid *grid, const field *initial);

/* As unresolved_warn, and whether its values are finite, before anything is stored, for --validate: it
 * evaluates the condition plane by plane. Collective. STATUS_MEMORY, STATUS_MPI; STATUS_USAGE as
 * cases_verdict, and as cases_open. */
status unresolved_foresee(MPI_Comm comm, const config *config, const grid *grid);

/* The same of the sources of [source], which are evaluated. Collective. Errors as of source_open and
 * source_verdict, STATUS_MPI. */
status unresolved_sources(MPI_Comm comm, const config *config, const equation *equation, const grid *grid);

#endif
