/* No damaged file is ever believed: every bit of a small state flipped in turn, every length it can be cut
 * to, and files that never were states; of one field and of several. Prints how many of each were tried. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "snapshots/checkpoint_block.h"
#include "states.h"

static const int64_t small[3] = {9, 9, 4};
static int fields; /* of the state: 1, or 3 in a file of version 2 */
static char directory[256];
static char path[512];
static states reader;
static char *whole;
static size_t size;
static checkpoint_block written; /* of the whole file */

static status verify(void) {
  char line[512];
  uint64_t hash = 0;
  status_clear();
  return checkpoint_verify(path, line, sizeof line, &hash);
}

/* What a restart does with the file. */
static status restart(void) {
  checkpoint_state about;
  status_clear();
  return checkpoint_read(reader.checkpoint, path, &about, &reader.state);
}

/* Whether the last refusal names the file. */
static int names_file(void) {
  return strncmp(status_message(STATUS_DAMAGED), path, strlen(path)) == 0;
}

static void put(const char *bytes, size_t count) {
  const int descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  assert_true(descriptor >= 0);
  assert_int_equal(write(descriptor, bytes, count), (ssize_t)count);
  assert_int_equal(close(descriptor), 0);
}

static int set_up(void **unused) {
  (void)unused;
  states_directory(MPI_COMM_SELF, directory);
  states_open(MPI_COMM_SELF, directory, small, PRECISION_DOUBLE, fields, 2, &reader);
  if (states_write(&reader, 5, 0) != STATUS_OK) return 1;
  states_path(directory, 5, path);
  FILE *file = fopen(path, "rb");
  if (file == NULL || fseek(file, 0, SEEK_END) != 0) return 1;
  size = (size_t)ftell(file);
  rewind(file);
  whole = malloc(size);
  if (whole == NULL || fread(whole, 1, size, file) != size) return 1;
  return fclose(file);
}

static int tear_down(void **unused) {
  (void)unused;
  free(whole);
  states_close(&reader);
  states_remove(MPI_COMM_SELF, directory);
  return 0;
}

static void whole_state_verifies(void **unused) {
  (void)unused;
  put(whole, size);
  char line[512];
  uint64_t hash = 0;
  assert_int_equal(checkpoint_verify(path, line, sizeof line, &hash), STATUS_OK);
  assert_non_null(strstr(line, "step 5"));
  assert_non_null(strstr(line, "9 x 9 x 4 points, double"));
  assert_non_null(strstr(line, fields == 1 ? "fields phi" : "fields p, u, v"));
}

/* Of how many bytes one is struck: all, unless FDAPP_DAMAGE_STRIDE says otherwise. */
static size_t stride(void) {
  const char *value = getenv("FDAPP_DAMAGE_STRIDE");
  return value != NULL ? strtoul(value, NULL, 10) : 1;
}

/* Whether a byte of the file is another than was written, by the checks of bytes alone. */
static int bytes_differ(void) {
  checkpoint_block block;
  int descriptor = -1, as_written = 0;
  status_clear();
  if (checkpoint_block_open(path, &descriptor) != STATUS_OK) return 1;
  status result = checkpoint_block_read(descriptor, path, &block);
  if (result == STATUS_OK) result = checkpoint_block_verify(descriptor, path, &block, &as_written);
  (void)close(descriptor);
  return result != STATUS_OK || !as_written;
}

/* Whether `place` lies in these bytes, where the file first has them. */
static int lies_in(const void *bytes, size_t count, size_t place) {
  const char *found = memmem(whole + CHECKPOINT_BLOCK_BYTES, size - CHECKPOINT_BLOCK_BYTES, bytes, count);
  assert_non_null(found);
  return place >= (size_t)(found - whole) && place < (size_t)(found - whole) + count;
}

/* Whether a flip of this byte changes what the file says, wherever HDF5 put it: the block but for its own
 * checksum, values and their checksums, attributes, the configuration. */
