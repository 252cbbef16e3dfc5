#include "snapshots/checkpoint_file.h"

#include <errno.h>
#include <fcntl.h>
#include <hdf5.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/file.h"
#include "base/version.h"
#include "snapshots/checkpoint_chunks.h"
#include "snapshots/checkpoint_meaning.h"
#include "files/dataset_parts.h"
#include "files/hdf5_write.h"

#define CHECKPOINT_MEMORY "/fdapp/memory"

void checkpoint_file_place(const char *name, char place[CHECKPOINT_FIELD_PLACE]) {
  (void)snprintf(place, CHECKPOINT_FIELD_PLACE, "/VTKHDF/PointData/%s", name);
}

/* Makes room for a field. [out] offset: of its values, or of the first of its chunks. */
static status reserve_field(hid_t file, const char *path, const char *place,
                            const checkpoint_contents *contents, const hsize_t shape[3], int memory, int f,
                            int64_t *offset) {
  const hid_t type = hdf5_real(contents->precision);
  const int64_t first = f * contents->n[2];
  if (contents->chunks == NULL) return hdf5_reserve_dataset(file, path, place, type, 3, shape, offset);
  CHECK(checkpoint_chunks_reserve(file, path, place, type, shape, memory, contents->chunks + first,
                                  contents->chunk_offsets + first));
  *offset = contents->chunk_offsets[first];
  return STATUS_OK;
}

