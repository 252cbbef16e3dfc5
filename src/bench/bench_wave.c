#include "base/log.h"
#include "bench.h"
#include "wave_call.h"

/* A step of the wave equation with one Laplacian and with two, between periodic ends and between walls of x
 * and y, beside the stream of 3 reads and 1 write. The result takes the place of p_before, as in runs. */
enum { STREAM, STREAM_PAST_CACHES, STEPS, STEP_KINDS = 4, CONTESTANTS = STEPS + STEP_KINDS };
enum { PRESSURE, FACTOR, INPUTS = 3, BEFORE = INPUTS, OUTPUTS = 1 };

typedef struct wave_job {
  const bench_arrays *arrays;
  const char *name;
  int twice, walls;
} wave_job;

static status run_step(void *data) {
  const wave_job *job = data;
  const field *fields = job->arrays->fields;
  const kernels_launch launch = bench_arrays_launch(job->arrays);
  const double square = launch.stencil->spacing[0] * launch.stencil->spacing[0];
  kernels_wave call = {.task = WAVE_STEP,
                       .twice = job->twice,
                       .scale = {0.2 * square, 0.2 / 12.0 * square},
                       .factor = fields[FACTOR].data,
                       .p = fields[PRESSURE].data,
                       .before = fields[BEFORE].data,
                       .out = fields[BEFORE].data};
  for (int i = 0; i < 4 && job->walls; i++) call.ends[i / 2][i % 2] = WAVE_EVEN;
  return fields[0].backend->wave(&launch, &call);
}

static double report(const wave_job *job, const bench_spread *seconds, double stream, json_t *results) {
  const kernels_shape *shape = &job->arrays->space.shape;
  const double rate = bench_points(shape) / seconds->median, share = stream / seconds->median;
  char of[BENCH_SHAPE];
  log_info("%-16s %s  %.3e points/s  share of the stream %5.1f %%\n", job->name,
           bench_report_shape(shape, of), rate, 100.0 * share);
  (void)json_array_append_new(
      results, json_pack("{s:s, s:o, s:s, s:o, s:f, s:f}", "wave", job->name, "grid",
                         bench_report_grid(shape), "precision", config_precision_name(shape->precision),
                         "seconds", bench_report_spread(seconds), "points_per_second", rate, "share", share));
  return rate;
}

static status measure_arrays(bench *bench, const bench_arrays *arrays, json_t *results) {
  static const double longer = 1.7320508; /* step of leapfrog4 over that of leapfrog, at their limits */
  const kernels_launch launch = bench_arrays_launch(arrays);
  wave_job jobs[STEP_KINDS] = {{arrays, "leapfrog", 0, 0},
                               {arrays, "leapfrog4", 1, 0},
                               {arrays, "leapfrog walls", 0, 1},
                               {arrays, "leapfrog4 walls", 1, 1}};
  bench_stream streams[STEPS];
  bench_contestant contestants[CONTESTANTS];
  double rates[STEP_KINDS];
  for (int i = 0; i < STEPS; i++) {
    streams[i] = bench_arrays_stream(arrays, &launch, 3, 1, i == STREAM_PAST_CACHES);
    contestants[i] = (bench_contestant){.work = bench_stream_work, .job = &streams[i]};
  }
  for (int i = 0; i < STEP_KINDS; i++)
    contestants[STEPS + i] = (bench_contestant){.work = run_step, .job = &jobs[i]};
  CHECK(bench_measure(bench, CONTESTANTS, contestants));
  const double one = contestants[STREAM].seconds.median,
               other = contestants[STREAM_PAST_CACHES].seconds.median;
  for (int i = 0; i < STEP_KINDS; i++)
    rates[i] = report(&jobs[i], &contestants[STEPS + i].seconds, one < other ? one : other, results);
  log_info("leapfrog4 per simulated second: %.2f times leapfrog, with walls %.2f times\n",
           longer * rates[1] / rates[0], longer * rates[3] / rates[2]);
  return STATUS_OK;
}

status bench_wave(bench *bench) {
  log_info("wave: points per second of a step of the wave equation, share of a stream of 3 reads and 1 "
           "write\n");
  return bench_arrays_each(bench, "wave", INPUTS, OUTPUTS, measure_arrays);
}
