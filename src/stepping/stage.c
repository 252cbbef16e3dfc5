#include "stepping/stage.h"

kernels_launch stage_launch(const stage *stage, const stencil *stencil) {
  const field *out = &stage->out->part[0];
  return (kernels_launch){.context = out->context,
                          .queue = QUEUE_MAIN,
                          .shape = out->shape,
                          .planes = {stage->planes[0], stage->planes[1]},
                          .stencil = stencil};
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
