#include "layers.cuh"

/* Launches layers. Every way of an operation has a kernel with all of its additions. It has another one with
 * those additions alone that bring no terms, which is shorter and does not spill so many registers. */

/* The number of rows of an end that get penalties: the point on the end, and those that values pull. */
static int rows_touched(const layer_ends &ends) {
  int rows = 1;
  for (int i = 0; i < 6 * CLOSURE_ROWS; i++) {
    const int row = i % CLOSURE_ROWS, end = i / CLOSURE_ROWS;
    if (ends.pull[end / 2][end % 2][row] != 0) rows = std::max(rows, row + 1);
  }
  return rows;
}

static layer_work work_make(const kernels_launch *launch, const kernels_call *call,
                            const kernels_planes &range) {
  layer_work w = {};
  const operation used = operation_describe(call->kind, call->options);
  w.terms = operation_terms(&used);
  w.outputs = used.outputs;
  for (int axis = 0; axis < 3; axis++) w.kinds |= differences_along(used, axis);
  w.options = call->options;
  w.parts = operation_parts(&used, call->options);
  boxes_add(launch, call->ends, range, w);
  layer_ends_make(launch, call, &w.ends);
  w.touched = rows_touched(w.ends);
  return w;
}

/* Mask of an operation's additions that bring inputs and no terms; all of them if nothing else writes. */
constexpr unsigned additions_without_terms(operation_kind kind, unsigned options) {
  const operation own = operation_describe(kind, options);
  const unsigned all = operation_additions(kind, options);
  if (own.outputs == 0) return all;
  unsigned mask = 0;
  for (unsigned bit = 1; bit <= all; bit <<= 1) {
    const operation with = operation_describe(kind, options | bit);
    if (operation_terms(&with) == operation_terms(&own)) mask |= bit & all;
  }
  return mask;
}

template <class Op>
static void layers_launch(const kernels_launch *launch, const arguments_general &a, const layer_work &w) {
  const arguments &own = a;
  kernel_launch(layers_kernel<Op>, w.blocks, LAYER_THREADS, 0, launch_stream(launch), own,
                launch_geometry(launch), w);
}

template <class Op>
static void general_layers_launch(const kernels_launch *launch, const arguments_general &a,
                                  const layer_work &w) {
  const general_arguments<Op> &own = a;
  kernel_launch(general_layers_kernel<Op>, w.blocks, LAYER_THREADS, 0, launch_stream(launch), own,
                launch_geometry(launch), w);
}

/* The kernels of a way of an operation: `few` with those additions that bring no terms, whose mask of terms
 * is `few_terms`, and `all` with every one. */
struct layers_way {
  void (*few)(const kernels_launch *launch, const arguments_general &a, const layer_work &w);
  void (*all)(const kernels_launch *launch, const arguments_general &a, const layer_work &w);
  unsigned few_terms;
  const char *name;
};

template <operation_kind KIND, unsigned OPTIONS> static layers_way way_make(const char *name) {
  using All = op<KIND, OPTIONS | operation_additions(KIND, OPTIONS)>;
  if constexpr (operation_general(&All::DECLARED) != 0) {
    return {general_layers_launch<All>, general_layers_launch<All>, 0, name};
  } else {
    using Few = op<KIND, OPTIONS | additions_without_terms(KIND, OPTIONS)>;
    return {layers_launch<Few>, layers_launch<All>, operation_terms(&Few::DECLARED), name};
  }
}

static const layers_way ways[] = {
#define X(name, options, way) way_make<OPERATION_##name, (options)>("kernel layers " #way),
    OPERATION_WAYS(X)
#undef X
};

extern "C" status NAME(layers)(const kernels_launch *launch, const kernels_call *call) {
  int number = 0;
  CHECK(kernels_way_find(call, &number));
  const layers_way &way = ways[number];
  const arguments_general a = launch_arguments(launch, call);
  const geometry d = launch_geometry(launch);
  for (unsigned r = 0; r < d.ranges(); r++) {
    const layer_work w = work_make(launch, call, d.range[r]);
    if (w.blocks > 0) (w.terms == way.few_terms ? way.few : way.all)(launch, a, w);
  }
  return context_launched(launch->context, launch->queue, way.name);
}
