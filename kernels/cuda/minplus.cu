#include "device.cuh"

/* The min-plus product, as a matrix product is computed: a block of 8 x 8 threads has a tile of SIDE points i
 * of SIDE pencils, 8 x 8 values of it in the registers of each thread, and marches through chunks of k. A
 * chunk of the pencils lies in shared memory, in two buffers by turns, so that the next one comes while this
 * one is used.
 *
 * The cost of a chunk is a tile of a matrix, or, from a table, a window of SIDE + CHUNK - 1 entries: a
 * thread's 8 points see 8 entries side by side, and one place before for the next k, so that 15 loaded
 * entries serve 8 values of k.
 *
 * Chunks are visited in groups, that of the least cost first, until no value of the tile can be lowered. */

constexpr int SIDE = 64, PER_THREAD = 8, ACROSS = SIDE / PER_THREAD, THREADS = ACROSS * ACROSS;
constexpr int CHUNK = 16,
              STEP = 8; /* values of k in shared memory, and of those with one window in registers */
constexpr int PITCH = SIDE + VECTOR;
constexpr int WINDOW = SIDE + CHUNK; /* one entry more than are needed, for vectors */
constexpr int MOST_VISITS = 1024;

struct product {
  const real *in, *cost;
  real *out;
  ptrdiff_t point_step;            /* elements from point to point of a pencil */
  ptrdiff_t line_step, plane_step; /* from row to row of pencils, and of those from plane to plane */
  int lines;                       /* rows of pencils in a plane */
  int pencils;                     /* in a row; along x: pencils in all */
  int ldx;
  int points, count, tiles;  /* tiles: along i */
  int across;                /* tiles along a row of pencils */
  int chunks, visits, group; /* chunks in all; visits of `group` chunks each */
  ptrdiff_t pitch, offset;
  real least;
  bool accumulate;
  unsigned long long *pairs;
};

/* Where a block works. */
struct place {
  int i, pencil;  /* first of the tile */
  ptrdiff_t base; /* along y and z: element of point 0 of the row of pencils */
};

struct buffers {
  real *pencils, *costs; /* [2][CHUNK][PITCH]; costs of a table: [2][WINDOW] */
  real *bounds;          /* of visits */
  int *order;
};

__device__ __forceinline__ real infinity() {
  return (real)__longlong_as_double(0x7ff0000000000000LL);
}

__device__ __forceinline__ real lesser(real a, real b) {
  if constexpr (SINGLE) {
    return fminf((float)a, (float)b);
  } else {
    return a < b ? a : b;
  }
}

/* Of this thread's pencil number p: vectors are spread, so that neighbouring threads read neighbouring ones.
 */
__device__ __forceinline__ int pencil_of(int across, int p) {
  return p / VECTOR * (ACROSS * VECTOR) + across * VECTOR + p % VECTOR;
}

__device__ __forceinline__ ptrdiff_t pencil_base(const product &m, int pencil) { /* along x */
  return (ptrdiff_t)(pencil / m.lines) * m.plane_step + (ptrdiff_t)(pencil % m.lines) * m.line_step;
}

/* A tile [k][number] of rows that have k side by side; element(number) is where a row begins. */
template <class Element>
__device__ __forceinline__ void turned_fetch(real *tile, const real *from, int k0, int count, real beyond,
                                             Element element) {
#pragma unroll 4
  for (int e = (int)threadIdx.x; e < SIDE * CHUNK; e += THREADS) {
    const int k = e % CHUNK;
    const int number = e / CHUNK;
    real *to = tile + k * PITCH + number;
    if (k0 + k < count) {
      copy_element(to, from + element(number) + k0 + k);
    } else {
      *to = beyond;
    }
  }
}

