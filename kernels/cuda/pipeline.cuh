#ifndef FDAPP_CUDA_PIPELINE_CUH
#define FDAPP_CUDA_PIPELINE_CUH

#include "direct.cuh"
#include "pace.cuh"
#include "ring.cuh"

/* The kernel for large launches, one for all operations: a block marches a tile of x and y along z. Planes
 * come by asynchronous copies through rings in shared memory; what is needed along z stays in registers, a
 * window of 9 planes; x and y are taken 4 planes late, when the window is centred there. Every input word
 * comes from memory once but for the sides of tiles, which the L2 cache holds while blocks keep pace. */

__device__ __forceinline__ void copy_values(const real (&from)[VECTOR], real *to) {
#pragma unroll
  for (int e = 0; e < VECTOR; e++) to[e] = from[e];
}

/* How an operation uses the pipeline. LEAD: planes by which the inputs along z run ahead of the plane
 * computed. */
template <class Op, class Tile> struct pipeline {
  using use = direct<Op>;
  static constexpr bool FLUXES = use::FLUXES, PRODUCTS = use::PRODUCTS;
  static constexpr bool VALUES = Op::SOURCE != source::COMPONENTS; /* f itself is an input */
  static constexpr int LEAD = Op::Z || FLUXES ? HALO : 0;
  static constexpr int LATE = Tile::STAGES + 1, EARLY = LATE + LEAD;
  static constexpr bool X = Op::X || PRODUCTS, Y = Op::Y || PRODUCTS, SHARED = X || Y;
  static constexpr bool STORED = Op::VELOCITY == velocity::STORED, TABLES = Op::VELOCITY == velocity::TABLES;
  static constexpr bool W_LATE = STORED && PRODUCTS; /* v[2] is needed at the point, too */

  using f_ring = ring<Tile, X, Y, SHARED ? EARLY : LATE>;
  using u_ring = ring<Tile, true, false, LATE>;
  using v_ring = ring<Tile, false, true, LATE>;
  using w_ring = ring<Tile, false, false, W_LATE ? EARLY : LATE>;
  using point_ring = ring<Tile, false, false, LATE>;

  static constexpr int F = 0;
  static constexpr int U = F + (VALUES ? f_ring::ELEMENTS : 0);
  static constexpr int V = U + (FLUXES ? u_ring::ELEMENTS : 0);
  static constexpr int W = V + (FLUXES ? v_ring::ELEMENTS : 0);
  static constexpr int POINTS = W + (FLUXES ? w_ring::ELEMENTS : 0);
  static constexpr int VELOCITIES = STORED && !PRODUCTS ? 3 : 0;
  static constexpr int ROW_TABLES = POINTS + (VELOCITIES + Op::ADDED) * point_ring::ELEMENTS;
  static constexpr int TABLE = Tile::HEIGHT * KERNELS_TABLE; /* of a plane's rows */
  static constexpr int PLANE_TABLES = ROW_TABLES + (TABLES ? LATE * TABLE : 0);

  static constexpr size_t SHARED_BYTES =
      ((size_t)PLANE_TABLES + (size_t)(TABLES ? LATE * KERNELS_TABLE : 0)) * sizeof(real);

  const arguments &a;
  const geometry &d;
  place at;
  f_ring f;
  u_ring u;
  v_ring v;
  w_ring w;
  point_ring p;                    /* the first of VELOCITIES and of what is added */
  real *row_tables, *plane_tables; /* rings of LATE; what rows of a plane bring, and the table along z */
  real columns[3][VECTOR] = {};    /* of the table along x: this thread's */
  real row = 0;                    /* of that along y: the entry that this thread fills row tables with */

  __device__ __forceinline__ pipeline(const arguments &a_, const geometry &d_, const place &at_, real *shared)
      : a(a_), d(d_), at(at_) {
    if constexpr (VALUES) f.open(shared + F, d, at);
    if constexpr (FLUXES) {
      u.open(shared + U, d, at);
      v.open(shared + V, d, at);
      w.open(shared + W, d, at);
    }
    p.open(shared + POINTS, d, at);
    if constexpr (TABLES) open_tables(shared);
  }

  __device__ __forceinline__ void open_tables(real *shared) {
    static_assert(TABLE <= Tile::THREADS && LEAD > 0, "a thread fills one entry, a plane ahead");
    row_tables = shared + ROW_TABLES;
    plane_tables = shared + PLANE_TABLES;
    const int x = at.x0 + at.column * VECTOR;
#pragma unroll
    for (int k = 0; k < 3; k++) {
      if (x < d.ldx) vector_load(a.table[0] + k * d.ldx + x, columns[k]);
    }
    const int i = (int)threadIdx.x;
    const int y = min(at.y0 + i / KERNELS_TABLE, d.ny - 1);
    row = a.table[1][y * KERNELS_TABLE + i % KERNELS_TABLE];
  }

  /* Starts copying the entry of plane z, any where there is no such plane. */
  __device__ __forceinline__ void table_copy(int slot, int z) const {
    const int i = (int)threadIdx.x * VECTOR;
    if (!TABLES || i >= KERNELS_TABLE) return;
    z = max(0, min(z, d.nz - 1));
    copy_vector(plane_tables + slot * KERNELS_TABLE + i, a.table[2] + z * KERNELS_TABLE + i);
  }

  __device__ __forceinline__ void table_fill(int slot) const {
    const int i = (int)threadIdx.x;
    if (!TABLES || i >= TABLE) return;
    const int k = i % KERNELS_TABLE;
    row_tables[slot * TABLE + i] = table_row(k, row, plane_tables[slot * KERNELS_TABLE + k]);
  }

  __device__ __forceinline__ point_ring point(int index) const {
    point_ring other = p;
    other.first += index * point_ring::ELEMENTS;
    return other;
  }

  /* Starts the copies of an iteration: the plane at `ahead` of what runs ahead, the one at `here`, LEAD
   * planes before, of the rest (if `late`). */
  __device__ __forceinline__ void copy(int early, int late_slot, ptrdiff_t ahead, ptrdiff_t here,
                                       bool late) const {
    if constexpr (VALUES && SHARED) f.copy(early, a.f + ahead);
    if constexpr (VALUES && !SHARED) f.copy_own(late_slot, a.f + ahead, at);
    if constexpr (FLUXES) w.copy_own(W_LATE ? early : late_slot, a.v[2] + ahead, at);
    if (!late) return;
    if constexpr (FLUXES) {
      u.copy(late_slot, a.v[0] + here);
      v.copy(late_slot, a.v[1] + here);
    }
    if constexpr (VELOCITIES != 0) {
#pragma unroll
      for (int k = 0; k < VELOCITIES; k++) point(k).copy_own(late_slot, a.v[k] + here, at);
    }
#pragma unroll
    for (int k = 0; k < Op::ADDED; k++) point(VELOCITIES + k).copy_own(late_slot, a.added[k] + here, at);
  }

  /* The newest plane into the windows of row r. */
  __device__ __forceinline__ void window_read(int early, int late_slot, int r, lines &lf, lines &lg) const {
    if constexpr (Op::Z) f.read(SHARED ? early : late_slot, at, 0, r, lf.z[2 * HALO]);
    if constexpr (FLUXES) w.read(W_LATE ? early : late_slot, at, 0, r, lg.z[2 * HALO]);
    if constexpr (PRODUCTS) {
      real value[VECTOR];
      f.read(early, at, 0, r, value);
      multiply(lg.z[2 * HALO], value);
    }
  }

  /* The vector of the points themselves, i == HALO, only if it is not known. */
  template <class Ring>
  __device__ __forceinline__ void x_read(const Ring &from, int slot, int r, bool known,
                                         real (&x)[VECTOR + 2 * HALO]) const {
#pragma unroll
    for (int i = 0; i < VECTOR + 2 * HALO; i += VECTOR) {
      if (known && i == HALO) continue;
      from.read(slot, at, (i - HALO) / VECTOR, r, *reinterpret_cast<real(*)[VECTOR]>(x + i));
    }
  }

  /* Values at the points of row r, plane in the slots given. */
  __device__ __forceinline__ void points_read(int early, int late_slot, int r, points &value) const {
    if constexpr (VELOCITIES != 0) {
#pragma unroll
      for (int k = 0; k < VELOCITIES; k++) point(k).read(late_slot, at, 0, r, value.velocity[k]);
    }
    if constexpr (TABLES) {
      real entry[KERNELS_TABLE];
      table_load(row_tables + late_slot * TABLE + (at.row + r) * KERNELS_TABLE, entry);
      table_values(columns, entry, value);
    }
    if constexpr (W_LATE) {
      u.read(late_slot, at, 0, r, value.velocity[0]);
      v.read(late_slot, at, 0, r, value.velocity[1]);
      w.read(early, at, 0, r, value.velocity[2]);
    }
#pragma unroll
    for (int k = 0; k < Op::ADDED; k++) point(VELOCITIES + k).read(late_slot, at, 0, r, value.added[k]);
  }

  /* Computes the thread's rows of the plane LEAD before the newest and stores them; whole vectors, padding
   * included. */
  __device__ __forceinline__ void compute(int early, int late_slot, ptrdiff_t plane, lines (&lf)[Tile::ROWS],
                                          lines (&lg)[Tile::ROWS]) const {
    constexpr int ROWS = Tile::ROWS;
    real fy[ROWS + 2 * HALO][VECTOR], gy[ROWS + 2 * HALO][VECTOR];
#pragma unroll
    for (int j = 0; j < ROWS + 2 * HALO; j++) {
      if (Op::Z && Op::Y && j >= HALO && j < HALO + ROWS) {
#pragma unroll
        for (int e = 0; e < VECTOR; e++) fy[j][e] = lf[j - HALO].z[HALO][e];
      } else if constexpr (Y) {
        f.read(early, at, 0, j - HALO, fy[j]);
      }
      if constexpr (FLUXES) v.read(late_slot, at, 0, j - HALO, gy[j]);
      if constexpr (PRODUCTS) multiply(gy[j], fy[j]);
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
      points value;
      points_read(early, late_slot, r, value);
      if constexpr (X) x_read(f, early, r, Y, lf[r].x);
      if constexpr (X && Y) copy_values(fy[r + HALO], lf[r].x + HALO);
      if constexpr (VALUES && Y) copy_values(fy[r + HALO], value.f);
      if constexpr (FLUXES) x_read(u, late_slot, r, false, lg[r].x);
#pragma unroll
      for (int i = 0; PRODUCTS && i < VECTOR + 2 * HALO; i++) lg[r].x[i] *= lf[r].x[i];
#pragma unroll
      for (int j = 0; j < 2 * HALO + 1; j++) {
#pragma unroll
        for (int e = 0; e < VECTOR; e++) {
          if constexpr (Y) lf[r].y[j][e] = fy[r + j][e];
          if constexpr (FLUXES) lg[r].y[j][e] = gy[r + j][e];
        }
      }
      real result[Op::OUTPUTS][VECTOR];
#pragma unroll
      for (int e = 0; e < VECTOR; e++) {
        real out[Op::OUTPUTS];
        Op::apply(a, lf[r], lg[r], value, e, out);
#pragma unroll
        for (int k = 0; k < Op::OUTPUTS; k++) result[k][e] = out[k];
      }
      if (r >= at.rows) continue;
#pragma unroll
      for (int k = 0; k < Op::OUTPUTS; k++)
        vector_store(advance(a.out[k] + plane, at.bytes + r * at.pitch), result[k]);
    }
  }
};

