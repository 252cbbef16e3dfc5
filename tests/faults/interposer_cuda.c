/* The CUDA runtime's part of the interposer. As in the runtime itself, what a call reports stays the thread's
 * last error until it is asked for: that is how a launch that failed is noticed. */
#include <cuda_runtime_api.h>
#include <string.h>

#include "interposer.h"

static __thread cudaError_t pending = cudaSuccess;

/* A function that reports `failure` and does nothing but, where it ends something, that. */
#define INTERPOSE_CUDA(name, parameters, arguments, failure)                                                 \
  cudaError_t name parameters {                                                                              \
    static __typeof__(&name) real = NULL;                                                                    \
    if (real == NULL) real = REAL(name);                                                                     \
    if (strike(#name, SITE, from_program(SITE)) != FAIL) return real arguments;                              \
    return pending = (failure);                                                                              \
  }

INTERPOSE_CUDA(cudaGetDeviceCount, (int *count), (count), cudaErrorUnknown)
INTERPOSE_CUDA(cudaSetDevice, (int device), (device), cudaErrorUnknown)
INTERPOSE_CUDA(cudaDriverGetVersion, (int *version), (version), cudaErrorUnknown)
INTERPOSE_CUDA(cudaDeviceGetAttribute, (int *value, enum cudaDeviceAttr attribute, int device),
               (value, attribute, device), cudaErrorUnknown)
INTERPOSE_CUDA(cudaGetDeviceProperties, (struct cudaDeviceProp * properties, int device),
               (properties, device), cudaErrorUnknown)
INTERPOSE_CUDA(cudaFuncGetAttributes, (struct cudaFuncAttributes * attributes, const void *kernel),
               (attributes, kernel), cudaErrorInvalidDeviceFunction)
INTERPOSE_CUDA(cudaFuncSetAttribute, (const void *kernel, enum cudaFuncAttribute attribute, int value),
               (kernel, attribute, value), cudaErrorInvalidValue)
INTERPOSE_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
               (int *blocks, const void *kernel, int threads, size_t shared, unsigned flags),
               (blocks, kernel, threads, shared, flags), cudaErrorUnknown)

/* Memory */
static void flip_device(char *byte) {
  char value = 0;
  (void)cudaDeviceSynchronize();
  (void)cudaMemcpy(&value, byte, 1, cudaMemcpyDeviceToHost);
  value ^= 1;
  (void)cudaMemcpy(byte, &value, 1, cudaMemcpyHostToDevice);
}
cudaError_t cudaMalloc(void **memory, size_t size) {
  static __typeof__(&cudaMalloc) real = NULL;
  if (real == NULL) real = REAL(cudaMalloc);
  if (strike("cudaMalloc", SITE, from_program(SITE)) == FAIL) return pending = cudaErrorMemoryAllocation;
  const cudaError_t result = real(memory, size);
  if (result == cudaSuccess && from_program(SITE)) note_array(*memory, size, flip_device);
  return result;
}
INTERPOSE_CUDA(cudaHostAlloc, (void **memory, size_t size, unsigned flags), (memory, size, flags),
               cudaErrorMemoryAllocation)
INTERPOSE_CUDA(cudaFree, (void *memory), (memory), (real(memory), cudaErrorUnknown))
INTERPOSE_CUDA(cudaFreeHost, (void *memory), (memory), (real(memory), cudaErrorUnknown))
INTERPOSE_CUDA(cudaMemGetInfo, (size_t * available, size_t *total), (available, total), cudaErrorUnknown)
INTERPOSE_CUDA(cudaMemsetAsync, (void *memory, int value, size_t size, cudaStream_t stream),
               (memory, value, size, stream), cudaErrorUnknown)
INTERPOSE_CUDA(cudaMemcpyAsync,
               (void *to, const void *from, size_t size, enum cudaMemcpyKind kind, cudaStream_t stream),
               (to, from, size, kind, stream), cudaErrorUnknown)
INTERPOSE_CUDA(cudaMemcpy2DAsync,
               (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                enum cudaMemcpyKind kind, cudaStream_t stream),
               (to, to_pitch, from, from_pitch, width, height, kind, stream), cudaErrorUnknown)

/* Memory of other processes */
INTERPOSE_CUDA(cudaIpcGetMemHandle, (cudaIpcMemHandle_t * handle, void *memory), (handle, memory),
               cudaErrorUnknown)
INTERPOSE_CUDA(cudaIpcOpenMemHandle, (void **memory, cudaIpcMemHandle_t handle, unsigned flags),
               (memory, handle, flags), cudaErrorMapBufferObjectFailed)
INTERPOSE_CUDA(cudaIpcCloseMemHandle, (void *memory), (memory), (real(memory), cudaErrorUnknown))

/* Streams and events */
INTERPOSE_CUDA(cudaStreamCreateWithFlags, (cudaStream_t * stream, unsigned flags), (stream, flags),
               cudaErrorMemoryAllocation)
INTERPOSE_CUDA(cudaStreamQuery, (cudaStream_t stream), (stream), cudaErrorLaunchFailure)
INTERPOSE_CUDA(cudaStreamDestroy, (cudaStream_t stream), (stream), (real(stream), cudaErrorUnknown))
INTERPOSE_CUDA(cudaStreamSynchronize, (cudaStream_t stream), (stream), cudaErrorUnknown)
INTERPOSE_CUDA(cudaStreamWaitEvent, (cudaStream_t stream, cudaEvent_t event, unsigned flags),
               (stream, event, flags), cudaErrorUnknown)
INTERPOSE_CUDA(cudaEventCreate, (cudaEvent_t * event), (event), cudaErrorMemoryAllocation)
INTERPOSE_CUDA(cudaEventDestroy, (cudaEvent_t event), (event), (real(event), cudaErrorUnknown))
INTERPOSE_CUDA(cudaEventRecord, (cudaEvent_t event, cudaStream_t stream), (event, stream), cudaErrorUnknown)
INTERPOSE_CUDA(cudaEventSynchronize, (cudaEvent_t event), (event), cudaErrorUnknown)
INTERPOSE_CUDA(cudaEventElapsedTime, (float *milliseconds, cudaEvent_t start, cudaEvent_t end),
               (milliseconds, start, end), cudaErrorUnknown)

/* Recorded work */
INTERPOSE_CUDA(cudaStreamIsCapturing, (cudaStream_t stream, enum cudaStreamCaptureStatus *state),
               (stream, state), cudaErrorUnknown)
INTERPOSE_CUDA(cudaStreamBeginCapture, (cudaStream_t stream, enum cudaStreamCaptureMode mode), (stream, mode),
               cudaErrorUnknown)
INTERPOSE_CUDA(cudaStreamEndCapture, (cudaStream_t stream, cudaGraph_t *graph), (stream, graph),
               (real(stream, graph), cudaErrorUnknown))
INTERPOSE_CUDA(cudaGraphInstantiateWithFlags,
               (cudaGraphExec_t * executable, cudaGraph_t graph, unsigned long long flags),
               (executable, graph, flags), cudaErrorMemoryAllocation)
INTERPOSE_CUDA(cudaGraphDestroy, (cudaGraph_t graph), (graph), (real(graph), cudaErrorUnknown))
INTERPOSE_CUDA(cudaGraphExecDestroy, (cudaGraphExec_t executable), (executable),
               (real(executable), cudaErrorUnknown))
INTERPOSE_CUDA(cudaGraphLaunch, (cudaGraphExec_t executable, cudaStream_t stream), (executable, stream),
               cudaErrorLaunchFailure)

/* Numbers that a stream writes, or waits for. The program asks the runtime for these calls of the driver, so
 * it is handed others in their place. */
typedef int number_call(cudaStream_t stream, unsigned long long address, unsigned number, unsigned flags);
static number_call *real_write_value = NULL, *real_wait_value = NULL;
enum { UNKNOWN = 999 }; /* CUDA_ERROR_UNKNOWN */

static int write_value(cudaStream_t stream, unsigned long long address, unsigned number, unsigned flags) {
  if (strike("cuStreamWriteValue32", SITE, from_program(SITE)) == FAIL) return UNKNOWN;
  return real_write_value(stream, address, number, flags);
}
static int wait_value(cudaStream_t stream, unsigned long long address, unsigned number, unsigned flags) {
  if (strike("cuStreamWaitValue32", SITE, from_program(SITE)) == FAIL) return UNKNOWN;
  return real_wait_value(stream, address, number, flags);
}

/* Puts the call above in the place of a driver's. */
static void replace_one(number_call **real, number_call *own, void **function) {
  memcpy(real, function, sizeof *function);
  memcpy(function, &own, sizeof own);
}
static void replace(const char *name, void **function) {
  if (*function == NULL) return;
  if (strcmp(name, "cuStreamWriteValue32") == 0) replace_one(&real_write_value, write_value, function);
  if (strcmp(name, "cuStreamWaitValue32") == 0) replace_one(&real_wait_value, wait_value, function);
}

#if CUDART_VERSION >= 12050
cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned version,
                                             unsigned long long flags,
                                             enum cudaDriverEntryPointQueryResult *how) {
  static __typeof__(&cudaGetDriverEntryPointByVersion) real = NULL;
  if (real == NULL) real = REAL(cudaGetDriverEntryPointByVersion);
  if (strike("cudaGetDriverEntryPointByVersion", SITE, from_program(SITE)) == FAIL)
    return pending = cudaErrorUnknown;
  const cudaError_t result = real(name, function, version, flags, how);
  if (result == cudaSuccess && from_program(SITE)) replace(name, function);
  return result;
}
#else
cudaError_t cudaGetDriverEntryPoint(const char *name, void **function, unsigned long long flags,
                                    enum cudaDriverEntryPointQueryResult *how) {
  static __typeof__(&cudaGetDriverEntryPoint) real = NULL;
  if (real == NULL) real = REAL(cudaGetDriverEntryPoint);
  if (strike("cudaGetDriverEntryPoint", SITE, from_program(SITE)) == FAIL) return pending = cudaErrorUnknown;
  const cudaError_t result = real(name, function, flags, how);
  if (result == cudaSuccess && from_program(SITE)) replace(name, function);
  return result;
}
#endif

