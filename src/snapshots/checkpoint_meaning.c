#include "snapshots/checkpoint_meaning.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "snapshots/checkpoint_file.h"
#include "files/hdf5_write.h"

static const char place_name[] = "/fdapp/meaning_xxh3";

/* The attributes that are read: by a run that resumes, or by programs for pictures. VTKHDF's Version is left
 * out: other programs write their own. */
static const char *const resuming[] = {
    "step",  "time", "dt",         "base_step", "base_time", "picture",   "departed", "part",    "growth",
    "files", "rate", "other_rate", "fields",    "config",    "precision", "version",  "revision"};
static const char *const image[] = {"Type", "WholeExtent", "Origin", "Spacing", "Direction"};

/* Upper limit of one attribute's bytes. */
enum { MOST_BYTES = 1 << 24 };

status checkpoint_meaning_reserve(hid_t file, const char *path, int64_t *offset) {
  const hsize_t one = 1;
  return hdf5_reserve_dataset(file, path, place_name, H5T_NATIVE_UINT64, 1, &one, offset);
}

/* Adds an attribute's values, in the machine's own types, or that it is not there. */
static status add_attribute(hid_t group, const char *path, const char *name, XXH3_state_t *hash) {
  htri_t there = 0;
  hid_t attribute = -1, space = -1, type = -1;
  (void)XXH3_64bits_update(hash, name, strlen(name) + 1);
  CHECK_HDF5(STATUS_DAMAGED, path, there = H5Aexists(group, name));
  if (there == 0) return STATUS_OK;
  CHECK_HDF5(STATUS_DAMAGED, path, attribute = H5Aopen(group, name, H5P_DEFAULT));
  CHECK_HDF5(STATUS_DAMAGED, path, space = H5Aget_space(attribute));
  CHECK_HDF5(STATUS_DAMAGED, path, type = H5Aget_type(attribute));
  const H5T_class_t kind = H5Tget_class(type);
  const hssize_t points = H5Sget_simple_extent_npoints(space);
  const size_t size = kind == H5T_STRING ? H5Tget_size(type) : sizeof(double);
  const size_t count = points > 0 && points <= MOST_BYTES ? (size_t)points : 0;
  const int known =
      (kind == H5T_STRING && H5Tis_variable_str(type) == 0) || kind == H5T_INTEGER || kind == H5T_FLOAT;
  if (!known || count == 0 || size == 0 || size > MOST_BYTES / count)
    return status_fail(STATUS_DAMAGED, "%s: damaged: attribute %s", path, name);
  void *values = calloc(count, size);
  if (values == NULL) return status_fail(STATUS_MEMORY, "%s: no memory for attribute %s", path, name);
  const hid_t memory = kind == H5T_STRING ? type : kind == H5T_INTEGER ? H5T_NATIVE_INT64 : H5T_NATIVE_DOUBLE;
  const herr_t read = H5Aread(attribute, memory, values);
  (void)XXH3_64bits_update(hash, &count, sizeof count);
  (void)XXH3_64bits_update(hash, values, count * size);
  free(values);
  (void)H5Tclose(type);
  (void)H5Sclose(space);
  (void)H5Aclose(attribute);
  return read >= 0 ? STATUS_OK : hdf5_failure(STATUS_DAMAGED, path, "H5Aread");
}

static status add_group(hid_t file, const char *path, const char *name, const char *const names[],
                        size_t count, XXH3_state_t *hash) {
  hid_t group = -1;
  CHECK_HDF5(STATUS_DAMAGED, path, group = H5Gopen2(file, name, H5P_DEFAULT));
  for (size_t i = 0; i < count; i++) CHECK(add_attribute(group, path, names[i], hash));
  CHECK_HDF5(STATUS_DAMAGED, path, H5Gclose(group));
  return STATUS_OK;
}

/* STATUS_OK if a dataset has this type and shape, and lies at this place. */
static status check_dataset(hid_t file, const char *path, const char *name, hid_t type, int rank,
                            const hsize_t *n, int64_t offset) {
  hid_t dataset = -1, space = -1, stored = -1;
  hsize_t found[H5S_MAX_RANK] = {0};
  CHECK_HDF5(STATUS_DAMAGED, path, dataset = H5Dopen2(file, name, H5P_DEFAULT));
  CHECK_HDF5(STATUS_DAMAGED, path, space = H5Dget_space(dataset));
  CHECK_HDF5(STATUS_DAMAGED, path, stored = H5Dget_type(dataset));
  const int same = H5Sget_simple_extent_dims(space, found, NULL) == rank &&
                   memcmp(found, n, (size_t)rank * sizeof *n) == 0 && H5Tequal(stored, type) > 0 &&
                   (int64_t)H5Dget_offset(dataset) == offset;
  CHECK_HDF5(STATUS_DAMAGED, path, H5Tclose(stored));
  CHECK_HDF5(STATUS_DAMAGED, path, H5Sclose(space));
  CHECK_HDF5(STATUS_DAMAGED, path, H5Dclose(dataset));
  return same ? STATUS_OK : status_fail(STATUS_DAMAGED, "%s: damaged: dataset %s", path, name);
}

