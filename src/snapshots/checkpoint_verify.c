#include "snapshots/checkpoint_verify.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "files/hdf5_library.h"
#include "snapshots/checkpoint_about.h"
#include "snapshots/checkpoint_chunks.h"
#include "snapshots/checkpoint_meaning.h"

status checkpoint_verify_surroundings(int descriptor, const char *path, const checkpoint_block *block,
                                      int *changed) {
  int as_written = 0;
  CHECK(checkpoint_block_verify(descriptor, path, block, &as_written));
  *changed = !as_written;
  if (block->compressed && !as_written)
    return status_fail(STATUS_DAMAGED, "%s: damaged: its bytes do not match their checksum", path);
  return as_written ? STATUS_OK : checkpoint_meaning_verify(path, block);
}

static status verify_chunks(int descriptor, const char *path, const checkpoint_block *block) {
  const size_t bytes = (size_t)checkpoint_checksums_bytes(block);
  uint64_t *checksums = malloc(bytes);
  if (checksums == NULL) return status_fail(STATUS_MEMORY, "no memory for %zu bytes", bytes);
  status result = file_read_at(descriptor, path, checksums, bytes, block->checksums_offset);
  for (int f = 0; f < block->fields && result == STATUS_OK; f++)
    result = checkpoint_chunks_verify(path, block, f, checksums + f * block->n[2]);
  free(checksums);
  return result;
}

/* Verifies the planes of a file of any grid, one after another. Needs no memory beyond a checksum. */
static status verify_planes(int descriptor, const char *path, const checkpoint_block *block) {
  const int64_t nz = block->n[2];
  if (block->compressed) return verify_chunks(descriptor, path, block);
  for (int f = 0; f < block->fields; f++) {
    for (int64_t z = 0; z < nz; z++) {
      uint64_t checksum = 0;
      CHECK(file_read_at(descriptor, path, &checksum, sizeof checksum,
                         block->checksums_offset + (f * nz + z) * (int64_t)sizeof checksum));
      CHECK(checkpoint_block_planes(descriptor, path, block, f, z, 1, &checksum, NULL));
    }
  }
  return STATUS_OK;
}

status checkpoint_verify(const char *path, char *line, size_t size, uint64_t *hash) {
  checkpoint_block block;
  checkpoint_state about;
  char names[STATE_FIELDS * CHECKPOINT_NAME];
  int descriptor = -1, changed = 0;
  hid_t file = -1;
  CHECK(hdf5_library_start());
  CHECK(checkpoint_block_open(path, &descriptor));
  status result = checkpoint_block_read(descriptor, path, &block);
  if (result == STATUS_OK) result = checkpoint_verify_surroundings(descriptor, path, &block, &changed);
  if (result == STATUS_OK) result = verify_planes(descriptor, path, &block);
  if (result == STATUS_OK) result = checkpoint_block_read_answer(descriptor, path, &block, hash);
  (void)close(descriptor);
  CHECK(result);
  CHECK(checkpoint_file_open(path, &file));
  result = checkpoint_about_state(file, path, &block, &about);
  if (result == STATUS_OK) result = checkpoint_about_memory(file, path, &block, 0, NULL);
  CHECK(checkpoint_file_close(file, path, result));
  checkpoint_block_names(&block, names, sizeof names);
  (void)snprintf(line, size,
                 "%s: whole; step %" PRId64 ", time %.10g, %" PRId64 " x %" PRId64 " x %" PRId64
                 " points, %s, fields %s%s%s",
                 path, about.step, about.time, block.n[0], block.n[1], block.n[2],
                 config_precision_name(block.precision), names,
                 block.compressed ? ", compressed"
                 : about.part     ? ", in part"
                                  : "",
                 changed ? "; " CHECKPOINT_CHANGED : "");
  return STATUS_OK;
}

status checkpoint_verify_source(const char *path) {
  char line[STATUS_MESSAGE_SIZE];
  uint64_t hash = 0;
  return checkpoint_block_begins(path) ? checkpoint_verify(path, line, sizeof line, &hash) : STATUS_OK;
}
