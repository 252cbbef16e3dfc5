#include "snapshots/checkpoint_planes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/agree.h"
#include "base/file.h"

/* Allocates the arrays that only rank 0 has. */
static status create_root(checkpoint_planes *planes, int64_t nz) {
  const grid *grid = &planes->grid;
  const size_t count = (size_t)planes->fields * (size_t)grid->n[2];
  planes->all = malloc(count * sizeof *planes->all);
  planes->counts = malloc((size_t)grid->ranks * sizeof *planes->counts);
  planes->starts = malloc((size_t)grid->ranks * sizeof *planes->starts);
  if (planes->all == NULL || planes->counts == NULL || planes->starts == NULL)
    return status_fail(STATUS_MEMORY, "no memory for the checksums of %zu planes", count);
  for (int rank = 0; rank < grid->ranks; rank++) {
    const int64_t end = grid_slab_start(nz, grid->ranks, rank + 1);
    planes->starts[rank] = (int)config_kept_below(&planes->kept, 2, grid_slab_start(nz, grid->ranks, rank));
    planes->counts[rank] = (int)config_kept_below(&planes->kept, 2, end) - planes->starts[rank];
  }
  return STATUS_OK;
}

/* The grid of the points that are kept. A slab may hold none of them. */
static grid grid_of(const grid *whole, const config_kept *kept) {
  grid made = *whole;
  for (int d = 0; d < 3; d++) {
    made.n[d] = kept->count[d];
    made.h[d] = (double)kept->stride * whole->h[d];
  }
  made.z0 = config_kept_below(kept, 2, whole->z0);
  made.nz = (int)(config_kept_below(kept, 2, whole->z0 + whole->nz) - made.z0);
  return made;
}

status checkpoint_planes_create(MPI_Comm comm, const grid *whole, const config_kept *kept,
                                precision precision, int fields, checkpoint_planes *planes) {
  *planes = (checkpoint_planes){.comm = comm,
                                .kept = kept != NULL ? *kept : config_kept_all(whole->n),
                                .z0 = whole->z0,
                                .part = kept != NULL,
                                .precision = precision,
                                .fields = fields};
  planes->grid = grid_of(whole, &planes->kept);
  for (int d = 0; d < 3; d++) planes->origin[d] = (double)planes->kept.first[d] * whole->h[d];
  const grid *grid = &planes->grid;
  const size_t plane = (size_t)grid->n[0] * (size_t)grid->n[1] * kernels_element_size(precision);
  const size_t owned = grid->nz > 0 ? (size_t)grid->nz : 1;
  planes->piece_planes = field_piece_planes(plane, (int64_t)owned);
  planes->piece = malloc((size_t)planes->piece_planes * plane);
  planes->checksums = malloc((size_t)fields * owned * sizeof *planes->checksums);
  if (planes->piece == NULL || planes->checksums == NULL) {
    return status_fail(STATUS_MEMORY, "no memory for a piece of %zu bytes of a snapshot",
                       (size_t)planes->piece_planes * plane);
  }
  return grid->rank == 0 ? create_root(planes, whole->n[2]) : STATUS_OK;
}

void checkpoint_planes_release(checkpoint_planes *planes) {
  if (planes->copy != NULL)
    planes->space.backend->memory_free(planes->space.context, MEMORY_STAGING, planes->copy);
  planes->copy = NULL;
}

void checkpoint_planes_destroy(checkpoint_planes *planes) {
  checkpoint_planes_release(planes);
  free(planes->starts);
  free(planes->counts);
  free(planes->all);
  free(planes->checksums);
  free(planes->piece);
  memset(planes, 0, sizeof *planes);
}

/* Address of a field in the copy. */
static char *copy_of(const checkpoint_planes *planes, int field) {
  const kernels_shape *shape = &planes->space.shape;
  const size_t plane = (size_t)shape->plane * kernels_element_size(shape->precision);
  return (char *)planes->copy + (size_t)field * (size_t)shape->nz * plane;
}

/* Shape of the kept points, without padding. */
static kernels_shape packed_shape(const checkpoint_planes *planes) {
  const int64_t *n = planes->grid.n;
  return (kernels_shape){.nx = (int)n[0],
                         .ny = (int)n[1],
                         .nz = planes->grid.nz,
                         .ldx = (int)n[0],
                         .plane = (ptrdiff_t)(n[0] * n[1]),
                         .precision = planes->precision};
}

status checkpoint_planes_hold(checkpoint_planes *planes, const field_space *space) {
  planes->space = *space;
  if (planes->part) planes->space.shape = packed_shape(planes);
  const size_t bytes = (size_t)(copy_of(planes, planes->fields) - copy_of(planes, 0));
  return space->backend->memory_allocate(space->context, MEMORY_STAGING, bytes > 0 ? bytes : 1,
                                         &planes->copy);
}

static status copy_part(const checkpoint_planes *planes, const field *field, int f) {
  const config_kept *kept = &planes->kept;
  const kernels_shape *shape = &planes->space.shape;
  const size_t plane = (size_t)shape->plane * kernels_element_size(shape->precision);
  for (int k = 0; k < shape->nz; k++) {
    const int64_t z = kept->first[2] + (planes->grid.z0 + k) * kept->stride;
    CHECK(field_load_points(field, (int)(z - planes->z0), kept->first, kept->count, kept->stride,
                            shape->precision, copy_of(planes, f) + (size_t)k * plane));
  }
  return STATUS_OK;
}

