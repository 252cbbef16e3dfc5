#ifndef FDAPP_CUDA_WAVE_VECTORS_CUH
#define FDAPP_CUDA_WAVE_VECTORS_CUH

#include "ring.cuh"
#include "wave_march.cuh"

/* For steps on large slabs: a thread computes WAVE_ROWS vectors of a plane at once, and planes are copied in
 * vectors. */

constexpr int WAVE_ROWS = 4;
constexpr size_t SHARED_STATIC = 128; /* shared memory of a kernel beside its rings, rounded up */
typedef real wave_block[WAVE_ROWS][VECTOR];

constexpr unsigned WAVE_NO_COPY = ~0U, WAVE_NEGATED = 1U << 31;

/* How THREADS threads copy a plane of a tile of WIDTH x HEIGHT points, with SIDE points around it, into
 * shared memory. Images beyond ends are copied like other points: rows as such, elements beside rows one by
 * one (singles). What is zero is not copied; `negate` negates what has to be. */
template <int WIDTH_, int HEIGHT_, int SIDE_, int THREADS_> struct wave_copies {
  static constexpr int WIDTH = WIDTH_, HEIGHT = HEIGHT_, SIDE = SIDE_, THREADS = THREADS_;
  static constexpr int PITCH = WIDTH + 2 * SIDE, LINES = HEIGHT + 2 * SIDE, PLANE = PITCH * LINES;
  static constexpr int VECTORS = PITCH / VECTOR, COPIES = (VECTORS * LINES + THREADS - 1) / THREADS;
  static constexpr int SINGLES = (2 * SIDE + VECTOR - 1) * LINES; /* most of them */
  static constexpr bool CORNERS = SIDE > HALO; /* points beside the tile along x and y are read, too */

  unsigned from[COPIES]; /* bytes in the plane, or WAVE_NO_COPY */
  unsigned negated;      /* bits of these copies */
  uint2 *single;         /* pairs in shared memory: bytes in the plane, element in the ring's */
  int thread, singles;
  bool negates;

  /* The images along x are vectors of the field, as are all points of a row. */
  __device__ __forceinline__ static bool wraps(const wave_arguments &a, const geometry &d) {
    return a.call.ends[AXIS_X][0] == WAVE_PERIODIC && d.nx % VECTOR == 0;
  }

  __device__ __forceinline__ static unsigned bytes(const geometry &d, int x, int y) {
    return ((unsigned)y * (unsigned)d.ldx + (unsigned)x) * (unsigned)sizeof(real);
  }

  /* The image of row y. [out] there: 0 if no point needs it, or it is zero. */
  __device__ __forceinline__ static wave_point_image line_image(const wave_arguments &a, const geometry &d,
                                                                int y, bool *there) {
    const auto image = wave_image_of(a.call.ends[AXIS_Y], y, d.ny);
    *there = y < d.ny + SIDE && image.change != WAVE_SET_ZERO;
    return image;
  }

  __device__ __forceinline__ void open_vectors(const wave_arguments &a, const geometry &d, int x0, int y0) {
    negated = 0;
#pragma unroll
    for (int k = 0; k < COPIES; k++) {
      const int i = thread + k * THREADS, line = i / VECTORS, column = i % VECTORS;
      const bool side = column < SIDE / VECTOR || column >= SIDE / VECTOR + WIDTH / VECTOR;
      const bool beyond = line < SIDE || line >= LINES - SIDE;
      bool there = false;
      int x = x0 - SIDE + column * VECTOR;
      if (wraps(a, d) && x < d.nx + SIDE) x += x < 0 ? d.nx : x >= d.nx ? -d.nx : 0;
      from[k] = WAVE_NO_COPY;
      if (line >= LINES || (!CORNERS && side && beyond) || x < 0 || x + VECTOR > d.nx) continue;
      const auto image = line_image(a, d, y0 - SIDE + line, &there);
      if (there) from[k] = bytes(d, x, image.index);
      if (COPIES <= 32) negated |= (unsigned)(image.change == WAVE_NEGATE) << k;
    }
  }

  /* First elements beyond ends of rows, left and right; then the rest of rows. */
  __device__ __forceinline__ void open_singles(const wave_arguments &a, const geometry &d, int x0, int y0) {
    singles = 0;
    if (wraps(a, d)) return;
    const int skipped = CORNERS ? 0 : SIDE, lines = LINES - 2 * skipped, end = x0 + WIDTH + SIDE;
    const int left = x0 == 0 ? SIDE : 0, right = min(max(end - d.nx, 0), SIDE);
    const int whole = max(d.nx / VECTOR * VECTOR, x0 - SIDE), rest = max(min(d.nx, end) - whole, 0);
    const int sides = left + right, beside = sides * lines;
    singles = beside + rest * LINES;
    for (int i = thread; i < singles; i += THREADS) {
      const int columns = i < beside ? sides : rest, j = i < beside ? i : i - beside, k = j % columns;
      const int line = j / columns + (i < beside ? skipped : 0);
      const int x = i >= beside ? whole + k : k < left ? k - SIDE : d.nx + k - left;
      bool there = false;
      const auto of_y = line_image(a, d, y0 - SIDE + line, &there);
      const auto of_x = wave_image_of(a.call.ends[AXIS_X], x, d.nx);
      const bool copied = there && of_x.change != WAVE_SET_ZERO;
      single[i] = make_uint2(copied ? bytes(d, of_x.index, of_y.index) : WAVE_NO_COPY,
                             (unsigned)(line * PITCH + x - x0 + SIDE) |
                                 (of_x.change != of_y.change ? WAVE_NEGATED : 0));
    }
  }

  /* table: room for SINGLES pairs. Each thread reads only the pairs that it writes here. */
  __device__ __forceinline__ void open(const wave_arguments &a, const geometry &d, int x0, int y0, int number,
                                       uint2 *table) {
    const wave_image(&ends)[3][2] = a.call.ends;
    thread = number;
    single = table;
    negates = false;
    for (int i = 0; i < 4; i++) negates = negates || ends[i / 2][i % 2] == WAVE_ODD;
    open_vectors(a, d, x0, y0);
    open_singles(a, d, x0, y0);
  }

  /* Starts copying a plane. */
  __device__ __forceinline__ void copy(real *to, const real *plane) const {
#pragma unroll
    for (int k = 0; k < COPIES; k++)
      copy_vector_where(from[k] != WAVE_NO_COPY, to + (thread + k * THREADS) * VECTOR,
                        advance(plane, from[k]));
    if (singles == 0) return;
#pragma unroll 1
    for (int j = thread; j < singles; j += THREADS) {
      const uint2 pair = single[j];
      if (pair.x != WAVE_NO_COPY) copy_element(to + (pair.y & ~WAVE_NEGATED), advance(plane, pair.x));
    }
  }

  /* Negates images that this thread has copied. */
  __device__ __forceinline__ void negate(real *to) const {
    if (!negates) return;
#pragma unroll 1
    for (int k = 0; k < 32 && negated >> k != 0; k++) {
      if (!(negated >> k & 1U)) continue;
      real *const at = to + (thread + k * THREADS) * VECTOR;
      real image[VECTOR];
      vector_load(at, image);
#pragma unroll
      for (int e = 0; e < VECTOR; e++) image[e] = -image[e];
      vector_store(at, image);
    }
#pragma unroll 1
    for (int j = thread; j < singles; j += THREADS) {
      const uint2 pair = single[j];
      real *const element = to + (pair.y & ~WAVE_NEGATED);
      if (pair.y & WAVE_NEGATED) *element = -*element;
    }
  }
};