static int is_meant(size_t place) {
  const checkpoint_state about = states_state(5, 0);
  const size_t checksum = (size_t)(strstr(whole, "metadata_xxh3 ") - whole) + strlen("metadata_xxh3 ");
  if (place < CHECKPOINT_BLOCK_BYTES) return place < checksum || place >= checksum + 16;
  for (int f = 0; f < fields; f++) {
    const int64_t at = (int64_t)place - written.offsets[f];
    if (at >= 0 && at < checkpoint_data_bytes(&written)) return 1;
  }
  const int64_t at = (int64_t)place - written.checksums_offset;
  return (at >= 0 && at < checkpoint_checksums_bytes(&written)) || lies_in(&about.dt, 8, place) ||
         lies_in(&about.base_step, 8, place) || lies_in(&about.base_time, 8, place) ||
         lies_in(reader.grid.h, sizeof reader.grid.h, place) || lies_in("ImageData", 9, place) ||
         lies_in("case = gaussian", 15, place) || lies_in("base_time", 9, place) ||
         lies_in("WholeExtent", 11, place) || lies_in("plane_checksums", 15, place);
}

/* What is said of the file: damage or, of bytes that nobody reads, that it was changed. */
static int is_noticed(size_t place, int *beside) {
  char line[512];
  uint64_t hash = 0;
  status_clear();
  const status result = checkpoint_verify(path, line, sizeof line, &hash);
  if (result == STATUS_DAMAGED) return names_file();
  *beside += 1;
  return result == STATUS_OK && strstr(line, "changed since it was written") != NULL && !is_meant(place);
}

/* Every bit by the checks of bytes. The whole check, which reads the file through HDF5, and a restart get one
 * bit of each byte that says something, and of each 64th of the others. */
static void every_bit_flipped(void **unused) {
  (void)unused;
  put(whole, size);
  int beside = 0;
  const int descriptor = open(path, O_RDWR);
  assert_true(descriptor >= 0);
  assert_int_equal(checkpoint_block_read(descriptor, path, &written), STATUS_OK);
  for (size_t place = 0; place < size; place += stride()) {
    for (int bit = 0; bit < 8; bit++) {
      const char flipped = (char)(whole[place] ^ (1 << bit));
      assert_int_equal(pwrite(descriptor, &flipped, 1, (off_t)place), 1);
      if (!bytes_differ() && (verify() != STATUS_DAMAGED || !names_file()))
        fail_msg("bit %d of byte %zu went unnoticed", bit, place);
    }
    const char flipped = (char)(whole[place] ^ (1 << place % 8));
    const int before = beside, sampled = place % 64 == 3 || is_meant(place);
    assert_int_equal(pwrite(descriptor, sampled ? &flipped : &whole[place], 1, (off_t)place), 1);
    if (!sampled) continue;
    if (!is_noticed(place, &beside)) fail_msg("bit %zu of byte %zu went unnoticed", place % 8, place);
    if (beside == before && (restart() != STATUS_DAMAGED || !names_file()))
      fail_msg("a restart did not notice bit %zu of byte %zu", place % 8, place);
    assert_int_equal(pwrite(descriptor, &whole[place], 1, (off_t)place), 1);
  }
  assert_int_equal(verify(), STATUS_OK);
  assert_int_equal(restart(), STATUS_OK);
  (void)close(descriptor);
  print_message("           %zu flips, all noticed; %d of the sample in what nobody reads\n",
                8 * ((size + stride() - 1) / stride()), beside);
}

static void every_length(void **unused) {
  (void)unused;
  put(whole, size);
  for (size_t length = size - 1; length < size; length -= stride()) {
    assert_int_equal(truncate(path, (off_t)length), 0);
    if (verify() != STATUS_DAMAGED || !names_file()) fail_msg("cut to %zu bytes: unnoticed", length);
    if (restart() != STATUS_DAMAGED || !names_file()) fail_msg("cut to %zu bytes: a restart goes on", length);
  }
  print_message("           %zu truncations, all noticed\n", (size + stride() - 1) / stride());
  /* Longer than it was, by a zero. */
  int beside = 0;
  put(whole, size);
  assert_int_equal(truncate(path, (off_t)size + 1), 0);
  assert_true(is_noticed(size, &beside));
}

/* A region that reads back zeros: what a failed write leaves behind. */
static void zeroed_regions(void **unused) {
  (void)unused;
  for (size_t region = 512; region <= 4096; region *= 2) {
    for (size_t start = 0; start + region <= size; start += region / 2) {
      char *bytes = malloc(size);
      assert_non_null(bytes);
      memcpy(bytes, whole, size);
      memset(bytes + start, 0, region);
      if (memcmp(bytes, whole, size) != 0) {
        put(bytes, size);
        assert_true(bytes_differ() || verify() == STATUS_DAMAGED);
      }
      free(bytes);
    }
  }
}

