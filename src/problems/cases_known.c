#include <stdio.h>
#include <string.h>

#include "problems/cases.h"
#include "problems/source.h"

/* Times at which the solution of a problem is known, derived from its case and velocity. */

static const initial_case *case_of(const config *config) {
  return cases_at(config->initial);
}

static const velocity_field *velocity_of(const config *config) {
  return velocities_at(config->velocity);
}

int cases_has_source(const config *config) {
  return case_of(config)->source != NULL;
}

static int has_open_end(const config *config) {
  for (int d = 0; d < 3; d++) {
    if (config->ends[d][GRID_LOW] == CONFIG_END_OPEN || config->ends[d][GRID_HIGH] == CONFIG_END_OPEN)
      return 1;
  }
  return 0;
}

/* Returns 1 if the case is still known after the velocity's motion in an unbounded domain. With open ends it
 * is not known with diffusion, because diffusion has no flux through them. */
static int is_carried(const config *config) {
  const unsigned motion = velocity_of(config)->motion & case_of(config)->known_after;
  if (has_open_end(config) && config->diffusivity > 0.0) return 0;
  return motion != 0 && (config->diffusivity == 0.0 || (motion == PROBLEM_SHIFT && case_of(config)->spreads));
}

static int is_held(const config *config) {
  const velocity_field *velocity = velocity_of(config);
  return velocity->holds == NULL || velocity->holds(config, case_of(config)->reach * config->width);
}

int cases_bounded(const config *config) {
  return problem_bounded(config, 0) || problem_bounded(config, 1) || problem_bounded(config, 2);
}

/* Returns 1 if the solution can be known at a time > 0, provided that the inflow is the solution, too. */
static int may_exist(const config *config) {
  return !source_given(config) && (cases_has_source(config) || (is_carried(config) && is_held(config)));
}

int cases_exact_can_enter(const config *config) {
  return may_exist(config) && (cases_has_source(config) || velocity_of(config)->known == NULL);
}

int cases_exact_exists(const config *config) {
  return may_exist(config) && (!cases_bounded(config) || strcmp(config->entering, CONFIG_EXACT) == 0);
}

int cases_exact_known(const config *config, double time) {
  const velocity_field *velocity = velocity_of(config);
  if (time == 0.0) return 1;
  if (!cases_exact_exists(config)) return 0;
  return cases_has_source(config) || velocity->known == NULL || velocity->known(config, time);
}

const char *cases_exact_text(const config *config, char text[CASES_TEXT]) {
  const velocity_field *velocity = velocity_of(config);
  const char *more = "";
  if (!cases_exact_exists(config)) {
    if (is_carried(config)) more = may_exist(config) ? "another value enters" : velocity->otherwise;
    if (source_given(config)) more = "there is a source";
    (void)snprintf(text, CASES_TEXT, "not known%s%s", more[0] != '\0' ? ": " : "", more);
  } else {
    if (!cases_has_source(config) && velocity->when != NULL) more = velocity->when;
    (void)snprintf(text, CASES_TEXT, "known%s%s", more[0] != '\0' ? " " : "", more);
  }
  return text;
}
