#ifndef FDAPP_CUDA_WAVE_HAND_CUH
#define FDAPP_CUDA_WAVE_HAND_CUH

#include "pair_rims.cuh"
#include "wave_second.cuh"

/* Two Laplacians in one sweep where all blocks run at the same time: each computes q on its own tile alone,
 * and blocks hand the rims of q to one another through the L2 cache (pair_rims.cuh). The second Laplacian
 * adds the pairs along x and y two planes after a plane of q has come, so that its rims have time to arrive.
 *
 *   copying warps  p of the tile and HALO points around it; p_before and K of the tile
 *   first warps    make 2 p - p_before of p_before in its place when p comes, and q + 2 p - p_before of that
 *                  when q is complete; they write the rims of q
 *   one warp       brings the neighbours' rims; one thread tells the neighbours that this block's are written
 *   second warps   as in wave_second.cuh
 *
 * Beyond ends of x and y, a block writes images of its own q in the place of rims. */
struct wave_hand_tile {
  static constexpr int WIDTH = by_precision_value(64, 32), HEIGHT = 32, ROWS = WAVE_ROWS,
                       CORE = WIDTH * HEIGHT;
  static constexpr int F_RING = by_precision_value(3, 2), LATE = 2, Q_RING = LATE + 2;
  /* p_before is overwritten when the second warps have read what was made of it, as a slot of K is. */
  static constexpr int T_RING = 11, K_RING = 7;
  static constexpr int COPYING = 64, RIM_THREADS = 32, HELPING = 128;
  using copies = wave_copies<WIDTH, HEIGHT, HALO, COPYING>;
  static constexpr int COLUMNS = WIDTH / VECTOR, UNITS = COLUMNS * (HEIGHT / WAVE_ROWS), WARPS = UNITS / 32;
  static constexpr int COMPUTING = 2 * UNITS, THREADS = COMPUTING + HELPING;
  static constexpr int REGISTERS = 224, REGISTERS_COPYING = 56; /* as in wave_twice.cuh */
  static constexpr int OWN = CORE / VECTOR / COPYING, OWN_ROWS = COPYING / COLUMNS;
  static_assert(UNITS == 128 && COPYING % COLUMNS == 0, "groups of warps, and rows of copies");

  /* For pair_rims. */
  static constexpr int RIM_ROWS = HALO * WIDTH, RIM_COLUMNS = HALO * HEIGHT,
                       RIMS = 2 * (RIM_ROWS + RIM_COLUMNS);
  static constexpr int S_PLANES = Q_RING, RIM_PLANES = 2 * S_PLANES;
  static constexpr int S_WIDTH = WIDTH + 2 * HALO, S_PLANE = copies::PLANE;

  static constexpr bool HANDS = true;
  static constexpr int SHIFT = by_precision_value(4, 0), Q_PLANE = copies::PLANE;
  static constexpr int F_AT = SHIFT, Q_AT = F_AT + F_RING * copies::PLANE;
  static constexpr int T_AT = Q_AT + Q_RING * Q_PLANE + SHIFT, K_AT = T_AT + T_RING * CORE;
  static constexpr int SINGLES_AT = K_AT + K_RING * CORE, BARRIERS = 2 * F_RING + 3 * Q_RING + K_RING;
  /* Rows are whole vectors. Places for a second box of terms come before the barriers. */
  using terms = wave_terms_block<WAVE_ROWS>;
  static constexpr int SINGLES = 2 * HALO * copies::LINES, SECONDS = by_precision_value(20, 40);
  static constexpr size_t SECONDS_AT = SINGLES_AT * sizeof(real) + SINGLES * sizeof(uint2);
  static constexpr size_t BARRIERS_AT = SECONDS_AT + SECONDS * terms::SIZE * sizeof(real);
  static constexpr size_t SHARED_BYTES = BARRIERS_AT + BARRIERS * sizeof(barrier);
  static_assert(SHARED_BYTES + SHARED_STATIC <= 227 << 10, "the shared memory of a block on Hopper");

