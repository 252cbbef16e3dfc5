#ifndef FDAPP_EQUATIONS_ADVECTION_H
#define FDAPP_EQUATIONS_ADVECTION_H

#include "equations/equation.h"
#include "equations/inflow.h"
#include "problems/cases.h"
#include "problems/velocity_tables.h"

/* d phi/dt = -A(phi) + kappa Lap phi + S, with A in advective, conservative or skew form and S the source of
 * the manufactured solution. A velocity that its own functions define is not stored: its tables stay in
 * caches, and a stage moves no words for it. Otherwise its components are stored, which is three words per
 * stage. Each source of the manufactured solution is one word per stage. With ends, the closures' layers are
 * computed separately (apply_bounded), with the inflow (inflow.h). Diffusion has no flux through an end. */
extern const equation advection_equation;

/* Made by advection_equation.create. */
typedef struct advection {
  const config *config;
  const kernels *backend;
  stencil stencil;
  velocity_tables tables; /* unless the velocity is uniform or stored */
  field velocity[3];      /* if it is stored */
  int velocity_count;
  uint64_t hash;               /* of this slab's planes of a velocity from a file */
  field source[CASES_SOURCES]; /* manufactured solution only */
  int source_count;
  inflow inflow; /* used if an axis has ends */
  int bounded;
} advection;

/* The members `rates`, `limit` and `growth` of the equation. */
status advection_rates(const config *config, const grid *grid, schedule_rates *rates);
status advection_limit(const config *config, const grid *grid, const schedule_rates *rates, double dt,
                       equation_limit *limit);
status advection_growth(void *self, const grid *grid, field *work, equation_growth *growth);

#endif
