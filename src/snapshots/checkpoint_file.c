#include "snapshots/checkpoint_file.h"

#include <errno.h>
#include <fcntl.h>
#include <hdf5.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/file.h"
#include "snapshots/checkpoint_about.h"
#include "snapshots/checkpoint_job.h"
#include "snapshots/checkpoint_meaning.h"
#include "files/hdf5_write.h"

void checkpoint_file_place(const char *name, char place[CHECKPOINT_FIELD_PLACE]) {
  (void)snprintf(place, CHECKPOINT_FIELD_PLACE, "/VTKHDF/PointData/%s", name);
}

/* Makes room for a field. [out] offset: of its values, or of the first of its chunks. */
static status reserve_field(hid_t file, const char *path, const char *place, const checkpoint *checkpoint,
                            const hsize_t shape[3], int memory, int f, int64_t *offset) {
  const hid_t type = hdf5_real(checkpoint->precision);
  const int64_t first = f * checkpoint->grid.n[2];
  if (checkpoint->chunks.all == NULL) return hdf5_reserve_dataset(file, path, place, type, 3, shape, offset);
  CHECK(checkpoint_chunks_reserve(file, path, place, type, shape, memory, checkpoint->chunks.all + first,
                                  checkpoint->chunks.all_offset + first));
  *offset = checkpoint->chunks.all_offset[first];
  return STATUS_OK;
}

/* Writes the part that ParaView reads: VTKHDF 1.0, ImageData. [out] offsets: of the fields' values. */
static status write_picture(hid_t file, const char *path, const checkpoint *checkpoint, int memory,
                            int64_t *offsets) {
  const int64_t *n = checkpoint->grid.n;
  const int extent[6] = {0, (int)n[0] - 1, 0, (int)n[1] - 1, 0, (int)n[2] - 1};
  const hsize_t shape[3] = {(hsize_t)n[2], (hsize_t)n[1], (hsize_t)n[0]};
  hid_t group = -1;
  hid_t data = -1;
  CHECK(hdf5_write_image(file, path, extent, checkpoint->planes.origin, checkpoint->grid.h, &group));
  CHECK_HDF5(STATUS_FILE, path, data = H5Gcreate2(group, "PointData", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  CHECK_HDF5(STATUS_FILE, path, H5Gclose(data));
  CHECK_HDF5(STATUS_FILE, path, H5Gclose(group));
  for (int f = 0; f < checkpoint->fields; f++) {
    char place[CHECKPOINT_FIELD_PLACE], unit[CONFIG_PRODUCT_SIZE];
    const char *name = checkpoint->names[f];
    checkpoint_file_place(name, place);
    CHECK(reserve_field(file, path, place, checkpoint, shape, memory, f, &offsets[f]));
    if (checkpoint->config != NULL)
      CHECK(hdf5_write_unit(file, path, place, config_unit_of_data(checkpoint->config, name, unit)));
  }
  return STATUS_OK;
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
static status make_structure(int memory, const char *path, const checkpoint *checkpoint,
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
  status result = write_picture(file, path, checkpoint, memory, block->offsets);
  if (result == STATUS_OK) result = checkpoint_about_write(file, path, checkpoint, &block->checksums_offset);
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

/* Copies the structure around what lies in it, of which the places ascend: the fields' values, or chunks. */
static status copy_structure(int memory, int descriptor, const char *path, const checkpoint *checkpoint,
                             const checkpoint_block *block) {
  const int64_t *chunks = checkpoint->chunks.all,
                *places = chunks != NULL ? checkpoint->chunks.all_offset : block->offsets;
  const int64_t count = checkpoint->fields * (chunks != NULL ? checkpoint->grid.n[2] : 1);
  int64_t from = CHECKPOINT_BLOCK_BYTES;
  for (int64_t i = 0; i < count; i++) {
    if (places[i] < from) return status_fail(STATUS_FILE, "%s: chunks overlap", path);
    CHECK(copy_range(memory, descriptor, path, from, places[i]));
    from = places[i] + (chunks != NULL ? chunks[i] : checkpoint_data_bytes(block));
  }
  CHECK(copy_range(memory, descriptor, path, from, block->file_bytes));
  /* returns what was reserved but not needed */
  if (ftruncate(descriptor, (off_t)block->file_bytes) == 0) return STATUS_OK;
  return status_fail(STATUS_FILE, "%s: cannot be cut to its size: %s", path, strerror(errno));
}

/* Makes the structure and copies it into the file. */
static status put_structure(int memory, int descriptor, const char *path, const checkpoint *checkpoint,
                            checkpoint_block *block) {
  int64_t meaning = 0;
  CHECK(make_structure(memory, path, checkpoint, block, &meaning));
  if (checkpoint->chunks.all == NULL) CHECK(put_meaning(memory, path, block, meaning));
  return copy_structure(memory, descriptor, path, checkpoint, block);
}

static status fill_file(int descriptor, const char *path, const checkpoint *checkpoint,
                        checkpoint_block *block) {
  /* attributes, groups, and rounding by HDF5 */
  const int64_t provenance = 32768 + (int64_t)strlen(checkpoint->configuration) +
                             checkpoint->memory.count * (int64_t)kernels_element_size(checkpoint->precision);
  int64_t values = block->fields * checkpoint_data_bytes(block);
  for (int64_t i = 0; checkpoint->chunks.all != NULL && i < checkpoint->fields * checkpoint->grid.n[2]; i++)
    values += checkpoint->chunks.all[i];
  CHECK(reserve_room(descriptor, path,
                     values + checkpoint_checksums_bytes(block) + CHECKPOINT_BLOCK_BYTES + provenance));
  const int memory = memfd_create("state", MFD_CLOEXEC);
  if (memory < 0) return status_fail(STATUS_MEMORY, "%s: no file in memory: %s", path, strerror(errno));
  const status result = put_structure(memory, descriptor, path, checkpoint, block);
  (void)close(memory);
  return result;
}

status checkpoint_file_create(const checkpoint *checkpoint, checkpoint_block *block) {
  const checkpoint_state *state = &checkpoint->job.about;
  const int64_t *n = checkpoint->grid.n;
  const char *path = checkpoint->job.path;
  *block = (checkpoint_block){.precision = checkpoint->precision,
                              .n = {n[0], n[1], n[2]},
                              .fields = checkpoint->fields,
                              .compressed = checkpoint->chunks.all != NULL,
                              .step = state->step,
                              .time = state->time,
                              .picture = state->picture};
  for (int f = 0; f < checkpoint->fields; f++) {
    (void)snprintf(block->names[f], CHECKPOINT_NAME, "%s", checkpoint->names[f]);
  }
  const int descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) return status_fail(STATUS_FILE, "%s: cannot make: %s", path, strerror(errno));
  status result = fill_file(descriptor, path, checkpoint, block);
  if (close(descriptor) != 0 && result == STATUS_OK) {
    result = status_fail(STATUS_FILE, "%s: cannot close: %s", path, strerror(errno));
  }
  return result;
}
