#ifndef FDAPP_EQUATIONS_EQUATION_H
#define FDAPP_EQUATIONS_EQUATION_H

#include "config/config.h"
#include "domain/figures.h"
#include "settings/equations.h"
#include "stepping/schedule.h"
#include "stepping/stage.h"

/* By how much a solution may grow. The norm is the root mean square of the deviation from a constant
 * background in the first unknown, over all unknowns with their weights of `energy`. From its value D at t =
 * 0 the norm of a right solution is at most
 *
 *     exp(rate t) (D + (drift |background| + supply) t).
 *
 * The discrete solution may exceed that by the factor min(slack exp(noise t), EQUATION_SLACK_UNKNOWN), if the
 * step is within the limits of the scheme. With a longer step it is min(slack exp(noise t / 10), 4), or
 * slack if that is more. Beyond is a blow-up. */
typedef struct equation_growth {
  double rate;    /* per time */
  double drift;   /* per time and background, if a constant is no solution */
  double supply;  /* per time, from sources */
  double largest; /* magnitude of values that may appear besides; 0: none */
  double slack;   /* for errors of the time step */
  double noise;   /* per time, for noise of the grid that the differences in space let grow */
  int shifts;     /* 1: the background is the mean at t = 0; 0: it is 0 */
  int within; /* 1: the first unknown stays within the values that were there or entered, but for a velocity
               * field that converges; beyond is a warning of errors */
} equation_growth;

/* What limits a step. */
enum { EQUATION_WORDS = 192 };
typedef struct equation_limit {
  double step;                /* the largest one with which no solution grows that does not grow by itself;
                               * INFINITY: any */
  int bound;                  /* 1: it is only sufficient, and dt may be stable, too */
  char words[EQUATION_WORDS]; /* what a longer one is: "a Courant number of 2.1, beyond the limit 1.634" */
} equation_limit;
#define EQUATION_BEYOND "a Courant number of %.4g, beyond the limit %.4g of %s with order %d"

/* The slack of an equation without `growth`: a solution a thousand times too large is nothing but error. And
 * the slack where only errors of the time step change the norm: within their limits all schemes lower it, or
 * raise it by errors that vanish with the step. */
#define EQUATION_SLACK_UNKNOWN 1000.0
#define EQUATION_SLACK_KEPT    1.1

/* What an equation's terms remember from step to step beside the unknowns, in numbers of the run's precision:
 * for each plane of a slab and `beyond` planes on each side of it, and beside the ends of z on the slabs that
 * have these. bytes: on this slab's device, in all. */
typedef struct equation_memory {
  int64_t plane, ends[GRID_ENDS];
  int beyond;
  size_t bytes;
} equation_memory;

/* An equation d u / dt = L(u, t) for a state u of named fields: the interface that the solver, the plan and
 * the output use. It knows its formula and its data, but neither schemes nor ranks nor files. Each equation
 * is one constant object in a file of its own, and one line in settings/equations.h.
 *
 * Nothing here is collective. `config` and `grid` must outlive everything made from them. Unless noted,
 * errors are STATUS_MEMORY or STATUS_DEVICE. */
