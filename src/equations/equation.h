#ifndef FDAPP_EQUATIONS_EQUATION_H
#define FDAPP_EQUATIONS_EQUATION_H

#include "config/config.h"
#include "domain/state.h"
#include "stepping/schedule.h"
#include "stepping/stage.h"

/* An equation d u / dt = L(u, t) for a state u of named fields: what the solver, the plan and the output ask
 * of it. It knows its formula and its data, but neither schemes nor ranks nor files. One constant object an
 * equation, in a file of its own, and one line in list.h.
 *
 * Nothing here is collective. `config` and `grid` outlive what is made from them. Without a remark, a status
 * is STATUS_MEMORY or STATUS_DEVICE. */
typedef struct equation {
  const char *name;
  int unknowns;             /* fields of the state, 1 .. STATE_FIELDS */
  const char *const *names; /* of the unknowns, as files show them; constant strings */

  /* Facts that need no device, for the plan and for the choice of a scheme's form. Each may be NULL: 0. */
  int (*linear)(const config *config);      /* L is linear in u, or linear plus a constant */
  int (*steady)(const config *config);      /* L does not depend on time */
  int (*array_count)(const config *config); /* arrays stored beside the states */
  int (*stage_words)(
      const config *config); /* words per point and stage beside those of the formula in stage.h, where
                              * f, base, extras and out of all unknowns move once: least traffic */

  /* What limits a step on this slab, at the largest time factor; the maximum over ranks is the caller's. */
  status (*rates)(const config *config, const grid *grid, schedule_rates *rates);
  /* The time factor: at time t the advective rate is at most |factor| times that of `rates`. NULL: 1. */
  double (*rate_factor)(const config *config, double time);

  /* Whether the solution is known at a time (at t = 0 always: the initial state), and whether there can be
   * any t > 0 for which it is. Both NULL: at t = 0 alone. */
  int (*known)(const config *config, double time);
  int (*known_later)(const config *config);
  /* Sets the owned planes of one unknown to the solution at `time`, known there. Halos are invalid
   * afterwards. */
  status (*fill)(const config *config, const grid *grid, double time, int unknown, field *field);

  /* Weights of the conserved energy 1/2 sum weight[i] |unknown i|^2 of the medium or the field. NULL: the
   * equation has none. */
  void (*energy)(const config *config, double weight[STATE_FIELDS]);

  /* Makes what `stage` needs on the device. [out] *self, to be released by `destroy`, after a failure as
   * well. */
  status (*create)(const config *config, const grid *grid, const field_space *space, void **self);
  void (*destroy)(void *self);
  /* The largest magnitude of what has entered this slab through ends so far: no sign of growth. NULL: 0. */
  double (*entered)(void *self);
  /* One stage, all of the formula in stage.h for all unknowns; enqueued on MAIN. STATUS_DEVICE. */
  status (*stage)(void *self, const stage *stage);
  /* Two stages in one sweep. Zeros: none. */
  stage_pair pair;
} equation;

/* The equation of a run. */
const equation *equation_of(const config *config);

/* What an equation says of one of its facts, and its time factor. */
static inline int equation_fact(int (*fact)(const config *), const config *config) {
  return fact != NULL ? fact(config) : 0;
}

static inline double equation_rate_factor(const equation *equation, const config *config, double time) {
  return equation->rate_factor != NULL ? equation->rate_factor(config, time) : 1.0;
}

#endif
