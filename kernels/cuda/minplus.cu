#include <stdlib.h>

#include "minplus_tile.cuh"

/* The min-plus product, tiled like a matrix product. A block of 8 x 8 threads computes a tile of SIDE points
 * i of SIDE pencils, 8 x 8 values in the registers of each thread, and marches through chunks of k. A chunk
 * of the pencils lies in shared memory, double-buffered: the next chunk is copied while this one is used.
 *
 * The cost of a chunk is a tile of a matrix, or, from a table, a window of SIDE + CHUNK - 1 entries: a
 * thread's 8 points need 8 consecutive entries, and for the next k the 8 entries one place before, so that 15
 * loaded entries serve 8 values of k.
 *
 * With a table, chunks are visited in groups, in ascending order of their least cost, until no value of the
 * tile can become less. Within a chunk a warp computes only those k for which the value of some pencil plus
 * the chunk's least cost is below one of the warp's values: if a set has few points, most k have none in any
 * of the tile's pencils. */

/* The least cost between the tile's points and the chunks of visit v. */
__device__ __forceinline__ real visit_bound(const product &m, const place &at, int v) {
  const int k0 = v * m.group * chunk_of(true);
  const int k1 = min(k0 + m.group * chunk_of(true), m.count);
  const int i1 = min(at.i + SIDE, m.points);
  real least = infinity();
  for (int entry = m.offset + at.i - (k1 - 1); entry <= m.offset + i1 - 1 - k0; entry++)
    least = lesser(m.cost[abs(entry)], least);
  return least;
}

/* Sorts visits by ascending bound: the rank of each is the number of visits before it. */
__device__ __forceinline__ void visits_sort(const product &m, const place &at, const buffers &b) {
  for (int v = (int)threadIdx.x; v < m.visits; v += THREADS) b.bounds[v] = visit_bound(m, at, v);
  __syncthreads();
  for (int v = (int)threadIdx.x; v < m.visits; v += THREADS) {
    int before = 0;
    for (int u = 0; u < m.visits; u++)
      before += b.bounds[u] < b.bounds[v] || (b.bounds[u] == b.bounds[v] && u < v);
    b.order[before] = v;
  }
}

template <bool ALONG_X, bool TABLE>
__device__ __forceinline__ void bases_fill(const product &m, const place &at, const buffers &b) {
  const int number = (int)threadIdx.x;
  static_assert(THREADS == SIDE, "one pencil and one row of a matrix for each thread");
  if constexpr (ALONG_X) b.bases[number] = pencil_base(m, min(at.pencil + number, m.pencils - 1));
  if constexpr (!TABLE) b.bases[SIDE + number] = min(at.i + number, m.points - 1) * m.pitch;
}

/* Calls visit(lanes, address, vector) for all vectors of this thread's values in memory. Vectors lie along x,
 * which is along the pencils or across them. lanes: number of elements that are points. */
template <bool ALONG_X, class Visit>
__device__ __forceinline__ void vectors_visit(const product &m, const place &at, const buffers &b, int down,
                                              int across, values &value, Visit visit) {
#pragma unroll
  for (int outer = 0; outer < PER_THREAD; outer++) {
#pragma unroll
    for (int inner = 0; inner < PER_THREAD; inner += VECTOR) {
      const int point = down * PER_THREAD + (ALONG_X ? inner : outer);
      const int pencil = pencil_of(across, ALONG_X ? outer : inner);
      const int points = m.points - at.i - point, pencils = m.pencils - at.pencil - pencil;
      const int lanes = ALONG_X ? (pencils > 0 ? points : 0) : (points > 0 ? pencils : 0);
      real *const to = m.out + (ALONG_X ? b.bases[pencil] + at.i + point
                                        : at.base + (at.i + point) * m.point_step + at.pencil + pencil);
      real some[VECTOR];
#pragma unroll
      for (int v = 0; v < VECTOR; v++) some[v] = ALONG_X ? value[inner + v][outer] : value[outer][inner + v];
      visit(lanes, to, some);
#pragma unroll
      for (int v = 0; v < VECTOR; v++)
        (ALONG_X ? value[inner + v][outer] : value[outer][inner + v]) = some[v];
    }
  }
}

/* Loads the values that are accumulated. Lanes without a point get a number that never needs a search. */
template <bool ALONG_X>
__device__ __forceinline__ void values_open(const product &m, const place &at, const buffers &b, int down,
                                            int across, values &value) {
  vectors_visit<ALONG_X>(m, at, b, down, across, value, [&](int lanes, real *out, real(&some)[VECTOR]) {
#pragma unroll
    for (int v = 0; v < VECTOR; v++) some[v] = infinity();
    if (lanes > 0 && m.accumulate) vector_load(out, some);
#pragma unroll
    for (int v = 0; v < VECTOR; v++) some[v] = v < lanes ? some[v] : -infinity();
  });
}

