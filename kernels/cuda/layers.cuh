#ifndef FDAPP_CUDA_LAYERS_CUH
#define FDAPP_CUDA_LAYERS_CUH

#include "direct.cuh"
#include "layer_places.cuh"
#include "penalties.cuh"

/* The kernel for layers of points beside the ends of axes. A thread owns one vector of a row, on each of a
 * few planes. Along axes in whose layer its points lie, differences are sums of closure rows (closure_add);
 * along the others they are the interior ones. Neighbours are read through the L1 cache. Compiled for an
 * operation with all of its additions, and again with those alone that bring no terms. Additions that a call
 * does not use have no inputs and no terms. */

/* The differences of the field, or of the triple, at the points of a vector: what an operation needs of
 * lines. */
struct differences {
  real first[3][VECTOR], second[3][VECTOR], even[3][VECTOR]; /* along each axis */
  real chain[VECTOR]; /* second differences, summed over the axes so far, without the centre's part */
  int inside[VECTOR]; /* the set of axes along which pairs of neighbours were added to `chain` */
  const real *center; /* layer_ends.centre */
};

template <int AXIS>
__device__ __forceinline__ real first_along(const coefficients &, const differences &l, int v) {
  return l.first[AXIS][v];
}

template <int AXIS>
__device__ __forceinline__ real second_along(const coefficients &, const differences &l, real, int v) {
  return l.second[AXIS][v];
}

template <int AXIS>
__device__ __forceinline__ real even_along(const coefficients &, const differences &l, real, int v) {
  return l.even[AXIS][v];
}

__device__ __forceinline__ real laplacian_at(const coefficients &, const differences &l, real center, int v) {
  return REAL_FMA(l.center[l.inside[v]], center, l.chain[v]);
}

/* Mask of the differences that an operation has along an axis; with `of`, only those of that input. */
constexpr unsigned differences_along(const operation &o, int axis, int of = OPERATION_NONE) {
  unsigned mask = 0;
  for (int t = 0; t < OPERATION_TERMS; t++) {
    const int input = o.term[t].along[axis];
    if (operation_has(&o, t) && input != OPERATION_NONE && (of == OPERATION_NONE || of == input))
      mask |= OPERATION_BIT(o.term[t].of);
  }
  return mask;
}

