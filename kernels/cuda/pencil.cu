#include "device.cuh"

/* Finite differences by pencils, after NVIDIA's posts and sample (M. Harris, "Finite Difference Methods in
 * CUDA", parts 1 and 2). A tile in shared memory holds pieces of PENCILS lines along AXIS, with HALO more
 * points at both ends. A line of any length is cut into pieces of LENGTH points; the last one may be shorter.
 * Neighbours beyond x and y are periodic images; those beyond z are halo planes or periodic images. */

/* A tile consists of rows along x, so that consecutive threads have consecutive points in memory and in the
 * tile. A pencil is a row for AXIS_X and a column otherwise; along z the rows of a tile lie in different
 * planes. The threads of a block cover the tile or, with several points each, STRIDE of its rows at a time.
 */
template <int AXIS, int PENCILS, int LENGTH> struct pencil_tile {
  static constexpr bool IN_ROWS = AXIS == AXIS_X;
  static constexpr int COLUMNS = IN_ROWS ? LENGTH : PENCILS, ROWS = IN_ROWS ? PENCILS : LENGTH;
  static constexpr int POINTS = PENCILS == 32 ? 8 : 1, STRIDE = ROWS / POINTS;
  static constexpr int THREADS = COLUMNS * STRIDE;
  static constexpr int SIDES = 2 * HALO;
  static_assert(PENCILS * SIDES <= THREADS, "a thread loads at most one halo point");
  /* Rows of 8 columns are 24 apart, so that a warp's 4 rows fall into different banks. */
  static constexpr int PITCH = IN_ROWS ? LENGTH + (LENGTH < 32 ? 2 * SIDES : SIDES) : PENCILS;
  static constexpr int SIZE = PITCH * (IN_ROWS ? ROWS : ROWS + SIDES);
  static constexpr int STEP = IN_ROWS ? 1 : PITCH; /* in the tile, to the next point of a pencil */
};

/* As geometry::plane and geometry::piece, in fewer instructions: those would add 10 to 20 to the 70 in which
 * a thread computes its point. */
__device__ __forceinline__ ptrdiff_t pencil_plane(const geometry &d, int z) {
  return (ptrdiff_t)z * d.units * (KERNELS_PLANE_UNIT / (int)sizeof(real));
}
template <int CHUNK> __device__ __forceinline__ kernels_planes pencil_piece(const geometry &d, int index) {
  const int before = divide_up(d.planes(0), CHUNK);
  const kernels_planes range = index < before ? d.range[0] : d.range[1];
  return {range.z0 + (index < before ? index : index - before) * CHUNK, range.z1};
}

/* blockIdx counts groups of pencils, pieces of a line, and planes (along z: rows). CUT: some tiles are not
 * full. */
template <int AXIS, int PENCILS, int LENGTH, kernels_part PART, bool CUT>
__global__ void __launch_bounds__(pencil_tile<AXIS, PENCILS, LENGTH>::THREADS)
    pencil_kernel(const __grid_constant__ coefficients c, const __grid_constant__ geometry d, const real *f,
                  real *out) {
  using T = pencil_tile<AXIS, PENCILS, LENGTH>;
  __shared__ real tile[T::SIZE];
  constexpr bool IN_Z = AXIS == AXIS_Z;
  const int pencil = (int)blockIdx.x * PENCILS, other = (int)blockIdx.z;
  const kernels_planes planes = IN_Z ? pencil_piece<LENGTH>(d, (int)blockIdx.y) : pencil_piece<1>(d, other);
  const int first = IN_Z ? planes.z0 : (int)blockIdx.y * LENGTH; /* along the axis */
  const int x0 = T::IN_ROWS ? first : pencil, y0 = IN_Z ? other : T::IN_ROWS ? pencil : first;
  const int columns = CUT ? min(T::COLUMNS, d.nx - x0) : T::COLUMNS;
  const int rows = CUT ? min(T::ROWS, IN_Z ? planes.z1 - first : d.ny - y0) : T::ROWS;
  /* Memory is addressed from the tile's first point. */
  const ptrdiff_t start = pencil_plane(d, planes.z0) + (ptrdiff_t)y0 * d.ldx + x0;
  const auto place = [&](int row, int column) {
    return (IN_Z ? pencil_plane(d, row) : (ptrdiff_t)row * d.ldx) + column;
  };
  const int column = (int)threadIdx.x, row = (int)threadIdx.y;
  const auto inside = [&](int k) { return !CUT || (column < columns && row + k * T::STRIDE < rows); };
  const ptrdiff_t stride = place(T::STRIDE, 0);
  f += start;
  out += start + place(row, column);
  real *const body = tile + HALO * T::STEP, *const mine = body + row * T::PITCH + column;

  real own[T::POINTS];
  const real *from = f + place(row, column);
#pragma unroll
  for (int k = 0; k < T::POINTS; k++, from += stride) {
    if (inside(k)) own[k] = *from;
  }
  /* The first threads load a halo point each; only these may be images. */
  const unsigned thread = threadIdx.y * T::COLUMNS + threadIdx.x;
  if (PART != PART_LOAD && thread < PENCILS * T::SIDES) {
    const int pencils = T::IN_ROWS ? rows : columns, length = T::IN_ROWS ? columns : rows;
    const int side = T::IN_ROWS ? thread % T::SIDES : row, p = T::IN_ROWS ? thread / T::SIDES : column;
    const int at = side - HALO + (side < HALO ? 0 : length);
    const int n = IN_Z ? d.nz : T::IN_ROWS ? d.nx : d.ny;
    int image[1];
    images(first + at, IN_Z ? d.memory : kernels_planes{0, n}, n, image);
    const int i = image[0] - first;
    if (p < pencils)
      body[T::IN_ROWS ? p * T::PITCH + at : at * T::PITCH + p] = f[T::IN_ROWS ? place(p, i) : place(i, p)];
  }
#pragma unroll
  for (int k = 0; k < T::POINTS; k++) {
    if (inside(k)) mine[k * T::STRIDE * T::PITCH] = own[k];
  }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < T::POINTS; k++, out += stride) {
    constexpr int S = T::STEP;
    const real *t = mine + k * T::STRIDE * T::PITCH;
    real result = t[0];
    if constexpr (PART == PART_HALOS) result = t[-4 * S] + t[4 * S];
    if constexpr (PART == PART_WHOLE)
      result = first_derivative(c.first[AXIS], t[-4 * S], t[-3 * S], t[-2 * S], t[-S], t[S], t[2 * S],
                                t[3 * S], t[4 * S]);
    if (inside(k)) *out = result;
  }
}

