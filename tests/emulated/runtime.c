#include <cuda_runtime_api.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* A device that is the CPU, one for each process. Other processes can open its memory. Kernels are done at
 * once; copies between devices, and numbers that their stream writes, are late by up to half a millisecond.
 * As many multiprocessors as FDAPP_EMULATED_MULTIPROCESSORS says, else an H200's: how launches are cut
 * depends on them. With FDAPP_EMULATED_FAST memory is fast, which selects other tiles. */

cudaError_t cudaGetDeviceCount(int *count) {
  *count = 1;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device) {
  (void)device;
  *value = 9; /* compute capability */
  if (attribute == cudaDevAttrMemoryClockRate && getenv("FDAPP_EMULATED_FAST") != NULL) *value = 2000000000;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device) {
  (void)device;
  const char *multiprocessors = getenv("FDAPP_EMULATED_MULTIPROCESSORS");
  const char *shared = getenv("FDAPP_EMULATED_SHARED_KIB");
  const int process = (int)getpid();
  *properties = (struct cudaDeviceProp){
      .name = "the CPU in a GPU's place",
      .totalGlobalMem = (size_t)1 << 36,
      .sharedMemPerBlockOptin = (shared == NULL ? 227 : (size_t)atoi(shared)) << 10,
      .major = 9,
      .multiProcessorCount = multiprocessors == NULL ? 132 : atoi(multiprocessors),
  };
  if (getenv("FDAPP_EMULATED_SHARED") == NULL) memcpy(properties->uuid.bytes, &process, sizeof process);
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
  (void)device;
  return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int *version) {
  *version = 13000;
  return cudaSuccess;
}

cudaError_t cudaGetLastError(void) {
  return cudaSuccess;
}

const char *cudaGetErrorName(cudaError_t error) {
  return error == cudaSuccess ? "cudaSuccess" : "an error";
}

const char *cudaGetErrorString(cudaError_t error) {
  return error == cudaSuccess ? "no error" : "out of memory, or not emulated";
}

/* Blocks of device memory: files without a name, each mapped here; or other processes' blocks. */
enum { BLOCKS = 1024 };
typedef struct block {
  int process, file;
  size_t bytes;
  void *memory;
} block;
static block blocks[BLOCKS];
static block idle[64]; /* freed and closed to all, for those who want as much; the oldest one goes */

static block *block_at(const void *memory) {
  for (int i = 0; i < BLOCKS; i++) {
    if (blocks[i].memory == memory) return &blocks[i];
  }
  return NULL;
}

static cudaError_t block_map(block from, void **memory) {
  block *free_one = block_at(NULL);
  *memory = from.file < 0
                ? MAP_FAILED
                : mmap(NULL, from.bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, from.file, 0);
  if (*memory == MAP_FAILED || free_one == NULL) return cudaErrorMemoryAllocation;
  from.memory = *memory;
  *free_one = from;
  return cudaSuccess;
}

static cudaError_t block_unmap(void *memory) {
  block *block = memory == NULL ? NULL : block_at(memory);
  if (block == NULL) return cudaErrorNotSupported;
  (void)munmap(memory, block->bytes);
  (void)close(block->file);
  block->memory = NULL;
  return cudaSuccess;
}

/* Takes one of the idle blocks: making a block takes the system longer than most kernels take. */
static block *block_again(size_t bytes) {
  block *to = block_at(NULL);
  for (size_t i = 0; i < sizeof idle / sizeof idle[0]; i++) {
    if (idle[i].memory == NULL || idle[i].bytes != bytes || to == NULL) continue;
    if (mprotect(idle[i].memory, bytes, PROT_READ | PROT_WRITE) != 0) continue;
    *to = idle[i];
    idle[i].memory = NULL;
    return to;
  }
  return NULL;
}

cudaError_t cudaMalloc(void **memory, size_t bytes) {
  const block *again = block_again(bytes);
  if (again != NULL) {
    *memory = again->memory;
    return cudaSuccess;
  }
  const block new = {.process = (int)getpid(), .file = memfd_create("device", MFD_CLOEXEC), .bytes = bytes};
  if (new.file >= 0 && ftruncate(new.file, (off_t)bytes) != 0) return cudaErrorMemoryAllocation;
  return block_map(new, memory);
}

