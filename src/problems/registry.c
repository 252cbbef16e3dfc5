#include "problems/problem.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "problems/rounded.h"
#include "settings/equations.h"

/* X(NAME): the object in cases/NAME.c or velocities/NAME.c. */
#define CASES(X)                                                                                             \
  X(cosine)                                                                                                  \
  X(gaussian)                                                                                                \
  X(sphere)                                                                                                  \
  X(slotted)                                                                                                 \
  X(sphere_distance)                                                                                         \
  X(slotted_distance)                                                                                        \
  X(blob)                                                                                                    \
  X(shear_layer)                                                                                             \
  X(manufactured)                                                                                            \
  X(plane_wave)                                                                                              \
  X(taylor_green_vortex)                                                                                     \
  X(isentropic_vortex)                                                                                       \
  X(density_wave)                                                                                            \
  X(shear_wave)                                                                                              \
  X(sound_wave)                                                                                              \
  X(formula)                                                                                                 \
  X(file)
#define VELOCITIES(X) X(uniform) X(rotation) X(deformation) X(abc) X(taylor_green) X(formula) X(file)

#define X(name) extern const initial_case case_##name;
CASES(X)
#undef X
#define X(name) extern const velocity_field velocity_##name;
VELOCITIES(X)
#undef X

static const initial_case *const cases[] = {
#define X(name) &case_##name,
    CASES(X)
#undef X
};

static const velocity_field *const velocities[] = {
#define X(name) &velocity_##name,
    VELOCITIES(X)
#undef X
};

const initial_case *cases_at(int index) {
  return index >= 0 && index < (int)(sizeof cases / sizeof cases[0]) ? cases[index] : NULL;
}

const velocity_field *velocities_at(int index) {
  return index >= 0 && index < (int)(sizeof velocities / sizeof velocities[0]) ? velocities[index] : NULL;
}

int cases_find(const char *name) {
  for (int i = 0; cases_at(i) != NULL; i++) {
    if (strcmp(cases_at(i)->name, name) == 0) return i;
  }
  return -1;
}

int velocities_find(const char *name) {
  for (int i = 0; velocities_at(i) != NULL; i++) {
    if (strcmp(velocities_at(i)->name, name) == 0) return i;
  }
  return -1;
}

static int contains(const char *const *keys, const char *key) {
  while (*keys != NULL && strcmp(*keys, key) != 0) keys++;
  return *keys != NULL;
}

int problem_uses(const config *config, const char *section, const char *name) {
  char key[64];
  (void)snprintf(key, sizeof key, "%s.%s", section, name);
  return contains(cases_at(config->initial)->keys, key) ||
         contains(velocities_at(config->velocity)->keys, key);
}

int problem_factor_allowed(double factor) {
  return fabs(factor) <= 1.0 + 1e-12;
}

double problem_nearest(double x, double length) {
  return x - length * round(x / length);
}

int problem_bounded(const config *config, int d) {
  return config->ends[d][GRID_LOW] != CONFIG_END_PERIODIC;
}

int problem_outside(const config *config, int d, double at) {
  const double slack = PROBLEM_SLACK * config->l[d];
  return !(at >= -slack) || !(at <= config->l[d] + slack);
}

double problem_offset(const config *config, int d, double x) {
  return problem_bounded(config, d) ? x : problem_nearest(x, config->l[d]);
}

int problem_closure(const config *config) {
  const int own = equation_entries[config->equation].closure;
  return own > 0 ? own : config->order;
}

status problem_grid(const config *config, int ranks, int rank, grid *grid) {
  CHECK(grid_make(config->n, config->l, ranks, rank, grid));
  for (int d = 0; d < 3; d++) {
    if (problem_bounded(config, d)) CHECK(grid_bound(grid, d, problem_closure(config)));
  }
  return STATUS_OK;
}

/* Returns 1 if standing waves are zero on an end. */
static int is_free(const config *config, int d, int end) {
  return config->ends[d][end] == CONFIG_END_FREE || config->ends[d][end] == CONFIG_END_DIRICHLET;
}

double problem_wave(const config *config, int d) {
  const int low = is_free(config, d, GRID_LOW), high = is_free(config, d, GRID_HIGH);
  const int wall = config->ends[d][low ? GRID_HIGH : GRID_LOW] == CONFIG_END_WALL;
  const double whole = config->wave_number[d] - (low != high && wall ? 0.25 : 0.0);
  return 2.0 * PROBLEM_PI * whole / config->l[d];
}

double problem_standing(const config *config, int d, double x) {
  const double phase = problem_wave(config, d) * x;
  return is_free(config, d, GRID_LOW) ? rounded_sin(phase) : rounded_cos(phase);
}

double problem_standing_slope(const config *config, int d, double x) {
  const double phase = problem_wave(config, d) * x;
  return is_free(config, d, GRID_LOW) ? -rounded_cos(phase) : rounded_sin(phase);
}

double problem_waves_squared(const config *config) {
  double sum = 0.0;
  for (int d = 0; d < 3; d++) sum += problem_wave(config, d) * problem_wave(config, d);
  return sum;
}
