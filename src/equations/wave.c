#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "equations/equation.h"
#include "equations/sound_rates.h"
#include "problems/cases.h"
#include "equations/wave_cpml.h"
#include "equations/wave_sources.h"
#include "equations/wave_supply.h"
#include "problems/medium.h"
#include "settings/scheme.h"
#include "wave_call.h"

/* Waves of pressure in a medium of constant density:
 *
 *     p_tt / c^2 - Laplacian p = 0,
 *
 * by leapfrog schemes (settings/scheme.h). The unknowns are p and p_before, the pressure one step earlier.
 * Beyond a wall the pressure is a mirror image, beyond a free end a negated one, about the point on the end;
 * with the weight 1/2 for that point (H), -H/c^2 times c^2 Laplacian is symmetric, and the schemes conserve
 *
 *     1/2 sum H/c^2 ((p - p_before)^2 - p_before A p)/dt^2,    p_next = 2 p - p_before + A p.
 *
 * Absorbing ends are walls with p_tt += -2 c/h p_t at the point on the end, p_t taken from p_next and
 * p_before. At t = 0 the medium is at rest: p_before = p + A p/2 with dt^4/24 in the place of dt^4/12. */
enum { PRESSURE, BEFORE, UNKNOWNS };

static const char *const names[UNKNOWNS] = {"p", "p_before"}, *const supplied[UNKNOWNS] = {"p", NULL};

typedef struct wave {
  const config *config;
  const grid *grid;
  const kernels *backend;
  const field_space *space;
  stencil stencil;
  kernels_wave step; /* without its arrays */
  field factor;      /* K = c^2 dt^2 */
  medium medium;
  wave_cpml cpml;
  wave_sources sources;
  wave_supply supply;
  double dt;
} wave;

static int is_fourth(const config *config) {
  return schemes_all(config->scheme)->leap == 4;
}

/* K, and the arrays of a source, of which leapfrog4 makes one from K S. */
static int count_arrays(const config *config) {
  return 1 + (!source_given(config) ? 0 : is_fourth(config) ? 3 : 1);
}

static int stage_words(const config *config) {
  return !source_given(config) ? 0 : is_fourth(config) ? 2 : 1;
}

static status find_limit(const config *config, const grid *grid, const schedule_rates *rates, double dt,
                         equation_limit *limit) {
  (void)grid;
  limit->step = config_wave_limit(config) / rates->advection;
  limit->bound = medium_varies(config);
  (void)snprintf(limit->words, EQUATION_WORDS, EQUATION_BEYOND, dt * rates->advection,
                 config_wave_limit(config), schemes_all(config->scheme)->name, config->order);
  return STATUS_OK;
}

static int is_known(const config *config, double time) {
  (void)config;
  return time == 0.0;
}

/* A row of the initial pressure, which is zero on free ends. */
static void fill_row(const void *user, int64_t z, int64_t y, double *row) {
  const cases_solution *solution = user;
  const config *config = solution->config;
  const int64_t *n = solution->grid->n;
  cases_row(solution, z, y, row);
  for (int i = 0; i < 6; i++) {
    const int d = i / 2, end = i % 2;
    const int64_t last = end == GRID_HIGH ? n[d] - 1 : 0;
    if (config->ends[d][end] != CONFIG_END_FREE) continue;
    if (d == AXIS_X) row[last] = 0.0;
    if ((d == AXIS_Y && y == last) || (d == AXIS_Z && z == last)) {
      for (int64_t x = 0; x < n[0]; x++) row[x] = 0.0;
    }
  }
}

static status fill(const config *config, const grid *grid, double time, int unknown, field *field) {
  cases_solution solution;
  if (unknown == BEFORE) return STATUS_OK; /* `start` */
  CHECK(cases_open(config, grid, time, &solution));
  status result = field_fill(field, grid->z0, grid->n[2], 0, fill_row, &solution);
  if (result == STATUS_OK) result = cases_verdict(&solution);
  cases_close(&solution);
  return result;
}

/* What a field continues as beyond an end of axis d, if that is this slab's. */
static wave_image image_at(const config *config, const grid *grid, int d, int end) {
  static const wave_image images[] = {[CONFIG_END_PERIODIC] = WAVE_PERIODIC,
                                      [CONFIG_END_WALL] = WAVE_EVEN,
                                      [CONFIG_END_FREE] = WAVE_ODD,
                                      [CONFIG_END_ABSORBING] = WAVE_EVEN,
                                      [CONFIG_END_LAYER] = WAVE_ZERO};
  if (d == AXIS_Z && grid_neighbour(grid, end) >= 0) return WAVE_PERIODIC;
  return images[config->ends[d][end]];
}

