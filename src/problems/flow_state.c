#include "problems/flow_state.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "problems/source.h"

const char *const flow_names[FLOW_UNKNOWNS] = {"density", "u", "v", "w", "pressure"};

const char *flow_dataset(int unknown) {
  static const char *const names[FLOW_UNKNOWNS] = {"VTKHDF/PointData/density", "VTKHDF/PointData/u",
                                                   "VTKHDF/PointData/v", "VTKHDF/PointData/w",
                                                   "VTKHDF/PointData/pressure"};
  return names[unknown];
}

static const problem_flow *case_of(const config *config) {
  return cases_at(config->initial)->flow;
}

int flow_state_known(const config *config) {
  const problem_flow *of = case_of(config);
  const flow_law law = flow_gas_of(config).law;
  if (of == NULL || law == FLOW_SUTHERLAND || source_given(config)) return 0;
  return law == FLOW_INVISCID ? of->inviscid : of->viscous;
}

static status open_tables(flow_state *state) {
  for (int d = 0; d < 3; d++) {
    state->table[d] = calloc((size_t)state->grid->n[d], sizeof *state->table[d]);
    if (state->table[d] == NULL) {
      flow_state_close(state);
      return status_fail(STATUS_MEMORY, "no memory for tables of the initial condition");
    }
    for (int64_t i = 0; i < state->grid->n[d]; i++)
      case_of(state->config)
          ->entry(state->config, d, grid_position(state->grid, d, i), state->time, state->table[d][i]);
  }
  return STATUS_OK;
}

status flow_state_open(const config *config, const grid *grid, double time, int unknown, flow_state *state) {
  static const char *const keys[FLOW_UNKNOWNS] = {"initial.density", "initial.u", "initial.v", "initial.w",
                                                  "initial.pressure"};
  const initial_case *initial = cases_at(config->initial);
  *state = (flow_state){.config = config, .grid = grid, .time = time, .unknown = unknown};
  if (initial->from == PROBLEM_FORMULA)
    return formula_team_open(config, keys[unknown], config->gas[unknown], &state->formula);
  if (initial->from == PROBLEM_FILE)
    return file_planes_open(config, grid, "initial.file", config->initial_file, flow_dataset(unknown),
                            config->initial_resample, &state->planes);
  return open_tables(state);
}

void flow_state_close(flow_state *state) {
  formula_team_close(&state->formula);
  file_planes_close(&state->planes);
  for (int d = 0; d < 3; d++) {
    free(state->table[d]);
    state->table[d] = NULL;
  }
}

void flow_state_row(const void *user, int64_t z, int64_t y, double *row) {
  const flow_state *s = user;
  const initial_case *initial = cases_at(s->config->initial);
  for (int64_t x = 0; x < s->grid->n[0]; x++) {
    if (initial->from == PROBLEM_FILE) {
      row[x] = file_planes_at(&s->planes, z, y, x);
    } else if (initial->from == PROBLEM_FORMULA) {
      const double point[3] = {grid_position(s->grid, 0, x), grid_position(s->grid, 1, y),
                               grid_position(s->grid, 2, z)};
      row[x] = formula_team_at(&s->formula, point);
    } else {
      const double *const entry[3] = {s->table[0][x], s->table[1][y], s->table[2][z]};
      row[x] = initial->flow->value(s->config, s->unknown, s->time, entry);
    }
  }
}

status flow_state_verdict(const flow_state *state) {
  return formula_team_verdict(&state->formula);
}

/* The least density and pressure: smaller ones lose digits, or are 0. */
static double least_of(const config *config) {
  return config->precision == PRECISION_SINGLE ? FLT_MIN : DBL_MIN;
}

/* The largest rates of a row. Returns 0, or 1 + the first point whose density or pressure is below `least`.
 */
static int64_t row_rates(const flow_gas *gas, const grid *grid, double *const rows[FLOW_UNKNOWNS],
                         double least, double rates[2]) {
  const double *h = grid->h;
  const double squares = 1.0 / (h[0] * h[0]) + 1.0 / (h[1] * h[1]) + 1.0 / (h[2] * h[2]);
  for (int64_t x = 0; x < grid->n[0]; x++) {
    const double density = rows[FLOW_DENSITY][x], p = rows[FLOW_PRESSURE][x];
    if (!(density >= least) || !(p >= least)) return 1 + x;
    double rate = sqrt(gas->gamma * p / density) * sqrt(squares);
    for (int d = 0; d < 3; d++) rate += fabs(rows[FLOW_U + d][x]) / h[d];
    rates[0] = fmax(rates[0], rate);
    const double law = flow_gas_law(gas, p / (density * gas->gas_constant));
    rates[1] =
        fmax(rates[1], law * gas->viscosity / density * fmax(1.0, gas->gamma / gas->prandtl) * squares);
  }
  return 0;
}

