#ifndef FDAPP_CUDA_DIRECT_CUH
#define FDAPP_CUDA_DIRECT_CUH

#include <algorithm>
#include <climits>
#include <type_traits>

#include "operations.cuh"
#include "sending.cuh"
#include "tiles.cuh"

/* The kernel for few points. A thread owns one vector of a row and marches along z with its window in
 * registers. Rows and columns are read through the L1 cache, without shared memory or barriers. Any sizes.
 * Large launches use pipeline.cuh. */

/* Loads columns x - HALO .. x + VECTOR + HALO - 1 of a row, with periodic images outside [0, nx). */
__device__ __forceinline__ void line_load(const real *row, int x, int nx, real (&to)[VECTOR + 2 * HALO]) {
  constexpr int COLUMNS = VECTOR + 2 * HALO;
  if (nx % VECTOR == 0) { /* images of vectors are vectors */
    int vectors[COLUMNS / VECTOR];
    images(x / VECTOR - HALO / VECTOR, {0, nx / VECTOR}, nx / VECTOR, vectors);
#pragma unroll
    for (int k = 0; k < COLUMNS / VECTOR; k++)
      vector_load(row + vectors[k] * VECTOR, *reinterpret_cast<real(*)[VECTOR]>(to + k * VECTOR));
  } else if (x >= HALO && x + VECTOR + HALO <= nx) {
    vectors_load(row + x - HALO, to);
  } else {
    int columns[COLUMNS];
    images(x - HALO, {0, nx}, nx, columns);
#pragma unroll
    for (int i = 0; i < COLUMNS; i++) to[i] = row[columns[i]];
  }
}

__device__ __forceinline__ void multiply(real (&to)[VECTOR], const real (&by)[VECTOR]) {
#pragma unroll
  for (int v = 0; v < VECTOR; v++) to[v] *= by[v];
}

