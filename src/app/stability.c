#include "app/stability.h"

#include <math.h>
#include <stdio.h>

#include "app/stability_sound.h"
#include "base/log.h"
#include "settings/scheme.h"

enum { STEP_TEXT = 64 };

/* The numbers that determine the growth of modes: the Courant number, and kappa dt sum(1/h^2) over the axes
 * with motion, and over the others. */
typedef struct modes {
  const scheme *scheme;
  int order, upwind;
  double dt, advection, moving, still;
} modes;

/* The limits of a step. share: the largest part of the step, at most 1, with which no mode grows. single: 1
 * if advection or diffusion alone makes `share` less than 1. */
typedef struct limits {
  double diffusion, advection_limit, diffusion_limit, share;
  int single;
} limits;

/* Largest growth in a step of `fraction` dt. It suffices to try modes with one phase along all axes with
 * motion, with the sign of the velocity, and another phase along the others: no other mode grows more,
 * neither by advection nor by diffusion. */
static double largest_growth(const modes *modes, double fraction) {
  enum { PHASES = 64 };
  const double step = acos(-1.0) / PHASES;
  double largest = 0.0;
  for (int i = 0; i <= PHASES; i++) {
    const double advection = modes->advection * stencil_first_symbol(modes->order, i * step);
    const double dissipation =
        modes->upwind ? modes->advection * stencil_dissipation_symbol(modes->order, i * step) : 0.0;
    const double moving = modes->moving * stencil_second_symbol(modes->order, i * step);
    for (int k = 0; k <= PHASES; k++) {
      const double still = modes->still * stencil_second_symbol(modes->order, k * step);
      const double damped = dissipation + moving + still;
      largest = fmax(largest, scheme_growth(modes->scheme, -fraction * damped, fraction * advection));
    }
  }
  return largest;
}

/* The largest fraction of dt, at most `most`, with which no mode grows. */
static double stable_fraction(const modes *modes, double most) {
  static const double round_off = 1e-12;
  if (largest_growth(modes, most) <= 1.0 + round_off) return most;
  double low = 0.0;
  double high = most;
  for (int i = 0; i < 30; i++) {
    const double middle = 0.5 * (low + high);
    *(largest_growth(modes, middle) <= 1.0 + round_off ? &low : &high) = middle;
  }
  return low;
}

/* The largest Courant number with which no mode grows by advection alone. Dissipation moves modes off the
 * imaginary axis, which makes the limit smaller. */
static double advection_limit_of(const modes *modes, const schedule_rates *rates) {
  if (rates->sound[0] > 0.0)
    return rates->advection * stability_sound(modes->scheme, modes->order, modes->upwind, rates);
  const double central = scheme_imaginary_limit(modes->scheme) / stencil_first_maximum(modes->order);
  if (!modes->upwind) return central;
  const struct modes alone = {modes->scheme, modes->order, 1, .advection = 1.0};
  return stable_fraction(&alone, 4.0 * central + 4.0);
}

/* Rounds down to 6 digits, so that the printed number is not larger than x. */
static double downwards(double x) {
  return x * (1.0 - 1e-5);
}

static modes modes_of(const config *config, const schedule *schedule, const schedule_rates *rates) {
  const int adapts = schedule->factor != NULL;
  /* the last step may be shorter; adaptive steps have Courant numbers of their own, and the longest one is
   * the critical one for diffusion */
  const double dt = adapts ? schedule->longest : schedule_dt(schedule, schedule->base_step + 1);
  return (modes){.scheme = schemes_all(config->scheme),
                 .order = config->order,
                 .upwind = (config_carried(config) || rates->sound[0] > 0.0) &&
                           config->difference == CONFIG_DIFFERENCE_UPWIND,
                 .dt = dt,
                 .advection = (adapts ? config->courant * schedule->reached : rates->advection * dt),
                 .moving = rates->moving * dt,
                 .still = rates->still * dt};
}

static limits limits_of(const modes *modes, const schedule_rates *rates) {
  const double symbol = stencil_second_symbol(modes->order, acos(-1.0));
  limits limits = {.diffusion = (modes->moving + modes->still) * symbol,
                   .advection_limit = advection_limit_of(modes, rates),
                   .diffusion_limit = scheme_real_limit(modes->scheme)};
  const double alone =
      fmin(limits.advection_limit / modes->advection, limits.diffusion_limit / limits.diffusion);
  limits.share = fmin(1.0, alone);
  limits.single = limits.share < 1.0;
  if (modes->advection > 0.0 && limits.diffusion > 0.0) limits.share = stable_fraction(modes, limits.share);
  return limits;
}

