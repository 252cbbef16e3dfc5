#ifndef FDAPP_SNAPSHOTS_DATASET_H
#define FDAPP_SNAPSHOTS_DATASET_H

#include "kernels.h"

/* A user's dataset: in any HDF5 file, of shape (nz, ny, nx), in single or double precision, stored in any
 * layout. Each rank reads for itself; nothing is collective.
 *
 * `key` is the configuration key, for messages. STATUS_FILE: there is no such file, it is not an HDF5 file,
 * or it cannot be read. STATUS_USAGE: it has no such dataset, or one of another shape or type. */
typedef struct dataset {
  const char *key, *path, *name;
  int64_t n[3];  /* nx, ny, nz: the required shape */
  int64_t least; /* accepts any shape with at least so many points along each axis; 0: only n */
} dataset;

/* Shape and spacing of a dataset. */
typedef struct dataset_about {
  int64_t n[3]; /* nx, ny, nz, each at least 1 */
  precision precision;
  int has_spacing; /* 1: /VTKHDF gives the spacing; else it is 1, 1, 1 */
  double spacing[3];
} dataset_about;

/* Describes a dataset of any three-dimensional shape; dataset->n is not used. STATUS_USAGE if it is not
 * three-dimensional, or the spacing is not valid. */
status dataset_describe(const dataset *dataset, dataset_about *about);
/* STATUS_OK if the dataset has the required type and shape. If any shape is accepted, [out] its n. */
status dataset_check(dataset *dataset);
/* Reads planes z0 <= z < z0 + count, x fastest and without padding, rounded to the precision. */
status dataset_read(const dataset *dataset, precision precision, int64_t z0, int64_t count, void *planes);
/* STATUS_OK if all values of such planes are at most `largest` in magnitude, else STATUS_USAGE naming value
 * and place. */
status dataset_check_values(const dataset *dataset, precision precision, int64_t z0, int64_t count,
                            const void *planes, double largest);

#endif
