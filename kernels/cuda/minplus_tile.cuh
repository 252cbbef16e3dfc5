#ifndef FDAPP_CUDA_MINPLUS_TILE_CUH
#define FDAPP_CUDA_MINPLUS_TILE_CUH

#include "minplus.cuh"

/* A chunk of a min-plus product (minplus.cu): its costs and pencils are copied to shared memory, and the
 * least sums of a thread's tile computed from them. */

constexpr int SIDE = 64, PER_THREAD = 8, ACROSS = SIDE / PER_THREAD, THREADS = ACROSS * ACROSS;
constexpr int WARPS = THREADS / 32;
/* Values of k in shared memory; fewer with a matrix, because its tile lies there, too. */
__host__ __device__ constexpr int chunk_of(bool table) {
  return table ? 32 : 16;
}
constexpr int STEP = by_precision_value(8, 4); /* values of k computed with one window in registers */
constexpr int PITCH = SIDE + VECTOR;
constexpr int WINDOW = SIDE + chunk_of(true); /* one entry more than needed, for whole vectors */
constexpr int MOST_VISITS = 256;
/* If at least this many values of k are wanted, the whole chunk is computed: a value selected alone costs a
 * sixth more. */
constexpr int MANY = 27;

struct product {
  const real *in, *cost;
  real *out;
  ptrdiff_t point_step;            /* elements between points of a pencil */
  ptrdiff_t line_step, plane_step; /* elements between rows of pencils, and between planes of those rows */
  int lines;                       /* rows of pencils per plane */
  int pencils;                     /* pencils per row; along x: all pencils */
  int ldx;
  int points, count, tiles; /* tiles: along i */
  int across;               /* tiles per row of pencils */
  int visits, group;        /* number of visits, and chunks in each */
  ptrdiff_t pitch;
  int offset, last; /* offset of a table, and the index of its last entry */
  real least;
  bool accumulate, skips;
  unsigned long long *pairs;
  unsigned one; /* 1 (double_halves) */
};

/* The tile of a block. */
struct place {
  int i, pencil;  /* first point and pencil of the tile */
  ptrdiff_t base; /* along y and z: element of point 0 of the row of pencils */
};

struct buffers {
  real *pencils, *costs; /* [2][CHUNK][PITCH]; costs of a table: [2][WINDOW] */
  real *bounds;          /* one per visit */
  real *lows;            /* minimum over half of the pencils at one k, by each thread */
  ptrdiff_t *bases;      /* [2][SIDE]: elements where pencils along x, and rows of a matrix, begin */
  int *order;            /* visits in ascending order of their bounds */
};

/* The tile's pencil of this thread's pencil number p. Threads interleave vectors, so that neighbouring
 * threads read neighbouring vectors. */
__device__ __forceinline__ int pencil_of(int across, int p) {
  return p / VECTOR * (ACROSS * VECTOR) + across * VECTOR + p % VECTOR;
}

/* Along x: the element where a pencil begins. */
__device__ __forceinline__ ptrdiff_t pencil_base(const product &m, int pencil) {
  return (ptrdiff_t)(pencil / m.lines) * m.plane_step + (ptrdiff_t)(pencil % m.lines) * m.line_step;
}

/* Loads a tile [k][number] from rows that have k consecutive and begin at `bases`: a transposition.
 * Neighbouring threads take 8 values of k, then the next row: so they store to different banks. */
template <int CHUNK>
__device__ __forceinline__ void turned_fetch(real *tile, const real *from, int k0, int count, real beyond,
                                             const ptrdiff_t *bases) {
  constexpr int NEAR = 8;
  const int k = (int)threadIdx.x % NEAR;
  const int first = (int)threadIdx.x / NEAR;
  real *to = tile + k * PITCH + first;
  from += k0 + k;
  /* With a table alone: unrolled for a matrix, too, the loop over k gets more moves between registers. */
  if (CHUNK == chunk_of(true) && k0 + CHUNK <= count) {
#pragma unroll
    for (int n = 0; n < SIDE; n += THREADS / NEAR) {
      const real *row = from + bases[first + n];
#pragma unroll
      for (int j = 0; j < CHUNK; j += NEAR) copy_element(to + j * PITCH + n, row + j);
    }
    return;
  }
#pragma unroll 1
  for (int n = 0; n < SIDE; n += THREADS / NEAR) {
    const real *row = from + bases[first + n];
#pragma unroll
    for (int j = 0; j < CHUNK; j += NEAR) {
      if (k0 + k + j < count) {
        copy_element(to + j * PITCH + n, row + j);
      } else {
        to[j * PITCH + n] = beyond;
      }
    }
  }
}

