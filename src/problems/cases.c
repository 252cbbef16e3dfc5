#include "problems/flow_state.h"

#include <math.h>
#include <stdlib.h>
#include <xxhash.h>

#include "settings/equations.h"

static const initial_case *case_of(const config *config) {
  return cases_at(config->initial);
}

static const velocity_field *velocity_of(const config *config) {
  return velocities_at(config->velocity);
}

/* Entry of an axis's table at x, the position at t = 0 as its image in the domain: a factor of a product, the
 * distance from a body's centre, or the coordinate itself for a formula. */
static double axis_entry(const config *config, int d, double x, double time) {
  if (case_of(config)->from == PROBLEM_FORMULA)
    return problem_bounded(config, d) || (x >= 0.0 && x <= config->l[d])
               ? x
               : x - config->l[d] * floor(x / config->l[d]);
  return case_of(config)->factor != NULL ? case_of(config)->factor(config, d, x, time)
                                         : problem_offset(config, d, x - config->center[d]);
}

static void find_back(cases_solution *solution) {
  const config *config = solution->config;
  const velocity_field *velocity = velocity_of(config);
  solution->back = (problem_map){.matrix = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}}};
  if (solution->time == 0.0 || velocity->back == NULL || cases_has_source(config)) return;
  velocity->back(config, solution->time, &solution->back);
  solution->turned = velocity->motion == PROBLEM_TURN;
}

static status open_planes(cases_solution *solution) {
  const config *config = solution->config;
  return file_planes_open(config, solution->grid, "initial.file", config->initial_file, cases_dataset(config),
                          config->initial_resample, &solution->planes);
}

status cases_open(const config *config, const grid *grid, double time, cases_solution *solution) {
  *solution = (cases_solution){.config = config, .grid = grid, .time = time};
  find_back(solution);
  if (case_of(config)->from == PROBLEM_FORMULA)
    CHECK(formula_team_open(config, "initial.formula", config->formula, &solution->formula));
  if (case_of(config)->from == PROBLEM_FILE) return open_planes(solution);
  solution->scale = case_of(config)->scale != NULL ? case_of(config)->scale(config, time) : config->amplitude;
  for (int d = 0; d < 3; d++) {
    solution->table[d] = malloc((size_t)grid->n[d] * sizeof(double));
    if (solution->table[d] == NULL) {
      cases_close(solution);
      return status_fail(STATUS_MEMORY, "no memory for tables of the initial condition");
    }
    for (int64_t i = 0; i < grid->n[d]; i++)
      solution->table[d][i] =
          axis_entry(config, d, grid_position(grid, d, i) + solution->back.shift[d], time);
  }
  return STATUS_OK;
}

void cases_close(cases_solution *solution) {
  formula_team_close(&solution->formula);
  file_planes_close(&solution->planes);
  for (int d = 0; d < 3; d++) {
    free(solution->table[d]);
    solution->table[d] = NULL;
  }
}

static double shape(const config *config, const double entry[3]) {
  const initial_case *initial = case_of(config);
  return initial->body != NULL ? initial->body(config, entry) : entry[0] * entry[1] * entry[2];
}

static double turned_shape(const cases_solution *s, const double x[3]) {
  const problem_map *back = &s->back;
  double entry[3];
  for (int d = 0; d < 3; d++) {
    double from = back->about[d] + back->shift[d];
    for (int e = 0; e < 3; e++) from += back->matrix[d][e] * (x[e] - back->about[e]);
    entry[d] = axis_entry(s->config, d, from, s->time);
  }
  return shape(s->config, entry);
}

void cases_row(const void *user, int64_t z, int64_t y, double *row) {
  const cases_solution *s = user;
  cases_row_part(s, z, y, 0, s->grid->n[0], row);
}

void cases_row_part(const cases_solution *s, int64_t z, int64_t y, int64_t first, int64_t end, double *row) {
  const config *config = s->config;
  const initial_case *initial = case_of(config);
  const double *h = s->grid->h;
  if (initial->from == PROBLEM_FILE) {
    for (int64_t x = first; x < end; x++) row[x - first] = file_planes_at(&s->planes, z, y, x);
  } else if (initial->from == PROBLEM_FORMULA) {
    for (int64_t x = first; x < end; x++) {
      const double point[3] = {s->table[0][x], s->table[1][y], s->table[2][z]};
      row[x - first] = formula_team_at(&s->formula, point);
    }
  } else if (s->turned) {
    for (int64_t x = first; x < end; x++) {
      const double point[3] = {(double)x * h[0], (double)y * h[1], (double)z * h[2]};
      row[x - first] = config->background + s->scale * turned_shape(s, point);
    }
  } else if (initial->body != NULL) {
    for (int64_t x = first; x < end; x++) {
      const double offset[3] = {s->table[0][x], s->table[1][y], s->table[2][z]};
      row[x - first] = config->background + s->scale * initial->body(config, offset);
    }
  } else {
    const double factor = s->scale * s->table[1][y] * s->table[2][z];
    for (int64_t x = first; x < end; x++) row[x - first] = config->background + factor * s->table[0][x];
  }
}

