#include "device.cuh"

/* Finite differences by pencils, after NVIDIA's posts and sample (M. Harris, "Finite Difference Methods in
 * CUDA", parts 1 and 2). A tile in shared memory holds pieces of PENCILS lines along AXIS, with HALO more
 * points at both ends, and each thread computes one or several points. Tiles do not depend on the domain: a
 * line of any length is cut into pieces of LENGTH points. Neighbours beyond x and y are periodic images;
 * those beyond z are halo planes or periodic images. */

/* The axis across the pencils. Consecutive threads follow x, so that rows are read coalesced. */
template <int AXIS> struct pencil_axes {
  static constexpr int ACROSS = AXIS == AXIS_X ? AXIS_Y : AXIS_X;
  static constexpr int OTHER = AXIS == AXIS_Z ? AXIS_Y : AXIS_Z;
};

constexpr int PENCIL_THREADS = 256;

/* Coordinates of point i of a tile: `along` the axis (from the first halo point) and `across` it, numbered so
 * that x runs fastest. */
template <int AXIS, int PENCILS, int COUNT>
__device__ __forceinline__ void pencil_point(int i, int &along, int &across) {
  along = AXIS == AXIS_X ? i % COUNT : i / PENCILS;
  across = AXIS == AXIS_X ? i / COUNT : i % PENCILS;
}

template <int AXIS, int PENCILS, int LENGTH, kernels_part PART>
__global__ void __launch_bounds__(PENCIL_THREADS)
    pencil_kernel(const __grid_constant__ coefficients c, const geometry d, const real *f, real *out) {
  using axes = pencil_axes<AXIS>;
  constexpr int SIDE = PART == PART_LOAD ? 0 : HALO, COUNT = LENGTH + 2 * SIDE;
  /* One more column, so that columns fall into different banks. */
  __shared__ real tile[PENCILS][COUNT + (AXIS == AXIS_X ? 0 : 1)];
  const kernels_planes piece =
      AXIS == AXIS_Z ? d.piece((int)blockIdx.x, LENGTH) : d.piece((int)blockIdx.z, 1);
  int origin[3];
  origin[AXIS] = AXIS == AXIS_Z ? piece.z0 : (int)blockIdx.x * LENGTH;
  origin[axes::ACROSS] = (int)blockIdx.y * PENCILS;
  origin[axes::OTHER] = AXIS == AXIS_Z ? (int)blockIdx.z : piece.z0;
  const int end[3] = {d.nx, d.ny, piece.z1};

  for (int i = (int)threadIdx.x; i < PENCILS * COUNT; i += PENCIL_THREADS) {
    int along, across;
    pencil_point<AXIS, PENCILS, COUNT>(i, along, across);
    int p[3] = {origin[0], origin[1], origin[2]};
    p[AXIS] += along - SIDE;
    p[axes::ACROSS] += across;
    if (p[axes::ACROSS] >= end[axes::ACROSS] || p[AXIS] >= end[AXIS] + SIDE) continue;
    const bool in_z = AXIS == AXIS_Z;
    int image[1];
    images(p[AXIS], in_z ? d.memory : kernels_planes{0, end[AXIS]}, in_z ? d.nz : end[AXIS], image);
    p[AXIS] = image[0];
    tile[across][along] = f[d.plane(p[2]) + (ptrdiff_t)p[1] * d.ldx + p[0]];
  }
  __syncthreads();
  for (int i = (int)threadIdx.x; i < PENCILS * LENGTH; i += PENCIL_THREADS) {
    int along, across;
    pencil_point<AXIS, PENCILS, LENGTH>(i, along, across);
    int p[3] = {origin[0], origin[1], origin[2]};
    p[AXIS] += along;
    p[axes::ACROSS] += across;
    if (p[axes::ACROSS] >= end[axes::ACROSS] || p[AXIS] >= end[AXIS]) continue;
    const real *t = tile[across] + along;
    real &result = out[d.plane(p[2]) + (ptrdiff_t)p[1] * d.ldx + p[0]];
    if constexpr (PART == PART_LOAD) result = t[0];
    if constexpr (PART == PART_HALOS) result = t[0] + t[8];
    if constexpr (PART == PART_WHOLE)
      result = first_derivative(c.first[AXIS], t[0], t[1], t[2], t[3], t[5], t[6], t[7], t[8]);
  }
}

template <int AXIS, int PENCILS, int LENGTH, kernels_part PART>
static status pencil_launch(const kernels_launch *launch, const void *f, void *out) {
  using axes = pencil_axes<AXIS>;
  const geometry d = launch_geometry(launch);
  const int points[3] = {d.nx, d.ny, d.planes()};
  const int lengths = AXIS == AXIS_Z ? d.pieces(LENGTH) : divide_up(points[AXIS], LENGTH);
  const dim3 grid((unsigned)lengths, (unsigned)divide_up(points[axes::ACROSS], PENCILS),
                  (unsigned)points[axes::OTHER]);
  kernel_launch(pencil_kernel<AXIS, PENCILS, LENGTH, PART>, grid, PENCIL_THREADS, 0, launch_stream(launch),
                launch_coefficients(launch), d, shifted(launch, f), shifted(launch, out));
  return context_launched(launch->context, launch->queue, "kernel pencils");
}

template <int AXIS, int PENCILS, int LENGTH>
static status pencil_launch_part(const kernels_launch *launch, kernels_part part, const void *f, void *out) {
  switch (part) {
  case PART_LOAD:
    return pencil_launch<AXIS, PENCILS, LENGTH, PART_LOAD>(launch, f, out);
  case PART_HALOS:
    return pencil_launch<AXIS, PENCILS, LENGTH, PART_HALOS>(launch, f, out);
  default:
    return pencil_launch<AXIS, PENCILS, LENGTH, PART_WHOLE>(launch, f, out);
  }
}

template <int PENCILS, int LENGTH>
static status pencil_launch_along(const kernels_launch *launch, kernels_part part, axis along, const void *f,
                                  void *out) {
  switch (along) {
  case AXIS_X:
    return pencil_launch_part<AXIS_X, PENCILS, LENGTH>(launch, part, f, out);
  case AXIS_Y:
    return pencil_launch_part<AXIS_Y, PENCILS, LENGTH>(launch, part, f, out);
  default:
    return pencil_launch_part<AXIS_Z, PENCILS, LENGTH>(launch, part, f, out);
  }
}

/* The 16 x 16 tile counts loaded points: tiles overlap, and only the inner 8 along the axis are computed. */
extern "C" status NAME(pencils)(const kernels_launch *launch, int variant, kernels_part part, axis along,
                                const void *f, void *out) {
  switch (variant) {
  case VARIANT_SHORT:
    return pencil_launch_along<4, 64>(launch, part, along, f, out);
  case VARIANT_LONG:
    return pencil_launch_along<32, 64>(launch, part, along, f, out);
  default:
    return pencil_launch_along<16, 16 - 2 * HALO>(launch, part, along, f, out);
  }
}
