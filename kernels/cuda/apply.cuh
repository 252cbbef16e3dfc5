#include "general.cuh"
#include "launch.cuh"
#include "rows.cuh"

/* One way of an operation (OPERATION_WAYS) with every combination of its additions: the files that include
 * this one are made by ways.cmake. */

constexpr operation_kind KIND = WAY_KIND;
constexpr unsigned OPTIONS = WAY_OPTIONS;
constexpr char NAME_OF_KERNEL[] = "kernel " WAY_TEXT;

static_assert(operation_fault(KIND, OPTIONS) == nullptr,
              "kernels/operations.h: this way cannot be computed; test_declarations says why");

constexpr operation MOST = operation_describe(KIND, OPTIONS | operation_additions(KIND, OPTIONS));
static_assert(
    MOST.outputs >> WAY_OUTPUTS == 0 && operation_terms(&MOST) >> WAY_TERMS == 0,
    "kernels/operations.h: a way with more than three outputs, or more than four terms, needs lines like "
    "#define velocity_gradient_outputs 9 and #define velocity_gradient_terms 9");

constexpr int VECTOR_THREADS = 256;

/* The kernel for operations without neighbours. blockIdx.y is the range of planes, which is contiguous in
 * memory; padding is computed, too. */
template <class Op>
__global__ void __launch_bounds__(VECTOR_THREADS)
    vector_kernel(const __grid_constant__ arguments a, const __grid_constant__ geometry d) {
  const kernels_planes range = d.range[blockIdx.y];
  const ptrdiff_t at = ((ptrdiff_t)blockIdx.x * VECTOR_THREADS + (ptrdiff_t)threadIdx.x) * VECTOR;
  if (at >= d.plane(range.z1 - range.z0)) return;
  const ptrdiff_t i = d.plane(range.z0) + at;
  lines none;
  points value;
  real result[LEAN_OUTPUTS][VECTOR];
  Op::points_load(a, i, value);
  Op::apply(a, none, none, value, result);
  Op::store(a, i, result);
}

template <class Op>
static status vector_launch(const kernels_launch *launch, const arguments &a, const char *name) {
  const geometry d = launch_geometry(launch);
  constexpr size_t BLOCK = (size_t)VECTOR_THREADS * VECTOR;
  const size_t elements = (size_t)(d.longest() * launch->shape.plane);
  const dim3 grid((unsigned)((elements + BLOCK - 1) / BLOCK), d.ranges());
  kernel_launch(vector_kernel<Op>, grid, VECTOR_THREADS, 0, launch_stream(launch), a, d);
  return launch_done(launch, name);
}

/* Returns true for a derivative along y or z of few points: there the long pencils of NVIDIA's posts are
 * faster (docs/explanation/performance.md, "Short and long pencils"). A block has one row, along y one plane,
 * and a grid at most 65535 of them. */
template <class Op> static bool pencils_win(const kernels_launch *launch) {
  constexpr size_t MOST = tiles_of<Op>().pencil_points;
  if (MOST == 0 || points_each(launch) > MOST) return false;
  const geometry d = launch_geometry(launch);
  return std::max(d.ny, d.planes()) <= 65535 && !d.leaves_out();
}

template <class Op> static status op_launch(const kernels_launch *launch, const kernels_call *call) {
  constexpr bool X_ALONE = Op::X && !Op::Y && !Op::Z && !Op::TRIPLE && Op::OTHERS == 0 && !Op::TABLES;
  const arguments_general a = launch_arguments(launch, call);
  if (!launch_geometry(launch).writes()) return launch_done(launch, NAME_OF_KERNEL);
  if (Op::DECLARED.edges != EDGES_SENT && launch->sends != nullptr)
    return status_fail(STATUS_DEVICE, "%s does not send its edges", NAME_OF_KERNEL);
  if constexpr (operation_general(&Op::DECLARED) != 0)
    return general_launch<Op>(launch, a, NAME_OF_KERNEL);
  else if constexpr (operation_terms(&Op::DECLARED) == 0)
    return vector_launch<Op>(launch, a, NAME_OF_KERNEL);
  else if constexpr (X_ALONE)
    return rows_launch<Op>(launch, a, NAME_OF_KERNEL);
  else if (pencils_win<Op>(launch))
    return NAME(pencils)(launch, VARIANT_LONG, PART_WHOLE, Op::Y ? AXIS_Y : AXIS_Z, call->in[0],
                         call->out[0]);
  else
    return stencil_launch<Op>(launch, a, NAME_OF_KERNEL);
}

/* Launches the combination that the call asks for: ADDITIONS, or one with fewer bits of them. */
template <unsigned ADDITIONS>
static status combination(const kernels_launch *launch, const kernels_call *call) {
  if constexpr (operation_combines(KIND, OPTIONS, ADDITIONS) != 0) {
    if (call->options == (OPTIONS | ADDITIONS)) return op_launch<op<KIND, OPTIONS | ADDITIONS>>(launch, call);
  }
  if constexpr (ADDITIONS != 0) {
    return combination<(ADDITIONS - 1) & operation_additions(KIND, OPTIONS)>(launch, call);
  } else {
    return status_fail(STATUS_DEVICE, "%s: there is no such combination of options: %u", NAME_OF_KERNEL,
                       call->options);
  }
}

extern "C" status NAME(WAY_NAME(apply_, ))(const kernels_launch *launch, const kernels_call *call) {
  return combination<operation_additions(KIND, OPTIONS)>(launch, call);
}
