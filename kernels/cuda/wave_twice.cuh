#ifndef FDAPP_CUDA_WAVE_TWICE_CUH
#define FDAPP_CUDA_WAVE_TWICE_CUH

#include "wave_second.cuh"

/* A step with two Laplacians on large slabs, in one sweep. The warps of a block have three roles; planes go
 * from one to the next through rings in shared memory:
 *
 *   copying warps  p of the tile and 2 HALO points around it, K with HALO points, p_before
 *   first warps    q = K L p of the tile and HALO points around it, when plane z + 4 of p is there;
 *                  for the tile's own points also q + 2 p - p_before and K, which the others need later
 *   second warps   L q, when plane z + 4 of q is there, and the result
 *
 * Along x and y, q beyond the tile is computed by the neighbours, too. Beyond walls it has the bits of its
 * mirror image, because p and K are mirrored there. Where ends are others, or there are layers (ENDS), what
 * computes q beside an end writes its images, too, as in wave_hand.cuh. */
struct wave_twice_tile {
  static constexpr int WIDTH = by_precision_value(64, 32), HEIGHT = 24, CORE = WIDTH * HEIGHT;
  static constexpr int F_RING = by_precision_value(3, 2), LATE = 2, Q_RING = LATE + 2,
                       HANDED = Q_RING - LATE + HALO;
  static constexpr int COPYING = 128; /* threads */
  using p_copies = wave_copies<WIDTH, HEIGHT, 2 * HALO, COPYING>;
  using k_copies = wave_copies<WIDTH, HEIGHT, HALO, COPYING>;

  /* A unit is WAVE_ROWS vectors. Units of the first warps: those above and below the tile first, whose lanes
   * read rows of 128 bytes, then those left and right. */
  static constexpr int COLUMNS = WIDTH / VECTOR, SIDES = 2 * HALO / VECTOR, LINES = HEIGHT / WAVE_ROWS + 2;
  static constexpr int MIDDLE = COLUMNS * LINES, FIRST = MIDDLE + SIDES * LINES;
  static constexpr int SECOND = COLUMNS * (LINES - 2);
  static constexpr int FIRST_WARPS = divide_up(FIRST, 32), SECOND_WARPS = divide_up(SECOND, 32);
  static constexpr int COMPUTING = 32 * (FIRST_WARPS + SECOND_WARPS), THREADS = COMPUTING + COPYING;
  /* A block of 384 threads is launched with 168 registers each; copying warps hand theirs over. */
  static constexpr int REGISTERS = 224, REGISTERS_COPYING = 56;
  static constexpr int OWN = CORE / VECTOR / COPYING; /* vectors of p_before that a thread copies */
  static_assert(CORE % (COPYING * VECTOR) == 0 && SECOND % 32 == 0 && COMPUTING % 128 == 0,
                "whole groups of warps");

  /* Elements: rings one after the other. K begins where its addresses agree with global ones modulo 32 bytes.
   */
  static constexpr int SHIFT = by_precision_value(4, 0);
  static constexpr int BEFORE_AT = F_RING * p_copies::PLANE, P_AT = BEFORE_AT + F_RING * CORE;
  static constexpr int K_AT = P_AT + HALO * CORE + SHIFT, Q_AT = K_AT + F_RING * k_copies::PLANE + SHIFT;
  static constexpr int HANDED_AT = Q_AT + Q_RING * k_copies::PLANE;
  static constexpr int SINGLES_AT = HANDED_AT + 2 * HANDED * CORE;
  static constexpr int SINGLES = p_copies::SINGLES + k_copies::SINGLES, BARRIERS = 2 * (F_RING + Q_RING);
  static constexpr size_t BARRIERS_AT = SINGLES_AT * sizeof(real) + SINGLES * sizeof(uint2);
  static constexpr size_t SHARED_BYTES = BARRIERS_AT + BARRIERS * sizeof(barrier);
  static constexpr bool HANDS = false;
  static constexpr int Q_PLANE = k_copies::PLANE, K_RING = 1;

