#include <math.h>
#include <string.h>

#include "base/number.h"
#include "config/config_table.h"
#include "problems/cases.h"
#include "problems/medium.h"
#include "problems/source.h"
#include "settings/equations.h"

static const char *const components[3] = {"u", "v", "w"};

/* Refuses a key with the message recorded last. */
static status refuse(const config *config, const char *section, const char *name, status found) {
  char what[CONFIG_TEXT_SIZE];
  if (found != STATUS_USAGE) return found;
  (void)snprintf(what, sizeof what, "%s", status_message(found));
  status_clear();
  return config_refuse(config, section, name, "%s", what);
}

typedef struct sample {
  int64_t at[3];
  double x[FORMULA_VARIABLES], value;
} sample;

/* Evaluates a formula at a point of the grid. Returns 1 if its value is allowed. */
static int take(const config *config, formula *formula, sample *sample) {
  for (int d = 0; d < 3; d++)
    sample->x[d] = (double)sample->at[d] * config->l[d] / (double)(config->n[d] - problem_bounded(config, d));
  sample->value = formula_at(formula, sample->x);
  return fabs(sample->value) <= PROBLEM_LARGEST;
}

/* Goes back to the lowest point whose value is not allowed, if it is among the first points of the grid, or
 * else to the lowest one in the row of that found. */
static void find_lowest(const config *config, formula *formula, sample *found) {
  enum { FIRST = 1 << 18 };
  const int64_t nx = config->n[0], ny = config->n[1];
  const int64_t row = (found->at[2] * ny + found->at[1]) * nx, end = row + found->at[0];
  for (int64_t i = 0; i < end; i++) {
    sample lower = {.at = {i % nx, i / nx % ny, i / nx / ny}};
    if (i == FIRST && i < row) i = row - 1;
    if (take(config, formula, &lower)) continue;
    *found = lower;
    return;
  }
}

/* Evaluates a formula at a few points of the grid, including the ends and the middle. All points are checked
 * when the field is made. */
static status sample_space(const config *config, const char *section, const char *name, formula *formula) {
  enum { ACROSS = 5 };
  char text[NUMBER_TEXT];
  for (int i = 0; i < ACROSS * ACROSS * ACROSS; i++) {
    const int64_t step[3] = {i % ACROSS, i / ACROSS % ACROSS, i / (ACROSS * ACROSS)};
    sample found = {.value = 0.0};
    for (int d = 0; d < 3; d++) found.at[d] = step[d] * (config->n[d] - 1) / (ACROSS - 1);
    if (take(config, formula, &found)) continue;
    find_lowest(config, formula, &found);
    return config_refuse(config, section, name,
                         "is %s at x = %g, y = %g, z = %g; accepted: a magnitude of at most %g",
                         number_apart(found.value, copysign(PROBLEM_LARGEST, found.value), text), found.x[0],
                         found.x[1], found.x[2], PROBLEM_LARGEST);
  }
  return STATUS_OK;
}

/* Evaluates a formula at times of the run, as far as they are known before the step size is. */
static status sample_time(const config *config, const char *section, formula *formula) {
  enum { TIMES = 1000 };
  char text[NUMBER_TEXT];
  const double end = config->t_end > 0.0 ? config->t_end : (double)config->steps * config->dt;
  for (int i = 0; i <= TIMES; i++) {
    const double time[FORMULA_VARIABLES] = {fmax(end, 0.0) * i / TIMES};
    const double value = formula_at(formula, time);
    const int velocity = strcmp(section, "velocity") == 0;
    if (velocity ? problem_factor_allowed(value) : isfinite(value) && fabs(value) <= PROBLEM_LARGEST)
      continue;
    if (!velocity)
      return config_refuse(config, section, "factor", "is %g at t = %g; accepted: a magnitude of at most %g",
                           isnan(value) ? fabs(value) : value, time[0], PROBLEM_LARGEST);
    return config_refuse(config, "velocity", "factor",
                         "is %s at t = %g; accepted: at most 1 in magnitude, with the largest velocity in u, "
                         "v, w",
                         number_apart(value, copysign(1.0, value), text), time[0]);
  }
  return STATUS_OK;
}