status cases_verdict(const cases_solution *solution) {
  return formula_team_verdict(&solution->formula);
}

/* Hashes rows at equal distances along z, with y advancing at the same time. */
static uint64_t hash_rows(const grid *grid, field_row row_of, const void *user, double *row, uint64_t seed) {
  enum { ROWS = 16 };
  for (int64_t i = 0; i < ROWS; i++) {
    row_of(user, i * (grid->n[2] - 1) / (ROWS - 1), (5 * i % ROWS) * (grid->n[1] - 1) / (ROWS - 1), row);
    seed = XXH3_64bits_withSeed(row, (size_t)grid->n[0] * sizeof *row, seed);
  }
  return seed;
}

static uint64_t hash_velocity(cases_velocity *velocity, double *row, uint64_t seed) {
  const double period = velocity->config->period;
  double factor[8];
  for (int d = 0; d < 3; d++) {
    velocity->component = (axis)d;
    seed = hash_rows(velocity->grid, cases_velocity_row, velocity, row, seed);
  }
  for (int i = 0; i < 8; i++) factor[i] = cases_velocity_factor(velocity->config, 0.07 * i * period);
  return XXH3_64bits_withSeed(factor, sizeof factor, seed);
}

static status hash_flow(const config *config, const grid *grid, int unknown, double *row, uint64_t *hash) {
  flow_state state;
  CHECK(flow_state_open(config, grid, 0.0, unknown, &state));
  *hash = hash_rows(grid, flow_state_row, &state, row, *hash);
  const status result = flow_state_verdict(&state);
  flow_state_close(&state);
  return result;
}

status cases_fingerprint(const config *config, const grid *grid, uint64_t *fingerprint) {
  cases_solution solution = {.config = config};
  cases_velocity velocity = {.config = config};
  double *row = malloc((size_t)grid->n[0] * sizeof *row);
  status result = row != NULL ? STATUS_OK : status_fail(STATUS_MEMORY, "no memory for a row");
  const int flows = equation_is(config, EQUATION_GAS);
  const int case_here = case_of(config)->from != PROBLEM_FILE && !flows;
  const int velocity_here = velocity_of(config)->from != PROBLEM_FILE;
  *fingerprint = 0;
  for (int i = 0; i < FLOW_UNKNOWNS && flows && case_of(config)->from != PROBLEM_FILE && result == STATUS_OK;
       i++)
    result = hash_flow(config, grid, i, row, fingerprint);
  if (result == STATUS_OK && case_here) result = cases_open(config, grid, 0.0, &solution);
  if (result == STATUS_OK && case_here) {
    *fingerprint = hash_rows(grid, cases_row, &solution, row, *fingerprint);
    result = cases_verdict(&solution);
  }
  if (result == STATUS_OK && velocity_here) result = cases_velocity_open(config, grid, &velocity);
  if (result == STATUS_OK && velocity_here) {
    *fingerprint = hash_velocity(&velocity, row, *fingerprint);
    result = cases_velocity_verdict(&velocity);
  }
  cases_close(&solution);
  cases_velocity_close(&velocity);
  free(row);
  return result;
}

status cases_source_open(const config *config, const grid *grid, cases_source *source) {
  *source = (cases_source){.term = 0};
  CHECK(cases_velocity_open(config, grid, &source->velocity));
  for (int d = 0; d < 3; d++) {
    source->table[d] = malloc((size_t)grid->n[d] * sizeof *source->table[d]);
    if (source->table[d] == NULL) {
      cases_source_close(source);
      return status_fail(STATUS_MEMORY, "no memory for tables of the source");
    }
    for (int64_t i = 0; i < grid->n[d]; i++)
      case_of(config)->source->entry(config, grid, d, i, source->table[d][i]);
  }
  return STATUS_OK;
}

void cases_source_close(cases_source *source) {
  cases_velocity_close(&source->velocity);
  for (int d = 0; d < 3; d++) {
    free(source->table[d]);
    source->table[d] = NULL;
  }
}

void cases_source_row(const void *user, int64_t z, int64_t y, double *row) {
  const cases_source *source = user;
  const cases_velocity *velocity = &source->velocity;
  const problem_source *terms = case_of(velocity->config)->source;
  for (int64_t x = 0; x < velocity->grid->n[0]; x++) {
    const double *const entry[3] = {source->table[0][x], source->table[1][y], source->table[2][z]};
    double c[3];
    for (int d = 0; d < 3; d++) c[d] = cases_velocity_at(velocity, (axis)d, z, y, x);
    row[x] = terms->value(velocity->config, source->term, entry, c);
  }
}

void cases_source_factors(const config *config, double time, double factors[CASES_SOURCES]) {
  case_of(config)->source->factors(config, time, cases_velocity_factor(config, time), factors);
}
