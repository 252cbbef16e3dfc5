#include "snapshots/checkpoint_config.h"

#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct comparison {
  const char *ours;
  checkpoint_differences *differences;
} comparison;

typedef struct pair {
  const char *section, *name, *value;
  int differs;
} pair;

/* Where a difference in this key belongs; NULL: nowhere. */
static char *list_of(checkpoint_differences *differences, const char *section, const char *name) {
  const int method = strcmp(name, "form") == 0 || strcmp(name, "scheme") == 0 || strcmp(name, "order") == 0;
  if (method) return differences->method;
  const int problem =
      strcmp(section, "physics") == 0 || strcmp(section, "initial") == 0 || strcmp(section, "velocity") == 0;
  return problem ? differences->problem : NULL;
}

/* The same text, or two texts of the same number. */
static int same_value(const char *a, const char *b) {
  char *end_a = NULL;
  char *end_b = NULL;
  const double number_a = strtod(a, &end_a);
  const double number_b = strtod(b, &end_b);
  const int numbers = end_a != a && end_b != b && *end_a == '\0' && *end_b == '\0';
  return strcmp(a, b) == 0 || (numbers && number_a == number_b);
}

static int compare_value(void *user, const char *section, const char *name, const char *value) {
  pair *theirs = user;
  if (strcmp(section, theirs->section) == 0 && strcmp(name, theirs->name) == 0)
    theirs->differs = !same_value(value, theirs->value);
  return 1;
}

static int compare_pair(void *user, const char *section, const char *name, const char *value) {
  comparison *comparison = user;
  pair theirs = {.section = section, .name = name, .value = value};
  char *names = list_of(comparison->differences, section, name);
  if (names == NULL) return 1;
  (void)ini_parse_string(comparison->ours, compare_value, &theirs);
  if (theirs.differs) {
    const size_t used = strlen(names);
    (void)snprintf(names + used, CHECKPOINT_NAMES - used, "%s%s.%s", used > 0 ? ", " : "", section, name);
  }
  return 1;
}

void checkpoint_config_compare(const char *theirs, const char *ours, checkpoint_differences *differences) {
  comparison comparison = {.ours = ours, .differences = differences};
  *differences = (checkpoint_differences){0};
  (void)ini_parse_string(theirs, compare_pair, &comparison);
}
