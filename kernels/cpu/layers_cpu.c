#include "cpu.h"

#define LAYER_NAME_JOIN(name, real) name##real
#define LAYER_NAME_OF(name, real)   LAYER_NAME_JOIN(name, real)
#define LAYER_NAME(name)            LAYER_NAME_OF(name, FDAPP_REAL)

#include "arithmetic.h"
#include "layer_point.h"

/* Layers of points beside the ends of axes: one function for each way of an operation. */

typedef void (*layer_function)(const layer_work *work, ptrdiff_t i);

#define X(name, options_of, way_name)                                                                        \
  static void way_name##_layer(const layer_work *work, ptrdiff_t i) {                                        \
    static const operation of = name##_operation((options_of) | (unsigned)name##_additions);                 \
    layer_compute(&of, OPERATION_##name, work, i);                                                           \
  }
OPERATION_WAYS(X)
#undef X

static const layer_function functions[] = {
#define X(name, options, way_name) way_name##_layer,
    OPERATION_WAYS(X)
#undef X
};

status LAYER_NAME(layers_compute_cpu_)(const kernels_launch *launch, const kernels_call *call,
                                       const kernels_ends *ends, const kernels_inflow *inflow,
                                       const kernels_coupling *coupling) {
  int way = 0;
  CHECK(way_cpu(call, &way));
  const layer_function function = functions[way];
  layer_work work = {.terms = 0};
  layer_work_make(launch, call, ends, inflow, coupling, &work);
#pragma omp parallel for schedule(static) num_threads(launch->context->threads)
  for (ptrdiff_t i = 0; i < work.all.points; i++) function(&work, i);
  return STATUS_OK;
}

status LAYER_NAME(layers_store_cpu_)(const kernels_launch *launch, const kernels_call *call,
                                     const kernels_ends *ends) {
  layer_work work = {.terms = 0};
  layer_work_make(launch, call, ends, NULL, NULL, &work);
#pragma omp parallel for schedule(static) num_threads(launch->context->threads)
  for (ptrdiff_t i = 0; i < work.all.points; i++) layer_store(&work, i);
  return STATUS_OK;
}
