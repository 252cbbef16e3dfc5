#include "config_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char directory[] = "/tmp/fdapp_config_XXXXXX";
char path[64];
config c;

int make_directory(void **state) {
  (void)state;
  if (mkdtemp(directory) == NULL) return -1;
  (void)snprintf(path, sizeof path, "%s/the.case.ini", directory);
  return 0;
}

int remove_directory(void **state) {
  (void)state;
  (void)unlink(path);
  return rmdir(directory);
}

void write_bytes(const char *bytes, size_t length) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, length, file), length);
  assert_int_equal(fclose(file), 0);
}

status load_text(const char *text) {
  write_bytes(text, strlen(text));
  status_clear();
  return config_load(path, 0, NULL, &c);
}

status load_override(const char *override) {
  char text[CONFIG_PATH_SIZE];
  (void)snprintf(text, sizeof text, "%s", override);
  char *overrides[] = {text};
  status_clear();
  return config_load(path, 1, overrides, &c);
}

void assert_message(const char *piece) {
  const char *message = status_message(STATUS_USAGE);
  if (strstr(message, piece) == NULL) fail_msg("'%s' is not in '%s'", piece, message);
}

void assert_refused(const char *text, int line, const char *piece, const char *other) {
  char where[96];
  assert_int_equal(load_text(text), STATUS_USAGE);
  (void)snprintf(where, sizeof where, line > 0 ? "%s:%d: " : "%s: ", path, line);
  const char *message = status_message(STATUS_USAGE);
  if (strncmp(message, where, strlen(where)) != 0) fail_msg("'%s' does not begin with '%s'", message, where);
  assert_message(piece);
  assert_message(other);
}

void assert_override_refused(const char *override, const char *piece) {
  assert_int_equal(load_override(override), STATUS_USAGE);
  assert_message("command line: ");
  assert_message(piece);
}
