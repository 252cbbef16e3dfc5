#include "device.cuh"

/* Sums and extrema of planes, in the order of kernels.h. A block owns a plane, its warp w the rows y with y
 * mod 32 = w, lane l of a warp the points x with x mod 32 = l. So the order of summation needs no memory:
 * each lane has its partial sum, and the result is written directly to the pinned buffer. */

constexpr int LANES = 32;
constexpr unsigned ALL_LANES = 0xffffffffU;

/* As in sums_cpu.c: figures before ADDED are sums, of the others the largest is kept; MINIMUM is the largest
 * of the values' opposites. */
enum { SUM, ERROR_SUM, SQUARES, ERROR_SQUARES, ADDED, MAXIMUM = ADDED, ERROR_MAXIMUM, MINIMUM, FIGURES };

struct tally {
  double of[FIGURES];

  /* Comparisons with a NaN are false, so a NaN never replaces a number. */
  __device__ __forceinline__ void raise(int i, double value) {
    of[i] = value > of[i] ? value : of[i];
  }
  __device__ __forceinline__ void add(const tally &other) {
#pragma unroll
    for (int i = 0; i < ADDED; i++) of[i] += other.of[i];
#pragma unroll
    for (int i = ADDED; i < FIGURES; i++) raise(i, other.of[i]);
  }
  __device__ __forceinline__ void weigh(double weight) {
#pragma unroll
    for (int i = 0; i < ADDED; i++) of[i] *= weight;
  }
};

__device__ __forceinline__ tally tally_nothing() {
  const double infinity = __longlong_as_double(0x7ff0000000000000LL);
  return {{0.0, 0.0, 0.0, 0.0, -infinity, -infinity, -infinity}};
}

/* Reduces pairwise over the warp's lanes; lane 0 has the result. */
__device__ __forceinline__ void tally_reduce(tally &t) {
#pragma unroll
  for (int o = LANES / 2; o > 0; o /= 2) {
    tally other;
#pragma unroll
    for (int i = 0; i < FIGURES; i++) other.of[i] = __shfl_down_sync(ALL_LANES, t.of[i], o);
    t.add(other);
  }
}

template <bool REFERENCE, bool WEIGHTED>
__device__ __forceinline__ tally row_tally(const real *f, const real *reference,
                                           const kernels_weights &weights, int lane, int nx) {
  tally t = tally_nothing();
#pragma unroll 8
  for (int x = lane; x < nx; x += LANES) {
    const double value = (double)f[x];
    const double weight = WEIGHTED ? kernels_weight(&weights, AXIS_X, x, nx) : 1.0;
    const double part = WEIGHTED ? weight * value : value;
    t.of[SUM] += part;
    t.of[SQUARES] = fma(part, value, t.of[SQUARES]);
    t.raise(MINIMUM, -value);
    t.raise(MAXIMUM, value);
    if constexpr (REFERENCE) {
      const double error = fabs(value - (double)reference[x]);
      const double share = WEIGHTED ? weight * error : error;
      t.of[ERROR_SUM] += share;
      t.of[ERROR_SQUARES] = fma(share, error, t.of[ERROR_SQUARES]);
      t.raise(ERROR_MAXIMUM, error);
    }
  }
  return t;
}

/* blockDim (32, 32). One block per plane, from number `first` of the launch's planes on. */
template <bool REFERENCE, bool WEIGHTED>
__global__ void __launch_bounds__(LANES *LANES)
    sums_kernel(const geometry d, const int first, const real *f, const real *reference,
                const __grid_constant__ kernels_weights weights, kernels_plane_sums *sums) {
  __shared__ tally rows[LANES];
  const int lane = (int)threadIdx.x;
  const int warp = (int)threadIdx.y;
  const ptrdiff_t plane = d.plane(d.piece(first + (int)blockIdx.x, 1).z0);
  tally mine = tally_nothing();
  for (int y = warp; y < d.ny; y += LANES) {
    const ptrdiff_t row = plane + (ptrdiff_t)y * d.ldx;
    tally t =
        row_tally<REFERENCE, WEIGHTED>(f + row, REFERENCE ? reference + row : nullptr, weights, lane, d.nx);
    tally_reduce(t);
    if constexpr (WEIGHTED) t.weigh(kernels_weight(&weights, AXIS_Y, y, d.ny));
    mine.add(t);
  }
  if (lane == 0) rows[warp] = mine;
  __syncthreads();
  if (warp != 0) return;
  tally t = rows[lane];
  tally_reduce(t);
  if (lane != 0) return;
  sums[blockIdx.x] = {t.of[SUM],
                      t.of[SQUARES],
                      0.0 - t.of[MINIMUM], /* +0 for either zero */
                      t.of[MAXIMUM] + 0.0,
                      REFERENCE ? t.of[ERROR_SUM] : 0.0,
                      REFERENCE ? t.of[ERROR_SQUARES] : 0.0,
                      REFERENCE ? t.of[ERROR_MAXIMUM] + 0.0 : 0.0};
}

extern "C" status NAME(plane_sums)(const kernels_launch *launch, const void *f, const void *reference,
                                   const kernels_weights *weights, kernels_plane_sums *sums) {
  static const kernels_weights none = {};
  kernels_context *context = launch->context;
  const dim3 block(LANES, LANES);
  const geometry d = launch_geometry(launch);
  for (int first = 0; first < d.planes(); first += CONTEXT_SUMS) {
    const int left = d.planes() - first;
    const int count = left < CONTEXT_SUMS ? left : CONTEXT_SUMS;
    const auto plain = reference != nullptr ? sums_kernel<true, false> : sums_kernel<false, false>;
    const auto weighted = reference != nullptr ? sums_kernel<true, true> : sums_kernel<false, true>;
    const auto kernel = weights != nullptr ? weighted : plain;
    kernel_launch(kernel, (unsigned)count, block, 0, launch_stream(launch), d, first, shifted(launch, f),
                  shifted(launch, reference), weights != nullptr ? *weights : none, context->sums);
    CHECK(context_launched(context, launch->queue, "kernel plane sums"));
    CHECK(context_queue_wait(context, launch->queue));
    for (int i = 0; i < count; i++) sums[first + i] = context->sums[i];
  }
  return STATUS_OK;
}