/* Replaces the value of a header line by another of any length, shifting what follows. */
static void with_header(const char *key, const char *value) {
  char *bytes = calloc(1, size + 4096);
  assert_non_null(bytes);
  const char *line = strstr(whole, key);
  assert_non_null(line);
  const size_t before = (size_t)(line - whole) + strlen(key) + 1;
  const char *rest = strchr(line, '\n');
  memcpy(bytes, whole, before);
  (void)snprintf(bytes + before, 2048 - before, "%s%s", value, rest);
  memcpy(bytes + 2048, whole + 2048, size - 2048);
  put(bytes, size);
  free(bytes);
}

/* Sizes that would make a trusting reader allocate, overflow or read elsewhere. */
static void hostile_headers(void **unused) {
  (void)unused;
  static const char *const keys[] = {"nx",  "ny", "nz", "file_bytes", "data_offset", "checksums_offset",
                                     "step"};
  static const char *const values[] = {"0",
                                       "-1",
                                       "2147483647",
                                       "4294967296",
                                       "9223372036854775807",
                                       "-9223372036854775808",
                                       "99999999999999999999999",
                                       "",
                                       "x",
                                       "1e9",
                                       "5 5",
                                       "nan"};
  for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
    for (size_t v = 0; v < sizeof values / sizeof values[0]; v++) {
      with_header(keys[k], values[v]);
      assert_int_equal(verify(), STATUS_DAMAGED);
      assert_true(names_file());
    }
  }
  for (size_t v = 0; fields > 1 && v < sizeof values / sizeof values[0]; v++) {
    with_header("field v", values[v]);
    assert_int_equal(verify(), STATUS_DAMAGED);
    with_header("fields", values[v]);
    assert_int_equal(verify(), STATUS_DAMAGED);
  }
  with_header("fdapp_state", fields > 1 ? "1" : "2");
  assert_int_equal(verify(), STATUS_DAMAGED);
  with_header("fdapp_state", "4");
  assert_int_equal(verify(), STATUS_DAMAGED);
  assert_non_null(strstr(status_message(STATUS_DAMAGED), "version"));
  with_header("precision", "single");
  assert_int_equal(verify(), STATUS_DAMAGED);
}

static void not_a_state(void **unused) {
  (void)unused;
  char noise[100000];
  put("", 0);
  assert_int_equal(verify(), STATUS_DAMAGED);
  assert_non_null(strstr(status_message(STATUS_DAMAGED), "empty"));
  put("x = 1\n", 6);
  assert_int_equal(verify(), STATUS_DAMAGED);
  memset(noise, 'a', sizeof noise);
  put(noise, sizeof noise);
  assert_int_equal(verify(), STATUS_DAMAGED);
  /* HDF5 in order, but none of ours: the file without its block. */
  put(whole + 2048, size - 2048);
  assert_int_equal(verify(), STATUS_DAMAGED);
  assert_int_equal(unlink(path), 0);
  assert_int_equal(verify(), STATUS_FILE);
  assert_true(names_file());
  assert_int_equal(mkdir(path, 0777), 0);
  assert_int_equal(verify(), STATUS_DAMAGED);
  assert_non_null(strstr(status_message(STATUS_DAMAGED), "directory"));
  assert_int_equal(rmdir(path), 0);
  /* A pipe nobody writes into must not make it wait. */
  assert_int_equal(mkfifo(path, 0666), 0);
  assert_int_equal(verify(), STATUS_DAMAGED);
  assert_int_equal(unlink(path), 0);
}

int main(int argc, char **argv) {
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test(whole_state_verifies), cmocka_unit_test(every_bit_flipped),
      cmocka_unit_test(every_length),         cmocka_unit_test(zeroed_regions),
      cmocka_unit_test(hostile_headers),      cmocka_unit_test(not_a_state),
  };
  (void)MPI_Init(&argc, &argv);
  int failed = 0;
  for (fields = 1; fields <= 3; fields += 2) failed += cmocka_run_group_tests(tests, set_up, tear_down);
  (void)MPI_Finalize();
  return failed;
}
