#include "problems/medium.h"

#include "settings/equations.h"

const char *const medium_names[CONFIG_MEDIA] = {"sound_speed", "density"};

/* Density times speed squared must fit a float. */
const double medium_accepted[2] = {1e-9, 1e9};

int medium_count(const config *config) {
  if (!equation_is(config, EQUATION_MEDIUM)) return 0;
  return equation_is(config, EQUATION_DENSITY) ? CONFIG_MEDIA : CONFIG_MEDIUM_SPEED + 1;
}

medium_from medium_of(const config *config, int which) {
  if (which >= medium_count(config)) return MEDIUM_CONSTANT;
  if (config->medium[which][0] != '\0') return MEDIUM_FORMULA;
  return config->medium_file[0] != '\0' ? MEDIUM_FILE : MEDIUM_CONSTANT;
}

int medium_varies(const config *config) {
  return medium_of(config, CONFIG_MEDIUM_SPEED) != MEDIUM_CONSTANT ||
         medium_of(config, CONFIG_MEDIUM_DENSITY) != MEDIUM_CONSTANT;
}