/* How a launch is cut: the first `cut_tiles` tiles are taken in `pieces` pieces of at most `chunk` planes
 * along z, a block for each; the others whole, the planes of `slab`, by one block each, with the slab's upper
 * edge before the rest if edges are to be told of. */
struct cut {
  int tiles_x, tiles_y, cut_tiles, pieces, chunk;
  kernels_planes slab;

  __host__ __device__ __forceinline__ int cut_blocks() const {
    return cut_tiles * pieces;
  }
  int whole_tiles() const {
    return tiles_x * tiles_y - cut_tiles;
  }
  int longest() const { /* planes of a block */
    return whole_tiles() > 0 ? slab.z1 - slab.z0 : chunk;
  }
};

template <int MODULUS> __device__ __forceinline__ int next(int slot) {
  return slot + 1 == MODULUS ? 0 : slot + 1;
}

/* Offsets of the planes that a block copies, from plane to plane, up or down: `ahead`, which may be an image,
 * and `here`, `lead` planes before it. */
struct walk {
  ptrdiff_t stride, ahead, here;
  int here_z, z, direction; /* z: of ahead, in memory */

  __device__ __forceinline__ walk(const geometry &d, int first, int lead, int direction_)
      : direction(direction_) {
    stride = d.plane(direction);
    ahead = d.neighbour(first);
    here_z = first - direction * lead;
    here = d.plane(here_z);
    z = (int)(ahead / d.plane(1));
  }

