#ifndef FDAPP_CUDA_PAIR_RIMS_CUH
#define FDAPP_CUDA_PAIR_RIMS_CUH

#include "pair_layout.cuh"

/* The rims that the blocks of a pair hand to one another: HALO rows and columns at each side of a tile, of
 * every plane of the first operation that the second one stores. Planes are counted from the first of these.
 * Only if all blocks run at the same time. */
template <class Layout> struct pair_rims {
  static constexpr int LEFT = 2 * Layout::RIM_ROWS, RIGHT = LEFT + Layout::RIM_COLUMNS; /* in rims */
  using slot = pair_slot<Layout::S_PLANES>;

  const pair_exchange &e;
  const pair_cut &c;
  const geometry &d;
  int x0, y0;      /* first point of the tile */
  unsigned closed; /* bits: there are no rims beyond its low end of x, its high end, those of y */

  /* Number of the tile's columns and rows that are in the grid. */
  __device__ __forceinline__ int width() const {
    return min(Layout::WIDTH, d.nx - x0);
  }
  __device__ __forceinline__ int height() const {
    return min(Layout::HEIGHT, d.ny - y0);
  }

  __device__ __forceinline__ unsigned tiles() const {
    return (unsigned)(c.tiles_x * c.tiles_y);
  }
  /* Whether the block's piece is the sweep's first or last one. */
  __device__ __forceinline__ bool is_first() const {
    return blockIdx.x < tiles();
  }
  __device__ __forceinline__ bool is_last() const {
    return blockIdx.x >= e.blocks - tiles();
  }
  /* Counts the blocks of the piece whose rims of a plane are written. The next plane's counter is the next
   * one in memory. */
  __device__ __forceinline__ unsigned *counter(int plane) const {
    return e.counters + (size_t)(blockIdx.x / tiles()) * (size_t)e.planes + plane;
  }
  __device__ __forceinline__ real *of_block(int plane, unsigned block) const {
    return static_cast<real *>(e.rims) +
           ((size_t)(plane % Layout::RIM_PLANES) * e.blocks + block) * Layout::RIMS;
  }

  /* Where a thread's vectors, of ROWS rows, lie in the rims of rows and of columns, if they do: a tile is at
   * least 2 HALO points wide and high, so none lies in two rims of a kind. */
  struct places {
    int rows, columns; /* or -1 */
  };

  __device__ __forceinline__ places places_of(int column, int row) const {
    const int right = column - (width() - HALO), above = row - (height() - HALO);
    places to = {-1, -1};
    static_assert(Layout::ROWS == HALO, "the rows of a rim have the same threads");
    if (row == 0) to.rows = column;
    if (above == 0) to.rows = Layout::RIM_ROWS + column;
    if (column < HALO) to.columns = LEFT + row * HALO + column;
    if (right >= 0 && right < HALO) to.columns = RIGHT + row * HALO + right;
    return to;
  }

  __device__ __forceinline__ void store(const places &to, int plane,
                                        const real (&value)[Layout::ROWS][LEAN_OUTPUTS][VECTOR]) const {
    real *rims = of_block(plane, blockIdx.x);
#pragma unroll
    for (int r = 0; r < Layout::ROWS; r++) {
      store_vector_where(to.rows >= 0, rims + to.rows + r * Layout::WIDTH, value[r][0]);
      store_vector_where(to.columns >= 0, rims + to.columns + r * HALO, value[r][0]);
    }
  }

  /* One thread tells the others, plane after plane, that this block's rims are written. It arrives where the
   * neighbours' rims do, so that no warp is planes ahead of it. */
  __device__ __forceinline__ void tell(int planes, barrier *s_full, barrier *r_full) const {
    slot stored = {HALO, 0}, full = {0, 0};
    unsigned *written = counter(0);
#pragma unroll 1
    for (int plane = 0; plane < planes; plane++) {
      barrier_wait(s_full + stored.index, stored.parity);
      stress_rest();
      counter_tell(written++);
      barrier_arrive(r_full + full.index);
      stored.next();
      full.next();
    }
  }

  /* Waits until so many blocks have told. After a wait in vain, here or in another block, none waits again:
   * the host finds out, and ends the run. */
  __device__ __forceinline__ void told_wait(const unsigned *counted, unsigned blocks) const {
    constexpr unsigned POLLS = 4096; /* between looks at the clock */
    const unsigned long long start = clock_read();
#pragma unroll 1
    for (unsigned polls = 1; counter_read_acquire(counted) < blocks; polls++) {
      if (polls % POLLS != 0) continue;
      if (counter_read(e.stuck) != 0) break;
      if (clock_read() - start < e.patience) continue;
      e.late->stuck = 1;
      counter_add(e.stuck, 1);
      break;
    }
  }

  /* The last block to leave makes the counters zero again. */
  __device__ __forceinline__ void leave() const {
    __threadfence();
    if (atomicAdd(e.left, 1U) + 1U < e.blocks) return;
    __threadfence();
    for (int i = 0; i < c.pieces * e.planes; i++) e.counters[i] = 0;
    *e.left = *e.stuck = *e.seamed = 0;
  }

  /* The place of vector v of the rims in a plane of the second operation's ring, or -1 if it is not in the
   * grid; [out] from: its place in the rims of the block it comes from, whose tile is `step` tiles away. */
  __device__ __forceinline__ int place_of(int v, int &from, int (&step)[2]) const {
    const int i = v * VECTOR;
    step[0] = step[1] = 0;
    if (i < LEFT) {
      const bool above = i >= Layout::RIM_ROWS;
      const int k = above ? i - Layout::RIM_ROWS : i, row = k / Layout::WIDTH, column = k % Layout::WIDTH;
      from = above ? k : Layout::RIM_ROWS + k;
      step[1] = above ? 1 : -1;
      if (column >= width()) return -1;
      return (above ? HALO + height() + row : row) * Layout::S_WIDTH + HALO + column;
    }
    const bool right = i >= RIGHT;
    const int k = right ? i - RIGHT : i - LEFT, row = k / HALO, column = k % HALO;
    from = right ? LEFT + k : RIGHT + k;
    step[0] = right ? 1 : -1;
    if (row >= height()) return -1;
    return (HALO + row) * Layout::S_WIDTH + (right ? HALO + width() : 0) + column;
  }

  /* The place of copy q of a lane in the rims of one plane; if it comes from a seam, in a plane of that: rows
   * HALO below the seam come before those above it. */
  __device__ __forceinline__ int source_of(int q, int lane, int tile_y, int from,
                                           const int (&step)[2]) const {
    const int x = (x0 / Layout::WIDTH + step[0] + c.tiles_x) % c.tiles_x, y = tile_y + step[1];
    const int i = (lane + q * Layout::RIM_THREADS) * VECTOR;
    if (e.seam[0] != nullptr && (y < 0 || y >= c.tiles_y))
      return i / Layout::WIDTH * d.ldx + x0 + i % Layout::WIDTH;
    return from + ((y + c.tiles_y) % c.tiles_y * c.tiles_x + x) * Layout::RIMS;
  }

  /* When the warp that fetches has waited to overwrite the slot of the LEAST-th plane, the second operation
   * has stored all that are 2 HALO - 1 or more planes before it: the sweep's first edge. */
  static constexpr int LEAST = 4 * HALO - 1; /* planes of a piece */

  /* A warp brings the neighbours' rims. Plane 0 is plane `first` of the slab, the next one `step` further. On
   * several ranks it also counts the block's part of the first edge, and waits for the last planes of seams.
   */
  template <bool RANKS>
  __device__ __forceinline__ void fetch(int first, int step, int planes, real *s, barrier *s_free,
                                        barrier *r_full, int lane, const pair_edges &edges) const {
    constexpr int COPIES = Layout::RIMS / VECTOR / Layout::RIM_THREADS;
    constexpr int BELOW = Layout::RIM_ROWS / VECTOR / Layout::RIM_THREADS; /* copies of the rim below */
    static_assert(Layout::RIM_ROWS / VECTOR % Layout::RIM_THREADS == 0 &&
                      Layout::RIMS / VECTOR % Layout::RIM_THREADS == 0,
                  "as many copies for each lane");
    const unsigned piece = blockIdx.x / tiles() * tiles(); /* its first block */
    const int tile_y = y0 / Layout::HEIGHT - c.row0;
    const bool low = e.seam[0] != nullptr && tile_y == 0;
    const bool high = e.seam[0] != nullptr && tile_y == c.tiles_y - 1;
    int to[COPIES], from[COPIES];
#pragma unroll
    for (int q = 0; q < COPIES; q++) {
      int side[2];
      to[q] = place_of(lane + q * Layout::RIM_THREADS, from[q], side);
      const int across = side[0] < 0 ? 0 : side[0] > 0 ? 1 : side[1] < 0 ? 2 : 3;
      if (closed >> across & 1U) to[q] = -1;
      from[q] = source_of(q, lane, tile_y, from[q], side);
    }
    slot into = {HALO % Layout::S_PLANES, 1 - HALO / Layout::S_PLANES % 2}, full = {0, 0};
    const unsigned *written = counter(0);
#pragma unroll 1
    for (int part = RANKS ? 0 : 2, plane = 0; part < 3; part++) {
      const int end = part == 0 ? LEAST : part == 1 ? max(LEAST, planes - HALO) : planes;
      if (RANKS && end > planes - HALO && lane == 0 && (low || high) && is_last())
        told_wait(e.seamed, e.seam_blocks);
#pragma unroll 1
      for (; plane < end; plane++) {
        stress_rest();
        if (lane == 0) told_wait(written++, tiles());
        warp_wait();
        barrier_wait(s_free + into.index, into.parity); /* over by then, which the profiler cannot know */
        const real *rims = of_block(plane, piece), *below = rims, *above = rims;
        const ptrdiff_t in_seam = (ptrdiff_t)(first + plane * step) * 2 * HALO * d.ldx;
        if (low) below = e.seam[SIDE_BELOW] + in_seam;
        if (high) above = e.seam[SIDE_ABOVE] + in_seam;
#pragma unroll
        for (int q = 0; q < COPIES; q++) {
          const real *at = q < BELOW ? below : q < 2 * BELOW ? above : rims;
          if (to[q] >= 0) copy_vector(s + into.index * Layout::S_PLANE + to[q], at + (unsigned)from[q]);
        }
        barrier_arrive_copies(r_full + full.index);
        into.next();
        full.next();
      }
      if (part == 0 && lane == 0 && is_first()) edges.count();
    }
    if (lane == 0) leave();
  }
};

#endif
