#include "output/slices.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/agree.h"
#include "base/file.h"
#include "config/kept.h"
#include "files/plane_file.h"
#include "files/series.h"

enum { NAME_SIZE = 64 };

static void file_name(const config_slice *slice, int64_t step, char name[NAME_SIZE]) {
  (void)snprintf(name, NAME_SIZE, "%s_%08" PRId64 ".hdf", slice->name, step);
}

static void index_name(const config_slice *slice, char name[NAME_SIZE]) {
  (void)snprintf(name, NAME_SIZE, "%s.hdf.series", slice->name);
}

/* Points per row of a plane, and number of its rows: normal to z rows are along y, else there is a row for
 * each z. */
static int64_t row_points(const grid *grid, int axis) {
  return axis == 0 ? grid->n[1] : grid->n[0];
}

static int64_t row_count(const grid *grid, int axis) {
  return axis == 2 ? grid->n[1] : grid->n[2];
}

/* Number of the plane's rows that a rank holds. [out] first: of them. */
static int held_rows(const grid *grid, int axis, int64_t index, int rank, int *first) {
  const int64_t start = grid_slab_start(grid->n[2], grid->ranks, rank);
  const int64_t end = grid_slab_start(grid->n[2], grid->ranks, rank + 1);
  *first = axis == 2 ? 0 : (int)start;
  if (axis < 2) return (int)(end - start);
  return index >= start && index < end ? (int)grid->n[1] : 0;
}

static status no_memory(void) {
  return status_fail(STATUS_MEMORY, "no memory for a slice");
}

static status create(slices *slices) {
  const grid *grid = &slices->grid;
  const size_t size = kernels_element_size(slices->precision);
  size_t mine = 0, whole = 1; /* bytes */
  for (int i = 0; i < slices->count; i++) {
    const int axis = slices->list[i].axis;
    const size_t row = (size_t)row_points(grid, axis) * size;
    const size_t rows = axis == 2 ? (size_t)grid->n[1] : (size_t)grid->nz;
    const size_t all = row * (size_t)row_count(grid, axis);
    if (row * rows > mine) mine = row * rows;
    if (all > whole) whole = all;
  }
  slices->mine = malloc(mine > 0 ? mine : 1);
  if (slices->mine == NULL) return no_memory();
  if (grid->rank > 0) return STATUS_OK;
  slices->whole = malloc(whole * (size_t)slices->fields);
  slices->counts = calloc((size_t)grid->ranks, sizeof *slices->counts);
  slices->starts = calloc((size_t)grid->ranks, sizeof *slices->starts);
  if (slices->whole == NULL || slices->counts == NULL || slices->starts == NULL) return no_memory();
  for (int i = 0; i < slices->count; i++) {
    slices->index[i] = series_create();
    if (slices->index[i] == NULL) return no_memory();
  }
  return STATUS_OK;
}

status slices_create(MPI_Comm comm, const grid *grid, const config *config, int fields,
                     const char *const names[], slices *slices) {
  *slices = (struct slices){.comm = comm,
                            .grid = *grid,
                            .precision = config->precision,
                            .fields = fields,
                            .names = names,
                            .config = config,
                            .due = config->slices_due};
  if (config_ever(config->slices_due)) (void)config_slices_read(config->slices, slices->list, &slices->count);
  return slices->count > 0 ? agree(comm, create(slices)) : STATUS_OK;
}

void slices_destroy(slices *slices) {
  for (int i = 0; i < slices->count; i++) series_destroy(slices->index[i]);
  free(slices->mine);
  free(slices->whole);
  free(slices->counts);
  free(slices->starts);
  memset(slices, 0, sizeof *slices);
}

int slices_due(const slices *slices, const schedule *schedule, int64_t step) {
  return slices->count > 0 && schedule_meets(schedule, step, slices->due);
}

/* The entries that an index keeps: existing slices up to a step. */
typedef struct kept {
  const char *directory;
  int64_t from;
} kept;

static int is_kept(const char *file, const void *user) {
  const kept *kept = user;
  char path[4096];
  struct stat info;
  long long step = 0;
  return rundir_is_slice(file, &step) && step <= kept->from &&
         file_path(kept->directory, file, path, sizeof path) == STATUS_OK && stat(path, &info) == 0;
}

static status renew(const char *name, const kept *kept) {
  series *index = series_create();
  status result = index != NULL ? STATUS_OK : no_memory();
  if (result == STATUS_OK) result = series_read(index, kept->directory, name, is_kept, kept);
  if (result == STATUS_OK) result = series_write(index, kept->directory, name);
  series_destroy(index);
  return result;
}

/* Renews all indices, because an earlier start may have written slices that this one does not, and no index
 * may name a file that has been moved away. */
static status renew_indices(const kept *kept) {
  static const char ending[] = ".hdf.series";
  const char *name = NULL;
  DIR *listing = opendir(kept->directory);
  if (listing == NULL && errno == ENOENT) return STATUS_OK;
  if (listing == NULL)
    return status_fail(STATUS_FILE, "%s: cannot be listed: %s", kept->directory, strerror(errno));
  status result = STATUS_OK;
  while ((result = file_next_name(listing, kept->directory, &name)) == STATUS_OK && name != NULL) {
    const size_t length = strlen(name);
    if (length < sizeof ending || strcmp(name + length - (sizeof ending - 1), ending) != 0) continue;
    result = renew(name, kept);
    if (result != STATUS_OK) break;
  }
  (void)closedir(listing);
  return result;
}

