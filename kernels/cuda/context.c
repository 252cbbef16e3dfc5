#include "context.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launchers.h"

status context_failure(cudaError_t error, const char *call) {
  (void)cudaGetLastError();
  const status code = error == cudaErrorMemoryAllocation ? STATUS_MEMORY : STATUS_DEVICE;
  return status_fail(code, "CUDA: %s: %s (%s)", call, cudaGetErrorString(error), cudaGetErrorName(error));
}

status context_enter(const kernels_context *context) {
  CHECK_CUDA(cudaSetDevice(context->device));
  return STATUS_OK;
}

/* The neighbour's planes are not there, so nothing computed since is right. Said once, and again if another
 * kernel waits: a failed proof of a transport is no error of later work. */
static status refuse_late(const kernels_context *context) {
  context_late *late = context->late;
  const unsigned rank = late->rank;
  if (rank != 0) {
    late->rank = 0;
    return status_fail(STATUS_LATE, "halos: rank %u sent no halo planes for %u seconds", rank - 1,
                       late->seconds);
  }
  if (late->stuck == 0) return STATUS_OK;
  return status_fail(STATUS_DEVICE,
                     "a kernel's blocks have waited for one another in vain. compute.pairs = no "
                     "computes without such waits");
}

status context_launched(const kernels_context *context, kernels_queue queue, const char *name) {
  cudaError_t error = cudaGetLastError();
  enum cudaStreamCaptureStatus recording = cudaStreamCaptureStatusNone;
  if (context->synchronise) (void)cudaStreamIsCapturing(context->stream[queue], &recording);
  const int wait = context->synchronise && recording == cudaStreamCaptureStatusNone;
  if (error == cudaSuccess && wait) error = cudaStreamSynchronize(context->stream[queue]);
  return error == cudaSuccess ? refuse_late(context) : context_failure(error, name);
}

static int context_no_device(const char *why) {
  (void)status_fail(STATUS_DEVICE, "no CUDA device can be used: %s", why);
  return 0;
}

/* Returns the number of usable devices, and their runtime numbers; devices that are too old are skipped.
 * Returns 0, with the reason recorded, if there are none. */
static int context_devices(int devices[CONTEXT_DEVICES]) {
  int count = 0;
  int driver = 0;
  int major = 0;
  int usable = 0;
  cudaError_t error = cudaGetDeviceCount(&count);
  for (int device = 0; device < count && usable < CONTEXT_DEVICES && error == cudaSuccess; device++) {
    error = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    if (major >= CONTEXT_CAPABILITY) devices[usable++] = device;
  }
  if (error != cudaSuccess) {
    (void)cudaGetLastError();
    const int missing = cudaDriverGetVersion(&driver) == cudaSuccess && driver == 0;
    return context_no_device(missing ? "there is no NVIDIA driver here" : cudaGetErrorString(error));
  }
  if (count == 0) return context_no_device("there is none");
  if (usable > 0) return usable;
  char why[128];
  (void)snprintf(why, sizeof why, "the last of %d has compute capability %d.x, and %d.0 is needed", count,
                 major, CONTEXT_CAPABILITY);
  return context_no_device(why);
}

status context_probe(void) {
  int devices[CONTEXT_DEVICES];
  return context_devices(devices) > 0 ? STATUS_OK : STATUS_DEVICE;
}

static int context_sync_wanted(void) {
  const char *value = getenv("FDAPP_CUDA_SYNC");
  return value != NULL && strcmp(value, "1") == 0;
}

/* A hash (FNV-1a) of the device's UUID, because processes may number a node's devices differently, or see one
 * each. */
static int context_identity(const struct cudaDeviceProp *properties) {
  uint32_t hash = 2166136261U;
  for (size_t i = 0; i < sizeof properties->uuid.bytes; i++) {
    hash = (hash ^ (unsigned char)properties->uuid.bytes[i]) * 16777619U;
  }
  return (int)(hash >> 1);
}

/* The UUID as nvidia-smi and NVML write it: GPU-01234567-89ab-cdef-0123-456789abcdef. */
static void context_write_uuid(const struct cudaDeviceProp *properties, char text[41]) {
  size_t used = (size_t)snprintf(text, 41, "GPU");
  for (size_t i = 0; i < sizeof properties->uuid.bytes; i++) {
    const char *dash = i == 0 || i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "";
    used +=
        (size_t)snprintf(text + used, 41 - used, "%s%02x", dash, (unsigned char)properties->uuid.bytes[i]);
  }
}

