#include "problems/source.h"

#include <string.h>

int source_find(const config *config, int unknown, const char *name) {
  static const char *const names[CONFIG_SOURCES] = {"", "u", "v", "w"};
  int index = unknown == 0 ? 0 : CONFIG_SOURCES - 1;
  while (unknown > 0 && index > 0 && strcmp(names[index], name) != 0) index--;
  return (unknown == 0 || index > 0) && config->source[index][0] != '\0' ? index : -1;
}

int source_given(const config *config) {
  for (int i = 0; i < CONFIG_SOURCES; i++)
    if (config->source[i][0] != '\0') return 1;
  return 0;
}

const char *source_key(int index) {
  static const char *const keys[CONFIG_SOURCES] = {"source.formula", "source.formula_u", "source.formula_v",
                                                   "source.formula_w"};
  return keys[index];
}

status source_open(const config *config, const grid *grid, int index, source *source) {
  *source = (struct source){.config = config, .grid = grid};
  return formula_team_open(config, source_key(index), config->source[index], &source->formula);
}

void source_close(source *source) {
  formula_team_close(&source->formula);
}

void source_row(const void *user, int64_t z, int64_t y, double *row) {
  const source *source = user;
  const grid *grid = source->grid;
  for (int64_t x = 0; x < grid->n[0]; x++) {
    const double point[3] = {grid_position(grid, 0, x), grid_position(grid, 1, y), grid_position(grid, 2, z)};
    row[x] = formula_team_at(&source->formula, point);
  }
}

status source_verdict(const source *source) {
  return formula_team_verdict(&source->formula);
}
