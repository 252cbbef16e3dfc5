#ifndef FDAPP_STEPPING_STEPPER_H
#define FDAPP_STEPPING_STEPPER_H

#include "domain/halo.h"
#include "stepping/scheme.h"
#include "stepping/stage.h"

/* Explicit Runge-Kutta steps of d u / dt = L(u, t) for a state u of any number of fields. The stepper knows
 * schemes, stages and halos; what L is, only the right-hand side knows. */

/* Stages two in one sweep: never, where they are faster, or wherever they can be. */
typedef enum stepper_pairs { STEPPER_PAIRS_NO, STEPPER_PAIRS_AUTO, STEPPER_PAIRS_YES } stepper_pairs;

/* Two different facts about L. A step of a steady L can be recorded and replayed. The cheaper form of a
 * scheme (scheme.linear) needs an L that is linear as well: of a nonlinear one it would be of order 2 without
 * a word. */
typedef struct stepper_rhs {
  void *self;
  int linear; /* L is linear in u, or linear plus a constant */
  int steady; /* L does not depend on time */
  status (*stage)(void *self, const stage *stage);
  /* Two stages in one sweep (equation.h); NULL: one by one. */
  stage_pair pair;
  stepper_pairs pairs;
} stepper_rhs;

/* Where a stage's time goes, summed over the stages that were sampled: what overlaps is seen by comparing
 * edges + halo with interior. */
typedef struct stepper_times {
  double edges;    /* until the edge planes were computed; 0 without overlap */
  double interior; /* kernels on the interior planes; where edges come first in the same kernel, or without
                    * overlap, on the whole slab */
  double halo;     /* from then until the halos are there */
  int64_t samples;
} stepper_times;

typedef struct stepper {
  const scheme *scheme;
  stepper_rhs rhs;
  halo *halo;
  const kernels *backend;
  kernels_context *context;
  state slots[SCHEME_SLOTS]; /* slots[0] is the state between steps; the others are scratch then */
  int slot_count;
  int overlap;
  kernels_event *edges_start, *edges_done, *interior_start, *interior_done;
  stepper_times times;
  int timing;               /* whether the stage under way is timed */
  kernels_graph *graphs[2]; /* a step recorded, for each of the two places that the state can be in */
  int place;                /* which one the state is in */
  double recorded_dt;
  unsigned pairs;     /* bit i: stages i and i + 1 are one sweep */
  const char *single; /* why no stages are; NULL where some are */
  int result;         /* slot of the state after the last stage */
} stepper;

/* Allocates the states, each of `unknowns` fields called `names`, which outlive the stepper, as must
 * `scheme`, `halo` (made for that many fields) and what `rhs` points to. Not collective. STATUS_MEMORY,
 * STATUS_DEVICE; stepper_destroy is due all the same. */
status stepper_create(const field_space *space, int unknowns, const char *const *names, const scheme *scheme,
                      stepper_rhs rhs, halo *halo, int overlap, stepper *stepper);
void stepper_destroy(stepper *stepper);

/* Exchanges the halos of all fields once: what transports open for a field is open when time counts.
 * Collective. STATUS_MPI, STATUS_DEVICE. */
status stepper_connect(stepper *stepper);

/* The state; its address stays, the memory of its fields may change from step to step. */
state *stepper_state(stepper *stepper);

/* A state that may be written between steps and is overwritten by the next one. */
state *stepper_scratch(stepper *stepper);

/* One step of size dt from time t. The state: halos valid before and after. Collective between neighbours.
 * Returns when everything is enqueued. timed: the last stage lies between events, for stepper_sample; they
 * hold a device up, some 3 us each. STATUS_MPI, STATUS_DEVICE, STATUS_MEMORY. */
status stepper_step(stepper *stepper, double t, double dt, int timed);

/* Words that a step moves per point, as scheme_words counts them: the fewer the more stages are pairs. */
int stepper_words(const stepper *stepper);

/* Adds the last stage of the latest step, which was timed, to `times`. Call it when everything enqueued is
 * done. Not collective. STATUS_DEVICE. */
status stepper_sample(stepper *stepper);

#endif
