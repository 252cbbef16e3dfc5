#include "cpu.h"
#include "wave_cpu.h"

#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

extern const kernels kernels_cpu;

/* The CPU backend's table. Queues are synchronous: enqueued work is done when the call returns. */

struct kernels_event {
  struct timespec time;
};

/* The instruction set that the kernels were compiled for: its name, whether this processor has it, and the
 * -march of a build that needs less. */
#if defined(__AVX512F__)
#define SIMD_NAME       "AVX-512"
#define SIMD_SUPPORTED  __builtin_cpu_supports("avx512f")
#define SIMD_LESS_MARCH "x86-64-v3"
#elif defined(__AVX2__)
#define SIMD_NAME       "AVX2"
#define SIMD_SUPPORTED  __builtin_cpu_supports("avx2")
#define SIMD_LESS_MARCH "x86-64"
#else
#define SIMD_NAME       "baseline SIMD"
#define SIMD_SUPPORTED  1
#define SIMD_LESS_MARCH ""
#endif

/* Without the instructions the first kernel would end the process. */
static status probe_cpu(void) {
  if (SIMD_SUPPORTED) return STATUS_OK;
  return status_fail(STATUS_DEVICE,
                     "this processor has no " SIMD_NAME ", which the CPU kernels were built for: build with "
                     "-DFDAPP_MARCH=" SIMD_LESS_MARCH " or on this machine");
}

static void processor_name(char *name, size_t size) {
  (void)snprintf(name, size, "unknown processor");
  FILE *file = fopen("/proc/cpuinfo", "r");
  if (file == NULL) return;
  char line[256];
  while (fgets(line, sizeof line, file) != NULL) {
    const char *value = strchr(line, ':');
    if (strncmp(line, "model name", 10) != 0 || value == NULL) continue;
    line[strcspn(line, "\n")] = '\0';
    (void)snprintf(name, size, "%s", value + 2);
    break;
  }
  (void)fclose(file);
}

/* Smallest window of a tile. With windows of twice 512 KiB, reading the rows beside them again costs more
 * than using the last-level cache (docs/explanation/performance.md, "The window of a tile"). */
enum { LEAST_WINDOW_BYTES = 2 << 20 };

static status context_create_cpu(const kernels_setup *setup, kernels_context **context) {
  *context = calloc(1, sizeof **context);
  if (*context == NULL) return status_fail(STATUS_MEMORY, "no memory for the CPU backend");
  (*context)->threads = setup->threads > 0 ? setup->threads : omp_get_max_threads();
  const size_t last = last_cache_cpu("/sys/devices/system/cpu", sched_getcpu(), (*context)->threads);
  const long second = sysconf(_SC_LEVEL2_CACHE_SIZE);
  const size_t window = second > 0 ? 2 * (size_t)second : 0;
  (*context)->cache_bytes = last > 0 ? last : 32 << 20;
  (*context)->window_bytes = window > LEAST_WINDOW_BYTES ? window : LEAST_WINDOW_BYTES;
  char name[128];
  processor_name(name, sizeof name);
  (void)snprintf((*context)->description, sizeof(*context)->description, "%s, %d thread%s, %s", name,
                 (*context)->threads, (*context)->threads == 1 ? "" : "s", SIMD_NAME);
  return STATUS_OK;
}

static void context_destroy_cpu(kernels_context *context) {
  free(context);
}

static const char *describe_cpu(kernels_context *context) {
  return context->description;
}

static void device_identity_cpu(kernels_context *context, int *identity, int *count) {
  (void)context;
  *identity = 0;
  *count = 1;
}

static status queue_wait_cpu(kernels_context *context, kernels_queue queue) {
  (void)context;
  (void)queue;
  return STATUS_OK;
}

static status event_create_cpu(kernels_context *context, kernels_event **event) {
  (void)context;
  *event = calloc(1, sizeof **event);
  return *event != NULL ? STATUS_OK : status_fail(STATUS_MEMORY, "no memory for an event");
}

static void event_destroy_cpu(kernels_event *event) {
  free(event);
}

static status event_record_cpu(kernels_event *event, kernels_context *context, kernels_queue queue) {
  (void)context;
  (void)queue;
  (void)clock_gettime(CLOCK_MONOTONIC, &event->time);
  return STATUS_OK;
}

