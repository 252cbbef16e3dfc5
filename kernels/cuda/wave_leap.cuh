#ifndef FDAPP_CUDA_WAVE_LEAP_CUH
#define FDAPP_CUDA_WAVE_LEAP_CUH

#include "pace.cuh"
#include "ring.cuh"
#include "wave_march.cuh"

/* A step with one Laplacian on large slabs, at the speed of memory. As in wave_march.cuh a block marches
 * upwards, but a thread computes ROWS vectors of a plane at once, and planes are copied in vectors:
 *
 *   p             a ring of three planes of the tile with HALO points around it, filled two planes ahead
 *   K, p_before   two slots each, filled one plane ahead
 *   p             of the four planes before, which a thread keeps for its own points
 *
 * The last two are read by the thread alone that wrote them. Images beyond ends are copied like other points:
 * rows as such, elements beside rows one by one (`singles`); where they are negated, the thread that has
 * copied them does it before the others read. */
struct wave_leap_tile {
  static constexpr int WIDTH = 64, HEIGHT = 32, ROWS = 4, COLUMNS = WIDTH / VECTOR;
  static constexpr int THREADS = COLUMNS * (HEIGHT / ROWS);
  static constexpr int PITCH = WIDTH + 2 * HALO, LINES = HEIGHT + 2 * HALO, PLANE = PITCH * LINES;
  static constexpr int AHEAD = 2, RING = AHEAD + 1, KEPT = HALO, CORE = WIDTH * HEIGHT;
  static constexpr int VECTORS = PITCH / VECTOR, COPIES = (VECTORS * LINES + THREADS - 1) / THREADS;
  /* Shared addresses agree with global ones modulo 32 bytes: otherwise copies fetch sectors twice. */
  static constexpr int SHIFT = (32 - HALO * (int)sizeof(real) % 32) % 32 / (int)sizeof(real);
  static constexpr int KEPT_AT = SHIFT + RING * PLANE + 32 - SHIFT, SIDE_AT = KEPT_AT + KEPT * CORE;
  static constexpr int SINGLES_AT = SIDE_AT + 2 * AHEAD * CORE;
  static constexpr int SINGLES = 2 * HALO * HEIGHT + (VECTOR - 1) * LINES; /* most of them */
  static constexpr size_t SHARED_BYTES = SINGLES_AT * sizeof(real) + SINGLES * sizeof(uint2);
  static constexpr int PACE = 2; /* planes between waits of blocks for one another */
};

constexpr size_t SHARED_STATIC = 128; /* shared memory of a kernel beside its rings, rounded up */
constexpr unsigned WAVE_NO_COPY = ~0U, WAVE_NEGATED = 1U << 31;

struct wave_leap {
  using Tile = wave_leap_tile;
  const wave_arguments &a;
  const geometry &d;
  real *memory;
  int x0, y0, z0, count;       /* of the tile, of the first plane that arrives, and planes that do */
  unsigned from[Tile::COPIES]; /* bytes in the plane, or WAVE_NO_COPY */
  unsigned negated;            /* bits of these copies */
  int singles;
  bool negates;
  int own, core; /* of the thread's first point, in a plane of the ring and of the others */
  unsigned at;   /* bytes of that point in a plane of a field */
  int rows;      /* that the thread stores */
  real sums[2 * HALO][Tile::ROWS][VECTOR];

  __device__ __forceinline__ real *ring(int i) const {
    return memory + Tile::SHIFT + i % Tile::RING * Tile::PLANE;
  }
  __device__ __forceinline__ uint2 *single(int i) const {
    return reinterpret_cast<uint2 *>(memory + Tile::SINGLES_AT) + i;
  }
  __device__ __forceinline__ unsigned bytes(int x, int y) const {
    return ((unsigned)y * (unsigned)d.ldx + (unsigned)x) * (unsigned)sizeof(real);
  }

  /* The images along x are vectors of the field, as are all points of a row. */
  __device__ __forceinline__ bool wraps() const {
    return a.call.ends[AXIS_X][0] == WAVE_PERIODIC && d.nx % VECTOR == 0;
  }

  /* The image of a line of the ring. [out] there: 0 if no point needs it, or it is zero. */
  __device__ __forceinline__ wave_point_image line_image(int line, bool *there) const {
    const int y = y0 - HALO + line;
    const auto image = wave_image_of(a.call.ends[AXIS_Y], y, d.ny);
    *there = y < d.ny + HALO && image.change != WAVE_SET_ZERO;
    return image;
  }

