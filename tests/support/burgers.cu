#include "pairs_march.cuh"

#define NUMBER_FILL(x) ((real)(x))
#include "burgers_pairs.h"

#include "burgers.h"

struct burgers : pairs_system {
  using numbers = burgers_numbers;
  static constexpr unsigned READS = 1;
  static constexpr int SUMS = 1, POINTS = 1, OUTPUTS = 1;
  static __device__ __forceinline__ void pair(const numbers &c, int d, int l, bool up, const real *own,
                                              const real *other, real *sums) {
    burgers_pair(&c, d, l, up, own, other, sums);
  }
  static __device__ __forceinline__ void finish(const numbers &c, const real *, const real *sums,
                                                const real *at, int, real *out) {
    burgers_finish(&c, sums, at, out);
  }
};

extern "C" status NAME(burgers_cuda)(const kernels_launch *launch, const void *f, const void *base,
                                     double weight, void *out) {
  CHECK(context_enter(launch->context));
  pairs_arguments<burgers> a = {};
  a.c = burgers_numbers_make(launch->stencil, weight);
  a.in[0] = shifted(launch, f);
  a.at[0] = shifted(launch, base);
  a.points = 1;
  a.out[0] = shifted(launch, out);
  return march_launch<march_tile<burgers, 32, 8, 1>>(launch, a, "burgers");
}
