#ifndef FDAPP_CUDA_PIPELINE_CUH
#define FDAPP_CUDA_PIPELINE_CUH

#include "direct.cuh"
#include "tables.cuh"

/* The kernel for large launches of all operations: a block marches a tile of x and y along z. Asynchronous
 * copies bring planes into rings in shared memory. Neighbours along z stay in registers, in a window of 9
 * planes; tiles that reread keep 5 planes and read the planes ahead from the field's ring again. Neighbours
 * along x and y are read from the ring 4 planes later, when the window is centred on their plane. Each input
 * is read from memory once; the sides of tiles are read again from the L2 cache, as long as blocks keep
 * pace. */

template <class Op> using edges_of = std::conditional_t<Op::SENDS, edge_sender, edge_signal>;
template <class Op, class Tile>
using edges_beside = std::conditional_t<Op::SENDS, edge_copies<Tile>, edge_watch>;

/* How an operation uses the pipeline. LEAD: planes by which the inputs along z run ahead of the plane
 * computed. */
template <class Op, class Tile> struct pipeline {
  static constexpr bool FIELD = Op::FIELD != OPERATION_NONE, TRIPLE = Op::TRIPLE, PRODUCTS = Op::PRODUCTS;
  static constexpr bool TABLES = Op::TABLES, COMPONENTS = Op::COMPONENTS;
  static constexpr int LEAD = Op::Z || TRIPLE ? HALO : 0;
  static constexpr int LATE = Tile::IN_FLIGHT + 1, EARLY = LATE + LEAD;
  static constexpr bool X = Op::X || PRODUCTS, Y = Op::Y || PRODUCTS, SHARED = X || Y;
  static constexpr bool FLUX_TABLES = PRODUCTS && TABLES;
  /* The flux window is computed from f's window, which saves its registers. */
  static constexpr bool FLUX_LATE = FLUX_TABLES && Op::Z;
  /* The third component is also read at the point. */
  static constexpr bool W_LATE = COMPONENTS && Op::reads(Op::W);
  static constexpr bool REREADS = Tile::REREADS && Op::Z && SHARED && !TRIPLE;
  static constexpr int NEWEST = REREADS ? HALO : 2 * HALO; /* f's window holds planes up to this one */

  using f_ring = ring<Tile, X, Y, SHARED ? EARLY : LATE>;
  using u_ring = ring<Tile, true, false, LATE>;
  using v_ring = ring<Tile, false, true, LATE>;
  using w_ring = ring<Tile, false, false, W_LATE ? EARLY : LATE>;
  using point_ring = ring<Tile, false, false, LATE>;

  static constexpr int F = 0;
  static constexpr int U = F + (FIELD ? f_ring::ELEMENTS : 0);
  static constexpr int V = U + (COMPONENTS ? u_ring::ELEMENTS : 0);
  static constexpr int W = V + (COMPONENTS ? v_ring::ELEMENTS : 0);
  static constexpr int POINTS = W + (COMPONENTS ? w_ring::ELEMENTS : 0);
  /* Planes between the newest row of the tables and the plane computed. */
  static constexpr int ROWS_BACK = PRODUCTS ? LEAD : 0;
  static constexpr int FORMULA = POINTS + Op::OTHERS * point_ring::ELEMENTS;
  using formula = tables<Tile, PRODUCTS, FLUX_LATE ? 2 * HALO : ROWS_BACK>;

  static constexpr size_t SHARED_BYTES = (size_t)(FORMULA + (TABLES ? formula::ELEMENTS : 0)) * sizeof(real);

  const arguments &a;
  const geometry &d;
  place at;
  f_ring f;
  u_ring u;
  v_ring v;
  w_ring w;
  point_ring p; /* the first of Op::OTHERS rings */
  formula t;

  __device__ __forceinline__ pipeline(const arguments &a_, const geometry &d_, const place &at_, real *shared)
      : a(a_), d(d_), at(at_) {
    if constexpr (FIELD) f.open(shared + F, d, at);
    if constexpr (COMPONENTS) {
      u.open(shared + U, d, at);
      v.open(shared + V, d, at);
      w.open(shared + W, d, at);
    }
    p.open(shared + POINTS, d, at);
    if constexpr (TABLES) t.open(shared + FORMULA, a, d, at);
  }

  __device__ __forceinline__ point_ring point(int index) const {
    point_ring other = p;
    other.first += index * point_ring::ELEMENTS;
    return other;
  }

  /* Starts the copies of an iteration. Inputs that are differenced along z come from the plane at `ahead`; if
   * `late`, the others come from the plane at `here`, LEAD planes behind. now: 0 if there is no such
   * iteration, which only predicated tiles allow. */
  __device__ __forceinline__ void copy(int early, int late_slot, ptrdiff_t ahead, ptrdiff_t here, bool now,
                                       bool late) const {
    if constexpr (FIELD && SHARED) f.copy(early, d, a.in[Op::FIELD] + ahead, now);
    if constexpr (FIELD && !SHARED) f.copy_own(late_slot, a.in[Op::FIELD] + ahead, at, now);
    if constexpr (COMPONENTS) w.copy_own(W_LATE ? early : late_slot, a.in[Op::W] + ahead, at, now);
    late = late && now;
    if (!Tile::PREDICATED && !late) return;
    if constexpr (COMPONENTS) {
      u.copy(late_slot, d, a.in[Op::U] + here, late);
      v.copy(late_slot, d, a.in[Op::V] + here, late);
    }
#pragma unroll
    for (int k = 0; k < Op::OTHERS; k++) point(k).copy_own(late_slot, a.in[Op::other(k)] + here, at, late);
  }

  /* The slot `planes` planes after `slot`. */
  __device__ __forceinline__ static int later(int slot, int planes) {
    return slot + planes < EARLY ? slot + planes : slot + planes - EARLY;
  }

  /* Reads the newest plane into the windows of row r. early: its slot, or the slot of the computed plane if
   * the ring is read again. */
  __device__ __forceinline__ void window_read(int early, int late_slot, int rows, int r, lines &lf,
                                              lines &lg) const {
    if constexpr (Op::Z) f.read(SHARED ? early : late_slot, at, 0, r, lf.z[NEWEST]);
    if constexpr (FLUX_TABLES && !FLUX_LATE) t.line(rows, AXIS_Z, at, r, lg.z[2 * HALO]);
    if constexpr (COMPONENTS) w.read(W_LATE ? early : late_slot, at, 0, r, lg.z[2 * HALO]);
    if constexpr (PRODUCTS && !FLUX_LATE) {
      real value[VECTOR];
      f.read(early, at, 0, r, value);
      multiply(lg.z[2 * HALO], value);
    }
  }

  /* Computes the whole flux window from that of f. */
  __device__ __forceinline__ void fluxes_late(int newest, int r, const lines &lf, lines &lg) const {
#pragma unroll
    for (int j = 0; j < 2 * HALO + 1; j++) {
      if (j == HALO) continue;
      t.line(formula::back(newest, 2 * HALO - j), AXIS_Z, at, r, lg.z[j]);
      multiply(lg.z[j], lf.z[j]);
    }
  }

  /* Reads the neighbours along x. The points' own vector, i == HALO, is skipped if it is known. */
  template <class Ring>
  __device__ __forceinline__ void x_read(const Ring &from, int slot, int r, bool known,
                                         real (&x)[VECTOR + 2 * HALO]) const {
#pragma unroll
    for (int i = 0; i < VECTOR + 2 * HALO; i += VECTOR) {
      if (known && i == HALO) continue;
      from.read(slot, at, (i - HALO) / VECTOR, r, *reinterpret_cast<real(*)[VECTOR]>(x + i));
    }
  }

  /* Reads the values at the points of row r from the given slots. */
  __device__ __forceinline__ void points_read(int early, int late_slot, int rows, int r,
                                              points &value) const {
    if constexpr (Op::TABLES_AT_POINT) t.point(rows, at, r, value.velocity);
    if constexpr (Op::reads(Op::U)) u.read(late_slot, at, 0, r, value.input[Op::U]);
    if constexpr (Op::reads(Op::V)) v.read(late_slot, at, 0, r, value.input[Op::V]);
    if constexpr (Op::reads(Op::W)) w.read(early, at, 0, r, value.input[Op::W]);
#pragma unroll
    for (int k = 0; k < Op::OTHERS; k++) point(k).read(late_slot, at, 0, r, value.input[Op::other(k)]);
  }

  /* Copies the field at the points themselves from a line that has it; y: the line along y. */
  __device__ __forceinline__ static void own_copy(const real (&y)[VECTOR], const lines &l,
                                                  real (&to)[VECTOR]) {
#pragma unroll
    for (int e = 0; e < VECTOR; e++) to[e] = Y ? y[e] : Op::Z ? l.z[HALO][e] : l.x[HALO + e];
  }

  /* Computes and stores the thread's rows of the plane LEAD before the newest. Vectors are whole: padding is
   * written, too. */
  __device__ __forceinline__ void compute(int early, int late_slot, int newest, ptrdiff_t plane,
                                          lines (&lf)[Tile::ROWS], lines (&lg)[Tile::ROWS]) const {
    constexpr int ROWS = Tile::ROWS;
    real fy[ROWS + 2 * HALO][VECTOR], gy[ROWS + 2 * HALO][VECTOR], columns[VECTOR + 2 * HALO];
    const int rows = formula::back(newest, ROWS_BACK);
    if constexpr (FLUX_TABLES) t.columns_read(at, columns);
#pragma unroll
    for (int j = 0; j < ROWS + 2 * HALO; j++) {
      if (Op::Z && Op::Y && j >= HALO && j < HALO + ROWS) {
#pragma unroll
        for (int e = 0; e < VECTOR; e++) fy[j][e] = lf[j - HALO].z[HALO][e];
      } else if constexpr (Y) {
        f.read(early, at, 0, j - HALO, fy[j]);
      }
      if constexpr (FLUX_TABLES) t.line(rows, AXIS_Y, at, j - HALO, gy[j]);
      if constexpr (COMPONENTS) v.read(late_slot, at, 0, j - HALO, gy[j]);
      if constexpr (PRODUCTS) multiply(gy[j], fy[j]);
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
      points value;
      points_read(early, late_slot, rows, r, value);
      if constexpr (FLUX_LATE) fluxes_late(newest, r, lf[r], lg[r]);
#pragma unroll
      for (int j = NEWEST + 1; j <= 2 * HALO; j++) f.read(later(early, j - HALO), at, 0, r, lf[r].z[j]);
      if constexpr (X) x_read(f, early, r, Y, lf[r].x);
      if constexpr (X && Y) copy_values(fy[r + HALO], lf[r].x + HALO);
      if constexpr (Op::reads(Op::FIELD)) own_copy(fy[r + HALO], lf[r], value.input[Op::FIELD]);
      if constexpr (FLUX_TABLES) table_line(columns, t.pair(rows, AXIS_X, at, r), lg[r].x);
      if constexpr (COMPONENTS) x_read(u, late_slot, r, false, lg[r].x);
#pragma unroll
      for (int i = 0; PRODUCTS && i < VECTOR + 2 * HALO; i++) lg[r].x[i] *= lf[r].x[i];
#pragma unroll
      for (int j = 0; j < 2 * HALO + 1; j++) {
#pragma unroll
        for (int e = 0; e < VECTOR; e++) {
          if constexpr (Y) lf[r].y[j][e] = fy[r + j][e];
          if constexpr (TRIPLE) lg[r].y[j][e] = gy[r + j][e];
        }
      }
      real result[LEAN_OUTPUTS][VECTOR];
      Op::apply(a, lf[r], lg[r], value, result);
      if (!Tile::PREDICATED && r >= at.rows) continue;
#pragma unroll
      for (int k = 0; k < LEAN_OUTPUTS; k++) {
        if (!Op::stores(k)) continue;
        if constexpr (Tile::PREDICATED) {
          store_vector_where(r < at.rows, advance(a.out[k] + plane, at.bytes + r * at.pitch), result[k]);
        } else {
          vector_store(advance(a.out[k] + plane, at.bytes + r * at.pitch), result[k]);
        }
      }
    }
  }
};

