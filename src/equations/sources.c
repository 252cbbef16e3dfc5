#include "equations/sources.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "problems/source.h"

int sources_count(const config *config, const equation *equation) {
  int count = 0;
  for (int i = 0; i < equation->unknowns; i++) count += source_find(config, i, equation->names[i]) >= 0;
  return count;
}

int sources_steady(const config *config) {
  formula *factor = NULL;
  if (!source_given(config)) return 1;
  if (formula_open(config, config->source_factor, "t", &factor) != STATUS_OK) status_clear();
  const int varies = factor != NULL && formula_varies(factor);
  formula_close(factor);
  return !varies;
}

/* [out] largest: the largest magnitude of a field on this slab. */
static status find_largest(const field *f, const grid *grid, double *largest) {
  kernels_plane_sums *sums = malloc((size_t)grid->nz * sizeof *sums);
  if (sums == NULL) return status_fail(STATUS_MEMORY, "no memory for %d sums", grid->nz);
  const status result = field_sums(f, grid, NULL, sums);
  *largest = 0.0;
  for (int z = 0; z < grid->nz && result == STATUS_OK; z++)
    *largest = fmax(*largest, fmax(fabs(sums[z].minimum), fabs(sums[z].maximum)));
  free(sums);
  return result;
}

/* Makes the array of source i. */
static status make(const config *config, const grid *grid, const field_space *space, int index, int i,
                   sources *sources) {
  source source;
  CHECK(field_create(space, &sources->array[i]));
  sources->count = i + 1;
  CHECK(source_open(config, grid, index, &source));
  status result = field_fill(&sources->array[i], grid->z0, grid->n[2], 0, source_row, &source);
  if (result == STATUS_OK) result = source_verdict(&source);
  source_close(&source);
  CHECK(result);
  return find_largest(&sources->array[i], grid, &sources->largest[i]);
}

status sources_open(const config *config, const equation *equation, const grid *grid,
                    const field_space *space, sources *sources) {
  memset(sources, 0, sizeof *sources);
  sources->stencil = stencil_make(config->order, grid->h);
  for (int i = 0, made = 0; i < equation->unknowns; i++) {
    const int index = source_find(config, i, equation->names[i]);
    if (index < 0) continue;
    sources->unknown[made] = i;
    CHECK(make(config, grid, space, index, made++, sources));
  }
  return sources->count == 0 ? STATUS_OK : formula_open(config, config->source_factor, "t", &sources->factor);
}

void sources_close(sources *sources) {
  for (int i = 0; i < sources->count; i++) field_destroy(&sources->array[i]);
  formula_close(sources->factor);
  memset(sources, 0, sizeof *sources);
}

static double factor_at(const sources *sources, double time) {
  return formula_at(sources->factor, (const double[FORMULA_VARIABLES]){time});
}

status sources_add(const sources *sources, const stage *stage) {
  const kernels_launch launch = stage_launch(stage, &sources->stencil);
  const double factor = factor_at(sources, stage->time);
  for (int i = 0; i < sources->count; i++)
    CHECK(stage_add(stage, &launch, sources->unknown[i], factor, &sources->array[i]));
  return stage_end(stage);
}

double sources_largest(const sources *sources, const double weight[STATE_FIELDS]) {
  double squares = 0.0;
  for (int i = 0; i < sources->count; i++)
    squares += weight[sources->unknown[i]] * sources->largest[i] * sources->largest[i];
  return sqrt(squares);
}

double sources_factor(const sources *sources, double from, double to) {
  enum { TIMES = 1000 };
  double most = 0.0;
  for (int i = 0; i <= TIMES && sources->count > 0; i++)
    most = fmax(most, fabs(factor_at(sources, from + (to - from) * i / TIMES)));
  return most;
}
