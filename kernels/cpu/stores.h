#ifndef FDAPP_KERNELS_CPU_STORES_H
#define FDAPP_KERNELS_CPU_STORES_H

#include <string.h>
#ifdef __AVX__
#include <immintrin.h>
#endif

/* Copies whole cache lines from the first cache to memory; both addresses aligned to a line. Non-temporal
 * stores save reading the lines that are about to be overwritten. Without AVX they are ordinary stores. */
static inline void lines_store(void *to, const void *from, size_t bytes, int nontemporal) {
#if defined(__AVX512F__)
  if (nontemporal) {
    for (size_t i = 0; i < bytes; i += 64) {
      _mm512_stream_si512((void *)((char *)to + i), _mm512_load_si512((const char *)from + i));
    }
    return;
  }
#elif defined(__AVX__)
  if (nontemporal) {
    for (size_t i = 0; i < bytes; i += 32) {
      _mm256_stream_si256((__m256i *)(void *)((char *)to + i),
                          _mm256_load_si256((const __m256i *)(const void *)((const char *)from + i)));
    }
    return;
  }
#else
  (void)nontemporal;
#endif
  memcpy(to, from, bytes);
}

/* Makes this thread's non-temporal stores visible before anything it stores later. */
static inline void lines_fence(void) {
#ifdef __AVX__
  _mm_sfence();
#endif
}

#endif
