#ifndef FDAPP_CUDA_OPERATIONS_CUH
#define FDAPP_CUDA_OPERATIONS_CUH

#include "device.cuh"
#include "operation_traits.h"
#include "operations.h" /* once more: after arithmetic.h it defines the arithmetic */

/* The lowest input of a mask, or OPERATION_NONE. */
constexpr int mask_first(unsigned mask) {
  for (int i = 0; i < OPERATION_ARRAYS; i++) {
    if (mask >> i & 1U) return i;
  }
  return OPERATION_NONE;
}

/* The highest input of a mask. */
constexpr int mask_last(unsigned mask) {
  int last = OPERATION_NONE;
  for (int i = 0; i < OPERATION_ARRAYS; i++) {
    if (mask >> i & 1U) last = i;
  }
  return last;
}

/* The first 12 inputs of a mask one after the other, in 5 bits each: device code cannot index a constexpr
 * array. */
constexpr unsigned long long mask_list(unsigned mask) {
  static_assert(OPERATION_ARRAYS <= 32, "an input's index has 5 bits");
  unsigned long long list = 0;
  for (int i = OPERATION_ARRAYS - 1; i >= 0; i--) {
    if (mask >> i & 1U) list = list << 5 | (unsigned)i;
  }
  return list;
}

/* Neighbours of a vector of points: x[i] is column i - HALO from the vector's first; y[j], z[j] are the rows
 * and planes j - HALO from the vector's own. */
struct lines {
  real x[VECTOR + 2 * HALO];
  real y[2 * HALO + 1][VECTOR];
  real z[2 * HALO + 1][VECTOR];
};

/* Values at the points themselves; `velocity` is used if it comes from tables. */
struct points {
  real input[OPERATION_ARRAYS][VECTOR];
  real velocity[3][VECTOR];
};

/* The part of a velocity component from tables that is constant along a row: the product of the factors of y
 * and z, and the sum. */
struct alignas(2 * sizeof(real)) table_pair {
  real product, sum;
};

__device__ __forceinline__ table_pair pair_make(const real *y, const real *z, int component) {
  return {y[component] * z[component], y[3 + component] + z[3 + component]};
}

/* The component at N points of a row, from its table along x. */
template <int N>
__device__ __forceinline__ void table_line(const real (&x)[N], const table_pair &row, real (&to)[N]) {
#pragma unroll
  for (int i = 0; i < N; i++) to[i] = table_velocity(x[i], row.product, row.sum);
}

template <int AXIS> __device__ __forceinline__ real neighbour(const lines &l, int j, int v) {
  if constexpr (AXIS == AXIS_X) return l.x[v + j];
  if constexpr (AXIS == AXIS_Y) return l.y[j][v];
  return l.z[j][v];
}

template <int AXIS>
__device__ __forceinline__ real first_along(const coefficients &c, const lines &l, int v) {
  return first_derivative(c.first[AXIS], neighbour<AXIS>(l, 0, v), neighbour<AXIS>(l, 1, v),
                          neighbour<AXIS>(l, 2, v), neighbour<AXIS>(l, 3, v), neighbour<AXIS>(l, 5, v),
                          neighbour<AXIS>(l, 6, v), neighbour<AXIS>(l, 7, v), neighbour<AXIS>(l, 8, v));
}

template <int AXIS>
__device__ __forceinline__ real second_along(const coefficients &c, const lines &l, real centre, int v) {
  return second_derivative(c.second[AXIS], neighbour<AXIS>(l, 0, v), neighbour<AXIS>(l, 1, v),
                           neighbour<AXIS>(l, 2, v), neighbour<AXIS>(l, 3, v), centre,
                           neighbour<AXIS>(l, 5, v), neighbour<AXIS>(l, 6, v), neighbour<AXIS>(l, 7, v),
                           neighbour<AXIS>(l, 8, v));
}

template <int AXIS>
__device__ __forceinline__ real even_along(const coefficients &c, const lines &l, real centre, int v) {
  return even_difference(c.dissipation[AXIS], neighbour<AXIS>(l, 0, v), neighbour<AXIS>(l, 1, v),
                         neighbour<AXIS>(l, 2, v), neighbour<AXIS>(l, 3, v), centre, neighbour<AXIS>(l, 5, v),
                         neighbour<AXIS>(l, 6, v), neighbour<AXIS>(l, 7, v), neighbour<AXIS>(l, 8, v));
}

template <int AXIS>
__device__ __forceinline__ real pairs_along(const coefficients &c, real s, const lines &l, int v) {
  return second_pairs(c.second[AXIS], s, neighbour<AXIS>(l, 0, v), neighbour<AXIS>(l, 1, v),
                      neighbour<AXIS>(l, 2, v), neighbour<AXIS>(l, 3, v), neighbour<AXIS>(l, 5, v),
                      neighbour<AXIS>(l, 6, v), neighbour<AXIS>(l, 7, v), neighbour<AXIS>(l, 8, v));
}

