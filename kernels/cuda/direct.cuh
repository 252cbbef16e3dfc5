#ifndef FDAPP_CUDA_DIRECT_CUH
#define FDAPP_CUDA_DIRECT_CUH

#include <algorithm>
#include <climits>
#include <type_traits>

#include "operations.cuh"

/* The kernel for few points. A thread owns one vector of a row and marches along z with its window in
 * registers. Rows and columns are read through the L1 cache, without shared memory or barriers. Any sizes.
 * Large launches use pipeline.cuh. */

/* Loads columns x - HALO .. x + VECTOR + HALO - 1 of a row, with periodic images outside [0, nx). */
__device__ __forceinline__ void line_load(const real *row, int x, int nx, real (&to)[VECTOR + 2 * HALO]) {
  if (x >= HALO && x + VECTOR + HALO <= nx) {
    vectors_load(row + x - HALO, to);
  } else {
#pragma unroll
    for (int i = 0; i < VECTOR + 2 * HALO; i++) to[i] = row[wrap(x - HALO + i, nx)];
  }
}

__device__ __forceinline__ void multiply(real (&to)[VECTOR], const real (&by)[VECTOR]) {
#pragma unroll
  for (int v = 0; v < VECTOR; v++) to[v] *= by[v];
}

template <class Op> struct direct {
  __device__ __forceinline__ static table_pair pair(const arguments &a, int y, int z, int component) {
    return pair_make(a.table[1] + y * KERNELS_TABLE, a.table[2] + z * KERNELS_TABLE, component);
  }

  /* Loads a velocity component on the vector at (x, y, z), which may be a periodic image. */
  __device__ __forceinline__ static void component_line(const arguments &a, const geometry &d, int x, int y,
                                                        int z, int component, real (&to)[VECTOR]) {
    real columns[VECTOR];
    vector_load(a.table[0] + component * d.table_pitch() + x, columns);
    table_line(columns, pair(a, y, z, component), to);
  }

  /* Loads plane z into the last place of the windows along z. */
  __device__ __forceinline__ static void window_load(const arguments &a, const geometry &d, int x, int y,
                                                     int z, ptrdiff_t at, lines &f, lines &g) {
    const ptrdiff_t i = d.neighbour(z) + at;
    if constexpr (Op::Z) vector_load(a.in[Op::FIELD] + i, f.z[2 * HALO]);
    if constexpr (Op::PRODUCTS && Op::TABLES) component_line(a, d, x, y, z, AXIS_Z, g.z[2 * HALO]);
    if constexpr (Op::COMPONENTS) vector_load(a.in[Op::W] + i, g.z[2 * HALO]);
    if constexpr (Op::PRODUCTS) {
      real value[VECTOR];
      vector_load(a.in[Op::FIELD] + i, value);
      multiply(g.z[2 * HALO], value);
    }
  }

  __device__ __forceinline__ static void window_shift(lines &l) {
#pragma unroll
    for (int j = 0; j < 2 * HALO; j++) {
#pragma unroll
      for (int v = 0; v < VECTOR; v++) l.z[j][v] = l.z[j + 1][v];
    }
  }

  __device__ __forceinline__ static void x_lines(const arguments &a, const geometry &d, int x, int y, int z,
                                                 ptrdiff_t plane, lines &f, lines &g) {
    const ptrdiff_t row = plane + (ptrdiff_t)y * d.ldx;
    if constexpr (Op::X || Op::PRODUCTS) line_load(a.in[Op::FIELD] + row, x, d.nx, f.x);
    if constexpr (Op::PRODUCTS && Op::TABLES) {
      real columns[VECTOR + 2 * HALO];
      vectors_load(a.table[0] + x - HALO, columns);
      table_line(columns, pair(a, y, z, AXIS_X), g.x);
    }
    if constexpr (Op::COMPONENTS) line_load(a.in[Op::U] + row, x, d.nx, g.x);
    if constexpr (Op::PRODUCTS) {
#pragma unroll
      for (int i = 0; i < VECTOR + 2 * HALO; i++) g.x[i] *= f.x[i];
    }
  }

  __device__ __forceinline__ static void y_lines(const arguments &a, const geometry &d, int x, int y, int z,
                                                 ptrdiff_t plane, lines &f, lines &g) {
#pragma unroll
    for (int j = 0; j < 2 * HALO + 1; j++) {
      if (j == HALO) continue;
      const ptrdiff_t i = plane + (ptrdiff_t)wrap(y + j - HALO, d.ny) * d.ldx + x;
      if constexpr (Op::Y || Op::PRODUCTS) vector_load(a.in[Op::FIELD] + i, f.y[j]);
      if constexpr (Op::PRODUCTS && Op::TABLES) component_line(a, d, x, y + j - HALO, z, AXIS_Y, g.y[j]);
      if constexpr (Op::COMPONENTS) vector_load(a.in[Op::V] + i, g.y[j]);
      if constexpr (Op::PRODUCTS) multiply(g.y[j], f.y[j]);
    }
  }

  __device__ __forceinline__ static void table_point(const arguments &a, const geometry &d, int x, int y,
                                                     int z, points &at) {
    if constexpr (Op::TABLES_AT_POINT) {
      real columns[3][VECTOR];
      table_pair row[3];
#pragma unroll
      for (int k = 0; k < 3; k++) vector_load(a.table[0] + k * d.table_pitch() + x, columns[k]);
#pragma unroll
      for (int k = 0; k < 3; k++) row[k] = pair(a, y, z, k);
#pragma unroll
      for (int k = 0; k < 3; k++) table_line(columns[k], row[k], at.velocity[k]);
    }
  }
};

