#ifndef FDAPP_CUDA_MINPLUS_CUH
#define FDAPP_CUDA_MINPLUS_CUH

#include <math.h>

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

#endif
