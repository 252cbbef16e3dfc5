#include "problems/source.h"

#include <math.h>

#include "settings/equations.h"

int source_forced(const config *config) {
  const double *force = config->force;
  return equation_is(config, EQUATION_GAS) && (force[0] != 0.0 || force[1] != 0.0 || force[2] != 0.0);
}

int source_given(const config *config) {
  if (source_forced(config)) return 1;
  for (int i = 0; i < CONFIG_SOURCES; i++)
    if (config->source[i][0] != '\0') return 1;
  return config->source_data[0] != '\0';
}

const char *source_key(int index) {
#define X(name, help) "source.formula_" #name,
  static const char *const keys[] = {"source.formula", CONFIG_SOURCE_LIST(X)};
#undef X
  return keys[index];
}

status source_factor(const config *config, formula **factor) {
  *factor = NULL;
  return source_given(config) ? formula_open(config, config->source_factor, "t", factor) : STATUS_OK;
}

double source_factor_at(formula *factor, double time) {
  return formula_at(factor, (const double[FORMULA_VARIABLES]){time});
}

double source_factor_most(formula *factor, double from, double to) {
  enum { TIMES = 1000 };
  double most = 0.0;
  for (int i = 0; i <= TIMES && factor != NULL; i++)
    most = fmax(most, fabs(source_factor_at(factor, from + (to - from) * i / TIMES)));
  return most;
}
