#include "launchers.h"
#include "wave_call.h"

extern const kernels kernels_cuda;

/* The backend's table. Each numerical slot selects the device and calls the launcher of the precision. */

/* Handles a launch without planes: its edge event is complete when everything enqueued before it is. */
static status nothing(const kernels_launch *launch) {
  return launch->edges == NULL ? STATUS_OK
                               : context_event_record(launch->edges, launch->context, launch->queue);
}

/* Returns at once if there are no planes; otherwise selects the device and calls the launcher. */
#define DISPATCH(function, ...)                                                                              \
  do {                                                                                                       \
    if (kernels_plane_count(launch) == 0) return nothing(launch);                                            \
    CHECK(context_enter(launch->context));                                                                   \
    return BY_PRECISION(function, __VA_ARGS__);                                                              \
  } while (0)

static launcher *const launchers[][2] = {
#define X(kind, options, way) {apply_##way##_float, apply_##way##_double},
    OPERATION_WAYS(X)
#undef X
};

static status apply(const kernels_launch *launch, const kernels_call *call) {
  int way = 0;
  if (kernels_plane_count(launch) == 0) return nothing(launch);
  CHECK(context_enter(launch->context));
  CHECK(kernels_way_find(call, &way));
  return launchers[way][launch->shape.precision](launch, call);
}

static const char *pair_refused(const kernels_launch *launch, const kernels_call *first,
                                const kernels_call *second, int always) {
  if (context_enter(launch->context) != STATUS_OK) return "the device cannot be chosen";
  return BY_PRECISION(pair_refused, first, second, always);
}

static status apply_pair(const kernels_launch *launch, const kernels_call *first,
                         const kernels_call *second) {
  DISPATCH(apply_pair, first, second);
}

static status derivative_variant(const kernels_launch *launch, int variant, kernels_part part, axis along,
                                 const void *f, void *out) {
  if (variant != VARIANT_PRODUCTION) DISPATCH(pencils, variant, part, along, f, out);
  if (part != PART_WHOLE) DISPATCH(parts, part, along, f, out);
  return apply_derivative(&kernels_cuda, launch, along, f, out);
}

static status layers(const kernels_launch *launch, const kernels_call *call) {
  DISPATCH(layers, call);
}

static status flow(const kernels_launch *launch, const struct flow_call *call) {
  DISPATCH(flow, call);
}

/* Only a step has planes. */
static status wave(const kernels_launch *launch, const struct kernels_wave *call) {
  if (call->task == WAVE_STEP) DISPATCH(wave, call);
  CHECK(context_enter(launch->context));
  return BY_PRECISION(wave, call);
}

static status plane_sums(const kernels_launch *launch, const void *f, const void *reference,
                         const kernels_weights *weights, kernels_plane_sums *sums) {
  DISPATCH(plane_sums, f, reference, weights, sums);
}

static status minplus(const kernels_launch *launch, const kernels_minplus *product) {
  CHECK(context_enter(launch->context));
  return BY_PRECISION(minplus, product);
}

static status minplus_loop(const kernels_launch *launch, const void *in, void *out, double *pairs) {
  CHECK(context_enter(launch->context));
  return BY_PRECISION(minplus_loop, in, out, pairs);
}

static status minplus_plain(const kernels_launch *launch, int variant, const kernels_minplus *product) {
  CHECK(context_enter(launch->context));
  return BY_PRECISION(minplus_plain, variant, product);
}

/* Streams have no planes: a plain range of elements. */
static status stream(const kernels_launch *launch, const kernels_stream *what) {
  if (what->elements == 0) return STATUS_OK;
  CHECK(context_enter(launch->context));
  return BY_PRECISION(stream, what);
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
    .flow = flow,
    .wave = wave,
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
