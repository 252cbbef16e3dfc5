#include "problems/medium.h"

#include "settings/equations.h"

const char *const medium_names[CONFIG_MEDIA] = {"sound_speed", "density"};

int medium_count(const config *config) {
  if (config->equation == EQUATION_wave) return CONFIG_MEDIUM_SPEED + 1;
  return config->equation == EQUATION_acoustics ? CONFIG_MEDIA : 0;
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
