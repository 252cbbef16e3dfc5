#ifndef FDAPP_CUDA_MINPLUS_CUH
#define FDAPP_CUDA_MINPLUS_CUH

#include <math.h>
#include <type_traits>

#include "device.cuh"

/* The numbers of min-plus products. */

__device__ __forceinline__ real infinity() {
  return (real)__longlong_as_double(0x7ff0000000000000LL);
}

__device__ __forceinline__ real lesser(real a, real b) {
  if constexpr (SINGLE) {
    return fminf((float)a, (float)b);
  } else {
    return a < b ? a : b;
  }
}

struct least_single {
  float value;

  __device__ __forceinline__ void set(float number) {
    value = number;
  }
  __device__ __forceinline__ float get() const {
    return value;
  }
  __device__ __forceinline__ void lower(float number, unsigned) {
    value = fminf(number, value);
  }
};

/* The least of several numbers. Reads of registers limit products of doubles
 * (docs/explanation/performance.md, "Min-plus products"), so doubles are held as halves. */
typedef std::conditional_t<SINGLE, least_single, double_halves> least_value;

/* The lesser of a number and a sum. one: 1 (double_halves). */
__device__ __forceinline__ real least_of(real value, real sum, unsigned one) {
  least_value lower;
  lower.set(value);
  lower.lower(sum, one);
  return lower.get();
}

#endif
