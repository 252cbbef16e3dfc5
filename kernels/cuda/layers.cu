#include "layers.cuh"

/* Launches layers. Every way of an operation has a kernel with all of its additions. It has another one with
 * those additions alone that bring no terms, which is shorter and does not spill so many registers. */

/* The smallest number of bits whose power of two is at least n. */
static int bits_of(int n) {
  int bits = 0;
  while (1 << bits < n) bits++;
  return bits;
}

static void box_add(const layers_box &points, layer_work &w) {
  layer_box box = {};
  box.points = points;
  box.column = points.origin[0] / VECTOR;
  box.columns = divide_up(points.origin[0] + points.extent[0], VECTOR) - box.column;
  /* Along y or z, whichever is shorter, at most as much as a layer is thick; the rest along the other. */
  const int rows = points.extent[1], planes = points.extent[2];
  box.bits_x = std::min(bits_of(box.columns), 4);
  const int bits_short = std::min(bits_of(std::min(rows, planes)), 3);
  box.bits_y = rows < planes ? bits_short : LAYER_BITS - box.bits_x - bits_short;
  box.across = divide_up(box.columns, 1 << box.bits_x);
  box.down = divide_up(rows, 1 << box.bits_y);
  const int deep = divide_up(planes, 1 << (LAYER_BITS - box.bits_x - box.bits_y));
  box.first = w.blocks;
  box.vector = w.vectors;
  w.blocks += (unsigned)box.across * (unsigned)box.down * (unsigned)deep;
  w.vectors += (unsigned)box.columns * (unsigned)rows * (unsigned)planes;
  w.box[w.boxes++] = box;
}

/* The number of rows of an end that get penalties: the point on the end, and those that values pull. */
static int rows_touched(const layer_ends &ends) {
  int rows = 1;
  for (int i = 0; i < 6 * CLOSURE_ROWS; i++) {
    const int row = i % CLOSURE_ROWS, end = i / CLOSURE_ROWS;
    if (ends.pull[end / 2][end % 2][row] != 0) rows = std::max(rows, row + 1);
  }
  return rows;
}

static layer_work work_make(const kernels_launch *launch, const kernels_ends *ends,
                            const kernels_inflow *inflow, const kernels_coupling *coupling) {
  layer_work w = {};
  const layers all = layers_make(launch, ends);
  for (int b = 0; b < all.count; b++) box_add(all.box[b], w);
  layer_ends_make(launch, ends, inflow, coupling, &w.ends);
  w.touched = rows_touched(w.ends);
  return w;
}

/* Mask of an operation's additions that bring inputs and no terms; all of them if nothing else writes. */
constexpr unsigned additions_without_terms(operation_kind kind, unsigned options) {
  if (operation_describe(kind, options).outputs == 0) return operation_additions(kind);
  unsigned mask = 0;
  for (unsigned bit = 1; bit <= operation_additions(kind); bit <<= 1) {
    if ((operation_additions(kind) & bit) == 0) continue;
    if (operation_describe(kind, options | bit).terms == operation_describe(kind, options).terms) mask |= bit;
  }
  return mask;
}

template <class Op>
static status layers_launch(const kernels_launch *launch, const arguments &a, const layer_work &w,
                            const char *name) {
  kernel_launch(layers_kernel<Op>, w.blocks, LAYER_THREADS, 0, launch_stream(launch), a,
                launch_geometry(launch), w);
  return context_launched(launch->context, launch->queue, name);
}

extern "C" status NAME(layers_compute)(const kernels_launch *launch, const kernels_call *call,
                                       const kernels_ends *ends, const kernels_inflow *inflow,
                                       const kernels_coupling *coupling) {
  layer_work w = work_make(launch, ends, inflow, coupling);
  if (w.vectors == 0) return STATUS_OK;
  const operation used = operation_describe(call->kind, call->options);
  w.terms = used.terms;
  for (int axis = 0; axis < 3; axis++) w.kinds |= differences_along(used, axis);
  w.options = call->options;
  const arguments a = launch_arguments(launch, call);
  const unsigned options = call->options & ~operation_additions(call->kind);
#define X(name, options_of, way)                                                                             \
  if (call->kind == OPERATION_##name && options == (unsigned)(options_of)) {                                 \
    using Few = op<OPERATION_##name, (options_of) | additions_without_terms(OPERATION_##name, options_of)>;  \
    using All = op<OPERATION_##name, (options_of) | operation_additions(OPERATION_##name)>;                  \
    const auto launch_layers = w.terms == Few::DECLARED.terms ? layers_launch<Few> : layers_launch<All>;     \
    return launch_layers(launch, a, w, "kernel layers " #way);                                               \
  }
  OPERATION_WAYS(X)
#undef X
  return status_fail(STATUS_DEVICE, "operation %d has no way with options %u", (int)call->kind,
                     call->options);
}

/* Copies results from `result` to `out`. */
static __global__ void __launch_bounds__(LAYER_THREADS)
    layers_store_kernel(const __grid_constant__ arguments a, const geometry d,
                        const __grid_constant__ layer_work w) {
  layer_place at;
  if (!layer_find(w, at)) return;
  const ptrdiff_t here = d.plane(at.z) + (ptrdiff_t)at.y * d.ldx + at.x;
  for (int k = 0; k < OPERATION_OUTPUTS; k++) {
    if (a.out[k] == nullptr) continue;
    real value[VECTOR];
    vector_load(w.ends.result + ((ptrdiff_t)k * w.vectors + at.number) * VECTOR, value);
    at.store(a.out[k] + here, value);
  }
}

extern "C" status NAME(layers_store)(const kernels_launch *launch, const kernels_call *call,
                                     const kernels_ends *ends) {
  const layer_work w = work_make(launch, ends, nullptr, nullptr);
  if (w.vectors == 0) return STATUS_OK;
  kernel_launch(layers_store_kernel, w.blocks, LAYER_THREADS, 0, launch_stream(launch),
                launch_arguments(launch, call), launch_geometry(launch), w);
  return context_launched(launch->context, launch->queue, "kernel layers store");
}
