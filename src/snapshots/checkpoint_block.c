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
#include "base/text.h"

/* Bytes read at a time without a larger buffer. */
enum { PIECE_BYTES = 1 << 18 };

/* Versions of the format. Version 1 holds one field, phi, at data_offset. It is still written for such
 * states, so that older programs read them. Version 2 lists its fields at the end of the block. Version 3 is
 * that with compressed fields. */
enum { VERSION_PHI = 1, VERSION_FIELDS = 2, VERSION_COMPRESSED = 3 };

/* Upper limit of all bytes besides values and checksums, which are some KiB of structure and provenance. */
enum { SURROUNDINGS_MOST = 16 << 20 };

/* The block's integer lines in their order: X(key, member). Before them come the format's name and version;
 * after them precision, picture, time, in version 2 the fields, and the checksum. */
#define LINES(X)                                                                                             \
  X("nx", n[0])                                                                                              \
  X("ny", n[1])                                                                                              \
  X("nz", n[2])                                                                                              \
  X("file_bytes", file_bytes)                                                                                \
  X("data_offset", offsets[0])                                                                               \
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
  return block->compressed ? 0 : block->n[2] * checkpoint_plane_bytes(block);
}

int64_t checkpoint_checksums_bytes(const checkpoint_block *block) {
  return block->fields * block->n[2] * (int64_t)sizeof(uint64_t);
}

int checkpoint_is_name(const char *name) {
  static const char accepted[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";
  const size_t length = strlen(name);
  return length > 0 && length < CHECKPOINT_NAME && strspn(name, accepted) == length;
}

static int version_of(const checkpoint_block *block) {
  if (block->compressed) return VERSION_COMPRESSED;
  return block->fields == 1 && strcmp(block->names[0], "phi") == 0 ? VERSION_PHI : VERSION_FIELDS;
}

void checkpoint_block_format(const checkpoint_block *block, uint64_t checksum,
                             char text[CHECKPOINT_BLOCK_BYTES]) {
  const int version = version_of(block);
  memset(text, 0, CHECKPOINT_BLOCK_BYTES);
  FILE *out = fmemopen(text, CHECKPOINT_BLOCK_BYTES, "w");
  if (out == NULL) return; /* no memory: an empty block, which is never valid */
  (void)fprintf(out, "%s %d\n", first_line, version);
#define X(key, member) (void)fprintf(out, key " %" PRId64 "\n", block->member);
  LINES(X)
#undef X
  (void)fprintf(out, "precision %s\npicture %d\ntime %.17g\n",
                block->precision == PRECISION_SINGLE ? "single" : "double", block->picture, block->time);
  if (version != VERSION_PHI) (void)fprintf(out, "fields %d\n", block->fields);
  for (int f = 0; version != VERSION_PHI && f < block->fields; f++) {
    (void)fprintf(out, "field %s %" PRId64 "\n", block->names[f], block->offsets[f]);
  }
  (void)fprintf(out, "metadata_xxh3 %016" PRIx64 "\n", checksum);
  (void)fclose(out);
}

/* Takes "key value\n" off *text and returns the value, or NULL if the line has another key. Terminates the
 * text at the line's end. */
static const char *take_line(char **text, const char *key) {
  char *line = *text;
  const size_t length = strlen(key);
  char *end = strchr(line, '\n');
  if (end == NULL || strncmp(line, key, length) != 0 || line[length] != ' ') return NULL;
  *end = '\0';
  *text = end + 1;
  return line + length + 1;
}

static const char *parse_fields(char **text, checkpoint_block *block) {
  const char *value = take_line(text, "fields");
  if (value == NULL) return "no fields in its header";
  block->fields = atoi(value);
  if (block->fields < 1 || block->fields > STATE_FIELDS) return "impossible number of fields in its header";
  for (int f = 0; f < block->fields; f++) {
    long long offset = 0;
    value = take_line(text, "field");
    if (value == NULL || sscanf(value, "%31s %lld", block->names[f], &offset) != 2) return "it lacks a field";
    if (!checkpoint_is_name(block->names[f])) return "impossible name of a field in its header";
    block->offsets[f] = offset;
  }
  return NULL;
}

/* Parses leniently: the caller compares the text with what format_block writes, which finds every other
 * deviation. */
static const char *parse_block(char *text, checkpoint_block *block, uint64_t *checksum) {
  const char *version = take_line(&text, first_line);
  if (version == NULL) return "it does not begin like one";
  block->compressed = atoi(version) == VERSION_COMPRESSED;
  const int fields_listed = block->compressed || atoi(version) == VERSION_FIELDS;
  if (!fields_listed && atoi(version) != VERSION_PHI) return "it has another format version";
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
  block->fields = 1;
  (void)strcpy(block->names[0], "phi");
  const char *wrong = fields_listed ? parse_fields(&text, block) : NULL;
  if (wrong != NULL) return wrong;
  if ((value = take_line(&text, "metadata_xxh3")) == NULL) return "no metadata_xxh3 in its header";
  *checksum = strtoull(value, NULL, 16);
  return NULL;
}

/* Returns 1 if [offset, offset + bytes) lies between the block and the end of the file. */
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
  bytes = checkpoint_data_bytes(block);
  const int64_t checksums = checkpoint_checksums_bytes(block);
  if (!lies_within(block, block->checksums_offset, checksums)) return "its checksums lie outside of the file";
  const int64_t checksums_end = block->checksums_offset + checksums;
  int64_t end = CHECKPOINT_BLOCK_BYTES;
  for (int f = 0; f < block->fields; f++) {
    const int64_t offset = block->offsets[f];
    if (offset < end || !lies_within(block, offset, bytes)) return "its data lie outside of the file";
    end = offset + bytes;
    if (block->checksums_offset < end && checksums_end > offset) return "its checksums lie in its data";
  }
  /* with what an equation remembers: of absorbing layers up to six numbers per point, and padding */
  if (!block->compressed && block->file_bytes - 5 * block->fields * bytes - checksums > SURROUNDINGS_MOST)
    return "it is larger than its points account for";
  return NULL;
}