template <class Op> struct layer {
  using interior = direct<Op>;
  static constexpr unsigned ALL = (1U << VECTOR) - 1;

  /* Even differences of the field along an axis, and the dissipation of the triple's component. */
  template <int AXIS>
  static constexpr unsigned DIFFERENCED = differences_along(Op::DECLARED, AXIS, Op::FIELD);
  template <int AXIS, int OF> static constexpr bool HAS = (DIFFERENCED<AXIS> >> OF & 1U) != 0;
  template <int AXIS>
  static constexpr int COMPONENT = AXIS == AXIS_X   ? Op::U
                                   : AXIS == AXIS_Y ? Op::V
                                                    : Op::W;
  template <int AXIS>
  static constexpr bool
      DAMPS = Op::COMPONENTS &&
              (differences_along(Op::DECLARED, AXIS, COMPONENT<AXIS>) >> DIFFERENCE_DISSIPATION & 1U) != 0;

  /* Products of two ints, because the compiler makes one instruction of each. */
  __device__ __forceinline__ static ptrdiff_t plane(const geometry &d, int z) {
    return (ptrdiff_t)z * d.units * (KERNELS_PLANE_UNIT / (int)sizeof(real));
  }
  __device__ __forceinline__ static ptrdiff_t element(const geometry &d, int x, int y, int z) {
    return (plane(d, z) + x) + (ptrdiff_t)y * d.ldx;
  }

  /* The indices of `images`, by a shorter way for most points. */
  __device__ __forceinline__ static void around(int i, kernels_planes stored, int n,
                                                int (&to)[2 * HALO + 1]) {
    if (i >= stored.z0 + HALO && i < stored.z1 - HALO) {
#pragma unroll
      for (int k = 0; k < 2 * HALO + 1; k++) to[k] = i - HALO + k;
    } else {
      images(i - HALO, stored, n, to);
    }
  }

  /* Interior differences along an axis at the points in the mask `where`. */
  template <int AXIS>
  __device__ __forceinline__ static void inside(const arguments &a, const layer_work &w, const lines &f,
                                                const lines &g, const points &p, unsigned where,
                                                differences &of_f, differences &of_g) {
#pragma unroll
    for (int v = 0; v < VECTOR; v++) {
      if (!(where >> v & 1U)) continue;
      of_f.first[AXIS][v] = first_along<AXIS>(a.c, f, v);
      of_g.first[AXIS][v] = first_along<AXIS>(a.c, g, v);
      if constexpr (HAS<AXIS, DIFFERENCE_DISSIPATION>) {
        if (w.uses(DIFFERENCE_DISSIPATION))
          of_f.even[AXIS][v] = even_along<AXIS>(a.c, f, p.input[Op::FIELD][v], v);
      }
      if constexpr (DAMPS<AXIS>)
        of_g.even[AXIS][v] = even_along<AXIS>(a.c, g, p.input[COMPONENT<AXIS>][v], v);
      if constexpr (HAS<AXIS, DIFFERENCE_SECOND>) {
        if (w.uses(DIFFERENCE_SECOND)) {
          of_f.second[AXIS][v] = second_along<AXIS>(a.c, f, p.input[Op::FIELD][v], v);
          of_f.chain[v] = pairs_along<AXIS>(a.c, of_f.chain[v], f, v);
        }
      }
      of_f.inside[v] |= 1 << AXIS;
    }
  }

  /* Sum of a row. The widest closure has a loop without tests. */
  __device__ __forceinline__ static real row_sum(const layer_work &w, const real *row,
                                                 const real (&value)[CLOSURE_WIDTH], real center) {
    real weight[CLOSURE_WIDTH], sum = 0;
    vectors_load(row, weight);
    if (w.ends.width == CLOSURE_WIDTH) {
#pragma unroll
      for (int j = 0; j < CLOSURE_WIDTH; j++) sum = closure_add(sum, weight[j], value[j], center);
    } else {
#pragma unroll
      for (int j = 0; j < CLOSURE_WIDTH - 1; j++) {
        if (j < w.ends.width) sum = closure_add(sum, weight[j], value[j], center);
      }
    }
    return sum;
  }

  /* Differences by a row of a closure along an axis at point v. f, g: the values of the row's points. */
  template <int AXIS>
  __device__ __forceinline__ static void closed(const layer_work &w, int row, int high,
                                                const real (&f)[CLOSURE_WIDTH],
                                                const real (&g)[CLOSURE_WIDTH], real center_f, real center_g,
                                                int v, differences &of_f, differences &of_g) {
    const real *first = layer_coefficients(&w.ends, AXIS, high, DIFFERENCE_FIRST, row);
    of_f.first[AXIS][v] = row_sum(w, first, f, center_f);
    of_g.first[AXIS][v] = row_sum(w, first, g, center_g);
    if (HAS<AXIS, DIFFERENCE_DISSIPATION> && w.uses(DIFFERENCE_DISSIPATION))
      of_f.even[AXIS][v] =
          row_sum(w, layer_coefficients(&w.ends, AXIS, high, DIFFERENCE_DISSIPATION, row), f, center_f);
    if (DAMPS<AXIS>)
      of_g.even[AXIS][v] =
          row_sum(w, layer_coefficients(&w.ends, AXIS, high, DIFFERENCE_DISSIPATION, row), g, center_g);
    if (HAS<AXIS, DIFFERENCE_SECOND> && w.uses(DIFFERENCE_SECOND)) {
      of_f.second[AXIS][v] =
          row_sum(w, layer_coefficients(&w.ends, AXIS, high, DIFFERENCE_SECOND, row), f, center_f);
      of_f.chain[v] = of_f.chain[v] + of_f.second[AXIS][v];
    }
  }

  /* Along y or z all points of a vector have the same row. */
  template <int AXIS>
  __device__ __forceinline__ static void row_close(const arguments &a, const geometry &d, const layer_work &w,
                                                   int x, int y, int z, differences &of_f,
                                                   differences &of_g) {
    real f[VECTOR][CLOSURE_WIDTH], g[VECTOR][CLOSURE_WIDTH], center_f[VECTOR] = {}, center_g[VECTOR] = {};
    int high;
    const int row = layer_row(&w.ends, AXIS, AXIS == AXIS_Y ? y : z, &high);
    interior::template vectors_at<AXIS>(a, d, x, y, z, element(d, x, y, z), center_f, center_g);
#pragma unroll
    for (int j = 0; j < CLOSURE_WIDTH; j++) {
      const int at = w.point_at(AXIS, high, j);
      const int to_y = AXIS == AXIS_Y ? at : y, to_z = AXIS == AXIS_Z ? at : z;
      real at_f[VECTOR] = {}, at_g[VECTOR] = {};
      interior::template vectors_at<AXIS>(a, d, x, to_y, to_z, element(d, x, to_y, to_z), at_f, at_g);
#pragma unroll
      for (int v = 0; v < VECTOR; v++) {
        f[v][j] = at_f[v];
        g[v][j] = at_g[v];
      }
    }
#pragma unroll
    for (int v = 0; v < VECTOR; v++)
      closed<AXIS>(w, row, high, f[v], g[v], center_f[v], center_g[v], v, of_f, of_g);
  }

  /* Loads what the rows of an end of x read of a row, from the end inwards. */
  __device__ __forceinline__ static void columns_load(const geometry &d, const layer_work &w, int high,
                                                      const real *row, real (&to)[CLOSURE_WIDTH]) {
    if (d.nx % VECTOR == 0) {
      real upwards[CLOSURE_WIDTH];
      vectors_load(row + (high ? d.nx - CLOSURE_WIDTH : 0), upwards);
#pragma unroll
      for (int j = 0; j < CLOSURE_WIDTH; j++) to[j] = high ? upwards[CLOSURE_WIDTH - 1 - j] : upwards[j];
    } else {
#pragma unroll
      for (int j = 0; j < CLOSURE_WIDTH; j++) to[j] = row[w.point_at(AXIS_X, high, j)];
    }
  }

  /* Along x each point has a row of its own. Returns the mask of the points that are in a layer. */
  __device__ __forceinline__ static unsigned columns_close(const arguments &a, const geometry &d,
                                                           const layer_work &w, int x, int y, int z,
                                                           differences &of_f, differences &of_g) {
    const ptrdiff_t start = element(d, 0, y, z);
    unsigned all = 0;
#pragma unroll 1
    for (int end = 0; end < 2; end++) {
      int row[VECTOR];
      unsigned here = 0;
#pragma unroll
      for (int v = 0; v < VECTOR; v++) {
        int high;
        row[v] = layer_row(&w.ends, AXIS_X, x + v, &high);
        here |= (row[v] >= 0 && high == end ? 1U : 0U) << v;
      }
      if (here == 0) continue;
      all |= here;
      real f[CLOSURE_WIDTH] = {}, g[CLOSURE_WIDTH] = {}, center_f[VECTOR] = {}, center_g[VECTOR] = {};
      interior::template vectors_at<AXIS_X>(a, d, x, y, z, start + x, center_f, center_g);
      if constexpr (Op::X || Op::PRODUCTS) columns_load(d, w, end, a.in[Op::FIELD] + start, f);
      if constexpr (Op::PRODUCTS && Op::TABLES) {
        real columns[CLOSURE_WIDTH];
        columns_load(d, w, end, a.table[0], columns);
        table_line(columns, interior::pair(a, y, z, AXIS_X), g);
      }
      if constexpr (Op::COMPONENTS) columns_load(d, w, end, a.in[Op::U] + start, g);
#pragma unroll
      for (int j = 0; Op::PRODUCTS && j < CLOSURE_WIDTH; j++) g[j] *= f[j];
#pragma unroll
      for (int v = 0; v < VECTOR; v++) {
        if (here >> v & 1U) closed<AXIS_X>(w, row[v], end, f, g, center_f[v], center_g[v], v, of_f, of_g);
      }
    }
    return all;
  }

  /* Differences along x and y. Axes that the operation does not difference cost nothing: the compiler removes
   * results that are not used. */
  __device__ __forceinline__ static void x_differences(const arguments &a, const geometry &d,
                                                       const layer_work &w, int x, int y, int z, lines &f,
                                                       lines &g, const points &p, differences &of_f,
                                                       differences &of_g) {
    const unsigned in_layer = w.ends.bounded[AXIS_X] ? columns_close(a, d, w, x, y, z, of_f, of_g) : 0;
    if (in_layer == ALL) return;
    interior::x_lines(a, d, x, y, z, plane(d, z), f, g);
    inside<AXIS_X>(a, w, f, g, p, ~in_layer, of_f, of_g);
  }

  __device__ __forceinline__ static void y_differences(const arguments &a, const geometry &d,
                                                       const layer_work &w, int x, int y, int z, lines &f,
                                                       lines &g, const points &p, differences &of_f,
                                                       differences &of_g) {
    int high;
    if (layer_row(&w.ends, AXIS_Y, y, &high) >= 0) {
      row_close<AXIS_Y>(a, d, w, x, y, z, of_f, of_g);
    } else {
      int rows[2 * HALO + 1];
      around(y, {0, d.ny}, d.ny, rows);
#pragma unroll
      for (int j = 0; j < 2 * HALO + 1; j++) {
        if (j != HALO)
          interior::template vectors_at<AXIS_Y>(a, d, x, y + j - HALO, z, element(d, x, rows[j], z), f.y[j],
                                                g.y[j]);
      }
      inside<AXIS_Y>(a, w, f, g, p, ALL, of_f, of_g);
    }
  }

  /* The velocity along an axis at one point. */
  __device__ __forceinline__ static real velocity(const arguments &a, const geometry &d, int axis,
                                                  const int p[3]) {
    constexpr operation o = Op::DECLARED;
    if constexpr (o.velocity == VELOCITY_STORED)
      return a.in[o.velocity_input + axis][element(d, p[0], p[1], p[2])];
    if constexpr (o.velocity == VELOCITY_TABLES) {
      const table_pair row = interior::pair(a, p[1], p[2], axis);
      return table_velocity(a.table[0][axis * d.table_pitch() + p[0]], row.product, row.sum);
    }
    return a.uniform[axis];
  }

  /* Returns true if a point of the vector at x, y, z gets penalties: few do. */
  __device__ __forceinline__ static bool penalized(const geometry &d, const layer_work &w, int x, int y,
                                                   int z) {
    const bool x_end = x < w.touched || x + VECTOR > d.nx - w.touched;
    return (w.ends.bounded[AXIS_X] && x_end) || w.touches(AXIS_Y, y) || w.touches(AXIS_Z, z);
  }

  /* Adds the penalties at a point to output k. */
  __device__ __forceinline__ static real penalize(const arguments &a, const geometry &d, const layer_work &w,
                                                  const int p[3], int k, real result) {
    if (k == 0 && w.ends.enters) {
      real along[3];
#pragma unroll
      for (int axis = 0; axis < 3; axis++) {
        int high;
        along[axis] = layer_row(&w.ends, axis, p[axis], &high) == 0 ? velocity(a, d, axis, p) : 0;
      }
      result = layer_enter(&w.ends, p, along, a.in[0], result);
    }
    return w.ends.couples ? layer_couple(&w.ends, p, Op::DECLARED.outputs, k, result) : result;
  }

  template <int TERM = 0>
  __device__ __forceinline__ static void terms_set(operation_point &at, unsigned terms, const differences &f,
                                                   const differences &g, const points &p, int v) {
    if constexpr (operation_has(&Op::DECLARED, TERM)) {
      at.term[TERM] = 0;
      if (terms >> TERM & 1U) at.term[TERM] = Op::template term_value<TERM>(*at.a, f, g, p, v);
    }
    if constexpr (TERM + 1 < OPERATION_TERMS) terms_set<TERM + 1>(at, terms, f, g, p, v);
  }

  __device__ __forceinline__ static void points_load(const arguments &a, ptrdiff_t i, points &p) {
#pragma unroll
    for (int k = 0; k < OPERATION_INPUTS; k++) {
      if (Op::reads(k) && a.in[k] != nullptr) vector_load(a.in[k] + i, p.input[k]);
    }
  }

  /* Computes and stores the outputs on a vector from its differences. */
  __device__ __forceinline__ static void finish(const arguments &a, const geometry &d, const layer_work &w,
                                                int x, int y, int z, const points &p, const differences &f,
                                                const differences &g) {
    const bool penalized_here = penalized(d, w, x, y, z);
    real result[OPERATION_OUTPUTS][VECTOR];
#pragma unroll
    for (int v = 0; v < VECTOR; v++) {
      operation_point at;
      at.a = &a;
#pragma unroll
      for (int k = 0; k < OPERATION_INPUTS; k++) {
        if (Op::reads(k)) at.input[k] = p.input[k][v];
      }
      terms_set(at, w.terms, f, g, p, v);
#pragma unroll
      for (int k = 0; k < OPERATION_OUTPUTS; k++) {
        if (!Op::stores(k) || a.out[k] == nullptr) continue;
        result[k][v] = operation_finish(Op::KIND, w.options, k, &at);
        const int place[3] = {x + v, y, z};
        if (penalized_here && x + v < d.nx) result[k][v] = penalize(a, d, w, place, k, result[k][v]);
      }
    }
#pragma unroll
    for (int k = 0; k < OPERATION_OUTPUTS; k++) {
      if (Op::stores(k) && a.out[k] != nullptr) vector_store(a.out[k] + element(d, x, y, z), result[k]);
    }
  }

  __device__ __forceinline__ static void z_differences(const arguments &a, const geometry &d,
                                                       const layer_work &w, int x, int y, int z, lines &f,
                                                       lines &g, const points &p, differences &of_f,
                                                       differences &of_g) {
    int high;
    if (layer_row(&w.ends, AXIS_Z, z, &high) >= 0) {
      row_close<AXIS_Z>(a, d, w, x, y, z, of_f, of_g);
      return;
    }
    int planes[2 * HALO + 1];
    around(z, d.memory, d.nz, planes);
#pragma unroll
    for (int k = 0; k < 2 * HALO + 1; k++)
      interior::template vectors_at<AXIS_Z>(a, d, x, y, z - HALO + k, element(d, x, y, planes[k]), f.z[k],
                                            g.z[k]);
    inside<AXIS_Z>(a, w, f, g, p, ALL, of_f, of_g);
  }
};

template <class Op>
__global__ void __launch_bounds__(LAYER_THREADS, 4)
    layers_kernel(const __grid_constant__ arguments a, const geometry d,
                  const __grid_constant__ layer_work w) {
  using use = layer<Op>;
  layer_place at;
  if (!layer_find(w, at)) return;
#pragma unroll 1
  for (int z = at.z0; z < at.z1; z++) {
    differences of_f = {}, of_g = {};
    lines f = {}, g = {}; /* of one axis at a time */
    points p;
    of_f.center = w.ends.centre;
    use::points_load(a, use::element(d, at.x, at.y, z), p);
    use::interior::table_point(a, d, at.x, at.y, z, p);
    use::x_differences(a, d, w, at.x, at.y, z, f, g, p, of_f, of_g);
    use::y_differences(a, d, w, at.x, at.y, z, f, g, p, of_f, of_g);
    use::z_differences(a, d, w, at.x, at.y, z, f, g, p, of_f, of_g);
    use::finish(a, d, w, at.x, at.y, z, p, of_f, of_g);
  }
}

#endif
