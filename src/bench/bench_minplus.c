#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "bench.h"

/* Min-plus products: pairs (i, k) per second, compared with a loop of additions and minima in registers.
 *
 *   lengths      the full search along each axis, with a table of squared distances
 *   matrices     out[i][j] = min over k of d[i][k] + t[k][j] for square matrices, by every way of the backend
 *   transforms   products along x, y and z of a cube with skipping, for sets of few points
 */

enum { FIELDS = 3, WAYS = 8 };

static const double share_of_points = 1e-3; /* share of a cube's points in the set */

/* Fields of one shape, a table or a matrix as cost, and the arrays of the loop. */
typedef struct minplus_arrays {
  field_space space;
  field fields[FIELDS];
  void *table; /* squared distances */
  void *loop;  /* operands, then results */
  void *pairs; /* counter */
} minplus_arrays;

typedef struct loop_job {
  const kernels *backend;
  kernels_launch launch;
  void *operands, *results;
  double pairs; /* [out] per launch */
} loop_job;

static status run_loop(void *data) {
  loop_job *job = data;
  return job->backend->minplus_loop(&job->launch, job->operands, job->results, &job->pairs);
}

/* Consecutive products; variant -1: the backend's slot. */
typedef struct product_job {
  const kernels *backend;
  kernels_launch launch;
  int variant, count;
  kernels_minplus products[3];
} product_job;

static status run_products(void *data) {
  const product_job *job = data;
  for (int i = 0; i < job->count; i++) {
    CHECK(job->variant < 0 ? job->backend->minplus(&job->launch, &job->products[i])
                           : job->backend->minplus_variant(&job->launch, job->variant, &job->products[i]));
  }
  return STATUS_OK;
}

/* Copies `count` numbers, rounded to the fields' precision, to new device memory. */
static status upload(const field_space *space, const double *values, int count, void **memory) {
  const size_t size = kernels_element_size(space->shape.precision);
  void *packed = malloc((size_t)count * size);
  if (packed == NULL) return status_fail(STATUS_MEMORY, "no memory for %d numbers", count);
  for (int i = 0; i < count; i++) kernels_put(space->shape.precision, packed, (size_t)i, values[i]);
  const status result = kernels_upload(space->backend, space->context, packed, (size_t)count * size, memory);
  free(packed);
  return result;
}

static status upload_tables(minplus_arrays *arrays, int count) {
  double operands[2 * KERNELS_LOOP];
  int loop = KERNELS_LOOP;
  bench_noise_row(&loop, 0, 0, operands);
  memset(operands + KERNELS_LOOP, 0, KERNELS_LOOP * sizeof *operands);
  CHECK(upload(&arrays->space, operands, 2 * KERNELS_LOOP, &arrays->loop));
  double *squares = malloc((size_t)count * sizeof *squares);
  if (squares == NULL) return status_fail(STATUS_MEMORY, "no memory for %d numbers", count);
  for (int d = 0; d < count; d++) squares[d] = (double)d * d;
  const status result = upload(&arrays->space, squares, count, &arrays->table);
  free(squares);
  return result;
}

/* count: number of entries of the table. */
static status arrays_open(bench *bench, const int n[3], precision precision, int count,
                          minplus_arrays *arrays) {
  const kernels_shape shape = kernels_shape_make(n[0], n[1], n[2], 0, precision, bench->backend->host_memory);
  memset(arrays, 0, sizeof *arrays);
  CHECK(field_space_open(bench->backend, bench->context, shape, &arrays->space));
  for (int i = 0; i < FIELDS; i++) CHECK(field_create(&arrays->space, &arrays->fields[i]));
  CHECK(bench->backend->memory_allocate(bench->context, MEMORY_DEVICE, sizeof(unsigned long long),
                                        &arrays->pairs));
  return upload_tables(arrays, count);
}

static void arrays_close(minplus_arrays *arrays) {
  const field_space *space = &arrays->space;
  void *const memory[] = {arrays->table, arrays->loop, arrays->pairs};
  for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
    space->backend->memory_free(space->context, MEMORY_DEVICE, memory[i]);
  for (int i = 0; i < FIELDS; i++) field_destroy(&arrays->fields[i]);
  field_space_close(&arrays->space);
}

static kernels_launch launch_of(const minplus_arrays *arrays) {
  return field_launch(&arrays->fields[0], NULL);
}

static loop_job loop_of(const bench *bench, const minplus_arrays *arrays) {
  const size_t size = kernels_element_size(arrays->space.shape.precision);
  return (loop_job){.backend = bench->backend,
                    .launch = launch_of(arrays),
                    .operands = arrays->loop,
                    .results = (char *)arrays->loop + KERNELS_LOOP * size};
}

