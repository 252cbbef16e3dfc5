#ifndef FDAPP_CUDA_WAVE_MARCH_CUH
#define FDAPP_CUDA_WAVE_MARCH_CUH

#include "march.cuh"
#include "wave_point.h"
#include "wave_terms.cuh"

/* A step of the wave equation for grids of any shape. A block marches a tile of x and y upwards through a
 * piece of the planes, and a thread computes one column of it. A plane that arrives in shared memory is added
 * to the sums of nine planes, which the thread keeps in registers (wave_arrives); with two Laplacians the
 * first one's results q are such planes, too:
 *
 *     z ^   plane i of p arrives, tile and 2 HALO points around it; its pairs along x and y are added
 *       |     .
 *       |   i - 4:  q is complete, of the tile and HALO points around it
 *       |   i - 5:  q arrives, one turn later, when all threads have stored it
 *       |   i - 7:  the pairs of q along x and y are added
 *       |     .
 *       |   i - 9:  the second Laplacian is complete: the result is stored
 *
 * Beyond an end, q has the bits of its mirror image: the thread computes that point instead. */
struct wave_arguments {
  kernels_wave call; /* kinds of ends and options */
  wave_coefficients c[2];
  wave_terms terms;                /* of layers, with two Laplacians */
  real rate[8];                    /* of the axes on whose absorbing ends a point lies, as bits */
  const real *p, *before, *factor; /* shifted to plane 0 */
  real *out;
};

/* What makes an image of the point it is taken from. */
enum wave_change : unsigned { WAVE_KEEP, WAVE_NEGATE, WAVE_SET_ZERO, WAVE_CHANGES = 4 };

struct wave_point_image {
  int index;
  wave_change change;
};

/* Index i of an axis of n points. Indices that no point needs give some point. */
__device__ __forceinline__ wave_point_image wave_image_of(const wave_image (&ends)[2], int i, int n) {
  if (i >= 0 && i < n) return {i, WAVE_KEEP};
  const wave_image kind = i < 0 ? ends[0] : ends[1];
  const int mirror = i < 0 ? -i : 2 * (n - 1) - i, period = i < 0 ? i + n : i - n;
  const int index = min(max(kind == WAVE_PERIODIC ? period : mirror, 0), n - 1);
  return {index, kind == WAVE_ODD ? WAVE_NEGATE : kind == WAVE_ZERO ? WAVE_SET_ZERO : WAVE_KEEP};
}

/* Images along x and along y. */
__device__ __forceinline__ unsigned wave_change_of(wave_change x, wave_change y) {
  if (x == WAVE_SET_ZERO || y == WAVE_SET_ZERO) return WAVE_SET_ZERO;
  return x != y ? WAVE_NEGATE : WAVE_KEEP;
}

__device__ __forceinline__ real wave_changed(real value, unsigned change) {
  return change == WAVE_SET_ZERO ? (real)0 : change == WAVE_NEGATE ? -value : value;
}

/* Plane z, or the one whose periodic image it is; and its offset. */
__device__ __forceinline__ int wave_home(const geometry &d, int z) {
  if (d.memory.z0 == 0) { /* whole */
    while (z < 0) z += d.nz;
    while (z >= d.nz) z -= d.nz;
  }
  return z;
}
__device__ __forceinline__ ptrdiff_t wave_plane(const geometry &d, int z) {
  return d.plane(wave_home(d, z));
}

template <bool TWICE> struct wave_tile {
  static constexpr int WIDTH = 32, HEIGHT = SINGLE || !TWICE ? 16 : 12;
  static constexpr int RIM = TWICE ? HALO : 0, LEAD = RIM + HALO; /* of q, and of p, around the tile */
  static constexpr int COLUMNS = WIDTH + 2 * RIM, THREADS = COLUMNS * (HEIGHT + 2 * RIM);
  static constexpr int PITCH = WIDTH + 2 * LEAD, PLANE = PITCH * (HEIGHT + 2 * LEAD);
  static constexpr int RING = 4, Q_RING = TWICE ? 8 : 0; /* powers of 2 */
  static constexpr int COPIES = (PLANE + THREADS - 1) / THREADS;
  static constexpr size_t SHARED_BYTES = (size_t)(RING * PLANE + Q_RING * THREADS) * sizeof(real);
};

/* Plane z lies beyond an end where the field is zero. */
__device__ __forceinline__ bool wave_is_beyond(const wave_arguments &a, const geometry &d, int z) {
  const wave_image(&ends)[2] = a.call.ends[AXIS_Z];
  return (z < 0 && ends[0] == WAVE_ZERO) || (z >= d.nz && ends[1] == WAVE_ZERO);
}

/* Where a thread for index i of q computes: the point itself, or the one whose image it is. */
__device__ __forceinline__ int wave_computed_at(const wave_image (&ends)[2], int i, int n) {
  const bool low = i < 0, high = i >= n && i < n + HALO;
  if (!(low || high) || (low ? ends[0] : ends[1]) == WAVE_PERIODIC) return i;
  return low ? -i : 2 * (n - 1) - i;
}