  __device__ __forceinline__ void open_vectors() {
    negated = 0;
#pragma unroll
    for (int k = 0; k < Tile::COPIES; k++) {
      const int i = (int)threadIdx.x + k * Tile::THREADS, line = i / Tile::VECTORS,
                column = i % Tile::VECTORS;
      const bool side = column < HALO / VECTOR || column >= HALO / VECTOR + Tile::COLUMNS;
      const bool beyond = line < HALO || line >= Tile::LINES - HALO;
      bool there = false;
      int x = x0 - HALO + column * VECTOR;
      if (wraps() && x < d.nx + HALO) x += x < 0 ? d.nx : x >= d.nx ? -d.nx : 0;
      from[k] = WAVE_NO_COPY;
      if (line >= Tile::LINES || (side && beyond) || x < 0 || x + VECTOR > d.nx) continue;
      const auto image = line_image(line, &there);
      if (there) from[k] = bytes(x, image.index);
      negated |= (unsigned)(image.change == WAVE_NEGATE) << k;
    }
  }

  /* Elements that are no part of such vectors, as pairs: bytes in the plane, element in the ring's. First
   * those beyond ends of rows, left and right, of the tile's own lines; then the rest of rows, of all. */
  __device__ __forceinline__ void open_singles() {
    singles = 0;
    if (wraps()) return;
    const int end = min(d.nx, x0 + Tile::WIDTH + HALO);
    const int left = x0 == 0 ? HALO : 0, right = min(max(x0 + Tile::WIDTH + HALO - d.nx, 0), HALO);
    const int whole = max(d.nx / VECTOR * VECTOR, x0 - HALO), rest = max(end - whole, 0);
    const int sides = left + right, beside = sides * Tile::HEIGHT;
    singles = beside + rest * Tile::LINES;
    for (int i = (int)threadIdx.x; i < singles; i += Tile::THREADS) {
      const int columns = i < beside ? sides : rest, j = i < beside ? i : i - beside, k = j % columns;
      const int line = j / columns + (i < beside ? HALO : 0);
      const int x = i >= beside ? whole + k : k < left ? k - HALO : d.nx + k - left;
      bool there = false;
      const auto of_y = line_image(line, &there), of_x = wave_image_of(a.call.ends[AXIS_X], x, d.nx);
      const unsigned to = (unsigned)(line * Tile::PITCH + x - x0 + HALO);
      const bool copied = there && of_x.change != WAVE_SET_ZERO;
      *single(i) = make_uint2(copied ? bytes(of_x.index, of_y.index) : WAVE_NO_COPY,
                              to | (of_x.change != of_y.change ? WAVE_NEGATED : 0));
    }
  }

  __device__ __forceinline__ void open(int tile, const kernels_planes &piece) {
    const int tiles_x = divide_up(d.nx, Tile::WIDTH), thread = (int)threadIdx.x;
    const int column = thread % Tile::COLUMNS * VECTOR, row = thread / Tile::COLUMNS * Tile::ROWS;
    const wave_image(&ends)[3][2] = a.call.ends;
    x0 = tile % tiles_x * Tile::WIDTH;
    y0 = tile / tiles_x * Tile::HEIGHT;
    z0 = piece.z0 - HALO;
    count = piece.z1 - piece.z0 + 2 * HALO;
    own = (row + HALO) * Tile::PITCH + column + HALO;
    core = row * Tile::WIDTH + column;
    at = bytes(x0 + column, y0 + row);
    rows = x0 + column < d.nx ? min(Tile::ROWS, d.ny - y0 - row) : 0;
    negates =
        ends[0][0] == WAVE_ODD || ends[0][1] == WAVE_ODD || ends[1][0] == WAVE_ODD || ends[1][1] == WAVE_ODD;
    open_vectors();
    open_singles();
    for (int i = thread; i < Tile::KEPT_AT; i += Tile::THREADS) memory[i] = 0; /* zeros beyond ends stay */
#pragma unroll
    for (int k = 0; k < 2 * HALO; k++)
#pragma unroll
      for (int r = 0; r < Tile::ROWS; r++)
#pragma unroll
        for (int e = 0; e < VECTOR; e++) sums[k][r][e] = 0;
    __syncthreads();
  }