template <int AXIS, int PENCILS, int LENGTH, kernels_part PART>
static status pencil_launch(const kernels_launch *launch, const void *f, void *out) {
  using T = pencil_tile<AXIS, PENCILS, LENGTH>;
  const geometry d = launch_geometry(launch);
  constexpr bool IN_Z = AXIS == AXIS_Z;
  const int pieces = IN_Z ? d.pieces(LENGTH) : divide_up(T::IN_ROWS ? d.nx : d.ny, LENGTH);
  const dim3 grid((unsigned)divide_up(T::IN_ROWS ? d.ny : d.nx, PENCILS), (unsigned)pieces,
                  (unsigned)(IN_Z ? d.ny : d.planes()));
  const bool cut = d.nx % T::COLUMNS != 0 ||
                   (IN_Z ? d.planes(0) % LENGTH != 0 || d.planes(1) % LENGTH != 0 : d.ny % T::ROWS != 0);
  kernel_launch(cut ? pencil_kernel<AXIS, PENCILS, LENGTH, PART, true>
                    : pencil_kernel<AXIS, PENCILS, LENGTH, PART, false>,
                grid, dim3(T::COLUMNS, T::STRIDE), 0, launch_stream(launch), launch_coefficients(launch), d,
                shifted(launch, f), shifted(launch, out));
  return context_launched(launch->context, launch->queue, "kernel pencils");
}

template <int PENCILS, int LENGTH>
static status pencil_launch_along(const kernels_launch *launch, kernels_part part, axis along, const void *f,
                                  void *out) {
  return with_axis(along, [=](auto axis) {
    return with_constant<PART_LOAD, PART_HALOS, PART_WHOLE>(part, [=](auto some) {
      return pencil_launch<decltype(axis)::value, PENCILS, LENGTH, (kernels_part) decltype(some)::value>(
          launch, f, out);
    });
  });
}

/* Pieces of 128 points, or of 64 in shorter lines: the sizes of the sample. */
template <int PENCILS>
static status pencil_launch_pieces(const kernels_launch *launch, kernels_part part, axis along, const void *f,
                                   void *out) {
  const geometry d = launch_geometry(launch);
  const int points[3] = {d.nx, d.ny, d.longest()};
  return points[along] >= 128 ? pencil_launch_along<PENCILS, 128>(launch, part, along, f, out)
                              : pencil_launch_along<PENCILS, 64>(launch, part, along, f, out);
}

/* The 16 x 16 tile counts loaded points: tiles overlap, and only the inner 8 along the axis are computed. */
extern "C" status NAME(pencils)(const kernels_launch *launch, int variant, kernels_part part, axis along,
                                const void *f, void *out) {
  return variant == VARIANT_SHORT  ? pencil_launch_pieces<4>(launch, part, along, f, out)
         : variant == VARIANT_LONG ? pencil_launch_pieces<32>(launch, part, along, f, out)
                                   : pencil_launch_along<16, 16 - 2 * HALO>(launch, part, along, f, out);
}
