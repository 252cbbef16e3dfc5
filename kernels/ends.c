#include "kernels.h"

static int clamp(int value, int low, int high) {
  return value < low ? low : value > high ? high : value;
}

kernels_planes layers_between(const kernels_planes *range, const kernels_ends *ends) {
  const int rows = ends->bounded[AXIS_Z] ? ends->rows : 0;
  const int first = rows - ends->z0, end = ends->nz - rows - ends->z0; /* between the layers, in the slab */
  return (kernels_planes){clamp(first, range->z0, range->z1), clamp(end, range->z0, range->z1)};
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

status kernels_ends_open(const kernels *backend, kernels_context *context, precision precision,
                         const stencil *stencil, kernels_ends *ends) {
  const closure *closure = closure_of(stencil->order);
  union {
    float single[ROW_ELEMENTS];
    double twofold[ROW_ELEMENTS];
  } rows;
  ends->row = NULL;
  ends->rows = closure->rows;
  ends->width = closure->width;
  for (int i = 0; i < ROW_ELEMENTS; i++)
    kernels_put(precision, &rows, (size_t)i, row_element(closure, stencil, ends, i));
  return kernels_upload(backend, context, &rows, ROW_ELEMENTS * kernels_element_size(precision), &ends->row);
}

void kernels_ends_close(const kernels *backend, kernels_context *context, kernels_ends *ends) {
  backend->memory_free(context, MEMORY_DEVICE, ends->row);
  ends->row = NULL;
}