  /* p_before of plane i of the piece, and what becomes of it. */
  __device__ __forceinline__ static real *once(real *memory, int i) {
    return memory + T_AT + i % T_RING * CORE;
  }
  __device__ __forceinline__ static real *factor(real *memory, int i) {
    return memory + K_AT + (i + HALO) % K_RING * CORE; /* planes of K begin HALO before the piece */
  }
};

/* LAYERS: there are terms of absorbing layers to add. */
template <bool LAYERS> struct wave_hand : wave_second<wave_hand_tile> {
  static constexpr int PITCH = Tile::copies::PITCH;
  barrier *p_full, *p_free;
  int *seconds; /* places for terms that are taken */

  __device__ __forceinline__ void open() {
    p_full = reinterpret_cast<barrier *>(reinterpret_cast<unsigned char *>(memory) + Tile::BARRIERS_AT);
    p_free = p_full + Tile::F_RING;
    q_full = p_free + Tile::F_RING;
    q_free = q_full + Tile::Q_RING;
    r_full = q_free + Tile::Q_RING;
    k_free = r_full + Tile::Q_RING;
    find_ends();
    for (int i = (int)threadIdx.x; i < Tile::T_AT; i += Tile::THREADS)
      memory[i] = 0; /* zeros beyond ends stay */
    if (threadIdx.x == 0) {
      *seconds = 0;
      for (int i = 0; i < Tile::F_RING; i++) {
        barrier_make(p_full + i, Tile::COPYING);
        barrier_make(p_free + i, Tile::WARPS);
      }
      for (int i = 0; i < Tile::Q_RING; i++) {
        barrier_make(q_full + i, Tile::WARPS);
        barrier_make(q_free + i, Tile::WARPS + 1);
        barrier_make(r_full + i, Tile::RIM_THREADS + 1);
      }
      for (int i = 0; i < Tile::K_RING; i++) barrier_make(k_free + i, Tile::WARPS);
      barriers_made();
    }
    __syncthreads();
  }

  __device__ __forceinline__ unsigned closed() const {
    return (unsigned)low_x | (unsigned)high_x << 1 | (unsigned)low_y << 2 | (unsigned)high_y << 3;
  }

  /* Plane i of p is z0 - 2 HALO + i. With it come p_before of the same plane, and K of the plane of q that it
   * completes. */
  __device__ __forceinline__ void copy_planes(int thread) const {
    typename Tile::copies of_p;
    of_p.open(a, d, x0, y0, thread, reinterpret_cast<uint2 *>(memory + Tile::SINGLES_AT));
    const int x = x0 + thread % Tile::COLUMNS * VECTOR, y = y0 + thread / Tile::COLUMNS;
    const int own =
        x < d.nx ? divide_up(max(d.ny - y, 0), Tile::OWN_ROWS) : 0; /* vectors that are in the grid */
    const unsigned place = Tile::copies::bytes(d, x, y), step = Tile::copies::bytes(d, 0, Tile::OWN_ROWS);
    const auto copy_own = [&](real *to, const real *plane) {
#pragma unroll
      for (int k = 0; k < Tile::OWN; k++)
        copy_vector_where(k < own, to + (thread + k * Tile::COPYING) * VECTOR,
                          advance(plane, place + k * step));
    };
    wave_turn<Tile::F_RING> turn = {0, 1};
    wave_turn<Tile::K_RING> k_turn = {0, 1};
    int before = 0; /* the slot of the plane before */
#pragma unroll 1
    for (int i = 0; i < planes + 4 * HALO; i++) {
      barrier_wait(p_free + turn.slot, turn.parity);
      of_p.copy(memory + Tile::F_AT + turn.slot * Tile::copies::PLANE,
                a.p + wave_plane(d, z0 - 2 * HALO + i));
      if (i >= 2 * HALO) {
        barrier_wait(k_free + k_turn.slot, k_turn.parity);
        copy_own(memory + Tile::K_AT + k_turn.slot * Tile::CORE, a.factor + wave_plane(d, z0 - 3 * HALO + i));
        k_turn.next();
        if (i < planes + 2 * HALO)
          copy_own(Tile::once(memory, i - 2 * HALO), a.before + d.plane(z0 - 2 * HALO + i));
      }
      tell_copies(of_p, memory + Tile::F_AT, p_full, turn.slot, i > 0 ? before : -1);
      before = turn.slot;
      turn.next();
    }
    tell_last_copies(of_p, memory + Tile::F_AT, p_full, before);
  }

  /* One thread tells the other blocks, plane after plane, that this block's rims are written. It arrives
   * where the neighbours' rims do, and where slots of q become free, so that no warp is planes ahead of it.
   */
  __device__ __forceinline__ void tell(const pair_rims<Tile> &rims) const {
    wave_turn<Tile::Q_RING> turn = {0, 0}, full = {0, 0};
    unsigned *written = rims.counter(0);
#pragma unroll 1
    for (int i = 0; i < planes + 2 * HALO; i++) {
      barrier_wait(q_full + turn.slot, turn.parity);
      if (i >= HALO && i < HALO + planes) {
        stress_rest();
        counter_tell(written++);
        barrier_arrive(r_full + full.slot);
        full.next();
      }
      barrier_arrive(q_free + turn.slot);
      turn.next();
    }
  }

  __device__ __forceinline__ void store_rims(const pair_rims<Tile> &rims, const pair_rims<Tile>::places &to,
                                             int plane, const wave_block &q) const {
    real *const rim = rims.of_block(plane, blockIdx.x);
#pragma unroll
    for (int r = 0; r < WAVE_ROWS; r++) {
      store_vector_where(to.rows >= 0, rim + to.rows + r * Tile::WIDTH, q[r]);
      store_vector_where(to.columns >= 0, rim + to.columns + r * HALO, q[r]);
    }
  }

  __device__ __forceinline__ Tile::terms::place second_place(int i) const {
    unsigned char *const all = reinterpret_cast<unsigned char *>(memory) + Tile::SECONDS_AT;
    return {i < Tile::SECONDS ? reinterpret_cast<real *>(all) + i * Tile::terms::SIZE : nullptr, VECTOR};
  }

  __device__ __forceinline__ void first(int unit, int lane, const pair_rims<Tile> &rims) const {
    const int column = unit % Tile::COLUMNS * VECTOR, row = unit / Tile::COLUMNS * WAVE_ROWS;
    const int own = (row + HALO) * PITCH + column + HALO, place = row * Tile::WIDTH + column;
    const bool there = column < rims.width() && row < rims.height(); /* rims lie beyond */
    const bool images = there && has_images(column, row);
    auto to = rims.places_of(column, row);
    if (!there) to = {-1, -1};
    wave_turn<Tile::F_RING> turn = {0, 0};
    wave_turn<Tile::Q_RING> q_turn = {0, 1};
    const int x = x0 + column, y = y0 + row;
    const typename Tile::terms terms = {a.terms, x, y,
                                        LAYERS ? wave_terms_near<WAVE_ROWS, VECTOR>(a.terms, x, y) : 0};
    const int second = terms.is_corner() ? atomicAdd(seconds, 1) : Tile::SECONDS;
    wave_block sums[2 * HALO];
    clear(sums);
#pragma unroll 1
    for (int i = 0; i < planes + 4 * HALO; i++) {
      const bool gives = i >= 2 * HALO, hands = i >= 3 * HALO && i < planes + 3 * HALO;
      const bool drifts = gives && i < planes + 2 * HALO;
      const real *f = memory + Tile::F_AT + turn.slot * Tile::copies::PLANE + own;
      real *const q = memory + Tile::Q_AT + q_turn.slot * Tile::Q_PLANE;
      barrier_wait(p_full + turn.slot, turn.parity);
      if (gives) barrier_wait(q_free + q_turn.slot, q_turn.parity);
      /* The place of the thread's q, which is written later, is one for its terms. */
      const typename Tile::terms::place places[2] = {{q + own, PITCH}, second_place(second)};
      if (LAYERS && gives) terms.copy(wave_home(d, z0 + i - 3 * HALO), places);
      if (LAYERS) copy_commit();
      wave_block v, laplacian;
      wave_load<PITCH>(f, v);
      wave_block_arrives(a.c[0], v, sums, laplacian);
      wave_block_x<PITCH>(a.c[0], f, v, sums[HALO - 1]);
      wave_block_y<PITCH>(a.c[0], f, v, sums[HALO - 1]);
      if (LAYERS) copy_wait<0>();
      if (LAYERS && gives) terms.add(wave_home(d, z0 + i - 3 * HALO), places, laplacian);
      if (drifts) {
        real *const at = Tile::once(memory, i - 2 * HALO) + place;
#pragma unroll
        for (int r = 0; r < WAVE_ROWS; r++) {
          real before[VECTOR], drift[VECTOR];
          vector_load(at + r * Tile::WIDTH, before);
#pragma unroll
          for (int e = 0; e < VECTOR; e++) drift[e] = wave_drift(v[r][e], before[e]);
          vector_store(at + r * Tile::WIDTH, drift);
        }
      }
      if (gives) {
        const real *factor = Tile::factor(memory, i - 3 * HALO) + place;
        const int z = z0 + i - 3 * HALO;
        const bool beyond = wave_is_beyond(a, d, z);
#pragma unroll
        for (int r = 0; r < WAVE_ROWS; r++) {
          real c[VECTOR];
          vector_load(factor + r * Tile::WIDTH, c);
#pragma unroll
          for (int e = 0; e < VECTOR; e++) laplacian[r][e] = beyond ? (real)0 : c[e] * laplacian[r][e];
          if (there) vector_store(q + own + r * PITCH, laplacian[r]);
        }
        if (images) store_images(q, column, row, laplacian);
      }
      if (hands) {
        real *const at = Tile::once(memory, i - 3 * HALO) + place;
        store_rims(rims, to, i - 3 * HALO, laplacian);
#pragma unroll
        for (int r = 0; r < WAVE_ROWS; r++) {
          real once[VECTOR];
          vector_load(at + r * Tile::WIDTH, once);
#pragma unroll
          for (int e = 0; e < VECTOR; e++) once[e] = wave_once(laplacian[r][e], once[e]);
          vector_store(at + r * Tile::WIDTH, once);
        }
      }
      warp_wait();
      arrive(p_free + turn.slot, lane);
      turn.next();
      if (!gives) continue;
      arrive(q_full + q_turn.slot, lane);
      q_turn.next();
    }
  }

  __device__ __forceinline__ void run(const pair_rims<Tile> &rims) const {
    const int thread = (int)threadIdx.x, lane = thread % 32, helper = thread - Tile::COMPUTING;
    if (helper >= 0) {
      registers_give<Tile::REGISTERS_COPYING>();
      if (helper < Tile::COPYING)
        copy_planes(helper);
      else if (helper < Tile::COPYING + Tile::RIM_THREADS)
        rims.fetch<false>(z0, 1, planes, memory + Tile::Q_AT, q_free, r_full, lane, pair_edges{});
      else if (helper == Tile::COPYING + Tile::RIM_THREADS)
        tell(rims);
      return;
    }
    registers_take<Tile::REGISTERS>();
    if (thread < Tile::UNITS)
      first(thread, lane, rims);
    else
      second(thread - Tile::UNITS, lane);
  }
};

/* Blocks are the tiles of the first piece, then those of the next one. */
template <bool LAYERS>
__global__ void __launch_bounds__(wave_hand_tile::THREADS, 1)
    wave_hand_kernel(const __grid_constant__ wave_arguments a, const __grid_constant__ geometry d,
                     const __grid_constant__ pair_cut c, const __grid_constant__ pair_exchange exchange) {
  using Tile = wave_hand_tile;
  const int tiles = c.tiles_x * c.tiles_y, tile = (int)blockIdx.x % tiles;
  const long long piece = (int)blockIdx.x / tiles, count = d.planes(0);
  const int z0 = d.range[0].z0 + (int)(count * piece / c.pieces);
  const int z1 = d.range[0].z0 + (int)(count * (piece + 1) / c.pieces);
  __shared__ int seconds;
  wave_hand<LAYERS> hand = {{a, d, reinterpret_cast<real *>(block_memory()), tile % c.tiles_x * Tile::WIDTH,
                             tile / c.tiles_x * Tile::HEIGHT, z0, z1 - z0}};
  hand.seconds = &seconds;
  hand.open();
  hand.run({exchange, c, d, hand.x0, hand.y0, hand.closed()});
}

#endif