  __device__ __forceinline__ static real *once(real *memory, int i) {
    return memory + HANDED_AT + i % HANDED * 2 * CORE;
  }
  __device__ __forceinline__ static real *factor(real *memory, int i) {
    return once(memory, i) + CORE;
  }
};

template <bool ENDS> struct wave_both : wave_second<wave_twice_tile> {
  static constexpr int P_PITCH = Tile::p_copies::PITCH;
  barrier *p_full, *p_free;

  __device__ __forceinline__ void open() {
    p_full = reinterpret_cast<barrier *>(reinterpret_cast<unsigned char *>(memory) + Tile::BARRIERS_AT);
    p_free = p_full + Tile::F_RING;
    q_full = p_free + Tile::F_RING;
    q_free = q_full + Tile::Q_RING;
    find_ends();
    for (int i = (int)threadIdx.x; ENDS && i < Tile::BEFORE_AT; i += Tile::THREADS)
      memory[i] = 0; /* zeros beyond ends stay */
    if (threadIdx.x == 0) {
      for (int i = 0; i < Tile::F_RING; i++) {
        barrier_make(p_full + i, Tile::COPYING);
        barrier_make(p_free + i, Tile::FIRST_WARPS);
      }
      for (int i = 0; i < Tile::Q_RING; i++) {
        barrier_make(q_full + i, Tile::FIRST_WARPS);
        barrier_make(q_free + i, Tile::SECOND_WARPS);
      }
      barriers_made();
    }
    __syncthreads();
  }

  /* Plane i of p is z0 - 2 HALO + i. With it come K and p_before of the plane of q that it completes. */
  __device__ __forceinline__ void copy_planes(int thread) const {
    typename Tile::p_copies of_p;
    typename Tile::k_copies of_k;
    uint2 *const singles = reinterpret_cast<uint2 *>(memory + Tile::SINGLES_AT);
    unsigned own[Tile::OWN];
    of_p.open(a, d, x0, y0, thread, singles);
    of_k.open(a, d, x0, y0, thread, singles + Tile::p_copies::SINGLES);
#pragma unroll
    for (int k = 0; k < Tile::OWN; k++) {
      const int i = thread + Tile::COPYING * k, x = x0 + i % Tile::COLUMNS * VECTOR,
                y = y0 + i / Tile::COLUMNS;
      own[k] = x < d.nx && y < d.ny ? Tile::p_copies::bytes(d, x, y) : WAVE_NO_COPY;
    }
    wave_turn<Tile::F_RING> turn = {0, 1};
    int before = 0; /* the slot of the plane before */
#pragma unroll 1
    for (int i = 0; i < planes + 4 * HALO; i++) {
      barrier_wait(p_free + turn.slot, turn.parity);
      of_p.copy(memory + turn.slot * Tile::p_copies::PLANE, a.p + wave_plane(d, z0 - 2 * HALO + i));
      if (i >= 2 * HALO)
        of_k.copy(memory + Tile::K_AT + turn.slot * Tile::k_copies::PLANE,
                  a.factor + wave_plane(d, z0 - 3 * HALO + i));
      if (i >= 3 * HALO && i < planes + 3 * HALO) {
        const real *plane = a.before + d.plane(z0 - 3 * HALO + i);
        real *const to = memory + Tile::BEFORE_AT + turn.slot * Tile::CORE + thread * VECTOR;
#pragma unroll
        for (int k = 0; k < Tile::OWN; k++)
          copy_vector_where(own[k] != WAVE_NO_COPY, to + k * Tile::COPYING * VECTOR, advance(plane, own[k]));
      }
      tell_copies(of_p, memory, p_full, turn.slot, i > 0 ? before : -1);
      before = turn.slot;
      turn.next();
    }
    tell_last_copies(of_p, memory, p_full, before);
  }

  /* The points of a thread, as bits, that lie beyond ends where the field is zero. (x, y) is the first one.
   */
  __device__ __forceinline__ unsigned zero_sides(int x, int y) const {
    const wave_image(&ends)[3][2] = a.call.ends;
    unsigned zero = 0;
#pragma unroll
    for (int k = 0; k < WAVE_ROWS * VECTOR; k++) {
      const bool is = wave_image_of(ends[AXIS_X], x + k % VECTOR, d.nx).change == WAVE_SET_ZERO ||
                      wave_image_of(ends[AXIS_Y], y + k / VECTOR, d.ny).change == WAVE_SET_ZERO;
      zero |= (unsigned)is << k;
    }
    return zero;
  }

  /* Index i of an axis lies beyond an end where the field has mirror images, negated or not. */
  __device__ __forceinline__ static bool is_mirrored(const wave_image (&ends)[2], int i, int n) {
    const wave_image kind = i < 0 ? ends[0] : ends[1];
    return (i < 0 || i >= n) && (kind == WAVE_EVEN || kind == WAVE_ODD);
  }
  /* The index whose periodic image it is. */
  __device__ __forceinline__ static int home_of(const wave_image (&ends)[2], int i, int n) {
    return ends[0] != WAVE_PERIODIC ? i : i < 0 ? i + n : i >= n ? i - n : i;
  }

  __device__ __forceinline__ void first(int unit, int lane) const {
    constexpr int LEFT = Tile::SIDES / 2;
    const int beside = unit < Tile::FIRST ? unit - Tile::MIDDLE : 0, turn_of = beside % Tile::SIDES;
    const int column = unit < Tile::MIDDLE ? LEFT + unit % Tile::COLUMNS
                       : turn_of < LEFT    ? turn_of
                                           : turn_of + Tile::COLUMNS;
    const int line = unit < Tile::MIDDLE ? unit / Tile::COLUMNS : beside / Tile::SIDES;
    const bool core = unit < Tile::MIDDLE && line > 0 && line < Tile::LINES - 1;
    const int p_place = (line * WAVE_ROWS + HALO) * P_PITCH + column * VECTOR + HALO;
    const int q_place = line * WAVE_ROWS * Q_PITCH + column * VECTOR;
    const int place = core ? (line - 1) * WAVE_ROWS * Tile::WIDTH + (column - LEFT) * VECTOR : 0;
    wave_turn<Tile::F_RING> turn = {0, 0};
    wave_turn<Tile::Q_RING> q_turn = {0, 1};
    const int x = x0 - HALO + column * VECTOR, y = y0 - HALO + line * WAVE_ROWS;
    const wave_image(&ends)[3][2] = a.call.ends;
    const bool there = unit < Tile::FIRST &&
                       !(ENDS && (is_mirrored(ends[AXIS_X], x, d.nx) || is_mirrored(ends[AXIS_Y], y, d.ny)));
    const bool images = ENDS && there && has_images(x - x0, y - y0);
    const unsigned zero = ENDS ? zero_sides(x, y) : 0;
    using terms_block = wave_terms_block<WAVE_ROWS>;
    const int home_x = home_of(ends[AXIS_X], x, d.nx), home_y = home_of(ends[AXIS_Y], y, d.ny);
    const terms_block terms = {a.terms, home_x, home_y,
                               ENDS ? wave_terms_near<WAVE_ROWS, VECTOR>(a.terms, home_x, home_y) : 0};
    wave_block sums[2 * HALO];
    clear(sums);
#pragma unroll 1
    for (int i = 0; i < planes + 4 * HALO; i++) {
      const bool gives = i >= 2 * HALO, hands = core && i >= 3 * HALO && i < planes + 3 * HALO;
      const real *f = memory + turn.slot * Tile::p_copies::PLANE + p_place;
      const real *factor = memory + Tile::K_AT + turn.slot * Tile::k_copies::PLANE + q_place;
      const real *before = memory + Tile::BEFORE_AT + turn.slot * Tile::CORE + place;
      real *const q = memory + Tile::Q_AT + q_turn.slot * Tile::k_copies::PLANE + q_place;
      const int z = z0 + i - 3 * HALO;
      const unsigned zeros = ENDS && wave_is_beyond(a, d, z) ? ~0U : zero;
      real *const kept = memory + Tile::P_AT + i % HALO * Tile::CORE + place;
      barrier_wait(p_full + turn.slot, turn.parity);
      if (gives) barrier_wait(q_free + q_turn.slot, q_turn.parity);
      /* The place of the thread's q, which is written later, is one for its terms. */
      const typename terms_block::place places[2] = {{q, Q_PITCH}, {nullptr, 0}};
      if (ENDS && gives && there) terms.copy(wave_home(d, z), places);
      if (ENDS) copy_commit();
      wave_block v, laplacian;
      wave_load<P_PITCH>(f, v);
      wave_block_arrives(a.c[0], v, sums, laplacian);
      wave_block_x<P_PITCH>(a.c[0], f, v, sums[HALO - 1]);
      wave_block_y<P_PITCH>(a.c[0], f, v, sums[HALO - 1]);
      if (ENDS) copy_wait<0>();
      if (ENDS && gives && there) terms.add(wave_home(d, z), places, laplacian);
#pragma unroll
      for (int r = 0; r < WAVE_ROWS; r++) {
        real c[VECTOR], b[VECTOR], p[VECTOR], once[VECTOR];
        vector_load(factor + r * Q_PITCH, c);
        vector_load(kept + r * Tile::WIDTH, p);
        vector_load(before + r * Tile::WIDTH, b);
#pragma unroll
        for (int e = 0; e < VECTOR; e++) {
          laplacian[r][e] = ENDS && (zeros >> (r * VECTOR + e) & 1U) ? (real)0 : c[e] * laplacian[r][e];
          once[e] = wave_once(laplacian[r][e], wave_drift(p[e], b[e]));
        }
        if (gives && there) vector_store(q + r * Q_PITCH, laplacian[r]);
        if (core) vector_store(kept + r * Tile::WIDTH, v[r]);
        if (hands) vector_store(Tile::once(memory, i - 3 * HALO) + place + r * Tile::WIDTH, once);
        if (hands) vector_store(Tile::factor(memory, i - 3 * HALO) + place + r * Tile::WIDTH, c);
      }
      if (images && gives)
        store_images(memory + Tile::Q_AT + q_turn.slot * Tile::k_copies::PLANE, x - x0, y - y0, laplacian);
      warp_wait();
      arrive(p_free + turn.slot, lane);
      turn.next();
      if (!gives) continue;
      arrive(q_full + q_turn.slot, lane);
      q_turn.next();
    }
  }

  __device__ __forceinline__ void run() const {
    const int thread = (int)threadIdx.x, warp = thread / 32, lane = thread % 32;
    if (thread >= Tile::COMPUTING) {
      registers_give<Tile::REGISTERS_COPYING>();
      copy_planes(thread - Tile::COMPUTING);
      return;
    }
    registers_take<Tile::REGISTERS>();
    if (warp < Tile::FIRST_WARPS)
      first(thread, lane);
    else
      second(thread - 32 * Tile::FIRST_WARPS, lane);
  }
};

template <bool ENDS>
__global__ void __launch_bounds__(wave_twice_tile::THREADS, 1)
    wave_twice_kernel(const __grid_constant__ wave_arguments a, const __grid_constant__ geometry d,
                      const int chunk) {
  using Tile = wave_twice_tile;
  const int tiles_x = divide_up(d.nx, Tile::WIDTH), tiles = tiles_x * divide_up(d.ny, Tile::HEIGHT);
  const int tile = (int)blockIdx.x % tiles;
  const kernels_planes piece = d.piece((int)blockIdx.x / tiles, chunk);
  wave_both<ENDS> both = {{a, d, reinterpret_cast<real *>(block_memory()), tile % tiles_x * Tile::WIDTH,
                           tile / tiles_x * Tile::HEIGHT, piece.z0, piece.z1 - piece.z0}};
  both.open();
  both.run();
}

#endif