static status check(const config *config, const char *section, const char *name, const char *text,
                    const char *variables) {
  formula *formula = NULL;
  if (text[0] == '\0') return config_refuse(config, section, name, "missing; accepted: a formula of x, y, z");
  const status read = formula_open(config, text, variables, &formula);
  if (read != STATUS_OK) return refuse(config, section, name, read);
  const status result = strcmp(variables, "t") == 0 ? sample_time(config, section, formula)
                                                    : sample_space(config, section, name, formula);
  formula_close(formula);
  return result;
}

/* Reads u, v, w as numbers. A file takes the place of formulas, too: then they are without effect. */
static status check_numbers(config *config) {
  const int replaced = velocities_at(config->velocity)->from == PROBLEM_FILE;
  for (int d = 0; d < 3; d++) {
    char subject[CONFIG_FORMULA_SIZE + CONFIG_TEXT_SIZE];
    const char *wrong = config_component_read(config, d);
    if (wrong != NULL && replaced) config->uniform[d] = 0.0;
    if (wrong == NULL || replaced) {
      memset(config->component[d], 0, CONFIG_FORMULA_SIZE);
      continue;
    }
    (void)snprintf(subject, sizeof subject, "velocity.%s = %s", components[d], config->component[d]);
    return config_fail(config, config->line[config_key_find("velocity", components[d])], subject,
                       "%s; accepted: a number from -1e+30 to 1e+30; formulas with velocity.field = formula",
                       wrong);
  }
  return STATUS_OK;
}

/* Checks boundary.value: "exact", or a formula (a number is one). */
static status check_entering(const config *config) {
  if (!cases_bounded(config) || !equation_is(config, EQUATION_CARRIED)) return STATUS_OK;
  if (strcmp(config->entering, CONFIG_EXACT) != 0)
    return check(config, "boundary", "value", config->entering, "xyzt");
  if (cases_exact_can_enter(config)) return STATUS_OK;
  return config_refuse(
      config, "boundary", "value",
      "the solution is not known at all times; accepted: a number or a formula of x, y, z, t");
}

static status check_gas(const config *config) {
  static const char *const names[FLOW_UNKNOWNS] = {"density", "u", "v", "w", "pressure"};
  for (int i = 0; i < FLOW_UNKNOWNS; i++) CHECK(check(config, "initial", names[i], config->gas[i], "xyz"));
  return STATUS_OK;
}

static status check_sources(const config *config) {
  for (int i = 0; i < CONFIG_SOURCES; i++) {
    const char *name = strchr(source_key(i), '.') + 1;
    if (config->source[i][0] == '\0') continue;
    if (config->source_data[0] != '\0')
      return config_refuse(config, "source", "file", "%s is given, too; accepted: one of the two",
                           source_key(i));
    CHECK(check(config, "source", name, config->source[i], "xyz"));
  }
  return check(config, "source", "factor", config->source_factor, "t");
}

status config_formulas_check(config *config) {
  for (int i = 0; i < medium_count(config); i++)
    if (config->medium[i][0] != '\0')
      CHECK(check(config, "medium", medium_names[i], config->medium[i], "xyz"));
  CHECK(check_entering(config));
  CHECK(check_sources(config));
  if (velocities_at(config->velocity)->from == PROBLEM_FORMULA) {
    for (int d = 0; d < 3; d++) CHECK(check(config, "velocity", components[d], config->component[d], "xyz"));
    CHECK(check(config, "velocity", "factor", config->factor, "t"));
  } else {
    CHECK(check_numbers(config));
  }
  if (velocities_at(config->velocity)->from == PROBLEM_FILE && config->velocity_file[0] == '\0')
    return config_refuse(config, "velocity", "file", "missing; accepted: a path of an HDF5 file");
  if (cases_at(config->initial)->from == PROBLEM_FILE && config->initial_file[0] == '\0')
    return config_refuse(config, "initial", "file", "missing; accepted: a path of an HDF5 file");
  if (cases_at(config->initial)->from != PROBLEM_FORMULA) return STATUS_OK;
  if (equation_is(config, EQUATION_GAS)) return check_gas(config);
  return check(config, "initial", "formula", config->formula, "xyz");
}
