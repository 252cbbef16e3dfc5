#ifndef FDAPP_CUDA_PAIRS_CUH
#define FDAPP_CUDA_PAIRS_CUH

#include "device.cuh"

/* The engine for two-point fluxes: what the 24 neighbours of a point add to its sums, one after the other,
 * and what follows from the sums. It knows no system of equations; a system is a class with
 *
 *   numbers           constants, which a kernel's parameter holds
 *   READS             mask of the inputs of which neighbours are read
 *   SUMS, OUTPUTS     counts
 *   pair(c, d, l, up, own, other, sums)
 *   across(sums)      called when all neighbours along x and y are added
 *   finish(c, own, sums, at, points, out)
 *
 * as in kernels/cpu/pairs.h, and for the engine that marches (pairs_march.cuh)
 *
 *   POINTS            values read at the point alone by every call
 *   COUPLES           true: there is couple(c, l, low, high, sums_low, sums_high), `pair` of two points
 *                     l + 1 apart along z with each other
 *   ASIDE             mask of a point's values that have no room in registers
 *   ASIDE_SUMS        mask of such sums, which `across` completes
 *
 * Neighbours come in the order of flow_pairs.h: along z those below, x, y,
 * along z those above. Here a thread computes a point and reads neighbours through the caches. */
struct pairs_system { /* what most systems need not say */
  static constexpr unsigned ASIDE = 0, ASIDE_SUMS = 0;
  static constexpr bool COUPLES = false;
  static __device__ __forceinline__ void across(real *) {}
};

enum { PAIRS_READS = 8, PAIRS_POINTS = 15, PAIRS_OUTPUTS = 5 };

template <class System> struct pairs_arguments {
  typename System::numbers c;
  const real *in[PAIRS_READS];  /* shifted to plane 0, as all of these */
  const real *at[PAIRS_POINTS]; /* what is read at the point alone */
  int points;
  real *out[PAIRS_OUTPUTS];
};

template <class System> struct pairs_point {
  const pairs_arguments<System> &a;
  real own[PAIRS_READS], sums[System::SUMS];

  __device__ __forceinline__ void load(ptrdiff_t place, real (&to)[PAIRS_READS]) const {
#pragma unroll
    for (int f = 0; f < PAIRS_READS; f++)
      if (System::READS >> f & 1U) to[f] = a.in[f][place];
  }

  template <int D> __device__ __forceinline__ void add(int l, bool up, ptrdiff_t place) {
    real other[PAIRS_READS];
    load(place, other);
    System::pair(a.c, D, l, up, own, other, sums);
  }

  /* The neighbours along an axis at or below, then above: `place_of` gives the place `by` points further. */
  template <int D, class Place> __device__ __forceinline__ void below(const Place &place_of) {
#pragma unroll 1
    for (int l = HALO - 1; l >= 0; l--) add<D>(l, false, place_of(-1 - l));
  }
  template <int D, class Place> __device__ __forceinline__ void above(const Place &place_of) {
#pragma unroll 1
    for (int l = 0; l < HALO; l++) add<D>(l, true, place_of(1 + l));
  }

  __device__ __forceinline__ void run(const geometry &d, int x, int y, int z) {
    const ptrdiff_t column = (ptrdiff_t)y * d.ldx + x, plane = d.plane(z);
    const auto along_x = [&](int by) {
      const int at = x + by;
      return plane + (ptrdiff_t)y * d.ldx + (at < 0 ? at + d.nx : at >= d.nx ? at - d.nx : at);
    };
    const auto along_y = [&](int by) {
      const int at = y + by;
      return plane + (ptrdiff_t)(at < 0 ? at + d.ny : at >= d.ny ? at - d.ny : at) * d.ldx + x;
    };
    const auto along_z = [&](int by) { return d.neighbour(z + by) + column; };
    load(plane + column, own);
#pragma unroll
    for (int i = 0; i < System::SUMS; i++) sums[i] = 0;
    if (System::READS != 0) {
      below<AXIS_Z>(along_z);
      below<AXIS_X>(along_x);
      above<AXIS_X>(along_x);
      below<AXIS_Y>(along_y);
      above<AXIS_Y>(along_y);
      System::across(sums);
      above<AXIS_Z>(along_z);
    }
    real at[PAIRS_POINTS], out[PAIRS_OUTPUTS];
#pragma unroll
    for (int i = 0; i < PAIRS_POINTS; i++)
      if (i < a.points) at[i] = a.at[i][plane + column];
    System::finish(a.c, own, sums, at, a.points, out);
#pragma unroll
    for (int i = 0; i < System::OUTPUTS; i++) a.out[i][plane + column] = out[i];
  }
};

constexpr int PAIRS_WIDTH = 32, PAIRS_HEIGHT = 8;

/* Blocks of PAIRS_WIDTH x PAIRS_HEIGHT points, along x, then y, then the launch's planes. */
template <class System>
__global__ void __launch_bounds__(PAIRS_WIDTH *PAIRS_HEIGHT)
    pairs_kernel(const __grid_constant__ pairs_arguments<System> a, const __grid_constant__ geometry d) {
  const int tiles_x = divide_up(d.nx, PAIRS_WIDTH), tiles_y = divide_up(d.ny, PAIRS_HEIGHT);
  const int block = (int)blockIdx.x, row = block / tiles_x;
  const int x = block % tiles_x * PAIRS_WIDTH + (int)threadIdx.x;
  const int y = row % tiles_y * PAIRS_HEIGHT + (int)threadIdx.y;
  if (x >= d.nx || y >= d.ny) return;
  pairs_point<System> point = {a, {}, {}};
  point.run(d, x, y, d.piece(row / tiles_y, 1).z0);
}

template <class System>
static status pairs_launch(const kernels_launch *launch, const pairs_arguments<System> &a, const char *name) {
  const geometry d = launch_geometry(launch);
  const size_t blocks =
      (size_t)divide_up(d.nx, PAIRS_WIDTH) * (size_t)divide_up(d.ny, PAIRS_HEIGHT) * (size_t)d.planes();
  if (blocks > INT32_MAX) return status_fail(STATUS_DEVICE, "kernel %s: too many points for a launch", name);
  kernel_launch(pairs_kernel<System>, (unsigned)blocks, dim3(PAIRS_WIDTH, PAIRS_HEIGHT), 0,
                launch_stream(launch), a, d);
  return launch_done(launch, name);
}

#endif
