#include "problems/cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* First of a table's entries that are sums. */
enum { SUM = PROBLEM_SUM };

/* Default entries: zeros along x, factors of one along y and z. */
static void table_entry(const cases_velocity *v, axis axis, int64_t i, double table[KERNELS_TABLE]) {
  for (int k = 0; k < KERNELS_TABLE; k++) table[k] = axis != AXIS_X && k < SUM ? 1.0 : 0.0;
  velocities_at(v->config->velocity)->entry(v->config, v->grid, axis, i, table);
}

static status open_formulas(cases_velocity *velocity) {
  static const char *const keys[3] = {"velocity.u", "velocity.v", "velocity.w"};
  status result = STATUS_OK;
  for (int d = 0; d < 3 && result == STATUS_OK; d++)
    result =
        formula_team_open(velocity->config, keys[d], velocity->config->component[d], &velocity->formula[d]);
  if (result != STATUS_OK) cases_velocity_close(velocity);
  return result;
}

static status open_planes(cases_velocity *velocity) {
  static const char *const names[3] = {"u", "v", "w"};
  status result = STATUS_OK;
  for (int d = 0; d < 3 && result == STATUS_OK; d++)
    result =
        file_planes_open(velocity->config, velocity->grid, "velocity.file", velocity->config->velocity_file,
                         names[d], velocity->config->velocity_resample, &velocity->planes[d]);
  if (result != STATUS_OK) cases_velocity_close(velocity);
  return result;
}

status cases_velocity_open(const config *config, const grid *grid, cases_velocity *velocity) {
  *velocity = (cases_velocity){.config = config, .grid = grid};
  if (velocities_at(config->velocity)->from == PROBLEM_FORMULA) return open_formulas(velocity);
  if (velocities_at(config->velocity)->from == PROBLEM_FILE) return open_planes(velocity);
  for (int d = 0; d < 3; d++) {
    velocity->table[d] = malloc((size_t)grid->n[d] * sizeof *velocity->table[d]);
    if (velocity->table[d] == NULL) {
      cases_velocity_close(velocity);
      return status_fail(STATUS_MEMORY, "no memory for tables of the velocity");
    }
    for (int64_t i = 0; i < grid->n[d]; i++) table_entry(velocity, (axis)d, i, velocity->table[d][i]);
  }
  return STATUS_OK;
}

void cases_velocity_close(cases_velocity *velocity) {
  for (int d = 0; d < 3; d++) {
    free(velocity->table[d]);
    velocity->table[d] = NULL;
    formula_team_close(&velocity->formula[d]);
    file_planes_close(&velocity->planes[d]);
  }
}

status cases_velocity_verdict(const cases_velocity *velocity) {
  for (int d = 0; d < 3; d++) CHECK(formula_team_verdict(&velocity->formula[d]));
  return STATUS_OK;
}

/* Uses the arithmetic and the precision of the kernels, so that the largest time step and the sources belong
 * to the velocity that advects. */
static double value_single(const double *x, const double *y, const double *z, int d) {
  const float product = (float)y[d] * (float)z[d];
  const float sum = (float)y[SUM + d] + (float)z[SUM + d];
  return (double)fmaf((float)x[d], product, sum);
}

static double value_double(const double *x, const double *y, const double *z, int d) {
  return fma(x[d], y[d] * z[d], y[SUM + d] + z[SUM + d]);
}

static double formula_value(const cases_velocity *velocity, axis component, int64_t z, int64_t y, int64_t x) {
  const grid *grid = velocity->grid;
  const double point[3] = {grid_position(grid, 0, x), grid_position(grid, 1, y), grid_position(grid, 2, z)};
  const double value = formula_team_at(&velocity->formula[component], point);
  return velocity->config->precision == PRECISION_SINGLE ? (double)(float)value : value;
}

double cases_velocity_at(const cases_velocity *velocity, axis component, int64_t z, int64_t y, int64_t x) {
  if (velocity->planes[component].data != NULL) return file_planes_at(&velocity->planes[component], z, y, x);
  if (velocity->formula[component].count > 0) return formula_value(velocity, component, z, y, x);
  const double *of_column = velocity->table[AXIS_X][x];
  const double *of_row = velocity->table[AXIS_Y][y], *of_plane = velocity->table[AXIS_Z][z];
  return velocity->config->precision == PRECISION_SINGLE
             ? value_single(of_column, of_row, of_plane, (int)component)
             : value_double(of_column, of_row, of_plane, (int)component);
}

