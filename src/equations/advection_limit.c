#include <math.h>
#include <stdio.h>

#include "equations/advection.h"
#include "equations/trial.h"
#include "problems/rounded.h"
#include "settings/scheme.h"

/* What limits a step of advection and diffusion. Inside the grid it is the growth of waves, whose rates are
 * known; beside ends it is found by trial (trial.h). */

enum { PHASES = 128, DIRECTIONS = 96, BETWEEN = 6, RATES = DIRECTIONS * BETWEEN + 1 };

/* How fast modes are damped and move, damped[i] and moved[i], in one unit of time: those on the boundary of
 * the rates of all modes, whose phases differ from axis to axis. No mode grows more than all of these, since
 * the growth is that of a polynomial of the rate. */
typedef struct mode_rates {
  const scheme *scheme;
  double damped[RATES], moved[RATES];
} mode_rates;

/* Symbols of the differences at phases from 0 to pi. */
typedef struct symbols {
  double first[PHASES + 1], second[PHASES + 1], dissipation[PHASES + 1];
} symbols;

static void symbols_find(const config *config, symbols *symbols) {
  for (int i = 0; i <= PHASES; i++) {
    const double phase = PROBLEM_PI * i / PHASES;
    symbols->first[i] = stencil_first_symbol(config->order, phase);
    symbols->second[i] = stencil_second_symbol(config->order, phase);
    symbols->dissipation[i] = config->difference == CONFIG_DIFFERENCE_UPWIND
                                  ? stencil_dissipation_symbol(config->order, phase)
                                  : 0.0;
  }
}

/* The velocity is |c_d|/h_d = along[d] and kappa/h_d^2 = spread[d]. [out] at: the rate that lies farthest in
 * a direction. Returns how far. */
static double farthest(const symbols *symbols, const double along[3], const double spread[3],
                       const double direction[2], double at[2]) {
  double far = 0.0;
  at[0] = at[1] = 0.0;
  for (int d = 0; d < 3; d++) {
    double most = -INFINITY, best[2] = {0.0};
    for (int i = 0; i <= PHASES; i++) {
      const double rate[2] = {spread[d] * symbols->second[i] + along[d] * symbols->dissipation[i],
                              along[d] * symbols->first[i]};
      const double here = direction[0] * rate[0] + direction[1] * rate[1];
      if (here <= most) continue;
      most = here;
      best[0] = rate[0];
      best[1] = rate[1];
    }
    far += most;
    at[0] += best[0];
    at[1] += best[1];
  }
  return far;
}

/* As fast along the first of these axes as the flow is anywhere, and along the others as what is left of the
 * largest sum allows. */
static void flow_along(const schedule_rates *rates, const int axes[3], double along[3]) {
  double rest = rates->advection;
  for (int i = 0; i < 3; i++) {
    along[axes[i]] = fmin(rates->along[axes[i]], rest);
    rest -= along[axes[i]];
  }
}