  /* Starts copying the plane that arrives as number i. */
  __device__ __forceinline__ void fetch(int i) const {
    if (i >= count) return;
    const real *plane = a.p + wave_plane(d, z0 + i);
    real *const to = ring(i);
#pragma unroll
    for (int k = 0; k < Tile::COPIES; k++) {
      real *vector = to + ((int)threadIdx.x + k * Tile::THREADS) * VECTOR;
      if (from[k] != WAVE_NO_COPY) copy_vector(vector, advance(plane, from[k]));
    }
    if (singles == 0) return;
#pragma unroll 1
    for (int j = (int)threadIdx.x; j < singles; j += Tile::THREADS) {
      const uint2 pair = *single(j);
      if (pair.x != WAVE_NO_COPY) copy_element(to + (pair.y & ~WAVE_NEGATED), advance(plane, pair.x));
    }
  }

  /* Negates images that this thread has copied. */
  __device__ __forceinline__ void negate(int i) const {
    if (!negates || i >= count) return;
    real *const to = ring(i);
#pragma unroll 1
    for (int k = 0; negated >> k != 0; k++) {
      real *vector = to + ((int)threadIdx.x + k * Tile::THREADS) * VECTOR;
      for (int e = 0; e < VECTOR && (negated >> k & 1U); e++) vector[e] = -vector[e];
    }
#pragma unroll 1
    for (int j = (int)threadIdx.x; j < singles; j += Tile::THREADS) {
      const uint2 pair = *single(j);
      real *const element = to + (pair.y & ~WAVE_NEGATED);
      if (pair.y & WAVE_NEGATED) *element = -*element;
    }
  }

  /* This thread's part of slot i of K (0) and p_before (1), and of p in the last planes. */
  __device__ __forceinline__ real *side(int i, int array) const {
    return memory + Tile::SIDE_AT + (i % Tile::AHEAD * 2 + array) * Tile::CORE + core;
  }
  __device__ __forceinline__ real *kept(int i) const {
    return memory + Tile::KEPT_AT + i % Tile::KEPT * Tile::CORE + core;
  }

  /* Starts copying K and p_before for the plane that is complete when plane i has arrived. */
  __device__ __forceinline__ void fetch_sides(int i) const {
    if (i < 2 * HALO || i >= count) return;
    const ptrdiff_t plane = d.plane(z0 + i - HALO);
#pragma unroll
    for (int r = 0; r < Tile::ROWS; r++) {
      const unsigned place = at + (unsigned)(r * d.ldx) * (unsigned)sizeof(real);
      copy_vector_where(r < rows, side(i, 0) + r * Tile::WIDTH, advance(a.factor + plane, place));
      copy_vector_where(r < rows, side(i, 1) + r * Tile::WIDTH, advance(a.before + plane, place));
    }
  }

  /* Adds the pairs along x of the newest plane, whose values at the thread's points are v. */
  __device__ __forceinline__ void add_x(const real *plane, const real (&v)[Tile::ROWS][VECTOR]) {
#pragma unroll
    for (int r = 0; r < Tile::ROWS; r++) {
      real f[VECTOR + 2 * HALO];
#pragma unroll
      for (int k = 0; k < HALO; k += VECTOR) {
        vector_load(plane + r * Tile::PITCH + k - HALO, *reinterpret_cast<real(*)[VECTOR]>(f + k));
        vector_load(plane + r * Tile::PITCH + VECTOR + k,
                    *reinterpret_cast<real(*)[VECTOR]>(f + HALO + VECTOR + k));
      }
      copy_values(v[r], f + HALO);
#pragma unroll
      for (int e = 0; e < VECTOR; e++)
        sums[HALO - 1][r][e] = second_pairs(a.c[0].x, sums[HALO - 1][r][e], f[e], f[e + 1], f[e + 2],
                                            f[e + 3], f[e + 5], f[e + 6], f[e + 7], f[e + 8]);
    }
  }

