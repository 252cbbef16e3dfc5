/* libFuzzer target: all that reads a state file before its checksum is known to be right, and its planes. An
 * input is the text of a header and, after a zero byte, what follows it; the file gets the size that the
 * header gives, for a wrong size is refused at once, and after a first look the checksum that it ought to
 * have, so that what lies behind is reached too. The HDF5 part is left out: what the library does with other
 * bytes than were written is looked at in test_state_damage. */

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "snapshots/checkpoint_block.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What kernels/ has to say on a state is the size of a number. */
extern const kernels kernels_cpu;
const kernels kernels_cpu = {.name = "cpu"};

enum { LARGEST_FILE = 1 << 20 };

static void require(int condition, const char *what) {
  if (condition) return;
  (void)fprintf(stderr, "broken promise: %s; message: %s\n", what, status_message(STATUS_DAMAGED));
  abort();
}

/* The file in memory that an input stands for; its path is that of its descriptor. */
static int write_file(const uint8_t *data, size_t size, char path[32]) {
  static int file = -1;
  if (file < 0) file = memfd_create("state", 0);
  (void)snprintf(path, 32, "/proc/self/fd/%d", file);
  char header[CHECKPOINT_BLOCK_BYTES + 1] = "";
  const size_t text =
      strnlen((const char *)data, size < CHECKPOINT_BLOCK_BYTES ? size : CHECKPOINT_BLOCK_BYTES);
  const size_t rest = size > text + 1 ? size - text - 1 : 0;
  memcpy(header, data, text);
  const char *line = strstr(header, "file_bytes ");
  const long long said = line != NULL ? strtoll(line + strlen("file_bytes "), NULL, 10) : 0;
  const long long bytes = said >= 0 && said <= LARGEST_FILE ? said : (long long)size;
  require(file >= 0 && ftruncate(file, 0) == 0 && pwrite(file, header, CHECKPOINT_BLOCK_BYTES, 0) > 0 &&
              pwrite(file, data + size - rest, rest, CHECKPOINT_BLOCK_BYTES) == (ssize_t)rest &&
              ftruncate(file, bytes) == 0,
          "a file in memory");
  return file;
}

static void check_refusal(status result, const char *path) {
  if (result == STATUS_OK) return;
  require(result == STATUS_DAMAGED || result == STATUS_FILE, "exit code 3");
  require(strncmp(status_message(result), path, strlen(path)) == 0, "the file is named");
}

/* A header that is accepted lies within its file, whatever it says. */
static void check_extents(const checkpoint_block *block) {
  require(block->n[0] > 0 && block->n[1] > 0 && block->n[2] > 0, "points");
  require(block->fields >= 1 && block->fields <= STATE_FIELDS, "fields");
  for (int f = 0; f < block->fields; f++) {
    require(checkpoint_is_name(block->names[f]), "a name");
    require((checkpoint_data_bytes(block) > 0) == !block->compressed &&
                block->offsets[f] >= CHECKPOINT_BLOCK_BYTES &&
                block->offsets[f] + checkpoint_data_bytes(block) <= block->file_bytes,
            "data within the file");
  }
  require(block->checksums_offset >= CHECKPOINT_BLOCK_BYTES &&
              block->checksums_offset + checkpoint_checksums_bytes(block) <= block->file_bytes,
          "checksums within the file");
}

static status read_planes(int file, const char *path, const checkpoint_block *block) {
  const int64_t nz = block->compressed ? 0 : block->n[2]; /* HDF5 reads those */
  for (int64_t i = 0; i < block->fields * nz; i++) {
    uint64_t checksum = 0;
    CHECK(file_read_at(file, path, &checksum, sizeof checksum, block->checksums_offset + i * 8));
    CHECK(checkpoint_block_planes(file, path, block, (int)(i / nz), i % nz, 1, &checksum, NULL));
  }
  return STATUS_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char path[32];
  int file = -1, as_written = 0;
  checkpoint_block block;
  status_clear();
  const int memory = write_file(data, size, path);
  status result = checkpoint_block_open(path, &file);
  check_refusal(result, path);
  if (result != STATUS_OK) return 0;
  result = checkpoint_block_read(file, path, &block);
  check_refusal(result, path);
  if (result == STATUS_OK) {
    check_extents(&block);
    check_refusal(checkpoint_block_verify(file, path, &block, &as_written), path);
    status_clear();
    /* As if somebody had made the checksum fit: what comes behind it. */
    require(checkpoint_block_write(memory, path, &block) == STATUS_OK, "a header");
    require(checkpoint_block_read(file, path, &block) == STATUS_OK, "the header again");
    require(checkpoint_block_verify(file, path, &block, &as_written) == STATUS_OK && as_written,
            "its checksum");
    check_refusal(read_planes(file, path, &block), path);
  }
  (void)close(file);
  return 0;
}
