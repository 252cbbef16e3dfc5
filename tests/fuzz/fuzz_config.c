/* libFuzzer target: the INI reader and the override parser. An input is a file and, after a line "--", one
 * override a line. Beyond crashes and sanitizer reports, what is promised is checked: a refusal says
 * something, and what is accepted is finite, within its limits, and survives being written and read again,
 * bit by bit. */

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "config/config_table.h"
#include "files/dataset.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A backend by name is all that a configuration asks of kernels/. */
extern const kernels kernels_cpu;
const kernels kernels_cpu = {.name = "cpu"};

/* No file of an input is opened. */
int dataset_has(const char *path, const char *name) {
  (void)path;
  (void)name;
  return 0;
}

enum { MOST_OVERRIDES = 16, LONGEST_INPUT = 1 << 16 };

static void require(int condition, const char *what) {
  if (condition) return;
  (void)fprintf(stderr, "broken promise: %s; message: %s\n", what, status_message(STATUS_USAGE));
  abort();
}

/* Both files live in memory; their paths are those of their descriptors. */
static int memory_file(char path[32]) {
  const int file = memfd_create("config", 0);
  require(file >= 0, "memfd_create");
  (void)snprintf(path, 32, "/proc/self/fd/%d", file);
  return file;
}

static void fill_file(int file, const void *bytes, size_t size) {
  require(ftruncate(file, 0) == 0 && pwrite(file, bytes, size, 0) == (ssize_t)size, "a file in memory");
}

/* Cuts the overrides off the text. Returns their number. */
static int split(char *text, char *overrides[MOST_OVERRIDES]) {
  int count = 0;
  char *mark = strstr(text, "\n--\n");
  if (mark == NULL) return 0;
  *mark = '\0';
  for (char *next = mark + 4; next != NULL && count < MOST_OVERRIDES;)
    overrides[count++] = strsep(&next, "\n");
  return count;
}

static void check_limits(const config *c) {
  for (int i = 0; i < CONFIG_KEY_COUNT; i++) {
    const config_key *key = &config_keys[i];
    if (key->kind != CONFIG_REAL || config_value_is_clear(key, c)) continue;
    const double value = *(const double *)((const char *)c + key->offset);
    require(isfinite(value), "finite values");
    if (key->need != CONFIG_DERIVED)
      require(value >= key->minimum && value <= key->maximum, "values in range");
  }
  require((c->courant > 0) != (c->dt > 0), "one of courant and dt");
  require((c->t_end >= 0) != (c->steps >= 0), "one of t_end and steps");
  require(c->directory[0] != '\0' && strlen(c->directory) <= CONFIG_PATH_LIMIT, "a directory");
  require(strlen(c->restart) <= CONFIG_PATH_LIMIT, "a state's path");
}

static void check_round_trip(const config *c) {
  static char path[32];
  static int file = -1;
  static config again;
  if (file < 0) file = memory_file(path);
  char *text = NULL;
  size_t size = 0;
  FILE *stream = open_memstream(&text, &size);
  require(stream != NULL, "open_memstream");
  config_write(c, stream);
  (void)fclose(stream);
  fill_file(file, text, size);
  free(text);
  require(config_load(path, 0, NULL, &again) == STATUS_OK, "what was written can be read");
  require(memcmp(c, &again, offsetof(config, file)) == 0, "the same bits");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static char path[32];
  static int file = -1;
  static config c;
  static char text[LONGEST_INPUT + 1];
  char *overrides[MOST_OVERRIDES];
  if (size > LONGEST_INPUT) return 0;
  if (file < 0) file = memory_file(path);
  memcpy(text, data, size);
  text[size] = '\0';
  const size_t length = strlen(text);
  const int count = split(text, overrides);
  /* Zero bytes reach the reader too, where no override follows. */
  fill_file(file, count > 0 ? (const void *)text : data, count > 0 ? strlen(text) : size);
  status_clear();
  const status result = config_load(path, count, overrides, &c);
  require(result == STATUS_OK || result == STATUS_USAGE, "OK or USAGE");
  if (result == STATUS_OK) {
    require(count > 0 || length == size, "zero bytes refused");
    check_limits(&c);
    check_round_trip(&c);
  } else {
    const char *message = status_message(result);
    require(strncmp(message, path, strlen(path)) == 0 || strncmp(message, "command line: ", 14) == 0,
            "a place named");
    for (; *message != '\0'; message++) require((unsigned char)*message >= ' ', "a printable message");
  }
  return 0;
}
