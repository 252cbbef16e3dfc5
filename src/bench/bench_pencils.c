#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "bench.h"

/* The report of NVIDIA's posts "Finite Difference Methods in CUDA C/C++" and their sample (M. Harris, 2013).
 *
 * The sample uses f = cos(2 pi (i - 1)/(n - 1)) at n points over n - 1 spacings, so its last point repeats
 * the first. Here the errors are taken on the n - 1 distinct points along the axis, and the repeated one is
 * counted again with the sample's exact value there. Input and exact solution are rounded at every operation
 * as in the sample. Two things differ. The neighbours of our repeated point are those of the first, while the
 * sample evaluates its cosine there (equal but for rounding). Our sums are in the order of arithmetic.h,
 * while the sample's order is its compiler's; the row "sample's order" has that order, computed on the host.
 * Times are of kernels over all n^3 points; bandwidth counts two words per point. */

enum { VARIANTS = 8, CHUNK = 8 };

typedef struct pencil_line {
  int axis, n;
  precision precision;
  double *input, *solution; /* n values */
} pencil_line;

typedef struct pencil_error {
  double rms, maximum;
} pencil_error;

/* variant -1: the kernel that fdapp uses. */
typedef struct pencil_job {
  const kernels *backend;
  kernels_launch launch;
  int variant;
  axis axis;
  const field *fields; /* the input, then outputs */
} pencil_job;

static status run_derivative(void *data) {
  const pencil_job *job = data;
  const void *in = job->fields[0].data;
  void *out = job->fields[1].data;
  if (job->variant < 0) return apply_derivative(job->backend, &job->launch, job->axis, in, out);
  return job->backend->derivative_variant(&job->launch, job->variant, PART_WHOLE, job->axis, in, out);
}

static status run_three(void *data) {
  const pencil_job *job = data;
  for (int d = 0; d < 3; d++)
    CHECK(
        apply_derivative(job->backend, &job->launch, (axis)d, job->fields[0].data, job->fields[1 + d].data));
  return STATUS_OK;
}

static status run_fused(void *data) {
  const pencil_job *job = data;
  const field *f = job->fields;
  return apply_gradient(job->backend, &job->launch, f[0].data,
                        (void *const[]){f[1].data, f[2].data, f[3].data});
}

static const char *variant_name(const kernels *backend, int variant) {
  return variant < 0 ? "production" : backend->variant_names[variant];
}

/* Computes input and exact derivative along the line. */
static void line_fill(pencil_line *line) {
  for (int i = 0; i < line->n; i++) {
    if (line->precision == PRECISION_SINGLE) {
      const float twopi = 8.0F * (float)atan(1.0);
      const float x = twopi * ((float)i - 1.0F) / ((float)line->n - 1.0F);
      line->input[i] = (double)cosf(x);
      line->solution[i] = (double)(-twopi * sinf(x));
    } else {
      const double twopi = 8.0 * atan(1.0);
      const double x = twopi * ((double)i - 1.0) / ((double)line->n - 1.0);
      line->input[i] = cos(x);
      line->solution[i] = -twopi * sin(x);
    }
  }
}

/* field_row: the line along its axis, constant across it. */
static void line_row(const void *user, int64_t z, int64_t y, double *row) {
  const pencil_line *line = user;
  const int nx = line->axis == AXIS_X ? line->n - 1 : line->n;
  for (int x = 0; x < nx; x++) row[x] = line->input[line->axis == AXIS_X ? x : line->axis == AXIS_Y ? y : z];
}

/* Adds the error at a point. The sample squares in its own precision and adds in double. */
static void error_add(pencil_error *error, precision precision, double exact, double value) {
  double difference = exact - value;
  double square = difference * difference;
  if (precision == PRECISION_SINGLE) {
    const float single = (float)difference;
    difference = (double)single;
    square = (double)(single * single);
  }
  error->rms += square;
  if (fabs(difference) > error->maximum) error->maximum = fabs(difference);
}

/* Adds the error of `value` at point i of the line; the first point counts twice, also as the last. */
static void error_add_point(pencil_error *error, const pencil_line *line, int i, double value) {
  error_add(error, line->precision, line->solution[i], value);
  if (i == 0) error_add(error, line->precision, line->solution[line->n - 1], value);
}

/* Adds the errors at all points of `count` planes from plane z on, packed in `values`. */
static void error_add_planes(pencil_error *error, const pencil_line *line, const kernels_shape *shape, int z,
                             int count, const void *values) {
  size_t at = 0;
  for (int k = 0; k < count; k++) {
    for (int y = 0; y < shape->ny; y++) {
      for (int x = 0; x < shape->nx; x++, at++) {
        const int i = line->axis == AXIS_X ? x : line->axis == AXIS_Y ? y : z + k;
        error_add_point(error, line, i, kernels_number(shape->precision, values, at));
      }
    }
  }
}

