#ifndef FDAPP_SNAPSHOTS_DATASET_H
#define FDAPP_SNAPSHOTS_DATASET_H

#include "kernels.h"

/* A dataset that a user brings: in any HDF5 file, of shape (nz, ny, nx), in single or double precision,
 * stored in any layout. Each rank reads for itself; nothing is collective.
 *
 * `key` is the configuration's, for messages. STATUS_FILE: there is no such file, it is no HDF5 file, or it
 * cannot be read. STATUS_USAGE: it has no such dataset, or one of another shape or type. */
typedef struct dataset {
  const char *key, *path, *name;
  int64_t n[3];  /* nx, ny, nz: what it has to have */
  int64_t least; /* any shape with at least so many points along each axis will do; 0: n alone */
} dataset;

/* What a file says of a dataset, and of the grid of its points. */
typedef struct dataset_about {
  int64_t n[3]; /* nx, ny, nz, each at least 1 */
  precision precision;
  int has_spacing; /* whether /VTKHDF says so; else 1, 1, 1 */
  double spacing[3];
} dataset_about;

/* Looks at a dataset of any three dimensions; dataset->n is not read. STATUS_USAGE for another number of
 * them, or a spacing that is none. */
status dataset_describe(const dataset *dataset, dataset_about *about);
/* Whether the dataset is as it has to be. Where any shape will do, [out] its n. */
status dataset_check(dataset *dataset);
/* Reads planes z0 <= z < z0 + count, x fastest and without padding, rounded to the precision. */
status dataset_read(const dataset *dataset, precision precision, int64_t z0, int64_t count, void *planes);
/* Whether all values of such planes are at most `largest` in magnitude. STATUS_USAGE, with value and place.
 */
status dataset_check_values(const dataset *dataset, precision precision, int64_t z0, int64_t count,
                            const void *planes, double largest);

#endif
