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

/* Returns 1 if a factor is zero once rounded: its term is then left out. */
static int vanishes(double factor, precision precision) {
  return precision == PRECISION_SINGLE ? (float)factor == 0.0F : factor == 0.0;
}

static unsigned stage_options(const kernels_stage *stage, precision precision) {
  static const unsigned forms[] = {STAGE_GRADIENT, STAGE_FLUX, STAGE_GRADIENT | STAGE_FLUX};
  unsigned options = STAGE_UNIFORM | STAGE_GRADIENT;
  if (stage->velocity[0] != NULL) {
    options = STAGE_STORED | forms[stage->form];
  } else if (stage->tables.x != NULL) {
    options = STAGE_FORMULA | forms[stage->form];
  }
  if (stage->base != NULL) options |= STAGE_BASE;
  if (stage->extra[0] != NULL) options |= STAGE_EXTRAS;
  if (!vanishes(stage->dissipation, precision)) options |= STAGE_UPWIND;
  if (!vanishes(stage->diffusion, precision)) options |= STAGE_DIFFUSION;
  return options;
}

kernels_call kernels_stage_call(const kernels_stage *stage, precision precision) {
  kernels_call call = {
      .kind = OPERATION_stage,
      .options = stage_options(stage, precision),
      .in = {[STAGE_IN_F] = stage->f, [STAGE_IN_BASE] = stage->base},
      .out = {stage->out},
      .scalar = {[STAGE_WEIGHT_F] = stage->weight_f,
                 [STAGE_WEIGHT_ADVECTION] = stage->advection,
                 [STAGE_WEIGHT_DISSIPATION] = stage->dissipation,
                 [STAGE_WEIGHT_DIFFUSION] = stage->diffusion},
      .tables = stage->tables,
  };
  for (int i = 0; i < 2; i++) {
    call.in[STAGE_IN_EXTRA + i] = stage->extra[i];
    call.scalar[STAGE_WEIGHT_EXTRA + i] = stage->weight_extra[i];
  }
  for (int d = 0; d < 3; d++) {
    call.in[STAGE_IN_U + d] = stage->velocity[d];
    call.uniform[d] = stage->uniform[d];
  }
  return call;
}

status apply_stage(const kernels *backend, const kernels_launch *launch, const kernels_stage *stage) {
  const kernels_call call = kernels_stage_call(stage, launch->shape.precision);
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