status slices_open(slices *slices, const rundir *rundir, int64_t from) {
  char fields[sizeof rundir->path + sizeof "/" RUNDIR_FIELDS];
  const kept kept = {.directory = slices->path, .from = from};
  const struct kept kept_fields = {.directory = fields, .from = from};
  (void)snprintf(slices->path, sizeof slices->path, "%s/" RUNDIR_SLICES, rundir->path);
  (void)snprintf(fields, sizeof fields, "%s/" RUNDIR_FIELDS, rundir->path);
  if (from >= 0) CHECK(renew_indices(&kept));
  if (from >= 0) CHECK(renew_indices(&kept_fields));
  if (slices->count == 0) return STATUS_OK;
  if (mkdir(slices->path, 0777) != 0 && errno != EEXIST)
    return status_fail(STATUS_FILE, "%s: cannot be made: %s", slices->path, strerror(errno));
  CHECK(file_sync_directory(rundir->path));
  for (int i = 0; i < slices->count; i++) {
    char name[NAME_SIZE];
    index_name(&slices->list[i], name);
    if (from >= 0) CHECK(series_read(slices->index[i], slices->path, name, is_kept, &kept));
    CHECK(series_write(slices->index[i], slices->path, name));
  }
  return STATUS_OK;
}

/* Gathers one field's plane on rank 0. */
static status gather(slices *slices, const field *field, int axis, int64_t index, void *whole) {
  const grid *grid = &slices->grid;
  int first = 0;
  const int rows = held_rows(grid, axis, index, grid->rank, &first);
  const int at = (int)(axis == 2 ? index - grid->z0 : index);
  CHECK(agree(slices->comm, rows > 0 ? field_load_cut(field, (enum axis)axis, at, slices->mine) : STATUS_OK));
  for (int rank = 0; grid->rank == 0 && rank < grid->ranks; rank++)
    slices->counts[rank] = held_rows(grid, axis, index, rank, &slices->starts[rank]);
  MPI_Datatype row = MPI_DATATYPE_NULL;
  const size_t bytes = (size_t)row_points(grid, axis) * kernels_element_size(slices->precision);
  CHECK_MPI(MPI_Type_contiguous((int)bytes, MPI_BYTE, &row));
  CHECK_MPI(MPI_Type_commit(&row));
  CHECK_MPI(
      MPI_Gatherv(slices->mine, rows, row, whole, slices->counts, slices->starts, row, 0, slices->comm));
  CHECK_MPI(MPI_Type_free(&row));
  return STATUS_OK;
}

/* Rank 0: writes the file first and then the index, so that the index names only existing files. */
static status save(slices *slices, int i, int64_t index, const schedule *schedule, int64_t step) {
  const grid *grid = &slices->grid;
  const config_slice *slice = &slices->list[i];
  const char *units[STATE_FIELDS];
  for (int f = 0; f < slices->fields; f++) units[f] = config_unit_of(slices->config, slices->names[f]);
  plane_file plane = {.axis = slice->axis,
                      .index = index,
                      .precision = slices->precision,
                      .fields = slices->fields,
                      .names = slices->names,
                      .units = units,
                      .length = config_unit_of(slices->config, "length"),
                      .time_unit = config_unit_of(slices->config, "time"),
                      .values = slices->whole,
                      .step = step,
                      .time = schedule_time(schedule, step),
                      .dt = schedule_dt(schedule, step)};
  char name[NAME_SIZE];
  for (int d = 0; d < 3; d++) plane.n[d] = grid->n[d], plane.h[d] = grid->h[d];
  file_name(slice, step, name);
  CHECK(plane_file_write(slices->path, name, &plane));
  CHECK(series_add(slices->index[i], name, plane.time));
  index_name(slice, name);
  return series_write(slices->index[i], slices->path, name);
}

static int is_there(const slices *slices, int i, int64_t step) {
  const char *last = series_last(slices->index[i]);
  long long found = -1;
  return last != NULL && rundir_is_slice(last, &found) && found >= step;
}

status slices_write(slices *slices, const state *state, const schedule *schedule, int64_t step) {
  const int root = slices->grid.rank == 0;
  for (int i = 0; i < slices->count; i++) {
    const int axis = slices->list[i].axis;
    const int64_t index = grid_nearest(&slices->grid, axis, slices->list[i].at);
    const size_t bytes = (size_t)row_points(&slices->grid, axis) * (size_t)row_count(&slices->grid, axis) *
                         kernels_element_size(slices->precision);
    int there = root && is_there(slices, i, step);
    CHECK_MPI(MPI_Bcast(&there, 1, MPI_INT, 0, slices->comm));
    if (there) continue;
    for (int f = 0; f < slices->fields; f++) {
      char *whole = root ? (char *)slices->whole + (size_t)f * bytes : NULL;
      CHECK(gather(slices, &state->part[f], axis, index, whole));
    }
    CHECK(agree(slices->comm, root ? save(slices, i, index, schedule, step) : STATUS_OK));
  }
  return STATUS_OK;
}
