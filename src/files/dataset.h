#ifndef FDAPP_FILES_DATASET_H
#define FDAPP_FILES_DATASET_H

#include "kernels.h"

enum { DATASET_ABSENT = 8, DATASET_BY = 64 };

/* Numbers of a file that stand for none: by attributes (_FillValue, missing_value, valid_range ...), or
 * because HDF5 gives them to points that were never written. */
typedef struct dataset_absent {
  int count;
  double value[DATASET_ABSENT];
  char by[DATASET_ABSENT][DATASET_BY]; /* what says so of each: "the attribute _FillValue" */
  double low, high;                    /* values below or above are none; without effect unless low < high */
  const char *low_by, *high_by;
} dataset_absent;

/* A user's dataset: in any HDF5 file, of shape (nz, ny, nx), of integers or of real numbers of up to double
 * precision, stored in any layout. Each rank reads for itself; nothing is collective.
 *
 * `key` is the configuration key, for messages. STATUS_FILE: there is no such file, it is not an HDF5 file,
 * or it cannot be read. STATUS_USAGE: it has no such dataset, or one of another shape or type, or one whose
 * numbers are absent in part, or mean something else by an attribute. */
typedef struct dataset {
  const char *key, *path, *name;
  int64_t n[3];          /* nx, ny, nz: the required shape */
  const char *option;    /* how another one is chosen, "initial.dataset"; NULL: it has this name */
  int64_t least;         /* accepts any shape with at least so many points along each axis; 0: only n */
  const double *range;   /* the least and the greatest accepted value; NULL: any */
  dataset_absent absent; /* [out] of dataset_check */
} dataset;

/* The places of a file's points, by the attributes of a VTK image in its group /VTKHDF, else by the
 * coordinates of the dataset's axes that have some: point i of an axis lies at origin + i spacing. */
typedef struct dataset_place {
  int known[3]; /* of x, y, z: 1 if the file says it; else the origin is 0 and the spacing 1 */
  double origin[3];
  double spacing[3];
} dataset_place;

/* Shape and place of a dataset. */
typedef struct dataset_about {
  int64_t n[3];        /* nx, ny, nz, each at least 1 */
  precision precision; /* single if that has all values that the type can have */
  dataset_place place;
} dataset_about;

/* Describes a dataset of any three-dimensional shape; dataset->n is not used. STATUS_USAGE if it is not
 * three-dimensional, or its place is not valid. */
status dataset_describe(const dataset *dataset, dataset_about *about);
/* STATUS_OK if the dataset has the required type and shape, and a valid place. If any shape is accepted,
 * [out] its n. */
status dataset_check(dataset *dataset, dataset_place *place);
/* Reads what the file says of its own axes. [out] periodic: of x, y, z 1, 0, or -1 where it says nothing, by
 * the attribute Periodic of /VTKHDF; configuration: the text with which fdapp or fddistance made the file,
 * which the caller frees, or NULL. */
status dataset_origin(const dataset *dataset, int periodic[3], char **configuration);
/* 1 if a file can be opened and has this dataset. */
int dataset_has(const char *path, const char *name);
/* Reads planes z0 <= z < z0 + count, x fastest and without padding, rounded to the precision. */
status dataset_read(const dataset *dataset, precision precision, int64_t z0, int64_t count, void *planes);
/* STATUS_OK if all values of such planes are in the dataset's range, or without one at most `largest` in
 * magnitude, and none stands for none, else STATUS_USAGE naming value and place. */
status dataset_check_values(const dataset *dataset, precision precision, int64_t z0, int64_t count,
                            const void *planes, double largest);

#endif