/* Loads a thread's vectors of a plane in rows of PITCH elements. */
template <int PITCH> __device__ __forceinline__ void wave_load(const real *plane, wave_block &to) {
#pragma unroll
  for (int r = 0; r < WAVE_ROWS; r++) vector_load(plane + r * PITCH, to[r]);
}
template <int PITCH> __device__ __forceinline__ void wave_keep(real *plane, const wave_block &from) {
#pragma unroll
  for (int r = 0; r < WAVE_ROWS; r++) vector_store(plane + r * PITCH, from[r]);
}

/* wave_arrives for a thread's points. */
__device__ __forceinline__ void wave_block_arrives(const wave_coefficients &c, const wave_block &v,
                                                   wave_block (&sums)[2 * HALO], wave_block &done) {
#pragma unroll
  for (int r = 0; r < WAVE_ROWS; r++)
#pragma unroll
    for (int e = 0; e < VECTOR; e++) {
      real of[2 * HALO];
#pragma unroll
      for (int k = 0; k < 2 * HALO; k++) of[k] = sums[k][r][e];
      done[r][e] = wave_arrives(&c, v[r][e], of);
#pragma unroll
      for (int k = 0; k < 2 * HALO; k++) sums[k][r][e] = of[k];
    }
}

/* Adds the pairs along x, and then along y, of a plane in shared memory, whose values at the thread's points
 * are v. `plane` is the address of the first of these. */
