#include "launch.cuh"
#include "rows.cuh"

/* Parts of the production kernels of the first derivative (kernels_part): the same kernels and tiles, with
 * less to compute, except where long pencils compute the derivative (tile_choice.pencil_points). */

template <int AXIS> using whole_op = op<OPERATION_derivative, AXIS | DERIVATIVE_FIRST>;

/* Loads the neighbours that the derivative needs and adds the two outermost. */
template <int AXIS> struct halos_op : whole_op<AXIS> {
  __device__ __forceinline__ static void apply(const arguments &, const lines &f, const lines &,
                                               const points &, real (&result)[LEAN_OUTPUTS][VECTOR]) {
#pragma unroll
    for (int v = 0; v < VECTOR; v++) result[0][v] = neighbour<AXIS>(f, 0, v) + neighbour<AXIS>(f, 8, v);
  }
};

/* Reads the field at the point alone, except that the kernel for rows takes it as the field. */
template <int AXIS> struct load_op : whole_op<AXIS> {
  static constexpr int FIELD = AXIS == AXIS_X ? 0 : OPERATION_NONE;
  static constexpr bool X = false, Y = false, Z = false;
  static constexpr int OTHERS = 1;

  __host__ __device__ static constexpr bool reads(int input) {
    return input == 0;
  }
  __host__ __device__ static constexpr int other(int) {
    return 0;
  }
  __device__ __forceinline__ static void points_load(const arguments &a, ptrdiff_t i, points &p) {
    vector_load(a.in[0] + i, p.input[0]);
  }
  __device__ __forceinline__ static void apply(const arguments &, const lines &, const lines &,
                                               const points &p, real (&result)[LEAN_OUTPUTS][VECTOR]) {
    copy_values(p.input[0], result[0]);
  }
};

template <template <int> class Op>
static status parts_launch(const kernels_launch *launch, axis along, const arguments &a) {
  constexpr char name[] = "kernel parts";
  return with_axis(along, [&](auto axis) {
    using Some = Op<decltype(axis)::value>;
    if constexpr (axis == AXIS_X)
      return rows_launch<Some>(launch, a, name);
    else
      return stencil_launch<Some>(launch, a, name);
  });
}

extern "C" status NAME(parts)(const kernels_launch *launch, kernels_part part, axis along, const void *f,
                              void *out) {
  const kernels_call call = kernels_derivative_call(along, f, out);
  const arguments a = launch_arguments(launch, &call);
  return part == PART_LOAD ? parts_launch<load_op>(launch, along, a)
                           : parts_launch<halos_op>(launch, along, a);
}
