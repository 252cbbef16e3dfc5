#include <string.h>

#include "base/text.h"
#include "config/config_table.h"
#include "config/kept.h"
#include "problems/formula.h"

/* Sections whose keys are names of the user's: [constants], [units]. */

/* Bytes that no line of a file, axis or attribute shall have. */
static const char unprintable[] = "\x01\x02\x03\x04\x05\x06\x07\b\t\n\v\f\r\x1b\x7f\"";

status config_constant_set(config *config, int line, const char *name, const char *value) {
  char subject[2 * CONFIG_TEXT_SIZE];
  int i = 0;
  (void)snprintf(subject, sizeof subject, CONFIG_CONSTANTS ".%s = %s", name, value);
  if (!formula_name_free(name) || strlen(name) >= CONFIG_NAME_SIZE) {
    return config_fail(config, line, subject,
                       "not a name for a constant; accepted: a letter, then letters, digits or _, at most %d "
                       "bytes, and no name that formulas know already",
                       CONFIG_NAME_SIZE - 1);
  }
  while (i < config->constant_count && strcmp(config->constants[i].name, name) != 0) i++;
  if (i == CONFIG_MOST_CONSTANTS)
    return config_fail(config, line, subject, "too many; accepted: %d constants", CONFIG_MOST_CONSTANTS);
  config_constant *constant = &config->constants[i];
  const int given = i < config->constant_count;
  if (given && (line == CONFIG_LINE_OVERRIDE) == (config->constant_line[i] == CONFIG_LINE_OVERRIDE))
    return config_fail(config, line, subject, "repeated; accepted: each constant once");
  const char *wrong = config_constant_read(value, &constant->value);
  if (wrong != NULL)
    return config_fail(config, line, subject, "%s; accepted: a number from -1e30 to 1e30", wrong);
  (void)snprintf(constant->name, sizeof constant->name, "%s", name);
  config->constant_line[i] = line;
  config->constant_count += !given;
  return STATUS_OK;
}

status config_unit_set(config *config, int line, const char *name, const char *value) {
  char subject[2 * CONFIG_TEXT_SIZE];
  int i = 0;
  (void)snprintf(subject, sizeof subject, CONFIG_UNITS ".%s = %s", name, value);
  while (i < config->unit_count && strcmp(config->units[i].name, name) != 0) i++;
  if (i == CONFIG_MOST_UNITS || strlen(name) >= CONFIG_NAME_SIZE || value[0] == '\0' ||
      strlen(value) >= CONFIG_NAME_SIZE || strpbrk(value, unprintable) != NULL)
    return config_fail(config, line, subject,
                       "not a unit; accepted: up to %d lines, length, time or a field = a word of at most %d "
                       "bytes",
                       CONFIG_MOST_UNITS, CONFIG_NAME_SIZE - 1);
  if (i < config->unit_count &&
      (line == CONFIG_LINE_OVERRIDE) == (config->unit_line[i] == CONFIG_LINE_OVERRIDE))
    return config_fail(config, line, subject, "repeated; accepted: each unit once");
  (void)snprintf(config->units[i].name, CONFIG_NAME_SIZE, "%s", name);
  (void)snprintf(config->units[i].text, CONFIG_NAME_SIZE, "%s", value);
  config->unit_line[i] = line;
  config->unit_count += i == config->unit_count;
  return STATUS_OK;
}

const char *config_unit_of(const config *config, const char *name) {
  for (int i = 0; i < config->unit_count; i++)
    if (strcmp(config->units[i].name, name) == 0) return config->units[i].text;
  return "";
}

/* "Pa^2", "(m/s)^2", "Pa (m/s)": brackets around all but letters, so that no reader has to know which goes
 * first. */
static void write_product(const char *a, const char *b, char text[CONFIG_PRODUCT_SIZE]) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  const int square = strcmp(a, b) == 0,
            plain[2] = {a[strspn(a, letters)] == '\0', b[strspn(b, letters)] == '\0'};
  const int used = snprintf(text, CONFIG_PRODUCT_SIZE, plain[0] ? "%s" : "(%s)", a);
  (void)snprintf(text + used, (size_t)(CONFIG_PRODUCT_SIZE - used),
                 square     ? "^2"
                 : plain[1] ? " %s"
                            : " (%s)",
                 b);
}

/* Finds the units of the two fields in the name of a product. Returns 0 if one of them has none. */
static int find_factors(const config *config, const char *name, const char *unit[2]) {
  char product[sizeof CONFIG_PRODUCT + 2 * (size_t)CONFIG_NAME_SIZE];
  for (int i = 0; i < config->unit_count; i++)
    for (int k = 0; k < config->unit_count; k++) {
      (void)snprintf(product, sizeof product, CONFIG_PRODUCT "%s_%s", config->units[i].name,
                     config->units[k].name);
      unit[0] = config->units[i].text;
      unit[1] = config->units[k].text;
      if (strcmp(product, name) == 0) return 1;
    }
  return 0;
}

const char *config_unit_of_data(const config *config, const char *name, char text[CONFIG_PRODUCT_SIZE]) {
  static const char mean[] = CONFIG_MEAN, variance[] = CONFIG_VARIANCE;
  const char *unit[2] = {"", ""};
  if (strncmp(name, mean, sizeof mean - 1) == 0) return config_unit_of(config, name + sizeof mean - 1);
  if (strncmp(name, variance, sizeof variance - 1) == 0) {
    unit[0] = unit[1] = config_unit_of(config, name + sizeof variance - 1);
    if (unit[0][0] == '\0') return "";
  } else if (!find_factors(config, name, unit)) {
    return config_unit_of(config, name);
  }
  write_product(unit[0], unit[1], text);
  return text;
}

static int is_among(const char *name, int count, const char *const names[]) {
  int i = 0;
  while (i < count && strcmp(names[i], name) != 0) i++;
  return i < count;
}

status config_units_check(const config *config, int count, const char *const names[]) {
  static const char *const always[] = {"length", "time"};
  const char *derived[CONFIG_DERIVED_MOST];
  const int others = config_derivable_names(config, derived);
  char subject[3 * CONFIG_NAME_SIZE], accepted[CONFIG_TEXT_SIZE] = "length, time";
  for (int i = 0; i < count + others; i++) {
    text_add(accepted, sizeof accepted, ", ", "%s", i < count ? names[i] : derived[i - count]);
  }
  for (int i = 0; i < config->unit_count; i++) {
    const char *name = config->units[i].name;
    if (is_among(name, 2, always) || is_among(name, count, names) || is_among(name, others, derived))
      continue;
    (void)snprintf(subject, sizeof subject, CONFIG_UNITS ".%s = %s", name, config->units[i].text);
    return config_fail(config, config->unit_line[i], subject,
                       "nothing of this run has that name; accepted: %s", accepted);
  }
  return STATUS_OK;
}
