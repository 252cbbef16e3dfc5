#ifndef FDAPP_OUTPUT_DERIVED_H
#define FDAPP_OUTPUT_DERIVED_H

#include "config/config.h"
#include "domain/state.h"

/* What output.derived adds to the fields in kept snapshots and slices, computed where the fields live, so
 * that a device hands over nothing but what is written:
 *
 *   gradient                            sqrt((df/dx)^2 + (df/dy)^2 + (df/dz)^2) of the first field f, with
 * the differences of the run (compute.order, closures beside ends) intensity_x intensity_y intensity_z the
 * first field times the second, third, fourth one: p u, p v, p w
 *
 * Their bits do not depend on ranks, threads or backend. */
typedef struct derived {
  const kernels *backend;
  kernels_context *context;
  stencil stencil;
  kernels_ends ends; /* of a grid without any: nothing */
  int wanted;        /* config_derived */
  int fields;        /* unknowns */
  int count;         /* unknowns and what is derived */
  const char *names[STATE_FIELDS];
} derived;

/* For states of `fields` fields of these names, which outlive it. [out] count and names: of all that is
 * written. Not collective. STATUS_MEMORY, STATUS_DEVICE; derived_destroy is due all the same. */
status derived_create(const field_space *space, const grid *grid, const config *config, int fields,
                      const char *const names[], derived *derived);
void derived_destroy(derived *derived);

/* [out] shown: the fields of `state`, and after them what is derived from them, in the first fields of
 * `scratch`; names are those of `derived`. It owns nothing, and is good until `state` or `scratch` changes.
 * The first field has valid halos. Not collective; enqueued on MAIN when it returns. STATUS_DEVICE. */
status derived_find(const derived *derived, const state *state, const struct state *scratch,
                    struct state *shown);

#endif
