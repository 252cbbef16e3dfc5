#include "config/config_table.h"

#include <inttypes.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "problems/problem.h"
#include "settings/equations.h"
#include "settings/scheme.h"

static const char *choice_name(const config_key *key, int value) {
  int i = 0;
  while (config_choice_at(key, i).name != NULL && config_choice_at(key, i).value != value) i++;
  return config_choice_at(key, i).name;
}

static void set_text(const config_key *key, int value, char *text) {
  size_t used = (size_t)snprintf(text, CONFIG_PATH_SIZE, "%s", value == 0 ? "none" : "");
  for (int i = 0; config_choice_at(key, i).name != NULL; i++) {
    if (value & config_choice_at(key, i).value)
      used += (size_t)snprintf(text + used, CONFIG_PATH_SIZE - used, "%s%s", used > 0 ? " " : "",
                               config_choice_at(key, i).name);
  }
}

const char *config_value_text(const config_key *key, const config *config, int digits, char *text) {
  const void *const member = (const char *)config + key->offset;
  switch (key->kind) {
  case CONFIG_COUNT:
    (void)snprintf(text, CONFIG_PATH_SIZE, "%" PRId64, *(const int64_t *)member);
    break;
  case CONFIG_INT:
    (void)snprintf(text, CONFIG_PATH_SIZE, "%d", *(const int *)member);
    break;
  case CONFIG_REAL:
    (void)snprintf(text, CONFIG_PATH_SIZE, "%.*g", digits, *(const double *)member);
    break;
  case CONFIG_CHOICE:
    (void)snprintf(text, CONFIG_PATH_SIZE, "%s", choice_name(key, *(const int *)member));
    break;
  case CONFIG_SET:
    set_text(key, *(const int *)member, text);
    break;
  case CONFIG_COMPONENT: {
    const size_t d = (key->offset - offsetof(struct config, component)) / CONFIG_FORMULA_SIZE;
    if (velocities_at(config->velocity)->from == PROBLEM_FORMULA) {
      (void)snprintf(text, CONFIG_PATH_SIZE, "%s", (const char *)member);
    } else {
      (void)snprintf(text, CONFIG_PATH_SIZE, "%.*g", digits, config->uniform[d]);
    }
    break;
  }
  default: /* texts */
    (void)snprintf(text, CONFIG_PATH_SIZE, "%s",
                   *(const char *)member != '\0' ? (const char *)member : key->fallback);
  }
  return text;
}

/* An axis with two kinds of ends is written by its ends, any other one by itself; of a Reynolds number and
 * the viscosity that follows from it, the former. */
static int is_said_elsewhere(const config_key *key, const config *config) {
  int axis = 0, parted = key->need == CONFIG_PART;
  if (key->offset == offsetof(struct config, viscosity))
    return equation_is(config, EQUATION_GAS) && cases_at(config->initial)->flow != NULL &&
           config->reynolds > 0.0;
  if (strcmp(key->section, "boundary") != 0 || key->kind != CONFIG_CHOICE) return 0;
  while ("xyz"[axis] != key->name[0]) axis++;
  return parted != (config->ends[axis][0] != config->ends[axis][1]);
}

void config_write(const config *config, FILE *file) {
  const locale_t c = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
  const locale_t before = uselocale(c);
  const char *section = "";
  char text[CONFIG_PATH_SIZE];
  for (int i = 0; i < CONFIG_KEY_COUNT; i++) {
    const config_key *key = &config_keys[i];
    if (strcmp(key->section, section) != 0) {
      fprintf(file, "%s[%s]\n", i > 0 ? "\n" : "", key->section);
      section = key->section;
    }
    if (config_value_is_clear(key, config) || is_said_elsewhere(key, config)) continue;
    fprintf(file, "%s = %s\n", key->name, config_value_text(key, config, 17, text));
  }
  for (int i = 0; i < config->constant_count; i++) {
    fprintf(file, "%s%s = %.17g\n", i == 0 ? "\n[" CONFIG_CONSTANTS "]\n" : "", config->constants[i].name,
            config->constants[i].value);
  }
  for (int i = 0; i < config->unit_count; i++)
    fprintf(file, "%s%s = %s\n", i == 0 ? "\n[" CONFIG_UNITS "]\n" : "", config->units[i].name,
            config->units[i].text);
  (void)uselocale(before);
  if (c != (locale_t)0) freelocale(c);
}

status config_text(const config *config, char **text) {
  size_t size = 0;
  *text = NULL;
  FILE *memory = open_memstream(text, &size);
  if (memory != NULL) {
    config_write(config, memory);
    const int whole = ferror(memory) == 0;
    if (fclose(memory) == 0 && whole) return STATUS_OK;
    free(*text);
    *text = NULL;
  }
  return status_fail(STATUS_MEMORY, "no memory for the resolved configuration");
}

