#ifndef FDAPP_STEPPING_SCHEDULE_H
#define FDAPP_STEPPING_SCHEDULE_H

#include "config/kept.h"

/* The time factor g(t) of a velocity, at most 1 in magnitude; it multiplies the largest rates. */
typedef double schedule_factor(const config *config, double time);

/* The schedule of a run: step size, number of steps, times. Pure arithmetic. Times are not accumulated: t(n)
 * = base_time + (n - base_step) dt, except that the last step ends exactly at t_end. So a resumed run has the
 * same times to the bit.
 *
 * An adaptive schedule follows g(t). Its step from time t has the size dt1 / G. dt1 is the step of the
 * largest velocity; G is the largest |g| at the five times 0, 1/4, .. 1 of the step that |g(t)| alone would
 * allow, and at least 1/SCHEDULE_LONGEST. So a step's size depends on its start time alone, and the basis
 * moves with each step: base_step is the state's step.
 *
 * A measured schedule is adaptive, too: each step's size follows from the state at its start
 * (schedule_follow). Its last step is an estimate until it is the next one.
 *
 * A step that would pass the time of an output (config_output_times) is shortened to end there exactly, at a
 * multiple of the output's interval. The basis then moves with each step as in adaptive schedules, so that a
 * step's size again depends on its start alone, and resumed runs have the same times. Equations that
 * leap have one dt, shortened so that a whole number of steps is the least interval if that can be: outputs
 * take the nearest step. */
typedef struct schedule {
  double dt;         /* size of every step, except a shorter last one; adaptive: of the step from the basis */
  int64_t base_step; /* first step with this dt */
  double base_time;
  double base_dt;    /* size of the step that ended at base_step, which may differ from dt; dt at t = 0 */
  int64_t last_step; /* the run ends after this step */
  double t_end;      /* and at this time, if `lands` or adaptive; otherwise at t(last_step) */
  int lands;
  const config *config;     /* adaptive: argument of `factor`; must outlive the schedule */
  schedule_factor *factor;  /* adaptive: g; NULL: not adaptive */
  int measured;             /* 1: a measured schedule, without factor */
  double at[CONFIG_TIMES];  /* intervals of outputs by time; */
  int timed;                /* their number */
  double next_dt;           /* if the basis moves: size of the step from the basis, */
  double next_time;         /* and its end */
  double full_dt;           /* adaptive: dt1; timed: of every step that is not shortened */
  double shortest, longest; /* if the basis moves, not measured: smallest and largest step from the start or
                             * the point of resuming */
  double reached;           /* adaptive: largest Courant number of these steps over the one asked for */
  int64_t shortened;        /* number of these steps that are shortened to meet outputs */
  double divided;           /* one dt: the interval of outputs by time that it was made to divide; 0: none */
} schedule;

/* Largest ratio of an adaptive step to the step of the largest velocity. */
#define SCHEDULE_LONGEST 10.0

/* The rates that determine a step. Their limits are the equation's (equation.h). */
enum { SCHEDULE_OWN = 3 };
typedef struct schedule_rates {
  double advection; /* times dt: the Courant number; for advection the largest sum of |c_i|/h_i over all
                     * points */
  double along[3];  /* the largest |c_i|/h_i */
  double other;     /* times dt: what time.courant is of if nothing moves */
  double own[SCHEDULE_OWN]; /* what else the equation's limit and terms need of all ranks, as maxima */
  double initial[2]; /* `advection` and `other` of the state at t = 0, before they are made shares; 0: not
                      * known, or of no state */
  int shares;   /* 1: `advection` and `other` are shares of one limit, and the step that it allows is 1 over
                 * their sum (flow) */
  int measured; /* 1: each step shall follow from the state at its start */
  schedule_factor *factor; /* time factor of `advection`; NULL: constant, or the step shall not follow it */
} schedule_rates;

/* Returns 1 if steps may have different sizes (the last one aside): the basis then moves with each step. */
int schedule_changes(const schedule *schedule);

/* Returns 1 if `step` is a multiple of the period `every`, in steps; a period of 0 means never. */
static inline int schedule_due(int64_t step, int64_t every) {
  return every > 0 && step % every == 0;
}

/* Returns 1 if `due` is met at this step, for which schedule_time must be known. */
int schedule_meets(const schedule *schedule, int64_t step, config_period due);

/* Makes a schedule from t = 0. `rates` are those of all ranks. STATUS_USAGE if courant is given and nothing
 * moves (no velocity and no diffusivity), or if there would be more than 99999999 steps or outputs. */
status schedule_make(const config *config, const schedule_rates *rates, schedule *schedule);

/* Resumes from a state at (step, time) written with `dt` and the basis (base_step, base_time). If dt is
 * unchanged and explains the time, the basis stays. Otherwise, and always if it moves, the state is the new
 * basis. */
void schedule_resume(schedule *schedule, const config *config, int64_t step, double time, double dt,
                     int64_t base_step, double base_time);

/* Measured: sets the size of the next step, which the rates of the state at base_step allow. */
void schedule_follow(schedule *schedule, const schedule_rates *rates);

/* Moves the basis, if it moves, to the state, which is one step after it. */
void schedule_advance(schedule *schedule);

/* The step size to store with a state at `step`, from which schedule_resume restores the schedule. */
double schedule_stored_dt(const schedule *schedule, int64_t step);

/* Time at the end of step n, and size of the step that ends at n (n = 0: of the first step); n >= base_step.
 * If the basis moves, n must be base_step, the step after it, or the last. */
double schedule_time(const schedule *schedule, int64_t step);
double schedule_dt(const schedule *schedule, int64_t step);

#endif
