#ifndef FDAPP_CUDA_PAIR_CUH
#define FDAPP_CUDA_PAIR_CUH

#include "direct.cuh"
#include "pair_copies.cuh"
#include "pair_rims.cuh"
#include "pair_seams.cuh"

/* Two operations in one sweep along z; the second one's input is the first one's output, which never leaves
 * the chip. The second operation needs the first one's values on HALO points around its tile. HANDED: blocks
 * hand these rims to one another, and must all run at the same time. Otherwise each block computes them
 * itself, and no block waits for another (docs/explanation/gpu-stage.md, "Two stages in one sweep").
 *
 * The warps of a block have roles. Copying warps bring planes of the first operation's field, and of the base
 * if it has one, into rings in shared memory. First warps compute planes of the first operation into another
 * ring. Second warps compute and store the second operation from that ring. A window of 9 planes along z
 * fills most of a thread's registers, so the warps that do not compute give up theirs. Barriers say which
 * slots of the rings are full and which are free. */

template <class First, class Second, bool HANDED, pair_way WAY> struct pair_block {
  using layout = pair_layout<First, Second, HANDED>;
  static constexpr bool BASE = layout::BASE, DOWN = WAY == pair_way::DOWN;
  static constexpr int ROWS = layout::ROWS, STEP = DOWN ? -1 : 1; /* from plane to plane */
  using f_slot = pair_slot<layout::F_PLANES>;
  using s_slot = pair_slot<layout::S_PLANES>;

  const arguments &a, &b; /* arguments of the first and of the second operation */
  const geometry &d;
  const pair_cut &c;
  const pair_edges &edges;
  int x0, y0;            /* first point of the tile */
  kernels_planes planes; /* planes to store */
  real *f, *s, *base;    /* rings */
  real *table_y;         /* the velocity's table along y */
  /* Barriers of the slots; f_full also says that the plane of the base that comes with it has come, and
   * r_full that a plane's rims have. */
  barrier *f_full, *f_free, *s_full, *s_free, *r_full, *b_free;

  __device__ __forceinline__ pair_block(const arguments &a_, const arguments &b_, const geometry &d_,
                                        const pair_cut &c_, const pair_edges &edges_)
      : a(a_), b(b_), d(d_), c(c_), edges(edges_) {
    const int tiles = c.tiles_x * c.tiles_y, tile = (int)blockIdx.x % tiles;
    const long long piece = c.piece((int)blockIdx.x / tiles, DOWN), count = d.planes(0);
    x0 = tile % c.tiles_x * layout::WIDTH;
    y0 = (c.row0 + tile / c.tiles_x) * layout::HEIGHT;
    planes = {d.range[0].z0 + (int)(count * piece / c.pieces),
              d.range[0].z0 + (int)(count * (piece + 1) / c.pieces)};
    real *memory = reinterpret_cast<real *>(block_memory());
    f = memory + layout::F;
    s = memory + layout::S;
    base = memory + layout::B;
    table_y = memory + layout::Y;
    f_full = reinterpret_cast<barrier *>(memory + layout::ELEMENTS);
    f_free = f_full + layout::F_PLANES;
    s_full = f_free + layout::F_PLANES;
    s_free = s_full + layout::S_PLANES;
    r_full = s_free + layout::S_PLANES;
    b_free = r_full + layout::S_PLANES;
  }

  /* Called by one thread. A plane of the field is free when its last readers have read it: the first
   * operation, or the second if the field is also the base. All threads arrive: the profiler's racecheck does
   * not follow one that arrives for its warp, which would be no faster. warp_wait keeps the lanes of a warp
   * together. */
  __device__ __forceinline__ void barriers_open() const {
    for (int i = 0; i < layout::F_PLANES; i++) {
      barrier_make(f_full + i, layout::COPYING);
      barrier_make(f_free + i, BASE ? layout::FIRST_THREADS : layout::SECOND_THREADS);
    }
    for (int i = 0; i < layout::S_PLANES; i++) {
      barrier_make(s_full + i, layout::FIRST_THREADS);
      barrier_make(s_free + i, layout::SECOND_THREADS);
      barrier_make(r_full + i, layout::RIM_THREADS + 1);
    }
    for (int i = 0; i < layout::B_PLANES; i++) barrier_make(b_free + i, layout::SECOND_THREADS);
    barriers_made();
  }

  /* Number of planes of each kind that the block passes. */
  __device__ __forceinline__ int f_planes() const {
    return planes.z1 - planes.z0 + 4 * HALO;
  }
  __device__ __forceinline__ int s_planes() const {
    return planes.z1 - planes.z0 + 2 * HALO;
  }
  /* The n-th plane to be stored. */
  __device__ __forceinline__ int plane_at(int n) const {
    return DOWN ? planes.z1 - 1 - n : planes.z0 + n;
  }

  /* ---- The velocity from tables ----
   *
   * The table along y is in shared memory. The rings leave no room for the one along x in double precision:
   * it is read from the caches, as the plane's entry is. */

  __device__ __forceinline__ void table_copy(int thread) const {
    for (int i = thread; i < layout::S_HEIGHT * layout::Y_PITCH; i += layout::THREADS) {
      const int y = min(y0 - HALO + i / layout::Y_PITCH, d.ny + HALO - 1);
      table_y[i] = a.table[1][y * KERNELS_TABLE + i % layout::Y_PITCH];
    }
  }

  /* Reads the six numbers of a table's entry along y or z. */
  __device__ __forceinline__ static void entry_read(const real *from, real (&to)[KERNELS_TABLE]) {
#pragma unroll
    for (int i = 0; i < 6; i += VECTOR) vector_load(from + i, *reinterpret_cast<real(*)[VECTOR]>(to + i));
  }

  /* The velocity on the vector of the point's row + r; `along_z` is the plane's entry. */
  __device__ __forceinline__ void velocity(const pair_point &at, int r, const real (&along_z)[KERNELS_TABLE],
                                           real (&to)[3][VECTOR]) const {
    const int x = min(x0 - HALO + at.column, d.ldx + KERNELS_TABLE_SIDE - VECTOR);
    real along_y[KERNELS_TABLE];
    entry_read(table_y + (at.row + r) * layout::Y_PITCH, along_y);
#pragma unroll
    for (int k = 0; k < 3; k++) {
      real along_x[VECTOR];
      vector_load(a.table[0] + k * d.table_pitch() + x, along_x);
      table_line(along_x, pair_make(along_y, along_z, k), to[k]);
    }
  }

  /* ---- Computing ---- */

  /* Computes an operation on the thread's rows, whose windows along z are centred on the plane. centre: the
   * thread's first vector in that plane of the ring; base: the same in a ring with rows of BASE_WIDTH. */
  template <class Op, int RING_WIDTH, int BASE_WIDTH>
  __device__ __forceinline__ void rows_compute(const arguments &a, const pair_point &at, lines (&l)[ROWS],
                                               const real *centre, const real *base,
                                               real (&result)[ROWS][LEAN_OUTPUTS][VECTOR]) const {
    real y[ROWS + 2 * HALO][VECTOR], along_z[KERNELS_TABLE];
    if constexpr (Op::TABLES) entry_read(a.table[2] + at.z * KERNELS_TABLE, along_z);
#pragma unroll
    for (int j = 0; j < ROWS + 2 * HALO; j++) {
      if (j >= HALO && j < HALO + ROWS) {
        copy_values(l[j - HALO].z[HALO], y[j]);
      } else {
        vector_load(centre + (j - HALO) * RING_WIDTH, y[j]);
      }
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
      points value;
      lines none;
#pragma unroll
      for (int i = 0; i < VECTOR + 2 * HALO; i += VECTOR) {
        if (i == HALO) continue;
        vector_load(centre + r * RING_WIDTH + i - HALO, *reinterpret_cast<real(*)[VECTOR]>(l[r].x + i));
      }
#pragma unroll
      for (int e = 0; e < VECTOR; e++) l[r].x[HALO + e] = l[r].z[HALO][e];
#pragma unroll
      for (int j = 0; j < 2 * HALO + 1; j++) copy_values(y[r + j], l[r].y[j]);
      copy_values(l[r].z[HALO], value.input[Op::FIELD]);
      if constexpr (Op::OTHERS > 0) vector_load(base + r * BASE_WIDTH, value.input[Op::other(0)]);
      if constexpr (Op::TABLES) velocity(at, r, along_z, value.velocity);
      Op::apply(a, l[r], none, value, result[r]);
    }
  }

  template <int RING_WIDTH>
  __device__ __forceinline__ static void newest_read(const real *newest, lines (&l)[ROWS]) {
#pragma unroll
    for (int r = 0; r < ROWS; r++) vector_load(newest + r * RING_WIDTH, l[r].z[DOWN ? 0 : 2 * HALO]);
  }

  __device__ __forceinline__ static void windows_shift(lines (&l)[ROWS]) {
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
#pragma unroll
      for (int j = 0; j < 2 * HALO; j++)
        copy_values(l[r].z[DOWN ? 2 * HALO - 1 - j : j + 1], l[r].z[DOWN ? 2 * HALO - j : j]);
    }
  }

  /* The warps that help those that compute. */
  __device__ __forceinline__ void help(const pair_rims<layout> &rims, int thread) const {
    const int count = planes.z1 - planes.z0;
    if (thread < layout::COPYING) {
      const pair_copies<First, Second, HANDED, WAY> copies = {a,      b, d,    edges,  x0,     y0,
                                                              planes, f, base, f_full, f_free, b_free};
      copies.run(f_planes(), thread);
    } else if constexpr (HANDED) {
      if (thread < layout::COPYING + layout::RIM_THREADS) {
        rims.template fetch<WAY != pair_way::ALONE>(plane_at(0), STEP, count, s, s_free, r_full,
                                                    thread - layout::COPYING, edges);
      } else if (thread == layout::COPYING + layout::RIM_THREADS) {
        rims.tell(count, s_full, r_full);
      }
    }
  }

  /* The first warps' loop. Plane n of the field completes plane n - 2 HALO of the first operation, whose
   * centre is plane n - HALO of the field. */
  __device__ __forceinline__ void first(int thread, const pair_rims<layout> &rims) const {
    constexpr int WIDE = layout::F_WIDTH;
    const int unit = thread < layout::FIRST_UNITS ? thread : thread - 32; /* spare lanes repeat the work of
                                                                           * others */
    const int column = unit % layout::FIRST_COLUMNS * VECTOR, row = unit / layout::FIRST_COLUMNS * ROWS;
    const real *own = f + (row + HALO) * WIDE + column + HALO;
    constexpr int INSIDE = HALO - layout::AROUND; /* of the rows and columns of its ring */
    real *to = s + (row + INSIDE) * layout::S_WIDTH + column + INSIDE;
    const real *from = base + row * layout::B_WIDTH + column;
    const bool stores = !HANDED || (column < rims.width() && row < rims.height());
    const auto rim = rims.places_of(column, row);
    lines l[ROWS] = {};
    f_slot newest = {0, 0};
    s_slot result_to = {0, 1};
    int centre = layout::F_PLANES - HALO, b_index = 0;
#pragma unroll 1
    for (int n = 0; n < f_planes(); n++) {
      barrier_wait(f_full + newest.index, newest.parity);
      newest_read<WIDE>(own + newest.index * layout::F_PLANE, l);
      if (n >= 2 * HALO) {
        real result[ROWS][LEAN_OUTPUTS][VECTOR];
        const pair_point at = {column + INSIDE, row + INSIDE, plane_at(n - 3 * HALO)};
        rows_compute<First, WIDE, layout::B_WIDTH>(a, at, l, own + centre * layout::F_PLANE,
                                                   from + b_index * layout::B_PLANE, result);
        warp_wait();
        if (BASE) barrier_arrive(f_free + centre);
        if (BASE && ++b_index == layout::B_PLANES) b_index = 0;
        barrier_wait(s_free + result_to.index, result_to.parity);
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
          if (stores)
            vector_store(to + result_to.index * layout::S_PLANE + r * layout::S_WIDTH, result[r][0]);
        }
        if constexpr (HANDED) {
          if (n >= 3 * HALO && n < f_planes() - HALO) rims.store(rim, n - 3 * HALO, result);
        }
        warp_wait();
        barrier_arrive(s_full + result_to.index);
        result_to.next();
      } else if (n >= HALO) {
        warp_wait();
        if (BASE) barrier_arrive(f_free + centre);
      }
      windows_shift(l);
      newest.next();
      if (++centre == layout::F_PLANES) centre = 0;
    }
  }

  /* Counts the warp for the signal if its piece started in this turn: of the first piece of the sweep, the
   * first 2 HALO planes are stored, of the last one all. Nothing is kept for this in registers, of which the
   * loop has none left. If blocks hand rims over, the warp that fetches them does it (pair_rims.cuh). */
  __device__ __forceinline__ void edge_stored(int turn) const {
    const int tiles = c.tiles_x * c.tiles_y, before = turn * tiles;
    if ((int)blockIdx.x < before || (int)blockIdx.x >= before + tiles) return;
    warp_wait();
    if (threadIdx.x % 32 == 0) edges.count();
  }

  /* The second warps' loop. Plane n of the first operation completes the plane to be stored 2 HALO before it;
   * its base is plane n - HALO of the base's ring, or plane n of the field's. */
  __device__ __forceinline__ void second(int thread) const {
    constexpr int WIDE = layout::S_WIDTH, B_WIDE = BASE ? layout::B_WIDTH : layout::F_WIDTH;
    constexpr int B_PLANE = BASE ? layout::B_PLANE : layout::F_PLANE;
    constexpr int AROUND = layout::AROUND + (BASE ? 0 : HALO);
    constexpr int B_PLANES = BASE ? layout::B_PLANES : layout::F_PLANES;
    const int unit = thread < layout::SECOND_UNITS ? thread : thread - 32;
    int column = unit % layout::SECOND_COLUMNS * VECTOR, row = unit / layout::SECOND_COLUMNS * ROWS;
    const int rows = x0 + column < d.ldx ? min(ROWS, d.ny - y0 - row) : 0;
    if (HANDED) { /* beyond a tile that is cut short lie rims, so threads there repeat the work of others */
      column = min(column, d.nx - x0 - VECTOR);
      row = min(row, d.ny - y0 - ROWS);
    }
    const real *own = s + (row + HALO) * WIDE + column + HALO;
    const real *from = (BASE ? base : f) + (row + AROUND) * B_WIDE + column + AROUND;
    barrier *const from_free = BASE ? b_free : f_free;
    real *out = b.out[0] + d.plane(plane_at(-2 * HALO)) + (ptrdiff_t)(y0 + row) * d.ldx + x0 + column;
    lines l[ROWS] = {};
    s_slot newest = {0, 0}, rims = {0, 0};
    int centre = layout::S_PLANES - HALO, b_index = BASE ? B_PLANES - HALO : 0;
#pragma unroll 1
    for (int n = 0; n < s_planes(); n++) {
      barrier_wait(s_full + newest.index, newest.parity);
      newest_read<WIDE>(own + newest.index * layout::S_PLANE, l);
      real result[ROWS][LEAN_OUTPUTS][VECTOR];
      const pair_point at = {column + HALO, row + HALO, plane_at(n - 2 * HALO)};
      if (HANDED && n >= 2 * HALO) {
        barrier_wait(r_full + rims.index, rims.parity);
        rims.next();
      }
      if (n >= 2 * HALO)
        rows_compute<Second, WIDE, B_WIDE>(b, at, l, own + centre * layout::S_PLANE, from + b_index * B_PLANE,
                                           result);
      warp_wait();
      if (n >= HALO) barrier_arrive(s_free + centre);
      if (!BASE || n >= HALO) barrier_arrive(from_free + b_index);
      if (n >= 2 * HALO) {
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
          if (r < rows) vector_store(out + (ptrdiff_t)r * d.ldx, result[r][0]);
        }
        if (!HANDED && WAY != pair_way::ALONE && n == 4 * HALO - 1) edge_stored(c.first());
      }
      windows_shift(l);
      out += STEP * d.plane(1);
      newest.next();
      if (++centre == layout::S_PLANES) centre = 0;
      if (++b_index == B_PLANES) b_index = 0;
    }
    if (!HANDED && WAY != pair_way::ALONE && c.both) edge_stored(0); /* the last piece */
  }
};

