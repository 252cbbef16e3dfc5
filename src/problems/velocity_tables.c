#include "problems/velocity_tables.h"

#include <stdlib.h>

/* Offsets in elements: where each axis's table begins, with its images, and where the last one ends. */
typedef struct layout {
  size_t pitch, y, z, end; /* pitch: between components along x */
} layout;

enum { ENTRIES = KERNELS_HALO * KERNELS_TABLE }; /* images at one end along y or z */

static layout layout_make(const kernels_shape *shape) {
  layout at = {.pitch = (size_t)shape->ldx + 2 * (size_t)KERNELS_TABLE_SIDE};
  at.y = 3 * at.pitch;
  at.z = at.y + (size_t)shape->ny * KERNELS_TABLE + 2 * (size_t)ENTRIES;
  at.end = at.z + (size_t)shape->nz * KERNELS_TABLE + 2 * (size_t)ENTRIES;
  return at;
}

/* Entry i of the axis's table; i may be an image. */
static const double *entry(const cases_velocity *velocity, axis axis, int64_t i) {
  const int64_t n = velocity->grid->n[axis];
  return &velocity->table[axis][(i % n + n) % n][0];
}

static void fill_entries(const kernels_shape *shape, const cases_velocity *velocity, axis axis, int64_t first,
                         int count, size_t begin, void *host) {
  for (int i = -KERNELS_HALO; i < count + KERNELS_HALO; i++) {
    const double *values = entry(velocity, axis, first + i);
    for (int k = 0; k < KERNELS_TABLE; k++) kernels_put(shape->precision, host, begin++, values[k]);
  }
}

static void fill(const kernels_shape *shape, const cases_velocity *velocity, int64_t z0, void *host) {
  const layout at = layout_make(shape);
  for (int d = 0; d < 3; d++) {
    const size_t begin = (size_t)d * at.pitch;
    for (size_t i = 0; i < at.pitch; i++)
      kernels_put(shape->precision, host, begin + i,
                  entry(velocity, AXIS_X, (int64_t)i - KERNELS_TABLE_SIDE)[d]);
  }
  fill_entries(shape, velocity, AXIS_Y, 0, shape->ny, at.y, host);
  fill_entries(shape, velocity, AXIS_Z, z0, shape->nz, at.z, host);
}

status velocity_tables_create(const field_space *space, const cases_velocity *velocity, int64_t z0,
                              velocity_tables *tables) {
  const kernels *backend = space->backend;
  const layout at = layout_make(&space->shape);
  const size_t element = kernels_element_size(space->shape.precision);
  void *host = malloc(at.end * element);
  *tables = (velocity_tables){.backend = backend, .context = space->context};
  if (host == NULL) return status_fail(STATUS_MEMORY, "no memory for tables of the velocity");
  fill(&space->shape, velocity, z0, host);
  const status result = kernels_upload(backend, space->context, host, at.end * element, &tables->memory);
  free(host);
  CHECK(result);
  char *memory = tables->memory;
  tables->tables = (kernels_tables){.x = memory + KERNELS_TABLE_SIDE * element,
                                    .y = memory + (at.y + ENTRIES) * element,
                                    .z = memory + (at.z + ENTRIES) * element};
  return STATUS_OK;
}

void velocity_tables_destroy(velocity_tables *tables) {
  if (tables->memory != NULL) tables->backend->memory_free(tables->context, MEMORY_DEVICE, tables->memory);
  *tables = (velocity_tables){0};
}
