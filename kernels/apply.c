#include "kernels.h"

status apply_derivative(const kernels *backend, const kernels_launch *launch, axis along, const void *f,
                        void *out) {
  const kernels_call call = kernels_derivative_call(along, f, out);
  return backend->apply(launch, &call);
}

status apply_gradient(const kernels *backend, const kernels_launch *launch, const void *f,
                      void *const out[3]) {
  const kernels_call call = {.kind = OPERATION_gradient, .in = {f}, .out = {out[0], out[1], out[2]}};
  return backend->apply(launch, &call);
}

status apply_divergence(const kernels *backend, const kernels_launch *launch, const void *const v[3],
                        void *out) {
  const kernels_call call = {.kind = OPERATION_divergence, .in = {v[0], v[1], v[2]}, .out = {out}};
  return backend->apply(launch, &call);
}

status apply_laplacian(const kernels *backend, const kernels_launch *launch, const void *f, void *out) {
  const kernels_call call = {.kind = OPERATION_laplacian, .in = {f}, .out = {out}};
  return backend->apply(launch, &call);
}

status apply_axpy(const kernels *backend, const kernels_launch *launch, double a, const void *x, void *y) {
  const kernels_call call = {.kind = OPERATION_axpy, .in = {x, y}, .out = {y}, .scalar = {a}};
  return backend->apply(launch, &call);
}

/* The layers come first, and the operation leaves them out: when the operation says that the slab's edges are
 * written, their layers are, too. */
status apply_bounded(const kernels *backend, const kernels_launch *launch, const kernels_call *call) {
  const kernels_ends *ends = call->ends;
  if (backend->layers == NULL || !kernels_call_bounded(call)) return backend->apply(launch, call);
  kernels_launch inner = *launch, layers = *launch;
  layers.edges = NULL;
  for (int d = 0; d < AXIS_Z; d++) inner.left_out[d] = layers.left_out[d] = ends->bounded[d] ? ends->rows : 0;
  for (int r = 0; r < KERNELS_RANGES; r++) inner.planes[r] = layers_between(&launch->planes[r], ends);
  CHECK(backend->layers(&layers, call));
  return backend->apply(&inner, call);
}
