#include "snapshots/checkpoint_block.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/file.h"

/* Bytes read at a time where nothing larger is at hand. */
enum { PIECE_BYTES = 1 << 18, FORMAT_VERSION = 1 };

/* More than what surrounds phi and its checksums ever is: some KiB of structure and provenance. */
enum { SURROUNDINGS_MOST = 16 << 20 };

/* The block's lines that are whole numbers, in their order: X(key, member). Before them the format's name and
 * version; after them precision, picture, time and the checksum. */
#define LINES(X)                                                                                             \
  X("nx", n[0])                                                                                              \
  X("ny", n[1])                                                                                              \
  X("nz", n[2])                                                                                              \
  X("file_bytes", file_bytes)                                                                                \
  X("data_offset", data_offset)                                                                              \
  X("checksums_offset", checksums_offset)                                                                    \
  X("step", step)

static const char first_line[] = "fdapp_state";

static status damaged(const char *path, const char *what) {
  return status_fail(STATUS_DAMAGED, "%s: damaged, or not a state of fdapp: %s", path, what);
}

int64_t checkpoint_plane_bytes(const checkpoint_block *block) {
  return block->n[0] * block->n[1] * (int64_t)kernels_element_size(block->precision);
}

int64_t checkpoint_data_bytes(const checkpoint_block *block) {
  return block->n[2] * checkpoint_plane_bytes(block);
}

static void format_block(const checkpoint_block *block, uint64_t checksum,
                         char text[CHECKPOINT_BLOCK_BYTES]) {
  memset(text, 0, CHECKPOINT_BLOCK_BYTES);
  (void)snprintf(text, CHECKPOINT_BLOCK_BYTES,
                 "%s %d\n"
#define X(key, member) key " %" PRId64 "\n"
                 LINES(X)
#undef X
                     "precision %s\npicture %d\ntime %.17g\nmetadata_xxh3 %016" PRIx64 "\n",
                 first_line, FORMAT_VERSION,
#define X(key, member) block->member,
                 LINES(X)
#undef X
                             block->precision == PRECISION_SINGLE
                     ? "single"
                     : "double",
                 block->picture, block->time, checksum);
}

/* Takes "key value\n" off *text; the value, or NULL if the line is another one. Cuts the text at the line's
 * end. */
static const char *take_line(char **text, const char *key) {
  char *line = *text;
  const size_t length = strlen(key);
  char *end = strchr(line, '\n');
  if (end == NULL || strncmp(line, key, length) != 0 || line[length] != ' ') return NULL;
  *end = '\0';
  *text = end + 1;
  return line + length + 1;
}

/* Lenient: what differs from how format_block would write it is found by comparing with that. */
static const char *parse_block(char *text, checkpoint_block *block, uint64_t *checksum) {
  const char *version = take_line(&text, first_line);
  if (version == NULL) return "it does not begin like one";
  if (atoi(version) != FORMAT_VERSION) return "it has another format version";
  const char *value = NULL;
#define X(key, member)                                                                                       \
  value = take_line(&text, key);                                                                             \
  if (value == NULL) return "no " key " in its header";                                                      \
  block->member = strtoll(value, NULL, 10);
  LINES(X)
#undef X
  if ((value = take_line(&text, "precision")) == NULL) return "no precision in its header";
  block->precision = strcmp(value, "single") == 0 ? PRECISION_SINGLE : PRECISION_DOUBLE;
  if ((value = take_line(&text, "picture")) == NULL) return "no picture in its header";
  block->picture = atoi(value);
  if ((value = take_line(&text, "time")) == NULL) return "no time in its header";
  block->time = strtod(value, NULL);
  if ((value = take_line(&text, "metadata_xxh3")) == NULL) return "no metadata_xxh3 in its header";
  *checksum = strtoull(value, NULL, 16);
  return NULL;
}

/* Whether [offset, offset + bytes) lies between the block and the end of the file. */
static int lies_within(const checkpoint_block *block, int64_t offset, int64_t bytes) {
  return offset >= CHECKPOINT_BLOCK_BYTES && bytes <= block->file_bytes &&
         offset <= block->file_bytes - bytes;
}

