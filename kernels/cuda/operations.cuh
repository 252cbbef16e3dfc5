#ifndef FDAPP_CUDA_OPERATIONS_CUH
#define FDAPP_CUDA_OPERATIONS_CUH

#include "device.cuh"

/* What the operations compute at a point, apart from how a kernel brings the neighbours. An operation says
 * which lines of neighbours it needs, and from which source. FIELD: lines of f. COMPONENTS: flux lines, v[0]
 * along x, v[1] along y, v[2] along z. FLUX: flux lines, the products of the velocity's components and f,
 * each along its own axis; besides, lines of f if X. */
enum class source { FIELD, COMPONENTS, FLUX };

/* What kind of velocity an operation has. */
enum class velocity { NONE, UNIFORM, STORED, TABLES };

/* Neighbours of a vector of points: x[i] is column i - HALO from the vector's first; y[j], z[j] are the rows
 * and planes j - HALO from the vector's own. */
struct lines {
  real x[VECTOR + 2 * HALO];
  real y[2 * HALO + 1][VECTOR];
  real z[2 * HALO + 1][VECTOR];
};

/* Values at the points themselves. */
struct points {
  real f[VECTOR];
  real velocity[3][VECTOR];
  real added[3][VECTOR];
};

/* What a row of a plane brings to a component of the velocity of tables. */
struct alignas(2 * sizeof(real)) table_pair {
  real product, sum;
};

__device__ __forceinline__ table_pair pair_make(const real *y, const real *z, int component) {
  return {y[component] * z[component], y[3 + component] + z[3 + component]};
}

/* The component at N points of a row, from its table along x there. */
template <int N>
__device__ __forceinline__ void table_line(const real (&x)[N], const table_pair &row, real (&to)[N]) {
#pragma unroll
  for (int i = 0; i < N; i++) to[i] = table_velocity(x[i], row.product, row.sum);
}

__device__ __forceinline__ real first_x(const real *c, const lines &l, int v) {
  const real *x = l.x + v;
  return first_derivative(c, x[0], x[1], x[2], x[3], x[5], x[6], x[7], x[8]);
}

__device__ __forceinline__ real first_y(const real *c, const lines &l, int v) {
  return first_derivative(c, l.y[0][v], l.y[1][v], l.y[2][v], l.y[3][v], l.y[5][v], l.y[6][v], l.y[7][v],
                          l.y[8][v]);
}

__device__ __forceinline__ real first_z(const real *c, const lines &l, int v) {
  return first_derivative(c, l.z[0][v], l.z[1][v], l.z[2][v], l.z[3][v], l.z[5][v], l.z[6][v], l.z[7][v],
                          l.z[8][v]);
}

__device__ __forceinline__ real laplacian_at(const coefficients &c, const lines &l, real center, int v) {
  const real *x = l.x + v;
  real s = 0;
  s = second_pairs(c.second[0], s, x[0], x[1], x[2], x[3], x[5], x[6], x[7], x[8]);
  s = second_pairs(c.second[1], s, l.y[0][v], l.y[1][v], l.y[2][v], l.y[3][v], l.y[5][v], l.y[6][v],
                   l.y[7][v], l.y[8][v]);
  s = second_pairs(c.second[2], s, l.z[0][v], l.z[1][v], l.z[2][v], l.z[3][v], l.z[5][v], l.z[6][v],
                   l.z[7][v], l.z[8][v]);
  return REAL_FMA(c.center, center, s);
}

/* X, Y, Z: lines of f; POINT: the velocity is needed at the point, too; OUTPUTS: arrays written; ADDED: base
 * and extras.
 * Along x a derivative has a kernel of its own, rows.cuh. */
template <int AXIS> struct derivative_operation {
  static constexpr source SOURCE = source::FIELD;
  static constexpr bool X = false, Y = AXIS == AXIS_Y, Z = AXIS == AXIS_Z;
  static constexpr velocity VELOCITY = velocity::NONE;
  static constexpr bool POINT = false;
  static constexpr int OUTPUTS = 1, ADDED = 0;
  static constexpr bool EDGES = false;
  __device__ __forceinline__ static void apply(const arguments &a, const lines &f, const lines &,
                                               const points &, int v, real (&out)[OUTPUTS]) {
    if constexpr (Y) out[0] = first_y(a.c.first[1], f, v);
    if constexpr (Z) out[0] = first_z(a.c.first[2], f, v);
  }
};