  __device__ __forceinline__ void step(const geometry &d) {
    here += stride;
    here_z += direction;
    ahead += stride;
    z += direction;
    if (z >= d.memory.z0 && z < d.memory.z1) return;
    z = direction > 0 ? d.memory.z0 : d.memory.z1 - 1;
    ahead = d.plane(z);
  }
};

/* With the window along z upside down, differences change sign, and nothing else does; but of a zero the sign
 * may be another. Fields do not see it: a stage with a base, as the last one of every scheme, stores no
 * negative zero where all is zero (test_kernels_stage). */
__device__ __forceinline__ arguments turned(const arguments &a, bool down) {
  arguments b = a;
#pragma unroll
  for (int k = 0; k < STENCIL_RADIUS; k++)
    b.c.first[AXIS_Z][k] = down ? -a.c.first[AXIS_Z][k] : a.c.first[AXIS_Z][k];
  return b;
}

/* One block's way through the planes of a piece. `edges` is told of the first HALO planes if `tells`. */
template <class Op, class Tile>
__device__ __forceinline__ void march(const pipeline<Op, Tile> &work, const geometry &d,
                                      const kernels_planes &piece, bool down, pacer &mine, bool paces,
                                      const edge_signal &edges, bool tells) {
  using line = pipeline<Op, Tile>;
  constexpr int LEAD = line::LEAD, STAGES = Tile::STAGES, EARLY = line::EARLY, LATE = line::LATE;
  lines lf[Tile::ROWS] = {}; /* ptxas 13.0 takes values of threads for uniform if they begin undefined */
  lines lg[Tile::ROWS] = {};
  const int needed = piece.z1 - piece.z0 + 2 * LEAD;
  const int iterations = divide_up(needed, Tile::UNROLL) * Tile::UNROLL;
  int early_in = 0, late_in = 0;
  walk planes(d, down ? piece.z1 - 1 + LEAD : piece.z0 - LEAD, LEAD, down ? -1 : 1);
  for (int n = 0; n < STAGES; n++) {
    if (n < needed) work.copy(early_in, late_in, planes.ahead, planes.here, n >= 2 * LEAD);
    planes.step(d);
    work.table_copy(next<LATE>(late_in), planes.here_z); /* a plane ahead of the others */
    copy_commit();
    early_in = next<EARLY>(early_in);
    late_in = next<LATE>(late_in);
  }
  int early = 0, late = 0, early_late = EARLY - LEAD; /* the plane computed lies LEAD behind the newest */
  if constexpr (LEAD == 0) early_late = 0;
#pragma unroll 1
  for (int first = 0; first < iterations; first += Tile::UNROLL) {
#pragma unroll
    for (int k = 0; k < Tile::UNROLL; k++) { /* the windows' shifts within a turn are only new names */
      const int n = first + k;
      if (paces) mine.plane_begin();
      copy_wait<STAGES - 1>();
      __syncthreads();
      if (n + STAGES < needed) {
        work.copy(early_in, late_in, planes.ahead, planes.here, n + STAGES >= 2 * LEAD);
      }
      work.table_copy(next<LATE>(late_in), planes.here_z + planes.direction);
      copy_commit();
      if (paces) mine.copies_begun();
#pragma unroll
      for (int r = 0; r < Tile::ROWS; r++) {
        direct<Op>::window_shift(lf[r]);
        direct<Op>::window_shift(lg[r]);
        work.window_read(early, late, r, lf[r], lg[r]);
      }
      work.table_fill(next<LATE>(late));
      if (n >= 2 * LEAD && n < needed)
        work.compute(early_late, late, planes.here - STAGES * planes.stride, lf, lg);
      if (tells && n == 2 * LEAD + HALO - 1) edges.give();
      planes.step(d);
      early = next<EARLY>(early);
      early_in = next<EARLY>(early_in);
      early_late = next<EARLY>(early_late);
      late = next<LATE>(late);
      late_in = next<LATE>(late_in);
    }
  }
  if (line::TABLES) copy_wait<0>(); /* entries of planes beyond the piece */
}