/* A field in the same memory that is one point shorter along the line. */
static field view_of(const field *field, const pencil_line *line) {
  struct field view = *field;
  const kernels_shape *shape = &field->shape;
  view.shape = kernels_shape_make(shape->nx - (line->axis == AXIS_X), shape->ny - (line->axis == AXIS_Y),
                                  shape->nz - (line->axis == AXIS_Z), shape->whole, shape->precision,
                                  field->backend->host_memory);
  if (view.chunk > view.shape.nz) view.chunk = view.shape.nz;
  return view;
}

static status find_error(const pencil_job *job, const pencil_line *line, pencil_error *error) {
  field input = view_of(&job->fields[0], line);
  const field output = view_of(&job->fields[1], line);
  pencil_job shorter = *job;
  shorter.launch.shape = input.shape;
  shorter.launch.planes[0].z1 = input.shape.nz;
  CHECK(field_fill(&input, 0, input.shape.nz, 1, line_row, line));
  CHECK(run_derivative(&shorter));
  CHECK(job->backend->queue_wait(job->launch.context, QUEUE_MAIN));
  void *values = malloc(CHUNK * field_plane_bytes(&output));
  if (values == NULL) return status_fail(STATUS_MEMORY, "no memory for %d planes", CHUNK);
  *error = (pencil_error){0};
  status result = STATUS_OK;
  for (int z = 0; z < output.shape.nz && result == STATUS_OK; z += CHUNK) {
    const int count = output.shape.nz - z < CHUNK ? output.shape.nz - z : CHUNK;
    result = field_load(&output, z, count, values);
    if (result == STATUS_OK) error_add_planes(error, line, &output.shape, z, count, values);
  }
  free(values);
  error->rms = sqrt(error->rms / ((double)line->n * line->n * line->n));
  return result;
}

/* The sample's error in single precision, with the fused operations that its compiler makes: the second pair
 * first, then the first, third and fourth. */
static pencil_error sample_error(const pencil_line *line) {
  const int n = line->n;
  const float h = (float)n - 1.0F;
  const float a = 4.0F / 5.0F * h, b = -1.0F / 5.0F * h, c = 4.0F / 105.0F * h, d = -1.0F / 280.0F * h;
  pencil_error error = {0};
  for (int i = 0; i < n; i++) {
    float pair[STENCIL_RADIUS];
    for (int k = 1; k <= STENCIL_RADIUS; k++) {
      const int above = i + k < n ? i + k : i + k - (n - 1);
      const int below = i - k < 0 ? i - k + (n - 1) : i - k;
      pair[k - 1] = (float)line->input[above] - (float)line->input[below];
    }
    const float value = fmaf(d, pair[3], fmaf(c, pair[2], fmaf(a, pair[0], b * pair[1])));
    error_add(&error, line->precision, line->solution[i], (double)value);
  }
  error.rms = sqrt(error.rms / n);
  return error;
}

static json_t *row_of(const pencil_line *line, const char *variant) {
  static const char *const axes[] = {"x", "y", "z"};
  return json_pack("{s:i, s:s, s:s, s:s}", "n", line->n, "precision", config_precision_name(line->precision),
                   "axis", axes[line->axis], "variant", variant);
}

static void report_error(json_t *row, const pencil_error *error) {
  (void)json_object_set_new(row, "rms_error", json_real(error->rms));
  (void)json_object_set_new(row, "maximum_error", json_real(error->maximum));
  log_info("%4ld^3 %s %s  %-16s RMS %.6e  max %.6e", (long)json_integer_value(json_object_get(row, "n")),
           json_string_value(json_object_get(row, "precision")),
           json_string_value(json_object_get(row, "axis")),
           json_string_value(json_object_get(row, "variant")), error->rms, error->maximum);
}

static void report_time(json_t *row, const bench_spread *seconds, double bytes, double production) {
  const double rate = 1e-9 * bytes / seconds->median;
  (void)json_object_set_new(row, "seconds", bench_report_spread(seconds));
  (void)json_object_set_new(row, "gigabytes_per_second", json_real(rate));
  (void)json_object_set_new(row, "versus_production", json_real(production / seconds->median));
  log_info("  %10.2f us  %8.1f GB/s  %.2f x production\n", 1e6 * seconds->median, rate,
           production / seconds->median);
}

