#include "equations/advection.h"

#include <math.h>
#include <stdlib.h>

static const char *const names[] = {"phi"};

static int is_linear(const config *config) {
  (void)config;
  return 1;
}

static int is_steady(const config *config) {
  return cases_velocity_steady(config) && !cases_has_source(config) && !inflow_varies(config);
}

/* Words per point that are stored besides the states and read by a stage: the stored velocity and the
 * sources. */
static int stage_words(const config *config) {
  return (cases_velocity_stored(config) ? 3 : 0) + (cases_has_source(config) ? CASES_SOURCES : 0);
}

/* Returns 1 if stages have little arithmetic: no diffusion, source, ends, stored velocity, or fluxes; and no
 * upwind differences but those with a uniform velocity in double precision. For these a device may have
 * kernels that compute two stages in one sweep. */
static int is_lean(const config *config) {
  const int uniform = cases_velocity_uniform(config), products = !uniform && config->form != FORM_ADVECTIVE;
  const int upwind = config->difference == CONFIG_DIFFERENCE_UPWIND;
  if (upwind && (!uniform || config->precision == PRECISION_SINGLE)) return 0;
  return config->diffusivity == 0.0 && !cases_has_source(config) && !cases_bounded(config) &&
         !cases_velocity_stored(config) && !products;
}

/* Returns 1 if they have the least, by central differences, too. For these a device may have kernels that
 * send the edges. */
static int is_leanest(const config *config) {
  return is_lean(config) && config->difference == CONFIG_DIFFERENCE_CENTRAL;
}

static status fill(const config *config, const grid *grid, double time, int unknown, field *field) {
  (void)unknown;
  cases_solution solution;
  CHECK(cases_open(config, grid, time, &solution));
  status result = field_fill(field, grid->z0, grid->n[2], 0, cases_row, &solution);
  if (result == STATUS_OK) result = cases_verdict(&solution);
  cases_close(&solution);
  return result;
}

/* Stores the velocity with halos, because the conservative and the skew form difference it. */
static status store_velocity(const field_space *space, cases_velocity *velocity, advection *advection) {
  const grid *grid = velocity->grid;
  for (int d = 0; d < 3; d++) {
    CHECK(field_create(space, &advection->velocity[d]));
    advection->velocity_count++;
    velocity->component = (axis)d;
    CHECK(field_fill(&advection->velocity[d], grid->z0, grid->n[2], 1, cases_velocity_row, velocity));
  }
  for (int d = 0; d < 3 && velocity->planes[d].data != NULL; d++)
    advection->hash = 3 * advection->hash + file_planes_hash(&velocity->planes[d]);
  return cases_velocity_verdict(velocity);
}

static status create_velocity(const config *config, const grid *grid, const field_space *space,
                              advection *advection) {
  cases_velocity velocity;
  if (cases_velocity_uniform(config)) return STATUS_OK;
  CHECK(cases_velocity_open(config, grid, &velocity));
  const status result = cases_velocity_stored(config)
                            ? store_velocity(space, &velocity, advection)
                            : velocity_tables_create(space, &velocity, grid->z0, &advection->tables);
  cases_velocity_close(&velocity);
  return result;
}

static status create_source(const config *config, const grid *grid, const field_space *space,
                            advection *advection) {
  cases_source source;
  status result = STATUS_OK;
  CHECK(cases_source_open(config, grid, &source));
  for (source.term = 0; source.term < CASES_SOURCES && result == STATUS_OK; source.term++) {
    field *made = &advection->source[advection->source_count++];
    result = field_create(space, made);
    if (result == STATUS_OK) result = field_fill(made, grid->z0, grid->n[2], 0, cases_source_row, &source);
  }
  cases_source_close(&source);
  return result;
}

static status create(const config *config, const grid *grid, const field_space *space, void **self) {
  advection *advection = calloc(1, sizeof *advection);
  *self = advection;
  if (advection == NULL) return status_fail(STATUS_MEMORY, "no memory for the equation");
  advection->config = config;
  advection->backend = space->backend;
  advection->stencil = stencil_make(config->order, grid->h);
  CHECK(create_velocity(config, grid, space, advection));
  if (cases_has_source(config)) CHECK(create_source(config, grid, space, advection));
  advection->bounded = cases_bounded(config);
  if (advection->bounded) CHECK(inflow_open(config, grid, space, &advection->stencil, &advection->inflow));
  return STATUS_OK;
}

static void destroy(void *self) {
  advection *advection = self;
  if (advection == NULL) return;
  for (int i = 0; i < advection->velocity_count; i++) field_destroy(&advection->velocity[i]);
  for (int i = 0; i < advection->source_count; i++) field_destroy(&advection->source[i]);
  velocity_tables_destroy(&advection->tables);
  inflow_close(&advection->inflow);
  free(advection);
}

/* Adds the sources after the fused kernel; the edges are complete after them. */
static status add_sources(const advection *a, const stage *stage, const kernels_launch *launch) {
  double factors[CASES_SOURCES];
  cases_source_factors(a->config, stage->time, factors);
  for (int i = 0; i < a->source_count; i++) {
    CHECK(stage_add(stage, launch, 0, factors[i], &a->source[i]));
  }
  return stage_end(stage);
}

/* Refuses a time factor that is too large. A formula is sampled before the run, but samples may miss a
 * peak. */
static status refuse_factor(const config *config, double time, double factor) {
  return config_refuse(config, "velocity", "factor",
                       "is %g at t = %.9g; accepted: at most 1 in magnitude, as the step size relies on it",
                       factor, time);
}