template <class First, class Second, bool HANDED, pair_way WAY>
__global__ void __launch_bounds__((pair_layout<First, Second, HANDED>::THREADS), 1)
    pair_kernel(const __grid_constant__ arguments a, const __grid_constant__ arguments b,
                const __grid_constant__ geometry d, const __grid_constant__ pair_cut c,
                const __grid_constant__ pair_edges edges, const __grid_constant__ pair_exchange exchange) {
  using layout = pair_layout<First, Second, HANDED>;
  if (HANDED && WAY != pair_way::ALONE && blockIdx.x >= exchange.blocks)
    return seam_block<First>(a, d, edges, exchange, WAY == pair_way::DOWN);
  const pair_block<First, Second, HANDED, WAY> work(a, b, d, c, edges);
  const pair_rims<layout> rims = {exchange, c, d, work.x0, work.y0, 0};
  const int thread = (int)threadIdx.x;
  const int role = layout::ROLES_SHUFFLED ? __shfl_sync(0xffffffffU, thread, 0) : thread;
  if constexpr (First::TABLES) work.table_copy(thread);
  if (thread == 0) work.barriers_open();
  if (WAY != pair_way::ALONE && thread == 0 && blockIdx.x == 0 && c.row0 == 0)
    edges.host->began = clock_read();
  __syncthreads();
  if (role >= layout::COMPUTING) {
    registers_give<layout::REGISTERS_COPYING>();
    work.help(rims, hidden(thread - layout::COMPUTING));
  } else {
    registers_take<layout::REGISTERS>();
    if (role < layout::FIRST_THREADS) {
      work.first(thread, rims);
    } else {
      work.second(thread - layout::FIRST_THREADS);
    }
  }
}

#endif
