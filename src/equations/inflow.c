#include "equations/inflow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int is_exact(const config *config) {
  return strcmp(config->entering, CONFIG_EXACT) == 0;
}

int inflow_varies(const config *config) {
  formula *formula = NULL;
  if (!cases_bounded(config)) return 0;
  if (is_exact(config)) return 1;
  if (formula_open(config, config->entering, "xyzt", &formula) != STATUS_OK) status_clear();
  const int varies = formula != NULL && formula_uses(formula, 't');
  formula_close(formula);
  return varies;
}

/* Returns 1 if an end of an axis belongs to this slab. */
static int has_end(const grid *grid, int d, int end) {
  if (!grid->bounded[d]) return 0;
  return d < 2 || grid_neighbour(grid, end) < 0;
}

static status open_faces(inflow *inflow, const field_space *space) {
  const kernels_shape *shape = &space->shape;
  const size_t count[3] = {(size_t)shape->nx, (size_t)shape->ny, (size_t)shape->nz};
  const size_t size = kernels_element_size(shape->precision);
  size_t all = 0, largest = 0;
  for (int d = 0; d < 3; d++) {
    inflow->points[d] = count[(d + 1) % 3] * count[(d + 2) % 3];
    for (int end = 0; end < GRID_ENDS; end++) {
      if (!has_end(inflow->grid, d, end)) continue;
      all += inflow->points[d] * size;
      if (inflow->points[d] > largest) largest = inflow->points[d];
      CHECK(inflow->backend->memory_allocate(inflow->context, MEMORY_DEVICE, inflow->points[d] * size,
                                             &inflow->face[d][end]));
      inflow->call.value[d][end] = inflow->face[d][end];
    }
  }
  if (all == 0) return STATUS_OK;
  inflow->values = malloc(largest * sizeof *inflow->values);
  if (inflow->values == NULL) return status_fail(STATUS_MEMORY, "no memory for the values on an end");
  return inflow->backend->memory_allocate(inflow->context, MEMORY_STAGING, all, &inflow->staging);
}

/* Extends the range of values so far. NaN counts as infinite, for it has no place in a range. */
static void note(inflow *inflow, double number) {
  const double value = isnan(number) ? INFINITY : number;
  inflow->range[0] = fmin(inflow->range[0], value);
  inflow->range[1] = fmax(inflow->range[1], value);
}

/* Reads boundary.value: a formula, or a number, which is a formula without variables. */
static status open_values(inflow *inflow, const field_space *space) {
  const config *config = inflow->config;
  if (!is_exact(config)) {
    CHECK(formula_open(config, config->entering, "xyzt", &inflow->formula));
    if (!formula_varies(inflow->formula)) {
      inflow->call.number = formula_at(inflow->formula, (const double[FORMULA_VARIABLES]){0.0});
      note(inflow, inflow->call.number);
      return STATUS_OK;
    }
  }
  CHECK(inflow->backend->event_create(inflow->context, &inflow->copied));
  return open_faces(inflow, space);
}

status inflow_open(const config *config, const grid *grid, const field_space *space, const stencil *stencil,
                   inflow *inflow) {
  *inflow = (struct inflow){.config = config,
                            .grid = grid,
                            .backend = space->backend,
                            .context = space->context,
                            .precision = space->shape.precision,
                            .range = {INFINITY, -INFINITY},
                            .ends = grid_kernels_ends(grid)};
  for (int d = 0; d < 3; d++) {
    inflow->strength[d] = 1.0 / (grid->h[d] * grid_weight(grid, d, 0));
    inflow->stiffness[d] = config->diffusivity / (grid->h[d] * grid->h[d]);
    for (int end = 0; end < GRID_ENDS; end++)
      inflow->ends.fixed[d][end] = config->ends[d][end] == CONFIG_END_DIRICHLET;
  }
  CHECK(kernels_ends_open(inflow->backend, inflow->context, space->shape.precision, stencil, &inflow->ends));
  return open_values(inflow, space);
}

void inflow_close(inflow *inflow) {
  if (inflow->backend == NULL) return;
  kernels_ends_close(inflow->backend, inflow->context, &inflow->ends);
  for (int i = 0; i < 3 * GRID_ENDS; i++)
    inflow->backend->memory_free(inflow->context, MEMORY_DEVICE, inflow->face[i / GRID_ENDS][i % GRID_ENDS]);
  inflow->backend->memory_free(inflow->context, MEMORY_STAGING, inflow->staging);
  if (inflow->copied != NULL) inflow->backend->event_destroy(inflow->copied);
  free(inflow->values);
  formula_close(inflow->formula);
  *inflow = (struct inflow){.backend = NULL};
}

/* The points of an end as `rows` rows, x from `first` on. */
typedef struct face {
  int d;
  int64_t at;        /* index along the axis */
  int64_t first;     /* along x */
  size_t rows, each; /* each: points per row */
} face;

