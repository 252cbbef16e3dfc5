#include <inttypes.h>
#include <string.h>

#include "base/number.h"
#include "config/config_table.h"
#include "config/kept.h"
#include "config/lists.h"
#include "problems/problem.h"
#include "settings/equations.h"

/* Conditions on what a run writes: places within the domain, data of its equation. */

/* Writes a coordinate with the digits that show that it lies outside. */
static const char *outside_text(const config *c, int axis, double at, char text[NUMBER_TEXT]) {
  return number_apart(at, c->l[axis], text);
}

static status check_probes(const config *c) {
  config_probe probes[CONFIG_MOST_PROBES];
  char text[3][NUMBER_TEXT];
  int count = 0;
  (void)config_probes_read(c->probes, probes, &count);
  for (int i = 0; i < count; i++) {
    const double *at = probes[i].at;
    int outside = 0;
    for (int d = 0; d < 3; d++) outside = outside || problem_outside(c, d, at[d]);
    if (!outside) continue;
    return config_refuse(c, "output", "probes",
                         "the point %s %s %s is outside the domain; accepted: 0 to %g, 0 to %g, 0 to %g",
                         outside_text(c, 0, at[0], text[0]), outside_text(c, 1, at[1], text[1]),
                         outside_text(c, 2, at[2], text[2]), c->l[0], c->l[1], c->l[2]);
  }
  return STATUS_OK;
}

static status check_slices(const config *c) {
  config_slice slices[CONFIG_MOST_SLICES];
  char text[NUMBER_TEXT];
  int count = 0;
  (void)config_slices_read(c->slices, slices, &count);
  for (int i = 0; i < count; i++) {
    const int axis = slices[i].axis;
    if (!problem_outside(c, axis, slices[i].at)) continue;
    return config_refuse(c, "output", "slices",
                         "the plane %c=%s is outside the domain; accepted: 0 to %g along %c", "xyz"[axis],
                         outside_text(c, axis, slices[i].at, text), c -> l[axis], "xyz"[axis]);
  }
  return STATUS_OK;
}

/* VTK readers need at least two points along each axis of a volume. */
static status check_kept(const config *c) {
  double box[3][2];
  char text[2][NUMBER_TEXT];
  const int boxed = c->fields_box[0] != '\0';
  for (int d = 0; boxed && config_box_read(c->fields_box, box) == NULL && d < 3; d++) {
    if (!problem_outside(c, d, box[d][0]) && !problem_outside(c, d, box[d][1])) continue;
    return config_refuse(
        c, "output", "fields_box", "from %s to %s goes beyond the domain along %c; accepted: 0 to %g",
        outside_text(c, d, box[d][0], text[0]), outside_text(c, d, box[d][1], text[1]), "xyz"[d], c -> l[d]);
  }
  const config_kept kept = config_kept_points(c);
  for (int d = 0; d < 3; d++) {
    if (kept.count[d] >= 2) continue;
    return config_refuse(c, "output", boxed ? "fields_box" : "fields_stride",
                         "leaves %d of the %" PRId64 " points along %c; accepted: two at least",
                         (int)kept.count[d], c->n[d], "xyz"[d]);
  }
  return STATUS_OK;
}

static status check_derived(const config *c) {
  const int own = equation_entries[c->equation].derived, others = c->derived & ~own;
  if (others & CONFIG_DERIVED_FLOW)
    return config_refuse(c, "output", "derived",
                         "has data of physics.equation = flow; accepted: gradient%s, or none",
                         own & CONFIG_DERIVED_INTENSITY ? ", intensity" : "");
  if (!(others & CONFIG_DERIVED_INTENSITY)) return STATUS_OK;
  return config_refuse(
      c, "output", "derived",
      "the intensity is one of sound, of physics.equation = acoustics; accepted: gradient%s, "
      "or none",
      own & CONFIG_DERIVED_FLOW ? ", vorticity, q_criterion, dilatation, mach, temperature, density_gradient"
                                : "");
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
    const size_t used = strlen(accepted);
    (void)snprintf(accepted + used, sizeof accepted - used, ", %s",
                   i < count ? names[i] : derived[i - count]);
  }
  for (int i = 0; i < config->unit_count; i++) {
    const char *name = config->units[i].name;
    if (is_among(name, 2, always) || is_among(name, count, names) || is_among(name, others, derived))
      continue;
    (void)snprintf(subject, sizeof subject, CONFIG_UNITS ".%s = %s", name, config->units[i].text);
    return config_fail(config->file, config->unit_line[i], subject,
                       "nothing of this run has that name; accepted: %s", accepted);
  }
  return STATUS_OK;
}

status config_output_check(const config *c) {
  CHECK(check_probes(c));
  CHECK(check_slices(c));
  CHECK(check_kept(c));
  return check_derived(c);
}
