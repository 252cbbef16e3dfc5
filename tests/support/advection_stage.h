#ifndef FDAPP_TESTS_ADVECTION_STAGE_H
#define FDAPP_TESTS_ADVECTION_STAGE_H

#include "kernels.h"

/* One Runge-Kutta stage of advection and diffusion, as tests and the reference describe it by its formula:
 *
 *   b   = base ? base : f
 *   out = b + weight_f (f - b) + sum_i weight_extra[i] (extra[i] - b) + advection * A(f)
 *         + dissipation * S(f) + diffusion * Lap(f)
 *
 * A is u.grad f, div(u f) or their mean (`form`); S is |u| Dx f + |v| Dy f + |w| Dz f with the even
 * differences D of stencil.h, or in the conservative form Cx f + Cy f + Cz f with its damping C of the speeds
 * |u|, |v|, |w|. Extras are both NULL or none, and come with a base. The velocity is three
 * fields, or tables, or `uniform`, for which the three forms are equal. A term whose factor is zero in the
 * field's precision is left out. */
typedef struct advection_stage {
  void *out;
  const void *f;
  const void *base;
  double weight_f;
  const void *extra[2];
  double weight_extra[2];
  advection_form form;
  double advection;
  const void *velocity[3];
  kernels_tables tables;
  double uniform[3];
  double dissipation;
  double diffusion;
} advection_stage;

static inline unsigned advection_options(const advection_stage *stage, precision precision) {
  static const unsigned forms[] = {ADVECTION_GRADIENT, ADVECTION_FLUX, ADVECTION_GRADIENT | ADVECTION_FLUX};
  const int single = precision == PRECISION_SINGLE;
  unsigned options = SUM_BASE | ADVECTION_UNIFORM | ADVECTION_GRADIENT;
  if (stage->velocity[0] != NULL) {
    options = SUM_BASE | ADVECTION_STORED | forms[stage->form];
  } else if (stage->tables.x != NULL) {
    options = SUM_BASE | ADVECTION_FORMULA | forms[stage->form];
  }
  if (stage->base != NULL) options |= SUM_OWN;
  if (stage->extra[0] != NULL) options |= SUM_EXTRAS;
  if (single ? (float)stage->dissipation != 0.0F : stage->dissipation != 0.0)
    options |= options & ADVECTION_GRADIENT ? ADVECTION_UPWIND : ADVECTION_DAMPED;
  if (single ? (float)stage->diffusion != 0.0F : stage->diffusion != 0.0) options |= ADVECTION_DIFFUSION;
  return options;
}

/* The call that computes it. */
static inline kernels_call advection_call(const advection_stage *stage, precision precision) {
  kernels_call call = {
      .kind = OPERATION_advection,
      .options = advection_options(stage, precision),
      .in = {[ADVECTION_F] = stage->f, [SUM_IN_BASE] = stage->base},
      .out = {stage->out},
      .tables = stage->tables,
  };
  call.weight[WEIGHT_OWN] = stage->weight_f;
  call.weight[WEIGHT_PART + ADVECTION_PART_A] = stage->advection;
  call.weight[WEIGHT_PART + ADVECTION_PART_DISSIPATION] = stage->dissipation;
  call.weight[WEIGHT_PART + ADVECTION_PART_DIFFUSION] = stage->diffusion;
  for (int i = 0; i < 2; i++) {
    call.in[SUM_IN_EXTRA + i * SUM_OUTPUTS] = stage->extra[i];
    call.weight[WEIGHT_EXTRA + i] = stage->weight_extra[i];
  }
  for (int d = 0; d < 3; d++) {
    call.in[ADVECTION_U + d] = stage->velocity[d];
    call.uniform[d] = stage->uniform[d];
  }
  return call;
}

static inline status advection_apply(const kernels *backend, const kernels_launch *launch,
                                     const advection_stage *stage) {
  const kernels_call call = advection_call(stage, launch->shape.precision);
  return backend->apply(launch, &call);
}

#endif
