#ifndef FDAPP_CUDA_WAVE_SEAMS_CUH
#define FDAPP_CUDA_WAVE_SEAMS_CUH

#include "wave_vectors.cuh"

/* The rows of q beside a seam between two launches of wave_hand.cuh: HALO rows below it and HALO rows above,
 * [plane][2 HALO][ldx], which tiles at the seam read in the place of rims. A thread computes a vector of a
 * row and marches upwards; it reads neighbours through the caches. */
constexpr int SEAM_COLUMNS = 32, SEAM_ROWS = 2 * HALO;

/* The first of the vectors around x, of one row; images where they are beyond ends. */
__device__ __forceinline__ void seam_line(const wave_arguments &a, const geometry &d, const real *row, int x,
                                          real (&f)[VECTOR + 2 * HALO]) {
  if (x >= HALO && x + VECTOR + HALO <= d.nx) {
    vectors_load(row + x - HALO, f);
    return;
  }
#pragma unroll
  for (int k = 0; k < VECTOR + 2 * HALO; k++) {
    const auto image = wave_image_of(a.call.ends[AXIS_X], x - HALO + k, d.nx);
    f[k] = wave_changed(row[image.index], image.change);
  }
}

/* y0: the first row above the seam, which may be 0. Blocks: along x, then pieces of the planes. */
static __global__ void __launch_bounds__(SEAM_COLUMNS *SEAM_ROWS)
    wave_seam_kernel(const __grid_constant__ wave_arguments a, const __grid_constant__ geometry d,
                     const int y0, const int chunk, real *seam) {
  const int across = divide_up(d.nx, SEAM_COLUMNS * VECTOR), line = (int)threadIdx.y;
  const int x = ((int)blockIdx.x % across * SEAM_COLUMNS + (int)threadIdx.x) * VECTOR;
  const kernels_planes piece = d.piece((int)blockIdx.x / across, chunk);
  const auto row_of = [&](int y) { return (ptrdiff_t)(y < 0 ? y + d.ny : y >= d.ny ? y - d.ny : y) * d.ldx; };
  const int y = y0 - HALO + line;
  if (x >= d.nx) return;
  real sums[VECTOR][2 * HALO] = {};
#pragma unroll 1
  for (int z = piece.z0 - HALO; z < piece.z1 + HALO; z++) {
    const real *plane = a.p + wave_plane(d, z);
    real along[VECTOR + 2 * HALO], rows[2 * HALO + 1][VECTOR], q[VECTOR];
    seam_line(a, d, plane + row_of(y), x, along);
#pragma unroll
    for (int k = 0; k < 2 * HALO + 1; k++)
      if (k != HALO) vector_load(plane + row_of(y - HALO + k) + x, rows[k]);
#pragma unroll
    for (int e = 0; e < VECTOR; e++) {
      q[e] = wave_arrives(&a.c[0], along[e + HALO], sums[e]);
      real &s = sums[e][HALO - 1];
      s = second_pairs(a.c[0].x, s, along[e], along[e + 1], along[e + 2], along[e + 3], along[e + 5],
                       along[e + 6], along[e + 7], along[e + 8]);
      s = second_pairs(a.c[0].y, s, rows[0][e], rows[1][e], rows[2][e], rows[3][e], rows[5][e], rows[6][e],
                       rows[7][e], rows[8][e]);
    }
    const int done = z - HALO;
    if (done < piece.z0) continue;
    real factor[VECTOR];
    vector_load(a.factor + d.plane(done) + row_of(y) + x, factor);
#pragma unroll
    for (int e = 0; e < VECTOR; e++) q[e] = factor[e] * q[e];
    vector_store(seam + ((ptrdiff_t)done * SEAM_ROWS + line) * d.ldx + x, q);
  }
}

static inline void wave_seam_launch(const kernels_launch *launch, const wave_arguments &a, const geometry &d,
                                    int y0, real *seam) {
  constexpr int CHUNK = 32;
  const int blocks = divide_up(d.nx, SEAM_COLUMNS * VECTOR) * d.pieces(CHUNK);
  kernel_launch(wave_seam_kernel, (unsigned)blocks, dim3(SEAM_COLUMNS, SEAM_ROWS), 0, launch_stream(launch),
                a, d, y0, CHUNK, seam);
}

#endif
