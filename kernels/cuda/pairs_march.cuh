#ifndef FDAPP_CUDA_PAIRS_MARCH_CUH
#define FDAPP_CUDA_PAIRS_MARCH_CUH

#include "pairs.cuh"

/* The engine for two-point fluxes on large slabs: a block marches a tile of x and y upwards through a piece
 * of the planes, and a thread computes one column of it.
 *
 *     z ^   plane i arrives in shared memory, tile and HALO points around it
 *       |   . . . . . . .
 *       |   i - 1  \
 *       |   i - 2   |  own values and sums in registers: each pair with plane i is added to both
 *       |   i - 3   |
 *       |   i - 4  /   has its last neighbour: it is finished and stored
 *
 * So each value is loaded once per tile, and no plane but the newest is needed in shared memory. The order of
 * sums is that of flow_pairs.h: a plane gets the neighbours below when it arrives, then those along x and y,
 * then those above as they arrive. Names of planes are constants, because the loop is unrolled by HALO. */
template <class System, int ROWS> struct march_tile {
  static constexpr int WIDTH = 32, HEIGHT = ROWS, THREADS = WIDTH * ROWS;
  static constexpr int PITCH = WIDTH + 2 * HALO, FIELD = PITCH * (HEIGHT + 2 * HALO);
  static constexpr int READS = __builtin_popcount(System::READS), PLANE = READS * FIELD;
  static constexpr int RING = 3; /* planes in shared memory: one is read, two are on their way */
  static constexpr int COPIES =
      (FIELD + THREADS - 1) / THREADS; /* elements of a field that a thread copies */
  static constexpr size_t SHARED_BYTES = (size_t)RING * PLANE * sizeof(real);
};

template <class System, class Tile> struct pairs_march {
  const pairs_arguments<System> &a;
  const geometry &d;
  real *ring;
  int z0, count; /* first plane that is stored; planes that arrive: 2 HALO more than are stored */
  int from[Tile::COPIES];
  int place, column; /* of the thread's point, in a plane of the ring and of a field; column < 0: no point */
  real own[HALO][Tile::READS], sums[HALO][System::SUMS];

  __device__ __forceinline__ void open() {
    const int tiles_x = divide_up(d.nx, Tile::WIDTH);
    const int tiles = tiles_x * divide_up(d.ny, Tile::HEIGHT), tile = (int)blockIdx.x % tiles;
    const int x0 = tile % tiles_x * Tile::WIDTH, y0 = tile / tiles_x * Tile::HEIGHT;
    const int thread = (int)threadIdx.x, x = thread % Tile::WIDTH, y = thread / Tile::WIDTH;
#pragma unroll
    for (int k = 0; k < Tile::COPIES; k++) {
      const int i = thread + k * Tile::THREADS;
      const int column_x = (x0 + i % Tile::PITCH - HALO + d.nx) % d.nx;
      const int row = (y0 + i / Tile::PITCH - HALO + d.ny) % d.ny;
      from[k] = row * d.ldx + column_x;
    }
    place = (y + HALO) * Tile::PITCH + x + HALO;
    column = x0 + x < d.nx && y0 + y < d.ny ? (y0 + y) * d.ldx + x0 + x : -1;
  }

  /* Starts copying the plane that arrives as number i. */
  __device__ __forceinline__ void fetch(int i) {
    if (i < count) {
      const ptrdiff_t plane = d.neighbour(z0 - HALO + i);
      real *to = ring + i % Tile::RING * Tile::PLANE + (int)threadIdx.x;
#pragma unroll
      for (int k = 0; k < Tile::COPIES; k++) {
        if ((int)threadIdx.x + k * Tile::THREADS >= Tile::FIELD) continue;
#pragma unroll
        for (int f = 0; f < Tile::READS; f++)
          copy_element(to + f * Tile::FIELD + k * Tile::THREADS, a.in[f] + plane + from[k]);
      }
    }
    copy_commit();
  }

  __device__ __forceinline__ void load(const real *at, real (&to)[Tile::READS]) const {
#pragma unroll
    for (int f = 0; f < Tile::READS; f++) to[f] = at[f * Tile::FIELD];
  }

  /* The neighbours along x or y of the newest plane, which is in slot S. */
  template <int S, int D> __device__ __forceinline__ void gather(const real *at) {
    constexpr int STEP = D == AXIS_X ? 1 : Tile::PITCH;
    real other[Tile::READS];
#pragma unroll 1
    for (int l = HALO - 1; l >= 0; l--) {
      load(at - (1 + l) * STEP, other);
      System::pair(a.c, D, l, false, own[S], other, sums[S]);
    }
#pragma unroll 1
    for (int l = 0; l < HALO; l++) {
      load(at + (1 + l) * STEP, other);
      System::pair(a.c, D, l, true, own[S], other, sums[S]);
    }
  }

  /* The pair of the newest plane, values q and sums s, with the one in slot P, l + 1 planes below. */
  template <int P, int L>
  __device__ __forceinline__ void couple(const real (&q)[Tile::READS], real (&s)[System::SUMS]) {
    System::pair(a.c, AXIS_Z, L, false, q, own[P], s);
    System::pair(a.c, AXIS_Z, L, true, own[P], q, sums[P]);
  }

  template <int S> __device__ __forceinline__ void finish(int z) {
    if (column < 0) return;
    const ptrdiff_t at = d.plane(z) + column;
    real point[PAIRS_POINTS], out[PAIRS_OUTPUTS];
#pragma unroll
    for (int i = 0; i < PAIRS_POINTS; i++)
      if (i < a.points) point[i] = a.at[i][at];
    System::finish(a.c, own[S], sums[S], point, a.points, out);
#pragma unroll
    for (int i = 0; i < System::OUTPUTS; i++) a.out[i][at] = out[i];
  }

  /* Plane i arrives; slot S holds plane i - 4, and then this one. */
  template <int S> __device__ __forceinline__ void step(int i) {
    copy_wait<Tile::RING - 2>();
    __syncthreads(); /* plane i is here, and nobody reads plane i - 1 any more */
    fetch(i + Tile::RING - 1);
    const real *at = ring + i % Tile::RING * Tile::PLANE + place;
    real q[Tile::READS], s[System::SUMS];
    load(at, q);
#pragma unroll
    for (int k = 0; k < System::SUMS; k++) s[k] = 0;
    couple<S, 3>(q, s);
    if (i >= 2 * HALO && i < count) finish<S>(z0 + i - 2 * HALO);
    couple<(S + 1) % HALO, 2>(q, s);
    couple<(S + 2) % HALO, 1>(q, s);
    couple<(S + 3) % HALO, 0>(q, s);
#pragma unroll
    for (int f = 0; f < Tile::READS; f++) own[S][f] = q[f];
#pragma unroll
    for (int k = 0; k < System::SUMS; k++) sums[S][k] = s[k];
    if (i < HALO || i >= count - HALO) return;
    gather<S, AXIS_X>(at);
    gather<S, AXIS_Y>(at);
  }

  __device__ __forceinline__ void run() {
#pragma unroll
    for (int p = 0; p < HALO; p++) {
#pragma unroll
      for (int f = 0; f < Tile::READS; f++) own[p][f] = 1;
#pragma unroll
      for (int k = 0; k < System::SUMS; k++) sums[p][k] = 0;
    }
    fetch(0);
    fetch(1);
#pragma unroll 1
    for (int i = 0; i < count; i += HALO) {
      step<0>(i);
      step<1>(i + 1);
      step<2>(i + 2);
      step<3>(i + 3);
    }
  }
};

