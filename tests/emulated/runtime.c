#include <cuda_runtime_api.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A device that is the CPU. As many multiprocessors as FDAPP_EMULATED_MULTIPROCESSORS says, else an H200's:
 * how launches are cut depends on them. */

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
  *properties = (struct cudaDeviceProp){
      .name = "the CPU in a GPU's place",
      .totalGlobalMem = (size_t)1 << 36,
      .sharedMemPerBlockOptin = (shared == NULL ? 227 : (size_t)atoi(shared)) << 10,
      .major = 9,
      .multiProcessorCount = multiprocessors == NULL ? 132 : atoi(multiprocessors),
  };
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

cudaError_t cudaMalloc(void **memory, size_t bytes) {
  enum { ALIGNMENT = 256 };
  *memory = aligned_alloc(ALIGNMENT, (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
  return *memory == NULL ? cudaErrorMemoryAllocation : cudaSuccess;
}

cudaError_t cudaFree(void *memory) {
  free(memory);
  return cudaSuccess;
}

cudaError_t cudaHostAlloc(void **memory, size_t bytes, unsigned flags) {
  (void)flags;
  return cudaMalloc(memory, bytes);
}

cudaError_t cudaFreeHost(void *memory) {
  return cudaFree(memory);
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

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *handle, void *memory) {
  (void)handle;
  (void)memory;
  return cudaErrorNotSupported;
}

cudaError_t cudaIpcOpenMemHandle(void **memory, cudaIpcMemHandle_t handle, unsigned flags) {
  (void)memory;
  (void)handle;
  (void)flags;
  return cudaErrorNotSupported;
}

cudaError_t cudaIpcCloseMemHandle(void *memory) {
  (void)memory;
  return cudaErrorNotSupported;
}
