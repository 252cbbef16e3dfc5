#ifndef FDAPP_STEPPING_STAGE_H
#define FDAPP_STEPPING_STAGE_H

#include "domain/state.h"

/* One Runge-Kutta stage on one or two ranges of planes, to be computed by an equation. For each unknown
 *
 *   out = base + weight_f (f - base) + sum_i weight_extra[i] (extra[i] - base) + weight L(f, time),
 *
 * with weight = dt b and time = t + c dt (settings/scheme.h). The equation computes the whole formula, in one
 * kernel if it can: a fused kernel does not move the arrays of the sum a second time.
 *
 * A leapfrog scheme has one stage, the step. There out is f, and the new part 0 replaces part 1. */
typedef struct stage {
  kernels_planes planes[KERNELS_RANGES];
  kernels_event *edges; /* NULL, or an event to record when the slab's edges are computed (kernels_launch) */
  const kernels_sending *sends;     /* NULL, or what the kernel sends (stepper_rhs.sends) */
  const kernels_arrivals *arrivals; /* of a pair's first stage: arrivals and `down` of kernels_launch */
  int down;
  state *out;
  const state *f;        /* halos valid, or on their way: arrivals */
  const state *base;     /* NULL: f */
  const state *extra[2]; /* NULL: none; both or none */
  double weight_f, weight_extra[2];
  double weight;
  double time;
  int index; /* of the stages of a step */
} stage;

/* Two stages in one sweep along z.
 *
 * - The result of `first` is the f of `second`. It is not stored: nothing writes first->out.
 * - second->out is none of the arrays that the sweep reads.
 * - A slab that is all of a periodic z needs no exchange. On any other slab
 *   - first->f has 2 KERNELS_HALO valid halo planes on each side;
 *   - second->edges is recorded when 2 KERNELS_HALO edge planes on each side are computed;
 *   - with first->arrivals, it is recorded when those of one side are computed.
 * - `refused` returns why the sweep is impossible or, unless `always`, not faster than two stages.
 * - If `refused` returns NULL, `run` enqueues the sweep and returns. STATUS_DEVICE. */
typedef struct stage_pair {
  const char *(*refused)(void *self, const stage *first, const stage *second, int always);
  status (*run)(void *self, const stage *first, const stage *second);
} stage_pair;

/* The launch that all kernels of a stage share, without `edges`, which only the last kernel records. */
kernels_launch stage_launch(const stage *stage, const stencil *stencil);

/* Makes a call compute the formula for the unknowns of the operation's outputs: output k is that of `unknown`
 * + k. The caller has set the operation, what it reads beside those unknowns, and as weight of each part
 * (WEIGHT_PART) the part's factor in L. The unknowns' own f is read only if the scheme's sum or L needs it.
 * So the divergence and the gradient move 12 words per point together, if each differences the other's
 * unknowns (p and its three velocities) and base is not f; with dissipation 16, or 12 if base is f. */
void stage_sum(const stage *stage, int unknown, kernels_call *call);

/* For equations that add their terms one by one, in this order: stage_combine computes the formula without L
 * for each unknown, stage_add adds factor times a term of L (values at the same points), and stage_end, after
 * all unknowns, records that the edges are computed. Each returns when its work is enqueued.
 * STATUS_DEVICE. */
status stage_combine(const stage *stage, const kernels_launch *launch, int unknown);
status stage_add(const stage *stage, const kernels_launch *launch, int unknown, double factor,
                 const field *term);
status stage_end(const stage *stage);

#endif
