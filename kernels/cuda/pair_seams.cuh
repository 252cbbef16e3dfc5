#ifndef FDAPP_CUDA_PAIR_SEAMS_CUH
#define FDAPP_CUDA_PAIR_SEAMS_CUH

#include "direct.cuh"
#include "pair_layout.cuh"

/* The first operation on the seams between the units of a pair's launch. */

/* Row `row` of a seam, from x on. */
template <class Op>
__device__ __forceinline__ void seam_compute(const arguments &a, const geometry &d, const pair_seams &seams,
                                             int seam, int row, int x, kernels_planes planes) {
  int y = seams.first[seam] + row;
  y += y < 0 ? d.ny : y >= d.ny ? -d.ny : 0;
  const ptrdiff_t plane = (ptrdiff_t)2 * HALO * d.ldx;
  const seam_place to = {seams.to[seam] + (ptrdiff_t)row * d.ldx + x, plane};
  direct_march<Op>(a, d, to, x, y, planes);
}

constexpr int SEAM_LANES = 32, SEAM_CHUNK = 16;

/* blockDim: vectors of x, the 2 HALO rows. blockIdx: blocks along x, seams, and pieces of SEAM_CHUNK planes.
 */
template <class Op>
__global__ void __launch_bounds__(SEAM_LANES * 2 * HALO)
    seam_kernel(const __grid_constant__ arguments a, const __grid_constant__ geometry d,
                const __grid_constant__ pair_seams seams, const __grid_constant__ pair_edges edges) {
  const kernels_planes piece = d.piece((int)blockIdx.z, SEAM_CHUNK);
  if (piece.z0 < HALO) edges.wait(SIDE_BELOW);
  if (piece.z1 > d.nz - HALO) edges.wait(SIDE_ABOVE);
  const int x = (int)(blockIdx.x * SEAM_LANES + threadIdx.x) * VECTOR;
  if (x < d.nx) seam_compute<Op>(a, d, seams, (int)blockIdx.y, (int)threadIdx.y, x, piece);
}

/* The planes of a slab whose seams read the halo at the sweep's end. */
__host__ __device__ __forceinline__ kernels_planes seam_end(int nz, bool down) {
  return down ? kernels_planes{0, HALO} : kernels_planes{nz - HALO, nz};
}

/* One of the blocks that compute these while others, which read them last, are on their way. */
template <class Op>
__device__ __forceinline__ void seam_block(const arguments &a, const geometry &d, const pair_edges &edges,
                                           const pair_exchange &e, bool down) {
  const int vectors = divide_up(d.nx, VECTOR), each = 2 * HALO * vectors;
  const int first = (int)((blockIdx.x - e.blocks) * blockDim.x + threadIdx.x);
  edges.wait(down ? SIDE_BELOW : SIDE_ABOVE);
  stress_rest();
#pragma unroll 1
  for (int i = first; i < e.seams.count * each; i += (int)(e.seam_blocks * blockDim.x))
    seam_compute<Op>(a, d, e.seams, i / each, i % each / vectors, i % vectors * VECTOR, seam_end(d.nz, down));
  __syncthreads();
  if (threadIdx.x == 0) counter_tell(e.seamed);
}

#endif