status checkpoint_planes_copy(checkpoint_planes *planes, const state *state) {
  for (int f = 0; f < planes->fields; f++) {
    const field *field = &state->part[f];
    CHECK(planes->part ? copy_part(planes, field, f) : field_copy(field, copy_of(planes, f)));
  }
  return STATUS_OK;
}

/* Number of planes in the piece that begins at local plane z. */
static int piece_count(const checkpoint_planes *planes, int z) {
  const int left = planes->grid.nz - z;
  return left < planes->piece_planes ? left : planes->piece_planes;
}

static uint64_t *checksums_of(const checkpoint_planes *planes, int field, int z) {
  return planes->checksums + (size_t)field * (size_t)planes->grid.nz + z;
}

status checkpoint_planes_sum(checkpoint_planes *planes, const state *state) {
  const kernels_shape *shape = &state->part[0].shape;
  const size_t plane = (size_t)shape->nx * (size_t)shape->ny * kernels_element_size(shape->precision);
  for (int f = 0; f < planes->fields; f++) {
    for (int z = 0; z < planes->grid.nz; z += planes->piece_planes) {
      const int count = piece_count(planes, z);
      CHECK(field_load(&state->part[f], z, count, planes->piece));
      checkpoint_block_sum(planes->piece, count, plane, checksums_of(planes, f, z));
    }
  }
  return STATUS_OK;
}

void checkpoint_planes_pack(const checkpoint_planes *planes, int field, int z, int count) {
  field_pack(&planes->space.shape, copy_of(planes, field), z, count, planes->piece);
}

/* Writes a field's planes; field: NULL to write them from the copy. */
static status write_field(checkpoint_planes *planes, int descriptor, const char *path,
                          const checkpoint_block *block, int f, const field *field) {
  status result = STATUS_OK;
  for (int z = 0; z < planes->grid.nz; z += planes->piece_planes) {
    const int count = piece_count(planes, z);
    if (field != NULL) {
      result = field_load(field, z, count, planes->piece);
    } else {
      checkpoint_planes_pack(planes, f, z, count);
    }
    CHECK(result);
    CHECK(checkpoint_block_store(descriptor, path, block, f, planes->grid.z0 + z, count, planes->piece,
                                 checksums_of(planes, f, z)));
  }
  return result;
}

status checkpoint_planes_write(checkpoint_planes *planes, const char *path, const checkpoint_block *block,
                               const state *state) {
  const int descriptor = open(path, O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) return status_fail(STATUS_FILE, "%s: cannot open: %s", path, strerror(errno));
  status result = STATUS_OK;
  for (int f = 0; f < planes->fields && result == STATUS_OK; f++) {
    result = write_field(planes, descriptor, path, block, f, state != NULL ? &state->part[f] : NULL);
  }
  if (close(descriptor) != 0 && result == STATUS_OK) {
    result = status_fail(STATUS_FILE, "%s: cannot close: %s", path, strerror(errno));
  }
  return result;
}

/* Checks a field's planes; field: NULL, or gets the planes. */
static status check_field(checkpoint_planes *planes, int descriptor, const char *path,
                          const checkpoint_block *block, int f, field *field) {
  for (int z = 0; z < planes->grid.nz; z += planes->piece_planes) {
    const int count = piece_count(planes, z);
    CHECK(checkpoint_block_planes(descriptor, path, block, f, planes->grid.z0 + z, count,
                                  checksums_of(planes, f, z), planes->piece));
    if (field != NULL) CHECK(field_store(field, z, count, planes->piece));
  }
  return STATUS_OK;
}

status checkpoint_planes_check(checkpoint_planes *planes, const char *path, const checkpoint_block *block,
                               state *state) {
  int descriptor = -1;
  CHECK(checkpoint_block_open(path, &descriptor));
  status result = state == NULL ? file_sync(descriptor, path) : STATUS_OK;
  if (state == NULL) (void)posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED);
  for (int f = 0; f < planes->fields && result == STATUS_OK; f++) {
    result = check_field(planes, descriptor, path, block, f, state != NULL ? &state->part[f] : NULL);
  }
  (void)close(descriptor);
  return result;
}

status checkpoint_planes_gather(checkpoint_planes *planes) {
  const int64_t nz = planes->grid.n[2];
  for (int f = 0; f < planes->fields; f++) {
    uint64_t *all = planes->all != NULL ? planes->all + f * nz : NULL;
    CHECK_MPI(MPI_Gatherv(checksums_of(planes, f, 0), planes->grid.nz, MPI_UINT64_T, all, planes->counts,
                          planes->starts, MPI_UINT64_T, 0, planes->comm));
  }
  return STATUS_OK;
}

status checkpoint_planes_scatter(checkpoint_planes *planes) {
  const int64_t nz = planes->grid.n[2];
  for (int f = 0; f < planes->fields; f++) {
    const uint64_t *all = planes->all != NULL ? planes->all + f * nz : NULL;
    CHECK_MPI(MPI_Scatterv(all, planes->counts, planes->starts, MPI_UINT64_T, checksums_of(planes, f, 0),
                           planes->grid.nz, MPI_UINT64_T, 0, planes->comm));
  }
  return STATUS_OK;
}
