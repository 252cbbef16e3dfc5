#include <math.h>
#include <stdlib.h>

#include "equations/equation.h"
#include "problems/sound.h"

/* Sound of small amplitude in a medium at rest, of density r and sound speed c that are constant:
 *
 *     dp/dt = -r c^2 div(u, v, w),    d(u, v, w)/dt = -grad p / r,
 *
 * central differences. The energy 1/2 sum (p^2/(r c^2) + r |velocity|^2) is kept by the differences in space.
 * For each unknown a stage is its sum of earlier states, then the differences of the others. */
enum { PRESSURE, VELOCITY, UNKNOWNS = 4 };

static const char *const names[UNKNOWNS] = {"p", "u", "v", "w"};

typedef struct acoustics {
  const config *config;
  stencil stencil;
  field difference[3]; /* the gradient, or the divergence in the first */
  int count;
} acoustics;

static int yes(const config *config) {
  (void)config;
  return 1;
}

static int array_count(const config *config) {
  (void)config;
  return 3;
}

static double stiffness(const config *config) {
  return config->density * config->sound_speed * config->sound_speed;
}

/* The fastest wave of the grid has the frequency c sqrt(sum (s/h)^2), s the largest value of the difference's
 * symbol, so that the limits of schemes for advection are those of sound. */
static status find_rates(const config *config, const grid *grid, schedule_rates *rates) {
  double squares = 0.0;
  for (int d = 0; d < 3; d++) squares += 1.0 / (grid->h[d] * grid->h[d]);
  *rates = (schedule_rates){.advection = config->sound_speed * sqrt(squares)};
  return STATUS_OK;
}

static int is_known(const config *config, double time) {
  return time == 0.0 || sound_known(config);
}

static void weigh(const config *config, double weight[STATE_FIELDS]) {
  weight[PRESSURE] = 1.0 / stiffness(config);
  for (int d = 0; d < 3; d++) weight[VELOCITY + d] = config->density;
}

static status fill(const config *config, const grid *grid, double time, int unknown, field *field) {
  sound_wave wave;
  const int component = unknown == PRESSURE ? (int)SOUND_PRESSURE : unknown - VELOCITY;
  CHECK(sound_open(config, grid, time, component, &wave));
  status result = field_fill(field, grid->z0, grid->n[2], 0, sound_row, &wave);
  if (result == STATUS_OK) result = sound_verdict(&wave);
  sound_close(&wave);
  return result;
}

static status create(const config *config, const grid *grid, const field_space *space, void **self) {
  acoustics *acoustics = calloc(1, sizeof *acoustics);
  *self = acoustics;
  if (acoustics == NULL) return status_fail(STATUS_MEMORY, "no memory for the equation");
  acoustics->config = config;
  acoustics->stencil = stencil_make(config->order, grid->h);
  for (int i = 0; i < 3; i++) {
    CHECK(field_create(space, &acoustics->difference[i]));
    acoustics->count++;
  }
  return STATUS_OK;
}

static void destroy(void *self) {
  acoustics *acoustics = self;
  if (acoustics == NULL) return;
  for (int i = 0; i < acoustics->count; i++) field_destroy(&acoustics->difference[i]);
  free(acoustics);
}

static status advance(void *self, const stage *stage) {
  const acoustics *a = self;
  const field *f = stage->f->part;
  const kernels *backend = f->backend;
  const kernels_launch launch = stage_launch(stage, &a->stencil);
  const void *const velocity[3] = {f[VELOCITY].data, f[VELOCITY + 1].data, f[VELOCITY + 2].data};
  void *const difference[3] = {a->difference[0].data, a->difference[1].data, a->difference[2].data};
  for (int i = 0; i < UNKNOWNS; i++) CHECK(stage_combine(stage, &launch, i));
  CHECK(apply_divergence(backend, &launch, velocity, difference[0]));
  CHECK(stage_add(stage, &launch, PRESSURE, -stiffness(a->config), &a->difference[0]));
  CHECK(apply_gradient(backend, &launch, f[PRESSURE].data, difference));
  for (int d = 0; d < 3; d++)
    CHECK(stage_add(stage, &launch, VELOCITY + d, -1.0 / a->config->density, &a->difference[d]));
  return stage_end(stage);
}

const equation acoustics_equation = {.name = "acoustics",
                                     .unknowns = UNKNOWNS,
                                     .names = names,
                                     .linear = yes,
                                     .steady = yes,
                                     .array_count = array_count,
                                     .rates = find_rates,
                                     .known = is_known,
                                     .known_later = sound_known,
                                     .fill = fill,
                                     .energy = weigh,
                                     .create = create,
                                     .destroy = destroy,
                                     .stage = advance};
