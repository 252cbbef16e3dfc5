#ifndef FDAPP_PROBLEMS_FILE_PLANES_H
#define FDAPP_PROBLEMS_FILE_PLANES_H

#include "config/settings.h"
#include "domain/grid.h"
#include "snapshots/dataset.h"

/* This rank's planes of a dataset that a user brings (snapshots/dataset.h), with the periodic images that
 * halos take, in the precision of the fields, in host memory as long as it is open. */
typedef struct file_planes {
  const grid *grid;
  precision precision;
  void *data; /* planes z0 - KERNELS_HALO .. z0 + nz + KERNELS_HALO - 1; NULL: not open */
} file_planes;

/* What a key's file has to hold: the grid's points or, to be resampled, any (resample.h). */
dataset file_planes_dataset(const grid *grid, const char *key, const char *path, const char *name,
                            int resample);

/* Of a key's file. STATUS_FILE, STATUS_USAGE as dataset_read; STATUS_USAGE too for a value that is not finite
 * or beyond PROBLEM_LARGEST, with its place; STATUS_MEMORY. After a failure there is nothing to close. */
status file_planes_open(const config *config, const grid *grid, const char *key, const char *path,
                        const char *name, int resample, file_planes *planes);
void file_planes_close(file_planes *planes);
/* The value at a global point of one of these planes. */
double file_planes_at(const file_planes *planes, int64_t z, int64_t y, int64_t x);

#endif
