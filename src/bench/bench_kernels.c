#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "bench.h"
#include "operation_traits.h"
#include "problems/velocity_tables.h"

enum { INPUTS = KERNELS_STREAM_READS, CONTESTANTS = 4, NAME = 64 };

/* A kernel to be timed: a way of an operation of operations.h with some of its additions, or the sums. reads
 * and writes: number of fields that must be moved, each once. */
typedef struct kernel_case {
  char name[NAME];
  enum { OPERATION, SUMS } what;
  operation_kind kind;
  unsigned options;
  int reference; /* 1: SUMS with a reference */
  int reads, writes;
  int edges;   /* 1: a launch can compute its edges first */
  int general; /* 1: it runs on the general engine (operation_traits.h) */
} kernel_case;

/* Additions that are measured: a middle stage alone and with more terms and, with the cheapest velocity, a
 * first and a last stage. */
static const struct {
  const char *suffix;
  unsigned additions;
  int lean;
} stages[] = {{"", SUM_OWN, 0},
              {"_first", 0, 1},
              {"_last", SUM_OWN | SUM_EXTRAS, 1},
              {"_upwind", SUM_OWN | ADVECTION_UPWIND, 0},
              {"_diffusion", SUM_OWN | ADVECTION_DIFFUSION, 0}};

enum { STAGES = sizeof stages / sizeof stages[0], MOST_CASES = OPERATION_WAY_COUNT * STAGES + 2 };

/* Adds a way of an operation with some additions, unless it reads more arrays than a stream can: there is no
 * ceiling for it. */
static void case_add(kernel_case *list, int *count, const kernels_way *way, const char *suffix,
                     unsigned additions) {
  const operation o = operation_describe(way->kind, way->options | additions);
  if (operation_reads(&o) > KERNELS_STREAM_READS) return;
  kernel_case *made = &list[(*count)++];
  *made = (kernel_case){.what = OPERATION,
                        .kind = way->kind,
                        .options = way->options | additions,
                        .reads = operation_reads(&o),
                        .writes = operation_writes(&o),
                        .edges = o.edges != EDGES_NONE,
                        .general = operation_general(&o)};
  (void)snprintf(made->name, sizeof made->name, "%s%s", way->name, suffix);
}

static int list_cases(kernel_case list[MOST_CASES]) {
  int count = 0;
  for (const kernels_way *way = kernels_ways; way < kernels_ways + OPERATION_WAY_COUNT; way++) {
    const unsigned least = operation_combines(way->kind, way->options, 0) ? 0 : DERIVATIVE_FIRST;
    if (way->kind != OPERATION_advection) case_add(list, &count, way, "", least);
    for (int i = 0; i < STAGES && way->kind == OPERATION_advection; i++) {
      if (stages[i].lean && (way->options & (ADVECTION_STORED | ADVECTION_FLUX))) continue;
      if (!operation_combines(way->kind, way->options, stages[i].additions)) continue;
      case_add(list, &count, way, stages[i].suffix, stages[i].additions);
    }
  }
  list[count++] = (kernel_case){.name = "plane_sums", .what = SUMS, .reads = 1};
  list[count++] = (kernel_case){.name = "plane_sums_reference", .what = SUMS, .reference = 1, .reads = 2};
  return count;
}

static int is_chosen(const bench_options *options, const kernel_case *what) {
  return strncmp(what->name, options->only, strlen(options->only)) == 0;
}

/* The most arrays that a chosen kernel writes. */
static int most_writes(const bench_options *options) {
  kernel_case cases[MOST_CASES];
  const int count = list_cases(cases);
  int most = 1;
  for (int i = 0; i < count; i++)
    if (is_chosen(options, &cases[i]) && cases[i].writes > most) most = cases[i].writes;
  return most;
}

typedef struct kernel_arrays {
  const bench_arrays *of;
  velocity_tables tables; /* tables of an ABC flow */
  kernels_event *edges_done;
  kernels_plane_sums *sums;
} kernel_arrays;

/* A case on a slab of the fields: all planes, or successive thin slabs, as many as the fields have, so that
 * none is still in a cache from the previous launch. */
typedef struct kernel_job {
  const kernels *backend;
  kernels_launch launch;
  const kernel_case *what;
  const kernel_arrays *arrays;
  int steps, next;
} kernel_job;

static void *array(const kernel_job *job, int i) {
  const field *field = &job->arrays->of->fields[i];
  return (char *)field->data + (size_t)job->next * (size_t)job->launch.shape.nz * field_plane_bytes(field);
}

/* Runs the operation with the inputs in the order of the declaration, and scalars with which nothing
 * overflows. */