template <bool ALONG_X, int CHUNK>
__device__ __forceinline__ void pencils_fetch(const product &m, const place &at, int k0, real *tile,
                                              const ptrdiff_t *bases) {
  if constexpr (ALONG_X) {
    turned_fetch<CHUNK>(tile, m.in, k0, m.count, infinity(), bases);
  } else {
    constexpr int VECTORS = SIDE / VECTOR, ROWS = THREADS / VECTORS;
    const int k = (int)threadIdx.x / VECTORS;
    const int column = (int)threadIdx.x % VECTORS * VECTOR;
    /* Elements beyond the end of a row are not used. */
    const real *from = m.in + at.base + (k0 + k) * m.point_step + min(at.pencil + column, m.ldx - VECTOR);
    const ptrdiff_t step = ROWS * m.point_step;
    real *to = tile + k * PITCH + column;
    if (k0 + CHUNK <= m.count) {
#pragma unroll
      for (int n = 0; n < CHUNK; n += ROWS, from += step) copy_vector(to + n * PITCH, from);
      return;
    }
#pragma unroll 1
    for (int n = 0; n < CHUNK; n += ROWS, from += step) {
      if (k0 + k + n < m.count) {
        copy_vector(to + n * PITCH, from);
      } else {
#pragma unroll
        for (int v = 0; v < VECTOR; v++) to[n * PITCH + v] = infinity();
      }
    }
  }
}

template <bool ALONG_X, bool TABLE>
__device__ __forceinline__ void chunk_fetch(const product &m, const place &at, int chunk, int half,
                                            const buffers &b) {
  constexpr int CHUNK = chunk_of(TABLE);
  pencils_fetch<ALONG_X, CHUNK>(m, at, chunk * CHUNK, b.pencils + half * CHUNK * PITCH, b.bases);
  if constexpr (TABLE) {
    const int nearest = m.offset + at.i - chunk * CHUNK - (CHUNK - 1);
#pragma unroll
    for (int n = 0; n < WINDOW; n += THREADS) { /* entries beyond the last are not used */
      const int e = n + (int)threadIdx.x;
      if (e < WINDOW) copy_element(b.costs + half * WINDOW + e, m.cost + min(abs(nearest + e), m.last));
    }
  } else {
    turned_fetch<CHUNK>(b.costs + half * CHUNK * PITCH, m.cost, chunk * CHUNK, m.count, (real)0,
                        b.bases + SIDE);
  }
  copy_commit();
}

typedef real values[PER_THREAD][PER_THREAD]; /* [point][pencil] */
typedef least_value leasts[PER_THREAD][PER_THREAD];

__device__ __forceinline__ void leasts_open(const values &value, leasts &to) {
#pragma unroll
  for (int c = 0; c < PER_THREAD; c++) {
#pragma unroll
    for (int p = 0; p < PER_THREAD; p++) to[c][p].set(value[c][p]);
  }
}

__device__ __forceinline__ void leasts_close(const leasts &from, values &value) {
#pragma unroll
  for (int c = 0; c < PER_THREAD; c++) {
#pragma unroll
    for (int p = 0; p < PER_THREAD; p++) value[c][p] = from[c][p].get();
  }
}

/* Loads this thread's pencils at one k. */
__device__ __forceinline__ void pencils_load(const real *pencils, int across, real (&in)[PER_THREAD]) {
#pragma unroll
  for (int p = 0; p < PER_THREAD; p += VECTOR)
    vector_load(pencils + pencil_of(across, p), *reinterpret_cast<real(*)[VECTOR]>(in + p));
}

__device__ __forceinline__ void values_lower(const real (&in)[PER_THREAD], real add,
                                             least_value (&to)[PER_THREAD], unsigned one) {
#pragma unroll
  for (int p = 0; p < PER_THREAD; p++) to[p].lower(in[p] + add, one);
}

/* Doubles are halved before the loop over k and joined after it. Halved for each k, or kept in halves between
 * chunks, they make the compiler move registers about. */
template <bool TABLE>
__device__ __forceinline__ void chunk_compute(const real *pencils, const real *costs, int down, int across,
                                              values &value, unsigned one) {
  constexpr int CHUNK = chunk_of(TABLE);
  leasts least_sums;
  leasts_open(value, least_sums);
#pragma unroll 1
  for (int k0 = 0; k0 < CHUNK; k0 += STEP) {
    real window[PER_THREAD + STEP];
    if constexpr (TABLE) vectors_load(costs + down * PER_THREAD + CHUNK - STEP - k0, window);
#pragma unroll
    for (int k = 0; k < STEP; k++) {
      real cost[PER_THREAD], in[PER_THREAD];
      if constexpr (!TABLE) vectors_load(costs + (k0 + k) * PITCH + down * PER_THREAD, cost);
      pencils_load(pencils + (k0 + k) * PITCH, across, in);
#pragma unroll
      for (int c = 0; c < PER_THREAD; c++)
        values_lower(in, TABLE ? window[c - k + STEP - 1] : cost[c], least_sums[c], one);
    }
  }
  leasts_close(least_sums, value);
}

/* Computes only the values of k in the mask `wanted` of a chunk with a table. */
__device__ __forceinline__ void some_compute(const real *pencils, const real *costs, unsigned wanted,
                                             int down, int across, values &value, unsigned one) {
#pragma unroll 1
  for (; wanted != 0; wanted &= wanted - 1) {
    const int k = __ffs((int)wanted) - 1;
    const real *cost = costs + down * PER_THREAD + chunk_of(true) - 1 - k;
    real in[PER_THREAD];
    pencils_load(pencils + k * PITCH, across, in);
#pragma unroll
    for (int c = 0; c < PER_THREAD; c++) {
#pragma unroll
      for (int p = 0; p < PER_THREAD; p++) value[c][p] = least_of(value[c][p], in[p] + cost[c], one);
    }
  }
}

#endif
