#include "cpu.h"
#include "base/check.h"
#include "base/groups.h"
#include "base/number.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Marks the part of a block before its array as forbidden, like what is before the block. (The sanitizer's
 * header would define an empty macro without it, but not every compiler has the header.) */
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#define LEAD_POISON(block, bytes)   ASAN_POISON_MEMORY_REGION(block, bytes)
#define LEAD_UNPOISON(block, bytes) ASAN_UNPOISON_MEMORY_REGION(block, bytes)
#else
#define LEAD_POISON(block, bytes)   ((void)(block), (void)(bytes))
#define LEAD_UNPOISON(block, bytes) ((void)(block), (void)(bytes))
#endif

enum { HUGE_PAGE = 2 << 20, COPY_PIECE = 1 << 20 };

/* Start offsets of arrays. A processor that looks for a store on which a load depends first compares the last
 * 12 bits of the addresses. With arrays at equal offsets, d/dx took up to 4.2 times as long, presumably
 * because its loads waited for the result stored just before (docs/explanation/performance.md, "Where arrays
 * begin"). So of STARTS successive arrays no two begin at the same offset in a page. Of five successive ones
 * no two are closer than 768 bytes, because loads run ahead of stores. */
enum { PAGE = 4096, START_BYTES = 256, STARTS = PAGE / START_BYTES, STEP = 3 };

/* The block that holds an array. It begins at a page, and the array at most a page later, never at its
 * start. */
static void *block_of(void *memory) {
  char *last = (char *)memory - 1;
  return last - (uintptr_t)last % PAGE;
}

/* Large arrays get huge pages if the system has them, because a stencil touches many pages at a time. */
status memory_allocate_cpu(kernels_context *context, kernels_memory kind, size_t bytes, void **memory) {
  (void)kind;
  *memory = NULL;
  size_t available = 0;
  CHECK(memory_available_cpu(context, &available));
  const size_t start = START_BYTES * (1 + context->arrays * STEP % STARTS);
  void *block = NULL;
  /* the system promises memory that it does not have, and touching that would end the process */
  if (bytes > available ||
      posix_memalign(&block, bytes >= HUGE_PAGE ? HUGE_PAGE : PAGE, start + bytes) != 0) {
    char wanted[NUMBER_TEXT], room[NUMBER_TEXT];
    return status_fail(STATUS_MEMORY, "no memory for %s: %s are available",
                       number_bytes((double)bytes, wanted), number_bytes((double)available, room));
  }
  /* only advice: if it is refused, pages are small */
  if (bytes >= HUGE_PAGE) (void)madvise(block, start + bytes, MADV_HUGEPAGE);
  context->arrays++;
  *memory = (char *)block + start;
  LEAD_POISON(block, start);

  const size_t pieces = (bytes + COPY_PIECE - 1) / COPY_PIECE;
#pragma omp parallel for schedule(static) num_threads(context->threads)
  for (size_t i = 0; i < pieces; i++) {
    const size_t at = i * COPY_PIECE;
    memset((char *)*memory + at, 0, bytes - at < COPY_PIECE ? bytes - at : COPY_PIECE);
  }
  return STATUS_OK;
}

void memory_free_cpu(kernels_context *context, kernels_memory kind, void *memory) {
  (void)context;
  (void)kind;
  if (memory == NULL) return;
  void *block = block_of(memory);
  LEAD_UNPOISON(block, (size_t)((char *)memory - (char *)block));
  free(block);
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
  const size_t limit = groups_memory(GROUPS_OF_PROCESS, GROUPS_ROOT);
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

status memory_copy_pieces_cpu(kernels_context *context, kernels_queue queue, const kernels_pieces *pieces) {
  (void)queue;
  const size_t bytes = pieces->bytes;
#pragma omp parallel for schedule(static)                                                                    \
    num_threads(context->threads) if (bytes * pieces->count > COPY_PIECE)
  for (size_t i = 0; i < pieces->count; i++) {
    memcpy((char *)pieces->to + i * pieces->to_pitch, (const char *)pieces->from + i * pieces->from_pitch,
           bytes);
  }
  return STATUS_OK;
}
