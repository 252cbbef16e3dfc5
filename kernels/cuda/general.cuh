#ifndef FDAPP_CUDA_GENERAL_CUH
#define FDAPP_CUDA_GENERAL_CUH

#include "direct.cuh"
#include "layer_places.cuh"
#include "penalties.cuh"

/* The general engine: terms of any inputs along any axes, of two-point functions, and dampings. A thread
 * computes one point at a time and reads each neighbour through the caches. The same code computes points
 * beside ends of axes (ENDS). */

/* 1 for an operation with more than LEAN_OUTPUTS outputs; the arguments of an operation. */
template <class Op> constexpr bool FURTHER = Op::DECLARED.outputs >> LEAN_OUTPUTS != 0;
template <class Op> using general_arguments = std::conditional_t<FURTHER<Op>, arguments_general, arguments>;

template <class Op, bool ENDS> struct general {
  const general_arguments<Op> &a;
  const geometry &d;
  const layer_work *w; /* with ENDS */
  unsigned options;

  template <int AXIS> __device__ __forceinline__ ptrdiff_t steps(int n) const {
    if constexpr (AXIS == AXIS_X) return n;
    if constexpr (AXIS == AXIS_Y) return (ptrdiff_t)n * d.ldx;
    return d.plane(n);
  }

  /* The neighbour j points further along an axis, whose values are stored at index `image`. */
  template <int AXIS>
  __device__ __forceinline__ operation_values beside(const operation_values &own, int j, int image) const {
    operation_values v = own;
    v.p[AXIS] += j;
    v.i += steps<AXIS>(image - own.p[AXIS]);
    return v;
  }

  /* What a term differences along an axis, at v as a neighbour of `own`. */
  template <int TERM, int AXIS>
  __device__ __forceinline__ real value(const operation_values &own, const operation_values &v) const {
    constexpr operation_term term = Op::DECLARED.term[TERM];
    if constexpr (term.of == DIFFERENCE_PAIR) return operation_pair(Op::KIND, options, TERM, AXIS, &own, &v);
    const real f = value_input(&v, term.along[AXIS]);
    return term.product && term.of != DIFFERENCE_DAMPING ? value_velocity(&v, AXIS) * f : f;
  }

  template <int AXIS>
  __device__ __forceinline__ void images_find(const operation_values &own, int (&image)[2 * HALO + 1]) const {
    const int n = AXIS == AXIS_X ? d.nx : AXIS == AXIS_Y ? d.ny : d.nz;
    images(own.p[AXIS] - HALO, AXIS == AXIS_Z ? d.memory : kernels_planes{0, n}, n, image);
  }

  /* Damping along an axis; beside ends without the fluxes that would read beyond them. */
  template <int TERM, int AXIS>
  __device__ __forceinline__ real damping(const operation_values &own, real scale) const {
    const coefficients &c = a.c;
    int image[2 * HALO + 1];
    real f[2 * HALO + 1], speed[STENCIL_TAPS + 1], flux[STENCIL_TAPS];
    images_find<AXIS>(own, image);
#pragma unroll
    for (int j = 0; j < 2 * HALO + 1; j++) {
      const operation_values v = beside<AXIS>(own, j - HALO, image[j]);
      f[j] = value<TERM, AXIS>(own, v);
      if (j >= 1 && j <= STENCIL_TAPS + 1) speed[j - 1] = operation_speed(Op::KIND, options, TERM, AXIS, &v);
    }
#pragma unroll
    for (int j = 0; j < STENCIL_TAPS; j++) {
      flux[j] =
          damping_flux(c.taps, c.share, f[j], f[j + 1], f[j + 2], f[j + 3], f[j + 4], speed[j], speed[j + 1]);
      if constexpr (ENDS) {
        const int at = w->ends.start[AXIS] + own.p[AXIS] + j - 2;
        if (w->ends.bounded[AXIS] && (at < c.before || at > w->ends.last[AXIS] - c.after)) flux[j] = 0;
      }
    }
    return damping_sum(c.taps, scale, flux[0], flux[1], flux[2], flux[3], flux[4]);
  }

  /* The difference along an axis by the stencil; of a chain, its pairs added to s. */
  template <int TERM, int AXIS>
  __device__ __forceinline__ real inside(const operation_values &own, real s) const {
    constexpr operation_term term = Op::DECLARED.term[TERM];
    const coefficients &c = a.c;
    if constexpr (term.of == DIFFERENCE_DAMPING) {
      return damping<TERM, AXIS>(own, c.damping[AXIS]);
    } else {
      int image[2 * HALO + 1];
      real n[2 * HALO + 1];
      images_find<AXIS>(own, image);
#pragma unroll
      for (int j = 0; j < 2 * HALO + 1; j++)
        n[j] = value<TERM, AXIS>(own, beside<AXIS>(own, j - HALO, image[j]));
      if constexpr (term.fold == FOLD_CHAIN)
        return second_pairs(c.second[AXIS], s, n[0], n[1], n[2], n[3], n[5], n[6], n[7], n[8]);
      if constexpr (term.of == DIFFERENCE_SECOND)
        return second_derivative(c.second[AXIS], n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7], n[8]);
      if constexpr (term.of == DIFFERENCE_DISSIPATION)
        return even_difference(c.dissipation[AXIS], n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7], n[8]);
      return first_derivative(c.first[AXIS], n[0], n[1], n[2], n[3], n[5], n[6], n[7], n[8]);
    }
  }

  /* The same by a row of the closure at an end. */
  template <int TERM, int AXIS>
  __device__ __forceinline__ real closed(const operation_values &own, int row, int high, real s) const {
    constexpr operation_term term = Op::DECLARED.term[TERM];
    if constexpr (term.of == DIFFERENCE_DAMPING) {
      return damping<TERM, AXIS>(own, w->ends.damping[AXIS][row]);
    } else {
      constexpr int OF = term.of == DIFFERENCE_PAIR ? DIFFERENCE_FIRST : (int)term.of;
      const real *c = layer_coefficients(&w->ends, AXIS, high, OF, row);
      const int end = w->end_of(AXIS, high);
      const real centre = value<TERM, AXIS>(own, own);
      real sum = 0;
      for (int j = 0; j < w->ends.width; j++) {
        const int at = high ? end - j : end + j;
        sum = closure_add(sum, c[j], value<TERM, AXIS>(own, beside<AXIS>(own, at - own.p[AXIS], at)), centre);
      }
      return term.fold == FOLD_CHAIN && AXIS != AXIS_X ? s + sum : sum;
    }
  }

  /* The difference along an axis, or s if there is none. `open` loses the axis's bit if it is that of a
   * closure. */
  template <int TERM, int AXIS>
  __device__ __forceinline__ real difference(const operation_values &own, real s, int &open) const {
    if constexpr (Op::DECLARED.term[TERM].along[AXIS] == OPERATION_NONE) return s;
    if constexpr (ENDS) {
      int high;
      const int row = layer_row(&w->ends, AXIS, own.p[AXIS], &high);
      if (row >= 0) {
        open &= ~(1 << AXIS);
        return closed<TERM, AXIS>(own, row, high, s);
      }
    }
    return inside<TERM, AXIS>(own, s);
  }

  template <int TERM> __device__ __forceinline__ real term_value(const operation_values &own) const {
    constexpr operation_term term = Op::DECLARED.term[TERM];
    constexpr bool CHAIN = term.fold == FOLD_CHAIN;
    int open = 7;
    const real dx = difference<TERM, AXIS_X>(own, 0, open);
    const real dy = difference<TERM, AXIS_Y>(own, CHAIN ? dx : 0, open);
    const real dz = difference<TERM, AXIS_Z>(own, CHAIN ? dy : 0, open);
    if constexpr (CHAIN) {
      real center = a.c.center;
      if constexpr (ENDS) center = w->ends.centre[open];
      return REAL_FMA(center, value_input(&own, term.along[AXIS_X]), dz);
    } else if constexpr (term.fold == FOLD_SUM) {
      return Op::template sum<TERM>(dx, dy, dz);
    } else {
      real u[3];
#pragma unroll
      for (int axis = 0; axis < 3; axis++) {
        u[axis] = value_velocity(&own, axis);
        if (term.fold == FOLD_SPEED) u[axis] = NUMBER_ABS(u[axis]);
      }
      return advective(u[0], u[1], u[2], dx, dy, dz);
    }
  }

  template <int TERM = 0>
  __device__ __forceinline__ void terms_set(operation_point &at, const operation_values &own) const {
    if constexpr (operation_has(&Op::DECLARED, TERM)) {
      at.term[TERM] = 0;
      if (!ENDS || (w->terms >> TERM & 1U)) at.term[TERM] = term_value<TERM>(own);
    }
    if constexpr (TERM + 1 < OPERATION_TERMS) terms_set<TERM + 1>(at, own);
  }

  __device__ __forceinline__ bool penalized(const int p[3]) const {
    if constexpr (!ENDS) return false;
    return w->touches(AXIS_X, p[0]) || w->touches(AXIS_Y, p[1]) || w->touches(AXIS_Z, p[2]);
  }

  /* The array of output k. */
  __device__ __forceinline__ real *out(int k) const {
    if constexpr (FURTHER<Op>) {
      if (k >= LEAN_OUTPUTS) return a.further[k - LEAN_OUTPUTS];
    }
    return a.out[k];
  }

  /* Computes and stores the outputs at a point. */
  __device__ __forceinline__ void point(int x, int y, int z) const {
    constexpr operation o = Op::DECLARED;
    const operation_values own = {
        &a, &d, o.velocity, o.velocity_input, steps<AXIS_Z>(z) + steps<AXIS_Y>(y) + x, {x, y, z}};
    operation_point at;
    at.a = &a;
#pragma unroll
    for (int k = 0; k < OPERATION_ARRAYS; k++) {
      if ((operation_points(&Op::DECLARED) >> k & 1U) && (!ENDS || a.in[k] != nullptr))
        at.input[k] = value_input(&own, k);
    }
    terms_set(at, own);
    const bool penalized_here = penalized(own.p);
    unsigned parts = operation_parts(&Op::DECLARED, Op::OPTIONS);
    if constexpr (ENDS) parts = w->parts;
#pragma unroll
    for (int k = 0; k < (FURTHER<Op> ? OPERATION_OUTPUTS : LEAN_OUTPUTS); k++) {
      if (!Op::stores(k) || out(k) == nullptr) continue;
      real result = operation_output(Op::KIND, options, parts, Op::OWN, k, &at);
      if constexpr (ENDS) {
        if (penalized_here)
          result = layer_penalize<SEVERAL>(*w, own.p, a.in[0], k, result,
                                           [&](int axis) { return value_velocity(&own, axis); });
      }
      out(k)[own.i] = result;
    }
  }
};