template <class System, class Tile>
__global__ void __launch_bounds__(Tile::THREADS)
    pairs_march_kernel(const __grid_constant__ pairs_arguments<System> a, const __grid_constant__ geometry d,
                       const int chunk) {
  const int tiles = divide_up(d.nx, Tile::WIDTH) * divide_up(d.ny, Tile::HEIGHT);
  const kernels_planes piece = d.piece((int)blockIdx.x / tiles, chunk);
  pairs_march<System, Tile> march = {a, d, reinterpret_cast<real *>(block_memory()), piece.z0,
                                     piece.z1 - piece.z0 + 2 * HALO};
  march.open();
  march.run();
}

/* Planes of a piece: the number of pieces with the least cost in waves of blocks. Each piece computes pairs
 * of 2 HALO more planes. */
static inline int march_chunk(int tiles, int planes, int resident) {
  int best = planes;
  long least = LONG_MAX;
  for (int pieces = 1; pieces <= 16; pieces++) {
    const int chunk = divide_up(planes, pieces);
    const long cost = (long)divide_up(tiles * divide_up(planes, chunk), resident) * (chunk + 2 * HALO);
    if (cost >= least) continue;
    least = cost;
    best = chunk;
  }
  return best;
}

/* Marches if the slab is large enough to fill the device, otherwise computes point by point. */
template <class System, int ROWS>
static status march_launch(const kernels_launch *launch, const pairs_arguments<System> &a, const char *name) {
  using Tile = march_tile<System, ROWS>;
  constexpr size_t LEAST = 4096; /* points for each multiprocessor */
  kernels_context *context = launch->context;
  const geometry d = launch_geometry(launch);
  const size_t points = (size_t)d.nx * (size_t)d.ny * (size_t)d.planes();
  if (points < LEAST * (size_t)context->multiprocessors || d.planes() < 2 * HALO ||
      Tile::SHARED_BYTES > context->shared_limit || (size_t)d.ny * (size_t)d.ldx > INT32_MAX)
    return pairs_launch(launch, a, name);
  const auto kernel = pairs_march_kernel<System, Tile>;
  int resident = 0;
  CHECK_CUDA(
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)Tile::SHARED_BYTES));
  CHECK_CUDA(
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, Tile::THREADS, Tile::SHARED_BYTES));
  if (resident == 0) return pairs_launch(launch, a, name);
  const int tiles = divide_up(d.nx, Tile::WIDTH) * divide_up(d.ny, Tile::HEIGHT);
  const int chunk = march_chunk(tiles, d.longest(), resident * context->multiprocessors);
  kernel_launch(kernel, (unsigned)(tiles * d.pieces(chunk)), Tile::THREADS, Tile::SHARED_BYTES,
                launch_stream(launch), a, d, chunk);
  return launch_done(launch, name);
}

#endif
