#include "stepping/schedule.h"

#include <float.h>
#include <math.h>

/* Number of steps from the basis to t_end. A remainder below 1e-9 of a step, or below the round-off of the
 * quotient, is not a step. */
static int64_t steps_to(double t_end, double base_time, double dt) {
  const double exact = (t_end - base_time) / dt;
  if (exact <= 0.0) return 0;
  const double whole = round(exact);
  const double tolerance = fmax(1e-9, 4.0 * DBL_EPSILON * exact);
  return (int64_t)(fabs(exact - whole) < tolerance && whole >= 1.0 ? whole : ceil(exact));
}

/* Size of an adaptive step from `time`. A factor that is not a number is refused later, by the stage that
 * meets it. */
static double adapted_dt(const schedule *schedule, double time) {
  enum { SAMPLES = 4 };
  double largest = fmax(fabs(schedule->factor(schedule->config, time)), 1.0 / SCHEDULE_LONGEST);
  const double reach = schedule->full_dt / largest;
  for (int i = 1; i <= SAMPLES; i++)
    largest = fmax(largest, fabs(schedule->factor(schedule->config, time + reach * i / SAMPLES)));
  return schedule->full_dt / largest;
}

/* The Courant number of a step over the one asked for, at the largest |g| within the step. Between the five
 * times that give the step, g may be larger. */
static double reached_by(const schedule *schedule, double time, double dt) {
  enum { SAMPLES = 16 };
  double largest = 0.0;
  for (int i = 0; i <= SAMPLES; i++)
    largest = fmax(largest, fabs(schedule->factor(schedule->config, time + dt * i / SAMPLES)));
  return largest * dt / schedule->full_dt;
}

/* Returns 1 if a step of this size reaches t_end, except for a remainder that is not a step. */
static int reaches_end(const schedule *schedule, double time, double dt) {
  const double round_off = fmax(1e-9 * dt, 4.0 * DBL_EPSILON * schedule->t_end);
  return schedule->lands && schedule->t_end - time <= dt + round_off;
}

/* Finds the last step of an adaptive schedule, and its time, by walking there; no field is computed. */
static void walk_to_end(schedule *schedule) {
  int64_t step = schedule->base_step;
  double time = schedule->base_time;
  schedule->dt = adapted_dt(schedule, time);
  schedule->shortest = schedule->longest = schedule->dt;
  schedule->reached = 0.0;
  while (schedule->lands ? !reaches_end(schedule, time, 0.0) : step < schedule->config->steps) {
    double dt = adapted_dt(schedule, time);
    const int lands = reaches_end(schedule, time, dt);
    if (lands) dt = schedule->t_end - time;
    schedule->reached = fmax(schedule->reached, reached_by(schedule, time, dt));
    time = lands ? schedule->t_end : time + dt;
    step++;
    if (!lands) schedule->shortest = fmin(schedule->shortest, dt);
    schedule->longest = fmax(schedule->longest, dt);
  }
  schedule->last_step = step;
  schedule->t_end = time;
}

static void set_end(schedule *schedule, const config *config) {
  schedule->lands = config->steps < 0;
  schedule->t_end = config->t_end;
  if (schedule->factor != NULL) {
    walk_to_end(schedule);
    return;
  }
  schedule->last_step = schedule->lands
                            ? schedule->base_step + steps_to(config->t_end, schedule->base_time, schedule->dt)
                            : config->steps;
}

/* The sum of rates whose product with dt is the Courant number. If nothing moves, the diffusive limit
 * replaces it. */
static double scale_of(const schedule_rates *rates) {
  if (rates->shares) return rates->advection + rates->other;
  return rates->advection > 0.0 ? rates->advection : rates->other;
}

status schedule_make(const config *config, const schedule_rates *rates, schedule *schedule) {
  *schedule = (struct schedule){.dt = config->dt};
  if (config->courant > 0.0) {
    const double scale = scale_of(rates);
    if (!(scale > 0.0)) {
      return config_refuse(config, "time", "courant",
                           "the velocity and the diffusivity are zero everywhere, so no step size follows "
                           "from it; accepted: time.dt");
    }
    schedule->dt = config->courant / scale;
  }
  if (config->steps < 0 && config->t_end / schedule->dt > CONFIG_STEPS_MOST) {
    return config_refuse(config, "time", "t_end", "more than %d steps of %g; accepted: fewer",
                         CONFIG_STEPS_MOST, schedule->dt);
  }
  if (config_waves(config) && config->t_end > 0.0)
    schedule->dt = config->t_end / (double)steps_to(config->t_end, 0.0, schedule->dt);
  schedule->config = config;
  schedule->factor = rates->factor;
  schedule->measured = rates->measured;
  schedule->full_dt = schedule->dt;
  set_end(schedule, config);
  schedule->base_dt = schedule->dt;
  return STATUS_OK;
}

/* Size of the step that ended at a state. If no whole steps of dt lead from the basis to its time, it is the
 * remainder of the last one. */
static double arrived_dt(int64_t step, double time, double dt, int64_t base_step, double base_time) {
  if (step <= base_step || base_time + (double)(step - base_step) * dt == time) return dt;
  return time - (base_time + (double)(step - 1 - base_step) * dt);
}

void schedule_resume(schedule *schedule, const config *config, int64_t step, double time, double dt,
                     int64_t base_step, double base_time) {
  const int same = schedule->factor == NULL && !schedule->measured && schedule->dt == dt &&
                   base_time + (double)(step - base_step) * dt == time;
  schedule->base_dt = same ? schedule->dt : arrived_dt(step, time, dt, base_step, base_time);
  schedule->base_step = same ? base_step : step;
  schedule->base_time = same ? base_time : time;
  set_end(schedule, config);
}

void schedule_follow(schedule *schedule, const schedule_rates *rates) {
  const double left = schedule->t_end - schedule->base_time;
  schedule->dt = schedule->config->courant / scale_of(rates);
  if (!schedule->lands) return;
  const int64_t steps = (int64_t)fmin(ceil(left / schedule->dt * (1.0 - 1e-9)), CONFIG_STEPS_MOST);
  schedule->last_step = schedule->base_step + (steps > 1 ? steps : 1);
}

void schedule_advance(schedule *schedule) {
  if (schedule->factor == NULL && !schedule->measured) return;
  const int64_t next = schedule->base_step + 1;
  const double time = schedule_time(schedule, next);
  schedule->base_dt = schedule_dt(schedule, next);
  schedule->base_step = next;
  schedule->base_time = time;
  if (schedule->factor != NULL) schedule->dt = adapted_dt(schedule, time);
}

double schedule_stored_dt(const schedule *schedule, int64_t step) {
  return schedule->factor != NULL || schedule->measured ? schedule_dt(schedule, step) : schedule->dt;
}

double schedule_time(const schedule *schedule, int64_t step) {
  const int known = schedule->lands || schedule->factor != NULL;
  if (known && step >= schedule->last_step && step > schedule->base_step) return schedule->t_end;
  return schedule->base_time + (double)(step - schedule->base_step) * schedule->dt;
}

double schedule_dt(const schedule *schedule, int64_t step) {
  if (step == 0) step = 1;
  if (step == schedule->base_step) return schedule->base_dt;
  if (schedule->lands && step == schedule->last_step && step > schedule->base_step) {
    return schedule->t_end - schedule_time(schedule, step - 1);
  }
  return schedule->dt;
}
