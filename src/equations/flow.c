#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "equations/equation.h"
#include "problems/flow_state.h"
#include "settings/scheme.h"

/* Compressible flow of an ideal gas, p = density R T, in periodic boxes:
 *
 *     d density/dt = -div(density u),   d(density u)/dt = -div(density u u) - grad p + div tau,
 *     dE/dt = -div((E + p) u) + div(tau u) + div(kappa grad T),   E = p/(gamma - 1) + density |u|^2/2,
 *
 * by two-point fluxes (kernels/flow_pairs.h). The state is density, velocity and pressure; a stage advances
 * the conserved variables by increments. With viscosity, a first pass makes the dilatation and the
 * temperature, of which a stage takes differences. */
typedef struct flow {
  const config *config;
  flow_gas gas;
  stencil stencil;
  field work[FLOW_WORKS];
  int works;
} flow;

static int work_count(const config *config) {
  const flow_gas gas = flow_gas_of(config);
  return flow_works(&gas);
}

static int yes(const config *config) {
  (void)config;
  return 1;
}

/* The first pass reads the velocity, or density and pressure, and writes its arrays, which the stage reads.
 * The dissipation reads two states and writes one. */
static int stage_words(const config *config) {
  const int works = work_count(config), damping = config->dissipation > 0.0 ? 3 * FLOW_UNKNOWNS : 0;
  return damping + (works == 0 ? 0 : 2 * works + (works > 1 ? FLOW_UNKNOWNS : 2));
}

static status create(const config *config, const grid *grid, const field_space *space, void **self) {
  flow *flow = calloc(1, sizeof *flow);
  *self = flow;
  if (flow == NULL) return status_fail(STATUS_MEMORY, "no memory for the equation");
  flow->config = config;
  flow->gas = flow_gas_of(config);
  flow->stencil = stencil_make(config->order, grid->h);
  for (int i = 0; i < flow_works(&flow->gas); i++) {
    flow->works++;
    CHECK(field_create(space, &flow->work[i]));
  }
  return STATUS_OK;
}

static void destroy(void *self) {
  flow *flow = self;
  if (flow == NULL) return;
  for (int i = 0; i < flow->works; i++) field_destroy(&flow->work[i]);
  free(flow);
}

static status fill(const config *config, const grid *grid, double time, int unknown, field *field) {
  flow_state state;
  CHECK(flow_state_open(config, grid, time, unknown, &state));
  status result = field_fill(field, grid->z0, grid->n[2], 0, flow_state_row, &state);
  if (result == STATUS_OK) result = flow_state_verdict(&state);
  flow_state_close(&state);
  return result;
}

static int is_known(const config *config, double time) {
  return time == 0.0 || flow_state_known(config);
}

/* Makes shares of the limit of the largest rates A and V. That of the dissipation is the sum of
 * (|u_d| + c)/h_d, at most sqrt(3) times A. */
static void find_shares(const config *config, schedule_rates *rates) {
  const scheme *scheme = schemes_at(config->scheme);
  const double rate = rates->advection, diffusive = rates->other;
  const double damping = config->dissipation * sqrt(3.0) * rate;
  rates->advection = rate * stencil_first_maximum(config->order) / scheme_imaginary_limit(scheme);
  rates->other = (diffusive * stencil_second_symbol(config->order, PROBLEM_PI) +
                  damping * stencil_dissipation_symbol(config->order, PROBLEM_PI)) /
                 scheme_real_limit(scheme);
}

/* The limit is A s/I + (V q + B r)/R <= 1/dt: s, q and r are the largest symbols of the first and the second
 * difference and of the dissipation, I and R the scheme's limits on the imaginary and the real axis. */
static status find_rates(const config *config, const grid *grid, schedule_rates *rates) {
  double rate = 0.0, diffusive = 0.0;
  CHECK(flow_state_rates(config, grid, &rate, &diffusive));
  *rates = (schedule_rates){.advection = rate, .other = diffusive, .shares = 1};
  return STATUS_OK;
}

static status find_limit(const config *config, const grid *grid, const schedule_rates *rates, double dt,
                         equation_limit *limit) {
  (void)config;
  (void)grid;
  limit->step = 1.0 / (rates->advection + rates->other);
  limit->bound = 1;
  (void)snprintf(limit->words, EQUATION_WORDS, "a Courant number of %.4g, beyond the limit 1",
                 dt / limit->step);
  return STATUS_OK;
}