static const char *check_extents(const checkpoint_block *block) {
  const int64_t size = (int64_t)kernels_element_size(block->precision);
  int64_t bytes = 0;
  for (int d = 0; d < 3; d++) {
    if (block->n[d] < 1 || block->n[d] > INT_MAX) return "impossible numbers of points in its header";
  }
  if (__builtin_mul_overflow(block->n[0] * block->n[1], block->n[2], &bytes) ||
      __builtin_mul_overflow(bytes, size, &bytes)) {
    return "impossible numbers of points in its header";
  }
  const int64_t checksums = block->n[2] * (int64_t)sizeof(uint64_t);
  if (!lies_within(block, block->data_offset, bytes)) return "its data lie outside of the file";
  if (!lies_within(block, block->checksums_offset, checksums) ||
      (block->checksums_offset < block->data_offset + bytes &&
       block->checksums_offset + checksums > block->data_offset)) {
    return "its checksums lie outside of the file or in its data";
  }
  if (block->file_bytes - bytes - checksums > SURROUNDINGS_MOST)
    return "it is larger than its points account for";
  return NULL;
}

status checkpoint_block_open(const char *path, int *descriptor) {
  struct stat info;
  *descriptor = -1;
  /* O_NONBLOCK: a named pipe must not make us wait for somebody to write into it. */
  const int opened = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (opened < 0) return status_fail(STATUS_FILE, "%s: cannot open: %s", path, strerror(errno));
  status result = STATUS_OK;
  if (fstat(opened, &info) != 0) {
    result = status_fail(STATUS_FILE, "%s: %s", path, strerror(errno));
  } else if (!S_ISREG(info.st_mode)) {
    result = damaged(path, S_ISDIR(info.st_mode) ? "it is a directory" : "it is not a regular file");
  } else if (info.st_size < CHECKPOINT_BLOCK_BYTES) {
    result = damaged(path, info.st_size == 0 ? "it is empty" : "it is too short");
  }
  if (result == STATUS_OK) {
    *descriptor = opened;
  } else {
    (void)close(opened);
  }
  return result;
}

/* Reads and parses; [out] raw as in the file, checksum as it says. */
static status read_raw(int descriptor, const char *path, checkpoint_block *block,
                       char raw[CHECKPOINT_BLOCK_BYTES], uint64_t *checksum) {
  char text[CHECKPOINT_BLOCK_BYTES + 1];
  CHECK(file_read_at(descriptor, path, raw, CHECKPOINT_BLOCK_BYTES, 0));
  memcpy(text, raw, CHECKPOINT_BLOCK_BYTES);
  text[CHECKPOINT_BLOCK_BYTES] = '\0';
  const char *what = parse_block(text, block, checksum);
  if (what == NULL) what = check_extents(block);
  if (what != NULL) return damaged(path, what);
  format_block(block, *checksum, text);
  return memcmp(text, raw, CHECKPOINT_BLOCK_BYTES) == 0 ? STATUS_OK : damaged(path, "its header is altered");
}

status checkpoint_block_read(int descriptor, const char *path, checkpoint_block *block) {
  char raw[CHECKPOINT_BLOCK_BYTES];
  uint64_t checksum = 0;
  struct stat info;
  CHECK(read_raw(descriptor, path, block, raw, &checksum));
  if (fstat(descriptor, &info) != 0) return status_fail(STATUS_FILE, "%s: %s", path, strerror(errno));
  if (info.st_size == block->file_bytes) return STATUS_OK;
  return status_fail(STATUS_DAMAGED,
                     "%s: damaged: it has %" PRId64 " bytes instead of the %" PRId64 " that were written",
                     path, (int64_t)info.st_size, block->file_bytes);
}

/* Adds `bytes` bytes of the file at `offset` to `hash`. */
static status hash_range(int descriptor, const char *path, int64_t offset, int64_t bytes,
                         XXH3_state_t *hash) {
  char piece[PIECE_BYTES];
  for (int64_t done = 0; done < bytes;) {
    const int64_t count = bytes - done < PIECE_BYTES ? bytes - done : PIECE_BYTES;
    CHECK(file_read_at(descriptor, path, piece, (size_t)count, offset + done));
    (void)XXH3_64bits_update(hash, piece, (size_t)count);
    done += count;
  }
  return STATUS_OK;
}

