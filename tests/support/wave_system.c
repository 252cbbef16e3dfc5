#include "wave_system.h"

#include <math.h>
#include <stdlib.h>

enum { PRESSURE, VELOCITY, UNKNOWNS = 4 };

static const double pi = 3.14159265358979323846;
static const char *const names[UNKNOWNS] = {"p", "u", "v", "w"};

typedef struct wave {
  stencil stencil;
  field scratch[3]; /* grad p, or div u in the first */
  int scratch_count;
} wave;

static int yes(const config *config) {
  (void)config;
  return 1;
}

static int array_count(const config *config) {
  (void)config;
  return 3;
}

static status find_rates(const config *config, const grid *grid, schedule_rates *rates) {
  (void)config;
  for (int d = 0; d < 3; d++) rates->advection += WAVE_SPEED / grid->h[d];
  return STATUS_OK;
}

double wave_modified(const config *config, int d) {
  static const double series[4] = {1.0, 2.0 / 3.0, 8.0 / 15.0,
                                   16.0 / 35.0}; /* of arcsin(s) cos(asin s)/s^.. in s^2 */
  const double points = (double)config->n[d], theta = 2.0 * pi * config->wave_number[d] / points;
  double sum = 0.0;
  for (int i = 0; i < config->order / 2; i++) sum += series[i] * pow(sin(0.5 * theta), 2 * i);
  return sin(theta) * sum * points / config->l[d];
}

double wave_phase(const config *config, int64_t x, int64_t y, int64_t z) {
  const int64_t at[3] = {x, y, z};
  double phase = 0.3;
  for (int d = 0; d < 3; d++)
    phase += 2.0 * pi * config->wave_number[d] * (double)at[d] / (double)config->n[d];
  return phase;
}

typedef struct row_of {
  const config *config;
  double amplitude;
} row_of;

static void fill_row(const void *user, int64_t z, int64_t y, double *row) {
  const row_of *of = user;
  for (int64_t x = 0; x < of->config->n[0]; x++)
    row[x] = of->amplitude * cos(wave_phase(of->config, x, y, z));
}

static status fill(const config *config, const grid *grid, double time, int unknown, field *field) {
  (void)time;
  double squares = 0.0;
  for (int d = 0; d < 3; d++) squares += pow(wave_modified(config, d), 2);
  const double along = unknown == PRESSURE ? 1.0 : wave_modified(config, unknown - VELOCITY) / sqrt(squares);
  const row_of of = {.config = config, .amplitude = along};
  return field_fill(field, grid->z0, grid->n[2], 0, fill_row, &of);
}

static status create(const config *config, const grid *grid, const field_space *space, void **self) {
  wave *wave = calloc(1, sizeof *wave);
  *self = wave;
  if (wave == NULL) return status_fail(STATUS_MEMORY, "no memory for the wave equation");
  wave->stencil = stencil_make(config->order, grid->h);
  for (int i = 0; i < 3; i++) {
    CHECK(field_create(space, &wave->scratch[i]));
    wave->scratch_count++;
  }
  return STATUS_OK;
}

static void destroy(void *self) {
  wave *wave = self;
  if (wave == NULL) return;
  for (int i = 0; i < wave->scratch_count; i++) field_destroy(&wave->scratch[i]);
  free(wave);
}

static status advance(void *self, const stage *stage) {
  const wave *wave = self;
  const kernels_launch launch = stage_launch(stage, &wave->stencil);
  const kernels *backend = wave->scratch[0].backend;
  const field *f = stage->f->part;
  const void *const velocity[3] = {f[1].data, f[2].data, f[3].data};
  void *const scratch[3] = {wave->scratch[0].data, wave->scratch[1].data, wave->scratch[2].data};
  for (int i = 0; i < UNKNOWNS; i++) CHECK(stage_combine(stage, &launch, i));
  CHECK(apply_divergence(backend, &launch, velocity, scratch[0]));
  CHECK(stage_add(stage, &launch, PRESSURE, -WAVE_SPEED, &wave->scratch[0]));
  CHECK(apply_gradient(backend, &launch, f[PRESSURE].data, scratch));
  for (int d = 0; d < 3; d++) CHECK(stage_add(stage, &launch, VELOCITY + d, -WAVE_SPEED, &wave->scratch[d]));
  return stage_end(stage);
}

const equation wave_system_equation = {.name = "wave",
                                       .unknowns = UNKNOWNS,
                                       .names = names,
                                       .linear = yes,
                                       .steady = yes,
                                       .array_count = array_count,
                                       .rates = find_rates,
                                       .fill = fill,
                                       .create = create,
                                       .destroy = destroy,
                                       .stage = advance};
