#include <stdlib.h>

#include "kernels.h"

kernels_shape kernels_shape_make(int nx, int ny, int nz, int whole, precision precision, int host_memory) {
  const int apart = KERNELS_ROW_ALIGNMENT / (int)kernels_element_size(precision);
  const int row = host_memory ? KERNELS_HOST_ALIGNMENT / (int)kernels_element_size(precision) : apart;
  const int avoided = KERNELS_ROW_AVOIDED / (int)kernels_element_size(precision);
  const ptrdiff_t unit = KERNELS_PLANE_UNIT / (int)kernels_element_size(precision);
  kernels_shape shape = {.nx = nx, .ny = ny, .nz = nz, .whole = whole, .precision = precision};
  shape.ldx = (nx + row - 1) / row * row;
  const int nearest = (shape.ldx + apart) / avoided * avoided;
  if (host_memory && nearest > 0 && abs(shape.ldx - nearest) < apart) shape.ldx = nearest + apart;
  const ptrdiff_t units = ((ptrdiff_t)ny * shape.ldx + unit - 1) / unit;
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
