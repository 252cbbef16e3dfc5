#include "equations/sources.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

const char *sources_name(const equation *equation, int unknown) {
  return (equation->supplied != NULL ? equation->supplied : equation->names)[unknown];
}

/* Returns 1 if an unknown has a source, which the equation does not make itself. */
static int has_source(const config *config, const equation *equation, int unknown) {
  return equation->start == NULL && source_exists(config, unknown, sources_name(equation, unknown));
}

int sources_count(const config *config, const equation *equation) {
  int count = 0;
  for (int i = 0; i < equation->unknowns; i++) count += has_source(config, equation, i);
  return count;
}

int sources_steady(const config *config) {
  formula *factor = NULL;
  if (source_factor(config, &factor) != STATUS_OK) status_clear();
  const int varies = factor != NULL && formula_varies(factor);
  formula_close(factor);
  return !varies;
}

/* Refuses a dataset named as an unknown whose source has another name, which nothing would read. */
static status check_name(const char *path, const equation *equation, int unknown) {
  const char *name = sources_name(equation, unknown), *other = equation->names[unknown];
  char accepted[128] = "";
  if (name == NULL || strcmp(name, other) == 0 || !dataset_has(path, other) || dataset_has(path, name))
    return STATUS_OK;
  for (int i = 0; i < equation->unknowns; i++)
    if (sources_name(equation, i) != NULL)
      text_add(accepted, sizeof accepted, ", ", "%s", sources_name(equation, i));
  return status_fail(STATUS_USAGE, "source.file = %s: there is no source of %s; accepted: datasets %s", path,
                     other, accepted);
}

status sources_check(const config *config, const equation *equation, const grid *grid,
                     char text[CASES_HELD]) {
  const char *path = config->source_data;
  int found = 0;
  if (path[0] == '\0') return STATUS_OK;
  for (int i = 0; i < equation->unknowns; i++) {
    const char *name = sources_name(equation, i);
    CHECK(check_name(path, equation, i));
    if (name != NULL && dataset_has(path, name)) {
      CHECK(cases_file_check(grid, "source.file", path, name, config->source_resample, text));
      found++;
    }
  }
  /* the message names what such a file has */
  return found > 0 ? STATUS_OK
                   : cases_file_check(grid, "source.file", path, sources_name(equation, 0),
                                      config->source_resample, text);
}

/* Evaluates unknown i's source on this slab. */
static status try_values(const config *config, const equation *equation, const grid *grid, int i,
                         double *row) {
  source source;
  CHECK(source_open(config, grid, i, sources_name(equation, i), &source));
  for (int64_t z = grid->z0; z < grid->z0 + grid->nz; z++)
    for (int64_t y = 0; y < grid->n[1]; y++) source_row(&source, z, y, row);
  const status result = source_verdict(&source);
  source_close(&source);
  return result;
}

status sources_try(const config *config, const equation *equation, const grid *grid) {
  status result = STATUS_OK;
  double *row = malloc((size_t)grid->n[0] * sizeof *row);
  if (row == NULL) return status_fail(STATUS_MEMORY, "no memory for a row of a source");
  for (int i = 0; i < equation->unknowns && result == STATUS_OK; i++) {
    const char *name = sources_name(equation, i);
    if (name != NULL && source_exists(config, i, name)) result = try_values(config, equation, grid, i, row);
  }
  free(row);
  return result;
}

/* Makes the array of unknown i's source. */
static status make(const config *config, const grid *grid, int i, sources *sources) {
  const int made = sources->count;
  source source;
  CHECK(field_create(sources->space, &sources->array[made]));
  sources->unknown[made] = i;
  sources->count++;
  CHECK(source_open(config, grid, i, sources_name(sources->equation, i), &source));
  status result = field_fill(&sources->array[made], grid->z0, grid->n[2], 0, source_row, &source);
  if (result == STATUS_OK) result = source_verdict(&source);
  if (source.planes.data != NULL) sources->hash = 5 * sources->hash + file_planes_hash(&source.planes);
  source_close(&source);
  CHECK(result);
  return field_largest(&sources->array[made], grid, &sources->largest[made]);
}