/* Returns 1 if the device's memory is fast; 0 also if the runtime does not say. */
static int context_memory_is_fast(int device) {
  int kilohertz = 0, bits = 0;
  if (cudaDeviceGetAttribute(&kilohertz, cudaDevAttrMemoryClockRate, device) != cudaSuccess ||
      cudaDeviceGetAttribute(&bits, cudaDevAttrGlobalMemoryBusWidth, device) != cudaSuccess) {
    (void)cudaGetLastError();
    return 0;
  }
  return 2e3 * kilohertz * bits / 8 >= CONTEXT_FAST_MEMORY; /* two transfers a cycle */
}

/* Opens the device, reads its properties, and checks that this build has code for it. */
static status context_open_device(const kernels_setup *setup, kernels_context *context) {
  int devices[CONTEXT_DEVICES];
  const int usable = context_devices(devices);
  if (usable == 0) return STATUS_DEVICE;
  context->device_count = usable;
  context->device = devices[setup->device % usable];
  CHECK(context_enter(context));
  struct cudaDeviceProp properties;
  CHECK_CUDA(cudaGetDeviceProperties(&properties, context->device));
  context->multiprocessors = properties.multiProcessorCount;
  context->shared_limit = properties.sharedMemPerBlockOptin;
  context->fast_memory = context_memory_is_fast(context->device);
  context->identity = context_identity(&properties);
  context_write_uuid(&properties, context->uuid);
  (void)snprintf(context->description, sizeof context->description, "%s, device %d of %d, %.0f GiB",
                 properties.name, context->device, context->device_count,
                 (double)properties.totalGlobalMem / (double)(1 << 30));
  const cudaError_t error = vector_image_float();
  if (error == cudaSuccess) return STATUS_OK;
  (void)cudaGetLastError();
  return status_fail(STATUS_DEVICE,
                     "this build has no code for %s (compute capability %d.%d): %s; configure with "
                     "-DCMAKE_CUDA_ARCHITECTURES=%d%d",
                     properties.name, properties.major, properties.minor, cudaGetErrorString(error),
                     properties.major, properties.minor);
}

/* Creates the queues and everything that would otherwise be allocated while the program runs. */
static status context_open_queues(kernels_context *context) {
  for (int q = 0; q < QUEUE_COUNT; q++) {
    CHECK_CUDA(cudaStreamCreateWithFlags(&context->stream[q], cudaStreamNonBlocking));
    const size_t bytes = CONTEXT_PACE_WORDS * sizeof(unsigned);
    void *words = NULL;
    CHECK(context_memory_allocate(context, MEMORY_DEVICE, bytes, &words));
    context->pace[q] = words;
  }
  void *sums = NULL;
  CHECK(context_memory_allocate(context, MEMORY_STAGING, CONTEXT_SUMS * sizeof *context->sums, &sums));
  context->sums = sums;
  void *signals = NULL;
  CHECK(context_memory_allocate(context, MEMORY_STAGING, QUEUE_COUNT * sizeof *context->signals, &signals));
  context->signals = signals;
  void *late = NULL;
  CHECK(context_memory_allocate(context, MEMORY_STAGING, sizeof *context->late, &late));
  context->late = late;
  return STATUS_OK;
}

status context_create(const kernels_setup *setup, kernels_context **result) {
  kernels_context *context = calloc(1, sizeof *context);
  if (context == NULL) return status_fail(STATUS_MEMORY, "no memory for a CUDA context's description");
  context->synchronise = context_sync_wanted();
  status opened = context_open_device(setup, context);
  if (opened == STATUS_OK) opened = context_open_queues(context);
  if (opened != STATUS_OK) {
    context_destroy(context);
    return opened;
  }
  *result = context;
  return STATUS_OK;
}

void context_destroy(kernels_context *context) {
  if (context == NULL) return;
  (void)cudaSetDevice(context->device);
  for (int q = 0; q < QUEUE_COUNT; q++) {
    if (context->stream[q] != NULL) {
      (void)cudaStreamSynchronize(context->stream[q]);
      (void)cudaStreamDestroy(context->stream[q]);
    }
    context_memory_free(context, MEMORY_DEVICE, context->pace[q]);
  }
  context_memory_free(context, MEMORY_STAGING, context->sums);
  context_memory_free(context, MEMORY_STAGING, context->signals);
  context_memory_free(context, MEMORY_STAGING, context->late);
  context_memory_free(context, MEMORY_DEVICE, context->exchange);
  context_memory_free(context, MEMORY_DEVICE, context->kept);
  (void)cudaGetLastError();
  free(context);
}

const char *context_describe(kernels_context *context) {
  return context->description;
}

void context_device_identity(kernels_context *context, int *identity, int *count) {
  *identity = context->identity;
  *count = context->device_count;
}

