#include "app/bound.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "problems/cases.h"

/* Cancellation in the norm of a small deviation from a large background: sums of squares have a relative
 * error of at most 1e-12. */
static const double cancelled = 1e-6;

static status find_growth(solver *solver, bound *bound) {
  field *work = &stepper_scratch(&solver->stepper)->part[0];
  equation_growth mine = {.slack = EQUATION_SLACK_UNKNOWN};
  status result = STATUS_OK;
  if (solver->equation->growth != NULL)
    result = solver->equation->growth(solver->terms, &solver->grid, work, &mine);
  CHECK(agree(solver->comm, result));
  const double source = sources_largest(&solver->sources, bound->weight);
  double all[] = {mine.rate, mine.drift, mine.supply, mine.largest, mine.slack, mine.noise, source};
  CHECK_MPI(MPI_Allreduce(MPI_IN_PLACE, all, sizeof all / sizeof all[0], MPI_DOUBLE, MPI_MAX, solver->comm));
  bound->growth = (equation_growth){.rate = all[0],
                                    .drift = all[1],
                                    .supply = all[2],
                                    .largest = all[3],
                                    .slack = all[4],
                                    .noise = all[5],
                                    .shifts = mine.shifts,
                                    .within = mine.within};
  bound->source = all[6];
  return STATUS_OK;
}

status bound_open(solver *solver, int stable, bound *bound) {
  const equation *equation = solver->equation;
  const grid *grid = &solver->grid;
  *bound = (struct bound){.solver = solver,
                          .stable = stable,
                          .volume = grid->l[0] * grid->l[1] * grid->l[2],
                          .from = {.entered = {INFINITY, -INFINITY}, .jump = INFINITY}};
  for (int f = 0; f < equation->unknowns; f++) bound->weight[f] = 1.0;
  if (equation->energy != NULL) equation->energy(solver->terms, bound->weight);
  return find_growth(solver, bound);
}

/* Root mean square of a measured state's deviation from the background. */
static double norm_of(const bound *bound, const diagnostics_record *record) {
  const equation *equation = bound->solver->equation;
  const double background = bound->from.background;
  double sum = 0.0;
  if (equation->energy != NULL && equation->density != NULL &&
      !equation_fact(equation->uniform, bound->solver->config))
    return sqrt(2.0 * record->energy / bound->volume); /* in a medium that varies, where growth.shifts is 0 */
  for (int f = 0; f < equation->unknowns; f++) {
    const diagnostics_field *field = &record->field[f];
    double square = field->l2 * field->l2 / bound->volume;
    if (f == 0) square += background * (background - 2.0 * field->mass / bound->volume);
    sum += bound->weight[f] * fmax(square, 0.0);
  }
  return sqrt(sum);
}

static void begin_range(bound *bound, const diagnostics_record *record) {
  bound->from.began[0] = record->field[0].minimum;
  bound->from.began[1] = record->field[0].maximum;
}

/* The decay of waves of CASES_LEAST_POINTS points, the shortest that a grid holds: as long as a jump has such
 * waves, it has shorter ones. */
static double fading_of(const bound *bound, double h) {
  const config *config = bound->solver->config;
  const double phase = 2.0 * PROBLEM_PI / (CASES_LEAST_POINTS * h);
  return config_equation_uses(config, "diffusivity") ? config->diffusivity * phase * phase : 0.0;
}

static void begin_jump(bound *bound, double height, int axis) {
  bound->from.jump = height;
  bound->fading = fading_of(bound, bound->solver->grid.h[axis]);
}

/* The axis with the largest spacing, where jumps fade the latest. */
static int coarsest(const grid *grid) {
  const int of_xy = grid->h[1] > grid->h[0];
  return grid->h[2] > grid->h[of_xy] ? AXIS_Z : of_xy;
}

void bound_begin(bound *bound, const diagnostics_record *record, const double height[3]) {
  begin_range(bound, record);
  begin_jump(bound, height[0], AXIS_X);
  for (int d = 1; d < 3; d++)
    if (height[d] > bound->from.jump) begin_jump(bound, height[d], d);
  bound->time = record->time;
  bound->from.known = 1;
  bound->from.time = record->time;
  bound->from.background = bound->growth.shifts ? record->field[0].mass / bound->volume : 0.0;
  bound->from.norm = norm_of(bound, record);
}

void bound_resume(bound *bound, const checkpoint_growth *from, const diagnostics_record *record) {
  bound->from = *from;
  bound->time = record->time;
  begin_jump(bound, from->jump, coarsest(&bound->solver->grid));
  if (from->began[0] > from->began[1]) begin_range(bound, record);
}

status bound_extend(bound *bound, double time) {
  const solver *solver = bound->solver;
  double *range = bound->from.entered, jump = 0.0;
  if (isfinite(bound->from.jump)) bound->from.jump *= exp(-bound->fading * fmax(time - bound->time, 0.0));
  bound->time = time;
  if (solver->equation->entered == NULL) return STATUS_OK;
  solver->equation->entered(solver->terms, range, &jump);
  double all[3] = {range[0], -range[1], -jump};
  CHECK_MPI(MPI_Allreduce(MPI_IN_PLACE, all, 3, MPI_DOUBLE, MPI_MIN, solver->comm));
  range[0] = all[0];
  range[1] = -all[1];
  if (-all[2] > bound->from.jump) begin_jump(bound, -all[2], coarsest(&solver->grid));
  return STATUS_OK;
}

