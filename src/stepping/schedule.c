#include "stepping/schedule.h"

#include <float.h>
#include <math.h>

#include "settings/equations.h"

/* Number of steps from the basis to t_end. A remainder below 1e-9 of a step, or below the round-off of the
 * quotient, is not a step. */
static int64_t steps_to(double t_end, double base_time, double dt) {
  const double exact = (t_end - base_time) / dt;
  if (exact <= 0.0) return 0;
  const double whole = round(exact);
  const double tolerance = fmax(1e-9, 4.0 * DBL_EPSILON * exact);
  return (int64_t)(fabs(exact - whole) < tolerance && whole >= 1.0 ? whole : ceil(exact));
}

/* Times that are apart by less have been rounded apart: multiples of several intervals, or t_end. */
static double rounding(double time) {
  return 8.0 * DBL_EPSILON * time;
}

int schedule_changes(const schedule *schedule) {
  return schedule->factor != NULL || schedule->measured || schedule->timed > 0;
}

/* The next time after `time` at which a step must end; infinite if there is none. */
static double next_target(const schedule *schedule, double time) {
  double target = schedule->lands ? schedule->t_end : INFINITY;
  for (int i = 0; i < schedule->timed; i++) {
    double multiple = floor(time / schedule->at[i]);
    while (multiple * schedule->at[i] <= time + rounding(time)) multiple += 1.0;
    target = fmin(target, multiple * schedule->at[i]);
  }
  const int is_end = schedule->lands && schedule->t_end - target <= rounding(target);
  return is_end ? schedule->t_end : target;
}

/* Sets the step from the basis, which is `dt` long unless a target is nearer, or only a remainder farther,
 * that is not a step. */
static void set_next(schedule *schedule, double dt) {
  const double time = schedule->base_time, target = next_target(schedule, time);
  const double round_off = fmax(1e-9 * dt, 4.0 * DBL_EPSILON * target);
  const int lands = isfinite(target) && target - time <= dt + round_off;
  schedule->next_dt = lands ? target - time : dt;
  schedule->next_time = lands ? target : time + dt;
}

/* Size of an adaptive step from `time`. A factor that is not a number is refused later, by the stage that
 * meets it. */
static double adapted_dt(const schedule *schedule, double time) {
  enum { SAMPLES = 4 };
  if (schedule->factor == NULL) return schedule->full_dt;
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
  if (schedule->factor == NULL) return 1.0;
  for (int i = 0; i <= SAMPLES; i++)
    largest = fmax(largest, fabs(schedule->factor(schedule->config, time + dt * i / SAMPLES)));
  return largest * dt / schedule->full_dt;
}

/* Finds the last step of a schedule whose basis moves, and its time, by walking there; no field is
 * computed. */
static void walk_to_end(schedule *schedule) {
  struct schedule at = *schedule;
  const double first = adapted_dt(schedule, at.base_time);
  double shortest = first, longest = schedule->factor != NULL ? first : 0.0, reached = 0.0;
  int64_t shortened = 0;
  const double end = schedule->t_end - 4.0 * DBL_EPSILON * schedule->t_end;
  while (at.lands ? at.base_time < end : at.base_step < at.config->steps) {
    const double dt = adapted_dt(&at, at.base_time);
    set_next(&at, dt);
    reached = fmax(reached, reached_by(&at, at.base_time, at.next_dt));
    longest = fmax(longest, at.next_dt);
    if (at.next_dt >= dt) shortest = fmin(shortest, dt);
    if (at.next_dt < dt * (1.0 - 1e-9) && !(at.lands && at.next_time == at.t_end)) shortened++;
    at.base_time = at.next_time;
    at.base_step++;
  }
  schedule->dt = first;
  schedule->shortest = shortest;
  schedule->longest = longest;
  schedule->reached = reached;
  schedule->shortened = shortened;
  schedule->last_step = at.base_step;
  schedule->t_end = at.base_time;
}

static void set_end(schedule *schedule, const config *config) {
  schedule->lands = config->steps < 0;
  schedule->t_end = config->t_end;
  if (schedule_changes(schedule) && !schedule->measured) {
    walk_to_end(schedule);
    set_next(schedule, schedule->dt);
    return;
  }
  schedule->last_step = schedule->lands
                            ? schedule->base_step + steps_to(config->t_end, schedule->base_time, schedule->dt)
                            : config->steps;
  if (schedule_changes(schedule)) set_next(schedule, schedule->dt);
}

/* The sum of rates whose product with dt is the Courant number. If nothing moves, the diffusive limit
 * replaces it. */
static double scale_of(const schedule_rates *rates) {
  if (rates->shares) return rates->advection + rates->other;
  return rates->advection > 0.0 ? rates->advection : rates->other;
}

