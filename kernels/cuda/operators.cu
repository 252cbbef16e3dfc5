#include "launch.cuh"
#include "rows.cuh"

/* derivative, gradient, divergence and Laplacian. */

static arguments operator_arguments(const kernels_launch *launch, const void *f, void *out) {
  arguments a = {};
  a.c = launch_coefficients(launch);
  a.f = shifted(launch, f);
  a.out[0] = shifted(launch, out);
  return a;
}

/* Where the short pencils of the posts are faster (docs/explanation/performance.md, "Short and long
 * pencils"): along columns of few points in double precision, 4.9 against 6.6 us at 64^3. */
static bool pencils_win(const kernels_launch *launch, axis along) {
  constexpr size_t POINTS = (size_t)1 << 18;
  const geometry d = launch_geometry(launch);
  return sizeof(real) == sizeof(double) && along == AXIS_Y && (size_t)d.planes() * d.ny * d.nx <= POINTS;
}

extern "C" status NAME(derivative)(const kernels_launch *launch, axis along, const void *f, void *out) {
  if (pencils_win(launch, along)) return NAME(derivative_variant)(launch, VARIANT_SHORT, along, f, out);
  const arguments a = operator_arguments(launch, f, out);
  switch (along) {
  case AXIS_X:
    return rows_launch(launch, a, "kernel derivative x");
  case AXIS_Y:
    return operation_launch<derivative_operation<AXIS_Y>>(launch, a, "kernel derivative y");
  default:
    return operation_launch<derivative_operation<AXIS_Z>>(launch, a, "kernel derivative z");
  }
}

extern "C" status NAME(gradient)(const kernels_launch *launch, const void *f, void *const out[3]) {
  arguments a = operator_arguments(launch, f, out[0]);
  for (int k = 0; k < 3; k++) a.out[k] = shifted(launch, out[k]);
  return operation_launch<gradient_operation>(launch, a, "kernel gradient");
}

extern "C" status NAME(divergence)(const kernels_launch *launch, const void *const v[3], void *out) {
  arguments a = operator_arguments(launch, nullptr, out);
  for (int k = 0; k < 3; k++) a.v[k] = shifted(launch, v[k]);
  return operation_launch<divergence_operation>(launch, a, "kernel divergence");
}

extern "C" status NAME(laplacian)(const kernels_launch *launch, const void *f, void *out) {
  return operation_launch<laplacian_operation>(launch, operator_arguments(launch, f, out),
                                               "kernel laplacian");
}
