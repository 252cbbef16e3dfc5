#ifndef FDAPP_CUDA_CONTEXT_H
#define FDAPP_CUDA_CONTEXT_H

#include <cuda_runtime_api.h>

#include "base/check.h"
#include "kernels.h"

/* The part of the CUDA backend that is plain C: device, queues, memory, events, and the data that every
 * launcher needs. Device code is in the .cu files, compiled once per precision, and is called through
 * launchers.h. */

/* Returns STATUS_DEVICE, with the runtime's message, if a runtime call failed. */
#define CHECK_CUDA(call)                                                                                     \
  do {                                                                                                       \
    const cudaError_t check_cuda_ = (call);                                                                  \
    if (check_cuda_ != cudaSuccess) return context_failure(check_cuda_, #call);                              \
  } while (0)

enum {
  CONTEXT_CAPABILITY = 8,      /* least major compute capability: asynchronous copies into shared memory */
  CONTEXT_SUMS = 1024,         /* planes whose sums fit into the pinned buffer */
  CONTEXT_PACE_WORDS = 1024,   /* counters per queue by which a kernel keeps its blocks in step */
  CONTEXT_RESERVE = 256 << 20, /* bytes of device memory left for code, graphs, MPI and ends of allocations */
  CONTEXT_DEVICES = 64,        /* most devices of a node */
  CONTEXT_BLOCK = 2 << 20      /* bytes: smaller blocks share an allocation, which is exported as a whole */
};
#define CONTEXT_FAST_MEMORY 4e12 /* nominal bytes per second: between an H100's 3.4 and an H200's 4.9 */

/* The words of a rank's meetings (kernels_meeting), in cache lines of their own: the number of its meetings,
 * whether it has waited in vain, the numbers that its neighbours have told at meetings, and those of the
 * exchanges that have come from them. Behind each of the latter two, the number for which that neighbour
 * waits itself. */
enum {
  MEETING_COUNT,
  MEETING_LATE,
  MEETING_TOLD,
  MEETING_CAME = MEETING_TOLD + SIDE_COUNT,
  MEETING_WORDS = MEETING_CAME + SIDE_COUNT,
  MEETING_APART = 32, /* words from one to the next */
  MEETING_WAITS = 1
};

/* Written by a running kernel for the host, in pinned memory: the number of the latest signal, and the
 * device's clock in nanoseconds when the kernel began and when it signalled. */
typedef struct context_signal {
  volatile unsigned number;
  volatile unsigned long long began, given;
} context_signal;

/* Written by a kernel that has waited for a neighbour in vain, in pinned memory: the neighbour's rank
 * plus one, and for how many seconds it has waited. stuck: 1 if its blocks have waited for one another. */
typedef struct context_late {
  volatile unsigned rank, seconds, stuck;
} context_late;

/* A point in a stream, or, if `signal` is not NULL, the signal `number` of a kernel in `stream`. */
struct kernels_event {
  cudaEvent_t event;
  const context_signal *signal;
  unsigned number;
  cudaStream_t stream;
};

struct kernels_context {
  int device, device_count; /* the device's number in this process; number of usable devices */
  int identity;             /* equal in all processes that have opened this device */
  char uuid[41];            /* "GPU-" and 36 characters */
  int multiprocessors;
  int fast_memory;     /* 1: nominally the device's memory moves CONTEXT_FAST_MEMORY or more */
  size_t shared_limit; /* most bytes of shared memory per block */
  int synchronise;     /* FDAPP_CUDA_SYNC=1: wait after every launch, so that a fault names its kernel */
  cudaStream_t stream[QUEUE_COUNT];
  kernels_plane_sums *sums;        /* pinned, CONTEXT_SUMS of them; the device writes them directly */
  unsigned *pace[QUEUE_COUNT];     /* device, CONTEXT_PACE_WORDS each, zero between kernels */
  context_signal *signals;         /* pinned, one for each queue */
  unsigned signalled[QUEUE_COUNT]; /* number of the latest signal handed out */
  context_late *late;              /* pinned; all zero as long as no neighbour is late */
  void *exchange;                  /* device: what blocks of a kernel hand to one another (pair.cu) */
  size_t exchange_bytes;
  char description[512];
  void *kept; /* device: what a launch keeps for its next kernel (wave_faces.cuh) */
  size_t kept_bytes;
};

/* Records "CALL: the runtime's message", clears the runtime's error and returns STATUS_DEVICE. */
status context_failure(cudaError_t error, const char *call);

/* Must be called after each launch. A failed launch is reported as "kernel NAME: ...", and a neighbour that
 * an earlier kernel has waited for in vain by its rank. */
status context_launched(const kernels_context *context, kernels_queue queue, const char *name);

/* Makes room for `bytes` in `exchange`, or in `kept`. If there is less, nothing that is enqueued or recorded
 * may use it. */
status context_exchange(kernels_context *context, size_t bytes);
status context_kept(kernels_context *context, size_t bytes);

/* Makes the context's device current in the calling thread. */
status context_enter(const kernels_context *context);

/* Slots of the backend's table. */
status context_probe(void);
status context_create(const kernels_setup *setup, kernels_context **result);
void context_destroy(kernels_context *context);
const char *context_describe(kernels_context *context);
void context_device_identity(kernels_context *context, int *identity, int *count);
const char *context_device_uuid(kernels_context *context);
status context_memory_allocate(kernels_context *context, kernels_memory kind, size_t bytes, void **memory);
void context_memory_free(kernels_context *context, kernels_memory kind, void *memory);
status context_memory_available(kernels_context *context, size_t *bytes);
status context_memory_export(kernels_context *context, void *memory,
                             unsigned char handle[KERNELS_HANDLE_BYTES]);
status context_memory_import(kernels_context *context, const unsigned char handle[KERNELS_HANDLE_BYTES],
                             void **memory);
void context_memory_release(kernels_context *context, void *memory);
status context_memory_copy(kernels_context *context, kernels_queue queue, void *to, const void *from,
                           size_t bytes);
status context_memory_copy_pieces(kernels_context *context, kernels_queue queue,
                                  const kernels_pieces *pieces);
status context_queue_wait(kernels_context *context, kernels_queue queue);
status context_event_create(kernels_context *context, kernels_event **result);
void context_event_destroy(kernels_event *event);
status context_event_record(kernels_event *event, kernels_context *context, kernels_queue queue);
status context_event_follow(kernels_context *context, kernels_queue queue, kernels_event *event);
status context_event_wait(kernels_event *event);
/* Makes `event` the queue's next signal, which a kernel must give. Returns the signal's number. */
unsigned context_event_signal(kernels_event *event, kernels_context *context, kernels_queue queue);
status context_pass(kernels_context *context, kernels_queue queue, const kernels_meeting *meeting,
                    kernels_side side, unsigned number);
status context_event_seconds(const kernels_event *start, const kernels_event *end, double *seconds);
status context_graph_begin(kernels_context *context);
status context_graph_end(kernels_context *context, kernels_graph **result);
status context_graph_launch(kernels_context *context, kernels_graph *graph);
void context_graph_destroy(kernels_graph *graph);
void context_range_push(const char *name);
void context_range_pop(void);

#endif