constexpr int DIRECT_THREADS = 256;
constexpr bool TABLES_FIRST = SINGLE; /* the order of loads that spills fewer registers */

/* blockDim: vectors of x, rows. blockIdx.x: tiles of a plane, row by row. blockIdx.y: pieces of `chunk`
 * planes, of both ranges. */
template <class Op>
__global__ void __launch_bounds__(DIRECT_THREADS, Op::PRODUCTS ? 1 : 2)
    direct_kernel(const __grid_constant__ arguments a, const geometry d, const int chunk) {
  using use = direct<Op>;
  constexpr bool WINDOW = Op::Z || Op::TRIPLE;
  const unsigned across = (unsigned)divide_up(d.nx, (int)blockDim.x * VECTOR);
  const int x = (int)(blockIdx.x % across * blockDim.x + threadIdx.x) * VECTOR;
  const int y = (int)(blockIdx.x / across * blockDim.y + threadIdx.y);
  if (x >= d.nx || y >= d.ny) return;
  const kernels_planes piece = d.piece((int)blockIdx.y, chunk);
  const ptrdiff_t column = (ptrdiff_t)y * d.ldx + x;
  lines f = {}, g = {};
  points at;
  if constexpr (WINDOW) {
#pragma unroll
    for (int k = -HALO; k < HALO; k++) {
      use::window_load(a, d, x, y, piece.z0 + k, column, f, g);
      use::window_shift(f);
      use::window_shift(g);
    }
  }
  for (int z = piece.z0; z < piece.z1; z++) {
    const ptrdiff_t plane = d.plane(z);
    if (TABLES_FIRST) use::table_point(a, d, x, y, z, at);
    if constexpr (WINDOW) use::window_load(a, d, x, y, z + HALO, column, f, g);
    use::x_lines(a, d, x, y, z, plane, f, g);
    use::y_lines(a, d, x, y, z, plane, f, g);
    Op::points_load(a, plane + column, at);
    if (!TABLES_FIRST) use::table_point(a, d, x, y, z, at);
    real result[OPERATION_OUTPUTS][VECTOR];
    Op::apply(a, f, g, at, result);
    Op::store(a, plane + column, result);
    if constexpr (WINDOW) {
      use::window_shift(f);
      use::window_shift(g);
    }
  }
}

/* Planes per piece: few enough to occupy the device, and enough for a thread to reuse its window. */
static inline int direct_chunk(const kernels_launch *launch, const geometry &d, int blocks) {
  const int wanted = divide_up(4 * launch->context->multiprocessors, blocks);
  const int chunk = std::min(std::max(d.planes() / wanted, 1), 16);
  return std::max(chunk, chunk_least(d));
}

template <class Op>
static status direct_launch(const kernels_launch *launch, const arguments &a, const char *name) {
  const geometry d = launch_geometry(launch);
  const int lanes = d.nx <= 16 * VECTOR ? 16 : 32;
  const int rows = DIRECT_THREADS / lanes;
  const int tiles = divide_up(d.nx, lanes * VECTOR) * divide_up(d.ny, rows);
  const int chunk = direct_chunk(launch, d, tiles);
  const dim3 block((unsigned)lanes, (unsigned)rows);
  const dim3 grid((unsigned)tiles, (unsigned)d.pieces(chunk));
  kernel_launch(direct_kernel<Op>, grid, block, 0, launch_stream(launch), a, d, chunk);
  return launch_done(launch, name);
}

#endif