/* blockDim: points of x, rows. blockIdx: blocks along x and y, and pieces of `chunk` planes, of both ranges.
 */
template <class Op>
__global__ void __launch_bounds__(DIRECT_THREADS)
    general_kernel(const __grid_constant__ general_arguments<Op> a, const __grid_constant__ geometry d,
                   const int chunk) {
  const int x = d.x0 + (int)(blockIdx.x * blockDim.x + threadIdx.x);
  const int y = d.y0 + (int)(blockIdx.y * blockDim.y + threadIdx.y);
  if (x >= min(d.x1, d.nx) || y >= d.y1) return;
  const general<Op, false> engine = {a, d, nullptr, Op::OPTIONS};
  const kernels_planes piece = d.piece((int)blockIdx.z, chunk);
  for (int z = piece.z0; z < piece.z1; z++) engine.point(x, y, z);
}

/* The points of layers (layer_places.cuh), and those that have images beside them. Op has all additions;
 * those that a call does not use have no inputs and no terms. */
template <class Op>
__global__ void __launch_bounds__(LAYER_THREADS)
    general_layers_kernel(const __grid_constant__ general_arguments<Op> a, const __grid_constant__ geometry d,
                          const __grid_constant__ layer_work w) {
  layer_place place;
  if (!layer_find(w, place)) return;
  const general<Op, true> engine = {a, d, &w, w.options};
  const bool along_y = layer_march(place.only) == AXIS_Y;
  for (int n = 0; n < place.count; n++)
    engine.point(place.point[0], place.point[1] + (along_y ? n : 0), place.point[2] + (along_y ? 0 : n));
}

