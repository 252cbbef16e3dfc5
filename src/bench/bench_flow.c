#include "base/log.h"
#include "bench.h"
#include "flow.h"

/* A stage of compressible flow, without viscosity and with it, beside the copy of as many words: the state,
 * the base and the result, and with viscosity what the first pass reads, writes and hands on. */
enum { COPY, EULER, NAVIER_STOKES, CONTESTANTS };
enum { STATE, BASE = FLOW_UNKNOWNS, INPUTS = 2 * FLOW_UNKNOWNS, OUT = INPUTS, WORK = OUT + FLOW_UNKNOWNS };
enum { OUTPUTS = FLOW_UNKNOWNS + FLOW_WORKS, WORDS_EULER = 15, WORDS_NAVIER_STOKES = 21 };
_Static_assert((int)INPUTS + (int)OUTPUTS <= (int)BENCH_FIELDS, "arrays have room");

typedef struct flow_job {
  const bench_arrays *arrays;
  flow_law law;
} flow_job;

static status run_stage(void *data) {
  const flow_job *job = data;
  const field *fields = job->arrays->fields;
  const kernels_launch launch = bench_arrays_launch(job->arrays);
  flow_call call = {.pass = FLOW_FIRST, .weight = 1e-3};
  call.gas = (flow_gas){.form = FLOW_KEEP_PE,
                        .law = job->law,
                        .gamma = 1.4,
                        .gas_constant = 1.0,
                        .prandtl = 0.71,
                        .viscosity = 1e-3,
                        .viscosity_temperature = 1.0,
                        .sutherland = 0.4};
  for (int i = 0; i < FLOW_UNKNOWNS; i++) {
    call.f[i] = fields[STATE + i].data;
    call.base[i] = fields[BASE + i].data;
    call.out[i] = fields[OUT + i].data;
  }
  for (int i = 0; i < FLOW_WORKS; i++) call.work[i] = fields[WORK + i].data;
  if (flow_works(&call.gas) > 0) CHECK(fields[0].backend->flow(&launch, &call));
  call.pass = FLOW_STAGE;
  return fields[0].backend->flow(&launch, &call);
}

static void report(const bench_arrays *arrays, const char *name, int words, const bench_contestant *stage,
                   const bench_contestant *copy, json_t *results) {
  const kernels_shape *shape = &arrays->space.shape;
  const double points = bench_points(shape);
  char of[BENCH_SHAPE];
  const double rate = points / stage->seconds.median, floor = 2.0 * points / words / copy->seconds.median;
  log_info("%-14s %s  %.3e points/s  %d words  share of the copy %5.1f %%\n", name,
           bench_report_shape(shape, of), rate, words, 100.0 * rate / floor);
  (void)json_array_append_new(results, json_pack("{s:s, s:o, s:s, s:i, s:o, s:f, s:f}", "flow", name, "grid",
                                                 bench_report_grid(shape), "precision",
                                                 config_precision_name(shape->precision), "words", words,
                                                 "seconds", bench_report_spread(&stage->seconds),
                                                 "points_per_second", rate, "share", rate / floor));
}

static status measure_arrays(bench *bench, const bench_arrays *arrays, json_t *results) {
  const kernels_launch launch = bench_arrays_launch(arrays);
  flow_job jobs[2] = {{arrays, FLOW_INVISCID}, {arrays, FLOW_CONSTANT}};
  bench_stream copy = bench_arrays_stream(arrays, &launch, 1, 1, 1);
  bench_contestant contestants[CONTESTANTS] = {[COPY] = {.work = bench_stream_work, .job = &copy},
                                               [EULER] = {.work = run_stage, .job = &jobs[0]},
                                               [NAVIER_STOKES] = {.work = run_stage, .job = &jobs[1]}};
  CHECK(bench_measure(bench, CONTESTANTS, contestants));
  report(arrays, "Euler", WORDS_EULER, &contestants[EULER], &contestants[COPY], results);
  report(arrays, "Navier-Stokes", WORDS_NAVIER_STOKES, &contestants[NAVIER_STOKES], &contestants[COPY],
         results);
  return STATUS_OK;
}

status bench_flow(bench *bench) {
  log_info("flow: points per second of a stage of compressible flow, share of a copy of its words\n");
  return bench_arrays_each(bench, "flow", INPUTS, OUTPUTS, measure_arrays);
}
