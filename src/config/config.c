#include "config/config.h"

#include <errno.h>
#include <locale.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "config/config_table.h"
#include "config/lists.h"
#include "config/ini.h"
#include "files/rundir.h"

enum { LARGEST_FILE = 1 << 20 };

/* Copies the start of a text from a file or a command line for a message, with unprintable bytes replaced. */
static const char *printable(const char *text, char *shown) {
  enum { LONGEST = 160 };
  size_t i = 0;
  for (; i < LONGEST && text[i] != '\0'; i++)
    shown[i] = (unsigned char)text[i] < ' ' || text[i] == 127 ? '?' : text[i];
  (void)snprintf(shown + i, CONFIG_TEXT_SIZE - i, "%s", text[i] != '\0' ? "..." : "");
  return shown;
}

static status fail(const config *config, int line, const char *subject, const char *format,
                   va_list arguments) {
  char what[3 * CONFIG_TEXT_SIZE], where[CONFIG_TEXT_SIZE], shown[CONFIG_TEXT_SIZE];
  (void)vsnprintf(what, sizeof what, format, arguments);
  if (line == CONFIG_LINE_OVERRIDE) {
    (void)snprintf(where, sizeof where, "command line");
  } else if (line == CONFIG_LINE_NONE) {
    (void)snprintf(where, sizeof where, "%s", config->file);
  } else {
    (void)snprintf(where, sizeof where, "%s:%d", config->file, line);
  }
  return status_fail(STATUS_USAGE, "%s: %s: %s", where, printable(subject, shown), what);
}

status config_fail(const config *config, int line, const char *subject, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const status result = fail(config, line, subject, format, arguments);
  va_end(arguments);
  return result;
}

status config_refuse(const config *config, const char *section, const char *name, const char *format, ...) {
  char subject[CONFIG_PATH_SIZE + 2 * CONFIG_TEXT_SIZE], value[CONFIG_PATH_SIZE];
  const int key = config_key_find(section, name);
  va_list arguments;
  (void)snprintf(subject, sizeof subject, "%s.%s = %s", section, name,
                 config_value_text(&config_keys[key], config, 9, value));
  va_start(arguments, format);
  const status result = fail(config, config->line[key], subject, format, arguments);
  va_end(arguments);
  return result;
}

/* Writes "; did you mean 'NAME'?", or nothing if no name is near. */
static const char *question(const char *section, const char *name, char *text) {
  text[0] = '\0';
  if (name != NULL) {
    (void)snprintf(text, CONFIG_TEXT_SIZE, "; did you mean '%s%s%s'?", section, section[0] != '\0' ? "." : "",
                   name);
  }
  return text;
}

static status fail_section(const config *config, int line, const char *section) {
  char known[CONFIG_TEXT_SIZE] = "", subject[CONFIG_TEXT_SIZE], hint[CONFIG_TEXT_SIZE];
  config_guess guess = {.word = section};
  for (int i = 0; i < CONFIG_KEY_COUNT; i++) {
    if (i > 0 && strcmp(config_keys[i].section, config_keys[i - 1].section) == 0) continue;
    text_add(known, sizeof known, ", ", "%s", config_keys[i].section);
    config_guess_offer(&guess, config_keys[i].section);
  }
  (void)snprintf(subject, sizeof subject, "[%s]", section);
  config_guess_offer(&guess, CONFIG_CONSTANTS);
  config_guess_offer(&guess, CONFIG_UNITS);
  return config_fail(config, line, subject,
                     "unknown section; accepted: %s, " CONFIG_CONSTANTS ", " CONFIG_UNITS "%s", known,
                     question("", guess.best, hint));
}

static status fail_key(const config *config, int line, const char *section, const char *name,
                       const char *value) {
  char known[CONFIG_TEXT_SIZE] = "", subject[CONFIG_TEXT_SIZE], hint[CONFIG_TEXT_SIZE];
  config_guess guess = {.word = name};
  const char *home = "";
  for (int i = 0; i < CONFIG_KEY_COUNT; i++) {
    if (strcmp(config_keys[i].section, section) != 0) continue;
    text_add(known, sizeof known, ", ", "%s", config_keys[i].name);
    config_guess_offer(&guess, config_keys[i].name);
  }
  for (int i = 0; i < CONFIG_KEY_COUNT; i++) {
    if (strcmp(config_keys[i].name, name) == 0) { /* the key exists, in another section */
      home = config_keys[i].section;
      guess.best = config_keys[i].name;
    }
  }
  (void)snprintf(subject, sizeof subject, "%s.%s = %s", section, name, value);
  return config_fail(config, line, subject, "unknown key; accepted in [%s]: %s%s", section, known,
                     question(home, guess.best, hint));
}