template <bool ALONG_X>
__device__ __forceinline__ void pencils_fetch(const product &m, const place &at, int k0, real *tile) {
  if constexpr (ALONG_X) {
    turned_fetch(tile, m.in, k0, m.count, infinity(),
                 [&](int number) { return pencil_base(m, min(at.pencil + number, m.pencils - 1)); });
  } else {
    constexpr int VECTORS = SIDE / VECTOR;
#pragma unroll
    for (int e = 0; e < VECTORS * CHUNK / THREADS; e++) {
      const int k = (e * THREADS + (int)threadIdx.x) / VECTORS;
      const int column = (e * THREADS + (int)threadIdx.x) % VECTORS * VECTOR;
      real *to = tile + k * PITCH + column;
      if (k0 + k < m.count && at.pencil + column < m.ldx) {
        copy_vector(to, m.in + at.base + (k0 + k) * m.point_step + at.pencil + column);
      } else {
#pragma unroll
        for (int v = 0; v < VECTOR; v++) to[v] = infinity();
      }
    }
  }
}

template <bool TABLE>
__device__ __forceinline__ void costs_fetch(const product &m, const place &at, int k0, real *tile) {
  if constexpr (TABLE) {
    const ptrdiff_t nearest = m.offset + at.i - k0 - (CHUNK - 1);
    for (int e = (int)threadIdx.x; e < WINDOW; e += THREADS) {
      /* Entries beyond those of a point and a value of k repeat the last. */
      const ptrdiff_t lowest = m.offset - (m.count - 1);
      const ptrdiff_t highest = m.offset + m.points - 1;
      const ptrdiff_t entry = min(max(nearest + e, lowest), highest);
      copy_element(tile + e, m.cost + (entry < 0 ? -entry : entry));
    }
  } else {
    turned_fetch(tile, m.cost, k0, m.count, (real)0,
                 [&](int number) { return (ptrdiff_t)min(at.i + number, m.points - 1) * m.pitch; });
  }
}

template <bool ALONG_X, bool TABLE>
__device__ __forceinline__ void chunk_fetch(const product &m, const place &at, int chunk, int half,
                                            const buffers &b) {
  pencils_fetch<ALONG_X>(m, at, chunk * CHUNK, b.pencils + half * CHUNK * PITCH);
  costs_fetch<TABLE>(m, at, chunk * CHUNK, b.costs + half * (TABLE ? WINDOW : CHUNK * PITCH));
  copy_commit();
}

typedef real values[PER_THREAD][PER_THREAD]; /* [point][pencil] */

template <bool TABLE>
__device__ __forceinline__ void chunk_compute(const real *pencils, const real *costs, int down, int across,
                                              values &value) {
#pragma unroll
  for (int k0 = 0; k0 < CHUNK; k0 += STEP) {
    real window[2 * STEP];
    if constexpr (TABLE) vectors_load(costs + down * PER_THREAD + CHUNK - STEP - k0, window);
#pragma unroll
    for (int k = 0; k < STEP; k++) {
      real cost[PER_THREAD], in[PER_THREAD];
      if constexpr (!TABLE) vectors_load(costs + (k0 + k) * PITCH + down * PER_THREAD, cost);
#pragma unroll
      for (int p = 0; p < PER_THREAD; p += VECTOR)
        vector_load(pencils + (k0 + k) * PITCH + pencil_of(across, p),
                    *reinterpret_cast<real(*)[VECTOR]>(in + p));
#pragma unroll
      for (int c = 0; c < PER_THREAD; c++) {
        const real add = TABLE ? window[c - k + STEP - 1] : cost[c];
#pragma unroll
        for (int p = 0; p < PER_THREAD; p++) value[c][p] = lesser(in[p] + add, value[c][p]);
      }
    }
  }
}

/* The least cost of the tile's points with the chunks of visit v. */
__device__ __forceinline__ real visit_bound(const product &m, const place &at, int v) {
  const ptrdiff_t k0 = (ptrdiff_t)v * m.group * CHUNK;
  const ptrdiff_t k1 = min(k0 + (ptrdiff_t)m.group * CHUNK, (ptrdiff_t)m.count);
  const ptrdiff_t i1 = min(at.i + SIDE, m.points);
  real least = infinity();
  for (ptrdiff_t entry = m.offset + at.i - (k1 - 1); entry <= m.offset + i1 - 1 - k0; entry++)
    least = lesser(m.cost[entry < 0 ? -entry : entry], least);
  return least;
}

