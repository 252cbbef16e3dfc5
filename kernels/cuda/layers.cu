#include "device.cuh"

extern "C" {
#include "layers.h"
}
#include "layer_point.h"

/* Layers of points beside the ends of axes, one thread per point. There is a kernel for each way of an
 * operation, compiled with all of its additions. So the declaration is known at compile time, except for the
 * additions that a call uses. */

constexpr int LAYER_THREADS = 128;

template <operation_kind KIND, unsigned OPTIONS>
static __global__ void __launch_bounds__(LAYER_THREADS) layers_kernel(const __grid_constant__ layer_work w) {
  const operation of = operation_describe(KIND, OPTIONS | operation_additions(KIND));
  const ptrdiff_t i = (ptrdiff_t)blockIdx.x * LAYER_THREADS + (ptrdiff_t)threadIdx.x;
  if (i < w.all.points) layer_compute(&of, KIND, &w, i);
}

static __global__ void __launch_bounds__(LAYER_THREADS)
    layers_store_kernel(const __grid_constant__ layer_work w) {
  const ptrdiff_t i = (ptrdiff_t)blockIdx.x * LAYER_THREADS + (ptrdiff_t)threadIdx.x;
  if (i < w.all.points) layer_store(&w, i);
}

static unsigned layer_blocks(const layer_work &w) {
  return (unsigned)((w.all.points + LAYER_THREADS - 1) / LAYER_THREADS);
}

extern "C" status NAME(layers_compute)(const kernels_launch *launch, const kernels_call *call,
                                       const kernels_ends *ends, const kernels_inflow *inflow,
                                       const kernels_coupling *coupling) {
  layer_work w = {};
  layer_work_make(launch, call, ends, inflow, coupling, &w);
  if (w.all.points == 0) return STATUS_OK;
  const unsigned options = call->options & ~operation_additions(call->kind);
#define X(name, options_of, way)                                                                             \
  if (call->kind == OPERATION_##name && options == (unsigned)(options_of)) {                                 \
    constexpr unsigned OPTIONS = (options_of);                                                               \
    kernel_launch(layers_kernel<OPERATION_##name, OPTIONS>, layer_blocks(w), LAYER_THREADS, 0,               \
                  launch_stream(launch), w);                                                                 \
    return context_launched(launch->context, launch->queue, "kernel layers " #way);                          \
  }
  OPERATION_WAYS(X)
#undef X
  return status_fail(STATUS_DEVICE, "operation %d has no way with options %u", (int)call->kind,
                     call->options);
}

extern "C" status NAME(layers_store)(const kernels_launch *launch, const kernels_call *call,
                                     const kernels_ends *ends) {
  layer_work w = {};
  layer_work_make(launch, call, ends, nullptr, nullptr, &w);
  if (w.all.points == 0) return STATUS_OK;
  kernel_launch(layers_store_kernel, layer_blocks(w), LAYER_THREADS, 0, launch_stream(launch), w);
  return context_launched(launch->context, launch->queue, "kernel layers store");
}
