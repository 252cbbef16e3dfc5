#include "context.h"

#include <string.h>

/* Memory of one process in the address space of another on the same node. */

_Static_assert(sizeof(cudaIpcMemHandle_t) == KERNELS_HANDLE_BYTES, "a handle is CUDA's own");

status context_memory_export(kernels_context *context, void *memory,
                             unsigned char handle[KERNELS_HANDLE_BYTES]) {
  cudaIpcMemHandle_t own;
  CHECK(context_enter(context));
  CHECK_CUDA(cudaIpcGetMemHandle(&own, memory));
  memcpy(handle, &own, sizeof own);
  return STATUS_OK;
}

status context_memory_import(kernels_context *context, const unsigned char handle[KERNELS_HANDLE_BYTES],
                             void **memory) {
  cudaIpcMemHandle_t other;
  memcpy(&other, handle, sizeof other);
  CHECK(context_enter(context));
  CHECK_CUDA(cudaIpcOpenMemHandle(memory, other, cudaIpcMemLazyEnablePeerAccess));
  return STATUS_OK;
}

void context_memory_release(kernels_context *context, void *memory) {
  if (memory == NULL || cudaSetDevice(context->device) != cudaSuccess) return;
  (void)cudaIpcCloseMemHandle(memory);
}
