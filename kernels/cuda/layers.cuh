#ifndef FDAPP_CUDA_LAYERS_CUH
#define FDAPP_CUDA_LAYERS_CUH

#include "general.cuh"

/* The kernel for layers of points beside the ends of axes. A thread goes from point to point along an axis.
 * Along axes in whose layer a point lies, differences are sums of closure rows (closure_add); along the
 * others they are the interior ones. Neighbours are read through the L1 cache. A thread computes one point at
 * a time and not a vector: layers wait for loads, and so few registers let all loads of a point be on their
 * way at once, in many warps (docs/explanation/performance.md, "Layers beside open ends").
 *
 * Compiled for an operation with all of its additions, and again with those alone that bring no terms.
 * Additions that a call does not use have no inputs and no terms. */

/* The differences of the field, or of the triple, at a point: what an operation needs of lines. */
struct differences {
  real first[3], second[3], even[3]; /* along each axis */
  real chain;         /* second differences, summed over the axes so far, without the centre's part */
  int inside;         /* the set of axes along which pairs of neighbours were added to `chain` */
  const real *center; /* layer_ends.centre */
};

template <int AXIS>
__device__ __forceinline__ real first_along(const coefficients &, const differences &l, int) {
  return l.first[AXIS];
}

template <int AXIS>
__device__ __forceinline__ real second_along(const coefficients &, const differences &l, real, int) {
  return l.second[AXIS];
}

template <int AXIS>
__device__ __forceinline__ real even_along(const coefficients &, const differences &l, real, int) {
  return l.even[AXIS];
}

