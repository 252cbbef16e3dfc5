#include "launch.cuh"

/* Runge-Kutta stages: one kernel for each kind of velocity and form, with and without diffusion, and for each
 * number of arrays added. */

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

template <velocity FROM, advection_form FORM, bool DIFFUSION>
static status stage_launch_added(const kernels_launch *launch, const kernels_stage *s, const char *name) {
  const arguments a = stage_arguments(launch, s);
  if (s->base == nullptr) return operation_launch<stage_operation<FROM, FORM, DIFFUSION, 0>>(launch, a, name);
  if (s->extra[0] == nullptr)
    return operation_launch<stage_operation<FROM, FORM, DIFFUSION, 1>>(launch, a, name);
  return operation_launch<stage_operation<FROM, FORM, DIFFUSION, 3>>(launch, a, name);
}

template <velocity FROM, advection_form FORM>
static status stage_launch(const kernels_launch *launch, const kernels_stage *s, const char *name) {
  if ((real)s->diffusion != 0) return stage_launch_added<FROM, FORM, true>(launch, s, name);
  return stage_launch_added<FROM, FORM, false>(launch, s, name);
}

template <velocity FROM>
static status stage_launch_form(const kernels_launch *launch, const kernels_stage *s) {
  switch (s->form) {
  case FORM_ADVECTIVE:
    return stage_launch<FROM, FORM_ADVECTIVE>(launch, s, "kernel stage, advective");
  case FORM_CONSERVATIVE:
    return stage_launch<FROM, FORM_CONSERVATIVE>(launch, s, "kernel stage, conservative");
  default:
    return stage_launch<FROM, FORM_SKEW>(launch, s, "kernel stage, skew-symmetric");
  }
}

extern "C" status NAME(stage)(const kernels_launch *launch, const kernels_stage *s) {
  if (s->velocity[0] != nullptr) return stage_launch_form<velocity::STORED>(launch, s);
  if (s->tables.x != nullptr) return stage_launch_form<velocity::TABLES>(launch, s);
  return stage_launch<velocity::UNIFORM, FORM_ADVECTIVE>(launch, s, "kernel stage, uniform velocity");
}
