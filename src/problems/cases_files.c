#include <string.h>

#include "base/text.h"
#include "problems/flow_state.h"
#include "settings/equations.h"

const char *cases_dataset(const config *config) {
  return config->dataset[0] != '\0' ? config->dataset : PROBLEM_DATASET;
}

status cases_file_check(const grid *grid, const char *key, const char *path, const char *name, int resample,
                        char text[CASES_HELD]) {
  dataset_place place;
  int elsewhere = 0;
  CHECK(file_planes_check(grid, key, path, name, resample, &place, &elsewhere));
  if (!elsewhere || strstr(text, key) != NULL) return STATUS_OK;
  const double *o = place.origin;
  double h[3];
  for (int d = 0; d < 3; d++) h[d] = place.known[d] ? place.spacing[d] : grid->h[d];
  text_add(text, CASES_HELD, "; ", "%s = %.100s: from %.7g, %.7g, %.7g on, %.7g, %.7g, %.7g apart", key, path,
           o[0], o[1], o[2], h[0], h[1], h[2]);
  return STATUS_OK;
}

static status check_case(const config *config, const grid *grid, char text[CASES_HELD]) {
  if (cases_at(config->initial)->from != PROBLEM_FILE) return STATUS_OK;
  if (equation_is(config, EQUATION_GAS)) {
    for (int i = 0; i < FLOW_UNKNOWNS; i++)
      CHECK(cases_file_check(grid, "initial.file", config->initial_file, flow_dataset(i),
                             config->initial_resample, text));
    return STATUS_OK;
  }
  return cases_file_check(grid, "initial.file", config->initial_file, cases_dataset(config),
                          config->initial_resample, text);
}

static status check_velocity(const config *config, const grid *grid, char text[CASES_HELD]) {
  static const char *const names[3] = {"u", "v", "w"};
  if (velocities_at(config->velocity)->from != PROBLEM_FILE) return STATUS_OK;
  for (int d = 0; d < 3; d++)
    CHECK(cases_file_check(grid, "velocity.file", config->velocity_file, names[d], config->velocity_resample,
                           text));
  return STATUS_OK;
}

status cases_files_check(const config *config, const grid *grid, int begins, char text[CASES_HELD]) {
  text[0] = '\0';
  if (begins) CHECK(check_case(config, grid, text));
  return equation_is(config, EQUATION_CARRIED) ? check_velocity(config, grid, text) : STATUS_OK;
}