static const char *const *case_keys(int index) {
  return cases_at(index)->keys;
}

static const char *const *velocity_keys(int index) {
  return velocities_at(index)->keys;
}

/* keys_of: returns the keys that an entry uses; NULL if all entries use all keys. */
static void list_choices(const char *title, const char *section, const char *name,
                         const char *const *(*keys_of)(int index), FILE *file) {
  const config_key *key = &config_keys[config_key_find(section, name)];
  const size_t prefix = strlen(section) + 1;
  fprintf(file, "%s (%s.%s)\n", title, section, name);
  for (int i = 0; config_choice_at(key, i).name != NULL; i++) {
    fprintf(file, "  %-14s %s", config_choice_at(key, i).name, config_choice_at(key, i).help);
    const char *const *keys = keys_of != NULL ? keys_of(i) : NULL;
    for (int k = 0; keys != NULL && keys[k] != NULL; k++) {
      const int own = strncmp(keys[k], section, prefix - 1) == 0;
      fprintf(file, "%s%s", k == 0 ? "; keys " : ", ", own ? keys[k] + prefix : keys[k]);
    }
    fputc('\n', file);
  }
  fputc('\n', file);
}

/* Prints the schemes' tables and the properties computed from them; words per point and step for one
 * unknown. */
static void list_schemes(FILE *file) {
  fputs("Schemes (time.scheme)\n", file);
  for (int i = 0; schemes_at(i) != NULL; i++) {
    const scheme *scheme = schemes_at(i);
    const struct scheme *form = scheme_form(scheme, 1, 1);
    fprintf(file, "  %-14s %s; order %d, %d stages, stable up to %.3f i and -%.3f, %d words", scheme->name,
            scheme->help, scheme->order, scheme->stages, scheme_imaginary_limit(scheme),
            scheme_real_limit(scheme), scheme_words(scheme));
    if (form != scheme) fprintf(file, ", %d if linear and steady", scheme_words(form));
    fputc('\n', file);
  }
  fputs("\nSchemes of waves (time.scheme)\n", file);
  for (int i = schemes_find("leapfrog"); schemes_all(i) != NULL; i++) {
    const scheme *scheme = schemes_all(i);
    fprintf(file, "  %-14s %s; order %d, stable up to %.3f i\n", scheme->name, scheme->help, scheme->order,
            scheme_leap_limit(scheme));
  }
  fputc('\n', file);
}

static const char *default_text(const config_key *key) {
  if (key->need == CONFIG_REQUIRED) return "required";
  if (key->fallback != NULL) return key->fallback;
  return config_keys[config_key_find(key->section, key->other)].fallback != NULL ? "none" : "one of the two";
}

/* Prints a key with its default and accepted values, and its meaning on the next line, because one line would
 * be too long. */
static void list_key(const config_key *key, FILE *file) {
  char name[64], accepted[CONFIG_TEXT_SIZE];
  (void)snprintf(name, sizeof name, "%s.%s", key->section, key->name);
  fprintf(file, "  %-26s %s; %s%s\n  %-26s   %s\n", name, config_value_accepted(key, accepted),
          key->fallback == NULL ? "" : "default: ", default_text(key), "", key->help);
}

void config_list(FILE *file) {
  list_choices("Equations", "physics", "equation", NULL, file);
  list_choices("Cases", "initial", "case", case_keys, file);
  list_choices("Velocity fields", "velocity", "field", velocity_keys, file);
  list_schemes(file);
  list_choices("Ends of axes", "boundary", "x", NULL, file);
  list_choices("Forms of the advection term", "physics", "form", NULL, file);
  list_choices("Differences of advection and sound", "physics", "difference", NULL, file);
  fputs("Backends (compute.backend), in the order in which auto tries them\n", file);
  for (int i = 0; i < kernels_count(); i++) fprintf(file, "  %s\n", kernels_at(i)->name);
  fputs("\nKeys\n", file);
  for (int i = 0; i < CONFIG_KEY_COUNT; i++) list_key(&config_keys[i], file);
  fprintf(file, "  %-26s a number from -1e+30 to 1e+30; default: none\n  %-26s   %s\n",
          CONFIG_CONSTANTS ".NAME", "", "a name for formulas, as many as 32");
  fprintf(
      file, "  %-26s a word of at most %d bytes; default: none\n  %-26s   %s\n", CONFIG_UNITS ".NAME",
      CONFIG_NAME_SIZE - 1, "",
      "unit of length, time, or of a field by its name, for pictures and files; nothing is computed with it");
}