/* Stores the values. Adding zero turns -0 into +0. */
template <bool ALONG_X>
__device__ __forceinline__ void values_close(const product &m, const place &at, const buffers &b, int down,
                                             int across, values &value) {
  vectors_visit<ALONG_X>(m, at, b, down, across, value, [&](int lanes, real *out, real(&some)[VECTOR]) {
#pragma unroll
    for (int v = 0; v < VECTOR; v++) some[v] += (real)0;
    if (lanes > 0) vector_store(out, some);
  });
}

__device__ __forceinline__ real values_most(const values &value) {
  real most = value[0][0];
#pragma unroll
  for (int c = 0; c < PER_THREAD; c++) {
#pragma unroll
    for (int p = 0; p < PER_THREAD; p++) most = -lesser(-value[c][p], -most);
  }
  return most;
}

/* Mask of the values of k in a chunk that can lower a value of the warp. `most` is the largest of these
 * values, `bound` a lower bound of the chunk's costs. Each thread tests half of the pencils at one k. */
__device__ __forceinline__ unsigned chunk_wanted(const real *pencils, const buffers &b, real bound,
                                                 real most) {
  constexpr int CHUNK = chunk_of(true), PART = SIDE * CHUNK / THREADS;
  static_assert(CHUNK == 32 && PART == SIDE / 2, "a lane for each k, and two threads");
  const int thread = (int)threadIdx.x;
  const int lane = thread % 32;
  real low = infinity();
#pragma unroll
  for (int e = 0; e < PART; e += VECTOR) {
    real some[VECTOR];
    vector_load(pencils + thread % CHUNK * PITCH + thread / CHUNK * PART + e, some);
#pragma unroll
    for (int v = 0; v < VECTOR; v++) low = lesser(some[v], low);
  }
  b.lows[thread] = low;
  __syncthreads();
  return __ballot_sync(0xffffffffU, lesser(b.lows[lane], b.lows[lane + CHUNK]) + bound < most);
}

__device__ __forceinline__ real warp_most(real most) {
#pragma unroll
  for (int o = 16; o > 0; o /= 2) most = -lesser(-__shfl_down_sync(0xffffffffU, most, o), -most);
  return __shfl_sync(0xffffffffU, most, 0);
}

/* A position in the order of visits. */
struct cursor {
  int visit, part; /* chunk `part` of the visit's group */

  __device__ __forceinline__ void advance(const product &m) {
    if (++part < m.group) return;
    part = 0;
    visit++;
  }
};

/* Returns true if the search is tested for its end at this step. The test costs as much as half a value of k,
 * so it is made after each of the first four chunks, then after every fourth. */
__device__ __forceinline__ bool visit_asks(int step) {
  return step < 4 || step % 4 == 0;
}

/* Computes a tile. Returns the number of values of k that this warp computed. */
template <bool ALONG_X, bool TABLE>
__device__ __forceinline__ int tile_fill(const product &m, const place &at, const buffers &b, int down,
                                         int across, values &value) {
  constexpr int CHUNK = chunk_of(TABLE);
  const auto fetch = [&](const cursor &c, int half) {
    chunk_fetch<ALONG_X, TABLE>(m, at, TABLE ? b.order[c.visit] * m.group + c.part : c.visit, half, b);
  };
  cursor here = {0, 0}, next = {0, 0};
  int half = 0, taken = 0;
  real most = infinity();
  fetch(here, half);
  copy_wait<0>();
  __syncthreads();
  for (int step = 1;; step++, half = 1 - half) {
    const real *pencils = b.pencils + half * CHUNK * PITCH;
    const real *costs = b.costs + half * (TABLE ? WINDOW : CHUNK * PITCH);
    next.advance(m);
    if (next.visit < m.visits) fetch(next, 1 - half);
    unsigned wanted = ~0U;
    if constexpr (TABLE) {
      if (m.skips) wanted = chunk_wanted(pencils, b, b.bounds[b.order[here.visit]], most);
    }
    const int count = TABLE ? __popc(wanted) : CHUNK;
    if (!TABLE || count >= MANY) {
      chunk_compute<TABLE>(pencils, costs, down, across, value, m.one);
      taken += CHUNK;
    } else {
      some_compute(pencils, costs, wanted, down, across, value, m.one);
      taken += count;
    }
    copy_wait<0>();
    here = next;
    if (here.visit == m.visits) return taken;
    if (TABLE && m.skips && visit_asks(step)) {
      const real own = values_most(value);
      most = warp_most(own);
      if (!__syncthreads_or(own > m.least + b.bounds[b.order[here.visit]])) return taken;
    } else {
      __syncthreads();
    }
  }
}