static status run_operation(const kernel_job *job, const kernels_launch *launch) {
  const operation o = operation_describe(job->what->kind, job->what->options);
  kernels_call call = {.kind = job->what->kind,
                       .options = job->what->options,
                       .uniform = {1.0, 0.5, 0.25},
                       .tables = job->arrays->tables.tables};
  for (int i = 0, next = 0; i < OPERATION_ARRAYS; i++)
    if (operation_inputs(&o) >> i & 1U) call.in[i] = array(job, next++);
  for (int k = 0, next = INPUTS; k < OPERATION_OUTPUTS; k++)
    if (operation_stores(&o, k)) call.out[k] = array(job, next++);
  for (int i = 0; i < OPERATION_SCALARS; i++) call.scalar[i] = 0.125;
  for (int i = 0; i < OPERATION_WEIGHTS; i++) call.weight[i] = 0.125;
  return job->backend->apply(launch, &call);
}

static status run(const kernel_job *job, kernels_planes first, kernels_planes second) {
  kernels_launch launch = job->launch;
  launch.planes[0] = first;
  launch.planes[1] = second;
  if (job->what->what == OPERATION) return run_operation(job, &launch);
  return job->backend->plane_sums(&launch, array(job, 0), job->what->reference ? array(job, 1) : NULL, NULL,
                                  job->arrays->sums);
}

static status run_whole(void *data) {
  kernel_job *job = data;
  job->next = (job->next + 1) % job->steps;
  return run(job, (kernels_planes){0, job->launch.shape.nz}, (kernels_planes){0, 0});
}

/* Returns 1 if edges come first within one launch, as in a time step on a device; otherwise edges are a
 * launch of their own. */
static int edges_within(const kernel_job *job) {
  return job->what->edges && !job->backend->host_memory;
}

static status run_split(void *data) {
  kernel_job job = *(const kernel_job *)data;
  const int nz = job.launch.shape.nz;
  const kernels_planes none = {0, 0};
  if (edges_within(&job)) {
    job.launch.edges = job.arrays->edges_done;
    return run(&job, (kernels_planes){0, nz}, none);
  }
  const kernels_planes below = {0, KERNELS_HALO};
  const kernels_planes above = {nz - KERNELS_HALO, nz};
  CHECK(run(&job, below, above));
  return run(&job, (kernels_planes){below.z1, above.z0}, none);
}

static status tables_fill(const grid *grid, kernel_arrays *arrays) {
  const config config = {.velocity = velocities_find("abc"), .abc = {1.0, 0.5, 0.25}};
  cases_velocity velocity;
  CHECK(cases_velocity_open(&config, grid, &velocity));
  const status result = velocity_tables_create(&arrays->of->space, &velocity, 0, &arrays->tables);
  cases_velocity_close(&velocity);
  return result;
}

static status arrays_open(bench *bench, kernel_arrays *arrays) {
  const kernels_shape *shape = &arrays->of->space.shape;
  grid grid;
  CHECK(grid_make((const int64_t[]){shape->nx, shape->ny, shape->nz}, (const double[]){1.0, 1.0, 1.0}, 1, 0,
                  &grid));
  CHECK(tables_fill(&grid, arrays));
  CHECK(bench->backend->event_create(bench->context, &arrays->edges_done));
  arrays->sums = malloc((size_t)grid.nz * sizeof *arrays->sums);
  if (arrays->sums == NULL) return status_fail(STATUS_MEMORY, "no memory for %d sums", grid.nz);
  return STATUS_OK;
}

static void arrays_close(bench *bench, kernel_arrays *arrays) {
  free(arrays->sums);
  if (arrays->edges_done != NULL) bench->backend->event_destroy(arrays->edges_done);
  velocity_tables_destroy(&arrays->tables);
}

static double rate(double bytes, const bench_contestant *contestant) {
  return 1e-9 * bytes / contestant->seconds.median;
}

/* One measurement on `planes` planes. contestants: the kernel, the stream with ordinary and with non-temporal
 * stores and, for some, the kernel with its edges first. */
typedef struct kernel_result {
  const kernel_job *job;
  int streams, split;
  bench_contestant contestants[CONTESTANTS];
} kernel_result;

