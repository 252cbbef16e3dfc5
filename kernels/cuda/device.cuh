#ifndef FDAPP_CUDA_DEVICE_CUH
#define FDAPP_CUDA_DEVICE_CUH

#include <algorithm>
#include <stddef.h>
#include <stdint.h>
#include <type_traits>

#include <machine.cuh> /* found by the search path: tests have their own */

extern "C" {
#include "launchers.h"
}
#include "arithmetic.h"

/* Shared by all device code: vectors of 16 bytes, the geometry of a launch, and the arguments of an
 * operation. Every .cu file is compiled with FDAPP_REAL=float and again with FDAPP_REAL=double. */

#define NAME_JOIN(operation, suffix)   operation##_##suffix
#define NAME_EXPAND(operation, suffix) NAME_JOIN(operation, suffix)
#define NAME(operation)                NAME_EXPAND(operation, FDAPP_REAL)

constexpr int HALO = KERNELS_HALO;
constexpr int VECTOR = 16 / (int)sizeof(real); /* elements that one thread loads at a time */

constexpr bool SINGLE = sizeof(real) == sizeof(float);
constexpr int by_precision_value(int single, int twofold) {
  return SINGLE ? single : twofold;
}

__host__ __device__ constexpr int divide_up(int a, int b) {
  return (a + b - 1) / b;
}

constexpr int RANGES = KERNELS_RANGES + 1; /* the third one for launches that compute edges first */

/* The planes of a launch and their layout in memory. Pointers to fields are shifted to plane 0, so negative
 * plane numbers are halo planes. Kernels compute whole ranges, or pieces of at most `chunk` planes, each
 * within one range. */
struct geometry {
  int nx, ny, ldx, nz;
  int units;                    /* plane pitch in KERNELS_PLANE_UNIT bytes */
  kernels_planes memory;        /* planes that are stored; planes beyond are periodic images */
  kernels_planes range[RANGES]; /* {z, z} where empty */
  int x0, x1, y0, y1;           /* the points that are written: whole vectors, up to the padding of rows */

  __device__ __forceinline__ ptrdiff_t plane(int z) const {
    return z * hidden((ptrdiff_t)units * (KERNELS_PLANE_UNIT / (int)sizeof(real)));
  }
  /* Offset of a plane up to HALO planes outside the slab, or of its periodic image. Without branches: one
   * would cost registers. */
  __device__ __forceinline__ ptrdiff_t neighbour(int z) const {
#pragma unroll
    for (int k = 0; k < HALO; k++) { /* slabs may be thinner than HALO, so up to HALO turns */
      z += z < memory.z0 ? nz : 0;
      z -= z >= memory.z1 ? nz : 0;
    }
    return plane(z);
  }
  __device__ __forceinline__ int table_pitch() const { /* pitch of the tables along x */
    return ldx + 2 * KERNELS_TABLE_SIDE;
  }
  __host__ __device__ __forceinline__ int planes(int r) const {
    return range[r].z1 - range[r].z0;
  }
  bool leaves_out() const {
    return x0 > 0 || y0 > 0;
  }
  bool writes() const {
    return std::min(x1, nx) > x0 && y1 > y0;
  }
  int planes() const {
    return planes(0) + planes(1) + planes(2);
  }
  /* Number of planes in the longest range, for launches whose blocks compute whole ranges. */
  int longest() const {
    return planes(0) > planes(1) ? planes(0) : planes(1);
  }
  unsigned ranges() const {
    return planes(1) > 0 ? KERNELS_RANGES : 1;
  }
  int pieces(int chunk) const {
    return divide_up(planes(0), chunk) + divide_up(planes(1), chunk) + divide_up(planes(2), chunk);
  }
  __device__ __forceinline__ kernels_planes piece(int index, int chunk) const {
    int r = 0;
#pragma unroll
    for (int k = 0; k < RANGES - 1; k++) {
      const int before = divide_up(planes(k), chunk);
      if (r != k || index < before) continue;
      index -= before;
      r++;
    }
    const int z0 = range[r].z0 + index * chunk;
    return {z0, min(z0 + chunk, range[r].z1)};
  }
};

