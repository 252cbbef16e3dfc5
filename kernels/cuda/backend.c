#include "launchers.h"

extern const kernels kernels_cuda;

/* The backend's table. Each numerical slot selects the device and calls the launcher of the precision. */

/* Handles a launch without planes: its edge event is complete when everything enqueued before it is. */
static status nothing(const kernels_launch *launch) {
  return launch->edges == NULL ? STATUS_OK
                               : context_event_record(launch->edges, launch->context, launch->queue);
}

/* Returns at once if there are no planes; otherwise selects the device and calls the launcher. */
#define DISPATCH(operation, ...)                                                                             \
  do {                                                                                                       \
    if (kernels_plane_count(launch) == 0) return nothing(launch);                                            \
    CHECK(context_enter(launch->context));                                                                   \
    return launch->shape.precision == PRECISION_SINGLE ? operation##_float(launch, __VA_ARGS__)              \
                                                       : operation##_double(launch, __VA_ARGS__);            \
  } while (0)

static const struct {
  operation_kind kind;
  unsigned options;
  launcher *single, *twofold;
} ways[] = {
#define X(kind, options, way) {OPERATION_##kind, (options), apply_##way##_float, apply_##way##_double},
    OPERATION_WAYS(X)
#undef X
};

static status apply(const kernels_launch *launch, const kernels_call *call) {
  if (kernels_plane_count(launch) == 0) return nothing(launch);
  CHECK(context_enter(launch->context));
  const unsigned options = call->options & ~operation_additions(call->kind);
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
    if (ways[i].kind != call->kind || ways[i].options != options) continue;
    return launch->shape.precision == PRECISION_SINGLE ? ways[i].single(launch, call)
                                                       : ways[i].twofold(launch, call);
  }
  return status_fail(STATUS_DEVICE, "operation %d has no way with options %u", (int)call->kind,
                     call->options);
}

static const char *pair_refused(const kernels_launch *launch, const kernels_call *first,
                                const kernels_call *second, int always) {
  if (context_enter(launch->context) != STATUS_OK) return "the device cannot be chosen";
  return launch->shape.precision == PRECISION_SINGLE ? pair_refused_float(launch, first, second, always)
                                                     : pair_refused_double(launch, first, second, always);
}

static status apply_pair(const kernels_launch *launch, const kernels_call *first,
                         const kernels_call *second) {
  DISPATCH(apply_pair, first, second);
}

static status derivative_parts(const kernels_launch *launch, kernels_part part, axis along, const void *f,
                               void *out) {
  DISPATCH(parts, part, along, f, out);
}

static status derivative_variant(const kernels_launch *launch, int variant, kernels_part part, axis along,
                                 const void *f, void *out) {
  if (variant == VARIANT_PRODUCTION) {
    return part == PART_WHOLE ? apply_derivative(&kernels_cuda, launch, along, f, out)
                              : derivative_parts(launch, part, along, f, out);
  }
  DISPATCH(pencils, variant, part, along, f, out);
}

static status layers(const kernels_launch *launch, const kernels_call *call, const kernels_ends *ends,
                     const kernels_inflow *inflow, const kernels_coupling *coupling) {
  DISPATCH(layers, call, ends, inflow, coupling);
}

static status plane_sums(const kernels_launch *launch, const void *f, const void *reference,
                         const kernels_weights *weights, kernels_plane_sums *sums) {
  DISPATCH(plane_sums, f, reference, weights, sums);
}

static status minplus(const kernels_launch *launch, const kernels_minplus *product) {
  CHECK(context_enter(launch->context));
  return launch->shape.precision == PRECISION_SINGLE ? minplus_float(launch, product)
                                                     : minplus_double(launch, product);
}

static status minplus_loop(const kernels_launch *launch, const void *in, void *out, double *pairs) {
  CHECK(context_enter(launch->context));
  return launch->shape.precision == PRECISION_SINGLE ? minplus_loop_float(launch, in, out, pairs)
                                                     : minplus_loop_double(launch, in, out, pairs);
}

static status minplus_plain(const kernels_launch *launch, int variant, const kernels_minplus *product) {
  CHECK(context_enter(launch->context));
  return launch->shape.precision == PRECISION_SINGLE ? minplus_plain_float(launch, variant, product)
                                                     : minplus_plain_double(launch, variant, product);
}

/* Streams have no planes: a plain range of elements. */
static status stream(const kernels_launch *launch, const kernels_stream *what) {
  if (what->elements == 0) return STATUS_OK;
  CHECK(context_enter(launch->context));
  return launch->shape.precision == PRECISION_SINGLE ? stream_float(launch, what)
                                                     : stream_double(launch, what);
}

static status meet(kernels_context *context, kernels_queue queue, const kernels_meeting *meeting) {
  CHECK(context_enter(context));
  return meet_float(context, queue, meeting); /* the same for double */
}

static const char *const variant_names[VARIANT_COUNT] = {
    [VARIANT_SHORT] = "short 4",
    [VARIANT_LONG] = "long 32",
    [VARIANT_TILE] = "tile 16x16",
    [VARIANT_PRODUCTION] = "production",
};

static const char *const minplus_names[MINPLUS_VARIANTS] = {
    [MINPLUS_NO_REUSE] = "no reuse",
    [MINPLUS_SHARED] = "shared memory",
};

const kernels kernels_cuda = {
    .name = "cuda",
    .host_memory = 0,
    .probe = context_probe,
    .context_create = context_create,
    .context_destroy = context_destroy,
    .describe = context_describe,
    .device_identity = context_device_identity,
    .device_uuid = context_device_uuid,
    .memory_allocate = context_memory_allocate,
    .memory_free = context_memory_free,
    .memory_available = context_memory_available,
    .memory_copy = context_memory_copy,
    .memory_copy_pieces = context_memory_copy_pieces,
    .queue_wait = context_queue_wait,
    .event_create = context_event_create,
    .event_destroy = context_event_destroy,
    .event_record = context_event_record,
    .event_follow = context_event_follow,
    .event_wait = context_event_wait,
    .event_seconds = context_event_seconds,
    .apply = apply,
    .pair_refused = pair_refused,
    .apply_pair = apply_pair,
    .layers = layers,
    .plane_sums = plane_sums,
    .minplus = minplus,
    .stream = stream,
    .minplus_loop = minplus_loop,
    .graph_begin = context_graph_begin,
    .graph_end = context_graph_end,
    .graph_launch = context_graph_launch,
    .graph_destroy = context_graph_destroy,
    .range_push = context_range_push,
    .range_pop = context_range_pop,
    .memory_export = context_memory_export,
    .memory_import = context_memory_import,
    .memory_release = context_memory_release,
    .meet = meet,
    .pass = context_pass,
    .variant_count = VARIANT_COUNT,
    .variant_names = variant_names,
    .derivative_variant = derivative_variant,
    .minplus_variant_count = MINPLUS_VARIANTS,
    .minplus_variant_names = minplus_names,
    .minplus_variant = minplus_plain,
};