/* Of a velocity that varies, the flows are tried that are fastest along one axis after the other. */
static void rates_find(const config *config, const schedule_rates *fastest, const double spread[3],
                       mode_rates *rates) {
  enum { ORDERS = 6 };
  static const int orders[ORDERS][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  double along[ORDERS][3];
  symbols symbols;
  for (int k = 0; k < ORDERS; k++) flow_along(fastest, orders[k], along[k]);
  rates->scheme = schemes_at(config->scheme);
  symbols_find(config, &symbols);
  for (int i = 0; i <= DIRECTIONS; i++) {
    const double angle = PROBLEM_PI * i / DIRECTIONS, direction[2] = {rounded_cos(angle), rounded_sin(angle)};
    double most = -INFINITY, best[2] = {0.0};
    for (int k = 0; k < ORDERS; k++) {
      double at[2];
      const double far = farthest(&symbols, along[k], spread, direction, at);
      if (far <= most) continue;
      most = far;
      best[0] = at[0];
      best[1] = at[1];
    }
    rates->damped[BETWEEN * i] = best[0];
    rates->moved[BETWEEN * i] = best[1];
  }
  for (int i = 0; i < RATES - 1; i++) {
    const int from = i / BETWEEN * BETWEEN;
    const double part = (double)(i - from) / BETWEEN;
    rates->damped[i] = (1.0 - part) * rates->damped[from] + part * rates->damped[from + BETWEEN];
    rates->moved[i] = (1.0 - part) * rates->moved[from] + part * rates->moved[from + BETWEEN];
  }
}

static int grows(const mode_rates *rates, double dt) {
  static const double round_off = 1e-12;
  for (int i = 0; i < RATES; i++) {
    if (scheme_growth(rates->scheme, -dt * rates->damped[i], dt * rates->moved[i]) > 1.0 + round_off)
      return 1;
  }
  return 0;
}

/* The largest step, at most `most`, with which no mode grows. */
static double stable_step(const mode_rates *rates, double most) {
  if (!grows(rates, most)) return most;
  double low = 0.0;
  double high = most;
  for (int i = 0; i < 30; i++) {
    const double middle = 0.5 * (low + high);
    *(grows(rates, middle) ? &high : &low) = middle;
  }
  return low;
}

/* The largest Courant number with which no mode grows by advection alone. Dissipation moves modes off the
 * imaginary axis, which makes the limit smaller. */
static double courant_limit(const config *config) {
  const double central =
      scheme_imaginary_limit(schemes_at(config->scheme)) / stencil_first_maximum(config->order);
  const schedule_rates along_x = {.advection = 1.0, .along = {1.0}};
  const double still[3] = {0.0};
  mode_rates alone;
  if (config->difference != CONFIG_DIFFERENCE_UPWIND) return central;
  rates_find(config, &along_x, still, &alone);
  return stable_step(&alone, 4.0 * central + 4.0);
}

/* The Courant number and kappa sum(1/h^2) of one unit of time. */
typedef struct modes {
  const scheme *scheme;
  int order;
  double advection, spread;
} modes;

/* Lowers the step to that beside ends with a constant velocity of the signs of `sign`, |u_i|/h_i = along[i].
 */
static status try_flow(const config *config, const grid *grid, const double along[3], double sign,
                       double *step) {
  struct config frozen = *config;
  double limit = INFINITY;
  frozen.velocity = velocities_find("uniform");
  frozen.initial = cases_find("gaussian");
  frozen.form = FORM_ADVECTIVE;
  (void)snprintf(frozen.entering, sizeof frozen.entering, "0");
  for (int d = 0; d < 3; d++) frozen.uniform[d] = sign * along[d] * grid->h[d];
  CHECK(trial_step(&advection_equation, &frozen, grid, &limit));
  *step = fmin(*step, limit);
  return STATUS_OK;
}

/* A velocity that varies is tried as it may be at points beside the ends: at rest, and as fast along each
 * axis with ends as it is anywhere, in both directions. */
static status try_ends(const config *config, const grid *grid, const schedule_rates *rates, double *step) {
  double along[3] = {0.0};
  if (!cases_bounded(config)) return STATUS_OK;
  if (cases_velocity_uniform(config)) {
    for (int d = 0; d < 3; d++) along[d] = config->uniform[d] / grid->h[d];
    return try_flow(config, grid, along, 1.0, step);
  }
  if (config->diffusivity > 0.0) CHECK(try_flow(config, grid, along, 1.0, step));
  for (int d = 0; d < 3; d++) {
    const int axes[3] = {d, d == 0, d == 2 ? 1 : 2};
    if (!grid->bounded[d]) continue;
    flow_along(rates, axes, along);
    CHECK(try_flow(config, grid, along, 1.0, step));
    if (config->ends[d][GRID_LOW] != config->ends[d][GRID_HIGH])
      CHECK(try_flow(config, grid, along, -1.0, step));
  }
  return STATUS_OK;
}

/* Words for a step beyond one of the limits inside the grid, in the order of `least`: the Courant number's
 * and diffusion's. */
static void describe(const modes *modes, double dt, const double least[2], char words[EQUATION_WORDS]) {
  const double symbol = stencil_second_symbol(modes->order, PROBLEM_PI);
  const double number = dt * modes->advection, diffusion = dt * modes->spread * symbol;
  const double courant = least[0] * modes->advection, real = scheme_real_limit(modes->scheme);
  const char *scheme = modes->scheme->name;
  if (dt > least[0]) {
    (void)snprintf(words, EQUATION_WORDS, EQUATION_BEYOND, number, courant, scheme, modes->order);
  } else if (dt > least[1]) {
    (void)snprintf(words, EQUATION_WORDS,
                   "kappa dt sum(s/h^2) = %.4g, beyond the limit %.4g of %s for diffusion with order %d",
                   diffusion, real, scheme, modes->order);
  } else {
    (void)snprintf(words, EQUATION_WORDS,
                   "a Courant number of %.4g and kappa dt sum(s/h^2) = %.4g, each within the limits %.4g and "
                   "%.4g of %s with order %d, both together not",
                   number, diffusion, courant, real, scheme, modes->order);
  }
}

/* The same for a step beyond `most` beside ends. */
static void describe_ends(const modes *modes, double dt, double most, char words[EQUATION_WORDS]) {
  const char *scheme = modes->scheme->name;
  const double spread = modes->spread;
  if (!(spread > 0.0)) {
    (void)snprintf(words, EQUATION_WORDS, EQUATION_BEYOND, dt * modes->advection, most * modes->advection,
                   scheme, modes->order);
  } else if (!(modes->advection > 0.0)) {
    (void)snprintf(words, EQUATION_WORDS,
                   "kappa dt sum(1/h^2) = %.4g, beyond the limit %.4g of %s for diffusion with order %d",
                   dt * spread, most * spread, scheme, modes->order);
  } else {
    (void)snprintf(
        words, EQUATION_WORDS,
        "a Courant number of %.4g and kappa dt sum(1/h^2) = %.4g, beyond the limits %.4g and %.4g beside "
        "these ends of %s with order %d",
        dt * modes->advection, dt * spread, most * modes->advection, most * spread, scheme, modes->order);
  }
}

status advection_limit(const config *config, const grid *grid, const schedule_rates *rates, double dt,
                       equation_limit *limit) {
  modes modes = {schemes_at(config->scheme), config->order, rates->advection, 0.0};
  double each[3];
  for (int d = 0; d < 3; d++) {
    each[d] = config->diffusivity / (grid->h[d] * grid->h[d]);
    modes.spread += each[d];
  }
  const double spread = modes.spread * stencil_second_symbol(modes.order, PROBLEM_PI);
  const double alone[2] = {courant_limit(config) / modes.advection, scheme_real_limit(modes.scheme) / spread};
  double inside = fmin(alone[0], alone[1]);
  if (modes.advection > 0.0 && spread > 0.0) {
    mode_rates all;
    rates_find(config, rates, each, &all);
    inside = stable_step(&all, inside);
  }
  limit->step = inside;
  describe(&modes, dt, alone, limit->words);
  CHECK(try_ends(config, grid, rates, &limit->step));
  limit->bound = dt <= inside || !cases_velocity_uniform(config);
  if (limit->step < inside) describe_ends(&modes, dt, limit->step, limit->words);
  return STATUS_OK;
}

/* Where nothing moves, time.courant is of kappa dt sum(1/h^2), which ends of axes raise so that its limits
 * are those without ends. For spacing 1: the largest eigenvalue of the second derivative between ends, and
 * between ends with values, for which one mode beside each end oscillates, with this decay and frequency.
 * run/closures.py proves them. */
typedef struct stiffness {
  double open, fixed, mode[2];
} stiffness;

static const stiffness *stiffness_of(int order) {
  static const stiffness all[] = {{4.0, 4.0, {3.3836, 2.3551}},
                                  {16.0 / 3.0, 16.0 / 3.0, {4.7771, 4.7107}},
                                  {14.18, 6.61, {8.947, 7.2862}},
                                  {12.1, 11.2, {4.3372, 17.6122}}};
  return &all[order / 2 - 1];
}

/* The ratio of the eigenvalue on this axis to that on a periodic one. */
static double raised(const config *config, const grid *grid, int d) {
  const stiffness *stiffness = stiffness_of(config->order);
  double most = 0.0;
  if (!grid->bounded[d]) return 1.0;
  for (int end = 0; end < GRID_ENDS; end++)
    most = fmax(most, config->ends[d][end] == CONFIG_END_DIRICHLET ? stiffness->fixed : stiffness->open);
  return most / stencil_second_symbol(config->order, PROBLEM_PI);
}

static int has_value(const config *config, int d) {
  return config->ends[d][GRID_LOW] == CONFIG_END_DIRICHLET ||
         config->ends[d][GRID_HIGH] == CONFIG_END_DIRICHLET;
}

/* The rate of diffusion, with which the scheme allows no longer steps than for the mode beside ends with
 * values, with and without the decay by other axes: some schemes damp less of the mode without. */
static double diffusive_rate(const config *config, const grid *grid) {
  const scheme *scheme = schemes_at(config->scheme);
  const double symbol = stencil_second_symbol(config->order, PROBLEM_PI);
  double sum[2] = {0.0}, mode[2] = {0.0}, others = 0.0;
  for (int d = 0; d < 3; d++) {
    const int still = cases_velocity_uniform(config) && config->uniform[d] == 0.0;
    const double rate = config->diffusivity / (grid->h[d] * grid->h[d]);
    const double real = raised(config, grid, d) * rate;
    sum[still] += real;
    for (int i = 0; i < 2 && has_value(config, d); i++)
      mode[i] += stiffness_of(config->order)->mode[i] * rate;
    if (!has_value(config, d)) others += real * symbol;
  }
  if (!(mode[1] > 0.0)) return sum[0] + sum[1];
  const double limit =
      fmin(scheme_mode_limit(scheme, mode[0], mode[1]), scheme_mode_limit(scheme, mode[0] + others, mode[1]));
  const double factor = fmax(scheme_real_limit(scheme) / limit / ((sum[0] + sum[1]) * symbol), 1.0);
  return sum[0] * factor + sum[1] * factor;
}

status advection_rates(const config *config, const grid *grid, schedule_rates *rates) {
  CHECK(cases_velocity_rate(config, grid, rates->along, &rates->advection));
  rates->other = diffusive_rate(config, grid);
  return STATUS_OK;
}