  __device__ __forceinline__ void add_y(const real *plane, const real (&v)[Tile::ROWS][VECTOR]) {
    real f[Tile::ROWS + 2 * HALO][VECTOR];
#pragma unroll
    for (int r = 0; r < HALO; r++) {
      vector_load(plane + (r - HALO) * Tile::PITCH, f[r]);
      vector_load(plane + (Tile::ROWS + r) * Tile::PITCH, f[HALO + Tile::ROWS + r]);
    }
#pragma unroll
    for (int r = 0; r < Tile::ROWS; r++) copy_values(v[r], f[HALO + r]);
#pragma unroll
    for (int r = 0; r < Tile::ROWS; r++)
#pragma unroll
      for (int e = 0; e < VECTOR; e++)
        sums[HALO - 1][r][e] = second_pairs(a.c[0].y, sums[HALO - 1][r][e], f[r][e], f[r + 1][e], f[r + 2][e],
                                            f[r + 3][e], f[r + 5][e], f[r + 6][e], f[r + 7][e], f[r + 8][e]);
  }

  /* Points on ends, after their results are stored. */
  __device__ __forceinline__ void finish_ends(int i, ptrdiff_t plane) const {
    const int n[3] = {d.nx, d.ny, d.nz}, column = core % Tile::WIDTH, row = core / Tile::WIDTH;
#pragma unroll 1
    for (int k = 0; k < rows * VECTOR; k++) {
      const int r = k / VECTOR, e = k % VECTOR, where = r * Tile::WIDTH + e;
      const int point[3] = {x0 + column + e, y0 + row + r, z0 + i - HALO};
      int zero = 0;
      const unsigned axes = wave_ends_at(&a.call, n, point, &zero);
      real *const out = a.out + plane + (ptrdiff_t)point[1] * d.ldx + point[0];
      if (axes != 0) *out = wave_absorbed(*out, side(i, 1)[where], side(i, 0)[where], a.rate[axes]);
      if (zero) *out = 0;
    }
  }

  /* Of a thread: it has points on ends of x or y that absorb, or where the field is zero. */
  __device__ __forceinline__ bool has_ends(int z) const {
    const int n[3] = {d.nx, d.ny, d.nz}, column = x0 + core % Tile::WIDTH, row = y0 + core / Tile::WIDTH;
    const int last[3] = {min(column + VECTOR, n[0]) - 1, min(row + Tile::ROWS, n[1]) - 1, z};
    const int first[3] = {column, row, z};
    int zero[2] = {0, 0};
    const unsigned axes =
        wave_ends_at(&a.call, n, first, &zero[0]) | wave_ends_at(&a.call, n, last, &zero[1]);
    return axes != 0 || zero[0] || zero[1];
  }

  /* Stores the plane that is complete when plane i has arrived. */
  __device__ __forceinline__ void store(int i, const real (&laplacian)[Tile::ROWS][VECTOR],
                                        const real (&p)[Tile::ROWS][VECTOR]) const {
    const ptrdiff_t plane = d.plane(z0 + i - HALO);
#pragma unroll
    for (int r = 0; r < Tile::ROWS; r++) {
      real factor[VECTOR], before[VECTOR], out[VECTOR];
      vector_load(side(i, 0) + r * Tile::WIDTH, factor);
      vector_load(side(i, 1) + r * Tile::WIDTH, before);
#pragma unroll
      for (int e = 0; e < VECTOR; e++)
        out[e] = wave_once(factor[e] * laplacian[r][e], wave_drift(p[r][e], before[e]));
      store_vector_where(r < rows,
                         advance(a.out + plane, at + (unsigned)(r * d.ldx) * (unsigned)sizeof(real)), out);
    }
    if (has_ends(z0 + i - HALO)) finish_ends(i, plane);
  }

  /* Plane i arrives. */
  __device__ __forceinline__ void arrive(int i) {
    const real *plane = ring(i) + own;
    real v[Tile::ROWS][VECTOR], laplacian[Tile::ROWS][VECTOR], p[Tile::ROWS][VECTOR];
#pragma unroll
    for (int r = 0; r < Tile::ROWS; r++) vector_load(plane + r * Tile::PITCH, v[r]);
#pragma unroll
    for (int r = 0; r < Tile::ROWS; r++)
#pragma unroll
      for (int e = 0; e < VECTOR; e++) {
        real of[2 * HALO];
#pragma unroll
        for (int k = 0; k < 2 * HALO; k++) of[k] = sums[k][r][e];
        laplacian[r][e] = wave_arrives(&a.c[0], v[r][e], of);
#pragma unroll
        for (int k = 0; k < 2 * HALO; k++) sums[k][r][e] = of[k];
      }
#pragma unroll
    for (int r = 0; r < Tile::ROWS; r++) {
      vector_load(kept(i) + r * Tile::WIDTH, p[r]);
      vector_store(kept(i) + r * Tile::WIDTH, v[r]);
    }
    add_x(plane, v);
    add_y(plane, v);
    copy_wait<Tile::AHEAD - 1>(); /* plane i + 1 is here, and K and p_before for this one */
    if (i >= 2 * HALO) store(i, laplacian, p);
  }

