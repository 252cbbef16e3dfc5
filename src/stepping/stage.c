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

void stage_sum(const stage *stage, int unknown, kernels_call *call) {
  const operation o = operation_describe(call->kind, call->options);
  const state *base = stage->base != NULL ? stage->base : stage->f;
  call->options |= SUM_BASE;
  if (stage->extra[0] != NULL) {
    call->options |= SUM_OWN | SUM_EXTRAS;
  } else if (stage->base != NULL && (stage->weight_f != 0.0 || o.differences_own)) {
    call->options |= SUM_OWN;
  }
  call->weight[WEIGHT_OWN] = stage->weight_f;
  for (int j = 0; j < OPERATION_PARTS; j++) call->weight[WEIGHT_PART + j] *= stage->weight;
  for (int k = 0; k < SUM_OUTPUTS; k++) {
    if (!operation_stores(&o, k)) continue;
    call->in[operation_own(&o) + k] = stage->f->part[unknown + k].data;
    call->in[SUM_IN_BASE + k] = base->part[unknown + k].data;
    call->out[k] = stage->out->part[unknown + k].data;
    for (int i = 0; i < 2 && stage->extra[0] != NULL; i++)
      call->in[SUM_IN_EXTRA + i * SUM_OUTPUTS + k] = stage->extra[i]->part[unknown + k].data;
  }
  for (int i = 0; i < 2 && stage->extra[0] != NULL; i++)
    call->weight[WEIGHT_EXTRA + i] = stage->weight_extra[i];
}

status stage_combine(const stage *stage, const kernels_launch *launch, int unknown) {
  kernels_call call = {.kind = OPERATION_advection, .options = ADVECTION_UNIFORM | ADVECTION_GRADIENT};
  stage_sum(stage, unknown, &call); /* every part has the weight 0, and any operation has the same sum */
  return stage->out->part[unknown].backend->apply(launch, &call);
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