static status fail_value(const config *config, int line, const config_key *key, const char *value,
                         const char *wrong) {
  char subject[CONFIG_TEXT_SIZE], accepted[CONFIG_TEXT_SIZE], hint[CONFIG_TEXT_SIZE];
  (void)snprintf(subject, sizeof subject, "%s.%s = %s", key->section, key->name, value);
  return config_fail(config, line, subject, "%s; accepted: %s%s", wrong, config_value_accepted(key, accepted),
                     question("", config_value_guess(key, value), hint));
}

/* Returns 1 if `key` was given in the same source as `line`: both in the file, or both on the command
 * line. */
static int given_there(const config *config, int line, int key) {
  return config->line[key] != CONFIG_LINE_NONE &&
         (line == CONFIG_LINE_OVERRIDE) == (config->line[key] == CONFIG_LINE_OVERRIDE);
}

/* Refuses a key that comes twice, or both keys of an alternative, in one source: the file or the command
 * line. A key on the command line replaces the file's, and the file's alternative to it. */
static status settle_repetition(config *config, int line, int index) {
  const config_key *key = &config_keys[index];
  const int other = key->need == CONFIG_ALTERNATIVE ? config_key_find(key->section, key->other) : index;
  char subject[CONFIG_TEXT_SIZE], where[CONFIG_TEXT_SIZE] = "on the command line";
  (void)snprintf(subject, sizeof subject, "%s.%s", key->section, key->name);
  if (line != CONFIG_LINE_OVERRIDE) {
    (void)snprintf(where, sizeof where, "in line %d",
                   config->line[config->line[index] != CONFIG_LINE_NONE ? index : other]);
  }
  if (given_there(config, line, index)) {
    return config_fail(config, line, subject, "repeated key, already %s; accepted: each key once", where);
  }
  if (given_there(config, line, other)) {
    return config_fail(config, line, subject, "%s.%s is %s; accepted: exactly one of the two", key->section,
                       key->other, where);
  }
  if (other != index) {
    config_value_clear(&config_keys[other], config);
    config->line[other] = CONFIG_LINE_NONE;
  }
  config->line[index] = line;
  return STATUS_OK;
}

/* 1 if one of two keys of a section has to be none. */
static int excludes(const config_key *a, const config_key *b) {
  return a->need == CONFIG_DEFAULT && a->other != NULL && strcmp(a->section, b->section) == 0 &&
         strcmp(a->other, b->name) == 0;
}

/* A value on the command line replaces what the file says by another key. Such keys are texts, empty for
 * none. */
static void replace_others(config *config, int index) {
  const config_key *key = &config_keys[index];
  for (int i = 0; i < CONFIG_KEY_COUNT; i++) {
    const config_key *other = &config_keys[i];
    const int none = ((const char *)config)[key->offset] == '\0';
    if (none || config->line[i] <= 0 || !(excludes(key, other) || excludes(other, key))) continue;
    (void)config_value_read(other, other->fallback, config);
    config->line[i] = CONFIG_LINE_NONE;
  }
}

static status set_value(config *config, int line, const char *section, const char *name, const char *value) {
  if (strcmp(section, CONFIG_CONSTANTS) == 0) return config_constant_set(config, line, name, value);
  if (strcmp(section, CONFIG_UNITS) == 0) return config_unit_set(config, line, name, value);
  if (section[0] == '\0') return config_fail(config, line, name, "a key before the first [section]");
  if (!config_section_known(section)) return fail_section(config, line, section);
  const int index = config_key_find(section, name);
  if (index < 0) return fail_key(config, line, section, name, value);
  CHECK(settle_repetition(config, line, index));
  const char *wrong = config_value_read(&config_keys[index], value, config);
  if (wrong != NULL) return fail_value(config, line, &config_keys[index], value, wrong);
  if (line == CONFIG_LINE_OVERRIDE) replace_others(config, index);
  return STATUS_OK;
}

