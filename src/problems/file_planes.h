#ifndef FDAPP_PROBLEMS_FILE_PLANES_H
#define FDAPP_PROBLEMS_FILE_PLANES_H

#include "settings/settings.h"
#include "domain/grid.h"
#include "files/dataset.h"

/* This rank's planes of a user's dataset (files/dataset.h), with the periodic images that halos need, in
 * the precision of the fields and in host memory. */
typedef struct file_planes {
  const grid *grid;
  precision precision;
  void *data; /* planes z0 - KERNELS_HALO .. z0 + nz + KERNELS_HALO - 1; NULL: not open */
} file_planes;

/* Checks the dataset that a key's file must have: with the grid's points or, to be resampled, any that fit
 * (resample.h). [out] place: of the file's points; elsewhere: 1 if it is not resampled, but the file says
 * that its points lie elsewhere. STATUS_FILE, STATUS_USAGE as dataset_check. */
status file_planes_check(const grid *grid, const char *key, const char *path, const char *name, int resample,
                         dataset_place *place, int *elsewhere);

/* Finds the dataset of a file that file_planes_check accepts, and where its points lie. [out] same: 1 if they
 * are the grid's own. */
status file_planes_find(const grid *grid, const char *key, const char *path, const char *name, int resample,
                        dataset *dataset, dataset_place *place, int *same);

/* Reads the planes. STATUS_FILE, STATUS_USAGE as dataset_read; STATUS_USAGE also for a value that is not
 * finite or exceeds PROBLEM_LARGEST, or of a medium one that medium.h does not accept, with its place;
 * STATUS_MEMORY. After an error there is nothing to close. */
status file_planes_open(const config *config, const grid *grid, const char *key, const char *path,
                        const char *name, int resample, file_planes *planes);
void file_planes_close(file_planes *planes);
/* A sum over this rank's planes of a hash of each plane's values and place: added up over all ranks it stands
 * for the dataset, whatever their number. */
uint64_t file_planes_hash(const file_planes *planes);
/* The value at a global point of one of these planes. */
double file_planes_at(const file_planes *planes, int64_t z, int64_t y, int64_t x);

#endif