struct coefficients {
  real first[3][STENCIL_RADIUS];
  real second[3][STENCIL_RADIUS + 1];
  real dissipation[3][STENCIL_RADIUS];
  real center; /* centre coefficient of the Laplacian */
  real damping[3], taps[STENCIL_TAPS], share[2];
  int before, after; /* points that the taps reach from a flux's point */
};

/* The arguments of an operation. As a kernel parameter it lies in the constant bank. */
struct arguments {
  coefficients c;
  const real *in[OPERATION_ARRAYS]; /* NULL: not read */
  real *out[LEAN_OUTPUTS];
  const real *table[3]; /* kernels_tables */
  real uniform[3], scalar[OPERATION_SCALARS], weight[OPERATION_WEIGHTS];
  const real *numbers; /* NULL, or memory with the scalars */
};

/* Those of an operation that may have more outputs: a type of its own, because the compiler places registers
 * of other kernels differently if their parameters move. */
struct arguments_general : arguments {
  real *further[OPERATION_OUTPUTS - LEAN_OUTPUTS];
};

/* The indices first .. first + N - 1, at most HALO outside those that are stored, or their periodic images.
 * One turn suffices, except on an axis of fewer than HALO points. Turns are selections, so that the loads
 * that follow can all be on their way at the same time. */
template <int N>
__device__ __forceinline__ void images(int first, kernels_planes stored, int n, int (&to)[N]) {
#pragma unroll
  for (int k = 0; k < N; k++) to[k] = first + k;
  int turn = 0;
#pragma unroll 1
  do {
#pragma unroll
    for (int k = 0; k < N; k++) {
      to[k] += to[k] < stored.z0 ? n : 0;
      to[k] -= to[k] >= stored.z1 ? n : 0;
    }
  } while (n < HALO && ++turn < HALO);
}

template <class T> struct vector_of;
template <> struct vector_of<float> { using type = float4; };
template <> struct vector_of<double> { using type = double2; };
using vector_type = vector_of<real>::type;

/* Loads a vector; both addresses are 16-byte aligned. */
__device__ __forceinline__ void vector_load(const real *from, real (&to)[VECTOR]) {
  const vector_type loaded = *reinterpret_cast<const vector_type *>(from);
  const real *e = reinterpret_cast<const real *>(&loaded);
#pragma unroll
  for (int v = 0; v < VECTOR; v++) to[v] = e[v];
}

/* Loads N elements, a multiple of VECTOR. */
template <int N> __device__ __forceinline__ void vectors_load(const real *from, real (&to)[N]) {
#pragma unroll
  for (int i = 0; i < N; i += VECTOR) vector_load(from + i, *reinterpret_cast<real(*)[VECTOR]>(to + i));
}

__device__ __forceinline__ void vector_store(real *to, const real (&from)[VECTOR]) {
  vector_type stored;
  real *e = reinterpret_cast<real *>(&stored);
#pragma unroll
  for (int v = 0; v < VECTOR; v++) e[v] = from[v];
  *reinterpret_cast<vector_type *>(to) = stored;
}

/* Copies a vector from registers to registers. */
__device__ __forceinline__ void copy_values(const real (&from)[VECTOR], real *to) {
#pragma unroll
  for (int e = 0; e < VECTOR; e++) to[e] = from[e];
}

/* ---- Host side ---- */

/* Plane pitch in units. An int suffices: planes of 512 GiB fit no device. */
static inline int plane_units(const kernels_launch *launch) {
  return (int)(launch->shape.plane * (ptrdiff_t)sizeof(real) / KERNELS_PLANE_UNIT);
}

static inline geometry launch_geometry(const kernels_launch *launch) {
  const kernels_shape *s = &launch->shape;
  const int halo = s->whole ? 0 : HALO;
  const int left_x = launch->left_out[AXIS_X], left_y = launch->left_out[AXIS_Y];
  const int x0 = divide_up(left_x, VECTOR) * VECTOR;
  const int x1 = left_x > 0 ? std::max(x0, (s->nx - left_x) / VECTOR * VECTOR) : s->ldx;
  geometry d = {s->nx, s->ny, s->ldx, s->nz,  plane_units(launch), {-halo, s->nz + halo},
                {},    x0,    x1,     left_y, s->ny - left_y};
  for (int r = 0; r < KERNELS_RANGES; r++) {
    d.range[r] = launch->planes[r];
    if (d.planes(r) < 0) d.range[r].z1 = d.range[r].z0;
  }
  return d;
}

