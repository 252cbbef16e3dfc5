#ifndef FDAPP_CUDA_PAIRS_MARCH_CUH
#define FDAPP_CUDA_PAIRS_MARCH_CUH

#include "march.cuh"
#include "pairs.cuh"
#include "pairs_tile.cuh"

/* The engine for two-point fluxes on large slabs: a block marches a tile of x and y upwards through a piece
 * of the planes, and a thread computes one column of it, or two beside each other.
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
 * then those above as they arrive. Names of planes are constants, because the loop is unrolled by HALO.
 *
 * Instructions outnumber transfers: so copies are of vectors, and two columns share what they read. */

/* Elements beside each other, which are loaded at once. */
template <int N> struct alignas(N * sizeof(real)) elements { real of[N]; };

/* MORE: a call reads more than System::POINTS values at a point. Without them fewer registers are needed. The
 * first `ahead` values are copied a plane ahead; others, for which there is no room, are loaded when needed.
 */
template <class System, class Tile, bool MORE> struct pairs_march {
  static constexpr int EACH = Tile::EACH, READS = Tile::READS, SUMS = System::SUMS;
  static constexpr int UNROLL = Tile::UNROLL;
  using together = elements<EACH>;
  const pairs_arguments<System> &a;
  const geometry &d;
  real *ring;
  int z0, count; /* first plane that is stored; planes that arrive: 2 HALO more than are stored */
  int ahead;
  int from[Tile::COPIES]; /* places of copied vectors in a field's plane, */
  int to[Tile::COPIES];   /* and in the ring's; < 0: none */
  int singles;            /* elements that are copied one by one */
  int place, core;        /* of the thread's first point: in a plane of the ring, in the tile, */
  int column;             /* and in a field's plane */
  int columns;            /* of the grid, from that point on; <= 0: the thread stores none */
  real own[HALO][EACH][READS], sums[HALO][EACH][SUMS];

  __device__ __forceinline__ static int wrapped(int i, int n) {
    while (i < 0) i += n;
    while (i >= n) i -= n;
    return i;
  }

  /* Pairs of such places of elements. */
  __device__ __forceinline__ uint2 *single() const {
    return reinterpret_cast<uint2 *>(ring + Tile::SINGLES_AT);
  }

  __device__ __forceinline__ void open_copies(int x0, int y0) {
    const int thread = (int)threadIdx.x;
#pragma unroll
    for (int k = 0; k < Tile::COPIES; k++) {
      const int i = thread + k * Tile::THREADS, j = i - Tile::INNER, side = j % Tile::BESIDE * VECTOR;
      const bool inner = i < Tile::INNER;
      const int row = inner ? i / Tile::ACROSS : HALO + j / Tile::BESIDE;
      const int at = inner ? HALO + i % Tile::ACROSS * VECTOR : side < HALO ? side : Tile::WIDTH + side;
      const int x = wrapped(x0 + at - HALO, d.nx);
      const bool whole = x % VECTOR == 0 && x + VECTOR <= d.nx;
      from[k] = wrapped(y0 + row - HALO, d.ny) * d.ldx + x;
      to[k] = i < Tile::VECTORS && whole ? row * Tile::PITCH + at : -1;
    }
    const int rest = max(d.nx / VECTOR * VECTOR, x0 - HALO), end = min(d.nx, x0 + Tile::WIDTH) + HALO;
    const int left = x0 == 0 ? HALO : 0, columns = left + max(end - rest, 0);
    singles = d.nx % VECTOR == 0 ? 0 : columns * Tile::LINES;
    for (int i = thread; i < singles; i += Tile::THREADS) {
      const int k = i % columns, line = i / columns, x = k < left ? k - HALO : rest + k - left;
      const int at = wrapped(y0 + line - HALO, d.ny) * d.ldx + wrapped(x, d.nx);
      single()[i] = make_uint2((unsigned)at, (unsigned)(line * Tile::PITCH + x - x0 + HALO));
    }
  }

  __device__ __forceinline__ void open() {
    const int tiles_x = divide_up(d.nx, Tile::WIDTH);
    const int tiles = tiles_x * divide_up(d.ny, Tile::HEIGHT), tile = (int)blockIdx.x % tiles;
    const int x0 = tile % tiles_x * Tile::WIDTH, y0 = tile / tiles_x * Tile::HEIGHT;
    const int thread = (int)threadIdx.x, x = thread % (Tile::WIDTH / EACH) * EACH;
    const int y = thread / (Tile::WIDTH / EACH);
    open_copies(x0, y0);
    place = (y + HALO) * Tile::PITCH + x + HALO;
    core = y * Tile::WIDTH + x;
    column = (y0 + y) * d.ldx + x0 + x;
    columns = y0 + y < d.ny ? d.nx - x0 - x : 0;
#pragma unroll
    for (int p = 0; p < HALO; p++)
#pragma unroll
      for (int e = 0; e < EACH; e++) {
#pragma unroll
        for (int f = 0; f < READS; f++) own[p][e][f] = 1;
#pragma unroll
        for (int k = 0; k < SUMS; k++) sums[p][e][k] = 0;
      }
  }

  /* Starts copying the plane that arrives as number i. */
  __device__ __forceinline__ void fetch(int i, int slot) const {
    if (i < count) {
      const ptrdiff_t plane = d.neighbour(z0 - HALO + i);
      real *const into = ring + slot * Tile::PLANE;
#pragma unroll
      for (int k = 0; k < Tile::COPIES; k++) {
        if (to[k] < 0) continue;
#pragma unroll
        for (int f = 0; f < READS; f++)
          copy_vector(into + f * Tile::FIELD + to[k], a.in[f] + plane + from[k]);
      }
#pragma unroll 1
      for (int j = (int)threadIdx.x; j < singles; j += Tile::THREADS) {
        const uint2 pair = single()[j]; /* which this thread wrote */
#pragma unroll
        for (int f = 0; f < READS; f++)
          copy_element(into + f * Tile::FIELD + pair.y, a.in[f] + plane + pair.x);
      }
    }
    copy_commit();
  }

  /* The same of what is read at the points that are finished when plane i has arrived. */
  __device__ __forceinline__ void fetch_points(int i, int slot) const {
    if (i >= 2 * HALO && i < count && columns > 0) {
      const ptrdiff_t at = d.plane(z0 + i - 2 * HALO) + column;
#pragma unroll
      for (int f = 0; f < (MORE ? (int)PAIRS_POINTS : System::POINTS); f++)
        if (f < System::POINTS || f < ahead)
          copy_element(reinterpret_cast<together *>(point(slot, f)),
                       reinterpret_cast<const together *>(a.at[f] + at));
    }
    copy_commit();
  }

  __device__ __forceinline__ real *point(int slot, int f) const {
    return ring + Tile::POINTS + (slot * (MORE ? ahead : System::POINTS) + f) * Tile::CORE + core;
  }

  /* This thread's place for what is set aside of the plane in slot S: entry `first`, and those after it, hold
   * the bits of the mask in order. */
  template <int S> __device__ __forceinline__ together *aside(unsigned mask, int bit, int first) const {
    const int k = first + __builtin_popcount(mask & ((1U << bit) - 1));
    return reinterpret_cast<together *>(ring + Tile::KEPT + (S * Tile::ASIDE + k) * Tile::CORE + core);
  }
  static constexpr int SUMS_ASIDE = __builtin_popcount(System::ASIDE);

  /* Stores what a mask asks for of `from`, which has N entries for each column. */
  template <int S, int N>
  __device__ __forceinline__ void set_aside(unsigned mask, int first, const real (&from)[EACH][N]) const {
#pragma unroll
    for (int k = 0; k < N; k++) {
      together t;
      if (!(mask >> k & 1U)) continue;
#pragma unroll
      for (int e = 0; e < EACH; e++) t.of[e] = from[e][k];
      *aside<S>(mask, k, first) = t;
    }
  }

  /* The other way. */
  template <int S, int N>
  __device__ __forceinline__ void take(unsigned mask, int first, real (&into)[EACH][N]) const {
#pragma unroll
    for (int k = 0; k < N; k++) {
      if (!(mask >> k & 1U)) continue;
      const together t = *aside<S>(mask, k, first);
#pragma unroll
      for (int e = 0; e < EACH; e++) into[e][k] = t.of[e];
    }
  }

  /* The values of the plane in slot S. */
  template <int S> __device__ __forceinline__ void values(real (&v)[EACH][READS]) const {
#pragma unroll
    for (int e = 0; e < EACH; e++)
#pragma unroll
      for (int f = 0; f < READS; f++) v[e][f] = own[S][e][f];
    take<S>(System::ASIDE, 0, v);
  }

  __device__ __forceinline__ static void load(const real *at, real (&to)[EACH][READS]) {
#pragma unroll
    for (int f = 0; f < READS; f++) {
      const together found = *reinterpret_cast<const together *>(at + f * Tile::FIELD);
#pragma unroll
      for (int e = 0; e < EACH; e++) to[e][f] = found.of[e];
    }
  }

  /* The neighbours `offset` points along x, which are neighbours of each column at other distances. */
  template <int S> __device__ __forceinline__ void gather_beside(const real *at, int offset) {
    real other[EACH][READS];
    load(at + offset, other);
#pragma unroll
    for (int e = 0; e < EACH; e++)
#pragma unroll
      for (int f = 0; f < EACH; f++) {
        const int by = offset + f - e, l = (by < 0 ? -by : by) - 1;
        if (l >= 0 && l < HALO) System::pair(a.c, AXIS_X, l, by > 0, own[S][e], other[f], sums[S][e]);
      }
  }

  template <int S, int D> __device__ __forceinline__ void gather_at(const real *at, int l, bool up) {
    constexpr int STEP = D == AXIS_X ? 1 : Tile::PITCH;
    real other[EACH][READS];
    load(up ? at + (1 + l) * STEP : at - (1 + l) * STEP, other);
#pragma unroll
    for (int e = 0; e < EACH; e++) System::pair(a.c, D, l, up, own[S][e], other[e], sums[S][e]);
  }

  /* The neighbours along x or y of the newest plane, which is in slot S. */
  template <int S, int D> __device__ __forceinline__ void gather(const real *at) {
    if constexpr (D == AXIS_X && EACH > 1) {
#pragma unroll
      for (int offset = -HALO; offset <= HALO; offset += EACH) gather_beside<S>(at, offset);
    } else {
#pragma unroll UNROLL
      for (int l = HALO - 1; l >= 0; l--) gather_at<S, D>(at, l, false);
#pragma unroll UNROLL
      for (int l = 0; l < HALO; l++) gather_at<S, D>(at, l, true);
    }
  }

  /* The pairs of the newest plane, values q and sums s, with the one in slot P, L + 1 planes below. */
  template <int P, int L>
  __device__ __forceinline__ void couple(const real (&q)[EACH][READS], real (&s)[EACH][SUMS]) {
    real below[EACH][READS];
    values<P>(below);
#pragma unroll
    for (int e = 0; e < EACH; e++) {
      if constexpr (System::COUPLES) {
        System::couple(a.c, L, below[e], q[e], sums[P][e], s[e]);
      } else {
        System::pair(a.c, AXIS_Z, L, false, q[e], below[e], s[e]);
        System::pair(a.c, AXIS_Z, L, true, below[e], q[e], sums[P][e]);
      }
    }
  }

  /* Stores the plane in slot S, which has all its neighbours when plane i has arrived. */
  template <int S> __device__ __forceinline__ void finish(int i) {
    if (columns <= 0) return;
    const ptrdiff_t at = d.plane(z0 + i - 2 * HALO) + column;
    real out[EACH][PAIRS_OUTPUTS], v[EACH][READS];
    values<S>(v);
    take<S>(System::ASIDE_SUMS, SUMS_ASIDE, sums[S]);
#pragma unroll
    for (int e = 0; e < EACH; e++) {
      real read[PAIRS_POINTS];
#pragma unroll
      for (int f = 0; f < PAIRS_POINTS; f++) {
        if (f < System::POINTS || (MORE && f < ahead))
          read[f] = point(S % 2, f)[e];
        else if (MORE && f < a.points)
          read[f] = a.at[f][at + e];
      }
      System::finish(a.c, v[e], sums[S][e], read, MORE ? a.points : System::POINTS, out[e]);
    }
#pragma unroll
    for (int f = 0; f < System::OUTPUTS; f++) {
      together result;
#pragma unroll
      for (int e = 0; e < EACH; e++) result.of[e] = out[e][f];
      if (columns >= EACH)
        *reinterpret_cast<together *>(a.out[f] + at) = result;
      else
        a.out[f][at] = result.of[0];
    }
  }

  template <int S> __device__ __forceinline__ static int slot(int i) {
    return Tile::RING == HALO ? S % Tile::RING : i % Tile::RING;
  }

  /* Plane i arrives; slot S holds plane i - 4, and then this one. */
  template <int S> __device__ __forceinline__ void step(int i) {
    if constexpr (Tile::SLACK)
      if (i >= 2) barrier_wait(done() + S % 2, (i - 2) / 2 % 2);
    fetch_points(i + 1, (S + 1) % 2);
    fetch(i + Tile::AHEAD, slot<S + Tile::AHEAD>(i + Tile::AHEAD));
    const real *at = ring + slot<S>(i) * Tile::PLANE + place;
    real q[EACH][READS], s[EACH][SUMS];
    load(at, q);
#pragma unroll
    for (int e = 0; e < EACH; e++)
#pragma unroll
      for (int k = 0; k < SUMS; k++) s[e][k] = 0;
    couple<S, 3>(q, s);
    if (i >= 2 * HALO && i < count) finish<S>(i);
    couple<(S + 1) % HALO, 2>(q, s);
    couple<(S + 2) % HALO, 1>(q, s);
    couple<(S + 3) % HALO, 0>(q, s);
#pragma unroll
    for (int e = 0; e < EACH; e++) {
#pragma unroll
      for (int f = 0; f < READS; f++) own[S][e][f] = q[e][f];
#pragma unroll
      for (int k = 0; k < SUMS; k++) sums[S][e][k] = s[e][k];
    }
    set_aside<S>(System::ASIDE, 0, own[S]);
    if (i >= HALO && i < count - HALO) {
      gather<S, AXIS_X>(at);
      gather<S, AXIS_Y>(at);
#pragma unroll
      for (int e = 0; e < EACH; e++) System::across(sums[S][e]);
      set_aside<S>(System::ASIDE_SUMS, SUMS_ASIDE, sums[S]);
    }
#pragma unroll
    for (int e = 0; e < EACH; e++)
#pragma unroll
      for (int f = 0; f < READS; f++) own[S][e][f] = hidden(own[S][e][f]);
    if constexpr (Tile::SLACK) {
      copy_wait<0>();
      warp_wait();
      if (threadIdx.x % 32 == 0) barrier_arrive(done() + S % 2);
    } else {
      copy_wait<1>(); /* all but the newest plane are here, and the points of the next step */
      __syncthreads();
    }
  }

  /* Of even and of odd steps: its phases end as these do. */
  __device__ __forceinline__ barrier *done() const {
    return reinterpret_cast<barrier *>(ring + Tile::BARRIERS);
  }

  __device__ __forceinline__ void run() {
#pragma unroll
    for (int i = 0; i < Tile::AHEAD; i++) fetch(i, i);
    if constexpr (Tile::SLACK) {
      if (threadIdx.x == 0) {
        for (int i = 0; i < 2; i++) barrier_make(done() + i, Tile::THREADS / 32);
        barriers_made();
      }
    }
    copy_wait<0>();
    __syncthreads();
#pragma unroll 1
    for (int i = 0; i < count; i += HALO) {
      step<0>(i);
      step<1>(i + 1);
      step<2>(i + 2);
      step<3>(i + 3);
    }
  }
};

