#ifndef FDAPP_CUDA_WAVE_LEAP_CUH
#define FDAPP_CUDA_WAVE_LEAP_CUH

#include "pace.cuh"
#include "wave_vectors.cuh"

/* A step with one Laplacian on large slabs, at the speed of memory. As in wave_march.cuh a block marches
 * upwards with the sums of nine planes in registers. In shared memory are
 *
 *   p             a ring of three planes of the tile with HALO points around it, filled two planes ahead
 *   K, p_before   two slots each, filled one plane ahead
 *   p             of the four planes before, which a thread keeps for its own points
 *
 * The last two are read by the thread alone that wrote them. Layers add to the results later
 * (wave_layers.cu). */
struct wave_leap_tile {
  static constexpr int WIDTH = 64, HEIGHT = 32, COLUMNS = WIDTH / VECTOR, CORE = WIDTH * HEIGHT;
  static constexpr int THREADS = COLUMNS * (HEIGHT / WAVE_ROWS);
  static constexpr int AHEAD = 2, RING = AHEAD + 1, KEPT = HALO;
  using copies = wave_copies<WIDTH, HEIGHT, HALO, THREADS>;
  /* Shared addresses agree with global ones modulo 32 bytes: otherwise copies fetch sectors twice. */
  static constexpr int SHIFT = (32 - HALO * (int)sizeof(real) % 32) % 32 / (int)sizeof(real);
  static constexpr int KEPT_AT = SHIFT + RING * copies::PLANE + 32 - SHIFT, SIDE_AT = KEPT_AT + KEPT * CORE;
  static constexpr int SINGLES_AT = SIDE_AT + 2 * AHEAD * CORE;
  static constexpr size_t SHARED_BYTES = SINGLES_AT * sizeof(real) + copies::SINGLES * sizeof(uint2);
  static constexpr int PACE = 2; /* planes between waits of blocks for one another */
};

struct wave_leap {
  using Tile = wave_leap_tile;
  static constexpr int PITCH = Tile::copies::PITCH;
  const wave_arguments &a;
  const geometry &d;
  real *memory;
  int z0, count;       /* the first plane that arrives, and planes that do */
  int x, y, own, core; /* the thread's first point; its place in a plane of the ring and of the others */
  unsigned at;         /* bytes of that point in a plane of a field */
  int rows;            /* that the thread stores */
  unsigned zeros;      /* those of its points that are zero in every plane */
  Tile::copies copies;
  wave_block sums[2 * HALO];

  __device__ __forceinline__ real *ring(int i) const {
    return memory + Tile::SHIFT + i % Tile::RING * Tile::copies::PLANE;
  }
  /* This thread's part of slot i of K (0) and p_before (1), and of p in the last planes. */
  __device__ __forceinline__ real *side(int i, int array) const {
    return memory + Tile::SIDE_AT + (i % Tile::AHEAD * 2 + array) * Tile::CORE + core;
  }
  __device__ __forceinline__ real *kept(int i) const {
    return memory + Tile::KEPT_AT + i % Tile::KEPT * Tile::CORE + core;
  }

  __device__ __forceinline__ void open(int tile, const kernels_planes &piece) {
    const int tiles_x = divide_up(d.nx, Tile::WIDTH), thread = (int)threadIdx.x;
    const int column = thread % Tile::COLUMNS * VECTOR, row = thread / Tile::COLUMNS * WAVE_ROWS;
    const int x0 = tile % tiles_x * Tile::WIDTH, y0 = tile / tiles_x * Tile::HEIGHT;
    x = x0 + column;
    y = y0 + row;
    z0 = piece.z0 - HALO;
    count = piece.z1 - piece.z0 + 2 * HALO;
    own = (row + HALO) * PITCH + column + HALO;
    core = row * Tile::WIDTH + column;
    at = Tile::copies::bytes(d, x, y);
    rows = x < d.nx ? min(WAVE_ROWS, d.ny - y) : 0;
    zeros = wave_zeros_of(a, d, x, y);
    copies.open(a, d, x0, y0, thread, reinterpret_cast<uint2 *>(memory + Tile::SINGLES_AT));
    for (int i = thread; i < Tile::KEPT_AT; i += Tile::THREADS) memory[i] = 0; /* zeros beyond ends stay */
#pragma unroll
    for (int k = 0; k < 2 * HALO; k++)
#pragma unroll
      for (int r = 0; r < WAVE_ROWS; r++)
#pragma unroll
        for (int e = 0; e < VECTOR; e++) sums[k][r][e] = 0;
    __syncthreads();
  }

  /* Starts copying the plane that arrives as number i, and K and p_before for the one that is complete when
   * plane i - 1 has arrived. */
  __device__ __forceinline__ void fetch(int i) const {
    if (i < count) copies.copy(ring(i), a.p + wave_plane(d, z0 + i));
    if (i > 2 * HALO && i <= count) fetch_sides(i - 1);
    copy_commit();
  }
  __device__ __forceinline__ void fetch_sides(int i) const {
    const ptrdiff_t plane = d.plane(z0 + i - HALO);
#pragma unroll
    for (int r = 0; r < WAVE_ROWS; r++) {
      const unsigned place = at + (unsigned)(r * d.ldx) * (unsigned)sizeof(real);
      copy_vector_where(r < rows, side(i, 0) + r * Tile::WIDTH, advance(a.factor + plane, place));
      copy_vector_where(r < rows, side(i, 1) + r * Tile::WIDTH, advance(a.before + plane, place));
    }
  }

