#include "launch.cuh"

/* Runge-Kutta stages: one kernel for each way of advecting, with and without diffusion, and
 * for each number of arrays added. */

static arguments stage_arguments(const kernels_launch *launch, const kernels_stage *s) {
  arguments a = {};
  a.c = launch_coefficients(launch);
  a.f = shifted(launch, s->f);
  a.out[0] = shifted(launch, s->out);
  a.added[0] = shifted(launch, s->base);
  a.weight_f = (real)s->weight_f;
  for (int i = 0; i < 2; i++) {
    a.added[i + 1] = shifted(launch, s->extra[i]);
    a.weight_extra[i] = (real)s->weight_extra[i];
  }
  for (int k = 0; k < 3; k++) {
    a.v[k] = shifted(launch, s->velocity[k]);
    a.uniform[k] = (real)s->uniform[k];
  }
  a.table[0] = static_cast<const real *>(s->tables.x);
  a.table[1] = static_cast<const real *>(s->tables.y);
  a.table[2] = static_cast<const real *>(s->tables.z);
  a.advection = (real)s->advection;
  a.diffusion = (real)s->diffusion;
  return a;
}

template <advection FORM, bool DIFFUSION>
static status stage_launch_added(const kernels_launch *launch, const kernels_stage *s, const char *name) {
  const arguments a = stage_arguments(launch, s);
  if (s->base == nullptr) return operation_launch<stage_operation<FORM, DIFFUSION, 0>>(launch, a, name);
  if (s->extra[0] == nullptr) return operation_launch<stage_operation<FORM, DIFFUSION, 1>>(launch, a, name);
  return operation_launch<stage_operation<FORM, DIFFUSION, 3>>(launch, a, name);
}

template <advection FORM>
static status stage_launch(const kernels_launch *launch, const kernels_stage *s, const char *name) {
  if (s->diffusion != 0.0) return stage_launch_added<FORM, true>(launch, s, name);
  return stage_launch_added<FORM, false>(launch, s, name);
}

extern "C" status NAME(stage)(const kernels_launch *launch, const kernels_stage *s) {
  if (s->velocity[0] == nullptr) {
    if (s->tables.x != nullptr) return stage_launch<advection::TABLES>(launch, s, "kernel stage, tables");
    return stage_launch<advection::UNIFORM>(launch, s, "kernel stage, uniform velocity");
  }
  switch (s->form) {
  case FORM_ADVECTIVE:
    return stage_launch<advection::ADVECTIVE>(launch, s, "kernel stage, advective");
  case FORM_CONSERVATIVE:
    return stage_launch<advection::CONSERVATIVE>(launch, s, "kernel stage, conservative");
  default:
    return stage_launch<advection::SKEW>(launch, s, "kernel stage, skew-symmetric");
  }
}
