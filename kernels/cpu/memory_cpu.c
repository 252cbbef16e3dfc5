#include "cpu.h"
#include "base/check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { HUGE_PAGE = 2 << 20, COPY_PIECE = 1 << 20 };

/* Large arrays sit on huge pages where the system has them: a stencil walks through many pages at a time. */
status memory_allocate_cpu(kernels_context *context, kernels_memory kind, size_t bytes, void **memory) {
  (void)kind;
  *memory = NULL;
  size_t available = 0;
  CHECK(memory_available_cpu(context, &available));
  const size_t alignment = bytes >= HUGE_PAGE ? HUGE_PAGE : KERNELS_ROW_ALIGNMENT * 2;
  void *block = NULL;
  /* The system promises memory that it does not have; touching it would end the process. */
  if (bytes > available || posix_memalign(&block, alignment, bytes > 0 ? bytes : alignment) != 0) {
    return status_fail(STATUS_MEMORY, "no memory for %.3f GiB: %.3f GiB are available",
                       (double)bytes / 0x1p30, (double)available / 0x1p30);
  }
  if (bytes >= HUGE_PAGE) (void)madvise(block, bytes, MADV_HUGEPAGE); /* advice: refused, pages are small */

  const size_t pieces = (bytes + COPY_PIECE - 1) / COPY_PIECE;
#pragma omp parallel for schedule(static) num_threads(context->threads)
  for (size_t i = 0; i < pieces; i++) {
    const size_t at = i * COPY_PIECE;
    memset((char *)block + at, 0, bytes - at < COPY_PIECE ? bytes - at : COPY_PIECE);
  }
  *memory = block;
  return STATUS_OK;
}

void memory_free_cpu(kernels_context *context, kernels_memory kind, void *memory) {
  (void)context;
  (void)kind;
  free(memory);
}

status memory_available_cpu(kernels_context *context, size_t *bytes) {
  (void)context;
  *bytes = 0;
  FILE *file = fopen("/proc/meminfo", "r");
  if (file == NULL) return status_fail(STATUS_DEVICE, "/proc/meminfo: %s", strerror(errno));
  char line[128];
  unsigned long long kilobytes = 0;
  int found = 0;
  while (!found && fgets(line, sizeof line, file) != NULL) {
    found = sscanf(line, "MemAvailable: %llu kB", &kilobytes) == 1;
  }
  (void)fclose(file);
  if (!found) return status_fail(STATUS_DEVICE, "/proc/meminfo: no line MemAvailable");
  *bytes = (size_t)kilobytes * 1024;
  const size_t limit = memory_limit_cpu("/proc/self/cgroup", "/sys/fs/cgroup");
  if (limit < *bytes) *bytes = limit;
  return STATUS_OK;
}

status memory_copy_cpu(kernels_context *context, kernels_queue queue, void *to, const void *from,
                       size_t bytes) {
  (void)queue;
  const size_t pieces = (bytes + COPY_PIECE - 1) / COPY_PIECE;
#pragma omp parallel for schedule(static) num_threads(context->threads) if (pieces > 1)
  for (size_t i = 0; i < pieces; i++) {
    const size_t at = i * COPY_PIECE;
    memcpy((char *)to + at, (const char *)from + at, bytes - at < COPY_PIECE ? bytes - at : COPY_PIECE);
  }
  return STATUS_OK;
}