/* Adds and prints the figures that all rows have. Returns the loop's pairs per second. */
static double report_rates(json_t *row, const bench_contestant *c, double pairs,
                           const bench_contestant *loop) {
  const double ceiling = ((const loop_job *)loop->job)->pairs / loop->seconds.median;
  const double rate = pairs / c->seconds.median;
  (void)json_object_set_new(row, "seconds", bench_report_spread(&c->seconds));
  (void)json_object_set_new(row, "pairs", json_real(pairs));
  (void)json_object_set_new(row, "pairs_per_second", json_real(rate));
  (void)json_object_set_new(row, "loop_pairs_per_second", json_real(ceiling));
  (void)json_object_set_new(row, "share", json_real(rate / ceiling));
  log_info("%12.3f us  %.4e pairs/s  loop %.4e  share %5.1f %%", 1e6 * c->seconds.median, rate, ceiling,
           100.0 * rate / ceiling);
  return ceiling;
}

/* The product of `in` into `out` without skipping. */
static kernels_minplus full_search(const minplus_arrays *arrays, int in, int out, axis along, int count) {
  return (kernels_minplus){.out = field_plane(&arrays->fields[out], 0),
                           .in = field_plane(&arrays->fields[in], 0),
                           .along = along,
                           .count = count,
                           .cost = arrays->table,
                           .least = (double)-INFINITY};
}

static status measure_along(bench *bench, minplus_arrays *arrays, axis along, int n, json_t *rows) {
  static const char *const axes[] = {"x", "y", "z"};
  const kernels_shape *shape = &arrays->space.shape;
  loop_job loop = loop_of(bench, arrays);
  product_job job = {.backend = bench->backend,
                     .launch = launch_of(arrays),
                     .variant = -1,
                     .count = 1,
                     .products = {full_search(arrays, 0, 1, along, n)}};
  bench_contestant c[2] = {{.work = run_products, .job = &job}, {.work = run_loop, .job = &loop}};
  CHECK(field_fill(&arrays->fields[0], 0, shape->nz, 0, bench_noise_row, &shape->nx));
  CHECK(bench_measure(bench, 2, c));
  json_t *row = json_pack("{s:i, s:s, s:s}", "n", n, "precision", config_precision_name(shape->precision),
                          "axis", axes[along]);
  log_info("minplus %5d %s along %s  ", n, config_precision_name(shape->precision), axes[along]);
  (void)report_rates(row, &c[0], (double)shape->nx * shape->ny * shape->nz * n, &c[1]);
  log_info("\n");
  (void)json_array_append_new(rows, row);
  return STATUS_OK;
}

/* Measures pencils of n points, enough of them for all threads. */
static status measure_length(bench *bench, int n, precision precision, json_t *rows) {
  const int host = bench->backend->host_memory;
  for (int along = AXIS_X; along <= AXIS_Z; along++) {
    int shape[3] = {host ? 128 : 512, host ? 32 : 512, host ? 32 : 512};
    if (along == AXIS_X) shape[1] = shape[0];
    shape[along] = n;
    minplus_arrays arrays;
    status result = arrays_open(bench, shape, precision, n, &arrays);
    if (result == STATUS_OK) result = measure_along(bench, &arrays, (axis)along, n, rows);
    arrays_close(&arrays);
    CHECK(result);
  }
  return STATUS_OK;
}

/* Measures matrix products; d, t and out are fields of one plane. */
static status measure_ways(bench *bench, minplus_arrays *arrays, int n, json_t *rows) {
  const kernels *backend = bench->backend;
  const kernels_shape *shape = &arrays->space.shape;
  loop_job loop = loop_of(bench, arrays);
  product_job jobs[WAYS];
  bench_contestant c[WAYS + 1] = {{.work = run_loop, .job = &loop}};
  int count = 0;
  for (int v = -1; v < backend->minplus_variant_count && count < WAYS; v++, count++) {
    jobs[count] = (product_job){.backend = backend,
                                .launch = launch_of(arrays),
                                .variant = v,
                                .count = 1,
                                .products = {full_search(arrays, 0, 1, AXIS_Y, n)}};
    jobs[count].products[0].cost = field_plane(&arrays->fields[2], 0);
    jobs[count].products[0].pitch = shape->ldx;
    c[count + 1] = (bench_contestant){.work = run_products, .job = &jobs[count]};
  }
  CHECK(field_fill(&arrays->fields[0], 0, 1, 0, bench_noise_row, &shape->nx));
  CHECK(field_fill(&arrays->fields[2], 1, 2, 0, bench_noise_row, &shape->nx));
  CHECK(bench_measure(bench, count + 1, c));
  for (int i = 0; i < count; i++) {
    const char *name = jobs[i].variant < 0 ? "production" : backend->minplus_variant_names[jobs[i].variant];
    json_t *row = json_pack("{s:i, s:s, s:s}", "n", n, "precision", config_precision_name(shape->precision),
                            "variant", name);
    log_info("matrices %5d %s  %-16s", n, config_precision_name(shape->precision), name);
    (void)report_rates(row, &c[i + 1], (double)n * n * n, &c[0]);
    log_info("  %.2f x production\n", c[1].seconds.median / c[i + 1].seconds.median);
    (void)json_array_append_new(rows, row);
  }
  return STATUS_OK;
}

static status measure_matrix(bench *bench, int n, precision precision, json_t *rows) {
  minplus_arrays arrays;
  status result = arrays_open(bench, (const int[]){n, n, 1}, precision, 1, &arrays);
  if (result == STATUS_OK) result = measure_ways(bench, &arrays, n, rows);
  arrays_close(&arrays);
  return result;
}

