#ifndef FDAPP_OUTPUT_DERIVED_H
#define FDAPP_OUTPUT_DERIVED_H

#include "config/kept.h"
#include "domain/figures.h"

/* The data that output.derived adds to the fields in kept snapshots and slices. They are computed where the
 * fields are, so that only what is written is copied from a device. With f the first field:
 *
 *   gradient       sqrt((df/dx)^2 + (df/dy)^2 + (df/dz)^2), with the differences of the run (compute.order,
 *                  closures beside ends)
 *   intensity_x    f times the second field; intensity_y and intensity_z: the third and the fourth one
 *
 *
 * Those of flow are figures of kernels/flow.h. Their bits do not depend on ranks, threads or backend. */
typedef struct derived {
  const kernels *backend;
  kernels_context *context;
  stencil stencil;
  kernels_ends ends;      /* unused on a grid without ends */
  const figures *figures; /* with the next two: of flow */
  const config *config;
  const grid *grid;
  int wanted; /* mask of config_derived */
  int fields; /* number of unknowns */
  int count;  /* number of unknowns and derived data */
  const char *names[STATE_FIELDS];
  field more[CONFIG_DERIVED_MOST]; /* for data beyond the fields of a scratch state */
  int more_count;
} derived;

/* Prepares for states of `fields` fields of these names, which must outlive it. [out] count and names: of
 * everything that is written. figures, of the equation, config and grid must outlive it. Not collective.
 * STATUS_MEMORY, STATUS_DEVICE; call derived_destroy even after an error. */
status derived_create(const field_space *space, const grid *grid, const config *config,
                      const figures *figures, int fields, const char *const names[], derived *derived);
void derived_destroy(derived *derived);

/* [out] shown: the fields of `state`, followed by the data derived from them, which are in the first fields
 * of `scratch`; the names are those of `derived`. It owns nothing, and is valid until `state` or `scratch`
 * changes. The fields must have valid halos. Not collective; returns when enqueued on MAIN.
 * STATUS_DEVICE. */
status derived_find(const derived *derived, const state *state, const struct state *scratch,
                    struct state *shown);

#endif
