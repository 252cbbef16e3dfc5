#include "problems/source.h"

#include <stdio.h>
#include <string.h>

static int has_file(const config *config) {
  return config->source_data[0] != '\0';
}

/* The index in config.source of an unknown's formula, or -1 if it cannot have one. */
static int find(int unknown, const char *name) {
#define X(name, help) #name,
  static const char *const names[] = {"", CONFIG_SOURCE_LIST(X)};
#undef X
  int index = unknown == 0 ? 0 : CONFIG_SOURCES - 1;
  while (index > 0 && strcmp(names[index], name) != 0) index--;
  return unknown == 0 || index > 0 ? index : -1;
}

int source_exists(const config *config, int unknown, const char *name) {
  const int index = find(unknown, name);
  if (has_file(config)) return dataset_has(config->source_data, name);
  return index >= 0 && config->source[index][0] != '\0';
}

void source_describe(const config *config, int unknown, const char *name, char *text, size_t size) {
  if (has_file(config))
    (void)snprintf(text, size, "%s of source.file", name);
  else
    (void)snprintf(text, size, "%s", source_key(find(unknown, name)));
}

status source_open(const config *config, const grid *grid, int unknown, const char *name, source *source) {
  const int index = find(unknown, name);
  *source = (struct source){.config = config, .grid = grid};
  if (has_file(config))
    return file_planes_open(config, grid, "source.file", config->source_data, name, config->source_resample,
                            &source->planes);
  return formula_team_open(config, source_key(index), config->source[index], &source->formula);
}

void source_close(source *source) {
  formula_team_close(&source->formula);
  file_planes_close(&source->planes);
}

void source_row(const void *user, int64_t z, int64_t y, double *row) {
  const source *source = user;
  const grid *grid = source->grid;
  for (int64_t x = 0; x < grid->n[0]; x++) {
    const double point[3] = {grid_position(grid, 0, x), grid_position(grid, 1, y), grid_position(grid, 2, z)};
    row[x] = source->planes.data != NULL ? file_planes_at(&source->planes, z, y, x)
                                         : formula_team_at(&source->formula, point);
  }
}

status source_verdict(const source *source) {
  return formula_team_verdict(&source->formula);
}
