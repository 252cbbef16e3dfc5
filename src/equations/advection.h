#ifndef FDAPP_EQUATIONS_ADVECTION_H
#define FDAPP_EQUATIONS_ADVECTION_H

#include "equations/equation.h"
#include "equations/inflow.h"
#include "problems/cases.h"
#include "problems/velocity_tables.h"

/* d phi/dt = -A(phi) + kappa Lap phi + S, with A in advective, conservative or skew form; S is the
 * manufactured solution's. A velocity given by its own functions is not stored: its tables are in caches, and
 * a stage moves no word for them. Otherwise its components are stored, which is three words per stage. Each
 * of the manufactured solution's sources is a word per stage. With ends the closures' layers are computed
 * apart (apply_bounded), with what enters (inflow.h); an end lets nothing through by diffusion. */
extern const equation advection_equation;

/* What advection_equation.create makes. */
typedef struct advection {
  const config *config;
  const kernels *backend;
  stencil stencil;
  velocity_tables tables; /* unless the velocity is uniform or stored */
  field velocity[3];      /* if it is stored */
  int velocity_count;
  field source[CASES_SOURCES]; /* manufactured solution only */
  int source_count;
  inflow inflow; /* where an axis has ends */
  int bounded;
} advection;

#endif
