#include "snapshots/checkpoint_planes.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/agree.h"
#include "base/file.h"

/* What rank 0 alone needs. */
static status create_root(checkpoint_planes *planes) {
  const grid *grid = &planes->grid;
  const size_t count = (size_t)planes->fields * (size_t)grid->n[2];
  planes->all = malloc(count * sizeof *planes->all);
  planes->counts = malloc((size_t)grid->ranks * sizeof *planes->counts);
  planes->starts = malloc((size_t)grid->ranks * sizeof *planes->starts);
  if (planes->all == NULL || planes->counts == NULL || planes->starts == NULL)
    return status_fail(STATUS_MEMORY, "no memory for the checksums of %zu planes", count);
  for (int rank = 0; rank < grid->ranks; rank++) {
    planes->starts[rank] = (int)grid_slab_start(grid->n[2], grid->ranks, rank);
    planes->counts[rank] = (int)grid_slab_start(grid->n[2], grid->ranks, rank + 1) - planes->starts[rank];
  }
  return STATUS_OK;
}

status checkpoint_planes_create(MPI_Comm comm, const grid *grid, precision precision, int fields,
                                checkpoint_planes *planes) {
  *planes = (checkpoint_planes){.comm = comm, .grid = *grid, .fields = fields};
  const size_t plane = (size_t)grid->n[0] * (size_t)grid->n[1] * kernels_element_size(precision);
  planes->piece_planes = field_piece_planes(plane, grid->nz);
  planes->piece = malloc((size_t)planes->piece_planes * plane);
  planes->checksums = malloc((size_t)fields * (size_t)grid->nz * sizeof *planes->checksums);
  if (planes->piece == NULL || planes->checksums == NULL) {
    return status_fail(STATUS_MEMORY, "no memory for a piece of %zu bytes of a snapshot",
                       (size_t)planes->piece_planes * plane);
  }
  return grid->rank == 0 ? create_root(planes) : STATUS_OK;
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

/* Where a field lies in the copy. */
static char *copy_of(const checkpoint_planes *planes, int field) {
  const kernels_shape *shape = &planes->space.shape;
  const size_t plane = (size_t)shape->plane * kernels_element_size(shape->precision);
  return (char *)planes->copy + (size_t)field * (size_t)shape->nz * plane;
}

status checkpoint_planes_hold(checkpoint_planes *planes, const field_space *space) {
  planes->space = *space;
  const size_t bytes = (size_t)(copy_of(planes, planes->fields) - copy_of(planes, 0));
  return space->backend->memory_allocate(space->context, MEMORY_STAGING, bytes, &planes->copy);
}

status checkpoint_planes_copy(checkpoint_planes *planes, const state *state) {
  for (int f = 0; f < planes->fields; f++) CHECK(field_copy(&state->part[f], copy_of(planes, f)));
  return STATUS_OK;
}

/* Planes of the next piece from local plane z on. */
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

/* field: NULL for the copy of it. */
static status write_field(checkpoint_planes *planes, int descriptor, const char *path,
                          const checkpoint_block *block, int f, const field *field) {
  status result = STATUS_OK;
  for (int z = 0; z < planes->grid.nz; z += planes->piece_planes) {
    const int count = piece_count(planes, z);
    if (field != NULL) {
      result = field_load(field, z, count, planes->piece);
    } else {
      field_pack(&planes->space.shape, copy_of(planes, f), z, count, planes->piece);
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

/* field: NULL, or where the planes go. */
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
