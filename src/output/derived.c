#include "output/derived.h"

#include "flow.h"

/* With the largest equation, all derived data have room after the fields. */
_Static_assert(STATE_FIELDS >= 5 + (int)CONFIG_DERIVED_MOST, "unknowns of flow and all derived data");

status derived_create(const field_space *space, const grid *grid, const config *config,
                      const figures *figures, int fields, const char *const names[], derived *derived) {
  *derived = (struct derived){.backend = space->backend,
                              .context = space->context,
                              .stencil = stencil_make(config->order, grid->h),
                              .ends = grid_kernels_ends(grid),
                              .figures = figures,
                              .config = config,
                              .grid = grid,
                              .wanted = config->derived,
                              .fields = fields};
  for (int f = 0; f < fields; f++) derived->names[f] = names[f];
  derived->count = fields + config_derived_names(config, derived->names + fields);
  for (int i = 2 * fields; i < derived->count; i++) {
    derived->more_count++;
    CHECK(field_create(space, &derived->more[i - 2 * fields]));
  }
  if (!(derived->wanted & CONFIG_DERIVED_GRADIENT)) return STATUS_OK;
  return kernels_ends_open(space->backend, space->context, space->shape.precision, &derived->stencil,
                           &derived->ends);
}

void derived_destroy(derived *derived) {
  for (int i = 0; i < derived->more_count; i++) field_destroy(&derived->more[i]);
  if (derived->backend != NULL) kernels_ends_close(derived->backend, derived->context, &derived->ends);
  *derived = (struct derived){.backend = NULL};
}

/* The next of the scratch arrays, to be written. */
static field *add(const derived *derived, struct state *shown, const state *state,
                  const struct state *scratch) {
  const int used = shown->count - state->count;
  shown->part[shown->count] =
      used < scratch->count ? scratch->part[used] : derived->more[used - scratch->count];
  return &shown->part[shown->count++];
}

/* The figures of flow, in the order of config_derived_names. */
static status add_figures(const derived *derived, struct state *shown, const state *state,
                          const struct state *scratch) {
  static const flow_figure figures[] = {FLOW_VORTICITY, FLOW_Q_CRITERION, FLOW_EXPANSION,
                                        FLOW_MACH,      FLOW_TEMPERATURE, FLOW_DENSITY_GRADIENT};
  for (int i = 0; i < (int)(sizeof figures / sizeof figures[0]); i++) {
    const int count = figures[i] == FLOW_VORTICITY ? 3 : 1;
    for (int k = 0; k < count && derived->wanted & (int)CONFIG_DERIVED_VORTICITY << i; k++)
      CHECK(derived->figures->find(derived->config, derived->grid, state, (int)figures[i] + k,
                                   add(derived, shown, state, scratch)));
  }
  return STATUS_OK;
}

status derived_find(const derived *derived, const state *state, const struct state *scratch,
                    struct state *shown) {
  const field *f = state->part;
  const kernels_launch launch = field_launch(f, &derived->stencil);
  *shown = *state;
  shown->names = derived->names;
  if (derived->wanted & CONFIG_DERIVED_GRADIENT) {
    const kernels_call call = {.kind = OPERATION_gradient_magnitude,
                               .in = {f->data},
                               .out = {add(derived, shown, state, scratch)->data},
                               .ends = &derived->ends};
    CHECK(apply_bounded(derived->backend, &launch, &call));
  }
  for (int d = 0; d < 3 && derived->wanted & CONFIG_DERIVED_INTENSITY; d++) {
    const kernels_call call = {.kind = OPERATION_product,
                               .in = {f[0].data, f[1 + d].data},
                               .out = {add(derived, shown, state, scratch)->data}};
    CHECK(derived->backend->apply(&launch, &call));
  }
  return add_figures(derived, shown, state, scratch);
}