static status create(const config *config, const grid *grid, const field_space *space, void **self) {
  wave *wave = calloc(1, sizeof *wave);
  *self = wave;
  if (wave == NULL) return status_fail(STATUS_MEMORY, "no memory for the equation");
  *wave = (struct wave){.config = config,
                        .grid = grid,
                        .backend = space->backend,
                        .space = space,
                        .stencil = stencil_make(config->order, grid->h),
                        .step = {.task = WAVE_STEP, .twice = is_fourth(config), .scale = {1.0, 1.0 / 12.0}}};
  for (int d = 0; d < 3; d++) {
    for (int end = 0; end < GRID_ENDS; end++) {
      const wave_image image = image_at(config, grid, d, end);
      wave->step.ends[d][end] = image;
      wave->step.absorbs[d][end] = image != WAVE_PERIODIC && config->ends[d][end] == CONFIG_END_ABSORBING;
    }
  }
  return field_create(space, &wave->factor);
}

static void destroy(void *self) {
  wave *wave = self;
  if (wave == NULL) return;
  field_destroy(&wave->factor);
  wave_sources_close(&wave->sources);
  wave_supply_close(&wave->supply);
  wave_cpml_close(&wave->cpml);
  medium_close(&wave->medium);
  free(wave);
}

/* Sets the halo planes of a field beyond ends of z. */
static status set_images(const wave *wave, const field *field, const wave_image ends[2]) {
  const kernels_launch launch = field_launch(field, &wave->stencil);
  const kernels_wave call = {.task = WAVE_IMAGES,
                             .ends = {[AXIS_Z] = {ends[0], ends[1]}},
                             .depth = field->depth,
                             .out = field->data};
  return wave->backend->wave(&launch, &call);
}

static void factor_row(const void *user, int64_t z, int64_t y, double *row) {
  const wave *wave = user;
  for (int64_t x = 0; x < wave->grid->n[0]; x++)
    row[x] = medium_at(&wave->medium, z, y, x).stiffness * wave->dt * wave->dt;
}

/* A step from the state, as `call` says, into `out`. */
static status advance(const wave *wave, const kernels_launch *launch, kernels_wave call, const field *p,
                      const field *before, const field *out) {
  CHECK(set_images(wave, p, call.ends[AXIS_Z]));
  call.factor = wave->factor.data;
  call.p = p->data;
  call.before = before->data;
  call.out = out->data;
  return wave->backend->wave(launch, &call);
}

/* Makes the second array of a source from K S: K/12 L(K S), of which ends keep what they keep of a step. */
static status make_supply(wave *wave) {
  field *array = &wave->supply.array[1], made;
  kernels_wave call = wave->step;
  if (wave->supply.count < 2) return STATUS_OK;
  call.plain = 1;
  call.twice = 0;
  call.scale[0] = call.scale[1];
  CHECK(field_create(wave->space, &made));
  const kernels_launch launch = field_launch(&made, &wave->stencil);
  status result = advance(wave, &launch, call, array, array, &made);
  if (result == STATUS_OK) result = wave_supply_keep(&wave->medium, &wave->step, wave->dt, array);
  const kernels_call product = {
      .kind = OPERATION_product, .in = {made.data, array->data}, .out = {array->data}};
  if (result == STATUS_OK) result = wave->backend->apply(&launch, &product);
  if (result == STATUS_OK) result = wave->backend->queue_wait(wave->space->context, QUEUE_MAIN);
  field_destroy(&made);
  return result;
}

static status settle(void *self, double dt, const schedule_rates *rates) {
  wave *wave = self;
  const double *h = wave->grid->h;
  const double fastest =
      rates->advection / sqrt(1.0 / (h[0] * h[0]) + 1.0 / (h[1] * h[1]) + 1.0 / (h[2] * h[2]));
  wave_image ends[2];
  wave->dt = dt;
  for (int end = 0; end < GRID_ENDS; end++) {
    const wave_image image = wave->step.ends[AXIS_Z][end];
    ends[end] = image == WAVE_ODD ? WAVE_EVEN : image;
  }
  CHECK(medium_open(wave->config, wave->grid, &wave->medium));
  CHECK(field_fill(&wave->factor, wave->grid->z0, wave->grid->n[2], 1, factor_row, wave));
  CHECK(set_images(wave, &wave->factor, ends));
  CHECK(wave_cpml_open(wave->config, wave->grid, &wave->factor, &wave->step, fastest, dt, &wave->cpml));
  CHECK(wave_supply_open(wave->space, &wave->medium, &wave->step, dt, &wave->supply));
  CHECK(make_supply(wave));
  const wave_sourced of = {.medium = &wave->medium, .step = &wave->step, .stencil = &wave->stencil, .dt = dt};
  return wave_sources_open(wave->config, wave->grid, wave->space, &of, &wave->sources);
}