/* Writes the part that ParaView reads: VTKHDF 1.0, ImageData. [out] offsets: of the fields' values. */
static status write_picture(hid_t file, const char *path, const checkpoint_contents *contents, int memory,
                            int64_t *offsets) {
  const int64_t *n = contents->n;
  const int extent[6] = {0, (int)n[0] - 1, 0, (int)n[1] - 1, 0, (int)n[2] - 1};
  const hsize_t shape[3] = {(hsize_t)n[2], (hsize_t)n[1], (hsize_t)n[0]};
  hid_t group = -1;
  hid_t data = -1;
  CHECK(hdf5_write_image(file, path, extent, contents->origin, contents->h, &group));
  CHECK_HDF5(STATUS_FILE, path, data = H5Gcreate2(group, "PointData", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  CHECK_HDF5(STATUS_FILE, path, H5Gclose(data));
  CHECK_HDF5(STATUS_FILE, path, H5Gclose(group));
  for (int f = 0; f < contents->fields; f++) {
    char place[CHECKPOINT_FIELD_PLACE], unit[CONFIG_PRODUCT_SIZE];
    const char *name = contents->names[f];
    checkpoint_file_place(name, place);
    CHECK(reserve_field(file, path, place, contents, shape, memory, f, &offsets[f]));
    if (contents->units != NULL)
      CHECK(hdf5_write_unit(file, path, place, config_unit_of_data(contents->units, name, unit)));
  }
  return STATUS_OK;
}

/* Writes the order of the fields, "p u v w", because HDF5 lists them alphabetically. */
static status write_order(hid_t group, const char *path, const checkpoint_contents *contents) {
  char text[STATE_FIELDS * CHECKPOINT_NAME] = "";
  for (int f = 0; f < contents->fields; f++) {
    const size_t used = strlen(text);
    (void)snprintf(text + used, sizeof text - used, "%s%s", f > 0 ? " " : "", contents->names[f]);
  }
  return hdf5_write_text(group, path, "fields", text);
}

static status write_units(hid_t group, const char *path, const config *config) {
  const char *length = config_unit_of(config, "length"), *time = config_unit_of(config, "time");
  if (length[0] != '\0') CHECK(hdf5_write_text(group, path, "units_length", length));
  return time[0] != '\0' ? hdf5_write_text(group, path, "units_time", time) : STATUS_OK;
}

/* Values of the attribute `growth`. */
enum { GROWTH = 8 };

static uint64_t memory_hash(precision precision, int64_t count, const void *values) {
  return XXH3_64bits(values, (size_t)count * kernels_element_size(precision));
}

static status write_memory(hid_t file, const char *path, const checkpoint_contents *contents) {
  const hsize_t count = (hsize_t)contents->remembered;
  hid_t dataset = -1;
  if (contents->memory == NULL) return STATUS_OK;
  const uint64_t hash = memory_hash(contents->precision, contents->remembered, contents->memory);
  CHECK(hdf5_write_array(file, path, CHECKPOINT_MEMORY, hdf5_real(contents->precision), 1, &count,
                         contents->memory));
  CHECK_HDF5(STATUS_FILE, path, dataset = H5Dopen2(file, CHECKPOINT_MEMORY, H5P_DEFAULT));
  CHECK(hdf5_write_attribute(dataset, path, "xxh3", H5T_NATIVE_UINT64, 0, &hash));
  CHECK_HDF5(STATUS_FILE, path, H5Dclose(dataset));
  return STATUS_OK;
}

static status write_samples(hid_t group, const char *path, const checkpoint_samples *samples) {
  CHECK(hdf5_write_attribute(group, path, "samples", H5T_NATIVE_INT64, 0, &samples->count));
  CHECK(hdf5_write_attribute(group, path, "samples_weight", H5T_NATIVE_DOUBLE, 0, &samples->weight));
  return hdf5_write_attribute(group, path, "samples_time", H5T_NATIVE_DOUBLE, 0, &samples->time);
}

/* Writes the data for resuming, and the provenance. [out] offset: of the planes' checksums. */
static status write_restart(hid_t file, const char *path, const checkpoint_contents *contents,
                            int64_t *offset) {
  const checkpoint_state *state = &contents->state;
  /* checksums of one field are one-dimensional, as in files of version 1 */
  const hsize_t planes[2] = {(hsize_t)contents->fields, (hsize_t)contents->n[2]};
  const int one = contents->fields == 1;
  hid_t group = -1;
  CHECK_HDF5(STATUS_FILE, path, group = H5Gcreate2(file, "fdapp", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  CHECK(hdf5_write_attribute(group, path, "step", H5T_NATIVE_INT64, 0, &state->step));
  CHECK(hdf5_write_attribute(group, path, "time", H5T_NATIVE_DOUBLE, 0, &state->time));
  CHECK(hdf5_write_attribute(group, path, "dt", H5T_NATIVE_DOUBLE, 0, &state->dt));
  CHECK(hdf5_write_attribute(group, path, "base_step", H5T_NATIVE_INT64, 0, &state->base_step));
  CHECK(hdf5_write_attribute(group, path, "base_time", H5T_NATIVE_DOUBLE, 0, &state->base_time));
  CHECK(hdf5_write_attribute(group, path, "picture", H5T_NATIVE_INT, 0, &state->picture));
  CHECK(hdf5_write_attribute(group, path, "departed", H5T_NATIVE_INT, 0, &state->departed));
  if (state->part) CHECK(hdf5_write_attribute(group, path, "part", H5T_NATIVE_INT, 0, &state->part));
  if (state->files != 0)
    CHECK(hdf5_write_attribute(group, path, "files", H5T_NATIVE_INT64, 0, &state->files));
  if (state->samples.count != 0) CHECK(write_samples(group, path, &state->samples));
  if (state->growth.known) {
    const checkpoint_growth *from = &state->growth;
    const double growth[GROWTH] = {from->time,       from->background, from->norm,     from->entered[0],
                                   from->entered[1], from->began[0],   from->began[1], from->jump};
    CHECK(hdf5_write_attribute(group, path, "growth", H5T_NATIVE_DOUBLE, GROWTH, growth));
  }
  CHECK(hdf5_write_text(group, path, "precision", config_precision_name(contents->precision)));
  CHECK(hdf5_write_text(group, path, "version", FDAPP_VERSION));
  CHECK(hdf5_write_text(group, path, "revision", FDAPP_REVISION));
  CHECK(hdf5_write_text(group, path, "config", contents->configuration));
  if (contents->units != NULL) CHECK(write_units(group, path, contents->units));
  if (!one) CHECK(write_order(group, path, contents));
  CHECK_HDF5(STATUS_FILE, path, H5Gclose(group));
  CHECK(write_memory(file, path, contents));
  return hdf5_reserve_dataset(file, path, CHECKPOINT_CHECKSUMS, H5T_NATIVE_UINT64, one ? 1 : 2, planes + one,
                              offset);
}

/* [out] access: property list for opening files. */
static status access_list(const char *path, hid_t *access) {
  CHECK_HDF5(STATUS_FILE, path, *access = H5Pcreate(H5P_FILE_ACCESS));
  CHECK_HDF5(STATUS_FILE, path, H5Pset_fclose_degree(*access, H5F_CLOSE_STRONG));
  /* the run directory has its own lock, and some file systems do not support HDF5's */
  CHECK_HDF5(STATUS_FILE, path, H5Pset_file_locking(*access, 0, 1));
  return STATUS_OK;
}

status checkpoint_file_open(const char *path, hid_t *file) {
  hid_t access = -1;
  CHECK(access_list(path, &access));
  CHECK_HDF5(STATUS_FILE, path, *file = H5Fopen(path, H5F_ACC_RDONLY, access));
  CHECK_HDF5(STATUS_FILE, path, H5Pclose(access));
  return STATUS_OK;
}

status checkpoint_file_close(hid_t file, const char *path, status result) {
  if (H5Fclose(file) >= 0 || result != STATUS_OK) return result;
  return hdf5_failure(STATUS_FILE, path, "H5Fclose");
}

/* Reserves room on the disk; returns the error number, 0 for none. Repeated if a signal interrupts it,
 * because signals that ask the run to stop must not cost the state. */
static int reserve(int descriptor, int64_t bytes) {
  while (fallocate(descriptor, 0, 0, (off_t)bytes) != 0) {
    if (errno != EINTR) return errno;
  }
  return 0;
}

/* Reserves `bytes` bytes for the file, so that a full disk is reported before anything is written. */
static status reserve_room(int descriptor, const char *path, int64_t bytes) {
  struct statvfs room;
  int fault = reserve(descriptor, bytes);
  if (fault == EOPNOTSUPP || fault == ENOSYS) {
    /* the file system cannot reserve: compare with its free space */
    const int known = fstatvfs(descriptor, &room) == 0;
    fault = known && (double)room.f_bavail * (double)room.f_frsize < (double)bytes ? ENOSPC : 0;
    if (fault == 0 && ftruncate(descriptor, (off_t)bytes) != 0) fault = errno;
  }
  if (fault == 0) return STATUS_OK;
  return status_fail(STATUS_FILE, "%s: no room for %" PRId64 " bytes: %s", path, bytes, strerror(fault));
}

/* Makes the structure by HDF5 in a file in memory. So HDF5's writes cannot fail because of the disk: after a
 * failed close, HDF5 1.10 crashes in MPI_Finalize when it cleans up. The fields' places are holes, which take
 * no memory. [out] block: where fields and checksums lie; meaning: where the checksum of all this lies. */
static status make_structure(int memory, const char *path, const checkpoint_contents *contents,
                             checkpoint_block *block, int64_t *meaning) {
  hid_t access = -1;
  hid_t creation = -1;
  hid_t file = -1;
  struct stat info;
  char name[32];
  (void)snprintf(name, sizeof name, "/proc/self/fd/%d", memory);
  CHECK(access_list(path, &access));
  CHECK_HDF5(STATUS_FILE, path, H5Pset_fapl_stdio(access));
  CHECK_HDF5(STATUS_FILE, path, creation = H5Pcreate(H5P_FILE_CREATE));
  CHECK_HDF5(STATUS_FILE, path, H5Pset_userblock(creation, CHECKPOINT_BLOCK_BYTES));
  CHECK_HDF5(STATUS_FILE, path, file = H5Fcreate(name, H5F_ACC_TRUNC, creation, access));
  status result = write_picture(file, path, contents, memory, block->offsets);
  if (result == STATUS_OK) result = write_restart(file, path, contents, &block->checksums_offset);
  if (result == STATUS_OK) result = checkpoint_meaning_reserve(file, path, meaning);
  CHECK(checkpoint_file_close(file, path, result));
  CHECK_HDF5(STATUS_FILE, path, H5Pclose(creation));
  CHECK_HDF5(STATUS_FILE, path, H5Pclose(access));
  if (fstat(memory, &info) != 0) return status_fail(STATUS_FILE, "%s: %s", path, strerror(errno));
  block->file_bytes = (int64_t)info.st_size;
  return STATUS_OK;
}

/* Writes the checksum of what the file in memory says, now that its structure is complete. */
static status put_meaning(int memory, const char *path, const checkpoint_block *block, int64_t offset) {
  char name[32];
  hid_t access = -1, file = -1;
  uint64_t hash = 0;
  (void)snprintf(name, sizeof name, "/proc/self/fd/%d", memory);
  CHECK(access_list(path, &access));
  CHECK_HDF5(STATUS_FILE, path, H5Pset_fapl_stdio(access));
  CHECK_HDF5(STATUS_FILE, path, file = H5Fopen(name, H5F_ACC_RDONLY, access));
  CHECK(checkpoint_file_close(file, path, checkpoint_meaning_hash(file, path, block, &hash)));
  CHECK_HDF5(STATUS_FILE, path, H5Pclose(access));
  return file_write_at(memory, path, &hash, sizeof hash, offset);
}

/* Copies the bytes [start, end) of the file in memory to the file. */
static status copy_range(int memory, int descriptor, const char *path, int64_t start, int64_t end) {
  char piece[1 << 14];
  for (int64_t at = start; at < end; at += (int64_t)sizeof piece) {
    const size_t size = end - at < (int64_t)sizeof piece ? (size_t)(end - at) : sizeof piece;
    CHECK(file_read_at(memory, path, piece, size, at));
    CHECK(file_write_at(descriptor, path, piece, size, at));
  }
  return STATUS_OK;
}

/* Copies the structure around the places of chunks, which ascend. */
static status copy_around(int memory, int descriptor, const char *path, const checkpoint_contents *contents,
                          const checkpoint_block *block) {
  int64_t from = CHECKPOINT_BLOCK_BYTES;
  for (int64_t i = 0; i < contents->fields * contents->n[2]; i++) {
    if (contents->chunk_offsets[i] < from) return status_fail(STATUS_FILE, "%s: chunks overlap", path);
    CHECK(copy_range(memory, descriptor, path, from, contents->chunk_offsets[i]));
    from = contents->chunk_offsets[i] + contents->chunks[i];
  }
  CHECK(copy_range(memory, descriptor, path, from, block->file_bytes));
  if (ftruncate(descriptor, (off_t)block->file_bytes) == 0) return STATUS_OK;
  return status_fail(STATUS_FILE, "%s: cannot be cut to its size: %s", path, strerror(errno));
}

/* Makes the structure and copies it around the fields' places in the file. */
static status put_structure(int memory, int descriptor, const char *path, const checkpoint_contents *contents,
                            checkpoint_block *block) {
  int64_t meaning = 0;
  CHECK(make_structure(memory, path, contents, block, &meaning));
  if (contents->chunks != NULL) return copy_around(memory, descriptor, path, contents, block);
  CHECK(put_meaning(memory, path, block, meaning));
  int64_t from = CHECKPOINT_BLOCK_BYTES;
  for (int f = 0; f <= block->fields; f++) {
    const int64_t to = f < block->fields ? block->offsets[f] : block->file_bytes;
    CHECK(copy_range(memory, descriptor, path, from, to));
    from = to + checkpoint_data_bytes(block);
  }
  /* returns what was reserved but not needed */
  if (ftruncate(descriptor, (off_t)block->file_bytes) == 0) return STATUS_OK;
  return status_fail(STATUS_FILE, "%s: cannot be cut to its size: %s", path, strerror(errno));
}

static status fill_file(int descriptor, const char *path, const checkpoint_contents *contents,
                        checkpoint_block *block) {
  /* attributes, groups, and rounding by HDF5 */
  const int64_t provenance = 32768 + (int64_t)strlen(contents->configuration) +
                             contents->remembered * (int64_t)kernels_element_size(contents->precision);
  int64_t values = block->fields * checkpoint_data_bytes(block);
  for (int64_t i = 0; contents->chunks != NULL && i < contents->fields * contents->n[2]; i++)
    values += contents->chunks[i];
  CHECK(reserve_room(descriptor, path,
                     values + checkpoint_checksums_bytes(block) + CHECKPOINT_BLOCK_BYTES + provenance));
  const int memory = memfd_create("state", MFD_CLOEXEC);
  if (memory < 0) return status_fail(STATUS_MEMORY, "%s: no file in memory: %s", path, strerror(errno));
  const status result = put_structure(memory, descriptor, path, contents, block);
  (void)close(memory);
  return result;
}

status checkpoint_file_create(const char *path, const checkpoint_contents *contents,
                              checkpoint_block *block) {
  *block = (checkpoint_block){.precision = contents->precision,
                              .n = {contents->n[0], contents->n[1], contents->n[2]},
                              .fields = contents->fields,
                              .compressed = contents->chunks != NULL,
                              .step = contents->state.step,
                              .time = contents->state.time,
                              .picture = contents->state.picture};
  for (int f = 0; f < contents->fields; f++) {
    (void)snprintf(block->names[f], CHECKPOINT_NAME, "%s", contents->names[f]);
  }
  const int descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) return status_fail(STATUS_FILE, "%s: cannot make: %s", path, strerror(errno));
  status result = fill_file(descriptor, path, contents, block);
  if (close(descriptor) != 0 && result == STATUS_OK) {
    result = status_fail(STATUS_FILE, "%s: cannot close: %s", path, strerror(errno));
  }
  return result;
}

static status read_attribute(hid_t object, const char *path, const char *name, hid_t type, int count,
                             void *value) {
  hid_t attribute = -1;
  hid_t space = -1;
  CHECK_HDF5(STATUS_DAMAGED, path, attribute = H5Aopen(object, name, H5P_DEFAULT));
  CHECK_HDF5(STATUS_DAMAGED, path, space = H5Aget_space(attribute));
  if (H5Sget_simple_extent_npoints(space) != count) {
    return status_fail(STATUS_DAMAGED, "%s: damaged: %s does not hold %d value(s)", path, name, count);
  }
  CHECK_HDF5(STATUS_DAMAGED, path, H5Aread(attribute, type, value));
  CHECK_HDF5(STATUS_DAMAGED, path, H5Sclose(space));
  CHECK_HDF5(STATUS_DAMAGED, path, H5Aclose(attribute));
  return STATUS_OK;
}

/* Checks that every field lies where the block says. */
static status check_offsets(hid_t file, const char *path, const checkpoint_block *block) {
  if (block->compressed) return STATUS_OK; /* all bytes are compared */
  for (int f = 0; f < block->fields; f++) {
    char place[CHECKPOINT_FIELD_PLACE];
    hid_t dataset = -1;
    checkpoint_file_place(block->names[f], place);
    CHECK_HDF5(STATUS_DAMAGED, path, dataset = H5Dopen2(file, place, H5P_DEFAULT));
    const haddr_t offset = H5Dget_offset(dataset);
    CHECK_HDF5(STATUS_DAMAGED, path, H5Dclose(dataset));
    if ((int64_t)offset != block->offsets[f]) {
      return status_fail(STATUS_DAMAGED, "%s: damaged: its header and its contents contradict each other",
                         path);
    }
  }
  return STATUS_OK;
}

static status read_growth(hid_t group, const char *path, checkpoint_growth *growth) {
  double values[GROWTH] = {[5] = INFINITY, [6] = -INFINITY, [7] = INFINITY};
  *growth = (checkpoint_growth){0};
  const int count = dataset_numbers(group, "growth", GROWTH, values);
  if (count == 0) return STATUS_OK;
  if (count < 5) return status_fail(STATUS_DAMAGED, "%s: damaged: growth has not its numbers", path);
  *growth = (checkpoint_growth){.known = 1,
                                .time = values[0],
                                .background = values[1],
                                .norm = values[2],
                                .entered = {values[3], values[4]},
                                .began = {values[5], values[6]},
                                .jump = values[7]};
  return STATUS_OK;
}

static status read_samples(hid_t group, const char *path, checkpoint_samples *samples) {
  htri_t says = 0;
  *samples = (checkpoint_samples){0};
  CHECK_HDF5(STATUS_DAMAGED, path, says = H5Aexists(group, "samples"));
  if (says == 0) return STATUS_OK;
  CHECK(read_attribute(group, path, "samples", H5T_NATIVE_INT64, 1, &samples->count));
  CHECK(read_attribute(group, path, "samples_weight", H5T_NATIVE_DOUBLE, 1, &samples->weight));
  return read_attribute(group, path, "samples_time", H5T_NATIVE_DOUBLE, 1, &samples->time);
}

static status read_state(hid_t file, const char *path, const checkpoint_block *block,
                         checkpoint_state *state) {
  hid_t group = -1;
  CHECK_HDF5(STATUS_DAMAGED, path, group = H5Gopen2(file, "fdapp", H5P_DEFAULT));
  CHECK(read_attribute(group, path, "step", H5T_NATIVE_INT64, 1, &state->step));
  CHECK(read_attribute(group, path, "time", H5T_NATIVE_DOUBLE, 1, &state->time));
  CHECK(read_attribute(group, path, "dt", H5T_NATIVE_DOUBLE, 1, &state->dt));
  CHECK(read_attribute(group, path, "base_step", H5T_NATIVE_INT64, 1, &state->base_step));
  CHECK(read_attribute(group, path, "base_time", H5T_NATIVE_DOUBLE, 1, &state->base_time));
  CHECK(read_attribute(group, path, "picture", H5T_NATIVE_INT, 1, &state->picture));
  state->departed = 0;
  htri_t says = 0;
  CHECK_HDF5(STATUS_DAMAGED, path, says = H5Aexists(group, "departed"));
  if (says > 0) { /* older states do not have it */
    CHECK(read_attribute(group, path, "departed", H5T_NATIVE_INT, 1, &state->departed));
  }
  state->part = 0;
  CHECK_HDF5(STATUS_DAMAGED, path, says = H5Aexists(group, "part"));
  if (says > 0) CHECK(read_attribute(group, path, "part", H5T_NATIVE_INT, 1, &state->part));
  state->files = 0;
  CHECK_HDF5(STATUS_DAMAGED, path, says = H5Aexists(group, "files"));
  if (says > 0) CHECK(read_attribute(group, path, "files", H5T_NATIVE_INT64, 1, &state->files));
  CHECK(read_samples(group, path, &state->samples));
  CHECK(read_growth(group, path, &state->growth));
  CHECK_HDF5(STATUS_DAMAGED, path, H5Gclose(group));
  CHECK(check_offsets(file, path, block));
  if (state->step != block->step || state->time != block->time) {
    return status_fail(STATUS_DAMAGED, "%s: damaged: its header and its contents contradict each other",
                       path);
  }
  return STATUS_OK;
}

status checkpoint_file_state(const char *path, const checkpoint_block *block, checkpoint_state *state) {
  hid_t file = -1;
  CHECK(checkpoint_file_open(path, &file));
  return checkpoint_file_close(file, path, read_state(file, path, block, state));
}

static status read_spacing(hid_t file, const char *path, double spacing[3]) {
  hid_t group = -1;
  CHECK_HDF5(STATUS_DAMAGED, path, group = H5Gopen2(file, "VTKHDF", H5P_DEFAULT));
  CHECK(read_attribute(group, path, "Spacing", H5T_NATIVE_DOUBLE, 3, spacing));
  CHECK_HDF5(STATUS_DAMAGED, path, H5Gclose(group));
  return STATUS_OK;
}

status checkpoint_file_spacing(const char *path, double spacing[3]) {
  hid_t file = -1;
  CHECK(checkpoint_file_open(path, &file));
  return checkpoint_file_close(file, path, read_spacing(file, path, spacing));
}

static status read_memory(hid_t file, const char *path, precision precision, int64_t count, void *values) {
  hid_t dataset = -1, space = -1;
  htri_t there = 0;
  uint64_t hash = 0;
  memset(values, 0, (size_t)count * kernels_element_size(precision));
  CHECK_HDF5(STATUS_DAMAGED, path, there = H5Lexists(file, CHECKPOINT_MEMORY, H5P_DEFAULT));
  if (there == 0) return STATUS_OK;
  CHECK_HDF5(STATUS_DAMAGED, path, dataset = H5Dopen2(file, CHECKPOINT_MEMORY, H5P_DEFAULT));
  CHECK_HDF5(STATUS_DAMAGED, path, space = H5Dget_space(dataset));
  const int fits = H5Sget_simple_extent_npoints(space) == count;
  CHECK_HDF5(STATUS_DAMAGED, path, H5Sclose(space));
  CHECK(read_attribute(dataset, path, "xxh3", H5T_NATIVE_UINT64, 1, &hash));
  if (fits)
    CHECK_HDF5(STATUS_DAMAGED, path,
               H5Dread(dataset, hdf5_real(precision), H5S_ALL, H5S_ALL, H5P_DEFAULT, values));
  CHECK_HDF5(STATUS_DAMAGED, path, H5Dclose(dataset));
  if (!fits || memory_hash(precision, count, values) == hash) return STATUS_OK;
  return status_fail(STATUS_DAMAGED, "%s: damaged: " CHECKPOINT_MEMORY " does not match its checksum", path);
}

status checkpoint_file_memory(const char *path, precision precision, int64_t count, void *values) {
  hid_t file = -1;
  CHECK(checkpoint_file_open(path, &file));
  return checkpoint_file_close(file, path, read_memory(file, path, precision, count, values));
}

static status verify_memory(hid_t file, const char *path, const checkpoint_block *block) {
  const size_t size = kernels_element_size(block->precision);
  hid_t dataset = -1, space = -1;
  hssize_t count = 0;
  htri_t there = 0;
  CHECK_HDF5(STATUS_DAMAGED, path, there = H5Lexists(file, CHECKPOINT_MEMORY, H5P_DEFAULT));
  if (there == 0) return STATUS_OK;
  CHECK_HDF5(STATUS_DAMAGED, path, dataset = H5Dopen2(file, CHECKPOINT_MEMORY, H5P_DEFAULT));
  CHECK_HDF5(STATUS_DAMAGED, path, space = H5Dget_space(dataset));
  CHECK_HDF5(STATUS_DAMAGED, path, count = H5Sget_simple_extent_npoints(space));
  CHECK_HDF5(STATUS_DAMAGED, path, H5Sclose(space));
  CHECK_HDF5(STATUS_DAMAGED, path, H5Dclose(dataset));
  if (count == 0 || (uint64_t)count > (uint64_t)block->file_bytes / size)
    return status_fail(STATUS_DAMAGED, "%s: damaged: " CHECKPOINT_MEMORY " is not of its length", path);
  void *values = malloc((size_t)count * size);
  if (values == NULL) return status_fail(STATUS_MEMORY, "%s: no memory for " CHECKPOINT_MEMORY, path);
  const status result = read_memory(file, path, block->precision, count, values);
  free(values);
  return result;
}

status checkpoint_file_memory_verify(const char *path, const checkpoint_block *block) {
  hid_t file = -1;
  CHECK(checkpoint_file_open(path, &file));
  return checkpoint_file_close(file, path, verify_memory(file, path, block));
}

static status read_configuration(hid_t file, const char *path, char **text) {
  hid_t attribute = -1;
  hid_t type = -1;
  CHECK_HDF5(STATUS_DAMAGED, path,
             attribute = H5Aopen_by_name(file, "fdapp", "config", H5P_DEFAULT, H5P_DEFAULT));
  CHECK_HDF5(STATUS_DAMAGED, path, type = H5Aget_type(attribute));
  const size_t size = H5Tget_size(type);
  if (size == 0) return hdf5_failure(STATUS_DAMAGED, path, "H5Tget_size");
  *text = calloc(size + 1, 1);
  if (*text == NULL) return status_fail(STATUS_MEMORY, "no memory for the configuration in %s", path);
  CHECK_HDF5(STATUS_DAMAGED, path, H5Aread(attribute, type, *text));
  CHECK_HDF5(STATUS_DAMAGED, path, H5Tclose(type));
  CHECK_HDF5(STATUS_DAMAGED, path, H5Aclose(attribute));
  return STATUS_OK;
}

status checkpoint_file_configuration(const char *path, char **text) {
  hid_t file = -1;
  *text = NULL;
  CHECK(checkpoint_file_open(path, &file));
  return checkpoint_file_close(file, path, read_configuration(file, path, text));
}
