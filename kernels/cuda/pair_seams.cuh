#ifndef FDAPP_CUDA_PAIR_SEAMS_CUH
#define FDAPP_CUDA_PAIR_SEAMS_CUH

#include "direct.cuh"

/* Seams between the units of a pair's launch (pair.cu): the first operation on HALO rows below and HALO rows
 * above a seam. blockDim: vectors of x, the 2 HALO rows. blockIdx: blocks along x, seams, and pieces of
 * SEAM_CHUNK planes. */
struct pair_seams {
  real *to[2];  /* [plane][2 HALO][ldx] */
  int first[2]; /* the seam's first row, which may be that of an image */
};

constexpr int SEAM_LANES = 32, SEAM_CHUNK = 16;

template <class Op>
__global__ void __launch_bounds__(SEAM_LANES * 2 * HALO)
    seam_kernel(const __grid_constant__ arguments a, const __grid_constant__ geometry d,
                const __grid_constant__ pair_seams seams) {
  const int x = (int)(blockIdx.x * SEAM_LANES + threadIdx.x) * VECTOR, row = (int)threadIdx.y;
  if (x >= d.nx) return;
  int y = seams.first[blockIdx.y] + row;
  y += y < 0 ? d.ny : y >= d.ny ? -d.ny : 0;
  const ptrdiff_t plane = (ptrdiff_t)2 * HALO * d.ldx;
  const seam_place to = {seams.to[blockIdx.y] + (ptrdiff_t)row * d.ldx + x, plane};
  direct_march<Op>(a, d, to, x, y, d.piece((int)blockIdx.z, SEAM_CHUNK));
}

#endif