template <int PITCH>
__device__ __forceinline__ void wave_block_x(const wave_coefficients &c, const real *plane,
                                             const wave_block &v, wave_block &sums) {
#pragma unroll
  for (int r = 0; r < WAVE_ROWS; r++) {
    real f[VECTOR + 2 * HALO];
#pragma unroll
    for (int k = 0; k < HALO; k += VECTOR) {
      vector_load(plane + r * PITCH + k - HALO, *reinterpret_cast<real(*)[VECTOR]>(f + k));
      vector_load(plane + r * PITCH + VECTOR + k, *reinterpret_cast<real(*)[VECTOR]>(f + HALO + VECTOR + k));
    }
    copy_values(v[r], f + HALO);
#pragma unroll
    for (int e = 0; e < VECTOR; e++)
      sums[r][e] = second_pairs(c.x, sums[r][e], f[e], f[e + 1], f[e + 2], f[e + 3], f[e + 5], f[e + 6],
                                f[e + 7], f[e + 8]);
  }
}

template <int PITCH>
__device__ __forceinline__ void wave_block_y(const wave_coefficients &c, const real *plane,
                                             const wave_block &v, wave_block &sums) {
  real f[WAVE_ROWS + 2 * HALO][VECTOR];
#pragma unroll
  for (int r = 0; r < HALO; r++) {
    vector_load(plane + (r - HALO) * PITCH, f[r]);
    vector_load(plane + (WAVE_ROWS + r) * PITCH, f[HALO + WAVE_ROWS + r]);
  }
#pragma unroll
  for (int r = 0; r < WAVE_ROWS; r++) copy_values(v[r], f[HALO + r]);
#pragma unroll
  for (int r = 0; r < WAVE_ROWS; r++)
#pragma unroll
    for (int e = 0; e < VECTOR; e++)
      sums[r][e] = second_pairs(c.y, sums[r][e], f[r][e], f[r + 1][e], f[r + 2][e], f[r + 3][e], f[r + 5][e],
                                f[r + 6][e], f[r + 7][e], f[r + 8][e]);
}

/* Those of a thread's points, from (x, y) on, that lie on ends of x and y where the field is zero, as bits.
 */
__device__ __forceinline__ unsigned wave_zeros_of(const wave_arguments &a, const geometry &d, int x, int y) {
  unsigned zeros = 0;
  for (int k = 0; k < WAVE_ROWS * VECTOR; k++) {
    const int n[3] = {d.nx, d.ny, d.nz}, point[3] = {x + k % VECTOR, y + k / VECTOR, -1};
    int zero = 0;
    (void)wave_ends_at(&a.call, n, point, &zero);
    zeros |= (unsigned)zero << k;
  }
  return zeros;
}

/* Sets those of the results to zero, and all in a plane on such an end of z. */
__device__ __forceinline__ void wave_block_zero(const wave_arguments &a, const geometry &d, int z,
                                                unsigned zeros, wave_block &out) {
#pragma unroll
  for (int end = 0; end < 2; end++)
    if (z == end * (d.nz - 1) && a.call.ends[AXIS_Z][end] == WAVE_ODD) zeros = ~0U;
  if (zeros == 0) return;
#pragma unroll
  for (int k = 0; k < WAVE_ROWS * VECTOR; k++)
    if (zeros >> k & 1U) out[k / VECTOR][k % VECTOR] = 0;
}

/* The launch has so many points, planes to march through, and offsets of 32 bits in a plane. */
static inline bool wave_is_large(const geometry &d, size_t points) {
  return (size_t)d.nx * (size_t)d.ny * (size_t)d.planes() >= points && d.planes() >= 4 * HALO &&
         (size_t)d.ny * (size_t)d.ldx * sizeof(real) <= UINT32_MAX;
}

#endif
