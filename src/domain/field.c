#include "domain/field.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t plane_bytes(const kernels_shape *shape) {
  return (size_t)shape->plane * kernels_element_size(shape->precision);
}

size_t field_plane_bytes(const field *field) {
  return plane_bytes(&field->shape);
}

void *field_plane(const field *field, int z) {
  return (char *)field->data + (ptrdiff_t)(z + KERNELS_HALO) * (ptrdiff_t)field_plane_bytes(field);
}

size_t field_total_bytes(const kernels_shape *shape, int depth) {
  return kernels_field_bytes(shape) + (size_t)(2 * (depth - KERNELS_HALO)) * plane_bytes(shape);
}

int field_piece_planes(size_t plane_bytes, int64_t planes) {
  const int64_t most = (int64_t)(FIELD_PIECE_BYTES / plane_bytes);
  return (int)(most < 1 ? 1 : most < planes ? most : planes);
}

/* Number of planes of which `staging` holds one value per row. */
static int gather_planes(const kernels_shape *shape, int chunk) {
  const int64_t most = (int64_t)chunk * (int64_t)shape->plane / shape->ny;
  return most < shape->nz ? (int)most : shape->nz;
}

size_t field_gather_bytes(const kernels_shape *shape) {
  const int chunk = field_piece_planes(plane_bytes(shape), shape->nz);
  return (size_t)gather_planes(shape, chunk) * (size_t)shape->ny * kernels_element_size(shape->precision);
}

status field_space_open(const kernels *backend, kernels_context *context, kernels_shape shape,
                        field_space *space) {
  const size_t plane = plane_bytes(&shape);
  const int chunk = field_piece_planes(plane, shape.nz);
  *space = (field_space){
      .backend = backend, .context = context, .shape = shape, .depth = KERNELS_HALO, .chunk = chunk};
  CHECK(backend->memory_allocate(context, MEMORY_STAGING, (size_t)chunk * plane, &space->staging));
  if (backend->host_memory) return STATUS_OK;
  return backend->memory_allocate(context, MEMORY_DEVICE, field_gather_bytes(&shape), &space->gather);
}

void field_space_close(field_space *space) {
  if (space->staging != NULL) space->backend->memory_free(space->context, MEMORY_STAGING, space->staging);
  if (space->gather != NULL) space->backend->memory_free(space->context, MEMORY_DEVICE, space->gather);
  space->staging = space->gather = NULL;
}

status field_create(const field_space *space, field *field) {
  static unsigned made = 0;
  field->backend = space->backend;
  field->context = space->context;
  field->shape = space->shape;
  field->staging = space->staging;
  field->chunk = space->chunk;
  field->gather = space->gather;
  field->depth = space->depth;
  field->data = NULL;
  field->number = ++made;
  void *memory = NULL;
  CHECK(space->backend->memory_allocate(space->context, MEMORY_DEVICE,
                                        field_total_bytes(&space->shape, space->depth), &memory));
  field->data = (char *)memory + (size_t)(space->depth - KERNELS_HALO) * plane_bytes(&space->shape);
  return STATUS_OK;
}

void field_destroy(field *field) {
  if (field->data != NULL)
    field->backend->memory_free(field->context, MEMORY_DEVICE, field_plane(field, -field->depth));
  field->data = NULL;
}

/* Copies `count` planes from local plane z on between the field and the staging buffer, and waits. */
static status staging_copy(const field *field, int z, int count, int to_host) {
  const size_t bytes = (size_t)count * field_plane_bytes(field);
  void *device = field_plane(field, z);
  CHECK(field->backend->memory_copy(field->context, QUEUE_MAIN, to_host ? field->staging : device,
                                    to_host ? device : field->staging, bytes));
  return field->backend->queue_wait(field->context, QUEUE_MAIN);
}

/* Address of row i of the planes in staging memory. [out] *pitch: bytes to the next row. */
static char *staging_row(const kernels_shape *shape, void *staging, int64_t i, size_t *pitch) {
  const size_t row = (size_t)shape->ldx * kernels_element_size(shape->precision);
  const size_t at = (size_t)(i % shape->ny) * row;
  *pitch = i % shape->ny < shape->ny - 1 ? row : plane_bytes(shape) - at;
  return (char *)staging + (size_t)(i / shape->ny) * plane_bytes(shape) + at;
}

static void round_row(const kernels_shape *shape, const double *row, char *out, size_t pitch) {
  const size_t size = kernels_element_size(shape->precision);
  for (int x = 0; x < shape->nx; x++) kernels_put(shape->precision, out, (size_t)x, row[x]);
  memset(out + (size_t)shape->nx * size, 0, pitch - (size_t)shape->nx * size);
}

/* Computes the rows of `count` planes from local plane z on into the staging buffer, by several threads.
 * Returns 0 if a thread had no memory for its row. */