int bound_keeps_constant(const bound *bound, int zero, double duration) {
  const solver *solver = bound->solver;
  const equation_growth *growth = &bound->growth;
  const int fed = solver->equation->entered != NULL && cases_bounded(solver->config);
  const int still = growth->shifts || (zero && growth->largest == 0.0);
  return still && !fed && bound->source == 0.0 && (growth->drift + growth->supply) * duration <= 1e-3;
}

/* Largest deviation of values that came from elsewhere than the beginning: they may fill the domain. */
static double largest_new(const bound *bound) {
  const double background = bound->from.background, *range = bound->from.entered;
  double largest = 0.0;
  if (range[0] <= range[1]) largest = fmax(fabs(range[0] - background), fabs(range[1] - background));
  if (bound->growth.largest > 0.0) largest = fmax(largest, bound->growth.largest + fabs(background));
  return largest;
}

/* By what factor a discrete solution may exceed the bound of a right one (equation.h). A step that is too
 * long makes growth of its own, which `noise` would hide: that is a bound for any field, and the field of a
 * run that begins smooth has not grown by a tenth of it. */
static double excess_of(const bound *bound, double elapsed) {
  static const double long_noise = 0.1, long_most = 4.0;
  const equation_growth *growth = &bound->growth;
  const double noise = bound->stable ? growth->noise : long_noise * growth->noise;
  const double most = bound->stable ? EQUATION_SLACK_UNKNOWN : fmax(growth->slack, long_most);
  return fmin(growth->slack * exp(noise * elapsed), most);
}

double bound_supplied(const bound *bound, double time) {
  const double elapsed = fmax(time - bound->from.time, 0.0);
  const double factor = source_factor_most(bound->solver->sources.factor, bound->from.time, time);
  return (bound->growth.supply + bound->source * factor) * elapsed;
}

/* The largest norm of a solution at a step: equation.h's, with what has entered, and round-off. */
static double most_of(const bound *bound, const diagnostics_record *record) {
  const equation_growth *growth = &bound->growth;
  const checkpoint_growth *from = &bound->from;
  const double elapsed = fmax(record->time - from->time, 0.0);
  const double digit = problem_rounding(bound->solver->config->precision);
  const double start = hypot(from->norm, sqrt(bound->weight[0]) * largest_new(bound));
  const double fed = growth->drift * fabs(from->background) * elapsed + bound_supplied(bound, record->time);
  const double round_off =
      fabs(from->background) * sqrt(bound->weight[0]) * (cancelled + digit * (16.0 + (double)record->step));
  const double right = fmin(exp(growth->rate * elapsed), DBL_MAX) * (start + fed);
  return excess_of(bound, elapsed) * right + round_off;
}

const char *bound_excess(const bound *bound, const diagnostics_record *record, char text[BOUND_TEXT]) {
  const double norm = norm_of(bound, record), most = most_of(bound, record);
  const double *entered = bound->from.entered;
  text[0] = '\0';
  if (entered[0] < -PROBLEM_LARGEST || entered[1] > PROBLEM_LARGEST) {
    (void)snprintf(text, BOUND_TEXT, "boundary.value has been infinite, not a number, or beyond %g",
                   PROBLEM_LARGEST);
    return text;
  }
  if (!record->finite) return "it is not finite";
  if (norm <= most) return text;
  if (bound->solver->equation->energy != NULL) {
    (void)snprintf(text, BOUND_TEXT, "its energy per volume is %.4g, from %.4g at t = %.4g",
                   0.5 * norm * norm, 0.5 * bound->from.norm * bound->from.norm, bound->from.time);
  } else {
    (void)snprintf(text, BOUND_TEXT,
                   "its root mean square deviation from %.4g is %.4g, from %.4g at t = %.4g; it can be %.4g",
                   bound->from.background, norm, bound->from.norm, bound->from.time, most);
  }
  return text;
}

/* Its global index on this slab; INT64_MAX if there is none. */
static status find_first(const field *field, const grid *grid, int (*is)(double value, double wanted),
                         double wanted, int64_t *first) {
  const int64_t points = grid->n[0] * grid->n[1];
  double *plane = malloc((size_t)points * sizeof *plane);
  status result = plane != NULL ? STATUS_OK : status_fail(STATUS_MEMORY, "no memory for a plane");
  *first = INT64_MAX;
  for (int z = 0; z < grid->nz && result == STATUS_OK && *first == INT64_MAX; z++) {
    result = field_load_plane(field, z, plane);
    for (int64_t i = 0; i < points && result == STATUS_OK && *first == INT64_MAX; i++)
      if (is(plane[i], wanted)) *first = (grid->z0 + z) * points + i;
  }
  free(plane);
  return result;
}

status bound_place(const solver *solver, const field *field, int (*is)(double value, double wanted),
                   double wanted, double place[3]) {
  const grid *grid = &solver->grid;
  int64_t mine = 0, first = 0;
  CHECK(agree(solver->comm, find_first(field, grid, is, wanted, &mine)));
  CHECK_MPI(MPI_Allreduce(&mine, &first, 1, MPI_INT64_T, MPI_MIN, solver->comm));
  if (first == INT64_MAX) first = 0;
  const int64_t at[3] = {first % grid->n[0], first / grid->n[0] % grid->n[1],
                         first / grid->n[0] / grid->n[1]};
  for (int d = 0; d < 3; d++) place[d] = grid_position(grid, d, at[d]);
  return STATUS_OK;
}