__device__ __forceinline__ real laplacian_at(const coefficients &, const differences &l, real center, int) {
  return REAL_FMA(l.center[l.inside], center, l.chain);
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

/* Values on a line along an axis: of the field, and of the triple's component. */
template <int N> struct line_values { real f[N], g[N]; };

/* ONLY: the axis in whose layer alone the points lie. On the other axes their neighbours are then stored
 * where they are, and no image is looked for. Or SEVERAL: any points. WIDEST: the closure has the widest
 * rows. */
template <class Op, int ONLY, bool WIDEST> struct layer {
  static constexpr bool ANY = ONLY == SEVERAL;
  static constexpr int MARCH = layer_march(ONLY); /* a thread's points follow one another along this axis */
  using neighbours = line_values<2 * HALO + 1>;   /* HALO points before a point, itself, HALO after it */
  using row_values = line_values<CLOSURE_WIDTH>;  /* what the rows of an end read, from the end inwards */

  const arguments &a;
  const geometry &d;
  const layer_work &w;
  /* What a thread keeps from point to point, unless ANY: if it goes along ONLY, the values of its line;
   * otherwise a window along the march, and the first derivative's coefficients of its row. */
  row_values row;
  neighbours window;
  real weight[CLOSURE_WIDTH];

  /* The differences of the field along an axis, and the dissipation of the triple's component. */
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

  __device__ __forceinline__ layer(const arguments &a_, const geometry &d_, const layer_work &w_)
      : a(a_), d(d_), w(w_) {}

  /* Elements from point to point along an axis. Products of two ints, because the compiler makes one
   * instruction of each. */
  template <int AXIS> __device__ __forceinline__ ptrdiff_t steps(int n) const {
    if constexpr (AXIS == AXIS_X) return n;
    if constexpr (AXIS == AXIS_Y) return (ptrdiff_t)n * d.ldx;
    return (ptrdiff_t)n * d.units * (KERNELS_PLANE_UNIT / (int)sizeof(real));
  }
  __device__ __forceinline__ ptrdiff_t element(const int p[3]) const {
    return (steps<AXIS_Z>(p[2]) + p[0]) + steps<AXIS_Y>(p[1]);
  }

  /* The velocity along an axis from tables. */
  __device__ __forceinline__ real table_value(int axis, int x, int y, int z) const {
    const table_pair pair = direct<Op>::pair(a, y, z, axis);
    return table_velocity(a.table[0][axis * d.table_pitch() + x], pair.product, pair.sum);
  }

  /* Loads value j of a line along an axis: the element `offset` from i. Tables are read at the line's point
   * whose index is `at`, which lies outside the grid if the element is that of a periodic image. */
  template <int AXIS, int N>
  __device__ __forceinline__ void value_load(const int p[3], int at, ptrdiff_t i, ptrdiff_t offset, int j,
                                             line_values<N> &to) const {
    constexpr bool FIELD = AXIS == AXIS_X ? Op::X : AXIS == AXIS_Y ? Op::Y : Op::Z;
    if constexpr (FIELD || Op::PRODUCTS) to.f[j] = (a.in[Op::FIELD] + i)[offset];
    if constexpr (Op::PRODUCTS && Op::TABLES)
      to.g[j] = table_value(AXIS, AXIS == AXIS_X ? at : p[0], AXIS == AXIS_Y ? at : p[1],
                            AXIS == AXIS_Z ? at : p[2]);
    if constexpr (Op::COMPONENTS) to.g[j] = (a.in[COMPONENT<AXIS>] + i)[offset];
    if constexpr (Op::PRODUCTS) to.g[j] *= to.f[j];
  }

  /* Interior differences along an axis. */
  template <int AXIS>
  __device__ __forceinline__ void inside(const neighbours &l, const points &p, differences &of_f,
                                         differences &of_g) const {
    const real(&f)[2 * HALO + 1] = l.f, (&g)[2 * HALO + 1] = l.g;
    const coefficients &c = a.c;
    of_f.first[AXIS] = first_derivative(c.first[AXIS], f[0], f[1], f[2], f[3], f[5], f[6], f[7], f[8]);
    of_g.first[AXIS] = first_derivative(c.first[AXIS], g[0], g[1], g[2], g[3], g[5], g[6], g[7], g[8]);
    if constexpr (HAS<AXIS, DIFFERENCE_DISSIPATION>) {
      if (w.uses(DIFFERENCE_DISSIPATION))
        of_f.even[AXIS] = even_difference(c.dissipation[AXIS], f[0], f[1], f[2], f[3], p.input[Op::FIELD][0],
                                          f[5], f[6], f[7], f[8]);
    }
    if constexpr (DAMPS<AXIS>)
      of_g.even[AXIS] = even_difference(c.dissipation[AXIS], g[0], g[1], g[2], g[3],
                                        p.input[COMPONENT<AXIS>][0], g[5], g[6], g[7], g[8]);
    if constexpr (HAS<AXIS, DIFFERENCE_SECOND>) {
      if (w.uses(DIFFERENCE_SECOND)) {
        of_f.second[AXIS] = second_derivative(c.second[AXIS], f[0], f[1], f[2], f[3], p.input[Op::FIELD][0],
                                              f[5], f[6], f[7], f[8]);
        of_f.chain = second_pairs(c.second[AXIS], of_f.chain, f[0], f[1], f[2], f[3], f[5], f[6], f[7], f[8]);
      }
    }
    of_f.inside |= 1 << AXIS;
  }

  /* Sum of a row. The widest closure has a loop without tests. */
  __device__ __forceinline__ real row_sum(const real (&weights)[CLOSURE_WIDTH],
                                          const real (&value)[CLOSURE_WIDTH], real center) const {
    real sum = 0;
    if (WIDEST || w.ends.width == CLOSURE_WIDTH) {
#pragma unroll
      for (int j = 0; j < CLOSURE_WIDTH; j++) sum = closure_add(sum, weights[j], value[j], center);
    } else {
#pragma unroll
      for (int j = 0; j < CLOSURE_WIDTH - 1; j++) {
        if (j < w.ends.width) sum = closure_add(sum, weights[j], value[j], center);
      }
    }
    return sum;
  }

  /* Loads the coefficients of a row for a difference. */
  __device__ __forceinline__ void weights_load(int axis, int high, int of, int number,
                                               real (&to)[CLOSURE_WIDTH]) const {
    vectors_load(layer_coefficients(&w.ends, axis, high, of, number), to);
  }

  /* Differences by a row of a closure along an axis, from the values l of its points and those at the point
   * itself. first: the coefficients of the first derivative. */
  template <int AXIS>
  __device__ __forceinline__ void close(int number, int high, const real (&first)[CLOSURE_WIDTH],
                                        const row_values &l, const line_values<1> &own, differences &of_f,
                                        differences &of_g) const {
    of_f.first[AXIS] = row_sum(first, l.f, own.f[0]);
    of_g.first[AXIS] = row_sum(first, l.g, own.g[0]);
    real weights[CLOSURE_WIDTH];
    if ((HAS<AXIS, DIFFERENCE_DISSIPATION> && w.uses(DIFFERENCE_DISSIPATION)) || DAMPS<AXIS>) {
      weights_load(AXIS, high, DIFFERENCE_DISSIPATION, number, weights);
      if constexpr (HAS<AXIS, DIFFERENCE_DISSIPATION>) of_f.even[AXIS] = row_sum(weights, l.f, own.f[0]);
      if constexpr (DAMPS<AXIS>) of_g.even[AXIS] = row_sum(weights, l.g, own.g[0]);
    }
    if (HAS<AXIS, DIFFERENCE_SECOND> && w.uses(DIFFERENCE_SECOND)) {
      weights_load(AXIS, high, DIFFERENCE_SECOND, number, weights);
      of_f.second[AXIS] = row_sum(weights, l.f, own.f[0]);
      of_f.chain = of_f.chain + of_f.second[AXIS];
    }
  }

  /* Loads what the rows of an end read on the line through point p, which is element i. */
  template <int AXIS>
  __device__ __forceinline__ void row_load(const int p[3], ptrdiff_t i, int high, row_values &to) const {
    const int end = w.end_of(AXIS, high), sign = high ? -1 : 1;
    const ptrdiff_t first = i + steps<AXIS>(end - p[AXIS]), step = steps<AXIS>(sign);
#pragma unroll
    for (int j = 0; j < CLOSURE_WIDTH; j++) {
      const int n = WIDEST ? j : min(j, w.ends.width - 1); /* beyond the width the last point once more */
      value_load<AXIS>(p, end + sign * n, first, n * step, j, to);
    }
  }

  template <int AXIS>
  __device__ __forceinline__ void differences_closed(const int p[3], ptrdiff_t i, int number, int high,
                                                     differences &of_f, differences &of_g) const {
    line_values<1> own = {};
    row_values here = {};
    real first[CLOSURE_WIDTH];
    value_load<AXIS>(p, p[AXIS], i, 0, 0, own);
    if constexpr (ANY || MARCH != AXIS) row_load<AXIS>(p, i, high, here);
    if constexpr (ANY || MARCH == AXIS) weights_load(AXIS, high, DIFFERENCE_FIRST, number, first);
    if constexpr (ANY) {
      close<AXIS>(number, high, first, here, own, of_f, of_g);
    } else if constexpr (MARCH == AXIS) {
      close<AXIS>(number, high, first, row, own, of_f, of_g);
    } else {
      close<AXIS>(number, high, weight, here, own, of_f, of_g);
    }
  }

  template <int AXIS>
  __device__ __forceinline__ void differences_open(const int p[3], ptrdiff_t i, const points &at,
                                                   differences &of_f, differences &of_g) const {
    if constexpr (!ANY && MARCH == AXIS) {
      inside<AXIS>(window, at, of_f, of_g);
    } else {
      neighbours l = {};
      int image[2 * HALO + 1];
      if constexpr (ANY) {
        const int n = AXIS == AXIS_X ? d.nx : AXIS == AXIS_Y ? d.ny : d.nz;
        images(p[AXIS] - HALO, AXIS == AXIS_Z ? d.memory : kernels_planes{0, n}, n, image);
      }
#pragma unroll
      for (int k = 0; k < 2 * HALO + 1; k++) {
        if (k == HALO) continue;
        const ptrdiff_t offset = ANY ? steps<AXIS>(image[k] - p[AXIS]) : (k - HALO) * steps<AXIS>(1);
        value_load<AXIS>(p, p[AXIS] + k - HALO, i, offset, k, l);
      }
      inside<AXIS>(l, at, of_f, of_g);
    }
  }

  /* Differences along an axis at point p, element i. */
  template <int AXIS>
  __device__ __forceinline__ void differences_along_axis(const int p[3], ptrdiff_t i, const points &at,
                                                         differences &of_f, differences &of_g) const {
    int high = 0;
    const int number = ANY || ONLY == AXIS ? layer_row(&w.ends, AXIS, p[AXIS], &high) : -1;
    if (ONLY == AXIS || (ANY && number >= 0)) {
      differences_closed<AXIS>(p, i, number, high, of_f, of_g);
    } else {
      differences_open<AXIS>(p, i, at, of_f, of_g);
    }
  }

  /* Loads what is kept from point p, element i, on. */
  __device__ __forceinline__ void begin(const int p[3], ptrdiff_t i) {
    if constexpr (!ANY) {
      int high;
      const int number = layer_row(&w.ends, ONLY, p[ONLY], &high);
      if constexpr (ONLY == MARCH) {
        row_load<ONLY>(p, i, high, row);
      } else {
        weights_load(ONLY, high, DIFFERENCE_FIRST, number, weight);
#pragma unroll
        for (int k = 0; k < 2 * HALO; k++)
          value_load<MARCH>(p, p[MARCH] + k - HALO, i, (k - HALO) * steps<MARCH>(1), k + 1, window);
      }
    }
  }

  /* Moves the window to point p, element i. */
  __device__ __forceinline__ void window_move(const int p[3], ptrdiff_t i) {
    if constexpr (!ANY && ONLY != MARCH) {
#pragma unroll
      for (int k = 0; k < 2 * HALO; k++) {
        window.f[k] = window.f[k + 1];
        window.g[k] = window.g[k + 1];
      }
      value_load<MARCH>(p, p[MARCH] + HALO, i, HALO * steps<MARCH>(1), 2 * HALO, window);
    }
  }

  /* The velocity along an axis at one point. */
  __device__ __forceinline__ real velocity(int axis, const int p[3]) const {
    constexpr operation o = Op::DECLARED;
    if constexpr (o.velocity == VELOCITY_STORED) return a.in[o.velocity_input + axis][element(p)];
    if constexpr (o.velocity == VELOCITY_TABLES) return table_value(axis, p[0], p[1], p[2]);
    return a.uniform[axis];
  }

  /* Returns true if point p gets penalties: few do. */
  __device__ __forceinline__ bool penalized(const int p[3]) const {
    if constexpr (!ANY) return w.touches(ONLY, p[ONLY]);
    return w.touches(AXIS_X, p[0]) || w.touches(AXIS_Y, p[1]) || w.touches(AXIS_Z, p[2]);
  }

  template <int TERM = 0>
  __device__ __forceinline__ static void terms_set(operation_point &at, unsigned terms, const differences &f,
                                                   const differences &g, const points &p) {
    if constexpr (operation_has(&Op::DECLARED, TERM)) {
      at.term[TERM] = 0;
      if (terms >> TERM & 1U) at.term[TERM] = Op::template term_value<TERM>(*at.a, f, g, p, 0);
    }
    if constexpr (TERM + 1 < OPERATION_TERMS) terms_set<TERM + 1>(at, terms, f, g, p);
  }

  /* Loads what is read at the point alone, element i, into the first values of the vectors. */
  __device__ __forceinline__ void point_load(const int p[3], ptrdiff_t i, points &at) const {
#pragma unroll
    for (int k = 0; k < OPERATION_ARRAYS; k++) {
      if (Op::reads(k) && a.in[k] != nullptr) at.input[k][0] = a.in[k][i];
    }
    if constexpr (Op::TABLES_AT_POINT) {
#pragma unroll
      for (int k = 0; k < 3; k++) at.velocity[k][0] = velocity(k, p);
    }
  }

  /* Computes and stores the outputs at point p, element i. */
  __device__ __forceinline__ void point_compute(const int p[3], ptrdiff_t i) const {
    differences of_f = {}, of_g = {};
    points values;
    of_f.center = w.ends.centre;
    point_load(p, i, values);
    differences_along_axis<AXIS_X>(p, i, values, of_f, of_g);
    differences_along_axis<AXIS_Y>(p, i, values, of_f, of_g);
    differences_along_axis<AXIS_Z>(p, i, values, of_f, of_g);
    operation_point at;
    at.a = &a;
#pragma unroll
    for (int k = 0; k < OPERATION_ARRAYS; k++) {
      if (Op::reads(k)) at.input[k] = values.input[k][0];
    }
    terms_set(at, w.terms, of_f, of_g, values);
    const bool penalized_here = penalized(p);
#pragma unroll
    for (int k = 0; k < LEAN_OUTPUTS; k++) {
      if (!Op::stores(k) || a.out[k] == nullptr) continue;
      real result = operation_output(Op::KIND, w.options, w.parts, Op::OWN, k, &at);
      if (penalized_here)
        result = layer_penalize<ONLY>(w, p, a.in[0], k, result, [&](int axis) { return velocity(axis, p); });
      a.out[k][i] = result;
    }
  }

  /* Computes a thread's points. */
  __device__ __forceinline__ void run(const layer_place &place) {
    int p[3] = {place.point[0], place.point[1], place.point[2]};
    ptrdiff_t i = element(p);
    begin(p, i);
#pragma unroll 1
    for (int n = 0; n < place.count; n++) {
      window_move(p, i);
      point_compute(p, i);
      p[MARCH]++;
      i += steps<MARCH>(1);
    }
  }
};

template <class Op, bool WIDEST>
__device__ __forceinline__ void layer_run(const arguments &a, const geometry &d, const layer_work &w,
                                          const layer_place &place) {
  if (place.only == AXIS_X) return layer<Op, AXIS_X, WIDEST>(a, d, w).run(place);
  if (place.only == AXIS_Y) return layer<Op, AXIS_Y, WIDEST>(a, d, w).run(place);
  layer<Op, AXIS_Z, WIDEST>(a, d, w).run(place);
}

template <class Op>
__global__ void __launch_bounds__(LAYER_THREADS, LAYER_BLOCKS)
    layers_kernel(const __grid_constant__ arguments a, const geometry d,
                  const __grid_constant__ layer_work w) {
  layer_place place;
  if (!layer_find(w, place)) return;
  if (place.only == SEVERAL) return layer<Op, SEVERAL, false>(a, d, w).run(place);
  if (w.ends.width == CLOSURE_WIDTH) return layer_run<Op, true>(a, d, w, place);
  layer_run<Op, false>(a, d, w, place);
}

#endif
