#ifndef FDAPP_CONFIG_KEPT_H
#define FDAPP_CONFIG_KEPT_H

#include "config/config.h"

/* The points of the grid that kept snapshots hold (output.fields_stride, fields_box): along each axis the
 * points first + k stride, 0 <= k < count. Pure functions. */
typedef struct config_kept {
  int64_t stride;
  int64_t first[3], count[3];
} config_kept;

/* Whether kept snapshots hold less than the fields do, in points or in precision: then they are files of
 * their own (RUNDIR_FIELDS), and no run resumes from them. */
int config_kept_in_part(const config *config);

/* All points of a grid, and those of kept snapshots. */
config_kept config_kept_all(const int64_t n[3]);
config_kept config_kept_points(const config *config);

/* How many of these points lie below index i of an axis: their share of a slab is the difference of two such
 * numbers. */
int64_t config_kept_below(const config_kept *kept, int axis, int64_t i);

#endif