const char *context_device_uuid(kernels_context *context) {
  return context->uuid;
}

status context_memory_allocate(kernels_context *context, kernels_memory kind, size_t bytes, void **memory) {
  CHECK(context_enter(context));
  if (kind == MEMORY_DEVICE) bytes = (bytes + CONTEXT_BLOCK - 1) / CONTEXT_BLOCK * CONTEXT_BLOCK;
  const cudaError_t error =
      kind == MEMORY_DEVICE ? cudaMalloc(memory, bytes) : cudaHostAlloc(memory, bytes, cudaHostAllocDefault);
  if (error != cudaSuccess) {
    size_t available = 0;
    size_t total = 0;
    (void)cudaGetLastError();
    (void)cudaMemGetInfo(&available, &total);
    return status_fail(STATUS_MEMORY, "%zu bytes of %s could not be had (%zu free on the device): %s", bytes,
                       kind == MEMORY_DEVICE ? "device memory" : "pinned host memory", available,
                       cudaGetErrorString(error));
  }
  if (kind == MEMORY_STAGING) {
    memset(*memory, 0, bytes);
    return STATUS_OK;
  }
  CHECK_CUDA(cudaMemsetAsync(*memory, 0, bytes, context->stream[QUEUE_MAIN]));
  CHECK_CUDA(cudaStreamSynchronize(context->stream[QUEUE_MAIN]));
  return STATUS_OK;
}

void context_memory_free(kernels_context *context, kernels_memory kind, void *memory) {
  if (memory == NULL || cudaSetDevice(context->device) != cudaSuccess) return;
  (void)(kind == MEMORY_DEVICE ? cudaFree(memory) : cudaFreeHost(memory));
}

static status make_room(kernels_context *context, size_t bytes, void **memory, size_t *room) {
  if (bytes <= *room) return STATUS_OK;
  context_memory_free(context, MEMORY_DEVICE, *memory);
  *memory = NULL;
  *room = 0;
  CHECK(context_memory_allocate(context, MEMORY_DEVICE, bytes, memory));
  *room = bytes;
  return STATUS_OK;
}

status context_exchange(kernels_context *context, size_t bytes) {
  return make_room(context, bytes, &context->exchange, &context->exchange_bytes);
}

status context_kept(kernels_context *context, size_t bytes) {
  return make_room(context, bytes, &context->kept, &context->kept_bytes);
}

status context_memory_available(kernels_context *context, size_t *bytes) {
  CHECK(context_enter(context));
  size_t total = 0;
  CHECK_CUDA(cudaMemGetInfo(bytes, &total));
  *bytes = *bytes > CONTEXT_RESERVE ? *bytes - CONTEXT_RESERVE : 0;
  return STATUS_OK;
}

status context_memory_copy(kernels_context *context, kernels_queue queue, void *to, const void *from,
                           size_t bytes) {
  if (bytes == 0) return STATUS_OK;
  CHECK(context_enter(context));
  CHECK_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, context->stream[queue]));
  return STATUS_OK;
}

status context_memory_copy_pieces(kernels_context *context, kernels_queue queue,
                                  const kernels_pieces *pieces) {
  if (pieces->bytes == 0 || pieces->count == 0) return STATUS_OK;
  CHECK(context_enter(context));
  CHECK_CUDA(cudaMemcpy2DAsync(pieces->to, pieces->to_pitch, pieces->from, pieces->from_pitch, pieces->bytes,
                               pieces->count, cudaMemcpyDefault, context->stream[queue]));
  return STATUS_OK;
}

status context_queue_wait(kernels_context *context, kernels_queue queue) {
  CHECK(context_enter(context));
  CHECK_CUDA(cudaStreamSynchronize(context->stream[queue]));
  return refuse_late(context);
}

status context_event_create(kernels_context *context, kernels_event **result) {
  CHECK(context_enter(context));
  kernels_event *event = calloc(1, sizeof *event);
  if (event == NULL) return status_fail(STATUS_MEMORY, "no memory for an event");
  const cudaError_t error = cudaEventCreate(&event->event);
  if (error != cudaSuccess) {
    free(event);
    return context_failure(error, "cudaEventCreate");
  }
  *result = event;
  return STATUS_OK;
}

void context_event_destroy(kernels_event *event) {
  if (event == NULL) return;
  (void)cudaEventDestroy(event->event);
  free(event);
}

status context_event_record(kernels_event *event, kernels_context *context, kernels_queue queue) {
  CHECK(context_enter(context));
  event->signal = NULL;
  CHECK_CUDA(cudaEventRecord(event->event, context->stream[queue]));
  return STATUS_OK;
}

