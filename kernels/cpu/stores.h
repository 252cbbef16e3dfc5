#ifndef FDAPP_KERNELS_CPU_STORES_H
#define FDAPP_KERNELS_CPU_STORES_H

#include <string.h>

#include "cpu.h"
#include "instructions.h"

/* Copies a line from cache to memory; both addresses aligned to a line. Non-temporal stores avoid reading the
 * lines that are overwritten. Without AVX they are ordinary stores. */
static inline void line_copy(void *to, const void *from, int nontemporal) {
#if defined(__AVX512F__)
  if (nontemporal) {
    _mm512_stream_si512(to, *(const __m512i *)from);
    return;
  }
#elif defined(__AVX__)
  if (nontemporal) {
    _mm256_stream_si256(to, *(const __m256i *)from);
    return;
  }
#else
  (void)nontemporal;
#endif
  memcpy(to, from, CPU_LINE_BYTES);
}

/* Makes this thread's non-temporal stores visible before anything it stores later. */
static inline void lines_fence(void) {
#ifdef __AVX__
  _mm_sfence();
#endif
}

#endif
