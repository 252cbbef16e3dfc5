#include <math.h>
#include <stdlib.h>

#include "equations/acoustics.h"
#include "equations/sound_rates.h"
#include "equations/wave_sources.h"
#include "problems/sound.h"

/* Linear acoustics of a medium at rest with density r and sound speed c:
 *
 *     dp/dt = -r c^2 div(u, v, w),    d(u, v, w)/dt = -grad p / r,
 *
 * by central differences, which conserve the energy 1/2 sum (p^2/(r c^2) + r |velocity|^2). Upwind
 * differences add c times the dissipation of p along all axes, and of each velocity component along its own;
 * in one dimension that is the upwind difference of the waves p + r c u and p - r c u, and the energy falls.
 * A stage is two operations: one computes p, the other the three velocities.
 *
 * Ends are imposed by penalties (M. H. Carpenter, D. Gottlieb and S. Abarbanel, J. Comput. Phys. 111 (1994)
 * 220). With s = -1 at the low end and 1 at the high one, u the velocity along the axis, w the first weight
 * of the closure, Z = r c and q = p - s Z u:
 *
 *     wall        dp/dt += s r c^2 (u - s p/Z_w)/(h w)                   loses p^2/Z_w
 *     free                                 du/dt += s p/(r h w)          conserves the energy
 *     absorbing   dp/dt -= r c^2 q/(2 Z h w), du/dt += s q/(2 r h w)     loses (p^2/Z + Z u^2)/2
 *
 * A wall of absorption A reflects the share R = sqrt(1 - A) of the pressure at a right angle and has the
 * impedance Z_w = Z (1 + R)/(1 - R); with A = 0, 1/Z_w is 0. No end is stiff, as Z_w >= Z.
 *
 * The code has them as parts of the divergence and of the gradient, before these are multiplied by -r c^2 and
 * -1/r.
 *
 * r and c may vary: the stiffness K = r c^2 and the volume 1/r are fields, which multiply both operations at
 * the point, and ends take those of their point. Diagonal factors commute with the quadrature, so all of the
 * above holds for the energy with the local factors. The dissipation of p then is K/Z_max times that of
 * upwind differences, that of the velocity Z_min/r: with constants before the symmetric difference the energy
 * falls in any medium, and both are at most c. */
enum { PRESSURE, VELOCITY, UNKNOWNS = 4 };

static const char *const names[UNKNOWNS] = {"p", "u", "v", "w"};

typedef struct acoustics {
  const config *config;
  stencil stencil;
  kernels_ends ends;
  kernels_coupling divergence, gradient; /* of the velocity along an axis and p; of p and that velocity */
  const kernels *backend;
  kernels_context *context;
  wave_sources sources;
  int varies;
  field stiffness, volume; /* if it varies; without halos */
  uint64_t files;
  schedule_rates rates; /* of all ranks */
} acoustics;

static int yes(const config *config) {
  (void)config;
  return 1;
}

static int is_steady(const config *config) {
  return !config_sourced(config);
}

static double stiffness(const config *config) {
  return config->density * config->sound_speed * config->sound_speed;
}

static int is_upwind(const config *config) {
  return config->difference == CONFIG_DIFFERENCE_UPWIND;
}

static int is_uniform(const config *config) {
  return !medium_varies(config);
}

static int count_arrays(const config *config) {
  return medium_varies(config) ? 2 : 0;
}

static int is_known(const config *config, double time) {
  return time == 0.0 || sound_known(config);
}