/* Stores the result at a point, of which q = K L p and with two Laplacians L q are known, and whether the
 * field is zero there. What ends absorb is another kernel's. */
template <bool TWICE>
__device__ __forceinline__ void wave_store(const wave_arguments &a, ptrdiff_t at, real q, real laplacian,
                                           int zero) {
  const real factor = a.factor[at];
  const real drift = a.call.plain ? (real)0 : wave_drift(a.p[at], a.before[at]);
  if (!TWICE) q = factor * laplacian;
  real out = wave_once(q, drift);
  if (TWICE) out = wave_twice(factor, laplacian, out);
  a.out[at] = zero && !a.call.plain ? (real)0 : out;
}

template <bool TWICE> struct wave_march {
  using Tile = wave_tile<TWICE>;
  const wave_arguments &a;
  const geometry &d;
  real *ring, *q; /* planes of p and of q in shared memory */
  int z0, count;  /* the first plane that arrives, and their number */
  int from[Tile::COPIES];
  unsigned changes, q_change; /* of the copies, two bits each, and of q */
  int place, factor;          /* in a plane of the ring; of K in a plane of its field */
  int x, y;                   /* the thread's point */
  bool inside, writes;        /* in the tile; in the grid, too */
  real sums[2 * HALO], q_sums[2 * HALO];

  __device__ __forceinline__ void open() {
    const int tiles_x = divide_up(d.nx, Tile::WIDTH);
    const int tiles = tiles_x * divide_up(d.ny, Tile::HEIGHT), tile = (int)blockIdx.x % tiles;
    const int x0 = tile % tiles_x * Tile::WIDTH, y0 = tile / tiles_x * Tile::HEIGHT;
    const int thread = (int)threadIdx.x, column = thread % Tile::COLUMNS, row = thread / Tile::COLUMNS;
    const wave_image(&ends)[3][2] = a.call.ends;
    changes = 0;
#pragma unroll
    for (int k = 0; k < Tile::COPIES; k++) {
      const int i = thread + k * Tile::THREADS;
      const auto of_x = wave_image_of(ends[AXIS_X], x0 - Tile::LEAD + i % Tile::PITCH, d.nx);
      const auto of_y = wave_image_of(ends[AXIS_Y], y0 - Tile::LEAD + i / Tile::PITCH, d.ny);
      from[k] = of_y.index * d.ldx + of_x.index;
      changes |= wave_change_of(of_x.change, of_y.change) << 2 * k;
    }
    x = x0 - Tile::RIM + column;
    y = y0 - Tile::RIM + row;
    const auto of_x = wave_image_of(ends[AXIS_X], x, d.nx), of_y = wave_image_of(ends[AXIS_Y], y, d.ny);
    q_change = wave_change_of(of_x.change, of_y.change);
    factor = of_y.index * d.ldx + of_x.index;
    const int at_x = TWICE ? wave_computed_at(ends[AXIS_X], x, d.nx) : x;
    const int at_y = TWICE ? wave_computed_at(ends[AXIS_Y], y, d.ny) : y;
    place = (at_y - y0 + Tile::LEAD) * Tile::PITCH + at_x - x0 + Tile::LEAD;
    inside = column >= Tile::RIM && column < Tile::RIM + Tile::WIDTH && row >= Tile::RIM &&
             row < Tile::RIM + Tile::HEIGHT;
    writes = inside && x < d.nx && y < d.ny;
#pragma unroll
    for (int k = 0; k < 2 * HALO; k++) sums[k] = q_sums[k] = 0;
  }

  /* Calls use(to, k) for each of this thread's copies of plane i. */
  template <class Use> __device__ __forceinline__ void copies(int i, const Use &use) const {
#pragma unroll
    for (int k = 0; k < Tile::COPIES; k++) {
      const int at = (int)threadIdx.x + k * Tile::THREADS;
      if (at < Tile::PLANE) use(ring + i % Tile::RING * Tile::PLANE + at, k);
    }
  }

  /* Starts copying the plane that arrives as number i. */
  __device__ __forceinline__ void fetch(int i) {
    if (i < count) {
      const real *plane = a.p + wave_plane(d, z0 + i);
      copies(i, [&](real *to, int k) { copy_element(to, plane + from[k]); });
    }
    copy_commit();
  }

  /* Makes images of this thread's copies. */
  __device__ __forceinline__ void change(int i) const {
    if (changes == 0 || i >= count) return;
    copies(i, [&](real *at, int k) { *at = wave_changed(*at, changes >> 2 * k & (WAVE_CHANGES - 1)); });
  }

  template <int PITCH>
  __device__ __forceinline__ static real pairs(const wave_coefficients &c, real s, const real *f) {
    s = second_pairs(c.x, s, f[-4], f[-3], f[-2], f[-1], f[1], f[2], f[3], f[4]);
    return second_pairs(c.y, s, f[-4 * PITCH], f[-3 * PITCH], f[-2 * PITCH], f[-PITCH], f[PITCH],
                        f[2 * PITCH], f[3 * PITCH], f[4 * PITCH]);
  }

  __device__ __forceinline__ real *q_slot(int i) const {
    return q + (i & (Tile::Q_RING - 1)) * Tile::THREADS + (int)threadIdx.x;
  }

  __device__ __forceinline__ void store(int z, real of_q, real laplacian) const {
    const int n[3] = {d.nx, d.ny, d.nz}, at[3] = {x, y, z};
    int zero = 0;
    if (!writes) return;
    (void)wave_ends_at(&a.call, n, at, &zero);
    wave_store<TWICE>(a, d.plane(z) + (ptrdiff_t)y * d.ldx + x, of_q, laplacian, zero);
  }

  /* Plane i of p arrives; the Laplacian of plane i - 4 is complete. */
  __device__ __forceinline__ void arrive(int i) {
    const real *f = ring + i % Tile::RING * Tile::PLANE + place;
    real laplacian = wave_arrives(&a.c[0], f[0], sums);
    sums[HALO - 1] = pairs<Tile::PITCH>(a.c[0], sums[HALO - 1], f);
    const int z = z0 + i - HALO;
    if (i < 2 * HALO) return;
    if (TWICE && a.terms.count > 0) {
      const int of_x = wave_image_of(a.call.ends[AXIS_X], x, d.nx).index;
      const int of_y = wave_image_of(a.call.ends[AXIS_Y], y, d.ny).index;
      laplacian = wave_terms_point(a.terms, of_x, of_y, wave_home(d, z), laplacian);
    }
    if constexpr (TWICE) {
      const bool beyond = wave_is_beyond(a, d, z);
      const real of_q = a.factor[wave_plane(d, z) + factor] * laplacian;
      *q_slot(i - HALO) = beyond ? (real)0 : wave_changed(of_q, q_change);
    } else {
      store(z, 0, laplacian);
    }
  }

  /* Plane i of q arrives; the second Laplacian of plane i - 4 is complete. */
  __device__ __forceinline__ void arrive_again(int i) {
    if (i < HALO || !inside) return;
    const real laplacian = wave_arrives(&a.c[1], *q_slot(i), q_sums);
    q_sums[1] = pairs<Tile::COLUMNS>(a.c[1], q_sums[1], q_slot(i - 2));
    if (i >= 3 * HALO) store(z0 + i - HALO, *q_slot(i - HALO), laplacian);
  }

  __device__ __forceinline__ void run() {
    for (int i = 0; i < Tile::RING - 1; i++) fetch(i);
#pragma unroll 1
    for (int i = 0; i < count + (TWICE ? 1 : 0); i++) {
      copy_wait<Tile::RING - 2>();
      change(i);
      __syncthreads(); /* plane i is here, and nobody reads plane i - 1 any more */
      fetch(i + Tile::RING - 1);
      if (i < count) arrive(i);
      if constexpr (TWICE) arrive_again(i - HALO - 1);
    }
  }
};