static status event_follow_cpu(kernels_context *context, kernels_queue queue, kernels_event *event) {
  (void)context;
  (void)queue;
  (void)event;
  return STATUS_OK;
}

static status event_wait_cpu(kernels_event *event) {
  (void)event;
  return STATUS_OK;
}

static status event_seconds_cpu(const kernels_event *start, const kernels_event *end, double *seconds) {
  *seconds = (double)(end->time.tv_sec - start->time.tv_sec) +
             1e-9 * (double)(end->time.tv_nsec - start->time.tv_nsec);
  return STATUS_OK;
}

/* Everything is done when an operation returns. */
static status done(const kernels_launch *launch) {
  return launch->edges == NULL ? STATUS_OK : event_record_cpu(launch->edges, launch->context, launch->queue);
}

static status apply_cpu(const kernels_launch *launch, const kernels_call *call) {
  CHECK(BY_PRECISION(apply_cpu, call));
  return done(launch);
}

static status flow_cpu(const kernels_launch *launch, const struct flow_call *call) {
  CHECK(BY_PRECISION(flow_cpu, call));
  return done(launch);
}

static status wave_cpu(const kernels_launch *launch, const struct kernels_wave *call) {
  CHECK(BY_PRECISION(wave_cpu, call));
  return done(launch);
}

static status plane_sums_cpu(const kernels_launch *launch, const void *f, const void *reference,
                             const kernels_weights *weights, kernels_plane_sums *sums) {
  return BY_PRECISION(plane_sums_cpu, f, reference, weights, sums);
}

static status minplus_cpu(const kernels_launch *launch, const kernels_minplus *product) {
  return BY_PRECISION(minplus_cpu, product);
}

static status minplus_loop_cpu(const kernels_launch *launch, const void *in, void *out, double *pairs) {
  return BY_PRECISION(minplus_loop_cpu, in, out, pairs);
}

static status minplus_plain_cpu(const kernels_launch *launch, int variant, const kernels_minplus *product) {
  return BY_PRECISION(minplus_plain_cpu, variant, product);
}

static const char *const minplus_names[MINPLUS_VARIANTS] = {
    [MINPLUS_NO_REUSE] = "no reuse",
    [MINPLUS_ROWS] = "rows in cache",
};

static status derivative_variant_cpu(const kernels_launch *launch, int variant, kernels_part part, axis along,
                                     const void *f, void *out) {
  (void)variant;
  if (part == PART_WHOLE) return apply_derivative(&kernels_cpu, launch, along, f, out);
  return BY_PRECISION(part_cpu, part, along, f, out);
}

static const char *const variant_names[] = {"production"};

static status stream_cpu(const kernels_launch *launch, const kernels_stream *stream) {
  return BY_PRECISION(stream_cpu, stream);
}

const kernels kernels_cpu = {
    .name = "cpu",
    .host_memory = 1,
    .probe = probe_cpu,
    .context_create = context_create_cpu,
    .context_destroy = context_destroy_cpu,
    .describe = describe_cpu,
    .device_identity = device_identity_cpu,
    .memory_allocate = memory_allocate_cpu,
    .memory_free = memory_free_cpu,
    .memory_available = memory_available_cpu,
    .memory_copy = memory_copy_cpu,
    .memory_copy_pieces = memory_copy_pieces_cpu,
    .queue_wait = queue_wait_cpu,
    .event_create = event_create_cpu,
    .event_destroy = event_destroy_cpu,
    .event_record = event_record_cpu,
    .event_follow = event_follow_cpu,
    .event_wait = event_wait_cpu,
    .event_seconds = event_seconds_cpu,
    .apply = apply_cpu,
    .flow = flow_cpu,
    .wave = wave_cpu,
    .plane_sums = plane_sums_cpu,
    .minplus = minplus_cpu,
    .stream = stream_cpu,
    .minplus_loop = minplus_loop_cpu,
    .variant_count = 1,
    .variant_names = variant_names,
    .derivative_variant = derivative_variant_cpu,
    .minplus_variant_count = MINPLUS_VARIANTS,
    .minplus_variant_names = minplus_names,
    .minplus_variant = minplus_plain_cpu,
};