cudaError_t cudaFree(void *memory) {
  static size_t next;
  block *freed = memory == NULL ? NULL : block_at(memory);
  if (freed == NULL) return cudaErrorNotSupported;
  if (mprotect(memory, freed->bytes, PROT_NONE) != 0) return block_unmap(memory);
  block *to = &idle[next++ % (sizeof idle / sizeof idle[0])];
  if (to->memory != NULL) {
    (void)munmap(to->memory, to->bytes);
    (void)close(to->file);
  }
  *to = *freed;
  freed->memory = NULL;
  return cudaSuccess;
}

cudaError_t cudaHostAlloc(void **memory, size_t bytes, unsigned flags) {
  enum { ALIGNMENT = 256 };
  (void)flags;
  *memory = aligned_alloc(ALIGNMENT, (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
  return *memory == NULL ? cudaErrorMemoryAllocation : cudaSuccess;
}

cudaError_t cudaFreeHost(void *memory) {
  free(memory);
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *available, size_t *total) {
  const char *free_bytes = getenv("FDAPP_EMULATED_FREE");
  *total = (size_t)1 << 36;
  *available = free_bytes == NULL ? *total : strtoull(free_bytes, NULL, 10);
  return cudaSuccess;
}

/* Of a recording only kernels are kept. */
static cudaError_t not_recorded(cudaStream_t stream) {
  enum cudaStreamCaptureStatus recording;
  (void)cudaStreamIsCapturing(stream, &recording);
  return recording == cudaStreamCaptureStatusNone ? cudaSuccess : cudaErrorNotSupported;
}

/* What a late stream still has to do: to copy within and between devices, and to write numbers. */
enum { WORKS = 256 };
typedef struct work {
  void *to;
  const void *from; /* NULL: write `number` */
  size_t bytes;
  unsigned number;
} work;

struct cudaStream {
  int late;
  unsigned long given, done; /* works so far; work i is in queue[i % WORKS] */
  work queue[WORKS];
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  pthread_t worker;
};

static void work_do(const work *work) {
  if (work->from != NULL) {
    memcpy(work->to, work->from, work->bytes);
  } else {
    __atomic_store_n((unsigned *)work->to, work->number, __ATOMIC_RELEASE);
  }
}

/* The thread of a late stream: it does one work after the other, each after a rest of another length. */
static void *work_all(void *argument) {
  struct cudaStream *s = argument;
  unsigned random = (unsigned)getpid();
  pthread_mutex_lock(&s->mutex);
  while (1) {
    while (s->given == s->done) pthread_cond_wait(&s->changed, &s->mutex);
    const work next = s->queue[s->done % WORKS];
    pthread_mutex_unlock(&s->mutex);
    if (next.to == NULL) return NULL; /* the end */
    random = random * 1664525U + 1013904223U;
    (void)nanosleep(&(struct timespec){.tv_nsec = (long)(random >> 13)}, NULL); /* up to half a millisecond */
    work_do(&next);
    pthread_mutex_lock(&s->mutex);
    s->done++;
    pthread_cond_broadcast(&s->changed);
  }
}

static void work_wait(cudaStream_t stream, unsigned long until) {
  if (!stream->late) return;
  pthread_mutex_lock(&stream->mutex);
  while (stream->done < until) pthread_cond_wait(&stream->changed, &stream->mutex);
  pthread_mutex_unlock(&stream->mutex);
}

static void work_give(cudaStream_t stream, work work) {
  if (!stream->late) {
    work_do(&work);
    return;
  }
  work_wait(stream, stream->given < WORKS ? 0 : stream->given + 1 - WORKS);
  pthread_mutex_lock(&stream->mutex);
  stream->queue[stream->given++ % WORKS] = work;
  pthread_cond_broadcast(&stream->changed);
  pthread_mutex_unlock(&stream->mutex);
}

static int in_a_block(const void *memory) {
  for (int i = 0; i < BLOCKS; i++) {
    const char *first = blocks[i].memory;
    if (first != NULL && (const char *)memory >= first && (const char *)memory < first + blocks[i].bytes)
      return 1;
  }
  return 0;
}

/* The host may take its memory back, so copies from and to it are never late. */
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream) {
  const work copy = {.to = to, .from = from, .bytes = bytes};
  (void)kind;
  if (in_a_block(to) && in_a_block(from)) {
    work_give(stream, copy);
  } else {
    (void)cudaStreamSynchronize(stream);
    work_do(&copy);
  }
  return not_recorded(stream);
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                              size_t height, enum cudaMemcpyKind kind, cudaStream_t stream) {
  (void)kind;
  (void)cudaStreamSynchronize(stream);
  for (size_t i = 0; i < height; i++)
    memcpy((char *)to + i * to_pitch, (const char *)from + i * from_pitch, width);
  return not_recorded(stream);
}

cudaError_t cudaMemsetAsync(void *memory, int value, size_t bytes, cudaStream_t stream) {
  (void)cudaStreamSynchronize(stream);
  memset(memory, value, bytes);
  return not_recorded(stream);
}

/* Every second stream is late: of a context's two, the one that copies. */
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags) {
  static int late = 1;
  (void)flags;
  late = !late;
  *stream = calloc(1, sizeof **stream);
  if (*stream == NULL) return cudaErrorMemoryAllocation;
  (*stream)->late = late;
  if (!late) return cudaSuccess;
  (void)pthread_mutex_init(&(*stream)->mutex, NULL);
  (void)pthread_cond_init(&(*stream)->changed, NULL);
  return pthread_create(&(*stream)->worker, NULL, work_all, *stream) == 0 ? cudaSuccess
                                                                          : cudaErrorNotSupported;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  if (stream->late) {
    work_give(stream, (work){.to = NULL});
    (void)pthread_join(stream->worker, NULL);
  }
  free(stream);
  return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  if (stream != NULL) work_wait(stream, stream->given);
  return cudaSuccess;
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return cudaStreamSynchronize(stream);
}

