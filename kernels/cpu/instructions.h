#ifndef FDAPP_KERNELS_CPU_INSTRUCTIONS_H
#define FDAPP_KERNELS_CPU_INSTRUCTIONS_H

/* The intrinsics that kernels use. With gcc 12 they are builtins, declared as its <immintrin.h> does, so that
 * the code is the same: to parse the 60,000 lines of that header in each of 85 objects took 9 % of the time
 * to compile the programs. Builtins are a compiler's own affair, so others take the header. */

#if defined(__AVX__) && (defined(__clang__) || __GNUC__ != 12)
#include <immintrin.h>
#elif defined(__AVX__)
typedef long long __m256i __attribute__((vector_size(32), may_alias));
#define _mm256_fmadd_ps                 __builtin_ia32_vfmaddps256
#define _mm256_fmadd_pd                 __builtin_ia32_vfmaddpd256
#define _mm256_min_ps                   __builtin_ia32_minps256
#define _mm256_min_pd                   __builtin_ia32_minpd256
#define _mm256_sqrt_ps                  __builtin_ia32_sqrtps256
#define _mm256_sqrt_pd                  __builtin_ia32_sqrtpd256
#define _mm256_permute2x128_si256       __builtin_ia32_permti256
#define _mm256_alignr_epi8(a, b, bytes) __builtin_ia32_palignr256(a, b, 8 * (bytes))
#define _mm256_stream_si256             __builtin_ia32_movntdq256
#define _mm_sfence                      __builtin_ia32_sfence

typedef float __m512 __attribute__((vector_size(64), may_alias));
typedef double __m512d __attribute__((vector_size(64), may_alias));
typedef long long __m512i __attribute__((vector_size(64), may_alias));
typedef int lanes_512 __attribute__((vector_size(64)));

/* An instruction with a mask takes values for the lanes without the mask. The masks have all lanes, so these
 * values are left open. */
#define LANES_OPEN(name, type)                                                                               \
  static inline __attribute__((always_inline, unused)) type name(void) {                                     \
    type open = open;                                                                                        \
    return open;                                                                                             \
  }
LANES_OPEN(open_float, __m512)
LANES_OPEN(open_double, __m512d)
LANES_OPEN(open_integer, __m512i)
enum { ROUNDING_OF_THREAD = 4 };
#define _mm512_fmadd_ps(a, b, c) __builtin_ia32_vfmaddps512_mask(a, b, c, -1, ROUNDING_OF_THREAD)
#define _mm512_fmadd_pd(a, b, c) __builtin_ia32_vfmaddpd512_mask(a, b, c, 0xff, ROUNDING_OF_THREAD)
#define _mm512_min_ps(a, b)      __builtin_ia32_minps512_mask(a, b, open_float(), -1, ROUNDING_OF_THREAD)
#define _mm512_min_pd(a, b)      __builtin_ia32_minpd512_mask(a, b, open_double(), 0xff, ROUNDING_OF_THREAD)
#define _mm512_sqrt_ps(a)        __builtin_ia32_sqrtps512_mask(a, open_float(), -1, ROUNDING_OF_THREAD)
#define _mm512_sqrt_pd(a)        __builtin_ia32_sqrtpd512_mask(a, open_double(), -1, ROUNDING_OF_THREAD)
#define _mm512_alignr_epi32(a, b, lanes)                                                                     \
  __builtin_ia32_alignd512_mask((lanes_512)(a), (lanes_512)(b), lanes, (lanes_512)open_integer(), 0xffff)
#define _mm512_stream_si512 __builtin_ia32_movntdq512
#endif

#endif
