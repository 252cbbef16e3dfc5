#include "output/derived.h"

#include "config/kept.h"

/* With the largest equation, all derived data have room after the fields. */
_Static_assert(STATE_FIELDS >= 4 + (int)CONFIG_DERIVED_MOST, "fields of acoustics, gradient, intensity");

status derived_create(const field_space *space, const grid *grid, const config *config, int fields,
                      const char *const names[], derived *derived) {
  *derived = (struct derived){.backend = space->backend,
                              .context = space->context,
                              .stencil = stencil_make(config->order, grid->h),
                              .ends = grid_kernels_ends(grid),
                              .wanted = config->derived,
                              .fields = fields};
  for (int f = 0; f < fields; f++) derived->names[f] = names[f];
  derived->count = fields + config_derived_names(config, derived->names + fields);
  if (!(derived->wanted & CONFIG_DERIVED_GRADIENT)) return STATUS_OK;
  return kernels_ends_open(space->backend, space->context, space->shape.precision, &derived->stencil,
                           &derived->ends);
}

void derived_destroy(derived *derived) {
  if (derived->backend != NULL) kernels_ends_close(derived->backend, derived->context, &derived->ends);
  *derived = (struct derived){.backend = NULL};
}

/* The next of the scratch arrays, to be written. */
static void *add(struct state *shown, const state *state, const struct state *scratch) {
  const field *next = &scratch->part[shown->count - state->count];
  shown->part[shown->count++] = *next;
  return next->data;
}

status derived_find(const derived *derived, const state *state, const struct state *scratch,
                    struct state *shown) {
  const field *f = state->part;
  const kernels_launch launch = {.context = derived->context,
                                 .queue = QUEUE_MAIN,
                                 .shape = f->shape,
                                 .planes = {{0, f->shape.nz}},
                                 .stencil = &derived->stencil};
  *shown = *state;
  shown->names = derived->names;
  if (derived->wanted & CONFIG_DERIVED_GRADIENT) {
    const kernels_call call = {.kind = OPERATION_gradient_magnitude,
                               .in = {f->data},
                               .out = {add(shown, state, scratch)},
                               .ends = &derived->ends};
    CHECK(apply_bounded(derived->backend, &launch, &call));
  }
  for (int d = 0; d < 3 && derived->wanted & CONFIG_DERIVED_INTENSITY; d++) {
    const kernels_call call = {
        .kind = OPERATION_product, .in = {f[0].data, f[1 + d].data}, .out = {add(shown, state, scratch)}};
    CHECK(derived->backend->apply(&launch, &call));
  }
  return STATUS_OK;
}