static status take_step(void *self, const stage *stage) {
  wave *wave = self;
  kernels_wave step = wave->step;
  const field *part = stage->f->part;
  const kernels_launch launch = stage_launch(stage, &wave->stencil);
  const field *out = &stage->out->part[BEFORE];
  step.layers = wave->cpml.layers;
  CHECK(advance(wave, &launch, step, &part[PRESSURE], &part[BEFORE], out));
  CHECK(wave_sources_add(&wave->sources, &launch, stage->time, 1.0, out));
  return wave_supply_add(&wave->supply, &launch, stage->time, out);
}

/* With p in the place of p_before and half of both Laplacians the formula of a step is that of the start. */
static status start(void *self, state *state) {
  const wave *wave = self;
  const field *part = state->part;
  const kernels_launch launch = field_launch(part, &wave->stencil);
  kernels_wave call = wave->step;
  call.scale[0] *= 0.5;
  for (int i = 0; i < 6; i++) call.absorbs[i / 2][i % 2] = 0;
  return advance(wave, &launch, call, &part[PRESSURE], &part[PRESSURE], &part[BEFORE]);
}

static uint64_t hash_files(void *self) {
  const wave *wave = self;
  return medium_hash(&wave->medium) + wave->supply.hash + wave_sources_hash(&wave->sources, wave->grid);
}

static status recall(void *self, void *values, int save) {
  wave *wave = self;
  return wave_cpml_recall(&wave->cpml, values, save);
}

static status find_density(void *self, const state *state, struct state *scratch) {
  const wave *wave = self;
  const field *part = state->part, *out = scratch->part;
  const kernels_launch launch = field_launch(part, &wave->stencil);
  kernels_wave call = wave->step;
  call.plain = 1;
  CHECK(advance(wave, &launch, call, &part[PRESSURE], &part[BEFORE], out));
  call = (kernels_wave){.task = WAVE_ENERGY,
                        .factor = wave->factor.data,
                        .p = part[PRESSURE].data,
                        .before = part[BEFORE].data,
                        .operated = out->data,
                        .out = out->data};
  return wave->backend->wave(&launch, &call);
}

/* A wave that begins at rest is a sum of modes cos(omega t), so its norm with the weight 1/c^2 falls; a
 * constant stays unless an end draws it to 0. */
static status find_growth(void *self, const grid *grid, field *work, equation_growth *growth) {
  const wave *wave = self;
  (void)work;
  const int fed = config_sourced(wave->config) || wave->supply.count > 0;
  const int varies = medium_varies(wave->config) || fed || config_layered(wave->config);
  *growth = (equation_growth){.slack = varies ? EQUATION_SLACK_UNKNOWN : EQUATION_SLACK_KEPT, .shifts = 1};
  if (fed) growth->shifts = 0;
  if (config_sourced(wave->config)) growth->largest = wave_sources_largest(&wave->sources, grid);
  growth->largest += wave_supply_largest(&wave->supply, wave->config);
  for (int i = 0; i < 6; i++) {
    const config_end kind = wave->config->ends[i / 2][i % 2];
    if (kind != CONFIG_END_PERIODIC && kind != CONFIG_END_WALL) growth->shifts = 0;
  }
  return STATUS_OK;
}

const equation wave_equation = {.name = "wave",
                                .unknowns = UNKNOWNS,
                                .earlier = 1,
                                .names = names,
                                .array_count = count_arrays,
                                .stage_words = stage_words,
                                .files = hash_files,
                                .supplied = supplied,
                                .rates = sound_rates,
                                .limit = find_limit,
                                .known = is_known,
                                .fill = fill,
                                .create = create,
                                .destroy = destroy,
                                .growth = find_growth,
                                .stage = take_step,
                                .settle = settle,
                                .start = start,
                                .memory = wave_cpml_memory,
                                .recall = recall,
                                .density = find_density};