/* A set in a cube: the field is zero in the set and infinite elsewhere. */
typedef struct point_set {
  const char *name;
  int n, one; /* one: 1 for a single point, in the middle */
} point_set;

static void point_row(const void *user, int64_t z, int64_t y, double *row) {
  const point_set *set = user;
  const int middle = set->n / 2;
  bench_noise_row(&set->n, z, y, row);
  for (int x = 0; x < set->n; x++) {
    const int held =
        set->one ? x == middle && y == middle && z == middle : row[x] < 2.0 * share_of_points - 1.0;
    row[x] = held ? 0.0 : (double)INFINITY;
  }
}

/* The transform from field 0 by way of fields 1 and 2 into 1. */
static product_job transform_of(const bench *bench, const minplus_arrays *arrays, int n, double least) {
  product_job job = {.backend = bench->backend, .launch = launch_of(arrays), .variant = -1, .count = 3};
  for (int d = 0; d < 3; d++) {
    job.products[d] = full_search(arrays, d, d == 1 ? 2 : 1, (axis)d, n);
    job.products[d].least = least;
  }
  return job;
}

/* Counts the pairs that the transform computes. */
static status count_pairs(const minplus_arrays *arrays, product_job job, double *pairs) {
  const field_space *space = &arrays->space;
  unsigned long long count = 0;
  CHECK(space->backend->memory_copy(space->context, QUEUE_MAIN, arrays->pairs, &count, sizeof count));
  for (int d = 0; d < 3; d++) job.products[d].pairs = arrays->pairs;
  CHECK(run_products(&job));
  CHECK(space->backend->memory_copy(space->context, QUEUE_MAIN, &count, arrays->pairs, sizeof count));
  CHECK(space->backend->queue_wait(space->context, QUEUE_MAIN));
  *pairs = (double)count;
  return STATUS_OK;
}

static status measure_transforms(bench *bench, minplus_arrays *arrays, int n, json_t *rows) {
  const point_set sets[] = {{.name = "0.1 % of points", .n = n}, {.name = "one point", .n = n, .one = 1}};
  const double full = 3.0 * (double)n * n * n * n;
  const char *precision = config_precision_name(arrays->space.shape.precision);
  for (size_t s = 0; s < sizeof sets / sizeof *sets; s++) {
    loop_job loop = loop_of(bench, arrays);
    product_job searches[2] = {transform_of(bench, arrays, n, 0.0),
                               transform_of(bench, arrays, n, (double)-INFINITY)};
    bench_contestant c[3] = {{.work = run_products, .job = &searches[0]},
                             {.work = run_products, .job = &searches[1]},
                             {.work = run_loop, .job = &loop}};
    double pairs = 0.0;
    CHECK(field_fill(&arrays->fields[0], 0, n, 0, point_row, &sets[s]));
    CHECK(count_pairs(arrays, searches[0], &pairs));
    CHECK(bench_measure(bench, 3, c));
    json_t *row = json_pack("{s:i, s:s, s:s, s:f, s:o}", "n", n, "precision", precision, "set", sets[s].name,
                            "computed", pairs / full, "full_search", bench_report_spread(&c[1].seconds));
    log_info("transform %5d^3 %s  %-16s", n, precision, sets[s].name);
    const double ceiling = report_rates(row, &c[0], pairs, &c[2]);
    log_info("  %.1f %% of all pairs; full search %.3f us, by the loop %.3f us\n", 100.0 * pairs / full,
             1e6 * c[1].seconds.median, 1e6 * full / ceiling);
    (void)json_array_append_new(rows, row);
  }
  return STATUS_OK;
}

static status measure_cube(bench *bench, int n, precision precision, json_t *rows) {
  minplus_arrays arrays;
  status result = arrays_open(bench, (const int[]){n, n, n}, precision, n, &arrays);
  if (result == STATUS_OK) result = measure_transforms(bench, &arrays, n, rows);
  arrays_close(&arrays);
  return result;
}

typedef status (*size_measure)(bench *bench, int n, precision precision, json_t *rows);

/* Measures every size in every precision, into the report under `name`. */
static status measure_sizes(bench *bench, json_t *report, const char *name, const bench_sizes *sizes,
                            size_measure measure) {
  json_t *rows = json_array();
  (void)json_object_set_new(report, name, rows);
  for (int i = 0; i < sizes->count; i++) {
    for (int p = PRECISION_SINGLE; p <= PRECISION_DOUBLE; p++) {
      if (bench->options.precision[p]) CHECK(measure(bench, (int)sizes->at[i], (precision)p, rows));
    }
  }
  return STATUS_OK;
}

status bench_minplus(bench *bench) {
  const bench_options *o = &bench->options;
  json_t *report = json_object();
  bench_report_add(bench, "minplus", report);
  CHECK(measure_sizes(bench, report, "lengths", &o->lengths, measure_length));
  CHECK(measure_sizes(bench, report, "matrices", &o->matrices, measure_matrix));
  return measure_sizes(bench, report, "transforms", &o->transforms, measure_cube);
}
