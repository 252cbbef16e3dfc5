#include "velocity_tables.h"

/* Where each axis's table begins, in elements, and where all end. */
typedef struct layout {
  size_t x, y, z, end;
} layout;

static layout layout_make(const kernels_shape *shape) {
  layout at = {.x = 0};
  at.y = 3 * (size_t)shape->ldx;
  at.z = at.y + (size_t)shape->ny * KERNELS_TABLE;
  at.end = at.z + (size_t)shape->nz * KERNELS_TABLE;
  return at;
}

static void put(const kernels_shape *shape, void *staging, size_t i, double value) {
  if (shape->precision == PRECISION_SINGLE) {
    ((float *)staging)[i] = (float)value;
  } else {
    ((double *)staging)[i] = value;
  }
}

static void fill(const kernels_shape *shape, const cases_velocity *velocity, int64_t z0, void *staging) {
  const layout at = layout_make(shape);
  for (int d = 0; d < 3; d++) {
    for (int x = 0; x < shape->ldx; x++) {
      const double value = x < shape->nx ? velocity->table[AXIS_X][x][d] : 0.0;
      put(shape, staging, at.x + (size_t)d * (size_t)shape->ldx + (size_t)x, value);
    }
  }
  const double *rows = velocity->table[AXIS_Y][0];
  const double *planes = velocity->table[AXIS_Z][z0];
  for (size_t i = 0; i < at.z - at.y; i++) put(shape, staging, at.y + i, rows[i]);
  for (size_t i = 0; i < at.end - at.z; i++) put(shape, staging, at.z + i, planes[i]);
}

status velocity_tables_create(const field_space *space, const cases_velocity *velocity, int64_t z0,
                              velocity_tables *tables) {
  const kernels *backend = space->backend;
  const layout at = layout_make(&space->shape);
  const size_t element = kernels_element_size(space->shape.precision);
  void *staging = NULL;
  *tables = (velocity_tables){.backend = backend, .context = space->context};
  CHECK(backend->memory_allocate(space->context, MEMORY_DEVICE, at.end * element, &tables->memory));
  char *memory = tables->memory;
  tables->tables = (kernels_tables){.x = memory, .y = memory + at.y * element, .z = memory + at.z * element};
  CHECK(backend->memory_allocate(space->context, MEMORY_STAGING, at.end * element, &staging));
  fill(&space->shape, velocity, z0, staging);
  status result = backend->memory_copy(space->context, QUEUE_MAIN, tables->memory, staging, at.end * element);
  if (result == STATUS_OK) result = backend->queue_wait(space->context, QUEUE_MAIN);
  backend->memory_free(space->context, MEMORY_STAGING, staging);
  return result;
}

void velocity_tables_destroy(velocity_tables *tables) {
  if (tables->memory != NULL) tables->backend->memory_free(tables->context, MEMORY_DEVICE, tables->memory);
  *tables = (velocity_tables){0};
}
