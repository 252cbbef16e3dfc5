#ifndef FDAPP_STEPPING_STAGE_H
#define FDAPP_STEPPING_STAGE_H

#include "domain/state.h"

/* One Runge-Kutta stage on one or two ranges of planes, as an equation gets it. For each unknown
 *
 *     out = base + weight_f (f - base) + sum_i weight_extra[i] (extra[i] - base) + weight L(f, time),
 *
 * weight = dt b and time = t + c dt (scheme.h). The equation computes all of it, in one kernel where it has
 * one: the sum without L is a few words of traffic that a fused kernel does not move twice. */
typedef struct stage {
  kernels_planes planes[KERNELS_RANGES];
  kernels_event *edges; /* NULL, or to be recorded when the slab's edges are computed (kernels_launch) */
  state *out;
  const state *f;        /* halos valid */
  const state *base;     /* NULL: f */
  const state *extra[2]; /* NULL: none; both or none */
  double weight_f, weight_extra[2];
  double weight;
  double time;
} stage;

/* Two stages in one sweep along z, `second` of what `first` makes, which is not stored: first->out is not
 * written, and is second->f. second->out is none of the arrays read. `refused` says why that cannot be done,
 * or, unless `always`, is not faster; NULL: run it by `run`, which returns when enqueued. STATUS_DEVICE. */
typedef struct stage_pair {
  const char *(*refused)(void *self, const stage *first, const stage *second, int always);
  status (*run)(void *self, const stage *first, const stage *second);
} stage_pair;

/* What the kernels of a stage share; `edges` is the last kernel's to record, and is left out here. */
kernels_launch stage_launch(const stage *stage, const stencil *stencil);

/* The members of kernels_stage that the scheme gives, for one unknown; what L gives is zero. */
kernels_stage stage_kernel(const stage *stage, int unknown);

/* For equations that add their terms one by one, in this order: the formula without L for an unknown; then
 * factor times a term of L, which is a field of values at the same points; and at the end of all unknowns,
 * that the edges are computed. Each returns when enqueued. STATUS_DEVICE. */
status stage_combine(const stage *stage, const kernels_launch *launch, int unknown);
status stage_add(const stage *stage, const kernels_launch *launch, int unknown, double factor,
                 const field *term);
status stage_end(const stage *stage);

#endif