  __device__ __forceinline__ void run(pacer &mine, bool paces) {
    for (int i = 0; i < Tile::AHEAD; i++) {
      fetch(i);
      copy_commit();
    }
    copy_wait<Tile::AHEAD - 1>();
#pragma unroll 1
    for (int i = 0; i < count; i++) {
      negate(i);
      __syncthreads(); /* plane i is here, and nobody reads plane i - 1 any more */
      if (paces) mine.plane_begin();
      fetch(i + Tile::AHEAD);
      fetch_sides(i + Tile::AHEAD - 1);
      copy_commit();
      if (paces) mine.copies_begun();
      arrive(i);
    }
  }
};

__global__ void __launch_bounds__(wave_leap_tile::THREADS)
    wave_leap_kernel(const __grid_constant__ wave_arguments a, const __grid_constant__ geometry d,
                     const int chunk, const __grid_constant__ pace paced) {
  using Tile = wave_leap_tile;
  __shared__ int ticket;
  const bool paces = threadIdx.x == 0 && paced.round > 0;
  pacer mine;
  if (threadIdx.x == 0) {
    ticket = paced.round > 0 ? (int)atomicAdd(paced.words + PACE_TICKET, 1U) : (int)blockIdx.x;
    if (paced.round > 0) mine.open(paced, ticket);
  }
  __syncthreads();
  const int tiles = divide_up(d.nx, Tile::WIDTH) * divide_up(d.ny, Tile::HEIGHT);
  wave_leap leap = {a, d, reinterpret_cast<real *>(block_memory())};
  leap.open(ticket % tiles, d.piece(ticket / tiles, chunk));
  leap.run(mine, paces);
  if (paces) mine.close(paced);
}

/* Launches it, or returns 0 if the slab is small or the device has no room. [out] done: how that ended. */
static bool wave_leap_launch(const kernels_launch *launch, const wave_arguments &a, const geometry &d,
                             status *done) {
  using Tile = wave_leap_tile;
  constexpr size_t LEAST = 2 * Tile::CORE * 2 * HALO; /* points for each multiprocessor */
  kernels_context *context = launch->context;
  int resident = 0;
  const size_t points = (size_t)d.nx * (size_t)d.ny * (size_t)d.planes();
  if (a.call.plain || points < LEAST * (size_t)context->multiprocessors || d.planes() < 4 * HALO ||
      (size_t)d.ny * (size_t)d.ldx * sizeof(real) > UINT32_MAX ||
      Tile::SHARED_BYTES + SHARED_STATIC > context->shared_limit)
    return false;
  if (cudaFuncSetAttribute(wave_leap_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                           (int)Tile::SHARED_BYTES) != cudaSuccess ||
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, wave_leap_kernel, Tile::THREADS,
                                                    Tile::SHARED_BYTES) != cudaSuccess ||
      resident == 0)
    return false;
  resident *= context->multiprocessors;
  const int tiles = divide_up(d.nx, Tile::WIDTH) * divide_up(d.ny, Tile::HEIGHT);
  const int chunk = wave_chunk(tiles, d.longest(), resident, 2 * HALO), blocks = tiles * d.pieces(chunk);
  pace paced = {context->pace[launch->queue],           blocks, 0, resident, Tile::PACE,
                divide_up(chunk + 2 * HALO, Tile::PACE)};
  if (blocks == 1 || PACE_COUNTERS + paced.groups() > CONTEXT_PACE_WORDS) paced.round = 0;
  kernel_launch(wave_leap_kernel, (unsigned)blocks, Tile::THREADS, Tile::SHARED_BYTES, launch_stream(launch),
                a, d, chunk, paced);
  *done = launch_done(launch, "wave");
  return true;
}

#endif
