#include <string.h>

#include "base/text.h"
#include "config/config_table.h"
#include "config/kept.h"
#include "settings/equations.h"
#include "files/dataset.h"
#include "problems/cases.h"
#include "problems/flow_state.h"
#include "problems/formula.h"
#include "problems/medium.h"
#include "problems/source.h"

/* Keys that were given and have no effect. */

static int velocity_varies(const config *config) {
  const velocity_field *velocity = velocities_at(config->velocity);
  formula *factor = NULL;
  if (velocity->from == PROBLEM_FORMULA && config->factor[0] != '\0' &&
      formula_open(config, config->factor, "t", &factor) != STATUS_OK)
    status_clear();
  const int varies = velocity->factor != NULL || (factor != NULL && formula_varies(factor));
  formula_close(factor);
  return equation_is(config, EQUATION_CARRIED) && varies;
}

/* Returns 1 if a text has a name as a word of its own. */
static int has_word(const char *text, const char *name) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  while (*text != '\0') {
    const size_t length = strspn(text, letters);
    if (length == strlen(name) && strncmp(text, name, length) == 0) return 1;
    text += length > 0 ? length : 1;
  }
  return 0;
}

int config_equation_uses(const config *config, const char *name) {
  const char *keys = equation_entries[config->equation].keys;
  return strcmp(name, "equation") == 0 || (keys != NULL && has_word(keys, name));
}

/* Returns 1 if no wall of sound has this absorption. */
static int absorption_idle(const config *config, int key) {
  const size_t each = offsetof(struct config, absorbed), at = config_keys[key].offset;
  int walls = 0;
  for (size_t i = 0; i < 6; i++) {
    const int own = at == each + i * sizeof(double) || at == offsetof(struct config, absorption);
    walls += own && config->ends[i / 2][i % 2] == CONFIG_END_WALL;
  }
  return walls == 0 || !config_equation_uses(config, "absorption");
}

/* Returns 1 for a key of point sources of which their file gives a number for each. */
static int sources_idle(const config *config, const char *name) {
  const int each = strcmp(name, "amplitude") == 0 || strcmp(name, "delay") == 0;
  return each && config->source_file[0] != '\0' && dataset_has(config->source_file, name);
}

/* Returns 1 for places that the equation does not take, and for another key if there are no places. */
static int points_idle(const config *config, const char *name, int any) {
  if (strcmp(name, "points") != 0 && strcmp(name, "file") != 0) return !any;
  return !equation_is(config, EQUATION_MEDIUM);
}

/* Returns 1 for a key of [physics] that needs a viscosity, or Sutherland's law, if the flow has none. The law
 * `constant` is never idle, because it also holds if no law is given. */
static int viscous_idle(const config *config, const char *name) {
  const flow_law law = flow_gas_of(config).law;
  if (strcmp(name, "prandtl") == 0) return law == FLOW_INVISCID;
  if (strcmp(name, "viscosity_law") == 0)
    return law == FLOW_INVISCID && config->viscosity_law == FLOW_SUTHERLAND;
  const int temperature =
      strcmp(name, "viscosity_temperature") == 0 || strcmp(name, "sutherland_temperature") == 0;
  return temperature && law != FLOW_SUTHERLAND;
}

/* Returns 1 for a constant that [medium] replaces. */
static int constant_idle(const config *config, const char *name) {
  for (int i = 0; i < medium_count(config); i++)
    if (strcmp(name, medium_names[i]) == 0) return medium_of(config, i) != MEDIUM_CONSTANT;
  return 0;
}

/* Returns 1 for a key of [medium] that nothing of this medium reads. */
static int medium_idle(const config *config, const char *name) {
  int formulas = 0;
  for (int i = 0; i < medium_count(config); i++) formulas += config->medium[i][0] != '\0';
  if (medium_count(config) == 0) return 1;
  const int file = config->medium_file[0] != '\0';
  if (strcmp(name, "resample") == 0) return !file;
  if (strcmp(name, "average") == 0) return formulas == 0 && !(file && config->medium_resample);
  return strcmp(name, "density") == 0 && !equation_is(config, EQUATION_DENSITY);
}

