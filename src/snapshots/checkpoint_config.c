#include "snapshots/checkpoint_config.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "config/config.h"
#include "config/ini.h"

/* The list to which a difference in this key belongs, or NULL. */
static char *list_of(checkpoint_differences *differences, const char *section, const char *name) {
  static const char *const method[] = {"form", "difference", "scheme", "order", "courant", "dt", "adaptive"};
  const int own = strcmp(section, CONFIG_CONSTANTS) == 0; /* names of the user's */
  for (size_t i = 0; i < sizeof method / sizeof *method && !own; i++)
    if (strcmp(name, method[i]) == 0) return differences->method;
  if (strcmp(section, "grid") == 0 || (strcmp(name, "precision") == 0 && !own)) return differences->grid;
  const int problem = strcmp(section, "physics") == 0 || strcmp(section, "medium") == 0 ||
                      strcmp(section, "boundary") == 0 || strcmp(section, "point_sources") == 0 ||
                      strcmp(section, "initial") == 0 || strcmp(section, "velocity") == 0 ||
                      strcmp(section, "source") == 0 || own;
  return problem ? differences->problem : NULL;
}

/* Returns 1 for equal texts, or two texts of the same number. */
static int same_value(const char *a, const char *b) {
  char *end_a = NULL;
  char *end_b = NULL;
  const double number_a = strtod(a, &end_a);
  const double number_b = strtod(b, &end_b);
  const int numbers = end_a != a && end_b != b && *end_a == '\0' && *end_b == '\0';
  return strcmp(a, b) == 0 || (numbers && number_a == number_b);
}

/* Returns 1 if `text` has the key with another value, or lacks a key of an axis or of the step's size: an
 * axis with two kinds of ends is written by other keys than one with one kind, and a step by courant or dt.
 */
static int differs_in(const char *text, const char *section, const char *name, const char *value) {
  ini_reader ini;
  int differs = strcmp(section, "boundary") == 0 || strcmp(section, "time") == 0;
  if (ini_open(text, &ini) != STATUS_OK) return 0;
  for (ini_kind kind = ini_next(&ini); kind != INI_END; kind = ini_next(&ini)) {
    if (kind == INI_PAIR && strcmp(section, ini.section) == 0 && strcmp(name, ini.name) == 0)
      differs = !same_value(value, ini.value);
  }
  ini_close(&ini);
  return differs;
}

void checkpoint_config_compare(const config *config, const char *theirs, const char *ours,
                               checkpoint_differences *differences) {
  ini_reader ini;
  *differences = (checkpoint_differences){0};
  if (ini_open(theirs, &ini) != STATUS_OK) return;
  for (ini_kind kind = ini_next(&ini); kind != INI_END; kind = ini_next(&ini)) {
    char *names = kind == INI_PAIR ? list_of(differences, ini.section, ini.name) : NULL;
    if (names == NULL || !differs_in(ours, ini.section, ini.name, ini.value)) continue;
    if (names == differences->problem && config != NULL && config_is_idle(config, ini.section, ini.name))
      continue;
    text_add(names, CHECKPOINT_NAMES, ", ", "%s.%s", ini.section, ini.name);
  }
  ini_close(&ini);
}

/* The window of [statistics]. */
typedef struct window {
  double from, to;
  int64_t every;
} window;

static window window_of(const char *text) {
  window window = {.to = INFINITY, .every = 1};
  ini_reader ini;
  if (ini_open(text, &ini) != STATUS_OK) return window;
  for (ini_kind kind = ini_next(&ini); kind != INI_END; kind = ini_next(&ini)) {
    if (kind != INI_PAIR || strcmp(ini.section, "statistics") != 0) continue;
    if (strcmp(ini.name, "from") == 0) window.from = strtod(ini.value, NULL);
    if (strcmp(ini.name, "to") == 0) window.to = strtod(ini.value, NULL);
    if (strcmp(ini.name, "every") == 0) window.every = strtoll(ini.value, NULL, 10);
  }
  ini_close(&ini);
  return window;
}

/* "from t = 0 to 1 every 2 steps" */
static void describe(const window *window, char *text, size_t size) {
  const int used = snprintf(text, size, "from t = %.9g to %.9g every ", window->from, window->to);
  if (window->every == 1)
    (void)snprintf(text + used, size - (size_t)used, "step");
  else
    (void)snprintf(text + used, size - (size_t)used, "%" PRId64 " steps", window->every);
}

status checkpoint_config_window(const char *path, const char *theirs, const char *ours,
                                const checkpoint_state *about) {
  const window had = window_of(theirs), wanted = window_of(ours);
  const double slack = 1e-12 * fabs(about->time); /* as of samples (app/statistics.c) */
  const int none_lost = had.to >= wanted.to || about->time <= had.to + slack;
  const int none_beyond = had.to <= wanted.to || about->samples.time <= wanted.to + slack;
  char found[96], run[96];
  if (had.from == wanted.from && had.every == wanted.every && none_lost && none_beyond) return STATUS_OK;
  describe(&had, found, sizeof found);
  describe(&wanted, run, sizeof run);
  return status_fail(STATUS_FOREIGN, "%s: holds samples %s; this run's are %s", path, found, run);
}