static int fill_staging(const field *field, int z, int count, int64_t z0, int64_t nz_global,
                        field_row function, const void *user) {
  const kernels_shape *shape = &field->shape;
  const int64_t rows = (int64_t)count * shape->ny;
  int complete = 1;
#pragma omp parallel reduction(&& : complete)
  {
    double *row = malloc((size_t)shape->nx * sizeof *row);
    complete = row != NULL;
#pragma omp for schedule(static)
    for (int64_t i = 0; i < rows; i++) {
      if (row == NULL) continue;
      function(user, (z0 + z + i / shape->ny + nz_global) % nz_global, i % shape->ny, row);
      size_t pitch = 0;
      char *out = staging_row(shape, field->staging, i, &pitch);
      round_row(shape, row, out, pitch);
    }
    free(row);
  }
  return complete;
}

status field_fill(field *field, int64_t z0, int64_t nz_global, int halos, field_row function,
                  const void *user) {
  const int first = halos ? -KERNELS_HALO : 0;
  const int last = field->shape.nz - first;
  for (int z = first; z < last; z += field->chunk) {
    const int count = last - z < field->chunk ? last - z : field->chunk;
    if (!fill_staging(field, z, count, z0, nz_global, function, user)) {
      return status_fail(STATUS_MEMORY, "no memory for a row of %d points", field->shape.nx);
    }
    CHECK(staging_copy(field, z, count, 0));
  }
  return STATUS_OK;
}

/* Copies `count` planes between staging memory (padded) and packed host memory, by several threads. */
static void pack(const kernels_shape *shape, void *staging, int count, char *packed, int to_packed) {
  const size_t size = kernels_element_size(shape->precision);
  const size_t row = (size_t)shape->nx * size;
  const int64_t rows = (int64_t)count * shape->ny;
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < rows; i++) {
    size_t pitch = 0;
    char *padded = staging_row(shape, staging, i, &pitch);
    if (to_packed) {
      memcpy(packed + (size_t)i * row, padded, row);
    } else {
      memcpy(padded, packed + (size_t)i * row, row);
      memset(padded + row, 0, pitch - row);
    }
  }
}

static size_t packed_bytes(const field *field, int count) {
  return (size_t)count * (size_t)field->shape.ny * (size_t)field->shape.nx *
         kernels_element_size(field->shape.precision);
}

status field_load(const field *field, int z, int count, void *host) {
  for (int done = 0; done < count; done += field->chunk) {
    const int piece = count - done < field->chunk ? count - done : field->chunk;
    CHECK(staging_copy(field, z + done, piece, 1));
    pack(&field->shape, field->staging, piece, (char *)host + packed_bytes(field, done), 1);
  }
  return STATUS_OK;
}

status field_store(field *field, int z, int count, const void *host) {
  for (int done = 0; done < count; done += field->chunk) {
    const int piece = count - done < field->chunk ? count - done : field->chunk;
    /* The cast drops const only because one loop serves both directions; nothing is written. */
    pack(&field->shape, field->staging, piece, (char *)(uintptr_t)host + packed_bytes(field, done), 0);
    CHECK(staging_copy(field, z + done, piece, 0));
  }
  return STATUS_OK;
}

status field_value(const field *field, int x, int y, int z, double *value) {
  const kernels_shape *shape = &field->shape;
  const size_t size = kernels_element_size(shape->precision);
  const char *device =
      (const char *)field_plane(field, z) + ((size_t)y * (size_t)shape->ldx + (size_t)x) * size;
  CHECK(field->backend->memory_copy(field->context, QUEUE_MAIN, field->staging, device, size));
  CHECK(field->backend->queue_wait(field->context, QUEUE_MAIN));
  *value = kernels_number(shape->precision, field->staging, 0);
  return STATUS_OK;
}

/* Copies strided pieces of the field to consecutive memory in the staging buffer, and waits. */
static status stage_pieces(const field *field, const char *from, size_t pitch, size_t bytes, size_t count) {
  const kernels_pieces pieces = {field->staging, bytes, from, pitch, bytes, count};
  CHECK(field->backend->memory_copy_pieces(field->context, QUEUE_MAIN, &pieces));
  return field->backend->queue_wait(field->context, QUEUE_MAIN);
}

/* The cut normal to y: a row of each plane. */
static status load_rows(const field *field, int at, char *host) {
  const kernels_shape *shape = &field->shape;
  const size_t size = kernels_element_size(shape->precision);
  const size_t row = (size_t)shape->nx * size, offset = (size_t)at * (size_t)shape->ldx * size;
  const int most = field->chunk * shape->ny; /* rows that `staging` holds */
  for (int done = 0; done < shape->nz; done += most) {
    const size_t count = (size_t)(shape->nz - done < most ? shape->nz - done : most);
    CHECK(stage_pieces(field, (const char *)field_plane(field, done) + offset, field_plane_bytes(field), row,
                       count));
    memcpy(host + (size_t)done * row, field->staging, count * row);
  }
  return STATUS_OK;
}