/* How a launch is divided into blocks. Each of the first `cut_tiles` tiles is cut along z into `pieces`
 * pieces of at most `chunk` planes, and each piece is a block. Every other tile is one block, which computes
 * the planes of `slab`; if the launch signals its edges, it computes the slab's upper edge first. */
struct cut {
  int tiles_x, tiles_y, cut_tiles, pieces, chunk;
  kernels_planes slab;

  __host__ __device__ __forceinline__ int cut_blocks() const {
    return cut_tiles * pieces;
  }
  int whole_tiles() const {
    return tiles_x * tiles_y - cut_tiles;
  }
  int longest() const { /* most planes of a block */
    return whole_tiles() > 0 ? slab.z1 - slab.z0 : chunk;
  }
};

template <int MODULUS> __device__ __forceinline__ int next(int slot) {
  return slot + 1 == MODULUS ? 0 : slot + 1;
}

/* Offsets of the planes that a block copies, as it moves up or down: `ahead`, which may be an image, and
 * `here`, `lead` planes before it. */
struct walk {
  ptrdiff_t stride, ahead, here;
  int z, direction; /* z: plane of `ahead` in memory */
  int table_z;      /* plane of the tables, `behind` planes before `ahead` */

  __device__ __forceinline__ walk(const geometry &d, int first, int lead, int behind, int direction_)
      : direction(direction_) {
    stride = d.plane(direction);
    ahead = d.neighbour(first);
    table_z = first - direction * behind;
    here = d.plane(first - direction * lead);
    z = (int)(ahead / d.plane(1));
  }

