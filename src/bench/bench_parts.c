#include <string.h>

#include "base/log.h"
#include "bench.h"

/* Measures where the time of a first derivative goes, in four steps: the kernel loads and stores its points
 * alone; it loads halos, too; it computes the interior stencil; it adds the closures beside two ends of the
 * axis. All variants of the backend are measured: pencils in shared memory, and the production kernels. */

enum { RUNGS = 4, VARIANTS = 8, CONTESTANTS = RUNGS * VARIANTS + 2 };

static const char *const rungs[RUNGS] = {"load", "halos", "stencil", "closures"};

typedef struct parts_job {
  const bench_arrays *arrays;
  const kernels_ends *ends; /* of the axis */
  axis axis;
  int variant, rung;
} parts_job;

/* With closures: by apply_bounded, or, for variants of a backend that has layers apart, these come after what
 * the variant writes. */
static status run_part(void *data) {
  const parts_job *job = data;
  const kernels *backend = job->arrays->space.backend;
  kernels_launch launch = bench_arrays_launch(job->arrays);
  const void *in = job->arrays->fields[0].data;
  void *out = job->arrays->fields[1].data;
  const int closed = job->rung > PART_WHOLE;
  kernels_call call = kernels_derivative_call(job->axis, in, out);
  call.ends = job->ends;
  const int production = strcmp(backend->variant_names[job->variant], "production") == 0;
  if (closed && (production || backend->layers == NULL)) return apply_bounded(backend, &launch, &call);
  CHECK(backend->derivative_variant(&launch, job->variant, closed ? PART_WHOLE : (kernels_part)job->rung,
                                    job->axis, in, out));
  if (!closed) return STATUS_OK;
  for (int d = 0; d < AXIS_Z; d++) launch.left_out[d] = job->ends->bounded[d] ? job->ends->rows : 0;
  return backend->layers(&launch, &call);
}

/* A variant's rungs in one line of the table, each a row of the report. ceiling: points per second of a
 * copy. */
static void report(const parts_job *job, const bench_contestant c[RUNGS], double ceiling, json_t *results) {
  static const char *const axes[] = {"x", "y", "z"};
  const kernels_shape *shape = &job->arrays->space.shape;
  const char *variant = job->arrays->space.backend->variant_names[job->variant];
  char of[BENCH_SHAPE];
  log_info("%-11s %s %s", variant, bench_report_shape(shape, of), axes[job->axis]);
  for (int r = 0; r < RUNGS; r++) {
    const double rate = bench_points(shape) / c[r].seconds.median;
    log_info("  %s %.3e %5.1f %%", rungs[r], rate, 100.0 * rate / ceiling);
    (void)json_array_append_new(results,
                                json_pack("{s:s, s:s, s:o, s:s, s:s, s:o, s:f, s:f, s:f}", "variant", variant,
                                          "part", rungs[r], "grid", bench_report_grid(shape), "precision",
                                          config_precision_name(shape->precision), "axis", axes[job->axis],
                                          "seconds", bench_report_spread(&c[r].seconds), "points_per_second",
                                          rate, "copy_points_per_second", ceiling, "share", rate / ceiling));
  }
  log_info("\n");
}

static status measure_ends(bench *bench, const bench_arrays *arrays, axis axis, const kernels_ends *ends,
                           json_t *results) {
  const kernels_launch launch = bench_arrays_launch(arrays);
  const kernels *backend = bench->backend;
  const int variants = backend->variant_count < VARIANTS ? backend->variant_count : VARIANTS;
  const int count = variants * RUNGS;
  parts_job jobs[VARIANTS * RUNGS] = {{0}};
  bench_contestant c[CONTESTANTS] = {{0}};
  bench_stream copies[2];
  for (int i = 0; i < count; i++) {
    jobs[i] =
        (parts_job){.arrays = arrays, .ends = ends, .axis = axis, .variant = i / RUNGS, .rung = i % RUNGS};
    c[i] = (bench_contestant){.work = run_part, .job = &jobs[i]};
  }
  for (int i = 0; i < 2; i++) {
    copies[i] = bench_arrays_stream(arrays, &launch, 1, 1, i);
    c[count + i] = (bench_contestant){.work = bench_stream_work, .job = &copies[i]};
  }
  CHECK(bench_measure(bench, count + 2, c));
  const double ordinary = c[count].seconds.median, nontemporal = c[count + 1].seconds.median;
  const double ceiling =
      bench_points(&arrays->space.shape) / (ordinary < nontemporal ? ordinary : nontemporal);
  for (int v = 0; v < variants; v++) report(&jobs[v * RUNGS], &c[v * RUNGS], ceiling, results);
  return STATUS_OK;
}

static status measure_axis(bench *bench, const bench_arrays *arrays, axis axis, json_t *results) {
  const kernels_shape *shape = &arrays->space.shape;
  const int least = 2 * closure_of(arrays->stencil.order)->rows;
  if (shape->nx < least || shape->ny < least || shape->nz < least) {
    return status_fail(STATUS_USAGE,
                       "parts: accepted: --grid with %d points or more along each axis, for closures", least);
  }
  kernels_ends ends = {.z0 = 0, .nz = shape->nz};
  ends.bounded[axis] = 1;
  status result =
      kernels_ends_open(bench->backend, bench->context, shape->precision, &arrays->stencil, &ends);
  if (result == STATUS_OK) result = measure_ends(bench, arrays, axis, &ends, results);
  kernels_ends_close(bench->backend, bench->context, &ends);
  return result;
}

static status measure_arrays(bench *bench, const bench_arrays *arrays, json_t *results) {
  for (int axis = 0; axis < 3; axis++) CHECK(measure_axis(bench, arrays, (enum axis)axis, results));
  return STATUS_OK;
}

status bench_parts(bench *bench) {
  log_info("parts of a first derivative: points per second, share of a copy\n");
  return bench_arrays_each(bench, "parts", 1, 1, measure_arrays);
}