/* Visits in ascending order of their bounds: each counts those before it. */
__device__ __forceinline__ void visits_sort(const product &m, const place &at, const buffers &b) {
  for (int v = (int)threadIdx.x; v < m.visits; v += THREADS) b.bounds[v] = visit_bound(m, at, v);
  __syncthreads();
  for (int v = (int)threadIdx.x; v < m.visits; v += THREADS) {
    int before = 0;
    for (int u = 0; u < m.visits; u++)
      before += b.bounds[u] < b.bounds[v] || (b.bounds[u] == b.bounds[v] && u < v);
    b.order[before] = v;
  }
  __syncthreads();
}

/* Element of `out`. */
template <bool ALONG_X>
__device__ __forceinline__ ptrdiff_t out_at(const product &m, const place &at, int point, int pencil) {
  return ALONG_X ? pencil_base(m, at.pencil + pencil) + at.i + point
                 : at.base + (at.i + point) * m.point_step + at.pencil + pencil;
}

__device__ __forceinline__ bool value_exists(const product &m, const place &at, int point, int pencil) {
  return at.i + point < m.points && at.pencil + pencil < m.pencils;
}

/* Places of no meaning hold a number that never wants a search. */
template <bool ALONG_X>
__device__ __forceinline__ void values_open(const product &m, const place &at, int down, int across,
                                            values &value) {
#pragma unroll
  for (int c = 0; c < PER_THREAD; c++) {
#pragma unroll
    for (int p = 0; p < PER_THREAD; p++) {
      const int point = down * PER_THREAD + c;
      const int pencil = pencil_of(across, p);
      value[c][p] = infinity();
      if (!value_exists(m, at, point, pencil)) {
        value[c][p] = -infinity();
      } else if (m.accumulate) {
        value[c][p] = m.out[out_at<ALONG_X>(m, at, point, pencil)];
      }
    }
  }
}

/* Adding zero turns -0 into +0. */
template <bool ALONG_X>
__device__ __forceinline__ void values_close(const product &m, const place &at, int down, int across,
                                             const values &value) {
#pragma unroll
  for (int c = 0; c < PER_THREAD; c++) {
#pragma unroll
    for (int p = 0; p < PER_THREAD; p++) {
      const int point = down * PER_THREAD + c;
      const int pencil = pencil_of(across, p);
      if (value_exists(m, at, point, pencil))
        m.out[out_at<ALONG_X>(m, at, point, pencil)] = value[c][p] + (real)0;
    }
  }
}

__device__ __forceinline__ bool values_above(const values &value, real bound) {
  real most = value[0][0];
#pragma unroll
  for (int c = 0; c < PER_THREAD; c++) {
#pragma unroll
    for (int p = 0; p < PER_THREAD; p++) most = value[c][p] > most ? value[c][p] : most;
  }
  return most > bound;
}

/* Comparing all values costs as much as half a value of k: at first after each chunk, later after every
 * fourth. */
__device__ __forceinline__ bool visit_asks(int step) {
  return step < 8 || step % 4 == 0;
}