  /* Stores the plane that is complete when plane i has arrived. `out` begins as its Laplacian. */
  __device__ __forceinline__ void store(int i, wave_block &out, const wave_block &p) const {
    const int z = z0 + i - HALO;
    const ptrdiff_t plane = d.plane(z);
    wave_block before;
    wave_load<Tile::WIDTH>(side(i, 1), before);
#pragma unroll
    for (int r = 0; r < WAVE_ROWS; r++) {
      real factor[VECTOR];
      vector_load(side(i, 0) + r * Tile::WIDTH, factor);
#pragma unroll
      for (int e = 0; e < VECTOR; e++)
        out[r][e] = wave_once(factor[e] * out[r][e], wave_drift(p[r][e], before[r][e]));
    }
    wave_block_zero(a, d, z, zeros, out);
#pragma unroll
    for (int r = 0; r < WAVE_ROWS; r++)
      store_vector_where(r < rows,
                         advance(a.out + plane, at + (unsigned)(r * d.ldx) * (unsigned)sizeof(real)), out[r]);
  }

  /* Plane i arrives. */
  __device__ __forceinline__ void arrive(int i) {
    const real *plane = ring(i) + own;
    wave_block v, laplacian, p;
    wave_load<PITCH>(plane, v);
    wave_block_arrives(a.c[0], v, sums, laplacian);
    wave_load<Tile::WIDTH>(kept(i), p);
    wave_keep<Tile::WIDTH>(kept(i), v);
    wave_block_x<PITCH>(a.c[0], plane, v, sums[HALO - 1]);
    wave_block_y<PITCH>(a.c[0], plane, v, sums[HALO - 1]);
    copy_wait<Tile::AHEAD - 1>(); /* plane i + 1 is here, and K and p_before for this one */
    if (i >= 2 * HALO) store(i, laplacian, p);
  }

  __device__ __forceinline__ void run(pacer &mine, bool paces) {
    for (int i = 0; i < Tile::AHEAD; i++) fetch(i);
    copy_wait<Tile::AHEAD - 1>();
#pragma unroll 1
    for (int i = 0; i < count; i++) {
      copies.negate(ring(i));
      __syncthreads(); /* plane i is here, and nobody reads plane i - 1 any more */
      if (paces) mine.plane_begin();
      fetch(i + Tile::AHEAD);
      if (paces) mine.copies_begun();
      arrive(i);
    }
  }
};

static __global__ void __launch_bounds__(wave_leap_tile::THREADS)
    wave_leap_kernel(const __grid_constant__ wave_arguments a, const __grid_constant__ geometry d,
                     const int chunk, const __grid_constant__ pace paced) {
  using Tile = wave_leap_tile;
  __shared__ int ticket;
  const bool paces = threadIdx.x == 0 && paced.round > 0;
  pacer mine;
  if (threadIdx.x == 0) {
    ticket = paced.round > 0 ? (int)atomicAdd(paced.words + PACE_TICKET, 1U) : (int)blockIdx.x;
    if (paced.round > 0) mine.open(paced, ticket);
  }
  __syncthreads();
  const int tiles = divide_up(d.nx, Tile::WIDTH) * divide_up(d.ny, Tile::HEIGHT);
  wave_leap leap = {a, d, reinterpret_cast<real *>(block_memory())};
  leap.open(ticket % tiles, d.piece(ticket / tiles, chunk));
  leap.run(mine, paces);
  if (paces) mine.close(paced);
}

/* Launches it, or returns false if the slab is small or the device has no room. [out] done: how that ended.
 */
static bool wave_leap_launch(const kernels_launch *launch, const wave_arguments &a, const geometry &d,
                             status *done) {
  using Tile = wave_leap_tile;
  constexpr size_t LEAST = 16 * Tile::CORE; /* points for each multiprocessor */
  const auto kernel = wave_leap_kernel;
  const size_t shared = Tile::SHARED_BYTES;
  kernels_context *context = launch->context;
  int resident = 0;
  if (a.call.plain || !wave_is_large(d, LEAST * (size_t)context->multiprocessors) ||
      shared + SHARED_STATIC > context->shared_limit)
    return false;
  if (cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared) != cudaSuccess ||
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, Tile::THREADS, shared) !=
          cudaSuccess ||
      resident == 0) {
    (void)cudaGetLastError();
    return false;
  }
  resident *= context->multiprocessors;
  const int tiles = divide_up(d.nx, Tile::WIDTH) * divide_up(d.ny, Tile::HEIGHT);
  const int chunk = march_chunk(tiles, d.longest(), resident, 2 * HALO), blocks = tiles * d.pieces(chunk);
  pace paced = {context->pace[launch->queue],           blocks, 0, resident, Tile::PACE,
                divide_up(chunk + 2 * HALO, Tile::PACE)};
  if (blocks == 1 || PACE_COUNTERS + paced.groups() > CONTEXT_PACE_WORDS) paced.round = 0;
  kernel_launch(kernel, (unsigned)blocks, Tile::THREADS, shared, launch_stream(launch), a, d, chunk, paced);
  *done = launch_done(launch, "wave");
  return true;
}

#endif
