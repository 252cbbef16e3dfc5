#ifndef FDAPP_CUDA_ROWS_CUH
#define FDAPP_CUDA_ROWS_CUH

#include "operations.cuh"

/* The derivative along x: a warp takes 32 vectors of each of ROWS rows straight into registers, and lanes
 * hand each other their neighbours. Only the vectors beside the warp's are loaded twice. */

constexpr int ROWS_WARPS = 8;

/* Vectors x - k and x + k of the lane's own, k = 1 .. SIDES. Lanes at the warp's ends take theirs from
 * `beside`, which the first SIDES lanes hold for the right end, the last SIDES for the left. */
template <int SIDES>
__device__ __forceinline__ void neighbours_gather(const real (&own)[VECTOR], const real (&beside)[VECTOR],
                                                  real (&line)[VECTOR + 2 * HALO]) {
  constexpr unsigned ALL = 0xffffffffU;
  const int lane = (int)threadIdx.x;
#pragma unroll
  for (int v = 0; v < VECTOR; v++) {
    line[HALO + v] = own[v];
#pragma unroll
    for (int k = 1; k <= SIDES; k++) {
      line[HALO + v - k * VECTOR] = __shfl_sync(ALL, lane >= 32 - k ? beside[v] : own[v], lane - k);
      line[HALO + v + k * VECTOR] = __shfl_sync(ALL, lane < k ? beside[v] : own[v], lane + k);
    }
  }
}

/* Where the vector at column x of the periodic row lies, -1 if not as a whole; anywhere if nobody needs it.
 */
__device__ __forceinline__ int whole_vector(int x, int nx) {
  const int from = x < nx + HALO ? wrap(x, nx) : 0;
  return from % VECTOR == 0 && from + VECTOR <= nx ? from : -1;
}

/* Vectors that do not lie in their rows as a whole, element by element. */
template <int ROWS>
__device__ __forceinline__ void elements_load(const real *first, ptrdiff_t pitch, int rows, int x, int nx,
                                              real (&to)[ROWS][VECTOR]) {
#pragma unroll
  for (int v = 0; v < VECTOR; v++) {
    const int from = wrap(x + v, nx);
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
      if (r < rows) to[r][v] = first[r * pitch + from];
    }
  }
}

/* blockDim (32, ROWS_WARPS); blockIdx.x: parts of a row, row by row; blockIdx.y: the ranges of planes, whose
 * groups of ROWS rows are numbered through, no group lying in two planes. WHOLE: rows are whole vectors. */
template <int ROWS, bool WHOLE>
__global__ void __launch_bounds__(32 * ROWS_WARPS)
    rows_kernel(const __grid_constant__ arguments a, const __grid_constant__ geometry d) {
  constexpr int SIDES = HALO / VECTOR;
  const kernels_planes range = d.range[blockIdx.y];
  const unsigned parts = (unsigned)divide_up(d.nx, 32 * VECTOR);
  const int lane = (int)threadIdx.x;
  const bool at_end = lane < SIDES || lane >= 32 - SIDES;
  const int x = ((int)(blockIdx.x % parts) * 32 + lane) * VECTOR;
  const int side = lane < SIDES ? x + 32 * VECTOR : x - 32 * VECTOR;
  const int from = WHOLE ? wrap(min(x, d.nx + HALO - VECTOR), d.nx) : whole_vector(x, d.nx);
  const int side_from = WHOLE    ? wrap(min(side, d.nx + HALO - VECTOR), d.nx)
                        : at_end ? whole_vector(side, d.nx)
                                 : 0;
  const unsigned groups = (unsigned)divide_up(d.ny, ROWS); /* of a plane */
  const unsigned group = blockIdx.x / parts * ROWS_WARPS + threadIdx.y;
  const int z = range.z0 + (int)(group / groups);
  const int y = (int)(group % groups) * ROWS;
  if (z >= range.z1) return;
  const int rows = min(ROWS, d.ny - y);
  const ptrdiff_t start = d.plane(z) + (ptrdiff_t)y * d.ldx;
  real own[ROWS][VECTOR], beside[ROWS][VECTOR] = {};
#pragma unroll
  for (int r = 0; r < ROWS; r++) {
    if (r >= rows) break;
    vector_load(a.f + start + r * d.ldx + max(from, 0), own[r]);
    if (at_end) vector_load(a.f + start + r * d.ldx + max(side_from, 0), beside[r]);
  }
  if constexpr (!WHOLE) {
    if (from < 0) elements_load<ROWS>(a.f + start, d.ldx, rows, x, d.nx, own);
    if (side_from < 0) elements_load<ROWS>(a.f + start, d.ldx, rows, side, d.nx, beside);
  }
#pragma unroll
  for (int r = 0; r < ROWS; r++) {
    if (r >= rows) break;
    real line[VECTOR + 2 * HALO], result[VECTOR];
    neighbours_gather<SIDES>(own[r], beside[r], line);
#pragma unroll
    for (int v = 0; v < VECTOR; v++) {
      const real *m = line + v;
      result[v] = first_derivative(a.c.first[AXIS_X], m[0], m[1], m[2], m[3], m[5], m[6], m[7], m[8]);
    }
    if (x < d.ldx) vector_store(a.out[0] + start + r * d.ldx + x, result);
  }
}

template <int ROWS, bool WHOLE>
static status rows_launch_as(const kernels_launch *launch, const arguments &a, const char *name) {
  const geometry d = launch_geometry(launch);
  const size_t groups = (size_t)d.longest() * (size_t)divide_up(d.ny, ROWS);
  const size_t blocks = (groups + ROWS_WARPS - 1) / ROWS_WARPS * (size_t)divide_up(d.nx, 32 * VECTOR);
  const dim3 grid((unsigned)blocks, d.ranges());
  kernel_launch(rows_kernel<ROWS, WHOLE>, grid, dim3(32, ROWS_WARPS), 0, launch_stream(launch), a, d);
  return context_launched(launch->context, launch->queue, name);
}

/* A warp takes as many rows as were fastest (run/results/kernels.md). */
static inline status rows_launch(const kernels_launch *launch, const arguments &a, const char *name) {
  constexpr int ROWS = sizeof(real) == sizeof(float) ? 2 : 4;
  return launch->shape.nx % VECTOR == 0 ? rows_launch_as<ROWS, true>(launch, a, name)
                                        : rows_launch_as<4, false>(launch, a, name);
}

#endif
