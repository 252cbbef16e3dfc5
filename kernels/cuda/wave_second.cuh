#ifndef FDAPP_CUDA_WAVE_SECOND_CUH
#define FDAPP_CUDA_WAVE_SECOND_CUH

#include <barrier.cuh> /* found by the search path, as machine.cuh */

#include "wave_vectors.cuh"

/* What both ways of two Laplacians in one sweep share: the warps that compute the second one. The tile says
 * where planes lie in shared memory: those of q, from Q_AT on, and of the tile's own points q + 2 p -
 * p_before
 * (`once`) and K (`factor`) of plane i of the piece. HANDS: rims of q and slots of K have barriers, too. */

/* A slot of a ring, and the parity of its next phase. */
template <int N> struct wave_turn {
  int slot, parity;

  __device__ __forceinline__ void next() {
    if (++slot < N) return;
    slot = 0;
    parity ^= 1;
  }
};

template <class Tile_> struct wave_second {
  using Tile = Tile_;
  static constexpr int Q_PITCH = Tile::WIDTH + 2 * HALO;
  const wave_arguments &a;
  const geometry &d;
  real *memory;
  int x0, y0, z0, planes; /* the tile's first point; planes to compute */
  barrier *q_full, *q_free, *r_full, *k_free;

  __device__ __forceinline__ static void clear(wave_block (&sums)[2 * HALO]) {
#pragma unroll
    for (int k = 0; k < 2 * HALO; k++)
#pragma unroll
      for (int r = 0; r < WAVE_ROWS; r++)
#pragma unroll
        for (int e = 0; e < VECTOR; e++) sums[k][r][e] = 0;
  }

  /* Of the warp's threads one arrives, for all. */
  __device__ __forceinline__ static void arrive(barrier *b, int lane) {
    if (lane == 0) barrier_arrive(b);
  }

  /* Stores plane i; the points at `place`. `out` begins as the second Laplacian. */
  __device__ __forceinline__ void store(int i, int place, unsigned zeros, wave_block &out) const {
    const int x = x0 + place % Tile::WIDTH, y = y0 + place / Tile::WIDTH, z = z0 + i;
    const int rows = x < d.nx ? min(WAVE_ROWS, d.ny - y) : 0;
    const ptrdiff_t at = d.plane(z) + (ptrdiff_t)y * d.ldx + x;
    const real *const factor = Tile::factor(memory, i) + place;
#pragma unroll
    for (int r = 0; r < WAVE_ROWS; r++) {
      real once[VECTOR], c[VECTOR];
      vector_load(Tile::once(memory, i) + place + r * Tile::WIDTH, once);
      vector_load(factor + r * Tile::WIDTH, c);
#pragma unroll
      for (int e = 0; e < VECTOR; e++) out[r][e] = wave_twice(c[e], out[r][e], once[e]);
    }
    wave_block_zero(a, d, z, zeros, out);
#pragma unroll
    for (int r = 0; r < WAVE_ROWS; r++)
      store_vector_where(r < rows, a.out + at + (ptrdiff_t)r * d.ldx, out[r]);
  }

  /* Plane i of q is z0 - HALO + i. */
  __device__ __forceinline__ void second(int unit, int lane) const {
    const int line = unit / Tile::COLUMNS * WAVE_ROWS, column = unit % Tile::COLUMNS * VECTOR;
    const int q_place = (line + HALO) * Q_PITCH + column + HALO, place = line * Tile::WIDTH + column;
    const unsigned zeros = wave_zeros_of(a, d, x0 + column, y0 + line);
    wave_turn<Tile::Q_RING> turn = {0, 0}, rims = {0, 0};
    wave_turn<Tile::K_RING> k_turn = {0, 0};
    wave_block sums[2 * HALO];
    clear(sums);
#pragma unroll 1
    for (int i = 0; i < planes + 2 * HALO; i++) {
      const int late = (turn.slot + Tile::Q_RING - Tile::LATE) % Tile::Q_RING;
      const real *q = memory + Tile::Q_AT + q_place;
      barrier_wait(q_full + turn.slot, turn.parity);
      wave_block v, laplacian;
      wave_load<Q_PITCH>(q + turn.slot * Tile::Q_PLANE, v);
      wave_block_arrives(a.c[1], v, sums, laplacian);
      const bool stored = i >= HALO + Tile::LATE && i < HALO + Tile::LATE + planes; /* of that plane */
      if (Tile::HANDS && stored) {
        barrier_wait(r_full + rims.slot, rims.parity);
        rims.next();
      }
      if (stored) {
        const real *earlier = q + late * Tile::Q_PLANE;
        wave_load<Q_PITCH>(earlier, v);
        wave_block_x<Q_PITCH>(a.c[1], earlier, v, sums[HALO - 1 - Tile::LATE]);
        wave_block_y<Q_PITCH>(a.c[1], earlier, v, sums[HALO - 1 - Tile::LATE]);
      }
      if (i >= 2 * HALO) store(i - 2 * HALO, place, zeros, laplacian);
      warp_wait();
      if (i >= Tile::LATE) arrive(q_free + late, lane);
      if (Tile::HANDS && i >= HALO) {
        arrive(k_free + k_turn.slot, lane);
        k_turn.next();
      }
      turn.next();
    }
  }
};

#endif
