#ifndef FDAPP_FILES_PLANE_FILE_H
#define FDAPP_FILES_PLANE_FILE_H

#include <stdint.h>

#include "kernels.h"

/* A plane through the fields as a file of its own: VTKHDF 1.0 ImageData with two-dimensional datasets.
 *
 *   /VTKHDF: attributes Version, Type, WholeExtent (one point along the normal), Origin (at the plane's place
 *     along the normal), Spacing, Direction
 *   /VTKHDF/PointData/NAME: a dataset for each field, (ny, nx), (nz, nx) or (nz, ny), in the run's precision,
 *     with an attribute units if one is given
 *   /fdapp: attributes step, time, dt, axis (0, 1, 2), index of the plane, fields, version, revision, and
 *     units_length, units_time if they are given */
typedef struct plane_file {
  int axis;      /* normal to the plane */
  int64_t index; /* index of the plane along the axis */
  int64_t n[3];  /* points of the whole grid */
  double h[3];
  precision precision;
  int fields;
  const char *const *names;
  const char *const *units;       /* of the fields; "": none */
  const char *length, *time_unit; /* units */
  const void *values;             /* all fields, one plane after another, packed, the lower axis fastest */
  int64_t step;
  double time, dt;
} plane_file;

/* Writes `directory`/`name` under a temporary name, fsync, rename, so that the file exists completely or not
 * at all. By one process. STATUS_FILE, STATUS_MEMORY. */
status plane_file_write(const char *directory, const char *name, const plane_file *plane);

#endif