/* Returns how many chunks it took. Chunk `step` in the order of visits. */
template <bool ALONG_X, bool TABLE>
__device__ __forceinline__ int tile_fill(const product &m, const place &at, const buffers &b, int down,
                                         int across, values &value) {
  const auto chunk = [&](int step) {
    return TABLE ? b.order[step / m.group] * m.group + step % m.group : step;
  };
  const int steps = TABLE ? m.visits * m.group : m.chunks;
  int step = 0;
  chunk_fetch<ALONG_X, TABLE>(m, at, chunk(0), 0, b);
  copy_wait<0>();
  __syncthreads();
  while (true) {
    const int next = step + 1;
    if (next < steps) chunk_fetch<ALONG_X, TABLE>(m, at, chunk(next), next % 2, b);
    chunk_compute<TABLE>(b.pencils + step % 2 * CHUNK * PITCH,
                         b.costs + step % 2 * (TABLE ? WINDOW : CHUNK * PITCH), down, across, value);
    copy_wait<0>();
    step = next;
    if (step == steps) return step;
    if (TABLE && visit_asks(step)) {
      const real bound = m.least + b.bounds[b.order[step / m.group]];
      if (!__syncthreads_or(values_above(value, bound))) return step;
    } else {
      __syncthreads();
    }
  }
}

/* Registers for 8 resident blocks in single precision, 4 in double. */
template <bool ALONG_X, bool TABLE>
__global__ void __launch_bounds__(THREADS, by_precision_value(8, 4))
    minplus_kernel(const __grid_constant__ product m) {
  const int tile = (int)(blockIdx.x % (unsigned)m.tiles);
  const int bundle = (int)(blockIdx.x / (unsigned)m.tiles);
  const place at = {tile * SIDE, bundle % m.across * SIDE, bundle / m.across * m.line_step};
  real *memory = reinterpret_cast<real *>(block_memory());
  buffers b;
  b.pencils = memory;
  b.costs = b.pencils + 2 * CHUNK * PITCH;
  b.bounds = b.costs + 2 * (TABLE ? WINDOW : CHUNK * PITCH);
  b.order = reinterpret_cast<int *>(b.bounds + MOST_VISITS);
  const int across = (int)threadIdx.x % ACROSS;
  const int down = (int)threadIdx.x / ACROSS;
  values value;
  values_open<ALONG_X>(m, at, down, across, value);
  if constexpr (TABLE) visits_sort(m, at, b);
  const int steps = tile_fill<ALONG_X, TABLE>(m, at, b, down, across, value);
  values_close<ALONG_X>(m, at, down, across, value);
  if (m.pairs != nullptr && threadIdx.x == 0)
    atomicAdd(m.pairs, (unsigned long long)steps * (CHUNK * SIDE * SIDE));
}

/* Along x all rows are pencils; along y and z a row of pencils lies in x. */
static product product_make(const kernels_launch *launch, const kernels_minplus *what) {
  const kernels_shape *s = &launch->shape;
  product m = {};
  m.in = static_cast<const real *>(what->in);
  m.out = static_cast<real *>(what->out);
  m.cost = static_cast<const real *>(what->cost);
  m.ldx = s->ldx;
  m.count = what->count;
  m.pitch = what->pitch;
  m.offset = what->offset;
  m.least = (real)what->least;
  m.accumulate = what->accumulate != 0;
  m.pairs = what->pairs;
  m.point_step = what->along == AXIS_Y ? s->ldx : s->plane;
  m.line_step = what->along == AXIS_Y ? s->plane : s->ldx;
  m.plane_step = s->plane;
  m.lines = s->ny;
  m.pencils = what->along == AXIS_X ? s->ny * s->nz : s->nx;
  m.points = what->along == AXIS_X ? s->nx : what->along == AXIS_Y ? s->ny : s->nz;
  m.tiles = divide_up(m.points, SIDE);
  m.across = divide_up(m.pencils, SIDE);
  m.chunks = divide_up(m.count, CHUNK);
  m.group = divide_up(m.chunks, MOST_VISITS);
  m.visits = divide_up(m.chunks, m.group);
  return m;
}

template <bool ALONG_X, bool TABLE>
static void minplus_launch(const kernels_launch *launch, const product &m, int rows) {
  const size_t elements = 2 * (CHUNK * PITCH + (TABLE ? WINDOW : CHUNK * PITCH)) + MOST_VISITS;
  const size_t shared = elements * sizeof(real) + MOST_VISITS * sizeof(int);
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