/* XXH3 of everything but phi's data, the block's own checksum taken as zeros. */
static status hash_metadata(int descriptor, const char *path, const checkpoint_block *block,
                            uint64_t *checksum) {
  char text[CHECKPOINT_BLOCK_BYTES];
  const int64_t data_end = block->data_offset + checkpoint_data_bytes(block);
  XXH3_state_t *hash = XXH3_createState();
  if (hash == NULL) return status_fail(STATUS_MEMORY, "%s: no memory for its checksum", path);
  format_block(block, 0, text);
  (void)XXH3_64bits_reset(hash);
  (void)XXH3_64bits_update(hash, text, sizeof text);
  status result =
      hash_range(descriptor, path, CHECKPOINT_BLOCK_BYTES, block->data_offset - CHECKPOINT_BLOCK_BYTES, hash);
  if (result == STATUS_OK)
    result = hash_range(descriptor, path, data_end, block->file_bytes - data_end, hash);
  *checksum = XXH3_64bits_digest(hash);
  (void)XXH3_freeState(hash);
  return result;
}

status checkpoint_block_verify(int descriptor, const char *path, const checkpoint_block *block) {
  char raw[CHECKPOINT_BLOCK_BYTES];
  checkpoint_block again;
  uint64_t said = 0;
  uint64_t found = 0;
  CHECK(read_raw(descriptor, path, &again, raw, &said));
  CHECK(hash_metadata(descriptor, path, block, &found));
  if (said == found) return STATUS_OK;
  return status_fail(STATUS_DAMAGED, "%s: damaged: what surrounds its data does not match its checksum",
                     path);
}

status checkpoint_block_write(int descriptor, const char *path, const checkpoint_block *block) {
  char text[CHECKPOINT_BLOCK_BYTES];
  uint64_t checksum = 0;
  CHECK(hash_metadata(descriptor, path, block, &checksum));
  format_block(block, checksum, text);
  return file_write_at(descriptor, path, text, sizeof text, 0);
}

status checkpoint_block_store(int descriptor, const char *path, const checkpoint_block *block, int64_t z0,
                              int count, const void *values, uint64_t *checksums) {
  const int64_t bytes = checkpoint_plane_bytes(block);
  for (int k = 0; k < count; k++) {
    checksums[k] = XXH3_64bits((const char *)values + k * bytes, (size_t)bytes);
  }
  return file_write_at(descriptor, path, values, (size_t)(count * bytes), block->data_offset + z0 * bytes);
}

/* The checksum of one plane: read into `plane`, or piece by piece if that is NULL. */
static status plane_hash(int descriptor, const char *path, const checkpoint_block *block, int64_t z,
                         void *plane, XXH3_state_t *hash, uint64_t *checksum) {
  const int64_t bytes = checkpoint_plane_bytes(block);
  const int64_t offset = block->data_offset + z * bytes;
  if (plane != NULL) {
    CHECK(file_read_at(descriptor, path, plane, (size_t)bytes, offset));
    *checksum = XXH3_64bits(plane, (size_t)bytes);
    return STATUS_OK;
  }
  (void)XXH3_64bits_reset(hash);
  CHECK(hash_range(descriptor, path, offset, bytes, hash));
  *checksum = XXH3_64bits_digest(hash);
  return STATUS_OK;
}

status checkpoint_block_planes(int descriptor, const char *path, const checkpoint_block *block, int64_t z0,
                               int count, const uint64_t *checksums, void *values) {
  XXH3_state_t *hash = XXH3_createState();
  if (hash == NULL) return status_fail(STATUS_MEMORY, "%s: no memory for its checksums", path);
  status result = STATUS_OK;
  for (int k = 0; k < count && result == STATUS_OK; k++) {
    char *plane = values == NULL ? NULL : (char *)values + k * checkpoint_plane_bytes(block);
    uint64_t found = 0;
    result = plane_hash(descriptor, path, block, z0 + k, plane, hash, &found);
    if (result == STATUS_OK && found != checksums[k]) {
      result = status_fail(STATUS_DAMAGED,
                           "%s: damaged: the values of plane z = %" PRId64 " do not match their checksum",
                           path, z0 + k);
    }
  }
  (void)XXH3_freeState(hash);
  return result;
}
