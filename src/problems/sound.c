#include "problems/sound.h"

#include <math.h>
#include <stdlib.h>

#include "problems/medium.h"
#include "problems/rounded.h"
#include "problems/source.h"

static problem_sound kind_of(const config *config) {
  return cases_at(config->initial)->sound;
}

/* Returns 1 if the ends of an axis leave the wave as it is. At free ends the pressure is zero, so the
 * background must be, too. A wave along an absorbing end, or one that travels into an end, is changed. */
static int fits(const config *config, int d) {
  const config_end low = config->ends[d][GRID_LOW], high = config->ends[d][GRID_HIGH];
  const int walls = low == CONFIG_END_WALL && high == CONFIG_END_WALL;
  const int free = low == CONFIG_END_FREE || high == CONFIG_END_FREE;
  if (low == CONFIG_END_PERIODIC) return 1;
  if ((low == CONFIG_END_WALL && config->absorbed[d][GRID_LOW] > 0.0) ||
      (high == CONFIG_END_WALL && config->absorbed[d][GRID_HIGH] > 0.0))
    return 0;
  if (kind_of(config) == SOUND_TRAVELS) return walls && config->wave_number[d] == 0;
  return low != CONFIG_END_ABSORBING && high != CONFIG_END_ABSORBING && !(free && config->background != 0.0);
}

int sound_known(const config *config) {
  const int sourced = config->source_points[0] != '\0' || config->source_file[0] != '\0';
  return !sourced && !source_given(config) && !medium_varies(config) && kind_of(config) != SOUND_UNKNOWN &&
         fits(config, 0) && fits(config, 1) && fits(config, 2);
}

/* The component of k along an axis divided by |k|; 0 for waves of zero wave number. */
static double direction(const config *config, int d) {
  const double squared = problem_waves_squared(config);
  return squared > 0.0 ? problem_wave(config, d) / sqrt(squared) : 0.0;
}

static double entry(const config *config, int component, int d, double x, problem_sound kind) {
  const double k = problem_wave(config, d);
  if (kind == SOUND_TRAVELS) return k * (x - config->center[d]);
  return component == d ? problem_standing_slope(config, d, x) : problem_standing(config, d, x);
}

/* The factor of the shape. */
static double height_of(const sound_wave *wave, const config *config, int component) {
  const double impedance = config->density * config->sound_speed;
  if (component == SOUND_PRESSURE)
    return wave->kind == SOUND_TRAVELS ? config->amplitude : config->amplitude * rounded_cos(wave->swing);
  const double along = config->amplitude / impedance * direction(config, component);
  if (wave->kind == SOUND_TRAVELS) return along;
  return wave->kind == SOUND_STANDS ? along * rounded_sin(wave->swing) : 0.0;
}

status sound_open(const config *config, const grid *grid, double time, int component, sound_wave *wave) {
  *wave = (sound_wave){.grid = grid, .kind = kind_of(config)};
  if (component == SOUND_PRESSURE) wave->offset = config->background;
  if (component == SOUND_PRESSURE && time == 0.0) {
    wave->is_pressure_at_start = 1;
    return cases_open(config, grid, time, &wave->pressure);
  }
  wave->swing = config->sound_speed * sqrt(problem_waves_squared(config)) * time;
  wave->height = height_of(wave, config, component);
  for (int d = 0; d < 3; d++) {
    wave->table[d] = malloc((size_t)grid->n[d] * sizeof(double));
    if (wave->table[d] == NULL) {
      sound_close(wave);
      return status_fail(STATUS_MEMORY, "no memory for tables of the sound wave");
    }
    for (int64_t i = 0; i < grid->n[d]; i++)
      wave->table[d][i] = entry(config, component, d, grid_position(grid, d, i), wave->kind);
  }
  return STATUS_OK;
}

void sound_close(sound_wave *wave) {
  if (wave->is_pressure_at_start) cases_close(&wave->pressure);
  for (int d = 0; d < 3; d++) {
    free(wave->table[d]);
    wave->table[d] = NULL;
  }
}

void sound_row(const void *user, int64_t z, int64_t y, double *row) {
  const sound_wave *wave = user;
  if (wave->is_pressure_at_start) {
    cases_row(&wave->pressure, z, y, row);
    return;
  }
  for (int64_t x = 0; x < wave->grid->n[0]; x++) {
    const double at[3] = {wave->table[0][x], wave->table[1][y], wave->table[2][z]};
    double shape = 0.0;
    if (wave->height != 0.0)
      shape = wave->kind == SOUND_TRAVELS ? rounded_cos(at[0] + at[1] + at[2] - wave->swing)
                                          : at[0] * at[1] * at[2];
    row[x] = wave->offset + wave->height * shape;
  }
}

status sound_verdict(const sound_wave *wave) {
  return wave->is_pressure_at_start ? cases_verdict(&wave->pressure) : STATUS_OK;
}