static void set_arrays(const state *state, const void *data[FLOW_UNKNOWNS]) {
  for (int i = 0; i < FLOW_UNKNOWNS && state != NULL; i++) data[i] = state->part[i].data;
}

static flow_call call_of(const flow *flow, flow_pass pass, const stage *stage) {
  flow_call call = {.pass = pass, .gas = flow->gas, .weight_f = stage->weight_f, .weight = stage->weight};
  set_arrays(stage->f, call.f);
  set_arrays(stage->base != NULL ? stage->base : stage->f, call.base);
  for (int i = 0; i < 2; i++) {
    set_arrays(stage->extra[i], call.extra[i]);
    call.weight_extra[i] = stage->weight_extra[i];
  }
  for (int i = 0; i < FLOW_UNKNOWNS; i++) call.out[i] = stage->out->part[i].data;
  for (int i = 0; i < flow->works; i++) call.work[i] = flow->work[i].data;
  return call;
}

static status measure(void *self, const state *state, schedule_rates *rates) {
  const flow *flow = self;
  const field *of = &state->part[0];
  double largest[FLOW_RATES];
  const kernels_launch launch = field_launch(of, &flow->stencil);
  flow_call call = {.pass = FLOW_LARGEST, .gas = flow->gas, .largest = largest};
  set_arrays(state, call.f);
  CHECK(of->backend->flow(&launch, &call));
  rates->advection = largest[FLOW_RATE];
  rates->other = largest[FLOW_DIFFUSIVE_RATE];
  return STATUS_OK;
}

static status prepare(void *self, const stage *stage, const field *fields[STATE_FIELDS], int *count) {
  const flow *flow = self;
  const kernels_launch launch = stage_launch(stage, &flow->stencil);
  const flow_call call = call_of(flow, FLOW_FIRST, stage);
  *count = flow->works;
  for (int i = 0; i < flow->works; i++) fields[i] = &flow->work[i];
  return flow->works == 0 ? STATUS_OK : flow->work[0].backend->flow(&launch, &call);
}

static status advance(void *self, const stage *stage) {
  const flow *flow = self;
  const kernels *backend = stage->out->part[0].backend;
  kernels_launch launch = stage_launch(stage, &flow->stencil);
  flow_call call = call_of(flow, FLOW_STAGE, stage);
  if (flow->gas.dissipation > 0.0) {
    CHECK(backend->flow(&launch, &call));
    call.pass = FLOW_DAMP;
  }
  launch.edges = stage->edges;
  return backend->flow(&launch, &call);
}

/* The last two passes of a stage take and leave a state: sources come after the dissipation. */
static status supply(void *self, const stage *stage, const void *const array[STATE_FIELDS],
                     const void *number) {
  const flow *flow = self;
  const kernels_launch launch = stage_launch(stage, &flow->stencil);
  flow_call call = call_of(flow, FLOW_SUPPLY, stage);
  for (int i = 0; i < FLOW_UNKNOWNS; i++) call.source[i] = array[i];
  call.number = number;
  memcpy(call.force, flow->config->force, sizeof call.force);
  return stage->out->part[0].backend->flow(&launch, &call);
}

/* What is measured: figures of kernels/flow.h. */
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

static status find_figure(const config *config, const grid *grid, const state *state, int figure,
                          field *out) {
  const stencil stencil = stencil_make(config->order, grid->h);
  const kernels_launch launch = field_launch(out, &stencil);
  flow_call call = {.pass = FLOW_FIGURE, .gas = flow_gas_of(config), .figure = (flow_figure)figure};
  set_arrays(state, call.f);
  call.out[0] = out->data;
  return out->backend->flow(&launch, &call);
}

static const figures measured = {
    .count = (int)(sizeof columns / sizeof columns[0]), .column = columns, .find = find_figure};

static const char *const supplied[FLOW_UNKNOWNS] = {"density", "u", "v", "w", "energy"};

const equation flow_equation = {.name = "flow",
                                .unknowns = FLOW_UNKNOWNS,
                                .names = flow_names,
                                .steady = yes,
                                .positive = 1U << FLOW_DENSITY | 1U << FLOW_PRESSURE,
                                .array_count = work_count,
                                .stage_words = stage_words,
                                .rates = find_rates,
                                .shares = find_shares,
                                .limit = find_limit,
                                .known = is_known,
                                .known_later = flow_state_known,
                                .fill = fill,
                                .create = create,
                                .destroy = destroy,
                                .measure = measure,
                                .supplied = supplied,
                                .supply = supply,
                                .prepare = prepare,
                                .stage = advance,
                                .figures = &measured};
