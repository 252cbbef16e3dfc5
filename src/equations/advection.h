#ifndef FDAPP_EQUATIONS_ADVECTION_H
#define FDAPP_EQUATIONS_ADVECTION_H

#include "problems/cases.h"
#include "stepping/stepper.h"
#include "problems/velocity_tables.h"

/* The equation: d phi/dt = -A(phi) + kappa Lap phi + S, with A in advective, conservative or skew form. This
 * is the right-hand side that the stepper calls; it knows the formula, the velocity and the source, not the
 * scheme. */

typedef struct advection {
  const config *config;
  const kernels *backend;
  kernels_context *context;
  stencil stencil;
  velocity_tables tables;      /* unless the velocity is uniform */
  field source[CASES_SOURCES]; /* manufactured solution only */
  int source_count;
} advection;

/* Builds tables of the velocity and source fields. Not collective. config must outlive it. STATUS_MEMORY,
 * STATUS_DEVICE; advection_destroy is due all the same. */
status advection_create(const config *config, const grid *grid, const field_space *space,
                        advection *advection);
void advection_destroy(advection *advection);

/* The right-hand side for stepper_create; self is the advection, which must not move from here on. */
stepper_rhs advection_rhs(advection *advection);

/* Without creating anything: whether L is constant in time, and fields stored beside the stepper's, of each
 * of which a stage reads a word beyond those of the stepper's formula (least traffic). */
int advection_steady(const config *config);
int advection_field_count(const config *config);

#endif