unsigned context_event_signal(kernels_event *event, kernels_context *context, kernels_queue queue) {
  event->signal = &context->signals[queue];
  event->number = ++context->signalled[queue];
  event->stream = context->stream[queue];
  return event->number;
}

/* Returns 1 if the signal has come. The acquire orders reads after it behind the kernel's writes before
 * it. */
static int signal_given(const kernels_event *event) {
  return (int)(__atomic_load_n(&event->signal->number, __ATOMIC_ACQUIRE) - event->number) >= 0;
}

/* Polls the signal. A kernel that failed never gives it, so the stream is queried now and then, too: it
 * reports faults. */
static status signal_wait(const kernels_event *event) {
  enum { POLLS = 4096 };
  for (int polls = 0; !signal_given(event); polls++) {
    if (polls < POLLS) continue;
    const cudaError_t error = cudaStreamQuery(event->stream);
    const int given = signal_given(event);
    if (error == cudaSuccess && !given)
      return status_fail(STATUS_DEVICE, "CUDA: a kernel ended without its signal");
    if (error != cudaSuccess && error != cudaErrorNotReady)
      return context_failure(error, "waiting for a signal");
    polls = 0;
  }
  return STATUS_OK;
}

status context_event_wait(kernels_event *event) {
  if (event->signal != NULL) return signal_wait(event);
  CHECK_CUDA(cudaEventSynchronize(event->event));
  return STATUS_OK;
}

/* A call of the driver that waits for a number in memory on a stream, or writes one. */
typedef int number_call(cudaStream_t stream, unsigned long long address, unsigned number, unsigned flags);

/* [out] call: NULL if the driver does not have it. */
static status driver_find(const char *name, number_call **call) {
  void *found = NULL;
  enum cudaDriverEntryPointQueryResult how = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
  CHECK_CUDA(cudaGetDriverEntryPointByVersion(name, &found, 12000, cudaEnableDefault, &how));
#else
  CHECK_CUDA(cudaGetDriverEntryPoint(name, &found, cudaEnableDefault, &how));
#endif
  memcpy(call, &found, sizeof found);
  return STATUS_OK;
}

/* A kernel's signal is a number in memory, which the queue itself can wait for if the driver has that call;
 * otherwise the host waits. */
static status follow_signal(cudaStream_t stream, const kernels_event *event) {
  enum { AT_LEAST = 0 }; /* CU_STREAM_WAIT_VALUE_GEQ, cyclic */
  static number_call *wait_value = NULL;
  if (wait_value == NULL) CHECK(driver_find("cuStreamWaitValue32", &wait_value));
  const unsigned long long number = (unsigned long long)(uintptr_t)&event->signal->number;
  const int waits = wait_value != NULL && wait_value(stream, number, event->number, AT_LEAST) == 0;
  return waits ? STATUS_OK : signal_wait(event);
}

status context_pass(kernels_context *context, kernels_queue queue, const kernels_meeting *meeting,
                    kernels_side side, unsigned number) {
  enum { FENCED = 0 }; /* CU_STREAM_WRITE_VALUE_DEFAULT: after all that was written before */
  static number_call *write_value = NULL;
  const int there = MEETING_CAME + SIDE_COUNT - 1 - (int)side; /* the rank below is told from above */
  if (meeting->theirs[side] == NULL) return STATUS_OK;
  CHECK(context_enter(context));
  if (write_value == NULL) CHECK(driver_find("cuStreamWriteValue32", &write_value));
  const unsigned *word = (const unsigned *)meeting->theirs[side] + (ptrdiff_t)there * MEETING_APART;
  const int error = write_value == NULL ? (int)cudaErrorNotSupported
                                        : write_value(context->stream[queue],
                                                      (unsigned long long)(uintptr_t)word, number, FENCED);
  return error == 0 ? STATUS_OK : context_failure((cudaError_t)error, "cuStreamWriteValue32");
}

status context_event_follow(kernels_context *context, kernels_queue queue, kernels_event *event) {
  CHECK(context_enter(context));
  if (event->signal != NULL) return follow_signal(context->stream[queue], event);
  CHECK_CUDA(cudaStreamWaitEvent(context->stream[queue], event->event, 0));
  return STATUS_OK;
}

status context_event_seconds(const kernels_event *start, const kernels_event *end, double *seconds) {
  float milliseconds = 0.0F;
  if (end->signal != NULL) {
    *seconds = 1e-9 * (double)(end->signal->given - end->signal->began);
    return STATUS_OK;
  }
  CHECK_CUDA(cudaEventElapsedTime(&milliseconds, start->event, end->event));
  *seconds = 1e-3 * (double)milliseconds;
  return STATUS_OK;
}
