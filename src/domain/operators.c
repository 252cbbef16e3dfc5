#include "domain/operators.h"

#include "operations.h"

status operators_differences(halo *halo, const stencil *stencil, axis axis, const field *f,
                             field *const out[3]) {
  static const unsigned wanted[3] = {DERIVATIVE_FIRST, DERIVATIVE_SECOND, DERIVATIVE_DISSIPATION};
  const kernels_launch launch = field_launch(f, stencil);
  kernels_call call = {.kind = OPERATION_derivative, .options = (unsigned)axis, .in = {f->data}};
  for (int i = 0; i < 3; i++) {
    if (out[i] == NULL) continue;
    call.options |= wanted[i];
    call.out[i] = out[i]->data;
  }
  CHECK(halo_exchange(halo, 1, &f));
  return f->backend->apply(&launch, &call);
}

status operators_derivative(halo *halo, const stencil *stencil, axis axis, const field *f, field *out) {
  return operators_differences(halo, stencil, axis, f, (field *const[3]){out});
}

status operators_gradient(halo *halo, const stencil *stencil, const field *f, field *const out[3]) {
  const kernels_launch launch = field_launch(f, stencil);
  void *const data[3] = {out[0]->data, out[1]->data, out[2]->data};
  CHECK(halo_exchange(halo, 1, &f));
  return apply_gradient(f->backend, &launch, f->data, data);
}

status operators_divergence(halo *halo, const stencil *stencil, const field *const v[3], field *out) {
  const kernels_launch launch = field_launch(out, stencil);
  const void *const data[3] = {v[0]->data, v[1]->data, v[2]->data};
  CHECK(halo_exchange(halo, 3, v));
  return apply_divergence(out->backend, &launch, data, out->data);
}

status operators_laplacian(halo *halo, const stencil *stencil, const field *f, field *out) {
  const kernels_launch launch = field_launch(f, stencil);
  CHECK(halo_exchange(halo, 1, &f));
  return apply_laplacian(f->backend, &launch, f->data, out->data);
}