template <class Op> static void general_start(const kernels_launch *launch, const general_arguments<Op> &a) {
  const geometry d = launch_geometry(launch);
  const int lanes = 32, rows = DIRECT_THREADS / lanes;
  const int across = divide_up(d.nx, lanes), down = divide_up(d.ny, rows);
  const int chunk = direct_chunk(launch, d, across * down, 0);
  const dim3 block((unsigned)lanes, (unsigned)rows);
  const dim3 grid((unsigned)across, (unsigned)down, (unsigned)d.pieces(chunk));
  kernel_launch(general_kernel<Op>, grid, block, 0, launch_stream(launch), a, d, chunk);
}

/* Edges that are asked for first are a launch of their own. */
template <class Op>
static status general_launch(const kernels_launch *launch, const general_arguments<Op> &a, const char *name) {
  kernels_launch part = *launch;
  const kernels_planes slab = launch->planes[0];
  const geometry d = launch_geometry(launch);
  if (launch->edges != nullptr && d.planes() == d.planes(0) && d.planes() > 2 * HALO) {
    part.planes[0] = {slab.z0, slab.z0 + HALO};
    part.planes[1] = {slab.z1 - HALO, slab.z1};
    general_start<Op>(&part, a);
    CHECK(launch_done(&part, name));
    part.edges = nullptr;
    part.planes[0] = {slab.z0 + HALO, slab.z1 - HALO};
    part.planes[1] = {0, 0};
  }
  general_start<Op>(&part, a);
  return launch_done(&part, name);
}

#endif
