#include <inttypes.h>
#include <math.h>

#include "app/plan.h"
#include "app/remember.h"
#include "base/log.h"
#include "base/number.h"
#include "config/kept.h"
#include "config/lists.h"
#include "files/rundir.h"

/* The part of the plan that says when a run writes what. */

/* Number of steps in (from, last] that are due; the last one always is. */
static int64_t due_count(int64_t every, int64_t from, int64_t last) {
  return last / every - from / every + (last > from && last % every != 0);
}

/* Number of times in (from, last] that are due; the last one always is. */
static int64_t due_times(double at, double from, double last) {
  static const double slack = 1e-9;
  const double multiples = floor(last / at + slack), begun = floor(from / at + slack);
  return (int64_t)(multiples - begun) + (last > from && last / at - multiples > slack);
}

static void print_derived(const config *config) {
  const char *names[CONFIG_DERIVED_MOST];
  const int count = config_derived_names(config, names);
  if (count == 0) return;
  log_info("derived   ");
  for (int i = 0; i < count; i++) log_info(" %s", names[i]);
  log_info(", with the fields\n");
}

static void print_period(const char *what, int count, const char *of, config_period due) {
  if (count == 0 || !config_ever(due)) return;
  log_info("%-11s%d %s%s every ", what, count, of, count == 1 ? "" : "s");
  if (due.at > 0.0)
    log_info("%g of time\n", due.at);
  else
    log_info(due.every == 1 ? "step\n" : "%" PRId64 " steps\n", due.every);
}

/* Says which steps outputs by time of waves take. */
static void print_nearest(const double *at, int count, double dt) {
  static const double even = 1e-6;
  int i = 0;
  while (i < count && fabs(at[i] / dt - round(at[i] / dt)) < even) i++;
  if (i == count) {
    log_info("by time    outputs are evenly spaced: dt divides their intervals\n");
    return;
  }
  log_info("by time    outputs take the step nearest to their time, at most %.3g away\n", 0.5 * dt);
  log_warning(
      "outputs by time are not evenly spaced, as spectra and movies want them: %g are %.6g steps; "
      "output.slices_every and the like, or time.dt = %.12g and t_end a multiple of it, would space them so",
      at[i], at[i] / dt, at[i] / ceil(at[i] / dt));
}

/* Number of outputs by time after `from` and before `to`. */
static double outputs_between(const double *at, int count, double from, double to) {
  static const double slack = 1e-9;
  double outputs = 0.0;
  for (int i = 0; i < count; i++)
    outputs += fmax(0.0, ceil(to / at[i] - slack) - 1.0 - floor(from / at[i] + slack));
  return outputs;
}

/* Says what outputs by time cost. The step sizes of a measured schedule are not known beforehand. */
static void print_times(const config *config, const schedule *schedule, double from, double to) {
  double at[CONFIG_TIMES];
  const int count = config_output_times(config, at);
  const char *earlier = schedule->lands ? "" : ", so the run ends earlier in time";
  if (count == 0) return;
  if (equation_is(config, EQUATION_LEAPS)) {
    print_nearest(at, count, schedule->dt);
  } else if (schedule->measured && schedule->lands) {
    log_info("by time    steps are shortened to meet outputs: at most %.6g steps more than estimated\n",
             outputs_between(at, count, from, to));
  } else if (schedule->measured) {
    log_info("by time    steps are shortened to meet outputs%s\n", earlier);
  } else if (schedule->shortened == 0) {
    log_info("by time    no step is shortened to meet outputs\n");
  } else {
    log_info("by time    %" PRId64 " of the steps %s shortened to meet outputs%s\n", schedule->shortened,
             schedule->shortened == 1 ? "is" : "are", earlier);
  }
}

/* Says how far the points that probes show lie from those that were asked for. */
static void print_distance(const config_probe *list, int count, const grid *grid) {
  double farthest = 0.0;
  int which = 0;
  for (int i = 0; i < count; i++) {
    double square = 0.0;
    for (int d = 0; d < 3; d++) {
      const double at = list[i].at[d], there = grid_position(grid, d, grid_nearest(grid, d, at));
      const double apart = fmin(fabs(at - there), fabs(at - there - grid->l[d])); /* or its periodic image */
      square += apart * apart;
    }
    if (sqrt(square) > farthest) which = i;
    farthest = fmax(farthest, sqrt(square));
  }
  if (farthest > 1e-9 * grid->h[0])
    log_info("           at the nearest points of the grid: the farthest, %.3g away, is for %.9g %.9g %.9g\n",
             farthest, list[which].at[0], list[which].at[1], list[which].at[2]);
}

static void warn_of_shared(const config_probe *list, int count, const grid *grid) {
  for (int i = 1; i < count; i++) {
    const double *a = list[i].at;
    for (int k = 0; k < i; k++) {
      const double *b = list[k].at;
      int d = 0;
      while (d < 3 && grid_nearest(grid, d, a[d]) == grid_nearest(grid, d, b[d])) d++;
      if (d < 3) continue;
      log_warning("output.probes: %.9g %.9g %.9g has the point of the grid that %.9g %.9g %.9g has; "
                  "probes.csv has one column for both",
                  a[0], a[1], a[2], b[0], b[1], b[2]);
      break;
    }
  }
}