/* All rows of a slab. [out] bad: the first point in z, y, x at which the state is impossible, 0 if none. */
static status slab_rates(const flow_state states[FLOW_UNKNOWNS], double rates[2], int64_t *bad) {
  const config *config = states[0].config;
  const grid *grid = states[0].grid;
  const flow_gas gas = flow_gas_of(config);
  const size_t nx = (size_t)grid->n[0];
  double largest = 0.0, diffusive = 0.0;
  int64_t first = INT64_MAX;
  int missing = 0;
#pragma omp parallel reduction(max : largest, diffusive, missing) reduction(min : first)
  {
    double *memory = malloc(FLOW_UNKNOWNS * nx * sizeof *memory), mine[2] = {0.0, 0.0};
    double *rows[FLOW_UNKNOWNS];
    missing = memory == NULL;
#pragma omp for schedule(static)
    for (int64_t z = grid->z0; z < grid->z0 + grid->nz; z++) {
      for (int64_t y = 0; y < grid->n[1] && !missing; y++) {
        for (int i = 0; i < FLOW_UNKNOWNS; i++) {
          rows[i] = memory + (size_t)i * nx;
          flow_state_row(&states[i], z, y, rows[i]);
        }
        const int64_t x = row_rates(&gas, grid, rows, least_of(config), mine);
        const int64_t place = (z * grid->n[1] + y) * grid->n[0] + x - 1;
        if (x > 0 && place < first) first = place;
      }
    }
    largest = mine[0];
    diffusive = mine[1];
    free(memory);
  }
  rates[0] = largest;
  rates[1] = diffusive;
  *bad = first;
  return missing ? status_fail(STATUS_MEMORY, "no memory for rows of the initial condition") : STATUS_OK;
}

status flow_state_rates(const config *config, const grid *grid, double *rate, double *diffusive) {
  flow_state states[FLOW_UNKNOWNS];
  double rates[2] = {0.0, 0.0};
  int64_t bad = INT64_MAX;
  int opened = 0;
  status result = STATUS_OK;
  for (; opened < FLOW_UNKNOWNS && result == STATUS_OK; opened++)
    result = flow_state_open(config, grid, 0.0, opened, &states[opened]);
  if (result != STATUS_OK) opened--;
  if (result == STATUS_OK) result = slab_rates(states, rates, &bad);
  for (int i = 0; i < opened; i++) {
    if (result == STATUS_OK) result = flow_state_verdict(&states[i]);
    flow_state_close(&states[i]);
  }
  *rate = rates[0];
  *diffusive = rates[1];
  if (result != STATUS_OK || bad == INT64_MAX) return result;
  const int64_t at[3] = {bad % grid->n[0], bad / grid->n[0] % grid->n[1], bad / grid->n[0] / grid->n[1]};
  char said[512] = "";
  if (cases_at(config->initial)->from == PROBLEM_FORMULA)
    (void)snprintf(said, sizeof said, ", initial.density = %.200s, initial.pressure = %.200s",
                   config->gas[FLOW_DENSITY], config->gas[FLOW_PRESSURE]);
  if (problem_uses(config, "initial", "mach"))
    text_add(said, sizeof said, "", ", initial.mach = %g", config->mach);
  if (problem_uses(config, "initial", "amplitude"))
    text_add(said, sizeof said, "", ", initial.amplitude = %g", config->amplitude);
  return status_fail(
      STATUS_USAGE,
      "initial.case = %s%s: the density or the pressure is not positive at x = %.9g, y = %.9g, "
      "z = %.9g; accepted: above %s at every point",
      cases_at(config->initial)->name, said, grid_position(grid, 0, at[0]), grid_position(grid, 1, at[1]),
      grid_position(grid, 2, at[2]),
      config->precision == PRECISION_SINGLE ? "1.2e-38, the least number of single precision," : "0");
}