/* Largest Courant number of a leapfrog scheme over that of the run. */
static double leap_share(const config *config, const schedule *schedule, const schedule_rates *rates) {
  return config_wave_limit(config) / (rates->advection * schedule->dt);
}

static void leap_warn(const config *config, const schedule *schedule, const schedule_rates *rates) {
  const double share = leap_share(config, schedule, rates);
  if (share >= 1.0) return;
  log_warning("dt = %.6g gives a Courant number of %.4g, beyond the limit %.4g of %s with order %d: the "
              "solution will grow without bound; dt <= %.6g is stable",
              schedule->dt, rates->advection * schedule->dt, config_wave_limit(config),
              schemes_all(config->scheme)->name, config->order, downwards(schedule->dt * share));
}

/* The Courant number of a step whose limit is a sum of shares: at most 1 if it is stable. */
static double shared_number(const schedule *schedule, const schedule_rates *rates) {
  return schedule_dt(schedule, schedule->base_step + 1) * (rates->advection + rates->moving);
}

static void warn_shared(const schedule *schedule, const schedule_rates *rates) {
  const double number = shared_number(schedule, rates);
  if (number <= 1.0) return;
  log_warning("dt = %.6g gives a Courant number of %.4g, beyond the limit 1: the solution will grow without "
              "bound; dt <= %.6g is stable",
              schedule_dt(schedule, schedule->base_step + 1), number,
              downwards(schedule_dt(schedule, schedule->base_step + 1) / number));
}

double stability_share(const config *config, const schedule *schedule, const schedule_rates *rates) {
  if (config_waves(config)) return fmin(1.0, leap_share(config, schedule, rates));
  if (rates->shares) return fmin(1.0, 1.0 / shared_number(schedule, rates));
  const modes modes = modes_of(config, schedule, rates);
  return limits_of(&modes, rates).share;
}

/* Writes what a step is called, and which step is stable. */
static void describe_step(const config *config, const schedule *schedule, const modes *modes, double share,
                          char step[STEP_TEXT], char stable[STEP_TEXT]) {
  const int adapts = schedule->factor != NULL;
  (void)snprintf(step, STEP_TEXT, adapts ? "time.adaptive, with steps of up to %.6g," : "dt = %.6g",
                 modes->dt);
  (void)snprintf(stable, STEP_TEXT, adapts ? "try time.courant = %.6g" : "dt <= %.6g is stable",
                 downwards((adapts ? config->courant : modes->dt) * share));
}

void stability_warn(const config *config, const schedule *schedule, const schedule_rates *rates) {
  if (config_waves(config)) {
    leap_warn(config, schedule, rates);
    return;
  }
  if (rates->shares) {
    warn_shared(schedule, rates);
    return;
  }
  const modes modes = modes_of(config, schedule, rates);
  const limits limits = limits_of(&modes, rates);
  const char *scheme = modes.scheme->name;
  const char *result = schedule->factor != NULL ? "the solution may grow without bound"
                                                : "the solution will grow without bound";
  char step[STEP_TEXT], stable[STEP_TEXT];
  describe_step(config, schedule, &modes, limits.share, step, stable);
  if (modes.advection > limits.advection_limit) {
    log_warning("%s gives a Courant number of %.4g, beyond the limit %.4g of %s with order %d: %s; %s", step,
                modes.advection, limits.advection_limit, scheme, config->order, result, stable);
  }
  if (limits.diffusion > limits.diffusion_limit) {
    log_warning("%s gives kappa dt sum(s/h^2) = %.4g, beyond the limit %.4g of %s for diffusion with order "
                "%d: %s; %s",
                step, limits.diffusion, limits.diffusion_limit, scheme, config->order, result, stable);
  }
  if (!limits.single && limits.share < 1.0) {
    log_warning("%s gives a Courant number of %.4g and kappa dt sum(s/h^2) = %.4g, each within the "
                "limits %.4g and %.4g of %s with order %d, both together not: %s; %s",
                step, modes.advection, limits.diffusion, limits.advection_limit, limits.diffusion_limit,
                scheme, config->order, result, stable);
  }
}
