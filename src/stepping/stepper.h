#ifndef FDAPP_STEPPING_STEPPER_H
#define FDAPP_STEPPING_STEPPER_H

#include "settings/scheme.h"
#include "stepping/exchange.h"

/* Explicit Runge-Kutta steps of d u / dt = L(u, t) for a state u of any number of fields. The stepper knows
 * schemes, stages and halos; only the right-hand side knows L. */

/* Use of two stages in one sweep: never, if that is faster, or wherever it is possible. */
typedef enum stepper_pairs { STEPPER_PAIRS_NO, STEPPER_PAIRS_AUTO, STEPPER_PAIRS_YES } stepper_pairs;

/* The right-hand side. `linear` and `steady` are two independent facts about L. Steps of an L that is steady,
 * or `repeats`, can be recorded and replayed. The cheaper form of a scheme (scheme.linear) also needs a
 * linear L: with a nonlinear one its order would drop to 2 without notice. */
typedef struct stepper_rhs {
  void *self;
  int linear;  /* L is linear in u, or linear plus a constant */
  int steady;  /* L does not depend on time */
  int repeats; /* L depends on time by numbers in memory alone, which `begin` sets */
  int sends;   /* a stage is one launch, which a device may have send its edge planes itself (stage.sends) */
  /* NULL, or what comes before a step, recorded or not; its stages have index, weight and time. */
  status (*begin)(void *self, const stage *stages, int count);
  /* NULL, or what comes before a stage: arrays made from f on all owned planes, which the stage differences.
   * [out] fields, count: those, at most as many as the unknowns, whose halos are then exchanged. */
  status (*prepare)(void *self, const stage *stage, const field *fields[STATE_FIELDS], int *count);
  status (*stage)(void *self, const stage *stage);
  /* two stages in one sweep (equation.h); NULL: not supported */
  stage_pair pair;
  stepper_pairs pairs;
} stepper_rhs;

/* Time of the parts of a stage, or of two in one sweep, in seconds, summed over the sampled stages. Compare
 * edges + halo with interior to see how well they overlap; the next pair hides all of a pair's exchange
 * instead. */
typedef struct stepper_times {
  double edges;    /* until the edge planes, or the first of them, were computed; 0 without overlap */
  double interior; /* kernels on the interior planes; on the whole slab without overlap or if edges come first
                    * in the same kernel */
  double halo;     /* from then until the halos are valid */
  int64_t samples;
} stepper_times;

typedef struct stepper {
  const scheme *scheme;
  stepper_rhs rhs;
  halo *halo;
  const kernels *backend;
  kernels_context *context;
  state slots[SCHEME_SLOTS]; /* slots[0] is the state between steps, when the others are scratch */
  int slot_count;
  exchange exchange;
  kernels_event *start, *done; /* of the kernels on a timed sweep's interior planes */
  stepper_times times;
  int marching;             /* 1: the latest use of halos was a step's */
  kernels_graph *graphs[2]; /* the recorded step, for each of the two slots that can hold the state */
  int place;                /* index of the slot that holds the state */
  double recorded_dt;
  unsigned pairs;   /* bit i: stages i and i + 1 are one sweep */
  char single[128]; /* why no stages are pairs; "" if some are */
  int result;       /* slot of the state after the last stage */
} stepper;

/* Allocates the states, each of `unknowns` fields called `names`. `names`, `scheme`, `halo` (made for that
 * many fields) and what `rhs` points to must outlive the stepper. Not collective. STATUS_MEMORY,
 * STATUS_DEVICE; call stepper_destroy even after an error. */
status stepper_create(const field_space *space, int unknowns, const char *const *names, const scheme *scheme,
                      stepper_rhs rhs, halo *halo, int overlap, stepper *stepper);
void stepper_destroy(stepper *stepper);

/* Computes stages in pairs from now on, if rhs.pairs asks for it and no rank refuses. no_pairs: why
 * this rank's device may compute none, or NULL. On several ranks the states are allocated again, with
 * halos for two stages, so call it before any is written. Without this call all stages are single. Collective
 * over the halo's communicator, and so is the status. STATUS_MEMORY, STATUS_DEVICE, STATUS_MPI, STATUS_USAGE
 * (halo_deepen). */
status stepper_choose_pairs(stepper *stepper, const field_space *space, const char *no_pairs);

/* Exchanges the halos of all fields once, so that connections that a transport opens per field exist before
 * time is measured. Collective. STATUS_MPI, STATUS_DEVICE. */
status stepper_connect(stepper *stepper);

/* The state. Its address is constant, but the memory of its fields may change from step to step. */
state *stepper_state(stepper *stepper);

/* A state that may be written between steps; the next step overwrites it. */
state *stepper_scratch(stepper *stepper);

/* One step of size dt from time t. Before it the state's halos are valid, or are those that the step before
 * left. Returns when everything is enqueued. Collective between neighbours.
 *
 * `timed` is for a step after which something else than a step reads the state. The step then ends with valid
 * halos, and events enclose its last sweep for stepper_sample. Each event delays a device by about 3 us.
 *
 * STATUS_MPI, STATUS_DEVICE, STATUS_MEMORY. */
status stepper_step(stepper *stepper, double t, double dt, int timed);

/* Words per point that a step moves, counted as scheme_words does; pairs of stages reduce them. */
int stepper_words(const stepper *stepper);

/* Words per point that the last stage of a step moves, which is the one that is timed; 0 if any two stages of
 * a step are one sweep. */
int stepper_last_words(const stepper *stepper);

/* Adds the times of the latest step's last sweep, a stage or two, which must have been timed, to `times`.
 * Call it when everything enqueued is done. Not collective. STATUS_DEVICE. */
status stepper_sample(stepper *stepper);

#endif