static void weigh(const void *self, double weight[STATE_FIELDS]) {
  const acoustics *a = self;
  const double *own = a->rates.own;
  weight[PRESSURE] = a->varies ? own[SOUND_SLOWNESS] * own[SOUND_ADMITTANCE] : 1.0 / stiffness(a->config);
  for (int d = 0; d < 3; d++)
    weight[VELOCITY + d] = a->varies ? own[SOUND_SLOWNESS] * own[SOUND_IMPEDANCE] : a->config->density;
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

/* Sets the penalties at the ends of axis d, for the divergence and for the gradient. Where the medium varies,
 * the kernels multiply those of the term's own unknown by c instead of K/Z and Z/r (kernels_coupling). */
static void couple(const config *config, const grid *grid, int d, acoustics *acoustics) {
  const double share = 1.0 / (grid->h[d] * grid_weight(grid, d, 0));
  const double impedance = acoustics->varies ? 1.0 : config->density * config->sound_speed;
  for (int end = 0; end < GRID_ENDS; end++) {
    double *divergence = acoustics->divergence.weight[d][end], *gradient = acoustics->gradient.weight[d][end];
    const double outwards = end == GRID_LOW ? -share : share;
    const config_end kind = config->ends[d][end];
    const double reflected = sqrt(1.0 - config->absorbed[d][end]);
    if (kind == CONFIG_END_WALL) divergence[0] = -outwards;
    if (kind == CONFIG_END_WALL) divergence[1] = share * (1.0 - reflected) / ((1.0 + reflected) * impedance);
    if (kind == CONFIG_END_FREE) gradient[0] = -outwards;
    if (kind != CONFIG_END_ABSORBING) continue;
    divergence[0] = -0.5 * outwards;
    divergence[1] = 0.5 * share / impedance;
    gradient[0] = -0.5 * outwards;
    gradient[1] = 0.5 * share * impedance;
  }
}

static status create_ends(const config *config, const grid *grid, const field_space *space,
                          acoustics *acoustics) {
  acoustics->ends = grid_kernels_ends(grid);
  acoustics->backend = space->backend;
  acoustics->context = space->context;
  for (int d = 0; d < 3; d++) couple(config, grid, d, acoustics);
  return kernels_ends_open(space->backend, space->context, space->shape.precision, &acoustics->stencil,
                           &acoustics->ends);
}

static void stiffness_row(const void *user, int64_t z, int64_t y, double *row) {
  const medium *medium = user;
  for (int64_t x = 0; x < medium->grid->n[0]; x++) row[x] = medium_at(medium, z, y, x).stiffness;
}

static void volume_row(const void *user, int64_t z, int64_t y, double *row) {
  const medium *medium = user;
  for (int64_t x = 0; x < medium->grid->n[0]; x++) row[x] = 1.0 / medium_at(medium, z, y, x).density;
}

/* What is made of the medium. */
static status create_in(const medium *medium, const field_space *space, acoustics *a) {
  const grid *grid = medium->grid;
  if (a->varies) {
    CHECK(field_create(space, &a->stiffness));
    CHECK(field_create(space, &a->volume));
    CHECK(field_fill(&a->stiffness, grid->z0, grid->n[2], 0, stiffness_row, medium));
    CHECK(field_fill(&a->volume, grid->z0, grid->n[2], 0, volume_row, medium));
    a->files = medium_hash(medium);
  }
  const kernels_wave step = {.task = WAVE_INJECT};
  const wave_sourced of = {.medium = medium, .step = &step, .stencil = &a->stencil, .dt = 1.0};
  CHECK(wave_sources_open(a->config, grid, space, &of, &a->sources));
  a->files += wave_sources_hash(&a->sources, grid);
  return STATUS_OK;
}

static status create(const config *config, const grid *grid, const field_space *space, void **self) {
  acoustics *acoustics = calloc(1, sizeof *acoustics);
  medium medium;
  *self = acoustics;
  if (acoustics == NULL) return status_fail(STATUS_MEMORY, "no memory for the equation");
  acoustics->config = config;
  acoustics->varies = medium_varies(config);
  acoustics->stencil = stencil_make(config->order, grid->h);
  CHECK(create_ends(config, grid, space, acoustics));
  CHECK(medium_open(config, grid, &medium));
  const status result = create_in(&medium, space, acoustics);
  medium_close(&medium);
  return result;
}

static status settle(void *self, double dt, const schedule_rates *rates) {
  acoustics *a = self;
  (void)dt;
  a->rates = *rates;
  return STATUS_OK;
}

static uint64_t hash_files(void *self) {
  const acoustics *a = self;
  return a->files;
}

static void destroy(void *self) {
  acoustics *acoustics = self;
  if (acoustics == NULL) return;
  if (acoustics->backend != NULL)
    kernels_ends_close(acoustics->backend, acoustics->context, &acoustics->ends);
  field_destroy(&acoustics->stiffness);
  field_destroy(&acoustics->volume);
  wave_sources_close(&acoustics->sources);
  free(acoustics);
}

/* The operation that computes unknowns from `unknown` on. The caller sets the inputs of the other unknowns.
 */
static kernels_call part_call(const acoustics *a, const stage *stage, operation_kind kind, int unknown) {
  const config *config = a->config;
  const int divergence = kind == OPERATION_divergence;
  double factor = divergence ? -stiffness(config) : -1.0 / config->density, damped = config->sound_speed;
  kernels_call call = {.kind = kind, .options = is_upwind(config) ? OPTION_UPWIND : 0};
  if (a->varies) {
    factor = -1.0;
    damped = 1.0 / a->rates.own[divergence ? SOUND_IMPEDANCE : SOUND_ADMITTANCE];
    call.options |= OPTION_MEDIUM;
    call.in[MEDIUM_IN] = divergence ? a->stiffness.data : a->volume.data;
  }
  call.weight[WEIGHT_PART + PART_TERM] = factor;
  call.weight[WEIGHT_PART + PART_DISSIPATION] = is_upwind(config) ? damped : 0.0;
  stage_sum(stage, unknown, &call);
  return call;
}

/* One of a stage's two operations, with the penalties at ends. */
static status advance_part(const acoustics *a, const stage *stage, const kernels_launch *launch,
                           kernels_call call, const kernels_coupling *penalties) {
  const field *f = stage->f->part;
  const double weight = call.weight[WEIGHT_PART];
  kernels_coupling coupling = *penalties;
  const int divergence = call.kind == OPERATION_divergence;
  if (a->varies) {
    coupling.medium[0] = divergence ? a->stiffness.data : a->volume.data;
    coupling.medium[1] = divergence ? a->volume.data : a->stiffness.data;
  }
  for (int d = 0; d < 3; d++) {
    coupling.of[d][divergence ? 0 : 1] = f[VELOCITY + d].data;
    coupling.of[d][divergence ? 1 : 0] = f[PRESSURE].data;
    for (int end = 0; end < GRID_ENDS; end++)
      for (int i = 0; i < 2; i++) coupling.weight[d][end][i] *= weight;
  }
  call.ends = &a->ends;
  call.coupling = &coupling;
  return apply_bounded(f->backend, launch, &call);
}

/* A bound on the pressure beside sources: r s'/(4 pi distance), with signals that change no faster than waves
 * of two points. */
static double largest_beside(const acoustics *a, const grid *grid) {
  const double h = fmin(grid->h[0], fmin(grid->h[1], grid->h[2]));
  return a->rates.own[SOUND_IMPEDANCE] / h * wave_sources_largest(&a->sources, grid);
}

/* The differences keep or lower the energy, and so do ends. A constant pressure stays, too, but for ends
 * that draw it to 0. */
static status find_growth(void *self, const grid *grid, field *work, equation_growth *growth) {
  const acoustics *a = self;
  const int sourced = config_sourced(a->config);
  (void)work;
  *growth = (equation_growth){.slack = EQUATION_SLACK_KEPT, .shifts = !sourced && !a->varies};
  if (sourced) growth->slack = EQUATION_SLACK_UNKNOWN;
  if (sourced) growth->largest = largest_beside(a, grid);
  for (int d = 0; d < 3; d++) {
    for (int end = 0; end < GRID_ENDS; end++) {
      const config_end kind = a->config->ends[d][end];
      const int draws = kind == CONFIG_END_WALL && a->config->absorbed[d][end] > 0.0;
      if (kind == CONFIG_END_FREE || kind == CONFIG_END_ABSORBING || draws) growth->shifts = 0;
    }
  }
  return STATUS_OK;
}

static status advance(void *self, const stage *stage) {
  acoustics *a = self;
  const field *f = stage->f->part;
  kernels_launch launch = stage_launch(stage, &a->stencil);
  kernels_call pressure = part_call(a, stage, OPERATION_divergence, PRESSURE);
  for (int d = 0; d < 3; d++) pressure.in[d] = f[VELOCITY + d].data;
  CHECK(advance_part(a, stage, &launch, pressure, &a->divergence));
  kernels_call velocity = part_call(a, stage, OPERATION_gradient, VELOCITY);
  velocity.in[0] = f[PRESSURE].data;
  if (a->sources.injection.points == 0) {
    launch.edges = stage->edges;
    return advance_part(a, stage, &launch, velocity, &a->gradient);
  }
  CHECK(advance_part(a, stage, &launch, velocity, &a->gradient));
  CHECK(wave_sources_add(&a->sources, &launch, stage->time, stage->weight, &stage->out->part[PRESSURE]));
  return stage_end(stage);
}

static status find_density(void *self, const state *state, struct state *scratch) {
  const acoustics *a = self;
  const field *part = state->part;
  const kernels_launch launch = field_launch(part, &a->stencil);
  kernels_call call = {.kind = OPERATION_sound_energy, .out = {scratch->part[0].data}};
  for (int i = 0; i < UNKNOWNS; i++) call.in[i] = part[i].data;
  call.in[UNKNOWNS] = a->stiffness.data;
  call.in[UNKNOWNS + 1] = a->volume.data;
  return part->backend->apply(&launch, &call);
}

const equation acoustics_equation = {.name = "acoustics",
                                     .unknowns = UNKNOWNS,
                                     .names = names,
                                     .linear = yes,
                                     .steady = is_steady,
                                     .array_count = count_arrays,
                                     .stage_words = count_arrays,
                                     .rates = sound_rates,
                                     .limit = acoustics_limit,
                                     .known = is_known,
                                     .known_later = sound_known,
                                     .fill = fill,
                                     .energy = weigh,
                                     .uniform = is_uniform,
                                     .create = create,
                                     .destroy = destroy,
                                     .growth = find_growth,
                                     .files = hash_files,
                                     .stage = advance,
                                     .settle = settle,
                                     .density = find_density};