void cases_velocity_row(const void *user, int64_t z, int64_t y, double *row) {
  const cases_velocity *v = user;
  for (int64_t x = 0; x < v->grid->n[0]; x++) row[x] = cases_velocity_at(v, v->component, z, y, x);
}

/* The formula of t, or NULL for a factor of 1. It is kept between calls, because each stage evaluates it and
 * parsing takes longer than evaluating. */
static formula *factor_formula(const config *config) {
  static _Thread_local struct {
    formula *formula;
    char text[CONFIG_FORMULA_SIZE];
    double l[3];
    config_constant constants[CONFIG_MOST_CONSTANTS];
  } kept;
  if (config->factor[0] == '\0' || strcmp(config->factor, "1") == 0) return NULL;
  if (kept.formula == NULL || strcmp(kept.text, config->factor) != 0 ||
      memcmp(kept.l, config->l, sizeof kept.l) != 0 ||
      memcmp(kept.constants, config->constants, sizeof kept.constants) != 0) {
    formula_close(kept.formula);
    (void)snprintf(kept.text, sizeof kept.text, "%s", config->factor);
    memcpy(kept.l, config->l, sizeof kept.l);
    memcpy(kept.constants, config->constants, sizeof kept.constants);
    if (formula_open(config, config->factor, "t", &kept.formula) != STATUS_OK) status_clear();
  }
  return kept.formula;
}

double cases_velocity_factor(const config *config, double time) {
  const velocity_field *velocity = velocities_at(config->velocity);
  if (velocity->from == PROBLEM_FORMULA) {
    formula *formula = factor_formula(config);
    return formula == NULL ? 1.0 : formula_at(formula, (const double[FORMULA_VARIABLES]){time});
  }
  return velocity->factor == NULL ? 1.0 : velocity->factor(config, time);
}

int cases_velocity_steady(const config *config) {
  if (velocities_at(config->velocity)->from == PROBLEM_FORMULA) {
    formula *formula = factor_formula(config);
    return formula == NULL || !formula_varies(formula);
  }
  return velocities_at(config->velocity)->factor == NULL;
}

int cases_velocity_stored(const config *config) {
  return velocities_at(config->velocity)->from != PROBLEM_FUNCTIONS;
}

int cases_velocity_uniform(const config *config) {
  return velocities_at(config->velocity)->uniform;
}

/* Largest sum of |c_i|/h_i in one row, and each of them; `row` holds 2 nx doubles. */
static double row_rate(const cases_velocity *fields, int64_t z, int64_t y, double along[3], double *row) {
  const int64_t nx = fields->grid->n[0];
  cases_velocity velocity = *fields; /* a copy, for its member `component`; the tables are shared */
  double *sum = row + nx;
  for (int64_t x = 0; x < nx; x++) sum[x] = 0.0;
  for (int d = 0; d < 3; d++) {
    velocity.component = (axis)d;
    cases_velocity_row(&velocity, z, y, row);
    for (int64_t x = 0; x < nx; x++) {
      const double part = fabs(row[x]) / velocity.grid->h[d];
      sum[x] += part;
      along[d] = fmax(along[d], part);
    }
  }
  double largest = 0.0;
  for (int64_t x = 0; x < nx; x++) largest = fmax(largest, sum[x]);
  return largest;
}

status cases_velocity_rate(const config *config, const grid *grid, double along[3], double *rate) {
  double largest = 0.0;
  *rate = 0.0;
  for (int d = 0; d < 3; d++) along[d] = 0.0;
  if (cases_velocity_uniform(config)) {
    for (int d = 0; d < 3; d++) {
      along[d] = fabs(config->uniform[d]) / grid->h[d];
      *rate += along[d];
    }
    return STATUS_OK;
  }
  cases_velocity velocity;
  CHECK(cases_velocity_open(config, grid, &velocity));
  const int64_t rows = grid->nz * grid->n[1];
  int complete = 1;
#pragma omp parallel reduction(max : largest, along[:3]) reduction(&& : complete)
  {
    double *row = malloc(2 * (size_t)grid->n[0] * sizeof *row);
    complete = row != NULL;
#pragma omp for schedule(static)
    for (int64_t i = 0; i < rows; i++) {
      if (row != NULL)
        largest = fmax(largest, row_rate(&velocity, grid->z0 + i / grid->n[1], i % grid->n[1], along, row));
    }
    free(row);
  }
  const status verdict = cases_velocity_verdict(&velocity);
  cases_velocity_close(&velocity);
  *rate = largest;
  CHECK(verdict);
  return complete ? STATUS_OK : status_fail(STATUS_MEMORY, "no memory for a row of velocities");
}
