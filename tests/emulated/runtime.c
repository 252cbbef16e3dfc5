#include <cuda_runtime_api.h>

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* A device that is the CPU, one for each process. Other processes can open its memory. As many
 * multiprocessors as FDAPP_EMULATED_MULTIPROCESSORS says, else an H200's: how launches are cut depends on
 * them. */

cudaError_t cudaGetDeviceCount(int *count) {
  *count = 1;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device) {
  (void)attribute;
  (void)device;
  *value = 9; /* compute capability */
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
  *available = *total = (size_t)1 << 36;
  return cudaSuccess;
}

/* Of a recording only kernels are kept. */
static cudaError_t not_recorded(cudaStream_t stream) {
  enum cudaStreamCaptureStatus recording;
  (void)cudaStreamIsCapturing(stream, &recording);
  return recording == cudaStreamCaptureStatusNone ? cudaSuccess : cudaErrorNotSupported;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream) {
  (void)kind;
  memcpy(to, from, bytes);
  return not_recorded(stream);
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                              size_t height, enum cudaMemcpyKind kind, cudaStream_t stream) {
  (void)kind;
  for (size_t i = 0; i < height; i++)
    memcpy((char *)to + i * to_pitch, (const char *)from + i * from_pitch, width);
  return not_recorded(stream);
}

cudaError_t cudaMemsetAsync(void *memory, int value, size_t bytes, cudaStream_t stream) {
  memset(memory, value, bytes);
  return not_recorded(stream);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags) {
  (void)flags;
  *stream = malloc(1);
  return *stream == NULL ? cudaErrorMemoryAllocation : cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  free(stream);
  return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  (void)stream;
  return cudaSuccess;
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  (void)stream;
  return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  (void)stream;
  (void)event;
  (void)flags;
  return cudaSuccess;
}

struct cudaEvent {
  struct timespec at;
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
  (void)stream;
  (void)clock_gettime(CLOCK_MONOTONIC, &event->at);
  return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  (void)event;
  return cudaSuccess;
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
  __atomic_store_n((unsigned *)(uintptr_t)address, value, __ATOMIC_RELEASE);
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
