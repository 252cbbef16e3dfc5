#include "equations/advection.h"

#include <string.h>

int advection_steady(const config *config) {
  return cases_velocity_steady(config) && !cases_has_source(config);
}

int advection_field_count(const config *config) {
  return cases_has_source(config) ? CASES_SOURCES : 0;
}

static status create_velocity(const config *config, const grid *grid, const field_space *space,
                              advection *advection) {
  cases_velocity velocity;
  CHECK(cases_velocity_open(config, grid, &velocity));
  const status result = velocity_tables_create(space, &velocity, grid->z0, &advection->tables);
  cases_velocity_close(&velocity);
  return result;
}

static status create_source(const config *config, const grid *grid, const field_space *space,
                            advection *advection) {
  cases_source source;
  CHECK(cases_source_open(config, grid, &source));
  status result = STATUS_OK;
  for (int i = 0; i < CASES_SOURCES && result == STATUS_OK; i++) {
    result = field_create(space, &advection->source[i]);
    if (result != STATUS_OK) break;
    advection->source_count++;
    source.term = i;
    result = field_fill(&advection->source[i], grid->z0, grid->n[2], 0, cases_source_row, &source);
  }
  cases_source_close(&source);
  return result;
}

status advection_create(const config *config, const grid *grid, const field_space *space,
                        advection *advection) {
  memset(advection, 0, sizeof *advection);
  advection->config = config;
  advection->backend = space->backend;
  advection->context = space->context;
  advection->stencil = stencil_make(config->order, grid->h);
  if (config->velocity != CONFIG_VELOCITY_UNIFORM) CHECK(create_velocity(config, grid, space, advection));
  if (cases_has_source(config)) CHECK(create_source(config, grid, space, advection));
  return STATUS_OK;
}

void advection_destroy(advection *advection) {
  for (int i = 0; i < advection->source_count; i++) field_destroy(&advection->source[i]);
  velocity_tables_destroy(&advection->tables);
  advection->source_count = 0;
}

static const void *data_or_null(const field *field) {
  return field == NULL ? NULL : field->data;
}

static status advection_stage(void *self, const stepper_stage *stage) {
  const advection *a = self;
  const config *config = a->config;
  const kernels_launch launch = {.context = a->context,
                                 .queue = QUEUE_MAIN,
                                 .shape = stage->out->shape,
                                 .planes = {stage->planes[0], stage->planes[1]},
                                 .stencil = &a->stencil,
                                 .edges =
                                     a->source_count > 0 ? NULL : stage->edges}; /* else after the sources */
  kernels_stage fused = {.out = stage->out->data,
                         .f = stage->f->data,
                         .base = data_or_null(stage->base),
                         .weight_f = stage->weight_f,
                         .form = config->form,
                         .advection = -stage->weight * cases_velocity_factor(config, stage->time),
                         .tables = a->tables.tables,
                         .uniform = {config->uniform[0], config->uniform[1], config->uniform[2]},
                         .diffusion = stage->weight * config->diffusivity};
  for (int i = 0; i < 2; i++) {
    fused.extra[i] = data_or_null(stage->extra[i]);
    fused.weight_extra[i] = stage->weight_extra[i];
  }
  CHECK(a->backend->stage(&launch, &fused));

  double factors[CASES_SOURCES];
  if (a->source_count > 0) cases_source_factors(config, stage->time, factors);
  for (int i = 0; i < a->source_count; i++) {
    CHECK(a->backend->axpy(&launch, stage->weight * factors[i], a->source[i].data, stage->out->data));
  }
  if (a->source_count > 0 && stage->edges != NULL)
    return a->backend->event_record(stage->edges, a->context, QUEUE_MAIN);
  return STATUS_OK;
}

stepper_rhs advection_rhs(advection *advection) {
  return (stepper_rhs){
      .self = advection, .steady = advection_steady(advection->config), .stage = advection_stage};
}
