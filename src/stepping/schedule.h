#ifndef FDAPP_STEPPING_SCHEDULE_H
#define FDAPP_STEPPING_SCHEDULE_H

#include "config/config.h"

/* g(t) of a velocity, at most 1 in magnitude: what largest rates are multiplied by. */
typedef double schedule_factor(const config *config, double time);

/* When steps happen: step size, number of steps, times. Pure arithmetic. Times are never accumulated:
 * t(n) = base_time + (n - base_step) dt, except that the last step lands on t_end; so a restart finds the
 * same bits.
 *
 * An adaptive schedule follows g(t). Its step from time t has the size dt1 / G, where dt1 is the step of the
 * largest velocity and G the largest |g| at five times, 0, 1/4, .. 1 of a step that |g(t)| alone would allow;
 * G counts as at least 1/SCHEDULE_LONGEST. So a step follows from its time alone, and the basis moves on with
 * each step: base_step is the state's. */
typedef struct schedule {
  double dt;         /* size of all steps but a shorter last one; adaptive: of the step from the basis */
  int64_t base_step; /* where this dt began to be used */
  double base_time;
  double base_dt;    /* size of the step that ended there, by a shorter one or another dt; dt at t = 0 */
  int64_t last_step; /* the run is finished at this step */
  double t_end;      /* and at this time, if `lands` or adaptive; otherwise at t(last_step) */
  int lands;
  const config *config;     /* adaptive: what `factor` is called with, beyond the life of the schedule */
  schedule_factor *factor;  /* adaptive: g; NULL: not adaptive */
  double full_dt;           /* adaptive: dt1 */
  double shortest, longest; /* adaptive: sizes of the steps from where it was made or resumed */
} schedule;

/* An adaptive step is at most this many times as long as that of the largest velocity. */
#define SCHEDULE_LONGEST 10.0

/* What limits the size of a step, each times dt. */
typedef struct schedule_rates {
  double advection;     /* largest sum |c_i|/h_i over all points */
  double moving, still; /* kappa sum 1/h_i^2 over the axes along which something moves, and over the rest */
  double resonance; /* how much faster than inside the fastest wave of `advection` is beside ends; 0: not */
  schedule_factor *factor; /* of `advection`, if the step is to follow it; NULL: constant, or not asked for */
} schedule_rates;

/* Whether a step is due for a period in steps; 0 = never. */
static inline int schedule_due(int64_t step, int64_t every) {
  return every > 0 && step % every == 0;
}

/* A schedule from t = 0. `rates` of all ranks. STATUS_USAGE if courant is given and nothing moves (no
 * velocity and no diffusivity), or if there would be more than 99999999 steps. */
status schedule_make(const config *config, const schedule_rates *rates, schedule *schedule);

/* Goes on from a state at (step, time) written with `dt` based at (base_step, base_time): the same basis if
 * dt is unchanged and explains the time, otherwise, and always where it is adaptive, a new basis here. */
void schedule_resume(schedule *schedule, const config *config, int64_t step, double time, double dt,
                     int64_t base_step, double base_time);

/* The state is at the step after the basis: moves an adaptive schedule's basis there. */
void schedule_advance(schedule *schedule);

/* What a state at `step` stores as `dt`: what schedule_resume needs. */
double schedule_stored_dt(const schedule *schedule, int64_t step);

/* Time at the end of step n, and size of the step that ends at n (n = 0: of the first step); n >= base_step.
 * Of an adaptive schedule n is base_step, the step after it, or the last. */
double schedule_time(const schedule *schedule, int64_t step);
double schedule_dt(const schedule *schedule, int64_t step);

#endif
