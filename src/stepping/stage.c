#include "stepping/stage.h"

kernels_launch stage_launch(const stage *stage, const stencil *stencil) {
  const field *out = &stage->out->part[0];
  return (kernels_launch){.context = out->context,
                          .queue = QUEUE_MAIN,
                          .shape = out->shape,
                          .planes = {stage->planes[0], stage->planes[1]},
                          .stencil = stencil,
                          .arrivals = stage->arrivals,
                          .down = stage->down};
}

static const void *data_or_null(const state *state, int unknown) {
  return state == NULL ? NULL : state->part[unknown].data;
}

kernels_stage stage_kernel(const stage *stage, int unknown) {
  return (kernels_stage){
      .out = stage->out->part[unknown].data,
      .f = stage->f->part[unknown].data,
      .base = data_or_null(stage->base, unknown),
      .weight_f = stage->weight_f,
      .extra = {data_or_null(stage->extra[0], unknown), data_or_null(stage->extra[1], unknown)},
      .weight_extra = {stage->weight_extra[0], stage->weight_extra[1]}};
}

kernels_call stage_sum(const stage *stage, operation_kind kind, int unknown, double factor, double speed) {
  const int divergence = kind == OPERATION_divergence_stage, n = divergence ? 1 : 3;
  const int first = divergence ? (int)DIVERGENCE_SUM : (int)GRADIENT_SUM;
  kernels_call call = {.kind = kind};
  call.scalar[SUM_WEIGHT_OWN] = stage->weight_f;
  call.scalar[SUM_WEIGHT_TERM] = stage->weight * factor;
  call.scalar[SUM_WEIGHT_DISSIPATION] = stage->weight * speed;
  for (int i = 0; i < 2; i++) call.scalar[SUM_WEIGHT_EXTRA + i] = stage->weight_extra[i];
  for (int k = 0; k < n; k++) {
    const kernels_stage part = stage_kernel(stage, unknown + k);
    call.in[first + n * SUM_BASE + k] = part.base != NULL ? part.base : part.f;
    call.in[first + n * SUM_IN_OWN + k] = part.f;
    for (int i = 0; i < 2; i++) call.in[first + n * (SUM_EXTRA + i) + k] = part.extra[i];
    call.out[k] = part.out;
  }
  if (stage->extra[0] != NULL) {
    call.options = SUM_OWN | SUM_EXTRAS;
  } else if (stage->base != NULL && (stage->weight_f != 0.0 || speed != 0.0)) {
    call.options = SUM_OWN;
  }
  if (speed != 0.0) call.options |= SUM_UPWIND;
  return call;
}

status stage_combine(const stage *stage, const kernels_launch *launch, int unknown) {
  const kernels_stage combination = stage_kernel(stage, unknown); /* without advection and diffusion */
  return apply_stage(stage->out->part[unknown].backend, launch, &combination);
}

status stage_add(const stage *stage, const kernels_launch *launch, int unknown, double factor,
                 const field *term) {
  return apply_axpy(term->backend, launch, stage->weight * factor, term->data,
                    stage->out->part[unknown].data);
}

status stage_end(const stage *stage) {
  const field *out = &stage->out->part[0];
  return stage->edges == NULL ? STATUS_OK
                              : out->backend->event_record(stage->edges, out->context, QUEUE_MAIN);
}