/* Refuses outputs that would be too many. */
static status check_outputs(const config *config, const schedule *schedule) {
  static const char *const names[] = {"fields_at", "diagnostics_at", "slices_at", "probes_at"};
  const double at[] = {config->fields_due.at, config->diagnostics_due.at, config->slices_due.at,
                       config->probes_due.at};
  const double end = config->steps < 0 ? config->t_end : (double)config->steps * schedule->dt;
  for (int i = 0; i < CONFIG_TIMES; i++) {
    if (!(at[i] > 0.0) || end / at[i] <= CONFIG_STEPS_MOST) continue;
    return config_refuse(config, "output", names[i],
                         "due more than %d times up to t = %g; accepted: a number from %g", CONFIG_STEPS_MOST,
                         end, end / CONFIG_STEPS_MOST * (1.0 + 1e-5));
  }
  return STATUS_OK;
}

/* The interval of outputs by time that steps of one size, at most dt, divide; 0: none. It is the least one,
 * if dt follows from a Courant number, and t_end is a multiple of it. */
static double even_divided(const config *config, double dt) {
  double at[CONFIG_TIMES], least = INFINITY;
  const int count = config_output_times(config, at);
  for (int i = 0; i < count; i++) least = fmin(least, at[i]);
  const double ends = config->t_end / least;
  const int met = config->steps >= 0 || (ends > 0.5 && fabs(ends - round(ends)) < 1e-9 * ends);
  return config->courant > 0.0 && met && least < CONFIG_STEPS_MOST * dt ? least : 0.0;
}

/* The size of all steps of an equation that leaps, at most dt: a whole number of them is an interval of
 * outputs, if one is divided, or t_end. */
static double even_dt(const config *config, double divided, double dt) {
  if (divided > 0.0) return divided / (double)steps_to(divided, 0.0, dt);
  return config->t_end > 0.0 ? config->t_end / (double)steps_to(config->t_end, 0.0, dt) : dt;
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
  if (equation_is(config, EQUATION_LEAPS)) {
    schedule->divided = even_divided(config, schedule->dt);
    schedule->dt = even_dt(config, schedule->divided, schedule->dt);
  } else {
    schedule->timed = config_output_times(config, schedule->at);
  }
  CHECK(check_outputs(config, schedule));
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
  const int same = !schedule_changes(schedule) && schedule->dt == dt &&
                   base_time + (double)(step - base_step) * dt == time;
  schedule->base_dt = same ? schedule->dt : arrived_dt(step, time, dt, base_step, base_time);
  schedule->base_step = same ? base_step : step;
  schedule->base_time = same ? base_time : time;
  set_end(schedule, config);
}

void schedule_follow(schedule *schedule, const schedule_rates *rates) {
  const double left = schedule->t_end - schedule->base_time;
  schedule->dt = schedule->config->courant / scale_of(rates);
  set_next(schedule, schedule->dt);
  if (!schedule->lands) return;
  const int64_t steps = (int64_t)fmin(ceil(left / schedule->dt * (1.0 - 1e-9)), CONFIG_STEPS_MOST);
  const int ends = schedule->next_time == schedule->t_end;
  schedule->last_step = schedule->base_step + (ends ? 1 : steps > 2 ? steps : 2);
}

void schedule_advance(schedule *schedule) {
  if (!schedule_changes(schedule)) return;
  schedule->base_dt = schedule->next_dt;
  schedule->base_time = schedule->next_time;
  schedule->base_step++;
  if (schedule->measured) return;
  schedule->dt = adapted_dt(schedule, schedule->base_time);
  set_next(schedule, schedule->dt);
}

double schedule_stored_dt(const schedule *schedule, int64_t step) {
  return schedule_changes(schedule) ? schedule_dt(schedule, step) : schedule->dt;
}

double schedule_time(const schedule *schedule, int64_t step) {
  const int known = schedule->lands || (schedule_changes(schedule) && !schedule->measured);
  if (known && step >= schedule->last_step && step > schedule->base_step) return schedule->t_end;
  if (schedule_changes(schedule) && step == schedule->base_step + 1) return schedule->next_time;
  return schedule->base_time + (double)(step - schedule->base_step) * schedule->dt;
}

double schedule_dt(const schedule *schedule, int64_t step) {
  if (step == 0) step = 1;
  if (step == schedule->base_step) return schedule->base_dt;
  if (schedule_changes(schedule) && step == schedule->base_step + 1) return schedule->next_dt;
  if (schedule->lands && step == schedule->last_step && step > schedule->base_step) {
    return schedule->t_end - schedule_time(schedule, step - 1);
  }
  return schedule->dt;
}

int schedule_meets(const schedule *schedule, int64_t step, config_period due) {
  if (!(due.at > 0.0)) return schedule_due(step, due.every);
  const double time = schedule_time(schedule, step), met = round(time / due.at) * due.at;
  if (equation_is(schedule->config, EQUATION_LEAPS)) return llround(met / schedule->dt) == step;
  return fabs(time - met) <= rounding(time);
}
