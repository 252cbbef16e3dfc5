#include "equations/gas_figures.h"

#include "problems/flow_state.h"

#define MEAN(text, of)                                                                                       \
  { .name = (text), .unknown = -1, .figure = (of) }

static const figures_column columns[] = {
    {.name = "mass", .unknown = FLOW_DENSITY},
    MEAN("momentum_x", FLOW_MOMENTUM),
    MEAN("momentum_y", FLOW_MOMENTUM + 1),
    MEAN("momentum_z", FLOW_MOMENTUM + 2),
    MEAN("energy", FLOW_ENERGY),
    MEAN("kinetic", FLOW_KINETIC),
    MEAN("enstrophy", FLOW_ENSTROPHY),
    MEAN("dissipation", FLOW_DISSIPATION),
    MEAN("dissipation_solenoidal", FLOW_SOLENOIDAL),
    MEAN("dissipation_dilatational", FLOW_DILATATIONAL),
    MEAN("pressure_work", FLOW_PRESSURE_WORK),
    {.name = "density_min", .unknown = FLOW_DENSITY, .fold = FIGURES_LEAST},
    {.name = "pressure_min", .unknown = FLOW_PRESSURE, .fold = FIGURES_LEAST},
    {.name = "mach_max", .unknown = -1, .figure = FLOW_MACH, .fold = FIGURES_LARGEST},
};
_Static_assert(sizeof columns / sizeof columns[0] <= FIGURES_MOST, "a record has room for all");

static status find(const config *config, const grid *grid, const state *state, int figure, field *out) {
  const stencil stencil = stencil_make(config->order, grid->h);
  const kernels_launch launch = field_launch(out, &stencil);
  flow_call call = {.pass = FLOW_FIGURE, .gas = flow_gas_of(config), .figure = (flow_figure)figure};
  for (int i = 0; i < FLOW_UNKNOWNS; i++) call.f[i] = state->part[i].data;
  call.out[0] = out->data;
  return out->backend->flow(&launch, &call);
}

const figures gas_figures = {
    .count = (int)(sizeof columns / sizeof columns[0]), .column = columns, .find = find};