static void print_places(const config *config, const schedule *schedule, const grid *grid) {
  config_probe list[CONFIG_MOST_PROBES];
  int slices = 0, probes = 0;
  (void)config_slices_read(config->slices, NULL, &slices);
  (void)config_probes_read(config->probes, list, &probes);
  print_period("slices", slices, "plane", config->slices_due);
  print_period("probes", probes, "point", config->probes_due);
  if (!config_ever(config->probes_due)) return;
  if (probes > 0 && config->probes_due.every > 0 && schedule_changes(schedule))
    log_info("           at uneven times, since steps change: output.probes_at would space them evenly\n");
  print_distance(list, probes, grid);
  warn_of_shared(list, probes, grid);
}

/* end: time at the run's end; INFINITY if it is not known. */
static void print_statistics(const config *config, double end) {
  if (config->statistics[0] == '\0') return;
  log_info("statistics mean and variance%s over time of %s every ",
           config->statistics_products ? ", and mean products," : "", config->statistics);
  log_info(config->statistics_every == 1 ? "step" : "%" PRId64 " steps", config->statistics_every);
  if (config->statistics_from > 0.0) log_info(", from t = %g", config->statistics_from);
  if (config->statistics_to < 1e30) log_info(", to t = %g", config->statistics_to);
  log_info("\n");
  if (config->statistics_from > end * (1.0 + 1e-12))
    log_warning("statistics.from = %g is after the end of the run, t = %g: there will be no sample",
                config->statistics_from, end);
}

static void print_kept(const config *config, const grid *whole) {
  const config_kept kept = config_kept_points(config);
  const int single = config->fields_single || config->precision == PRECISION_SINGLE;
  const char *names[CONFIG_DERIVED_MOST];
  grid grid = *whole;
  char text[32];
  if (!config_kept_in_part(config)) return;
  for (int d = 0; d < 3; d++) grid.n[d] = kept.count[d];
  const int64_t bytes =
      checkpoint_file_bytes(&grid, single ? PRECISION_SINGLE : PRECISION_DOUBLE,
                            equation_of(config)->unknowns + config_derived_names(config, names));
  log_info("kept       in " RUNDIR_FIELDS "/: %" PRId64 " x %" PRId64 " x %" PRId64
           " points, %s precision, %s each; no run resumes from them%s\n",
           kept.count[0], kept.count[1], kept.count[2], single ? "single" : "double",
           number_bytes((double)bytes, text),
           config->checkpoint_every > 0 ? "" : " (output.checkpoint_every = N writes snapshots for that)");
  if (config->compress)
    log_info("           compressed by each rank for itself, a chunk for each plane, by shuffle and deflate: "
             "sizes "
             "are those before\n");
}

static void print_files(const config *config, const grid *grid, const schedule *schedule, int64_t from,
                        int begins) {
  const int64_t last = schedule->last_step;
  const double start = schedule_time(schedule, from), end = schedule_time(schedule, last);
  const config_period kept = config->fields_due;
  const double size = (double)checkpoint_file_bytes(grid, config->precision, equation_of(config)->unknowns) +
                      (double)remember_count(config, grid) * (double)kernels_element_size(config->precision);
  char text[32];
  log_info("output     %s", config->directory);
  if (config_ever(kept)) {
    const int64_t count =
        begins + (kept.at > 0.0 ? due_times(kept.at, start, end) : due_count(kept.every, from, last));
    log_info(", %" PRId64 " snapshot%s to keep", count, count == 1 ? "" : "s");
  } else {
    log_info(", no snapshot to keep (output.fields_every = N keeps every Nth step, the first and the last; "
             "output.fields_at = T does so by time)");
  }
  if (config->checkpoint_every > 0) log_info(", newest %d checkpoints", config->checkpoint_keep);
  if ((config_ever(kept) && !config_kept_in_part(config)) || config->checkpoint_every > 0)
    log_info(", %s each", number_bytes(size, text));
  log_info("\n");
  print_kept(config, grid);
  print_derived(config);
  print_places(config, schedule, grid);
  print_times(config, schedule, start, end);
  print_statistics(config, schedule->measured && !schedule->lands ? INFINITY : end);
}

void plan_steps(const config *config, const grid *grid, const schedule *schedule, int64_t step, int begins) {
  log_info("time       dt = %.6g", schedule->factor != NULL ? schedule->shortest : schedule->dt);
  if (schedule->factor != NULL) log_info(" to %.6g, adaptive", schedule->longest);
  if (schedule->measured) log_info(" at first, adaptive");
  log_info(", steps %" PRId64 " to %s%" PRId64 ", t = %.6g to %.6g\n", step,
           schedule->measured && schedule->lands ? "about " : "", schedule->last_step,
           schedule_time(schedule, step), schedule_time(schedule, schedule->last_step));
  print_files(config, grid, schedule, step, begins);
}