/* Fewest planes per piece: a CUDA grid has at most 65535 blocks along y and z. Each further range of planes
 * can add one piece to the count of a single range. */
static inline int chunk_least(const geometry &d) {
  return divide_up(d.planes(), 65535 - (RANGES - 1));
}

static inline ptrdiff_t plane_zero(const kernels_launch *launch) {
  return HALO * launch->shape.plane;
}

static inline const real *shifted(const kernels_launch *launch, const void *field) {
  return static_cast<const real *>(field) + plane_zero(launch);
}

static inline real *shifted(const kernels_launch *launch, void *field) {
  return static_cast<real *>(field) + plane_zero(launch);
}

static inline coefficients launch_coefficients(const kernels_launch *launch) {
  const stencil *s = launch->stencil;
  coefficients c;
  for (int d = 0; d < 3; d++) {
    for (int k = 0; k < STENCIL_RADIUS; k++) {
      c.first[d][k] = (real)s->first[d][k];
      c.dissipation[d][k] = (real)s->dissipation[d][k];
    }
    c.damping[d] = (real)s->damping[d];
    for (int k = 0; k <= STENCIL_RADIUS; k++) c.second[d][k] = (real)s->second[d][k];
  }
  for (int i = 0; i < STENCIL_TAPS; i++) c.taps[i] = (real)s->taps[i];
  for (int i = 0; i < 2; i++) c.share[i] = (real)s->share[i];
  c.before = stencil_taps_before(s->order);
  c.after = s->order / 4;
  c.center = (real)(s->second[0][0] + s->second[1][0] + s->second[2][0]);
  return c;
}

static inline arguments_general launch_arguments(const kernels_launch *launch, const kernels_call *call) {
  const operation o = operation_describe(call->kind, call->options);
  const unsigned inputs = operation_inputs(&o);
  arguments_general a = {};
  a.c = launch_coefficients(launch);
  for (int i = 0; i < OPERATION_ARRAYS; i++) {
    if (inputs >> i & 1U) a.in[i] = shifted(launch, call->in[i]);
  }
  for (int k = 0; k < OPERATION_OUTPUTS; k++)
    if (operation_stores(&o, k))
      (k < LEAN_OUTPUTS ? a.out[k] : a.further[k - LEAN_OUTPUTS]) = shifted(launch, call->out[k]);
  const void *const tables[3] = {call->tables.x, call->tables.y, call->tables.z};
  for (int d = 0; d < 3; d++) {
    a.table[d] = static_cast<const real *>(tables[d]);
    a.uniform[d] = (real)call->uniform[d];
  }
  for (int i = 0; i < OPERATION_SCALARS; i++) a.scalar[i] = (real)call->scalar[i];
  a.numbers = static_cast<const real *>(call->numbers);
  for (int i = 0; i < OPERATION_WEIGHTS; i++) a.weight[i] = (real)call->weight[i];
  return a;
}

/* Calls use(c), where the type of c has the constant `value`: the one of the list that equals `choice`, or
 * the list's last one. */
template <int FIRST, int... OTHERS, class Use> static auto with_constant(int choice, const Use &use) {
  if constexpr (sizeof...(OTHERS) > 0) {
    if (choice != FIRST) return with_constant<OTHERS...>(choice, use);
  }
  return use(std::integral_constant<int, FIRST>());
}

template <class Use> static auto with_axis(int axis, const Use &use) {
  return with_constant<AXIS_X, AXIS_Y, AXIS_Z>(axis, use);
}

static inline cudaStream_t launch_stream(const kernels_launch *launch) {
  return launch->context->stream[launch->queue];
}

/* Ends a launch that writes its edges only when all of it is done. */
static inline status launch_done(const kernels_launch *launch, const char *name) {
  CHECK(context_launched(launch->context, launch->queue, name));
  return launch->edges == nullptr ? STATUS_OK
                                  : context_event_record(launch->edges, launch->context, launch->queue);
}

#endif