  __device__ __forceinline__ void step(const geometry &d) {
    here += stride;
    table_z += direction;
    ahead += stride;
    z += direction;
    if (z >= d.memory.z0 && z < d.memory.z1) return;
    z = direction > 0 ? d.memory.z0 : d.memory.z1 - 1;
    ahead = d.plane(z);
  }
};

/* Marching downwards reverses the window along z, so first differences change sign; negating the coefficients
 * of z undoes that exactly. Only the sign of a zero can differ, and fields do not show it: the last stage of
 * every scheme adds to a base, and 0 + (-0) = +0 (test_kernels_stage). */
__device__ __forceinline__ arguments turned(const arguments &a, bool down) {
  arguments b = a;
#pragma unroll
  for (int k = 0; k < STENCIL_RADIUS; k++)
    b.c.first[AXIS_Z][k] = down ? -a.c.first[AXIS_Z][k] : a.c.first[AXIS_Z][k];
  return b;
}

/* One block computes the planes of a piece. */
template <class Op, class Tile>
__device__ __forceinline__ void pipeline_march(const pipeline<Op, Tile> &work, const geometry &d,
                                               const kernels_planes &piece, bool down, pacer &mine,
                                               bool paces, edges_beside<Op, Tile> &beside) {
  using pipe = pipeline<Op, Tile>;
  constexpr int LEAD = pipe::LEAD, IN_FLIGHT = Tile::IN_FLIGHT, EARLY = pipe::EARLY, LATE = pipe::LATE;
  constexpr bool TABLES = pipe::TABLES;
  /* Initialised, because ptxas 13.0 takes undefined values that differ between threads for uniform. */
  lines lf[Tile::ROWS] = {};
  lines lg[Tile::ROWS] = {};
  const int needed = piece.z1 - piece.z0 + 2 * LEAD;
  const int iterations = divide_up(needed, Tile::UNROLL) * Tile::UNROLL;
  int early_in = 0, late_in = 0;
  walk planes(d, down ? piece.z1 - 1 + LEAD : piece.z0 - LEAD, LEAD, LEAD - pipe::ROWS_BACK, down ? -1 : 1);
  if constexpr (TABLES) work.t.fill_first(planes.table_z);
  for (int n = 0; n < IN_FLIGHT; n++) {
    if (Tile::PREDICATED || n < needed)
      work.copy(early_in, late_in, planes.ahead, planes.here, n < needed, n >= 2 * LEAD);
    planes.step(d);
    /* The tables run a plane ahead of the fields. */
    if constexpr (TABLES) work.t.copy(next<LATE>(late_in), planes.table_z);
    copy_commit();
    early_in = next<EARLY>(early_in);
    late_in = next<LATE>(late_in);
  }
  /* The plane computed is LEAD planes behind the newest. */
  int early = 0, late = 0, early_late = EARLY - LEAD;
  if constexpr (LEAD == 0) early_late = 0;
  int rows = 0; /* slot of the tables' newest rows */
#pragma unroll 1
  for (int first = 0; first < iterations; first += Tile::UNROLL) {
#pragma unroll
    for (int k = 0; k < Tile::UNROLL; k++) { /* unrolled, shifts of the windows are names of registers */
      const int n = first + k;
      if (paces) mine.plane_begin();
      copy_wait<IN_FLIGHT - 1>();
      __syncthreads();
      if (Tile::PREDICATED || n + IN_FLIGHT < needed)
        work.copy(early_in, late_in, planes.ahead, planes.here, n + IN_FLIGHT < needed,
                  n + IN_FLIGHT >= 2 * LEAD);
      if constexpr (TABLES) work.t.copy(next<LATE>(late_in), planes.table_z + planes.direction);
      copy_commit();
      if (paces) mine.copies_begun();
#pragma unroll
      for (int r = 0; r < Tile::ROWS; r++) {
        direct<Op>::window_shift(lf[r]);
        if constexpr (!pipe::FLUX_LATE) direct<Op>::window_shift(lg[r]);
        work.window_read(pipe::REREADS ? early_late : early, late, rows, r, lf[r], lg[r]);
      }
      if constexpr (TABLES) work.t.fill(next<pipe::formula::DEPTH>(rows), next<LATE>(late));
      if (n >= 2 * LEAD && n < needed) {
        work.compute(early_late, late, rows, planes.here - IN_FLIGHT * planes.stride, lf, lg);
        beside.computed(n - 2 * LEAD + 1);
      }
      planes.step(d);
      early = next<EARLY>(early);
      early_in = next<EARLY>(early_in);
      early_late = next<EARLY>(early_late);
      late = next<LATE>(late);
      rows = next<pipe::formula::DEPTH>(rows);
      late_in = next<LATE>(late_in);
    }
  }
  if constexpr (TABLES) copy_wait<0>(); /* for entries of planes beyond the piece */
}

