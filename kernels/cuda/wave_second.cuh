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
  bool low_x, high_x, low_y, high_y; /* the tile has an end (find_ends) */

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

  /* Which ends of x and y the tile has. */
  __device__ __forceinline__ void find_ends() {
    const wave_image(&ends)[3][2] = a.call.ends;
    low_x = x0 == 0 && ends[AXIS_X][0] != WAVE_PERIODIC;
    high_x = x0 + Tile::WIDTH >= d.nx && ends[AXIS_X][1] != WAVE_PERIODIC;
    low_y = y0 == 0 && ends[AXIS_Y][0] != WAVE_PERIODIC;
    high_y = y0 + Tile::HEIGHT >= d.ny && ends[AXIS_Y][1] != WAVE_PERIODIC;
  }

  /* Points from (column, row) of the tile on have images about its ends. */
  __device__ __forceinline__ bool has_images(int column, int row) const {
    return (low_x && column <= HALO) || (low_y && row <= HALO) ||
           (high_x && column + VECTOR + HALO >= d.nx - x0) || (high_y && row + WAVE_ROWS + HALO >= d.ny - y0);
  }

  /* Writes images, about the ends in this tile, of a thread's q from (column, row) of the tile on. What is
   * zero beyond an end is left alone. */
  __device__ __forceinline__ void store_images(real *plane, int column, int row, const wave_block &q) const {
    const int last[2] = {d.nx - 1 - x0, d.ny - 1 - y0};
#pragma unroll
    for (int end = 0; end < 2; end++) {
      const wave_image of_x = a.call.ends[AXIS_X][end], of_y = a.call.ends[AXIS_Y][end];
      const real sign_x = of_x == WAVE_ODD ? (real)-1 : (real)1,
                 sign_y = of_y == WAVE_ODD ? (real)-1 : (real)1;
      const bool along_y = (end == 0 ? low_y : high_y) && of_y != WAVE_ZERO;
      const bool near_x = end == 0 ? column <= HALO : column + VECTOR > last[0] - HALO;
#pragma unroll
      for (int r = 0; r < WAVE_ROWS && along_y; r++) {
        const int y = row + r, from = end == 0 ? y : last[1] - y, to = end == 0 ? -y : 2 * last[1] - y;
        real image[VECTOR];
#pragma unroll
        for (int e = 0; e < VECTOR; e++) image[e] = sign_y * q[r][e];
        if (from >= 1 && from <= HALO) vector_store(plane + (to + HALO) * Q_PITCH + column + HALO, image);
      }
      if (!(end == 0 ? low_x : high_x) || !near_x || of_x == WAVE_ZERO) continue;
#pragma unroll
      for (int r = 0; r < WAVE_ROWS; r++)
#pragma unroll
        for (int e = 0; e < VECTOR; e++) {
          const int x = column + e, from = end == 0 ? x : last[0] - x, to = end == 0 ? -x : 2 * last[0] - x;
          if (from >= 1 && from <= HALO) plane[(row + r + HALO) * Q_PITCH + to + HALO] = sign_x * q[r][e];
        }
    }
  }

  /* Tells those who wait at `full` that a plane of p is there, when this thread's copies of it are, which are
   * the last ones that it has begun. Images that are negated first must be there for that: so then it tells
   * of the plane before, in slot `earlier` unless that is negative. */
  template <class Copies>
  __device__ __forceinline__ static void tell_copies(const Copies &of_p, real *ring, barrier *full, int slot,
                                                     int earlier) {
    if (!of_p.negates) {
      barrier_arrive_copies(full + slot);
      return;
    }
    copy_commit();
    copy_wait<1>();
    if (earlier < 0) return;
    of_p.negate(ring + earlier * Copies::PLANE);
    barrier_arrive(full + earlier);
  }
  template <class Copies>
  __device__ __forceinline__ static void tell_last_copies(const Copies &of_p, real *ring, barrier *full,
                                                          int slot) {
    if (!of_p.negates) return;
    copy_wait<0>();
    of_p.negate(ring + slot * Copies::PLANE);
    barrier_arrive(full + slot);
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
