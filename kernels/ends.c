#include <stdlib.h>
#include <string.h>

#include "layers.h"

static int smaller(int a, int b) {
  return a < b ? a : b;
}

static int larger(int a, int b) {
  return a > b ? a : b;
}

/* Appends a box, unless it is empty. */
static void add_box(layers *layers, int x0, int x1, int y0, int y1, int z0, int z1) {
  if (x1 <= x0 || y1 <= y0 || z1 <= z0) return;
  layers->box[layers->count++] =
      (layers_box){.origin = {x0, y0, z0}, .extent = {x1 - x0, y1 - y0, z1 - z0}, .first = layers->points};
  layers->points += (ptrdiff_t)(x1 - x0) * (y1 - y0) * (z1 - z0);
}

/* Range of an axis between its layers. */
static kernels_planes between(const kernels_ends *ends, int axis, int count) {
  const int rows = ends->bounded[axis] ? ends->rows : 0;
  return (kernels_planes){rows, count - rows};
}

kernels_planes layers_between(const kernels_planes *range, const kernels_ends *ends) {
  const kernels_planes z = between(ends, AXIS_Z, ends->nz);
  return (kernels_planes){larger(range->z0, smaller(z.z0 - ends->z0, range->z1)),
                          smaller(range->z1, larger(z.z1 - ends->z0, range->z0))};
}

layers layers_make(const kernels_launch *launch, const kernels_ends *ends) {
  const int nx = launch->shape.nx;
  const int ny = launch->shape.ny;
  const kernels_planes x = between(ends, AXIS_X, nx);
  const kernels_planes y = between(ends, AXIS_Y, ny);
  layers result = {.count = 0};
  for (int r = 0; r < KERNELS_RANGES; r++) {
    const kernels_planes range = launch->planes[r];
    const kernels_planes inner = layers_between(&range, ends);
    const int from = inner.z0, to = inner.z1;
    add_box(&result, 0, nx, 0, ny, range.z0, from);
    add_box(&result, 0, nx, 0, ny, to, range.z1);
    add_box(&result, 0, nx, 0, y.z0, from, to);
    add_box(&result, 0, nx, y.z1, ny, from, to);
    add_box(&result, 0, x.z0, y.z0, y.z1, from, to);
    add_box(&result, x.z1, nx, y.z0, y.z1, from, to);
  }
  return result;
}

ptrdiff_t layers_elements(const kernels_shape *shape, const kernels_ends *ends) {
  if (!ends->bounded[AXIS_X] && !ends->bounded[AXIS_Y]) return 0;
  const kernels_launch launch = {.shape = *shape, .planes = {{0, shape->nz}}};
  const layers all = layers_make(&launch, ends);
  const int vector = 16 / (int)kernels_element_size(shape->precision);
  ptrdiff_t elements = 0;
  for (int b = 0; b < all.count; b++) {
    const int *origin = all.box[b].origin, *extent = all.box[b].extent;
    const int first = origin[0] / vector, last = (origin[0] + extent[0] - 1) / vector;
    elements += (ptrdiff_t)(last - first + 1) * vector * extent[1] * extent[2];
  }
  return elements;
}

enum { BLOCK_ELEMENTS = DIFFERENCES * CLOSURE_ROWS * CLOSURE_WIDTH, ROW_ELEMENTS = 3 * 2 * BLOCK_ELEMENTS };

/* Element i of kernels_ends.row. */
static double row_element(const closure *closure, const stencil *stencil, const kernels_ends *ends, int i) {
  const int j = i % CLOSURE_WIDTH;
  const int row = i / CLOSURE_WIDTH % CLOSURE_ROWS;
  const int of = i / (CLOSURE_WIDTH * CLOSURE_ROWS) % DIFFERENCES;
  const int end = i / BLOCK_ELEMENTS % 2;
  const int axis = i / (2 * BLOCK_ELEMENTS);
  const double h = stencil->spacing[axis];
  if (of == DIFFERENCE_FIRST && end == 1) return -closure->row[of][row][j] / h;
  if (of != DIFFERENCE_SECOND) return closure->row[of][row][j] / h;
  return (row == 0 && ends->fixed[axis][end] ? closure->fixed[j] : closure->row[of][row][j]) / (h * h);
}

static status fill_rows(const kernels *backend, kernels_context *context, precision precision,
                        const stencil *stencil, kernels_ends *ends) {
  const closure *closure = closure_of(stencil->order);
  union {
    float single[ROW_ELEMENTS];
    double twofold[ROW_ELEMENTS];
  } rows;
  ends->rows = closure->rows;
  ends->width = closure->width;
  for (int i = 0; i < ROW_ELEMENTS; i++) {
    const double value = row_element(closure, stencil, ends, i);
    if (precision == PRECISION_SINGLE) {
      rows.single[i] = (float)value;
    } else {
      rows.twofold[i] = value;
    }
  }
  const size_t bytes = ROW_ELEMENTS * kernels_element_size(precision);
  CHECK(backend->memory_allocate(context, MEMORY_DEVICE, bytes, &ends->row));
  CHECK(backend->memory_copy(context, QUEUE_MAIN, ends->row, &rows, bytes));
  return backend->queue_wait(context, QUEUE_MAIN);
}

status kernels_ends_open(const kernels *backend, kernels_context *context, const kernels_shape *shape,
                         const stencil *stencil, int outputs, kernels_ends *ends) {
  ends->row = ends->layer = NULL;
  CHECK(fill_rows(backend, context, shape->precision, stencil, ends));
  const size_t elements = (size_t)layers_elements(shape, ends);
  if (elements == 0 || backend->layers_compute == NULL) return STATUS_OK;
  return backend->memory_allocate(context, MEMORY_DEVICE,
                                  (size_t)outputs * elements * kernels_element_size(shape->precision),
                                  &ends->layer);
}

void kernels_ends_close(const kernels *backend, kernels_context *context, kernels_ends *ends) {
  if (ends->row != NULL) backend->memory_free(context, MEMORY_DEVICE, ends->row);
  if (ends->layer != NULL) backend->memory_free(context, MEMORY_DEVICE, ends->layer);
  ends->row = ends->layer = NULL;
}
