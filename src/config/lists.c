#include "config/lists.h"

#include <stdio.h>
#include <string.h>

#include "config/config_table.h"

static const char blank[] = " \t";

/* Takes the next word, which ends before a blank or one of `ends`. Returns 0 if there is none. A word longer
 * than any number is cut, so that reading it as a number fails. */
static int next_word(const char **text, const char *ends, char word[64]) {
  *text += strspn(*text, blank);
  const size_t length = strcspn(*text, ends);
  (void)snprintf(word, 64, "%.*s", (int)(length < 63 ? length : 63), *text);
  *text += length;
  return length > 0;
}

static const char *read_slice(const char *word, config_slice *slice) {
  static const char axes[] = "xyz";
  const char *axis = word[0] != '\0' ? strchr(axes, word[0]) : NULL;
  if (axis == NULL || word[1] != '=') return "not a list of planes";
  if (config_place_read(word + 2, &slice->at) != NULL) return "a plane whose place is no number";
  slice->axis = (int)(axis - axes);
  (void)snprintf(slice->name, sizeof slice->name, "%c_%.9g", word[0], slice->at + 0.0);
  return NULL;
}

const char *config_slices_read(const char *text, config_slice *list, int *count) {
  config_slice own[CONFIG_MOST_SLICES];
  char word[64];
  if (list == NULL) list = own;
  *count = 0;
  while (next_word(&text, " \t", word)) {
    if (*count == CONFIG_MOST_SLICES) return "too many planes";
    const char *wrong = read_slice(word, &list[*count]);
    if (wrong != NULL) return wrong;
    for (int i = 0; i < *count; i++) {
      if (strcmp(list[i].name, list[*count].name) == 0) return "a plane that comes twice";
    }
    ++*count;
  }
  return NULL;
}

static const char *read_probe(const char **text, config_probe *probe) {
  char word[64];
  for (int d = 0; d < 3; d++) {
    if (!next_word(text, " \t;", word)) return "a point without three coordinates";
    if (config_place_read(word, &probe->at[d]) != NULL) return "a point with a coordinate that is no number";
  }
  *text += strspn(*text, blank);
  return **text == ';' || **text == '\0' ? NULL : "a point with more than three coordinates";
}

const char *config_probes_read(const char *text, config_probe *list, int *count) {
  config_probe own[CONFIG_MOST_PROBES];
  if (list == NULL) list = own;
  *count = 0;
  text += strspn(text, blank);
  while (*text != '\0') {
    if (*count == CONFIG_MOST_PROBES) return "too many points";
    const char *wrong = read_probe(&text, &list[*count]);
    if (wrong != NULL) return wrong;
    for (int i = 0; i < *count; i++) {
      if (memcmp(list[i].at, list[*count].at, sizeof list[i].at) == 0) return "a point that comes twice";
    }
    ++*count;
    text += *text == ';';
    text += strspn(text, blank);
  }
  return NULL;
}

const char *config_box_read(const char *text, double box[3][2]) {
  double own[3][2];
  char word[64];
  if (box == NULL) box = own;
  for (int d = 0; d < 3; d++) {
    for (int side = 0; side < 2; side++) {
      if (!next_word(&text, blank, word)) return "a box without six coordinates";
      if (config_place_read(word, &box[d][side]) != NULL) return "a box with a coordinate that is no number";
    }
    if (!(box[d][0] < box[d][1])) return "a box whose high side is not above its low one";
  }
  return next_word(&text, blank, word) ? "a box with more than six coordinates" : NULL;
}

const char *config_names_read(const char *text, config_names *names) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  config_names own;
  char word[64];
  if (names == NULL) names = &own;
  names->count = 0;
  while (next_word(&text, blank, word)) {
    const size_t length = strlen(word);
    if (names->count == CONFIG_MOST_NAMES) return "too many names";
    if (strspn(word, letters) != length || length >= sizeof names->name[0]) return "not a list of names";
    for (int i = 0; i < names->count; i++)
      if (strcmp(names->name[i], word) == 0) return "a name that comes twice";
    memcpy(names->name[names->count++], word, length + 1);
  }
  return NULL;
}
