#ifndef FDAPP_KERNELS_FLOW_H
#define FDAPP_KERNELS_FLOW_H

#include "launch.h"

/* Compressible flow of an ideal gas: density, velocity u, v, w and pressure at each point, as people read
 * them. The formulas are in flow_pairs.h, once for all backends. */

enum { FLOW_DENSITY, FLOW_U, FLOW_V, FLOW_W, FLOW_PRESSURE, FLOW_UNKNOWNS };

/* Arrays that a first pass writes and the stage differences: the ratio p/density; with viscosity the
 * dilatation div u, too; and the viscosity itself where it varies. */
enum { FLOW_RATIO, FLOW_DILATATION, FLOW_VISCOSITY, FLOW_WORKS };

/* The two-point fluxes. */
typedef enum flow_form {
  FLOW_KEEP_PE,
  FLOW_KEEP,
  FLOW_KENNEDY_GRUBER,
  FLOW_DIVERGENCE,
  FLOW_FORMS
} flow_form;

/* The viscosity: none, one number, or Sutherland's law. */
typedef enum flow_law { FLOW_INVISCID, FLOW_CONSTANT, FLOW_SUTHERLAND, FLOW_LAWS } flow_law;

/* What is computed at each point of a state, for diagnostics and pictures. Those before FLOW_POINTWISE need
 * no neighbours. */
typedef enum flow_figure {
  FLOW_MOMENTUM,                              /* x; y and z follow */
  FLOW_KINETIC = FLOW_MOMENTUM + 3,           /* density |u|^2/2 */
  FLOW_ENERGY,                                /* p/(gamma - 1) + density |u|^2/2 */
  FLOW_MACH,                                  /* |u|/c */
  FLOW_TEMPERATURE,                           /* p/(density R) */
  FLOW_POINTWISE,                             /* the number of those */
  FLOW_EXPANSION = FLOW_POINTWISE,            /* div u */
  FLOW_PRESSURE_WORK,                         /* p div u */
  FLOW_ENSTROPHY,                             /* |rot u|^2/2 */
  FLOW_DISSIPATION,                           /* viscosity (Phi + (div u)^2/3): that of the differences */
  FLOW_SOLENOIDAL,                            /* viscosity |rot u|^2 */
  FLOW_DILATATIONAL,                          /* 4/3 viscosity (div u)^2 */
  FLOW_Q_CRITERION,                           /* 1/2 (theta^2 - sum G_ij G_ji) */
  FLOW_VORTICITY,                             /* x; y and z follow */
  FLOW_DENSITY_GRADIENT = FLOW_VORTICITY + 3, /* length of grad density */
  FLOW_FIGURES
} flow_figure;

/* What limits a step at a point. */
enum {
  FLOW_RATE,           /* sum |u_d|/h_d + c sqrt(sum 1/h_d^2) */
  FLOW_DIFFUSIVE_RATE, /* viscosity/density max(1, gamma/Pr) sum 1/h_d^2; 0 without viscosity */
  FLOW_RATES
};

typedef struct flow_gas {
  flow_form form;
  flow_law law;
  double gamma, gas_constant, prandtl;
  double viscosity;                         /* at viscosity_temperature, or everywhere */
  double viscosity_temperature, sutherland; /* of Sutherland's law */
  double dissipation;                       /* factor of the dissipation of flow_damping.h; 0: none */
} flow_gas;

/* FIRST writes `work` from f. STAGE writes the scheme's sum (stepping/stage.h, with the formulas of
 * flow_pairs.h) to out[0 .. 4]. DAMP adds weight times the dissipation of f to the state in out. SUPPLY adds
 * sources to it. FIGURE writes a figure to out[0]. LARGEST finds the largest rates of f, and waits for them.
 */
typedef enum flow_pass {
  FLOW_FIRST,
  FLOW_STAGE,
  FLOW_DAMP,
  FLOW_SUPPLY,
  FLOW_FIGURE,
  FLOW_LARGEST
} flow_pass;

/* A pass over the planes of a launch. f needs valid halos in z, and for STAGE so do the arrays of `work` that
 * flow_works names. out may be the same arrays as base or an extra, never as f. */
typedef struct flow_call {
  flow_pass pass;
  flow_gas gas;
  flow_figure figure;
  const void *f[FLOW_UNKNOWNS];
  void *work[FLOW_WORKS];
  void *out[FLOW_UNKNOWNS];
  const void *base[FLOW_UNKNOWNS];     /* f, if the scheme has no other base */
  const void *extra[2][FLOW_UNKNOWNS]; /* NULL: none; both or none */
  double weight_f, weight_extra[2];
  double weight; /* of the right-hand side: dt times the stage's */
  /* SUPPLY: *number times source[k] is added to density, momentum (x, y, z) and energy. NULL: nothing to that
   * variable. The number is one of the field's precision in MEMORY_DEVICE. */
  const void *source[FLOW_UNKNOWNS], *number;
  double force[3]; /* SUPPLY: *number times this force per mass acts on f, too, and does its work; 0: none */
  double *largest; /* LARGEST: [FLOW_RATES] on the host; INFINITY where a rate is not finite at a point */
} flow_call;

/* The number of arrays of `work`, the first ones, that a stage reads; 0: it needs no first pass. */
static inline int flow_works(const flow_gas *gas) {
  if (gas->law == FLOW_SUTHERLAND) return 3;
  if (gas->law == FLOW_CONSTANT) return 2;
  return gas->form == FLOW_KEEP || gas->form == FLOW_KENNEDY_GRUBER;
}

#endif