/* Refuses a list of points that a blank before a ';' ends early. */
static status check_rest(const config *config, const ini_reader *ini) {
  const int key = config_key_find(ini->section, ini->name);
  char subject[CONFIG_TEXT_SIZE];
  int count = 0;
  if (key < 0 || config_keys[key].kind != CONFIG_PROBES ||
      config_probes_read(ini->comment, NULL, &count) != NULL || count == 0)
    return STATUS_OK;
  (void)snprintf(subject, sizeof subject, "%s.%s", ini->section, ini->name);
  return config_fail(config, ini->line, subject,
                     "'%s' is a comment, as a blank stands before its ';'; accepted: x y z; x y z",
                     ini->comment);
}

static status parse_text(config *config, const char *text) {
  ini_reader ini;
  status result = STATUS_OK;
  CHECK(ini_open(text, &ini));
  ini_kind kind = INI_SECTION;
  while (kind != INI_END && result == STATUS_OK) {
    kind = ini_next(&ini);
    if (kind == INI_FAULT) result = config_fail(config, ini.line, ini.text, "%s", ini.fault);
    if (kind == INI_PAIR) result = set_value(config, ini.line, ini.section, ini.name, ini.value);
    if (kind == INI_PAIR && result == STATUS_OK) result = check_rest(config, &ini);
    if (kind == INI_SECTION && !config_section_known(ini.section))
      result = fail_section(config, ini.line, ini.section);
  }
  ini_close(&ini);
  return result;
}

/* [out] text: the whole file, valid until the next call. */
static status read_file(const char *path, const char **text) {
  static char buffer[LARGEST_FILE + 1];
  FILE *file = fopen(path, "rb");
  if (file == NULL) return status_fail(STATUS_FILE, "%s: cannot be opened: %s", path, strerror(errno));
  const size_t length = fread(buffer, 1, sizeof buffer, file);
  const int fault = ferror(file) ? errno : 0;
  (void)fclose(file);
  if (fault != 0) return status_fail(STATUS_FILE, "%s: cannot be read: %s", path, strerror(fault));
  if (length > LARGEST_FILE) {
    return status_fail(STATUS_USAGE, "%s: larger than %d bytes: not a configuration", path, LARGEST_FILE);
  }
  if (memchr(buffer, '\0', length) != NULL) {
    return status_fail(STATUS_USAGE, "%s: contains zero bytes: not a text in ASCII or UTF-8", path);
  }
  buffer[length] = '\0';
  *text = buffer;
  return STATUS_OK;
}

/* Copies text without white space at its ends. Returns 0 if it does not fit. */
static int trim(const char *from, size_t length, char *to, size_t size) {
  while (length > 0 && strchr(" \t", from[0]) != NULL) from++, length--;
  while (length > 0 && strchr(" \t", from[length - 1]) != NULL) length--;
  if (length >= size) return 0;
  memcpy(to, from, length);
  to[length] = '\0';
  return 1;
}

/* Refuses a text that names no section; names the key that it may mean, "grid.nx" for "nx=64". */
static status fail_override(const config *config, const char *text) {
  const size_t length = strcspn(text, "=");
  char hint[CONFIG_TEXT_SIZE] = "";
  for (int i = 0; i < CONFIG_KEY_COUNT && hint[0] == '\0'; i++) {
    const config_key *key = &config_keys[i];
    if (strlen(key->name) == length && strncmp(key->name, text, length) == 0)
      (void)question(key->section, key->name, hint);
  }
  return config_fail(config, CONFIG_LINE_OVERRIDE, text, "not understood; accepted: section.key=value%s",
                     hint);
}

static status apply_override(config *config, const char *text) {
  enum { LONGEST_NAME = 64 };
  char section[LONGEST_NAME], name[LONGEST_NAME], value[2 * CONFIG_PATH_SIZE];
  const char *equal = strchr(text, '=');
  const char *dot = strchr(text, '.');
  if (equal == NULL || dot == NULL || dot > equal || dot == text || dot + 1 == equal)
    return fail_override(config, text);
  if (!trim(text, (size_t)(dot - text), section, sizeof section) ||
      !trim(dot + 1, (size_t)(equal - dot - 1), name, sizeof name) ||
      !trim(equal + 1, strlen(equal + 1), value, sizeof value)) {
    return config_fail(config, CONFIG_LINE_OVERRIDE, text, "too long; accepted: section.key=value");
  }
  return set_value(config, CONFIG_LINE_OVERRIDE, section, name, value);
}