struct gradient_operation {
  static constexpr source SOURCE = source::FIELD;
  static constexpr bool X = true, Y = true, Z = true;
  static constexpr velocity VELOCITY = velocity::NONE;
  static constexpr bool POINT = false;
  static constexpr int OUTPUTS = 3, ADDED = 0;
  static constexpr bool EDGES = false;
  __device__ __forceinline__ static void apply(const arguments &a, const lines &f, const lines &,
                                               const points &, int v, real (&out)[OUTPUTS]) {
    out[0] = first_x(a.c.first[0], f, v);
    out[1] = first_y(a.c.first[1], f, v);
    out[2] = first_z(a.c.first[2], f, v);
  }
};

struct laplacian_operation {
  static constexpr source SOURCE = source::FIELD;
  static constexpr bool X = true, Y = true, Z = true;
  static constexpr velocity VELOCITY = velocity::NONE;
  static constexpr bool POINT = false;
  static constexpr int OUTPUTS = 1, ADDED = 0;
  static constexpr bool EDGES = false;
  __device__ __forceinline__ static void apply(const arguments &a, const lines &f, const lines &,
                                               const points &at, int v, real (&out)[OUTPUTS]) {
    out[0] = laplacian_at(a.c, f, at.f[v], v);
  }
};

__device__ __forceinline__ real flux_divergence(const coefficients &c, const lines &g, int v) {
  return divergence_sum(first_x(c.first[0], g, v), first_y(c.first[1], g, v), first_z(c.first[2], g, v));
}

struct divergence_operation {
  static constexpr source SOURCE = source::COMPONENTS;
  static constexpr bool X = false, Y = false, Z = false;
  static constexpr velocity VELOCITY = velocity::NONE;
  static constexpr bool POINT = false;
  static constexpr int OUTPUTS = 1, ADDED = 0;
  static constexpr bool EDGES = false;
  __device__ __forceinline__ static void apply(const arguments &a, const lines &, const lines &g,
                                               const points &, int v, real (&out)[OUTPUTS]) {
    out[0] = flux_divergence(a.c, g, v);
  }
};

/* A uniform velocity has the advective form alone. */
template <velocity FROM, advection_form FORM, bool DIFFUSION, int ADDED_> struct stage_operation {
  static constexpr bool FLUXES = FORM != FORM_ADVECTIVE, GRADIENT = FORM != FORM_CONSERVATIVE;
  static constexpr source SOURCE = FLUXES ? source::FLUX : source::FIELD;
  static constexpr bool X = GRADIENT || DIFFUSION, Y = X, Z = X;
  static constexpr velocity VELOCITY = FROM;
  static constexpr bool POINT = GRADIENT && FROM != velocity::UNIFORM;
  static constexpr int OUTPUTS = 1, ADDED = ADDED_;
  static constexpr bool EDGES = true; /* can be asked to begin with the edges */

  __device__ __forceinline__ static real advect(const arguments &a, const lines &f, const lines &g,
                                                const points &at, int v) {
    if constexpr (!GRADIENT) {
      return flux_divergence(a.c, g, v);
    } else {
      const real dx = first_x(a.c.first[0], f, v);
      const real dy = first_y(a.c.first[1], f, v);
      const real dz = first_z(a.c.first[2], f, v);
      if constexpr (FROM == velocity::UNIFORM) {
        return advective(a.uniform[0], a.uniform[1], a.uniform[2], dx, dy, dz);
      } else {
        const real s = advective(at.velocity[0][v], at.velocity[1][v], at.velocity[2][v], dx, dy, dz);
        if constexpr (!FLUXES) return s;
        return skew(s, flux_divergence(a.c, g, v));
      }
    }
  }

  __device__ __forceinline__ static void apply(const arguments &a, const lines &f, const lines &g,
                                               const points &at, int v, real (&out)[OUTPUTS]) {
    real s = at.f[v];
    if constexpr (ADDED > 0) {
      const real b = at.added[0][v];
      s = blend(b, a.weight_f, at.f[v], b);
#pragma unroll
      for (int i = 1; i < ADDED; i++) s = blend(s, a.weight_extra[i - 1], at.added[i][v], b);
    }
    s = REAL_FMA(a.advection, advect(a, f, g, at, v), s);
    if constexpr (DIFFUSION) s = REAL_FMA(a.diffusion, laplacian_at(a.c, f, at.f[v], v), s);
    out[0] = s;
  }
};

#endif