typedef struct equation {
  const char *name;
  int unknowns;             /* fields of the state, 1 .. STATE_FIELDS */
  const char *const *names; /* of the unknowns, as files show them; constant strings */
  int earlier; /* how many of the unknowns, the last ones, are values of the step before: probes leave them
                  out */

  /* Properties that need no device, for the plan and the choice of a scheme's form. NULL: 0. */
  int (*linear)(const config *config);      /* L is linear in u, or linear plus a constant */
  int (*steady)(const config *config);      /* L does not depend on time */
  int (*array_count)(const config *config); /* arrays stored beside the states */
  int (*stage_words)(
      const config *config); /* words per point and stage besides those of the formula in stage.h, which moves
                              * f, base, extras and out of all unknowns once: least traffic */
  int (*sends)(const config *config); /* a device has kernels that send what stage.sends says */
  int (*pairs)(const config *config); /* a device may compute two stages in one sweep (`pair`) */

  /* Sets the rates that determine a step on this slab, for the largest time factor, in a zeroed struct; the
   * caller takes the maximum of each over ranks. */
  status (*rates)(const config *config, const grid *grid, schedule_rates *rates);
  /* Makes shares of a limit (schedule_rates.shares) of what `rates` or `measure` found, when the largest
   * values of all ranks are there: a sum of two must not be that of one rank. NULL: nothing. */
  void (*shares)(const config *config, schedule_rates *rates);
  /* The limit of a step of size dt with such rates, for the run's scheme, order, differences and ends: waves
   * inside the grid, and beside ends what a trial finds (trial.h). One rank calls it, for all of them.
   * NULL: that of waves by central differences whose Courant number is dt times the rate of advection. */
  status (*limit)(const config *config, const grid *grid, const schedule_rates *rates, double dt,
                  equation_limit *limit);
  /* The time factor: at time t the advective rate is at most |factor| times that of `rates`. NULL: 1. */
  double (*rate_factor)(const config *config, double time);

  /* 1 if the solution is known at a time (at t = 0 it always is: the initial state); and 1 if it can be known
   * at any t > 0. Both NULL: only at t = 0. */
  int (*known)(const config *config, double time);
  int (*known_later)(const config *config);
  /* Sets the owned planes of one unknown to the solution at `time`, which must be known then. Halos are
   * invalid afterwards. */
  status (*fill)(const config *config, const grid *grid, double time, int unknown, field *field);

  unsigned positive; /* mask of the unknowns that are positive: otherwise the solution has blown up */
  /* Weights of the conserved energy 1/2 sum weight[i] |unknown i|^2 of the medium or the field, upper bounds
   * of them where they vary. NULL: the equation has none. */
  void (*energy)(const void *self, double weight[STATE_FIELDS]);
  int (*uniform)(
      const config *config); /* the weights are those at every point, and `density` is not called */

  /* Allocates the data that `stage` needs on the device. [out] *self, to be released by `destroy`, even after
   * an error. */
  status (*create)(const config *config, const grid *grid, const field_space *space, void **self);
  void (*destroy)(void *self);
  /* Extends range, a minimum and a maximum, by the values that entered this slab through ends so far, which
   * do not count as growth, and jump by their largest change at a point from one stage to the next since the
   * last call. NULL: none. */
  void (*entered)(void *self, double range[2], double *jump);
  /* The bound on the solution's growth, for this slab: the caller takes the maximum over ranks of each
   * number. `work` is overwritten. NULL: not known, and the slack is EQUATION_SLACK_UNKNOWN. Also
   * STATUS_USAGE, as `fill`. */
  status (*growth)(void *self, const grid *grid, field *work, equation_growth *growth);
  /* A number that, added up over all slabs, stands for the values of the files that `stage` uses; 0: of none.
   * NULL: 0. */
  uint64_t (*files)(void *self);
  /* The rates of a state on this slab, as `rates` has them: with time.adaptive a step follows from those at
   * its start. The caller takes the maximum of each over ranks. Not finite: the solution has blown up.
   * NULL: `rates` hold for all times. STATUS_DEVICE.
   * With it there is `shares`. */
  status (*measure)(void *self, const state *state, schedule_rates *rates);
  /* Before a stage (stepper_rhs.prepare): enqueued on MAIN. NULL: nothing. STATUS_DEVICE. */
  status (*prepare)(void *self, const stage *stage, const field *fields[STATE_FIELDS], int *count);
  /* One stage: the whole formula in stage.h for all unknowns, enqueued on MAIN. STATUS_DEVICE. */
  status (*stage)(void *self, const stage *stage);
  /* Sources of [source] (sources.h): their names there, if those are not `names`; and how they enter, after
   * `stage`: array[i] times the number in device memory raises what the source's name says. NULL: unknown i
   * itself, at its rate. */
  const char *const *supplied;
  status (*supply)(void *self, const stage *stage, const void *const array[STATE_FIELDS], const void *number);
  /* `settle` is called once, before any state is made, with the size of the first step and the rates of all
   * ranks. `start`, of equations of second order in time, whose schemes leap: finds the unknowns that stand
   * for the step before t = 0 from the others, whose halos are valid; sources are then part of `stage`.
   * `density` sets scratch->part[0] to twice the density of the conserved energy, and may use all of scratch.
   * NULL: none. */
  status (*settle)(void *self, double dt, const schedule_rates *rates);
  status (*start)(void *self, state *state);
  status (*density)(void *self, const state *state, struct state *scratch);
  /* What the terms remember, zero at t = 0; and its copy to (`save`) or from host memory: the numbers of the
   * planes from -beyond to nz + beyond - 1, then those beside the low and the high end of z, if the slab has
   * them. Planes beyond an end of z count for nothing when they are copied from there. Both NULL: nothing. */
  void (*memory)(const config *config, const grid *grid, equation_memory *memory);
  status (*recall)(void *self, void *values, int save);
  /* What diagnostics.csv shows in place of integrals, norms and extrema, and output.derived computes. NULL:
   * nothing. */
  const figures *figures;
  /* Two stages in one sweep. All zero: not supported. */
  stage_pair pair;
} equation;

/* The equation of a run. */
const equation *equation_of(const config *config);

/* Values of the optional properties, with their defaults. */
static inline int equation_fact(int (*fact)(const config *), const config *config) {
  return fact != NULL ? fact(config) : 0;
}

static inline double equation_rate_factor(const equation *equation, const config *config, double time) {
  return equation->rate_factor != NULL ? equation->rate_factor(config, time) : 1.0;
}

#endif