/* Measures all variants along one axis: first fdapp's own, then those of the backend with other names. */
static status measure_axis(bench *bench, const pencil_job *job, pencil_line *line, json_t *rows) {
  pencil_job jobs[VARIANTS];
  pencil_error errors[VARIANTS] = {{0}};
  bench_contestant contestants[VARIANTS];
  int count = 0;
  for (int v = -1; v < bench->backend->variant_count && count < VARIANTS; v++) {
    if (v >= 0 && strcmp(bench->backend->variant_names[v], "production") == 0) continue;
    jobs[count] = *job;
    jobs[count].variant = v;
    jobs[count].axis = (axis)line->axis;
    CHECK(find_error(&jobs[count], line, &errors[count]));
    contestants[count] = (bench_contestant){.work = run_derivative, .job = &jobs[count]};
    count++;
  }
  CHECK(bench_measure(bench, count, contestants));
  const double bytes =
      2.0 * (double)line->n * line->n * line->n * (double)kernels_element_size(line->precision);
  for (int i = 0; i < count; i++) {
    json_t *row = row_of(line, variant_name(bench->backend, jobs[i].variant));
    report_error(row, &errors[i]);
    report_time(row, &contestants[i].seconds, bytes, contestants[0].seconds.median);
    (void)json_array_append_new(rows, row);
  }
  if (line->precision == PRECISION_SINGLE && line->axis == AXIS_X) {
    const pencil_error error = sample_error(line);
    json_t *row = row_of(line, "sample's order");
    report_error(row, &error);
    log_info("  (on the host)\n");
    (void)json_array_append_new(rows, row);
  }
  return STATUS_OK;
}

/* Measures the gradient: one kernel that loads the field once, and three that load it three times. */
static status measure_gradient(bench *bench, const pencil_job *job, int n, json_t *rows) {
  pencil_job jobs[2] = {*job, *job};
  bench_contestant c[2] = {{.work = run_fused, .job = &jobs[0]}, {.work = run_three, .job = &jobs[1]}};
  CHECK(bench_measure(bench, 2, c));
  const double gain = c[1].seconds.median / c[0].seconds.median;
  const char *precision = config_precision_name(job->launch.shape.precision);
  (void)json_array_append_new(rows, json_pack("{s:i, s:s, s:o, s:o, s:f}", "n", n, "precision", precision,
                                              "fused", bench_report_spread(&c[0].seconds), "three",
                                              bench_report_spread(&c[1].seconds), "gain", gain));
  log_info("%4d^3 %s    gradient: one fused kernel %.2f us, three derivatives %.2f us: %.2f times\n", n,
           precision, 1e6 * c[0].seconds.median, 1e6 * c[1].seconds.median, gain);
  return STATUS_OK;
}

static status measure_arrays(bench *bench, const bench_arrays *arrays, json_t *report) {
  const kernels_shape *shape = &arrays->space.shape;
  const int n = shape->nx;
  const pencil_job job = {
      .backend = bench->backend, .launch = bench_arrays_launch(arrays), .fields = arrays->fields};
  pencil_line line = {.n = n, .precision = shape->precision};
  line.input = malloc(2 * (size_t)n * sizeof *line.input);
  if (line.input == NULL) return status_fail(STATUS_MEMORY, "no memory for a line of %d points", n);
  line.solution = line.input + n;
  line_fill(&line);
  status result = STATUS_OK;
  for (line.axis = 0; line.axis < 3 && result == STATUS_OK; line.axis++)
    result = measure_axis(bench, &job, &line, json_object_get(report, "derivatives"));
  free(line.input);
  CHECK(result);
  return measure_gradient(bench, &job, n, json_object_get(report, "gradients"));
}

static status measure_cube(bench *bench, int64_t n, precision precision, json_t *report) {
  const double h = 1.0 / (double)(n - 1);
  bench_arrays arrays = {.count = 0};
  status result = bench_arrays_open(bench, (const int64_t[]){n, n, n}, precision, 1, 3, &arrays);
  arrays.stencil = stencil_make(8, (const double[]){h, h, h});
  if (result == STATUS_OK) result = measure_arrays(bench, &arrays, report);
  bench_arrays_close(&arrays);
  return result;
}

status bench_pencils(bench *bench) {
  const bench_options *options = &bench->options;
  json_t *report = json_pack("{s:[], s:[]}", "derivatives", "gradients");
  bench_report_add(bench, "pencils", report);
  for (int i = 0; i < options->cubes.count; i++) {
    for (int p = PRECISION_SINGLE; p <= PRECISION_DOUBLE; p++) {
      if (options->precision[p]) CHECK(measure_cube(bench, options->cubes.at[i], (precision)p, report));
    }
  }
  return STATUS_OK;
}