/* The options of the operation: where the velocity comes from, and the form. */
static unsigned velocity_options(const advection *a) {
  static const unsigned forms[] = {
      [FORM_ADVECTIVE] = ADVECTION_GRADIENT,
      [FORM_CONSERVATIVE] = ADVECTION_FLUX,
      [FORM_SKEW] = ADVECTION_GRADIENT | ADVECTION_FLUX,
  };
  if (a->velocity_count > 0) return ADVECTION_STORED | forms[a->config->form];
  if (a->tables.tables.x != NULL) return ADVECTION_FORMULA | forms[a->config->form];
  return ADVECTION_UNIFORM | ADVECTION_GRADIENT; /* all forms are equal */
}

/* The option that brings a part with this weight: none if it is zero once rounded. */
static unsigned option_of(const config *config, double weight, unsigned option) {
  const int vanishes = config->precision == PRECISION_SINGLE ? (float)weight == 0.0F : weight == 0.0;
  return vanishes ? 0 : option;
}

/* The call of the fused kernel for a stage; `factor` is the velocity's time factor then. */
static kernels_call call_of(const advection *a, const stage *stage, double factor) {
  const config *config = a->config;
  const double damping = config->difference == CONFIG_DIFFERENCE_UPWIND ? fabs(factor) : 0.0;
  kernels_call call = {
      .kind = OPERATION_advection, .options = velocity_options(a), .tables = a->tables.tables};
  const unsigned upwind = call.options & ADVECTION_GRADIENT ? ADVECTION_UPWIND : ADVECTION_DAMPED;
  call.options |= option_of(config, stage->weight * damping, upwind);
  call.options |= option_of(config, stage->weight * config->diffusivity, ADVECTION_DIFFUSION);
  call.weight[WEIGHT_PART + ADVECTION_PART_A] = -factor;
  call.weight[WEIGHT_PART + ADVECTION_PART_DISSIPATION] = damping;
  call.weight[WEIGHT_PART + ADVECTION_PART_DIFFUSION] = config->diffusivity;
  for (int d = 0; d < a->velocity_count; d++) call.in[ADVECTION_U + d] = a->velocity[d].data;
  for (int d = 0; d < 3; d++) call.uniform[d] = config->uniform[d];
  stage_sum(stage, 0, &call);
  return call;
}

static status advance(void *self, const stage *stage) {
  advection *a = self;
  const config *config = a->config;
  kernels_launch launch = stage_launch(stage, &a->stencil);
  if (a->source_count == 0) launch.edges = stage->edges;
  launch.sends = stage->sends;
  const double factor = cases_velocity_factor(config, stage->time);
  if (!problem_factor_allowed(factor)) return refuse_factor(config, stage->time, factor);
  kernels_call call = call_of(a, stage, factor);
  if (a->bounded) {
    CHECK(inflow_prepare(&a->inflow, stage->time, stage->weight, factor));
    call.ends = &a->inflow.ends;
    call.inflow = &a->inflow.call;
  }
  CHECK(apply_bounded(a->backend, &launch, &call));
  return a->source_count == 0 ? STATUS_OK : add_sources(a, stage, &launch);
}

/* The calls of a pair. The right-hand side of pairs is steady, so both stages have the same factor. */
static void pair_calls(const advection *a, const stage *first, const stage *second, double factor,
                       kernels_call calls[2]) {
  calls[0] = call_of(a, first, factor);
  calls[1] = call_of(a, second, factor);
}

static const char *pair_refused(void *self, const stage *first, const stage *second, int always) {
  const advection *a = self;
  if (a->bounded) return "the axes have ends";
  if (a->source_count > 0) return "there is a source";
  const kernels_launch launch = stage_launch(first, &a->stencil);
  kernels_call calls[2];
  pair_calls(a, first, second, 1.0, calls);
  // cppcheck-suppress returnDanglingLifetime // a constant string
  return a->backend->pair_refused(&launch, &calls[0], &calls[1], always);
}

static status pair_advance(void *self, const stage *first, const stage *second) {
  const advection *a = self;
  kernels_launch launch = stage_launch(first, &a->stencil);
  launch.edges = second->edges;
  const double factor = cases_velocity_factor(a->config, first->time);
  if (!problem_factor_allowed(factor)) return refuse_factor(a->config, first->time, factor);
  kernels_call calls[2];
  pair_calls(a, first, second, factor, calls);
  return a->backend->apply_pair(&launch, &calls[0], &calls[1]);
}

static uint64_t hash_files(void *self) {
  const advection *a = self;
  return a->hash;
}

static void entered(void *self, double range[2], double *jump) {
  advection *a = self;
  if (!a->bounded) return;
  range[0] = fmin(range[0], a->inflow.range[0]);
  range[1] = fmax(range[1], a->inflow.range[1]);
  *jump = fmax(*jump, a->inflow.jump);
  a->inflow.jump = 0.0;
}

const equation advection_equation = {.name = "advection",
                                     .unknowns = 1,
                                     .names = names,
                                     .linear = is_linear,
                                     .steady = is_steady,
                                     .array_count = stage_words,
                                     .stage_words = stage_words,
                                     .sends = is_leanest,
                                     .pairs = is_lean,
                                     .rates = advection_rates,
                                     .limit = advection_limit,
                                     .rate_factor = cases_velocity_factor,
                                     .known = cases_exact_known,
                                     .known_later = cases_exact_exists,
                                     .fill = fill,
                                     .create = create,
                                     .destroy = destroy,
                                     .entered = entered,
                                     .growth = advection_growth,
                                     .files = hash_files,
                                     .stage = advance,
                                     .pair = {.refused = pair_refused, .run = pair_advance}};
