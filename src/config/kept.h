#ifndef FDAPP_CONFIG_KEPT_H
#define FDAPP_CONFIG_KEPT_H

#include "config/config.h"
#include "config/lists.h"

/* The grid points that kept snapshots hold (output.fields_stride, fields_box): along each axis the points
 * first + k stride, 0 <= k < count. Pure functions. */
typedef struct config_kept {
  int64_t stride;
  int64_t first[3], count[3];
} config_kept;

/* Returns 1 if kept snapshots hold something else than the fields, or otherwise: fewer points or digits,
 * compressed, or derived data, too. Then they are separate files (RUNDIR_FIELDS), from which no run resumes.
 */
int config_kept_in_part(const config *config);

/* Returns 1 if something with this period is ever due. */
static inline int config_ever(config_period period) {
  return period.every > 0 || period.at > 0.0;
}

/* When whole snapshots that are kept are due. */
config_period config_whole_due(const config *config);

/* [out] at: the times between outputs that are due by time. Returns their number. */
enum { CONFIG_TIMES = 4 };
int config_output_times(const config *config, double at[CONFIG_TIMES]);

/* Returns the key of [output] with this interval of outputs by time, of those above. */
const char *config_output_key(const config *config, double at);

/* Returns 1 if the configuration asks for whole snapshots. */
int config_wants_states(const config *config);

/* [out] names: the datasets that output.derived adds to the fields, constant strings. Returns their number.
 */
enum { CONFIG_DERIVED_MOST = 12 };
int config_derived_names(const config *config, const char *names[CONFIG_DERIVED_MOST]);

/* The same of all data that output.derived may add for the equation. */
int config_derivable_names(const config *config, const char *names[CONFIG_DERIVED_MOST]);

/* Number of means, variances and products of [statistics]; 0: there are none. [out] names: NULL, or of the
 * fields. CONFIG_STATISTICS_WORK: arrays for work that they need beside these. */
enum { CONFIG_STATISTICS_WORK = 2 };
int config_statistics(const config *config, config_names *names);

/* All points of a grid, and those of kept snapshots. */
config_kept config_kept_all(const int64_t n[3]);
config_kept config_kept_points(const config *config);

/* Number of these points below index i of an axis. A slab's share is the difference of two such numbers. */
int64_t config_kept_below(const config_kept *kept, int axis, int64_t i);

#endif