static json_t *report(const kernel_result *result) {
  const kernel_case *what = result->job->what;
  const kernels_shape *shape = &result->job->launch.shape;
  const bench_contestant *c = result->contestants;
  const double points = bench_points(shape);
  char of[BENCH_SHAPE];
  const double bytes =
      points * (double)(what->reads + what->writes) * (double)kernels_element_size(shape->precision);
  json_t *entry =
      json_pack("{s:s, s:s, s:o, s:s, s:i, s:i, s:f, s:o, s:f, s:f}", "kernel", what->name, "engine",
                what->general ? "general" : "lean", "grid", bench_report_grid(shape), "precision",
                config_precision_name(shape->precision), "reads", what->reads, "writes", what->writes,
                "bytes", bytes, "seconds", bench_report_spread(&c[0].seconds), "points_per_second",
                points / c[0].seconds.median, "gigabytes_per_second", rate(bytes, &c[0]));
  log_info("%-36s %s %dR %dW %10.3e points/s %8.1f GB/s%s", what->name, bench_report_shape(shape, of),
           what->reads, what->writes, points / c[0].seconds.median, rate(bytes, &c[0]),
           what->general ? ", general engine" : "");
  if (result->streams) {
    const double ordinary = rate(bytes, &c[1]);
    const double nontemporal = rate(bytes, &c[2]);
    const double best = ordinary > nontemporal ? ordinary : nontemporal;
    const double share = rate(bytes, &c[0]) / best;
    (void)json_object_set_new(entry, "stream",
                              json_pack("{s:f, s:f, s:o, s:o}", "ordinary", ordinary, "nontemporal",
                                        nontemporal, "seconds_ordinary", bench_report_spread(&c[1].seconds),
                                        "seconds_nontemporal", bench_report_spread(&c[2].seconds)));
    (void)json_object_set_new(entry, "share", json_real(share));
    log_info("  stream %7.1f %7.1f  share %5.1f %%", ordinary, nontemporal, 100.0 * share);
  }
  if (result->split) {
    const double cost = c[3].seconds.median / c[0].seconds.median;
    (void)json_object_set_new(
        entry, "edges",
        json_pack("{s:o, s:f}", "seconds", bench_report_spread(&c[3].seconds), "versus_whole", cost));
    log_info(edges_within(result->job) ? "  edges first %.3f" : "  edges + interior %.3f", cost);
  }
  log_info("\n");
  return entry;
}

status bench_kernels_only(const char *prefix) {
  char names[MOST_CASES * (NAME + 32)] = "";
  kernel_case cases[MOST_CASES];
  const int count = list_cases(cases);
  for (int i = 0; i < count; i++) {
    if (strncmp(cases[i].name, prefix, strlen(prefix)) == 0) return STATUS_OK;
    text_add(names, sizeof names, ", ", "%.*s", NAME, cases[i].name);
  }
  return status_fail(STATUS_USAGE,
                     "--only '%s': no kernel's name begins so; accepted: %s, or their first letters", prefix,
                     names);
}

static status measure_case(bench *bench, kernel_job *job, int edges, json_t *results) {
  const int reads = job->what->reads, writes = job->what->writes;
  bench_stream streams[2] = {bench_arrays_stream(job->arrays->of, &job->launch, reads, writes, 0),
                             bench_arrays_stream(job->arrays->of, &job->launch, reads, writes, 1)};
  kernel_result result = {.job = job,
                          .streams = job->what->writes > 0,
                          .split =
                              edges && job->what->what != SUMS && job->launch.shape.nz > 2 * KERNELS_HALO,
                          .contestants = {{.work = run_whole, .job = job},
                                          {.work = bench_stream_work, .job = &streams[0]},
                                          {.work = bench_stream_work, .job = &streams[1]},
                                          {.work = run_split, .job = job}}};
  const int count = result.split ? CONTESTANTS : result.streams ? 3 : 1;
  CHECK(bench_measure(bench, count, result.contestants));
  (void)json_array_append_new(results, report(&result));
  return STATUS_OK;
}

static status measure_slabs(bench *bench, const kernel_arrays *arrays, int planes, json_t *results) {
  const bench_options *options = &bench->options;
  const int nz = arrays->of->space.shape.nz, whole = planes == nz;
  kernel_case cases[MOST_CASES];
  const int count = list_cases(cases);
  for (int i = 0; i < count; i++) {
    if (!is_chosen(options, &cases[i])) continue;
    kernel_job job = {.backend = bench->backend, .what = &cases[i], .arrays = arrays};
    job.launch = bench_arrays_launch(arrays->of);
    job.launch.shape.nz = planes;
    job.launch.shape.whole = whole;
    job.steps = nz / planes;
    CHECK(measure_case(bench, &job, whole && (options->ranges & RANGE_EDGES), results));
  }
  return STATUS_OK;
}

static status measure_all(bench *bench, const kernel_arrays *arrays, json_t *results) {
  static const int thin[] = {64, 32};
  const int nz = arrays->of->space.shape.nz;
  CHECK(measure_slabs(bench, arrays, nz, results));
  if (!(bench->options.ranges & RANGE_THIN)) return STATUS_OK;
  for (size_t i = 0; i < sizeof thin / sizeof thin[0]; i++) {
    if (thin[i] < nz) CHECK(measure_slabs(bench, arrays, thin[i], results));
  }
  return STATUS_OK;
}

static status measure_arrays(bench *bench, const bench_arrays *of, json_t *results) {
  kernel_arrays arrays = {.of = of};
  status result = arrays_open(bench, &arrays);
  if (result == STATUS_OK) result = measure_all(bench, &arrays, results);
  arrays_close(bench, &arrays);
  return result;
}

status bench_kernels(bench *bench) {
  return bench_arrays_each(bench, "kernels", INPUTS, most_writes(&bench->options), measure_arrays);
}