__device__ __forceinline__ real laplacian_at(const coefficients &c, const lines &l, real center, int v) {
  real s = 0;
  s = pairs_along<AXIS_X>(c, s, l, v);
  s = pairs_along<AXIS_Y>(c, s, l, v);
  s = pairs_along<AXIS_Z>(c, s, l, v);
  return REAL_FMA(c.center, center, s);
}

/* One of the vector's points; the compiler resolves all of its indices. */
struct operation_point {
  const arguments *a;
  real term[OPERATION_TERMS], input[OPERATION_ARRAYS];
};

ARITHMETIC real point_input(const operation_point *at, int input) {
  return at->input[input];
}

ARITHMETIC real point_term(const operation_point *at, int term) {
  return at->term[term];
}

ARITHMETIC real point_scalar(const operation_point *at, int scalar) {
  return at->a->numbers != nullptr ? at->a->numbers[scalar] : at->a->scalar[scalar];
}

ARITHMETIC real point_weight(const operation_point *at, int weight) {
  return at->a->weight[weight];
}

/* What functions of terms read at (operation_values): a point, or an image of one. */
struct operation_values {
  const arguments *a;
  const geometry *d;
  operation_velocity velocity;
  int first;   /* the first of the inputs that hold a velocity */
  ptrdiff_t i; /* element */
  int p[3];    /* outside the grid if the element is that of an image */
};

ARITHMETIC real value_input(const operation_values *at, int input) {
  return at->a->in[input][at->i];
}

ARITHMETIC real value_velocity(const operation_values *at, int axis) {
  if (at->velocity == VELOCITY_STORED) return value_input(at, at->first + axis);
  if (at->velocity == VELOCITY_UNIFORM) return at->a->uniform[axis];
  const table_pair pair =
      pair_make(at->a->table[1] + at->p[1] * KERNELS_TABLE, at->a->table[2] + at->p[2] * KERNELS_TABLE, axis);
  return table_velocity(at->a->table[0][axis * at->d->table_pitch() + at->p[0]], pair.product, pair.sum);
}

/* An operation with its options, as kernels see it. FIELD, U, V, W: the inputs that are the field and the
 * triple's components, or OPERATION_NONE. OTHERS: number of further inputs, read at the point alone. */
