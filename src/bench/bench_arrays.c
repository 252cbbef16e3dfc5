#include "bench.h"

/* Fills the inputs: the first with noise, the others with the same values, shifted. */
static status arrays_fill(bench_arrays *arrays) {
  const kernels_shape *shape = &arrays->space.shape;
  const kernels *backend = arrays->space.backend;
  CHECK(field_fill(&arrays->fields[0], 0, shape->nz, 1, bench_noise_row, &shape->nx));
  const size_t all = kernels_field_bytes(shape);
  for (int i = 1; i < arrays->inputs; i++) {
    const size_t shift = (size_t)i * field_plane_bytes(&arrays->fields[0]);
    const char *from = arrays->fields[0].data;
    char *to = arrays->fields[i].data;
    CHECK(backend->memory_copy(arrays->space.context, QUEUE_MAIN, to, from + shift, all - shift));
    CHECK(backend->memory_copy(arrays->space.context, QUEUE_MAIN, to + all - shift, from, shift));
  }
  return backend->queue_wait(arrays->space.context, QUEUE_MAIN);
}

status bench_arrays_open(bench *bench, const int64_t n[3], precision precision, int inputs, int outputs,
                         bench_arrays *arrays) {
  grid grid;
  CHECK(grid_make(n, (const double[]){1.0, 1.0, 1.0}, 1, 0, &grid));
  arrays->stencil = stencil_make(8, grid.h);
  arrays->inputs = inputs;
  CHECK(field_space_open(bench->backend, bench->context,
                         grid_shape(&grid, precision, bench->backend->host_memory), &arrays->space));
  while (arrays->count < inputs + outputs)
    CHECK(field_create(&arrays->space, &arrays->fields[arrays->count++]));
  return arrays_fill(arrays);
}

void bench_arrays_close(bench_arrays *arrays) {
  for (int i = 0; i < arrays->count; i++) field_destroy(&arrays->fields[i]);
  field_space_close(&arrays->space);
}

kernels_launch bench_arrays_launch(const bench_arrays *arrays) {
  return field_launch(&arrays->fields[0], &arrays->stencil);
}

bench_stream bench_arrays_stream(const bench_arrays *arrays, const kernels_launch *launch, int reads,
                                 int writes, int nontemporal) {
  const kernels_shape *shape = &launch->shape;
  const field *fields = arrays->fields;
  bench_stream stream = {.backend = arrays->space.backend, .launch = *launch};
  stream.steps = arrays->space.shape.nz / shape->nz;
  stream.step = (size_t)shape->nz * field_plane_bytes(&fields[0]);
  stream.stream.reads = reads;
  stream.stream.writes = writes;
  stream.stream.elements = (size_t)shape->nx * (size_t)shape->ny * (size_t)shape->nz;
  stream.stream.nontemporal = nontemporal;
  for (int i = 0; i < reads; i++) stream.stream.in[i] = field_plane(&fields[i], 0);
  for (int i = 0; i < writes; i++) stream.stream.out[i] = field_plane(&fields[arrays->inputs + i], 0);
  return stream;
}

status bench_arrays_each(bench *bench, const char *name, int inputs, int outputs,
                         status (*measure)(struct bench *, const bench_arrays *, json_t *)) {
  const bench_options *options = &bench->options;
  json_t *results = json_array();
  bench_report_add(bench, name, results);
  for (int g = 0; g < options->grid_count; g++) {
    for (int p = PRECISION_SINGLE; p <= PRECISION_DOUBLE; p++) {
      if (!options->precision[p]) continue;
      bench_arrays arrays = {.count = 0};
      status result = bench_arrays_open(bench, options->grids[g], (precision)p, inputs, outputs, &arrays);
      if (result == STATUS_OK) result = measure(bench, &arrays, results);
      bench_arrays_close(&arrays);
      CHECK(result);
    }
  }
  return STATUS_OK;
}