static face face_make(const inflow *inflow, int d, int end) {
  const grid *grid = inflow->grid;
  const size_t each = d == 0 ? 1 : (size_t)grid->n[0];
  const int64_t at = end == GRID_LOW ? 0 : grid->n[d] - 1;
  return (face){.d = d, .at = at, .first = d == 0 ? at : 0, .rows = inflow->points[d] / each, .each = each};
}

/* Global z and y of a row. */
static void face_row(const inflow *inflow, const face *face, size_t row, int64_t *z, int64_t *y) {
  const size_t across = face->d == 0 ? (size_t)inflow->grid->n[1] : 1;
  *z = face->d == 2 ? face->at : inflow->grid->z0 + (int64_t)(row / across);
  *y = face->d == 0 ? (int64_t)(row % across) : face->d == 1 ? face->at : (int64_t)row;
}

static status fill_exact(const inflow *inflow, const face *face, const cases_solution *solution,
                         double *values) {
#pragma omp parallel for schedule(static)
  for (size_t row = 0; row < face->rows; row++) {
    int64_t z;
    int64_t y;
    face_row(inflow, face, row, &z, &y);
    cases_row_part(solution, z, y, face->first, face->first + (int64_t)face->each, values + row * face->each);
  }
  return cases_verdict(solution);
}

/* A value that is not finite is no error here, on one rank in the middle of a step: it enters the range of
 * values, which all ranks look at where the solution is measured. */
static void fill_formula(const inflow *inflow, const face *face, double time, double *values) {
  const grid *grid = inflow->grid;
  for (size_t i = 0; i < face->rows * face->each; i++) {
    int64_t z;
    int64_t y;
    face_row(inflow, face, i / face->each, &z, &y);
    const double at[FORMULA_VARIABLES] = {grid_position(grid, 0, face->first + (int64_t)(i % face->each)),
                                          grid_position(grid, 1, y), grid_position(grid, 2, z), time};
    values[i] = formula_at(inflow->formula, at);
  }
}

/* Rounds the values and enqueues their copy to the device from `staging`. */
static status send(inflow *inflow, const double *values, size_t count, void *staging, void *to) {
  for (size_t i = 0; i < count; i++) {
    const double before = kernels_number(inflow->precision, staging, i);
    note(inflow, values[i]);
    if (inflow->filled) inflow->jump = fmax(inflow->jump, fabs(values[i] - before));
    kernels_put(inflow->precision, staging, i, values[i]);
  }
  return inflow->backend->memory_copy(inflow->context, QUEUE_MAIN, to, staging,
                                      count * kernels_element_size(inflow->precision));
}

static status fill_faces(inflow *inflow, const cases_solution *solution, double time) {
  char *staging = inflow->staging;
  for (int d = 0; d < 3; d++) {
    for (int end = 0; end < GRID_ENDS; end++) {
      if (inflow->face[d][end] == NULL) continue;
      const face face = face_make(inflow, d, end);
      if (inflow->formula != NULL)
        fill_formula(inflow, &face, time, inflow->values);
      else
        CHECK(fill_exact(inflow, &face, solution, inflow->values));
      CHECK(send(inflow, inflow->values, inflow->points[d], staging, inflow->face[d][end]));
      staging += inflow->points[d] * kernels_element_size(inflow->precision);
    }
  }
  return STATUS_OK;
}

/* Evaluates the values at `time`. The previous values have left the staging buffer, and the kernels that use
 * them are earlier in the queue. */
static status fill(inflow *inflow, double time) {
  const int changes = inflow->formula == NULL || formula_uses(inflow->formula, 't');
  if (inflow->staging == NULL || (inflow->filled && (!changes || inflow->time == time))) return STATUS_OK;
  if (inflow->filled) CHECK(inflow->backend->event_wait(inflow->copied));
  if (inflow->formula != NULL) {
    CHECK(fill_faces(inflow, NULL, time));
  } else {
    cases_solution solution;
    CHECK(cases_open(inflow->config, inflow->grid, time, &solution));
    const status result = fill_faces(inflow, &solution, time);
    cases_close(&solution);
    CHECK(result);
  }
  inflow->filled = 1;
  inflow->time = time;
  return inflow->backend->event_record(inflow->copied, inflow->context, QUEUE_MAIN);
}

status inflow_prepare(inflow *inflow, double time, double weight, double factor) {
  const closure *closure = closure_of(inflow->config->order);
  for (int d = 0; d < 3; d++) {
    inflow->call.weight[d] = weight * fabs(factor) * inflow->strength[d];
    for (int end = 0; end < GRID_ENDS; end++) {
      for (int i = 0; i < closure->rows && inflow->ends.fixed[d][end]; i++)
        inflow->call.pull[d][end][i] = weight * inflow->stiffness[d] * closure->pull[i];
    }
  }
  inflow->call.sign = factor < 0.0 ? -1.0 : 1.0;
  return fill(inflow, time);
}
