#ifndef FDAPP_OUTPUT_PROBES_H
#define FDAPP_OUTPUT_PROBES_H

#include <mpi.h>

#include "config/config.h"
#include "domain/state.h"
#include "output/table.h"
#include "stepping/schedule.h"

/* probes.csv: values of the fields at a few points, at regular steps. A probe has the values of the nearest
 * grid point (grid_nearest), to the bit. Columns: step, time, then for each probe every field, as "phi(0.5
 * 0.25 0.25)" with the place of that point. There is a row for each multiple of output.probes_every, or
 * probes_at, whatever else is due, so that the table does not depend on where a run was stopped. */
typedef struct probes {
  MPI_Comm comm;
  grid grid;
  int fields, count;
  int64_t (*point)[3]; /* global indices of each probe's point */
  uint64_t *values;    /* bits of a row's values in double, probe by probe */
  config_period due;
  table table; /* rank 0 */
} probes;

/* Makes the probes of `config`, of the first `fields` fields of states, with these names. Collective.
 * STATUS_MEMORY, STATUS_MPI; call probes_destroy even after an error. */
status probes_create(MPI_Comm comm, const grid *grid, const config *config, int fields,
                     const char *const names[], probes *probes);
void probes_destroy(probes *probes);

/* Returns 1 if a row is due at this step. */
int probes_due(const probes *probes, const schedule *schedule, int64_t step);

/* Rank 0: opens the table as table_open does; nothing without probes. STATUS_FILE, STATUS_MEMORY. */
status probes_open(probes *probes, const rundir *rundir, int64_t from, int due);

/* Appends the row of a step that is due, unless the table has it already. Copies only the probes' values to
 * the host. Collective. STATUS_DEVICE, STATUS_FILE, STATUS_MPI. */
status probes_append(probes *probes, const state *state, const schedule *schedule, int64_t step);

#endif
