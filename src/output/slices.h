#ifndef FDAPP_OUTPUT_SLICES_H
#define FDAPP_OUTPUT_SLICES_H

#include <mpi.h>

#include "config/config.h"
#include "config/lists.h"
#include "domain/state.h"
#include "files/rundir.h"
#include "stepping/schedule.h"

struct series;

/* slices/: planes through the fields, a file for each plane and step (files/plane_file.h), and an index
 * of each plane's files for ParaView. A slice has the values of the nearest plane of points (grid_nearest),
 * to the bit. There is one for each multiple of output.slices_every, or slices_at, whatever else is due.
 *
 * The planes are gathered on rank 0, which writes them: they are small compared with the fields. */
typedef struct slices {
  MPI_Comm comm;
  grid grid;
  precision precision;
  int fields, count;
  const char *const *names;
  const config *config; /* for units */
  config_period due;
  config_slice list[CONFIG_MOST_SLICES];
  void *mine; /* this rank's part of a field's plane */
  /* Rank 0. */
  void *whole; /* a plane of all fields */
  int *counts, *starts;
  struct series *index[CONFIG_MOST_SLICES];
  char path[sizeof((rundir *)0)->path + sizeof "/" RUNDIR_SLICES];
} slices;

/* Makes the slices of `config`, for states of `fields` fields of these names, which must outlive it.
 * Collective. STATUS_MEMORY, STATUS_MPI; call slices_destroy even after an error. */
status slices_create(MPI_Comm comm, const grid *grid, const config *config, int fields,
                     const char *const names[], slices *slices);
void slices_destroy(slices *slices);

/* Returns 1 if slices are due at this step. */
int slices_due(const slices *slices, const schedule *schedule, int64_t step);

/* Rank 0: makes the directory. With from >= 0 it continues the indices of an earlier start up to that step,
 * also those of slices and kept snapshots in part (RUNDIR_FIELDS) that are no longer configured; files of
 * later steps will be overwritten. STATUS_FILE, STATUS_MEMORY. */
status slices_open(slices *slices, const rundir *rundir, int64_t from);

/* Writes the slices of a step that is due, except those left by an earlier start; all are on the disk when it
 * returns. Collective. STATUS_DEVICE, STATUS_FILE, STATUS_MEMORY, STATUS_MPI. */
status slices_write(slices *slices, const state *state, const schedule *schedule, int64_t step);

#endif