/* What the block does about its edges, if it has edges, besides computing them. */
template <class Op, class Tile>
__device__ __forceinline__ edges_beside<Op, Tile> edges_begin(const edges_of<Op> &edges,
                                                              const pipeline<Op, Tile> &work,
                                                              const kernels_planes &piece, bool has_edges) {
  if constexpr (Op::SENDS) {
    if (has_edges) edges.wait();
    return {edges, work.d, work.at, work.a.out[0], piece};
  } else {
    return {edges, false};
  }
}

template <class Op, class Tile>
__global__ void __launch_bounds__(Tile::THREADS, 1)
    pipeline_kernel(const __grid_constant__ arguments a, const __grid_constant__ geometry d,
                    const __grid_constant__ cut c, const __grid_constant__ pace paced,
                    const __grid_constant__ edges_of<Op> edges) {
  __shared__ int ticket;
  const bool first_thread = threadIdx.x == 0;
  const bool paces = first_thread && paced.round > 0;
  pacer mine;
  if (first_thread) {
    ticket = paced.round > 0 ? (int)atomicAdd(paced.words + PACE_TICKET, 1U) : (int)blockIdx.x;
    if (paced.round > 0) mine.open(paced, ticket);
    if constexpr (!Op::SENDS) {
      if (edges.parts > 0 && ticket == 0) edges.host->began = clock_read();
    }
  }
  __syncthreads();
  const bool whole = ticket >= c.cut_blocks();
  const int index = whole ? 0 : ticket / c.cut_tiles;
  const int tile = whole ? ticket - c.cut_blocks() + c.cut_tiles : ticket % c.cut_tiles;
  const bool edges_first = Op::EDGES && edges.ends_first() && index < 2;
  const bool down = edges_first && index == 1; /* the upper end is computed first, too */
  const place at = place_make<Tile>(d, tile % c.tiles_x, tile / c.tiles_x);
  const arguments b = turned(a, down);
  const pipeline<Op, Tile> work(b, d, at, reinterpret_cast<real *>(block_memory()));
  kernels_planes piece = whole ? c.slab : d.piece(index, c.chunk);
  edges_beside<Op, Tile> beside = edges_begin<Op, Tile>(edges, work, piece, edges_first);
  bool last = !(whole && edges_first);
  if (!last) piece.z0 = piece.z1 - HALO;
  while (true) {
    beside.active = edges_first && last;
    pipeline_march<Op, Tile>(work, d, piece, down, mine, paces, beside);
    if (!Op::EDGES || last) break;
    __syncthreads();
    piece = {c.slab.z0, piece.z0};
    last = true;
  }
  if constexpr (Op::SENDS) {
    if (edges_first) beside.close();
  }
  if (first_thread && paced.round > 0) mine.close(paced);
}

#endif