void checkpoint_block_names(const checkpoint_block *block, char *text, size_t size) {
  text[0] = '\0';
  for (int f = 0; f < block->fields; f++) text_add(text, size, ", ", "%s", block->names[f]);
}

status checkpoint_block_open(const char *path, int *descriptor) {
  struct stat info;
  *descriptor = -1;
  /* O_NONBLOCK: opening a named pipe must not wait for a writer */
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

int checkpoint_block_begins(const char *path) {
  char begin[sizeof first_line] = "";
  int descriptor = -1;
  if (file_open_regular(path, &descriptor) != STATUS_OK || descriptor < 0) return 0;
  const ssize_t length = pread(descriptor, begin, sizeof first_line - 1, 0);
  (void)close(descriptor);
  return length == (ssize_t)sizeof first_line - 1 && strcmp(begin, first_line) == 0;
}

/* Reads and parses the block. [out] raw: its bytes; checksum: the one it contains. */
static status read_raw(int descriptor, const char *path, checkpoint_block *block,
                       char raw[CHECKPOINT_BLOCK_BYTES], uint64_t *checksum) {
  char text[CHECKPOINT_BLOCK_BYTES + 1];
  CHECK(file_read_at(descriptor, path, raw, CHECKPOINT_BLOCK_BYTES, 0));
  memcpy(text, raw, CHECKPOINT_BLOCK_BYTES);
  text[CHECKPOINT_BLOCK_BYTES] = '\0';
  const char *what = parse_block(text, block, checksum);
  if (what == NULL) what = check_extents(block);
  if (what != NULL) return damaged(path, what);
  checkpoint_block_format(block, *checksum, text);
  return memcmp(text, raw, CHECKPOINT_BLOCK_BYTES) == 0 ? STATUS_OK : damaged(path, "its header is altered");
}

status checkpoint_block_read(int descriptor, const char *path, checkpoint_block *block) {
  char raw[CHECKPOINT_BLOCK_BYTES];
  uint64_t checksum = 0;
  struct stat info;
  CHECK(read_raw(descriptor, path, block, raw, &checksum));
  if (fstat(descriptor, &info) != 0) return status_fail(STATUS_FILE, "%s: %s", path, strerror(errno));
  if (info.st_size >= block->file_bytes) return STATUS_OK;
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

/* XXH3 of all bytes but the fields' values, with the block's own checksum taken as zeros. */
static status hash_metadata(int descriptor, const char *path, const checkpoint_block *block,
                            uint64_t *checksum) {
  char text[CHECKPOINT_BLOCK_BYTES];
  XXH3_state_t *hash = XXH3_createState();
  if (hash == NULL) return status_fail(STATUS_MEMORY, "%s: no memory for its checksum", path);
  checkpoint_block_format(block, 0, text);
  (void)XXH3_64bits_reset(hash);
  (void)XXH3_64bits_update(hash, text, sizeof text);
  status result = STATUS_OK;
  int64_t from = CHECKPOINT_BLOCK_BYTES;
  for (int f = 0; f <= block->fields && result == STATUS_OK; f++) {
    const int64_t to = f < block->fields ? block->offsets[f] : block->file_bytes;
    result = hash_range(descriptor, path, from, to - from, hash);
    from = to + checkpoint_data_bytes(block);
  }
  *checksum = XXH3_64bits_digest(hash);
  (void)XXH3_freeState(hash);
  return result;
}

status checkpoint_block_verify(int descriptor, const char *path, const checkpoint_block *block,
                               int *as_written) {
  struct stat info;
  char raw[CHECKPOINT_BLOCK_BYTES];
  checkpoint_block again;
  uint64_t said = 0;
  uint64_t found = 0;
  CHECK(read_raw(descriptor, path, &again, raw, &said));
  CHECK(hash_metadata(descriptor, path, block, &found));
  if (fstat(descriptor, &info) != 0) return status_fail(STATUS_FILE, "%s: %s", path, strerror(errno));
  *as_written = said == found && info.st_size == block->file_bytes;
  return STATUS_OK;
}

status checkpoint_block_write(int descriptor, const char *path, const checkpoint_block *block) {
  char text[CHECKPOINT_BLOCK_BYTES];
  uint64_t checksum = 0;
  CHECK(hash_metadata(descriptor, path, block, &checksum));
  checkpoint_block_format(block, checksum, text);
  return file_write_at(descriptor, path, text, sizeof text, 0);
}

void checkpoint_block_sum(const void *planes, int count, size_t bytes, uint64_t *checksums) {
#pragma omp parallel for schedule(static)
  for (int k = 0; k < count; k++) checksums[k] = XXH3_64bits((const char *)planes + (size_t)k * bytes, bytes);
}

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "values and checksums are hashed as they lie in memory");

uint64_t checkpoint_block_answer(const uint64_t *checksums, size_t count) {
  return XXH3_64bits(checksums, count * sizeof *checksums);
}

status checkpoint_block_read_answer(int descriptor, const char *path, const checkpoint_block *block,
                                    uint64_t *hash) {
  XXH3_state_t *sum = XXH3_createState();
  if (sum == NULL) return status_fail(STATUS_MEMORY, "%s: no memory for its hash", path);
  (void)XXH3_64bits_reset(sum);
  const status result =
      hash_range(descriptor, path, block->checksums_offset, checkpoint_checksums_bytes(block), sum);
  *hash = XXH3_64bits_digest(sum);
  (void)XXH3_freeState(sum);
  return result;
}

status checkpoint_block_store(int descriptor, const char *path, const checkpoint_block *block, int field,
                              int64_t z0, int count, const void *values, uint64_t *checksums) {
  const int64_t bytes = checkpoint_plane_bytes(block);
  checkpoint_block_sum(values, count, (size_t)bytes, checksums);
  return file_write_at(descriptor, path, values, (size_t)(count * bytes), block->offsets[field] + z0 * bytes);
}

/* Adds the plane at `offset` to `hash` and computes its checksum; reads it into `plane`, or piece by piece if
 * that is NULL. */
static status plane_hash(int descriptor, const char *path, const checkpoint_block *block, int64_t offset,
                         void *plane, XXH3_state_t *hash, uint64_t *checksum) {
  const int64_t bytes = checkpoint_plane_bytes(block);
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

status checkpoint_block_planes(int descriptor, const char *path, const checkpoint_block *block, int field,
                               int64_t z0, int count, const uint64_t *checksums, void *values) {
  const int64_t bytes = checkpoint_plane_bytes(block);
  XXH3_state_t *hash = XXH3_createState();
  if (hash == NULL) return status_fail(STATUS_MEMORY, "%s: no memory for its checksums", path);
  status result = STATUS_OK;
  for (int k = 0; k < count && result == STATUS_OK; k++) {
    char *plane = values == NULL ? NULL : (char *)values + k * bytes;
    uint64_t found = 0;
    result =
        plane_hash(descriptor, path, block, block->offsets[field] + (z0 + k) * bytes, plane, hash, &found);
    if (result == STATUS_OK && found != checksums[k]) {
      result =
          status_fail(STATUS_DAMAGED,
                      "%s: damaged: the values of %s in plane z = %" PRId64 " do not match their checksum",
                      path, block->names[field], z0 + k);
    }
  }
  (void)XXH3_freeState(hash);
  return result;
}