template <class Op> struct direct {
  static constexpr bool WINDOW = Op::Z || Op::TRIPLE; /* planes around are kept in registers */

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

  /* Loads the field and the triple's component along AXIS on the vector at element i. Tables are read at
   * (x, y, z), which lies outside the grid if the element is that of a periodic image. */
  template <int AXIS>
  __device__ __forceinline__ static void vectors_at(const arguments &a, const geometry &d, int x, int y,
                                                    int z, ptrdiff_t i, real (&f)[VECTOR],
                                                    real (&g)[VECTOR]) {
    constexpr int COMPONENT = AXIS == AXIS_X ? Op::U : AXIS == AXIS_Y ? Op::V : Op::W;
    if constexpr ((AXIS == AXIS_X ? Op::X : AXIS == AXIS_Y ? Op::Y : Op::Z) || Op::PRODUCTS)
      vector_load(a.in[Op::FIELD] + i, f);
    if constexpr (Op::PRODUCTS && Op::TABLES) component_line(a, d, x, y, z, AXIS, g);
    if constexpr (Op::COMPONENTS) vector_load(a.in[COMPONENT] + i, g);
    if constexpr (Op::PRODUCTS) multiply(g, f);
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
    int rows[2 * HALO + 1];
    images(y - HALO, {0, d.ny}, d.ny, rows);
#pragma unroll
    for (int j = 0; j < 2 * HALO + 1; j++) {
      if (j == HALO) continue;
      const ptrdiff_t i = plane + (ptrdiff_t)rows[j] * d.ldx + x;
      vectors_at<AXIS_Y>(a, d, x, y + j - HALO, z, i, f.y[j], g.y[j]);
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

/* Blocks start with the pieces at both ends of the slab and go on inwards. */
struct direct_sender : edge_sender {
  int pieces; /* along z */

  __device__ __forceinline__ int piece(int block) const {
    return block % 2 == 0 ? block / 2 : pieces - 1 - block / 2;
  }
};

struct no_edges {};

/* Where results go instead of the operation's output: z is the plane's number in an array of its own. */
struct seam_place {
  real *first;
  ptrdiff_t plane; /* elements from plane to plane */

  __device__ __forceinline__ void store(int z, const real (&result)[VECTOR]) const {
    vector_store(first + z * plane, result);
  }
};

template <class Op> using direct_edges = std::conditional_t<Op::SENDS, direct_sender, no_edges>;

/* A thread's march along a piece, from point (x, y) of each plane. */
template <class Op, class Edges>
__device__ __forceinline__ void direct_march(const arguments &a, const geometry &d, const Edges &edges, int x,
                                             int y, const kernels_planes &piece) {
  using use = direct<Op>;
  constexpr bool WINDOW = use::WINDOW;
  const ptrdiff_t column = (ptrdiff_t)y * d.ldx + x;
  lines f = {}, g = {};
  points at;
  if constexpr (WINDOW) {
    int planes[2 * HALO];
    images(piece.z0 - HALO, d.memory, d.nz, planes);
#pragma unroll
    for (int k = 0; k < 2 * HALO; k++) {
      use::template vectors_at<AXIS_Z>(a, d, x, y, piece.z0 - HALO + k, d.plane(planes[k]) + column,
                                       f.z[2 * HALO], g.z[2 * HALO]);
      use::window_shift(f);
      use::window_shift(g);
    }
  }
  for (int z = piece.z0; z < piece.z1; z++) {
    const ptrdiff_t plane = d.plane(z);
    if (TABLES_FIRST) use::table_point(a, d, x, y, z, at);
    if constexpr (WINDOW) {
      int newest[1];
      images(z + HALO, d.memory, d.nz, newest);
      use::template vectors_at<AXIS_Z>(a, d, x, y, z + HALO, d.plane(newest[0]) + column, f.z[2 * HALO],
                                       g.z[2 * HALO]);
    }
    use::x_lines(a, d, x, y, z, plane, f, g);
    use::y_lines(a, d, x, y, z, plane, f, g);
    Op::points_load(a, plane + column, at);
    if (!TABLES_FIRST) use::table_point(a, d, x, y, z, at);
    real result[LEAN_OUTPUTS][VECTOR];
    Op::apply(a, f, g, at, result);
    if constexpr (std::is_same_v<Edges, seam_place>)
      edges.store(z, result[0]);
    else
      Op::store(a, plane + column, result);
    if constexpr (Op::SENDS) edges.store(z, a.out[0] + plane + column, result[0]);
    if constexpr (WINDOW) {
      use::window_shift(f);
      use::window_shift(g);
    }
  }
}

/* blockDim: vectors of x, rows. blockIdx: tiles along x and y, and pieces of `chunk` planes, of both
 * ranges. */
template <class Op>
__global__ void __launch_bounds__(DIRECT_THREADS,
                                  Op::PRODUCTS || (Op::Z && Op::TRIPLE) ? 1 : 2) /* two windows */
    direct_kernel(const __grid_constant__ arguments a, const geometry d, const int chunk,
                  const __grid_constant__ direct_edges<Op> edges) {
  const int x = d.x0 + (int)(blockIdx.x * blockDim.x + threadIdx.x) * VECTOR;
  const int y = d.y0 + (int)(blockIdx.y * blockDim.y + threadIdx.y);
  const bool writes = x < min(d.x1, d.nx) && y < d.y1;
  if constexpr (Op::SENDS) {
    const kernels_planes piece = d.piece(edges.piece((int)blockIdx.z), chunk);
    const bool sends = edges.is_edge(piece, d.nz);
    if (sends) edges.wait();
    if (writes) direct_march<Op>(a, d, edges, x, y, piece);
    if (sends) edges.tell();
  } else {
    if (!writes) return;
    direct_march<Op>(a, d, edges, x, y, d.piece((int)blockIdx.z, chunk));
  }
}

/* Planes per piece, those with the least cost. n blocks that share a multiprocessor take n + 2 where one
 * takes 3; a block's start takes `start` halves of a plane. Fitted to steps of 64^3 to 128 x 128 x 64 points.
 */
static inline int direct_chunk(const kernels_launch *launch, const geometry &d, int blocks, int start) {
  const int least = chunk_least(d);
  int best = least;
  long least_cost = LONG_MAX;
  for (int chunk = least; chunk <= std::max(16, least); chunk++) {
    const int shared = divide_up(blocks * d.pieces(chunk), launch->context->multiprocessors);
    const long cost = (long)(shared + 2) * (2 * chunk + start);
    if (cost >= least_cost) continue;
    least_cost = cost;
    best = chunk;
  }
  return best;
}

template <class Op>
static status direct_launch(const kernels_launch *launch, const arguments &a, const char *name) {
  const geometry d = launch_geometry(launch);
  const int lanes = d.nx <= 16 * VECTOR ? 16 : 32;
  const int rows = DIRECT_THREADS / lanes;
  const int across = divide_up(d.nx, lanes * VECTOR), down = divide_up(d.ny, rows);
  const int chunk = direct_chunk(launch, d, across * down, direct<Op>::WINDOW ? tiles_of<Op>().start : 0);
  const dim3 block((unsigned)lanes, (unsigned)rows);
  const dim3 grid((unsigned)across, (unsigned)down, (unsigned)d.pieces(chunk));
  direct_edges<Op> edges = {};
  if constexpr (Op::SENDS) {
    int ends = 0; /* pieces at the ends of the slab */
    for (int z = 0; z < d.nz; z += chunk) ends += edge_sender::is_edge({z, std::min(z + chunk, d.nz)}, d.nz);
    edges = {edge_sender_of(launch, a.out[0], ends * across * down), d.pieces(chunk)};
  }
  kernel_launch(direct_kernel<Op>, grid, block, 0, launch_stream(launch), a, d, chunk, edges);
  return launch_done(launch, name);
}

#endif