template <class Op, class Tile>
__global__ void __launch_bounds__(Tile::THREADS, 1)
    pipeline_kernel(const __grid_constant__ arguments a, const __grid_constant__ geometry d,
                    const __grid_constant__ cut c, const __grid_constant__ pace paced,
                    const __grid_constant__ edge_signal edges) {
  __shared__ int ticket;
  const bool first_thread = threadIdx.x == 0;
  const bool paces = first_thread && paced.round > 0;
  pacer mine;
  if (first_thread) {
    ticket = paced.round > 0 ? (int)atomicAdd(paced.words + PACE_TICKET, 1U) : (int)blockIdx.x;
    if (paced.round > 0) mine.open(paced, ticket);
    if (edges.blocks > 0 && ticket == 0) edges.host->began = clock_read();
  }
  __syncthreads();
  const bool whole = ticket >= c.cut_blocks();
  const int index = whole ? 0 : ticket / c.cut_tiles;
  const int tile = whole ? ticket - c.cut_blocks() + c.cut_tiles : ticket % c.cut_tiles;
  const bool early = Op::EDGES && edges.blocks > 0 && index < 2;
  const bool down = early && index == 1; /* the upper end comes first, too */
  const place at = place_make<Tile>(d, tile % c.tiles_x, tile / c.tiles_x);
  const arguments b = turned(a, down);
  const pipeline<Op, Tile> work(b, d, at, reinterpret_cast<real *>(block_memory()));
  kernels_planes piece = whole ? c.slab : d.piece(index, c.chunk);
  bool last = !(whole && early);
  if (!last) piece.z0 = piece.z1 - HALO;
  while (true) {
    march<Op, Tile>(work, d, piece, down, mine, paces, edges, early && last);
    if (!Op::EDGES || last) break;
    __syncthreads();
    piece = {c.slab.z0, piece.z0};
    last = true;
  }
  if (first_thread && paced.round > 0) mine.close(paced);
}

#endif
