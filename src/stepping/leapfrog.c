#include "stepping/leapfrog.h"

int leapfrog_depth(const scheme *scheme, const kernels_shape *shape) {
  return scheme->leap == 4 && !shape->whole ? 2 * KERNELS_HALO : KERNELS_HALO;
}

static status compute(stepper *stepper, double t, double dt) {
  state *state = &stepper->slots[0];
  const stage stage = {
      .planes = {{0, state->part[0].shape.nz}}, .out = state, .f = state, .weight = dt, .time = t};
  return stepper->rhs.stage(stepper->rhs.self, &stage);
}

status leapfrog_step(stepper *stepper, double t, double dt, int timed) {
  const kernels *backend = stepper->backend;
  state *state = &stepper->slots[0];
  if (timed) CHECK(backend->event_record(stepper->start, stepper->context, QUEUE_MAIN));
  CHECK(compute(stepper, t, dt));
  if (timed) CHECK(backend->event_record(stepper->done, stepper->context, QUEUE_MAIN));
  const field new = state->part[1];
  state->part[1] = state->part[0];
  state->part[0] = new;
  const field *fields[] = {&state->part[0]};
  return halo_exchange(stepper->halo, 1, fields);
}
