#include "base/text.h"
#include "config/config_table.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "config/lists.h"

enum { LONGEST_WORD = 32 };

/* Largest magnitude of u, v, w and of constants. */
static const double most = 1e30;

static char lower(char c) {
  return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static int smaller(int a, int b) {
  return a < b ? a : b;
}

/* Number of edits (insert, delete, replace, swap neighbours) from a to b, ignoring case: the optimal string
 * alignment distance. */
static int edit_distance(const char *a, size_t length_a, const char *b, size_t length_b) {
  int d[LONGEST_WORD + 1][LONGEST_WORD + 1];
  for (size_t i = 0; i <= length_a; i++) d[i][0] = (int)i;
  for (size_t j = 0; j <= length_b; j++) d[0][j] = (int)j;
  for (size_t i = 1; i <= length_a; i++) {
    for (size_t j = 1; j <= length_b; j++) {
      const char x = lower(a[i - 1]), y = lower(b[j - 1]);
      d[i][j] = smaller(smaller(d[i - 1][j], d[i][j - 1]) + 1, d[i - 1][j - 1] + (x != y));
      if (i > 1 && j > 1 && x == lower(b[j - 2]) && lower(a[i - 2]) == y) {
        d[i][j] = smaller(d[i][j], d[i - 2][j - 2] + 1);
      }
    }
  }
  return d[length_a][length_b];
}

void config_guess_offer(config_guess *guess, const char *candidate) {
  const size_t length = strlen(guess->word), length_candidate = strlen(candidate);
  if (length == 0 || length > LONGEST_WORD || length_candidate > LONGEST_WORD) return;
  const int distance = edit_distance(guess->word, length, candidate, length_candidate);
  const int near = 1 + (int)length_candidate / 3;
  if (distance > near || distance >= (int)length_candidate) return;
  if (guess->best == NULL || distance < guess->distance) {
    guess->best = candidate;
    guess->distance = distance;
  }
}

const char *config_value_guess(const config_key *key, const char *text) {
  config_guess guess = {.word = text};
  for (int i = 0; config_choice_at(key, i).name != NULL; i++)
    config_guess_offer(&guess, config_choice_at(key, i).name);
  return guess.best;
}

static const char *read_integer(const config_key *key, const char *text, void *member) {
  const char *digits = text + (*text == '-' || *text == '+');
  if (digits[0] == '\0' || digits[strspn(digits, "0123456789")] != '\0')
    return "not an integer in decimal digits";
  if (digits[0] == '0' && digits[1] != '\0') return "an integer with a leading zero";
  const int64_t value = strtoll(text, NULL, 10); /* beyond 64 bits the largest, out of every range */
  if (value < (int64_t)key->minimum || value > (int64_t)key->maximum) return "out of range";
  if (key->kind == CONFIG_COUNT) {
    *(int64_t *)member = value;
  } else {
    *(int *)member = (int)value;
  }
  return NULL;
}

static const char *read_number(const char *text, double minimum, double maximum, double *value) {
  /* strtod also accepts spaces, hexadecimal digits, nan and inf */
  if (text[strspn(text, "+-.0123456789eE")] != '\0') return "not a decimal number";
  char *end;
  errno = 0;
  *value = strtod(text, &end);
  if (end == text || *end != '\0') return "not a decimal number";
  if (errno == ERANGE || !(*value >= minimum) || !(*value <= maximum)) return "out of range";
  return NULL;
}

static const char *read_real(const config_key *key, const char *text, void *member) {
  return read_number(text, key->minimum, key->maximum, member);
}

const char *config_constant_read(const char *text, double *value) {
  return text[0] == '\0' ? "no value" : read_number(text, -most, most, value);
}

const char *config_place_read(const char *text, double *value) {
  if (text[0] == '\0' || text[strspn(text, "+-.0123456789eE")] != '\0') return "no number";
  char *end;
  *value = fmax(-DBL_MAX, fmin(DBL_MAX, strtod(text, &end)));
  return end == text || *end != '\0' ? "no number" : NULL;
}

static const char *read_formula(const config_key *key, const char *text, void *member) {
  if (strlen(text) >= CONFIG_FORMULA_SIZE) return "too long";
  const int none =
      strcmp(text, "none") == 0 && key->need == CONFIG_DEFAULT && strcmp(key->fallback, text) == 0;
  memset(member, 0, CONFIG_FORMULA_SIZE);
  memcpy(member, none ? "" : text, none ? 0 : strlen(text));
  return NULL;
}

/* Reads a list, which may be in quotes, because a comment begins at a blank before ';'. It is stored without
 * them. */
static const char *read_list(const char *text, char *value) {
  const size_t length = strlen(text);
  const int quoted = length > 1 && text[0] == '"' && text[length - 1] == '"';
  const char *const end = text + length - quoted;
  if (length >= CONFIG_LIST_SIZE) return "too long";
  if (text[0] == '\'') return "a list in single quotes, which are no quotes here; double ones are";
  memset(value, 0, CONFIG_LIST_SIZE);
  if (strcmp(text, "none") == 0) return NULL;
  size_t used = 0;
  for (text += quoted; text < end; text++) {
    const int space = *text == ' ' || *text == '\t';
    const char next = text + 1 < end ? text[1] : ' ';
    if (space && (used == 0 || next == ' ' || next == '\t' || next == ';')) continue;
    value[used++] = space ? ' ' : *text;
  }
  return used == 0 ? "no value" : NULL;
}

static const char *read_places(const config_key *key, const char *text, void *member) {
  int count = 0;
  const char *wrong = read_list(text, member);
  if (wrong != NULL || *(char *)member == '\0') return wrong;
  if (key->kind == CONFIG_BOX) return config_box_read(member, NULL);
  if (key->kind == CONFIG_NAMES) return config_names_read(member, NULL);
  return key->kind == CONFIG_SLICES ? config_slices_read(member, NULL, &count)
                                    : config_probes_read(member, NULL, &count);
}

/* Reads the number of u, v or w if the velocity is not a formula. */
const char *config_component_read(config *config, int d) {
  return read_number(config->component[d], -most, most, &config->uniform[d]);
}

static const char *read_choice(const config_key *key, const char *text, void *member) {
  for (int i = 0; config_choice_at(key, i).name != NULL; i++) {
    if (strcmp(config_choice_at(key, i).name, text) == 0) {
      *(int *)member = config_choice_at(key, i).value;
      return NULL;
    }
  }
  return "not known";
}

/* Reads words between blanks, each at most once. */
static const char *read_set(const config_key *key, const char *text, void *member) {
  char word[LONGEST_WORD + 1];
  int part = 0, sum = 0;
  if (strcmp(text, "none") == 0) text = "";
  for (text += strspn(text, " "); *text != '\0'; text += strspn(text, " ")) {
    const size_t length = strcspn(text, " ");
    if (length > LONGEST_WORD) return "not known";
    (void)snprintf(word, sizeof word, "%.*s", (int)length, text);
    if (read_choice(key, word, &part) != NULL) return "not known";
    if (sum & part) return "the same twice";
    sum |= part;
    text += length;
  }
  *(int *)member = sum;
  return NULL;
}

static const char *read_backend(const config_key *key, const char *text, void *member) {
  int index = 0;
  const char *wrong = read_choice(key, text, &index);
  if (wrong != NULL) return strcmp(text, "cuda") == 0 ? "not built into this program" : wrong;
  (void)snprintf(member, sizeof((config *)NULL)->backend, "%s", text);
  return NULL;
}

/* Refuses paths that would not survive being written to a file and read again, and ~ and $, which a shell
 * would have expanded. */
static const char *read_path(const config_key *key, const char *text, void *member) {
  if (strlen(text) > CONFIG_PATH_LIMIT) return "too long";
  if (text[strlen(text) - 1] == ' ') return "a path that ends with a blank";
  if (text[0] == '"' || text[0] == '\'') return "paths are written without quotes";
  if (text[0] == '~' || strchr(text, '$') != NULL)
    return "'~' and '$' are not expanded here: write the path in full";
  for (const char *c = text; *c != '\0'; c++) {
    if ((unsigned char)*c < ' ' || *c == 127) return "a path with a control character";
    if (*c == ' ' && c[1] == ';') return "a path with ' ;', which begins a comment";
  }
  const int none = key->need == CONFIG_DEFAULT && strcmp(text, key->fallback) == 0;
  memset(member, 0, CONFIG_PATH_SIZE);
  memcpy(member, none ? "" : text, none ? 0 : strlen(text));
  return NULL;
}

static const char *read_hash(const config_key *key, const char *text, void *member) {
  char *value = member;
  (void)key;
  memset(value, 0, CONFIG_HASH_SIZE);
  if (strcmp(text, "none") == 0) return NULL;
  if (strlen(text) != CONFIG_HASH_SIZE - 1 || text[strspn(text, "0123456789abcdefABCDEF")] != '\0')
    return "not a hash";
  for (int i = 0; text[i] != '\0'; i++) value[i] = lower(text[i]);
  return NULL;
}

static const struct {
  const char *(*read)(const config_key *key, const char *text, void *member);
  const char *accepted; /* of kinds without choices and ranges: what is accepted, with `most` in it */
  int most;
} kinds[] = {
    [CONFIG_COUNT] = {.read = read_integer},
    [CONFIG_INT] = {.read = read_integer},
    [CONFIG_REAL] = {.read = read_real},
    [CONFIG_CHOICE] = {.read = read_choice},
    [CONFIG_SET] = {.read = read_set},
    [CONFIG_BACKEND] = {.read = read_backend},
    [CONFIG_PATH] = {read_path, "a path of at most %d bytes", CONFIG_PATH_LIMIT},
    [CONFIG_HASH] = {read_hash, "%d hexadecimal digits, or none", CONFIG_HASH_SIZE - 1},
    [CONFIG_FORMULA] = {read_formula, "a formula of at most %d bytes", CONFIG_FORMULA_SIZE - 1},
    [CONFIG_NUMBERS] = {read_formula, "numbers with blanks between them, at most %d bytes",
                        CONFIG_LIST_SIZE - 1},
    [CONFIG_SLICES] = {read_places, "planes as x=0.25 z=0.5: up to %d different ones, or none",
                       CONFIG_MOST_SLICES},
    [CONFIG_PROBES] = {read_places, "x y z; x y z: up to %d different points, or none", CONFIG_MOST_PROBES},
    [CONFIG_BOX] = {read_places, "x0 x1 y0 y1 z0 z1, or none", 0},
    [CONFIG_NAMES] = {read_places, "different names, separated by blanks, or none", 0},
    [CONFIG_COMPONENT] = {read_formula, "a number from -1e+30 to 1e+30; or a formula", 0},
};

const char *config_value_accepted(const config_key *key, char *text) {
  (void)snprintf(text, CONFIG_TEXT_SIZE, "%s", key->kind == CONFIG_SET ? "none, or some of" : "");
  if (kinds[key->kind].accepted != NULL) {
    (void)snprintf(text, CONFIG_TEXT_SIZE, kinds[key->kind].accepted, kinds[key->kind].most);
  } else if (kinds[key->kind].read == read_integer) {
    (void)snprintf(text, CONFIG_TEXT_SIZE, "an integer from %.0f to %.0f", key->minimum, key->maximum);
  } else if (key->kind == CONFIG_REAL) {
    (void)snprintf(text, CONFIG_TEXT_SIZE, "a number from %.9g to %.9g", key->minimum, key->maximum);
  }
  for (int i = 0; config_choice_at(key, i).name != NULL; i++)
    text_add(text, CONFIG_TEXT_SIZE, key->kind == CONFIG_SET && i == 0 ? " " : ", ", "%s",
             config_choice_at(key, i).name);
  return text;
}

const char *config_value_read(const config_key *key, const char *text, config *config) {
  if (text[0] == '\0') return "no value";
  if (text[0] == ';' || text[0] == '#' || strstr(text, " #") != NULL || strstr(text, "\t#") != NULL)
    return "a comment after a value begins with ' ;'";
  return kinds[key->kind].read(key, text, (char *)config + key->offset);
}

void config_value_clear(const config_key *key, config *config) {
  void *const member = (char *)config + key->offset;
  if (key->kind == CONFIG_COUNT) {
    *(int64_t *)member = (int64_t)key->absent;
  } else {
    *(double *)member = key->absent;
  }
}

int config_value_is_clear(const config_key *key, const config *config) {
  const void *const member = (const char *)config + key->offset;
  if (key->need != CONFIG_ALTERNATIVE) return 0;
  return key->kind == CONFIG_COUNT ? *(const int64_t *)member == (int64_t)key->absent
                                   : !(*(const double *)member > key->absent);
}