static status load(const char *path, int count, char *const overrides[], config *config) {
  const char *text = NULL;
  CHECK(read_file(path, &text));
  CHECK(parse_text(config, text));
  for (int i = 0; i < count; i++) CHECK(apply_override(config, overrides[i]));
  return config_complete(config, path);
}

static status load_whole(const char *path, int count, char *const overrides[], config *config) {
  char shown[CONFIG_TEXT_SIZE];
  memset(config, 0, sizeof *config);
  (void)snprintf(config->file, sizeof config->file, "%.*s", CONFIG_FILE_SIZE - 1, printable(path, shown));
  for (int i = 0; i < CONFIG_KEY_COUNT; i++) {
    if (config_keys[i].need == CONFIG_ALTERNATIVE) config_value_clear(&config_keys[i], config);
  }
  /* the decimal point is a point in every locale */
  const locale_t c = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
  const locale_t before = uselocale(c);
  const status result = load(path, count, overrides, config);
  (void)uselocale(before);
  if (c != (locale_t)0) freelocale(c);
  return result;
}

/* Returns 1 if two lines are equal, or have equal numbers after the same key. */
static int same_line(const char *a, const char *b) {
  const size_t key = strcspn(a, "=");
  char *end_a = NULL, *end_b = NULL;
  if (strcmp(a, b) == 0) return 1;
  if (a[key] != '=' || strncmp(a, b, key + 1) != 0) return 0;
  const double number_a = strtod(a + key + 1, &end_a), number_b = strtod(b + key + 1, &end_b);
  return number_a == number_b && end_b != b + key + 1 && *end_a == '\0' && *end_b == '\0';
}

static int same_lines(char *a, char *b) {
  char *rest_a = NULL, *rest_b = NULL;
  const char *line_a = strtok_r(a, "\n", &rest_a), *line_b = strtok_r(b, "\n", &rest_b);
  while (line_a != NULL && line_b != NULL && same_line(line_a, line_b)) {
    line_a = strtok_r(NULL, "\n", &rest_a);
    line_b = strtok_r(NULL, "\n", &rest_b);
  }
  return line_a == NULL && line_b == NULL;
}

int config_is_resolved(const char *path) {
  config config;
  char *text = NULL, *resolved = NULL;
  const char *buffer = NULL;
  status result = load_whole(path, 0, NULL, &config);
  if (result == STATUS_OK) result = read_file(path, &buffer);
  if (result == STATUS_OK) text = strdup(buffer);
  if (text != NULL) result = config_text(&config, &resolved);
  const int same = text != NULL && result == STATUS_OK && same_lines(text, resolved);
  free(text);
  free(resolved);
  status_clear();
  return same;
}

/* Refuses to read the file that this run will replace by its resolved configuration (config.ini), unless a
 * run has written that file. */
static status check_kept(const char *path, const config *config) {
  char left[CONFIG_PATH_SIZE + sizeof "/" RUNDIR_CONFIG];
  struct stat given, replaced;
  (void)snprintf(left, sizeof left, "%s/" RUNDIR_CONFIG, config->directory);
  if (stat(left, &replaced) != 0 || stat(path, &given) != 0) return STATUS_OK;
  if (given.st_dev != replaced.st_dev || given.st_ino != replaced.st_ino) return STATUS_OK;
  if (config_is_resolved(path)) return STATUS_OK;
  return config_refuse(config, "output", "directory",
                       "%s is there, and a run would replace it by the resolved configuration; accepted: "
                       "another directory, or another name for the file than " RUNDIR_CONFIG,
                       config->file);
}

/* A configuration written by a run has every key, so warnings of keys without effect are dropped.
 * host_memory = 1, because then most keys are idle. */
static void forget_idle(const char *path, config *config) {
  char text[CONFIG_NAMES_SIZE];
  if (config_without_effect(config, 1, text)[0] == '\0' || !config_is_resolved(path)) return;
  for (int i = 0; i < CONFIG_KEY_COUNT; i++) {
    if (config->line[i] > 0 && config_key_idle(config, i, 1)) config->line[i] = CONFIG_LINE_NONE;
  }
  for (int i = 0; i < config->constant_count; i++) {
    if (config->constant_line[i] > 0) config->constant_line[i] = CONFIG_LINE_NONE;
  }
}

status config_load(const char *path, int count, char *const overrides[], config *config) {
  CHECK(load_whole(path, count, overrides, config));
  CHECK(check_kept(path, config));
  forget_idle(path, config);
  return STATUS_OK;
}