/* A point in a stream: after so many of its works. */
struct cudaEvent {
  struct timespec at;
  cudaStream_t stream;
  unsigned long works;
};

cudaError_t cudaEventCreate(cudaEvent_t *event) {
  *event = calloc(1, sizeof **event);
  return *event == NULL ? cudaErrorMemoryAllocation : cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  free(event);
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  (void)clock_gettime(CLOCK_MONOTONIC, &event->at);
  event->stream = stream;
  event->works = stream->given;
  return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  if (event->stream != NULL) work_wait(event->stream, event->works);
  return cudaSuccess;
}

/* A late stream's work follows all that is done at once. */
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  (void)flags;
  return stream == event->stream ? cudaSuccess : cudaEventSynchronize(event);
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end) {
  const double seconds = (double)(end->at.tv_sec - start->at.tv_sec);
  *milliseconds = (float)(1e3 * seconds + 1e-6 * (double)(end->at.tv_nsec - start->at.tv_nsec));
  return cudaSuccess;
}

/* Kernels are done when they are launched, so what a stream waits for is there, or never comes. */
static int wait_value(cudaStream_t stream, unsigned long long address, unsigned value, unsigned flags) {
  (void)stream;
  (void)flags;
  return (int)(*(const unsigned *)(uintptr_t)address - value) < 0 ? cudaErrorNotReady : cudaSuccess;
}

static int write_value(cudaStream_t stream, unsigned long long address, unsigned value, unsigned flags) {
  (void)flags;
  work_give(stream, (work){.to = (void *)(uintptr_t)address, .number = value});
  return (int)not_recorded(stream);
}

cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **function, unsigned version,
                                             unsigned long long flags,
                                             enum cudaDriverEntryPointQueryResult *result) {
  int (*known)(cudaStream_t, unsigned long long, unsigned, unsigned) = NULL;
  (void)version;
  (void)flags;
  if (strcmp(symbol, "cuStreamWaitValue32") == 0) known = wait_value;
  if (strcmp(symbol, "cuStreamWriteValue32") == 0) known = write_value;
  *result = known != NULL ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  if (known == NULL) return cudaErrorNotSupported;
  memcpy(function, &known, sizeof known);
  return cudaSuccess;
}

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *handle, void *memory) {
  const block *block = block_at(memory);
  if (block == NULL) return cudaErrorNotSupported;
  memcpy(handle, block, sizeof *block);
  return cudaSuccess;
}

cudaError_t cudaIpcOpenMemHandle(void **memory, cudaIpcMemHandle_t handle, unsigned flags) {
  block theirs;
  char path[64];
  (void)flags;
  memcpy(&theirs, &handle, sizeof theirs);
  if (theirs.process == (int)getpid()) return cudaErrorNotSupported;
  (void)snprintf(path, sizeof path, "/proc/%d/fd/%d", theirs.process, theirs.file);
  theirs.file = open(path, O_RDWR | O_CLOEXEC);
  return block_map(theirs, memory);
}

cudaError_t cudaIpcCloseMemHandle(void *memory) {
  return block_unmap(memory);
}
