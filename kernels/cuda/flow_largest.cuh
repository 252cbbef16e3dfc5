#ifndef FDAPP_CUDA_FLOW_LARGEST_CUH
#define FDAPP_CUDA_FLOW_LARGEST_CUH

#include <cmath>

#include "device.cuh"
#include "flow_figures.h"

/* The largest rates of a state, which limit an adaptive step: one reading of it, and nothing stored. Largest
 * values do not depend on the order in which they are compared. */

constexpr int LARGEST_LANES = 32, LARGEST_WARPS = 8;

struct largest_arguments {
  flow_numbers c;
  const real *in[FLOW_UNKNOWNS];
};

/* The larger of two rates, or the one that is no number. */
__device__ __forceinline__ real rate_larger(real a, real b) {
  return a > b || a != a ? a : b;
}

/* The largest rates of a warp's lanes, in its first one. */
__device__ __forceinline__ void lanes_largest(real (&best)[FLOW_RATES]) {
#pragma unroll
  for (int o = LARGEST_LANES / 2; o > 0; o /= 2) {
#pragma unroll
    for (int i = 0; i < (int)FLOW_RATES; i++)
      best[i] = rate_larger(__shfl_down_sync(0xffffffffU, best[i], o), best[i]);
  }
}

/* Rows go to the launch's warps in turn, of which there are `warps`. found: of each block, its rates as the
 * two maxima. */
template <bool VISCOUS>
__global__ void __launch_bounds__(LARGEST_LANES *LARGEST_WARPS)
    largest_kernel(const geometry d, const int rows, const int warps,
                   const __grid_constant__ largest_arguments a, kernels_plane_sums *found) {
  __shared__ real of_warp[FLOW_RATES][LARGEST_WARPS];
  const int lane = (int)threadIdx.x, warp = (int)threadIdx.y;
  real best[FLOW_RATES] = {};
  for (int r = (int)blockIdx.x * LARGEST_WARPS + warp; r < rows; r += warps) {
    const ptrdiff_t row = d.plane(d.piece(r / d.ny, 1).z0) + (ptrdiff_t)(r % d.ny) * d.ldx;
    for (int x = lane * VECTOR; x < d.nx; x += LARGEST_LANES * VECTOR) {
      real values[FLOW_UNKNOWNS][VECTOR];
#pragma unroll
      for (int i = 0; i < (int)FLOW_UNKNOWNS; i++) vector_load(a.in[i] + row + x, values[i]);
#pragma unroll
      for (int v = 0; v < VECTOR; v++) {
        real own[FLOW_UNKNOWNS], rates[FLOW_RATES] = {};
#pragma unroll
        for (int i = 0; i < (int)FLOW_UNKNOWNS; i++) own[i] = values[i][v];
        flow_rates(&a.c, VISCOUS, own, rates);
#pragma unroll
        for (int i = 0; i < (int)FLOW_RATES; i++)
          if (x + v < d.nx) best[i] = rate_larger(rates[i], best[i]);
      }
    }
  }
  lanes_largest(best);
  if (lane == 0) {
    of_warp[FLOW_RATE][warp] = best[FLOW_RATE];
    of_warp[FLOW_DIFFUSIVE_RATE][warp] = best[FLOW_DIFFUSIVE_RATE];
  }
  __syncthreads();
  if (lane != 0 || warp != 0) return;
  for (int w = 1; w < LARGEST_WARPS; w++) {
#pragma unroll
    for (int i = 0; i < (int)FLOW_RATES; i++) best[i] = rate_larger(of_warp[i][w], best[i]);
  }
  kernels_plane_sums of_block = {};
  of_block.maximum = (double)best[FLOW_RATE];
  of_block.error_maximum = (double)best[FLOW_DIFFUSIVE_RATE];
  found[blockIdx.x] = of_block;
}

template <bool VISCOUS> static status run_largest(const kernels_launch *launch, const flow_call *call) {
  kernels_context *context = launch->context;
  const geometry d = launch_geometry(launch);
  largest_arguments a = {flow_numbers_make(launch->stencil, call)};
  for (int i = 0; i < (int)FLOW_UNKNOWNS; i++) a.in[i] = shifted(launch, call->f[i]);
  const int rows = d.planes() * d.ny;
  const int blocks = std::min(divide_up(rows, LARGEST_WARPS), (int)CONTEXT_SUMS);
  const dim3 block(LARGEST_LANES, LARGEST_WARPS);
  kernel_launch(largest_kernel<VISCOUS>, (unsigned)blocks, block, 0, launch_stream(launch), d, rows,
                blocks * LARGEST_WARPS, a, context->sums);
  CHECK(context_launched(context, launch->queue, "kernel flow, largest rates"));
  CHECK(context_queue_wait(context, launch->queue));
  for (int i = 0; i < (int)FLOW_RATES; i++) call->largest[i] = 0.0;
  for (int b = 0; b < blocks; b++) {
    const double of_block[FLOW_RATES] = {context->sums[b].maximum, context->sums[b].error_maximum};
    for (int i = 0; i < (int)FLOW_RATES; i++) {
      const double rate = std::isfinite(of_block[i]) ? of_block[i] : HUGE_VAL;
      call->largest[i] = std::max(call->largest[i], rate);
    }
  }
  return STATUS_OK;
}

#endif