template <class System, class Tile, bool MORE>
__global__ void __launch_bounds__(Tile::THREADS)
    pairs_march_kernel(const __grid_constant__ pairs_arguments<System> a, const __grid_constant__ geometry d,
                       const int chunk, const int ahead) {
  const int tiles = divide_up(d.nx, Tile::WIDTH) * divide_up(d.ny, Tile::HEIGHT);
  const kernels_planes piece = d.piece((int)blockIdx.x / tiles, chunk);
  pairs_march<System, Tile, MORE> march = {
      a, d, reinterpret_cast<real *>(block_memory()), piece.z0, piece.z1 - piece.z0 + 2 * HALO, ahead};
  march.open();
  march.run();
}

template <class Tile, bool MORE, class System>
static status march_start(const kernels_launch *launch, const pairs_arguments<System> &a, const char *name) {
  const kernels_context *context = launch->context;
  const geometry d = launch_geometry(launch);
  const auto kernel = pairs_march_kernel<System, Tile, MORE>;
  const int ahead = Tile::shared_bytes(a.points) <= context->shared_limit ? a.points : System::POINTS;
  const size_t shared = Tile::shared_bytes(ahead);
  int resident = 0;
  CHECK_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared));
  CHECK_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, Tile::THREADS, shared));
  if (resident == 0) return pairs_launch(launch, a, name);
  const int tiles = divide_up(d.nx, Tile::WIDTH) * divide_up(d.ny, Tile::HEIGHT);
  const int chunk = march_chunk(tiles, d.longest(), resident * context->multiprocessors, 2 * HALO);
  kernel_launch(kernel, (unsigned)(tiles * d.pieces(chunk)), Tile::THREADS, shared, launch_stream(launch), a,
                d, chunk, ahead);
  return launch_done(launch, name);
}

/* Marches if the slab is large enough to fill the device, otherwise computes point by point. */
template <class Tile, class System>
static status march_launch(const kernels_launch *launch, const pairs_arguments<System> &a, const char *name) {
  constexpr size_t LEAST = 4096; /* points for each multiprocessor */
  const kernels_context *context = launch->context;
  const geometry d = launch_geometry(launch);
  const size_t points = (size_t)d.nx * (size_t)d.ny * (size_t)d.planes();
  if (points < LEAST * (size_t)context->multiprocessors || d.planes() < 2 * HALO ||
      Tile::shared_bytes(System::POINTS) > context->shared_limit || (size_t)d.ny * (size_t)d.ldx > INT32_MAX)
    return pairs_launch(launch, a, name);
  return a.points > System::POINTS ? march_start<Tile, true>(launch, a, name)
                                   : march_start<Tile, false>(launch, a, name);
}

#endif