static status check_datasets(hid_t file, const char *path, const checkpoint_block *block) {
  const hsize_t shape[3] = {(hsize_t)block->n[2], (hsize_t)block->n[1], (hsize_t)block->n[0]};
  const hsize_t planes[2] = {(hsize_t)block->fields, (hsize_t)block->n[2]};
  const int one = block->fields == 1;
  for (int f = 0; f < block->fields; f++) {
    char name[CHECKPOINT_FIELD_PLACE];
    checkpoint_file_place(block->names[f], name);
    CHECK(check_dataset(file, path, name, hdf5_real(block->precision), 3, shape, block->offsets[f]));
  }
  return check_dataset(file, path, CHECKPOINT_CHECKSUMS, H5T_NATIVE_UINT64, one ? 1 : 2, planes + one,
                       block->checksums_offset);
}

static status add_all(hid_t file, const char *path, const checkpoint_block *block, XXH3_state_t *hash) {
  char text[CHECKPOINT_BLOCK_BYTES];
  checkpoint_block_format(block, 0, text);
  (void)XXH3_64bits_reset(hash);
  (void)XXH3_64bits_update(hash, text, sizeof text);
  CHECK(add_group(file, path, "/fdapp", resuming, sizeof resuming / sizeof *resuming, hash));
  CHECK(add_group(file, path, "/VTKHDF", image, sizeof image / sizeof *image, hash));
  return check_datasets(file, path, block);
}

status checkpoint_meaning_hash(hid_t file, const char *path, const checkpoint_block *block, uint64_t *hash) {
  XXH3_state_t *state = XXH3_createState();
  if (state == NULL) return status_fail(STATUS_MEMORY, "%s: no memory for its checksum", path);
  const status result = add_all(file, path, block, state);
  *hash = XXH3_64bits_digest(state);
  (void)XXH3_freeState(state);
  return result;
}

static status compare(hid_t file, const char *path, const checkpoint_block *block) {
  hid_t dataset = -1, space = -1;
  uint64_t said = 0, found = 0;
  CHECK_HDF5(STATUS_DAMAGED, path, dataset = H5Dopen2(file, place_name, H5P_DEFAULT));
  CHECK_HDF5(STATUS_DAMAGED, path, space = H5Dget_space(dataset));
  if (H5Sget_simple_extent_npoints(space) != 1) return STATUS_DAMAGED;
  CHECK_HDF5(STATUS_DAMAGED, path, H5Dread(dataset, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, &said));
  CHECK_HDF5(STATUS_DAMAGED, path, H5Sclose(space));
  CHECK(checkpoint_meaning_hash(file, path, block, &found));
  return said == found ? STATUS_OK : STATUS_DAMAGED;
}

/* What is printed if HDF5 crashes or hangs. Flips of single bits, and bytes that were zeroed or random, never
 * made version 1.10.8 do so. */
static char last_words[512];

static void end_program(int signal) {
  (void)signal;
  (void)!write(STDERR_FILENO, last_words, strlen(last_words));
  _exit(status_exit_code(STATUS_DAMAGED));
}

status checkpoint_meaning_verify(const char *path, const checkpoint_block *block) {
  static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGALRM};
  enum { COUNT = sizeof signals / sizeof *signals };
  const struct sigaction ours = {.sa_handler = end_program};
  struct sigaction theirs[COUNT];
  hid_t file = -1;
  (void)snprintf(last_words, sizeof last_words,
                 "fdapp: error: %s: damaged: the HDF5 library crashed on it, or did not end\n", path);
  for (int i = 0; i < COUNT; i++) (void)sigaction(signals[i], &ours, &theirs[i]);
  (void)alarm(20);
  status result = checkpoint_file_open(path, &file);
  if (result == STATUS_OK) result = checkpoint_file_close(file, path, compare(file, path, block));
  (void)alarm(0);
  for (int i = 0; i < COUNT; i++) (void)sigaction(signals[i], &theirs[i], NULL);
  if (result == STATUS_OK) return STATUS_OK;
  status_clear();
  return status_fail(STATUS_DAMAGED,
                     "%s: damaged: what surrounds its data does not match its checksum; if another program "
                     "changed it, its values can begin a run of their own, with initial.case = file",
                     path);
}