/* Launches: `kernel<<<...>>>` calls the one or, from CUDA 13 on, the other; the third launches blocks that
 * wait for one another. */
INTERPOSE_CUDA(cudaLaunchKernel,
               (const void *kernel, dim3 blocks, dim3 threads, void **arguments, size_t shared,
                cudaStream_t stream),
               (kernel, blocks, threads, arguments, shared, stream), cudaErrorLaunchFailure)
cudaError_t __cudaLaunchKernel(cudaKernel_t, dim3, dim3, void **, size_t, cudaStream_t);
INTERPOSE_CUDA(__cudaLaunchKernel,
               (cudaKernel_t kernel, dim3 blocks, dim3 threads, void **arguments, size_t shared,
                cudaStream_t stream),
               (kernel, blocks, threads, arguments, shared, stream), cudaErrorLaunchFailure)
INTERPOSE_CUDA(cudaLaunchKernelExC, (const cudaLaunchConfig_t *launch, const void *kernel, void **arguments),
               (launch, kernel, arguments), cudaErrorLaunchFailure)

cudaError_t cudaGetLastError(void) {
  static __typeof__(&cudaGetLastError) real = NULL;
  if (real == NULL) real = REAL(cudaGetLastError);
  if (!from_program(SITE)) return real();
  const cudaError_t injected = strike("cudaGetLastError", SITE, 1) == FAIL ? cudaErrorUnknown : pending;
  const cudaError_t own = real();
  pending = cudaSuccess;
  return injected != cudaSuccess ? injected : own;
}
