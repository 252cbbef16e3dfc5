#include "kernels.h"

/* `pitch`, or where it is nearer than `apart` to a multiple of `avoided`, what lies that far behind that. */
static ptrdiff_t pitch_apart(ptrdiff_t pitch, ptrdiff_t avoided, ptrdiff_t apart) {
  const ptrdiff_t nearest = (pitch + apart) / avoided * avoided;
  return nearest > 0 && pitch > nearest - apart && pitch < nearest + apart ? nearest + apart : pitch;
}

kernels_shape kernels_shape_make(int nx, int ny, int nz, int whole, precision precision, int host_memory) {
  const int size = (int)kernels_element_size(precision), unit = KERNELS_PLANE_UNIT / size;
  const int row = (host_memory ? KERNELS_HOST_ALIGNMENT : KERNELS_ROW_ALIGNMENT) / size;
  kernels_shape shape = {.nx = nx, .ny = ny, .nz = nz, .whole = whole, .precision = precision};
  shape.ldx = (nx + row - 1) / row * row;
  if (host_memory)
    shape.ldx = (int)pitch_apart(shape.ldx, KERNELS_ROW_AVOIDED / size, KERNELS_ROW_ALIGNMENT / size);
  ptrdiff_t units = ((ptrdiff_t)ny * shape.ldx + unit - 1) / unit;
  if (host_memory)
    units = pitch_apart(units, KERNELS_PLANE_AVOIDED / KERNELS_PLANE_UNIT,
                        KERNELS_PLANE_APART / KERNELS_PLANE_UNIT);
  shape.plane = (units | 1) * unit;
  return shape;
}

static int range_count(kernels_planes range) {
  return range.z1 > range.z0 ? range.z1 - range.z0 : 0;
}

int kernels_plane_count(const kernels_launch *launch) {
  return range_count(launch->planes[0]) + range_count(launch->planes[1]);
}

int kernels_plane_at(const kernels_launch *launch, int i) {
  const int first = range_count(launch->planes[0]);
  return i < first ? launch->planes[0].z0 + i : launch->planes[1].z0 + i - first;
}

size_t kernels_element_size(precision precision) {
  return precision == PRECISION_SINGLE ? sizeof(float) : sizeof(double);
}

size_t kernels_field_bytes(const kernels_shape *shape) {
  return (size_t)(shape->nz + 2 * KERNELS_HALO) * (size_t)shape->plane *
         kernels_element_size(shape->precision);
}

status kernels_upload(const kernels *backend, kernels_context *context, const void *host, size_t bytes,
                      void **memory) {
  CHECK(backend->memory_allocate(context, MEMORY_DEVICE, bytes > 0 ? bytes : 1, memory));
  CHECK(backend->memory_copy(context, QUEUE_MAIN, *memory, host, bytes));
  return backend->queue_wait(context, QUEUE_MAIN);
}
