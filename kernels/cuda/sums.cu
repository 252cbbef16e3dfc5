#include "device.cuh"

/* Sums and extrema of planes, in the order of kernels.h. A block owns a plane, its warp w the rows y with y
 * mod 32 = w, lane l of a warp the points x with x mod 32 = l. So the order of summation needs no memory:
 * each lane has its partial sum, and the result is written directly to the pinned buffer. */

constexpr int LANES = 32;
constexpr unsigned ALL_LANES = 0xffffffffU;

struct tally {
  double sum, sum_squares, minimum, maximum, error_sum, error_squares, error_maximum;
};

__device__ __forceinline__ tally tally_nothing() {
  const double infinity = __longlong_as_double(0x7ff0000000000000LL);
  return {0.0, 0.0, infinity, -infinity, 0.0, 0.0, -infinity};
}

/* Comparisons with a NaN are false, so a NaN never replaces a number. */
__device__ __forceinline__ double smaller(double a, double b) {
  return b < a ? b : a;
}

__device__ __forceinline__ double larger(double a, double b) {
  return b > a ? b : a;
}

__device__ __forceinline__ void tally_add(tally &a, const tally &b) {
  a.sum += b.sum;
  a.sum_squares += b.sum_squares;
  a.minimum = smaller(a.minimum, b.minimum);
  a.maximum = larger(a.maximum, b.maximum);
  a.error_sum += b.error_sum;
  a.error_squares += b.error_squares;
  a.error_maximum = larger(a.error_maximum, b.error_maximum);
}

__device__ __forceinline__ void tally_weigh(tally &a, double weight) {
  a.sum *= weight;
  a.sum_squares *= weight;
  a.error_sum *= weight;
  a.error_squares *= weight;
}

/* Reduces pairwise over the warp's lanes; lane 0 has the result. */
__device__ __forceinline__ void tally_reduce(tally &t) {
#pragma unroll
  for (int o = LANES / 2; o > 0; o /= 2) {
    tally other;
    other.sum = __shfl_down_sync(ALL_LANES, t.sum, o);
    other.sum_squares = __shfl_down_sync(ALL_LANES, t.sum_squares, o);
    other.minimum = __shfl_down_sync(ALL_LANES, t.minimum, o);
    other.maximum = __shfl_down_sync(ALL_LANES, t.maximum, o);
    other.error_sum = __shfl_down_sync(ALL_LANES, t.error_sum, o);
    other.error_squares = __shfl_down_sync(ALL_LANES, t.error_squares, o);
    other.error_maximum = __shfl_down_sync(ALL_LANES, t.error_maximum, o);
    tally_add(t, other);
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
    t.sum += part;
    t.sum_squares = fma(part, value, t.sum_squares);
    t.minimum = smaller(t.minimum, value);
    t.maximum = larger(t.maximum, value);
    if constexpr (REFERENCE) {
      const double error = fabs(value - (double)reference[x]);
      const double share = WEIGHTED ? weight * error : error;
      t.error_sum += share;
      t.error_squares = fma(share, error, t.error_squares);
      t.error_maximum = larger(t.error_maximum, error);
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
    if constexpr (WEIGHTED) tally_weigh(t, kernels_weight(&weights, AXIS_Y, y, d.ny));
    tally_add(mine, t);
  }
  if (lane == 0) rows[warp] = mine;
  __syncthreads();
  if (warp != 0) return;
  tally t = rows[lane];
  tally_reduce(t);
  if (lane != 0) return;
  sums[blockIdx.x] = {t.sum,
                      t.sum_squares,
                      t.minimum + 0.0, /* -0 becomes +0 */
                      t.maximum + 0.0,
                      REFERENCE ? t.error_sum : 0.0,
                      REFERENCE ? t.error_squares : 0.0,
                      REFERENCE ? t.error_maximum + 0.0 : 0.0};
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