static size_t element(const sources *sources) {
  return kernels_element_size(sources->space->shape.precision);
}

/* Of a step; axpy reads as many scalars as it may have. */
static size_t number_bytes(const sources *sources) {
  return (SCHEME_STAGES + OPERATION_SCALARS) * element(sources);
}

status sources_open(const config *config, const equation *equation, const grid *grid,
                    const field_space *space, sources *sources) {
  const kernels *backend = space->backend;
  *sources =
      (struct sources){.equation = equation, .space = space, .stencil = stencil_make(config->order, grid->h)};
  for (int i = 0; i < equation->unknowns; i++)
    if (has_source(config, equation, i)) CHECK(make(config, grid, i, sources));
  if (source_forced(config)) memcpy(sources->force, config->force, sizeof sources->force);
  sources->any = sources->count > 0 || source_forced(config);
  if (!sources->any) return STATUS_OK;
  for (int i = 0; i < SCHEME_STAGES; i++) sources->latest[i] = NAN;
  CHECK(source_factor(config, &sources->factor));
  CHECK(backend->memory_allocate(space->context, MEMORY_STAGING, SOURCES_STEPS * number_bytes(sources),
                                 (void **)&sources->staged));
  return backend->memory_allocate(space->context, MEMORY_DEVICE, number_bytes(sources),
                                  (void **)&sources->numbers);
}

void sources_close(sources *sources) {
  const field_space *space = sources->space;
  for (int i = 0; i < sources->count; i++) field_destroy(&sources->array[i]);
  formula_close(sources->factor);
  if (sources->staged != NULL) space->backend->memory_free(space->context, MEMORY_STAGING, sources->staged);
  if (sources->numbers != NULL) space->backend->memory_free(space->context, MEMORY_DEVICE, sources->numbers);
  memset(sources, 0, sizeof *sources);
}

status sources_begin(sources *sources, const stage *stages, int count) {
  const field_space *space = sources->space;
  const kernels *backend = space->backend;
  double numbers[SCHEME_STAGES] = {0.0};
  for (int i = 0; i < count; i++)
    numbers[i] = stages[i].weight * source_factor_at(sources->factor, stages[i].time);
  if (memcmp(numbers, sources->latest, (size_t)count * sizeof *numbers) == 0) return STATUS_OK;
  if (sources->copies == SOURCES_STEPS) {
    CHECK(backend->queue_wait(space->context, QUEUE_MAIN));
    sources->copies = 0;
  }
  void *staged = sources->staged + (size_t)sources->copies++ * number_bytes(sources);
  for (int i = 0; i < count; i++) kernels_put(space->shape.precision, staged, (size_t)i, numbers[i]);
  memcpy(sources->latest, numbers, sizeof numbers);
  return backend->memory_copy(space->context, QUEUE_MAIN, sources->numbers, staged,
                              (size_t)count * element(sources));
}

status sources_add(const sources *sources, void *terms, const stage *stage) {
  const kernels *backend = sources->space->backend;
  const kernels_launch launch = stage_launch(stage, &sources->stencil);
  const void *number = sources->numbers + (size_t)stage->index * element(sources);
  const void *array[STATE_FIELDS] = {NULL};
  for (int i = 0; i < sources->count; i++) array[sources->unknown[i]] = sources->array[i].data;
  if (sources->equation->supply != NULL) CHECK(sources->equation->supply(terms, stage, array, number));
  for (int i = 0; i < STATE_FIELDS && sources->equation->supply == NULL; i++) {
    void *out = array[i] != NULL ? stage->out->part[i].data : NULL;
    const kernels_call call = {
        .kind = OPERATION_axpy, .in = {array[i], out}, .out = {out}, .numbers = number};
    if (out != NULL) CHECK(backend->apply(&launch, &call));
  }
  return stage_end(stage);
}

double sources_largest(const sources *sources, const double weight[STATE_FIELDS]) {
  double squares = 0.0;
  for (int i = 0; i < sources->count; i++)
    squares += weight[sources->unknown[i]] * sources->largest[i] * sources->largest[i];
  for (int d = 0; d < 3; d++) squares += sources->force[d] * sources->force[d]; /* the rate of a velocity */
  return sqrt(squares);
}