template <bool TWICE>
__global__ void __launch_bounds__(wave_tile<TWICE>::THREADS)
    wave_march_kernel(const __grid_constant__ wave_arguments a, const __grid_constant__ geometry d,
                      const int chunk) {
  using Tile = wave_tile<TWICE>;
  const int tiles = divide_up(d.nx, Tile::WIDTH) * divide_up(d.ny, Tile::HEIGHT);
  const kernels_planes piece = d.piece((int)blockIdx.x / tiles, chunk);
  real *const memory = reinterpret_cast<real *>(block_memory());
  wave_march<TWICE> march = {a,
                             d,
                             memory,
                             memory + Tile::RING * Tile::PLANE,
                             piece.z0 - Tile::LEAD,
                             piece.z1 - piece.z0 + 2 * Tile::LEAD};
  march.open();
  march.run();
}

template <bool TWICE>
static status wave_march_launch(const kernels_launch *launch, const wave_arguments &a, const geometry &d) {
  using Tile = wave_tile<TWICE>;
  const auto kernel = wave_march_kernel<TWICE>;
  int resident = 0;
  CHECK_CUDA(
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)Tile::SHARED_BYTES));
  CHECK_CUDA(
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, Tile::THREADS, Tile::SHARED_BYTES));
  if (resident == 0) return status_fail(STATUS_DEVICE, "kernel wave: the device has no room for a block");
  const int tiles = divide_up(d.nx, Tile::WIDTH) * divide_up(d.ny, Tile::HEIGHT);
  const int chunk =
      march_chunk(tiles, d.longest(), resident * launch->context->multiprocessors, 2 * Tile::LEAD);
  kernel_launch(kernel, (unsigned)(tiles * d.pieces(chunk)), Tile::THREADS, Tile::SHARED_BYTES,
                launch_stream(launch), a, d, chunk);
  return launch_done(launch, "wave");
}

#endif
