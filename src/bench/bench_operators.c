#include "base/log.h"
#include "bench.h"

/* Several differences along one axis: k outputs from one launch, which loads the field once, against k
 * launches. The sets of an axis are timed alternately, each beside streams of one read and k writes. */

enum { SETS = 4, CONTESTANTS = 2 * SETS + 4 };

static const struct {
  const char *name;
  unsigned options; /* of `derivative` */
} sets[SETS] = {{"first second", DERIVATIVE_FIRST | DERIVATIVE_SECOND},
                {"first dissipation", DERIVATIVE_FIRST | DERIVATIVE_DISSIPATION},
                {"second dissipation", DERIVATIVE_SECOND | DERIVATIVE_DISSIPATION},
                {"first second dissipation", DERIVATIVE_FIRST | DERIVATIVE_SECOND | DERIVATIVE_DISSIPATION}};

typedef struct operators_job {
  const bench_arrays *arrays;
  axis axis;
  unsigned options;
} operators_job;

static status derivatives(const operators_job *job, unsigned options) {
  const kernels_launch launch = bench_arrays_launch(job->arrays);
  const field *fields = job->arrays->fields;
  const kernels_call call = {.kind = OPERATION_derivative,
                             .options = (unsigned)job->axis | options,
                             .in = {fields[0].data},
                             .out = {fields[1].data, fields[2].data, fields[3].data}};
  return job->arrays->space.backend->apply(&launch, &call);
}

static status run_one(void *data) {
  const operators_job *job = data;
  return derivatives(job, job->options);
}

static status run_each(void *data) {
  const operators_job *job = data;
  for (unsigned bit = DERIVATIVE_FIRST; bit <= DERIVATIVE_DISSIPATION; bit *= 2)
    if (job->options & bit) CHECK(derivatives(job, bit));
  return STATUS_OK;
}

/* c: one launch, k launches, the stream with ordinary and with non-temporal stores. */
static json_t *report(const operators_job *job, const char *name, int writes,
                      const bench_contestant *const c[4]) {
  static const char *const axes[] = {"x", "y", "z"};
  const kernels_shape *shape = &job->arrays->space.shape;
  const double points = bench_points(shape);
  char of[BENCH_SHAPE];
  const double one = points / c[0]->seconds.median, each = points / c[1]->seconds.median;
  const double ordinary = points / c[2]->seconds.median, nontemporal = points / c[3]->seconds.median;
  const double ceiling = ordinary > nontemporal ? ordinary : nontemporal;
  log_info("%-24s %s %s  one launch %.3e  %d launches %.3e  ratio %.3f  share %5.1f %%\n", name,
           bench_report_shape(shape, of), axes[job->axis], one, writes, each, one / each,
           100.0 * one / ceiling);
  return json_pack("{s:s, s:o, s:s, s:s, s:i, s:i, s:o, s:o, s:f, s:f, s:f, s:f, s:f}", "operators", name,
                   "grid", bench_report_grid(shape), "precision", config_precision_name(shape->precision),
                   "axis", axes[job->axis], "reads", 1, "writes", writes, "seconds",
                   bench_report_spread(&c[0]->seconds), "seconds_each", bench_report_spread(&c[1]->seconds),
                   "points_per_second", one, "points_per_second_each", each, "ratio", one / each,
                   "stream_points_per_second", ceiling, "share", one / ceiling);
}

static status measure_axis(bench *bench, const bench_arrays *arrays, axis axis, json_t *results) {
  const kernels_launch launch = bench_arrays_launch(arrays);
  operators_job jobs[SETS];
  bench_stream streams[2][2]; /* of 2 and of 3 writes */
  bench_contestant contestants[CONTESTANTS] = {{0}}, *next = contestants + 2 * SETS;
  const bench_contestant *ceiling[2][2];
  for (int s = 0; s < SETS; s++) {
    jobs[s] = (operators_job){.arrays = arrays, .axis = axis, .options = sets[s].options};
    contestants[2 * s] = (bench_contestant){.work = run_one, .job = &jobs[s]};
    contestants[2 * s + 1] = (bench_contestant){.work = run_each, .job = &jobs[s]};
  }
  for (int i = 0; i < 4; i++, next++) {
    streams[i / 2][i % 2] = bench_arrays_stream(arrays, &launch, 1, 2 + i / 2, i % 2);
    *next = (bench_contestant){.work = bench_stream_work, .job = &streams[i / 2][i % 2]};
    ceiling[i / 2][i % 2] = next;
  }
  CHECK(bench_measure(bench, CONTESTANTS, contestants));
  for (int s = 0; s < SETS; s++) {
    const int writes = mask_count(sets[s].options);
    const bench_contestant *const c[4] = {&contestants[2 * s], &contestants[2 * s + 1],
                                          ceiling[writes - 2][0], ceiling[writes - 2][1]};
    (void)json_array_append_new(results, report(&jobs[s], sets[s].name, writes, c));
  }
  return STATUS_OK;
}

static status measure_arrays(bench *bench, const bench_arrays *arrays, json_t *results) {
  for (int axis = 0; axis < 3; axis++) CHECK(measure_axis(bench, arrays, (enum axis)axis, results));
  return STATUS_OK;
}

status bench_operators(bench *bench) {
  log_info("operators: points per second of one launch and of one for each, share of a stream\n");
  return bench_arrays_each(bench, "operators", 1, 3, measure_arrays);
}