/* The cut normal to x: a value of each row. A device gathers the values in its own memory first, because a
 * copy to the host needs a transfer per piece, however short. */
static status load_columns(const field *field, int at, char *host) {
  const kernels_shape *shape = &field->shape;
  const size_t size = kernels_element_size(shape->precision);
  const size_t column = (size_t)shape->ny * size;
  const int most = gather_planes(shape, field->chunk);
  kernels_pieces pieces = {
      .to_pitch = size, .from_pitch = (size_t)shape->ldx * size, .bytes = size, .count = (size_t)shape->ny};
  char *const side_by_side = field->gather != NULL ? field->gather : field->staging;
  for (int done = 0; done < shape->nz; done += most) {
    const int count = shape->nz - done < most ? shape->nz - done : most;
    for (int z = 0; z < count; z++) {
      pieces.from = (const char *)field_plane(field, done + z) + (size_t)at * size;
      pieces.to = side_by_side + (size_t)z * column;
      CHECK(field->backend->memory_copy_pieces(field->context, QUEUE_MAIN, &pieces));
    }
    const size_t bytes = (size_t)count * column;
    if (field->gather != NULL) CHECK(stage_pieces(field, field->gather, bytes, bytes, 1));
    if (field->gather == NULL) CHECK(field->backend->queue_wait(field->context, QUEUE_MAIN));
    memcpy(host + (size_t)done * column, field->staging, bytes);
  }
  return STATUS_OK;
}

status field_load_cut(const field *field, axis along, int at, void *host) {
  if (along == AXIS_Z) return field_load(field, at, 1, host);
  return along == AXIS_Y ? load_rows(field, at, host) : load_columns(field, at, host);
}

status field_load_points(const field *field, int z, const int64_t first[2], const int64_t count[2],
                         int64_t stride, precision precision, void *host) {
  const kernels_shape *shape = &field->shape;
  const size_t size = kernels_element_size(shape->precision);
  const size_t row = (size_t)shape->ldx * size;
  const size_t out = (size_t)count[0] * kernels_element_size(precision);
  const size_t span = (size_t)((count[0] - 1) * stride + 1) * size;
  const char *device = (const char *)field_plane(field, z) + (size_t)first[1] * row + (size_t)first[0] * size;
  CHECK(stage_pieces(field, device, (size_t)stride * row, span, (size_t)count[1]));
  for (int64_t k = 0; k < count[1]; k++) {
    const char *from = (const char *)field->staging + (size_t)k * span;
    char *to = (char *)host + (size_t)k * out;
    for (int64_t x = 0; x < count[0]; x++)
      kernels_put(precision, to, (size_t)x, kernels_number(shape->precision, from, (size_t)(x * stride)));
  }
  return STATUS_OK;
}

status field_load_plane(const field *field, int z, double *host) {
  const kernels_shape *shape = &field->shape;
  const int64_t first[2] = {0, 0}, count[2] = {shape->nx, shape->ny};
  return field_load_points(field, shape->whole ? z % shape->nz : z, first, count, 1, PRECISION_DOUBLE, host);
}

status field_copy(const field *field, void *staging) {
  const size_t bytes = (size_t)field->shape.nz * field_plane_bytes(field);
  CHECK(field->backend->memory_copy(field->context, QUEUE_MAIN, staging, field_plane(field, 0), bytes));
  return field->backend->queue_wait(field->context, QUEUE_MAIN);
}

void field_pack(const kernels_shape *shape, const void *copy, int z, int count, void *host) {
  /* The cast drops const as above. */
  pack(shape, (char *)(uintptr_t)copy + (size_t)z * plane_bytes(shape), count, host, 1);
}

kernels_launch field_launch(const field *field, const stencil *stencil) {
  return (kernels_launch){.context = field->context,
                          .queue = QUEUE_MAIN,
                          .shape = field->shape,
                          .planes = {{0, field->shape.nz}},
                          .stencil = stencil};
}

status field_sums(const field *field, const grid *grid, const void *reference, kernels_plane_sums *sums) {
  const stencil none = {0}; /* sums take no differences */
  const kernels_launch launch = field_launch(field, &none);
  kernels_weights weights;
  return field->backend->plane_sums(&launch, field->data, reference, grid_kernels_weights(grid, &weights),
                                    sums);
}

status field_largest(const field *field, const grid *grid, double *largest) {
  kernels_plane_sums *planes = malloc((size_t)grid->nz * sizeof *planes);
  *largest = 0.0;
  if (planes == NULL) return status_fail(STATUS_MEMORY, "no memory for the sums of %d planes", grid->nz);
  const status result = field_sums(field, grid, NULL, planes);
  for (int z = 0; z < grid->nz && result == STATUS_OK; z++)
    *largest = fmax(*largest, fmax(fabs(planes[z].minimum), fabs(planes[z].maximum)));
  free(planes);
  return result;
}