int config_key_idle(const config *config, int key, int host_memory) {
  const char *section = config_keys[key].section, *name = config_keys[key].name;
  if (strcmp(section, "physics") == 0 &&
      (!config_equation_uses(config, name) || viscous_idle(config, name) || constant_idle(config, name)))
    return 1;
  if (strcmp(section, "velocity") == 0 && !equation_is(config, EQUATION_CARRIED)) return 1;
  if (strcmp(section, "medium") == 0) return medium_idle(config, name);
  if (strcmp(name, "cycles") == 0 && config->wavelet != CONFIG_WAVELET_SINE) return 1;
  if (strcmp(name, "frequency") == 0 && config->wavelet == CONFIG_WAVELET_FILE) return 1;
  if (strcmp(section, "point_sources") == 0)
    return points_idle(config, name, config_sourced(config)) || sources_idle(config, name);
  if (strcmp(section, "receivers") == 0) return points_idle(config, name, config_received(config));
  if (strcmp(section, "statistics") == 0 && strcmp(name, "fields") != 0) return config->statistics[0] == '\0';
  if (strcmp(section, "source") == 0 && strcmp(name, "factor") == 0) return !source_given(config);
  if (strcmp(section, "source") == 0 && strcmp(name, "resample") == 0) return config->source_data[0] == '\0';
  if (strncmp(name, "force_", 6) == 0) return !equation_is(config, EQUATION_GAS);
  if (strncmp(name, "formula_", 8) == 0) return !config_equation_uses(config, name);
  /* with a uniform velocity the three forms are the same stage, bit for bit */
  if (strcmp(name, "form") == 0)
    return equation_is(config, EQUATION_CARRIED) && velocities_at(config->velocity)->uniform;
  const int flows = equation_is(config, EQUATION_GAS);
  if (config_keys[key].offset == offsetof(struct config, formula) && flows) return 1;
  if (config_keys[key].offset == offsetof(struct config, dataset) && flows) return 1;
  if (config_keys[key].offset - offsetof(struct config, gas) < sizeof config->gas && !flows) return 1;
  /* a backend in host memory has no pairs and one transport, as pairs = no and transport = auto say */
  if (strcmp(name, "pairs") == 0) return host_memory && config->pairs == CONFIG_PAIRS_YES;
  if (strcmp(name, "transport") == 0) return host_memory && config->transport != CONFIG_TRANSPORT_AUTO;
  if (strcmp(name, "adaptive") == 0) return !config_equation_uses(config, name) && !velocity_varies(config);
  if (strncmp(name, "absorption", 10) == 0) return absorption_idle(config, key);
  if (strncmp(name, "layer_", 6) == 0) return !config_layered(config);
  if (strcmp(section, "boundary") == 0)
    return strcmp(name, "value") == 0 && !(equation_is(config, EQUATION_CARRIED) && cases_bounded(config));
  if (strncmp(name, "fields_", 7) == 0 && strcmp(name, "fields_every") != 0)
    return !config_ever(config->fields_due);
  /* a run that stops early leaves a checkpoint, too */
  if (strcmp(name, "checkpoint_keep") == 0) return config->checkpoint_every == 0 && config->wall_limit == 0.0;
  if (strcmp(name, "compress") == 0) return config->compress && !config_ever(config->fields_due);
  const int stored = config_ever(config->fields_due) || config->checkpoint_every > 0;
  if (strcmp(section, "output") == 0 && strcmp(name, "overlap") == 0) return !stored;
  const int sliced = config->slices[0] != '\0' && config_ever(config->slices_due);
  if (strcmp(name, "derived") == 0) return !config_ever(config->fields_due) && !sliced;
  if (strcmp(name, "slices") == 0) return config->slices[0] != '\0' && !sliced;
  if (strcmp(name, "probes") == 0) return config->probes[0] != '\0' && !config_ever(config->probes_due);
  if (strncmp(name, "slices_", 7) == 0) return config->slices[0] == '\0';
  if (strncmp(name, "probes_", 7) == 0) return config->probes[0] == '\0';
  const int chooses = strcmp(name, "case") == 0 || strcmp(name, "field") == 0;
  const int of_problem = strcmp(section, "initial") == 0 || strcmp(section, "velocity") == 0;
  return of_problem && !chooses && !problem_uses(config, section, name);
}

static int uses_constant(const config *c, const char *name) {
  const int moves = equation_is(c, EQUATION_CARRIED) && velocities_at(c->velocity)->from == PROBLEM_FORMULA;
  const int formula = cases_at(c->initial)->from == PROBLEM_FORMULA, flows = equation_is(c, EQUATION_GAS);
  int used = formula && !flows && has_word(c->formula, name);
  for (int i = 0; i < FLOW_UNKNOWNS; i++) used = used || (formula && flows && has_word(c->gas[i], name));
  for (int d = 0; d < 3; d++) used = used || (moves && has_word(c->component[d], name));
  used = used || (moves && has_word(c->factor, name));
  for (int i = 0; i < medium_count(c); i++) used = used || has_word(c->medium[i], name);
  for (int i = 0; i < CONFIG_SOURCES; i++) used = used || has_word(c->source[i], name);
  used = used || (source_given(c) && has_word(c->source_factor, name));
  return used || (equation_is(c, EQUATION_CARRIED) && cases_bounded(c) && has_word(c->entering, name));
}

int config_is_idle(const config *config, const char *section, const char *name) {
  if (strcmp(section, CONFIG_CONSTANTS) == 0) return !uses_constant(config, name);
  const int key = config_key_find(section, name);
  return key >= 0 && config_key_idle(config, key, 0);
}

const char *config_without_effect(const config *config, int host_memory, char text[CONFIG_NAMES_SIZE]) {
  text[0] = '\0';
  for (int i = 0; i < CONFIG_KEY_COUNT; i++) {
    if (config->line[i] == CONFIG_LINE_NONE || !config_key_idle(config, i, host_memory)) continue;
    text_add(text, CONFIG_NAMES_SIZE, ", ", "%s.%s", config_keys[i].section, config_keys[i].name);
  }
  for (int i = 0; i < config->constant_count; i++) {
    if (config->constant_line[i] == CONFIG_LINE_NONE || uses_constant(config, config->constants[i].name))
      continue;
    text_add(text, CONFIG_NAMES_SIZE, ", ", CONFIG_CONSTANTS ".%s", config->constants[i].name);
  }
  return text;
}