template <bool TABLE> __host__ __device__ constexpr size_t costs_elements() {
  return 2 * (TABLE ? WINDOW : chunk_of(TABLE) * PITCH);
}

/* Limits registers to 8 resident blocks in single precision, 4 in double. */
template <bool ALONG_X, bool TABLE>
static __global__ void __launch_bounds__(THREADS, by_precision_value(8, 4))
    minplus_kernel(const __grid_constant__ product m) {
  const int tile = (int)(blockIdx.x % (unsigned)m.tiles);
  const int bundle = (int)(blockIdx.x / (unsigned)m.tiles);
  const place at = {tile * SIDE, bundle % m.across * SIDE, bundle / m.across * m.line_step};
  buffers b;
  b.pencils = reinterpret_cast<real *>(block_memory());
  b.costs = b.pencils + 2 * chunk_of(TABLE) * PITCH;
  b.bases = reinterpret_cast<ptrdiff_t *>(b.costs + costs_elements<TABLE>());
  b.lows = reinterpret_cast<real *>(b.bases + 2 * SIDE);
  b.bounds = b.lows + THREADS;
  b.order = reinterpret_cast<int *>(b.bounds + MOST_VISITS);
  const int across = (int)threadIdx.x % ACROSS;
  const int down = (int)threadIdx.x / ACROSS;
  values value;
  bases_fill<ALONG_X, TABLE>(m, at, b);
  if constexpr (TABLE) visits_sort(m, at, b);
  __syncthreads();
  values_open<ALONG_X>(m, at, b, down, across, value);
  const int taken = tile_fill<ALONG_X, TABLE>(m, at, b, down, across, value);
  values_close<ALONG_X>(m, at, b, down, across, value);
  if (m.pairs != nullptr && threadIdx.x % 32 == 0)
    atomicAdd(m.pairs, (unsigned long long)taken * (SIDE * SIDE / WARPS));
}

/* Describes the product. Along x every row is a pencil; along y and z a row of pencils lies along x. */
static product product_make(const kernels_launch *launch, const kernels_minplus *what) {
  const kernels_shape *s = &launch->shape;
  product m = {};
  m.in = static_cast<const real *>(what->in);
  m.out = static_cast<real *>(what->out);
  m.cost = static_cast<const real *>(what->cost);
  m.ldx = s->ldx;
  m.count = what->count;
  m.pitch = what->pitch;
  m.offset = (int)what->offset;
  m.least = (real)what->least;
  m.skips = m.least > -(real)INFINITY;
  m.accumulate = what->accumulate != 0;
  m.pairs = what->pairs;
  m.one = 1;
  m.point_step = what->along == AXIS_Y ? s->ldx : s->plane;
  m.line_step = what->along == AXIS_Y ? s->plane : s->ldx;
  m.plane_step = s->plane;
  m.lines = s->ny;
  m.pencils = what->along == AXIS_X ? s->ny * s->nz : s->nx;
  m.points = what->along == AXIS_X ? s->nx : what->along == AXIS_Y ? s->ny : s->nz;
  m.tiles = divide_up(m.points, SIDE);
  m.across = divide_up(m.pencils, SIDE);
  m.last = max(abs(m.offset + m.points - 1), abs(m.offset - (m.count - 1)));
  const bool table = m.pitch == 0;
  const int chunks = divide_up(m.count, chunk_of(table));
  m.group = table ? divide_up(chunks, MOST_VISITS) : 1;
  m.visits = divide_up(chunks, m.group);
  return m;
}

template <bool ALONG_X, bool TABLE>
static void minplus_launch(const kernels_launch *launch, const product &m, int rows) {
  const size_t elements = 2 * chunk_of(TABLE) * PITCH + costs_elements<TABLE>() + THREADS + MOST_VISITS;
  const size_t shared = elements * sizeof(real) + 2 * SIDE * sizeof(ptrdiff_t) + MOST_VISITS * sizeof(int);
  const unsigned blocks = (unsigned)m.tiles * (unsigned)m.across * (unsigned)rows;
  kernel_launch(minplus_kernel<ALONG_X, TABLE>, blocks, THREADS, shared, launch_stream(launch), m);
}

extern "C" status NAME(minplus)(const kernels_launch *launch, const kernels_minplus *what) {
  const product m = product_make(launch, what);
  const bool table = what->pitch == 0;
  if (what->along == AXIS_X) {
    (table ? minplus_launch<true, true> : minplus_launch<true, false>)(launch, m, 1);
  } else {
    const int rows = what->along == AXIS_Y ? launch->shape.nz : launch->shape.ny;
    (table ? minplus_launch<false, true> : minplus_launch<false, false>)(launch, m, rows);
  }
  return context_launched(launch->context, launch->queue, "kernel minplus");
}
