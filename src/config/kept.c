#include "config/kept.h"

#include <math.h>

#include "config/lists.h"
#include "settings/equations.h"
#include "settings/settings.h"

int config_kept_in_part(const config *config) {
  const int rounded = config->fields_single && config->precision != PRECISION_SINGLE;
  const int fewer = config->fields_stride > 1 || config->fields_box[0] != '\0';
  return config_ever(config->fields_due) && (fewer || rounded || config->compress || config->derived != 0);
}

config_period config_whole_due(const config *config) {
  const config_period never = {0};
  return config_kept_in_part(config) ? never : config->fields_due;
}

int config_wants_states(const config *config) {
  return config_ever(config_whole_due(config)) || config->checkpoint_every > 0;
}

/* [out] all: the time between outputs of each kind; 0: none are due by time. */
static void all_times(const config *config, double all[CONFIG_TIMES]) {
  all[0] = config->fields_due.at;
  all[1] = config->diagnostics_due.at;
  all[2] = config->slices[0] != '\0' ? config->slices_due.at : 0.0;
  all[3] = config->probes[0] != '\0' ? config->probes_due.at : 0.0;
}

int config_output_times(const config *config, double at[CONFIG_TIMES]) {
  double all[CONFIG_TIMES];
  int count = 0;
  all_times(config, all);
  for (int i = 0; i < CONFIG_TIMES; i++)
    if (all[i] > 0.0) at[count++] = all[i];
  return count;
}

const char *config_output_key(const config *config, double at) {
  static const char *const names[CONFIG_TIMES] = {"fields_at", "diagnostics_at", "slices_at", "probes_at"};
  double all[CONFIG_TIMES];
  int i = 0;
  all_times(config, all);
  while (i < CONFIG_TIMES - 1 && all[i] != at) i++;
  return names[i];
}

static int derived_names(int derived, const char *names[CONFIG_DERIVED_MOST]) {
  static const char *const intensity[] = {"intensity_x", "intensity_y", "intensity_z"};
  int count = 0;
  if (derived & CONFIG_DERIVED_GRADIENT) names[count++] = "gradient";
  for (int d = 0; d < 3 && derived & CONFIG_DERIVED_INTENSITY; d++) names[count++] = intensity[d];
  static const char *const vorticity[] = {"vorticity_x", "vorticity_y", "vorticity_z"};
  static const char *const flow[] = {"q_criterion", "dilatation", "mach", "temperature", "density_gradient"};
  for (int d = 0; d < 3 && derived & CONFIG_DERIVED_VORTICITY; d++) names[count++] = vorticity[d];
  for (int i = 0; i < 5; i++)
    if (derived & (int)CONFIG_DERIVED_Q << i) names[count++] = flow[i];
  return count;
}

int config_derived_names(const config *config, const char *names[CONFIG_DERIVED_MOST]) {
  return derived_names(config->derived, names);
}

int config_derivable_names(const config *config, const char *names[CONFIG_DERIVED_MOST]) {
  return derived_names(CONFIG_DERIVED_GRADIENT | equation_entries[config->equation].derived, names);
}

int config_statistics(const config *config, config_names *names) {
  config_names own;
  if (names == NULL) names = &own;
  (void)config_names_read(config->statistics, names);
  return 2 * names->count + (config->statistics_products ? names->count * (names->count - 1) / 2 : 0);
}

config_kept config_kept_all(const int64_t n[3]) {
  return (config_kept){.stride = 1, .count = {n[0], n[1], n[2]}};
}

/* The first multiple of `stride` that is at least i. */
static int64_t next_multiple(int64_t i, int64_t stride) {
  return (i + stride - 1) / stride * stride;
}

config_kept config_kept_points(const config *config) {
  /* A point on a face of the box belongs to the box, however its coordinate is rounded. */
  static const double slack = 1e-6; /* spacings */
  config_kept kept = config_kept_all(config->n);
  double box[3][2];
  const int boxed = config->fields_box[0] != '\0' && config_box_read(config->fields_box, box) == NULL;
  kept.stride = config->fields_stride;
  for (int d = 0; d < 3; d++) {
    const int bounded = config->ends[d][0] != CONFIG_END_PERIODIC;
    const double h = config->l[d] / (double)(config->n[d] - bounded);
    int64_t last = config->n[d] - 1;
    if (boxed) {
      kept.first[d] = next_multiple((int64_t)ceil(box[d][0] / h - slack), kept.stride);
      last = (int64_t)fmin((double)last, floor(box[d][1] / h + slack));
    }
    kept.count[d] = last >= kept.first[d] ? (last - kept.first[d]) / kept.stride + 1 : 0;
  }
  return kept;
}

int64_t config_kept_below(const config_kept *kept, int axis, int64_t i) {
  const int64_t from = i - kept->first[axis];
  const int64_t below = from <= 0 ? 0 : (from + kept->stride - 1) / kept->stride;
  return below < kept->count[axis] ? below : kept->count[axis];
}