template <operation_kind KIND_, unsigned OPTIONS_> struct op {
  static constexpr operation_kind KIND = KIND_;
  static constexpr unsigned OPTIONS = OPTIONS_;
  static constexpr operation DECLARED = operation_describe(KIND, OPTIONS);
  static constexpr operation_traits HAS = operation_traits_make(&DECLARED);
  static constexpr unsigned POINTS = HAS.points, PARTS = operation_parts(&DECLARED, OPTIONS);
  static constexpr int OWN = operation_own(&DECLARED);
  static constexpr bool EDGES = DECLARED.edges != EDGES_NONE, SENDS = false;
  static constexpr int FIELD = mask_first(HAS.fields);
  static constexpr bool X = HAS.along[0], Y = HAS.along[1], Z = HAS.along[2];
  static constexpr bool TRIPLE = HAS.triple, PRODUCTS = HAS.products;
  static constexpr int U = mask_first(HAS.components[0]), V = mask_first(HAS.components[1]),
                       W = mask_first(HAS.components[2]);
  static constexpr bool COMPONENTS = U != OPERATION_NONE; /* components are stored, not from tables */
  static constexpr bool TABLES = DECLARED.velocity == VELOCITY_TABLES;
  static constexpr bool TABLES_AT_POINT = TABLES && operation_velocity_at_point(&DECLARED);
  static constexpr unsigned OTHERS_MASK =
      POINTS & ~(HAS.fields | HAS.components[0] | HAS.components[1] | HAS.components[2]);
  static constexpr int OTHERS = mask_count(OTHERS_MASK);
  static constexpr unsigned long long OTHERS_LIST = mask_list(OTHERS_MASK);
  static constexpr int OTHERS_LAST = mask_last(OTHERS_MASK);
  static_assert(OTHERS <= 13, "a list has room for 12, and one is the last");

  __host__ __device__ static constexpr bool reads(int input) {
    return input != OPERATION_NONE && (POINTS >> input & 1U);
  }
  __host__ __device__ static constexpr bool stores(int k) {
    return DECLARED.outputs >> k & 1U;
  }
  __host__ __device__ static constexpr int other(int i) {
    return i < 12 ? (int)(OTHERS_LIST >> 5 * i & 31U) : OTHERS_LAST;
  }

  template <int TERM, int AXIS, class Lines>
  __device__ __forceinline__ static real difference(const arguments &a, const Lines &f, const Lines &g,
                                                    const points &p, int v) {
    constexpr operation_term term = operation_describe(KIND, OPTIONS).term[TERM];
    if constexpr (term.along[AXIS] == OPERATION_NONE) return 0;
    constexpr bool field = !term.product && term.along[AXIS] == FIELD;
    if constexpr (term.of == DIFFERENCE_SECOND) return second_along<AXIS>(a.c, f, p.input[FIELD][v], v);
    if constexpr (term.of == DIFFERENCE_DISSIPATION && field)
      return even_along<AXIS>(a.c, f, p.input[FIELD][v], v);
    if constexpr (term.of == DIFFERENCE_DISSIPATION)
      return even_along<AXIS>(a.c, g, p.input[term.along[AXIS]][v], v);
    if constexpr (!field) return first_along<AXIS>(a.c, g, v);
    return first_along<AXIS>(a.c, f, v);
  }

  template <int TERM> __device__ __forceinline__ static real sum(real dx, real dy, real dz) {
    constexpr operation_term term = operation_describe(KIND, OPTIONS).term[TERM];
    constexpr bool x = term.along[0] != OPERATION_NONE, z = term.along[2] != OPERATION_NONE;
    if constexpr (term_axes(&term) == 3) return divergence_sum(dx, dy, dz);
    if constexpr (term_axes(&term) == 2) return divergence_xy(x ? dx : dy, z ? dz : dy);
    return x ? dx : z ? dz : dy;
  }

  __device__ __forceinline__ static real velocity(const arguments &a, const points &p, int d, int v) {
    if constexpr (DECLARED.velocity == VELOCITY_UNIFORM) return a.uniform[d];
    if constexpr (DECLARED.velocity == VELOCITY_TABLES) return p.velocity[d][v];
    return p.input[DECLARED.velocity_input + d][v];
  }

  template <int TERM>
  __device__ __forceinline__ static real factor(const arguments &a, const points &p, int d, int v) {
    constexpr operation_term term = operation_describe(KIND, OPTIONS).term[TERM];
    const real component = velocity(a, p, d, v);
    return term.fold == FOLD_SPEED ? NUMBER_ABS(component) : component;
  }

  template <int TERM, class Lines>
  __device__ __forceinline__ static real term_value(const arguments &a, const Lines &f, const Lines &g,
                                                    const points &p, int v) {
    constexpr operation_term term = operation_describe(KIND, OPTIONS).term[TERM];
    if constexpr (term.fold == FOLD_CHAIN) {
      return laplacian_at(a.c, f, p.input[FIELD][v], v);
    } else {
      const real dx = difference<TERM, AXIS_X>(a, f, g, p, v);
      const real dy = difference<TERM, AXIS_Y>(a, f, g, p, v);
      const real dz = difference<TERM, AXIS_Z>(a, f, g, p, v);
      if constexpr (term.fold == FOLD_SUM) return sum<TERM>(dx, dy, dz);
      return advective(factor<TERM>(a, p, 0, v), factor<TERM>(a, p, 1, v), factor<TERM>(a, p, 2, v), dx, dy,
                       dz);
    }
  }

  /* Computes the terms in use, from TERM on: Laplacians (CHAIN) or all others. */
  template <bool CHAIN, int TERM = 0>
  __device__ __forceinline__ static void terms_set(operation_point &at, const lines &f, const lines &g,
                                                   const points &p, int v) {
    constexpr operation_term term = operation_describe(KIND, OPTIONS).term[TERM];
    if constexpr (operation_has(&DECLARED, TERM) && (term.fold == FOLD_CHAIN) == CHAIN)
      at.term[TERM] = term_value<TERM>(*at.a, f, g, p, v);
    if constexpr (TERM + 1 < OPERATION_TERMS) terms_set<CHAIN, TERM + 1>(at, f, g, p, v);
  }

  /* The outputs on a vector of points, from lines of the field (f), of the triple (g), and values there. */
  __device__ __forceinline__ static void apply(const arguments &a, const lines &f, const lines &g,
                                               const points &p, real (&result)[LEAN_OUTPUTS][VECTOR]) {
#pragma unroll
    for (int v = 0; v < VECTOR; v++) {
      operation_point at;
      at.a = &a;
#pragma unroll
      for (int i = 0; i < OPERATION_ARRAYS; i++) {
        if (reads(i)) at.input[i] = p.input[i][v];
      }
      terms_set<false>(at, f, g, p, v);
      terms_set<true>(at, f, g, p, v); /* last, because fewer registers spill */
#pragma unroll
      for (int k = 0; k < LEAN_OUTPUTS; k++)
        if (stores(k)) result[k][v] = operation_output(KIND, OPTIONS, PARTS, OWN, k, &at);
    }
  }

  /* Loads the inputs that are read at the points of the vector at element i. */
  __device__ __forceinline__ static void points_load(const arguments &a, ptrdiff_t i, points &p) {
#pragma unroll
    for (int k = 0; k < OPERATION_ARRAYS; k++) {
      if (reads(k)) vector_load(a.in[k] + i, p.input[k]);
    }
  }

  __device__ __forceinline__ static void store(const arguments &a, ptrdiff_t i,
                                               const real (&result)[LEAN_OUTPUTS][VECTOR]) {
#pragma unroll
    for (int k = 0; k < LEAN_OUTPUTS; k++)
      if (stores(k)) vector_store(a.out[k] + i, result[k]);
  }
};

/* The operation in a kernel that sends its edges to the neighbours itself, which costs registers
 * (sending.cuh).
 */
template <class Op> struct sending : Op { static constexpr bool SENDS = true; };

#endif
