#ifndef FDAPP_APP_BOUND_H
#define FDAPP_APP_BOUND_H

#include "app/solver.h"
#include "output/diagnostics.h"
#include "snapshots/checkpoint.h"

/* How much a solution may grow: beyond that it has blown up. Equation and scheme bound its norm
 * (equation_growth), and the norm follows from what the diagnostics measure. */
typedef struct bound {
  const solver *solver;
  equation_growth growth; /* over all ranks */
  int stable;             /* 1: the step is within the limits of the scheme */
  double weight[STATE_FIELDS];
  double source; /* sources_largest over all ranks */
  double volume;
  checkpoint_growth from; /* where the growth begins, and what has entered since */
  double fading, time;    /* the rate at which diffusion smooths the highest jump, and until when it has */
} bound;

/* stable: the step is within the limits of the scheme. Overwrites the scratch state. `solver` must outlive
 * the bound. Collective. STATUS_MEMORY, STATUS_DEVICE, STATUS_MPI; STATUS_USAGE as equation->growth. */
status bound_open(solver *solver, int stable, bound *bound);

/* Begins at a measured state with jumps of these heights along each axis, or resumes there as a snapshot
 * says.
 */
void bound_begin(bound *bound, const diagnostics_record *record, const double height[3]);
void bound_resume(bound *bound, const checkpoint_growth *from, const diagnostics_record *record);

/* Adds what has entered through ends until `time`, and its highest jump, while earlier jumps fade.
 * Collective. STATUS_MPI. */
status bound_extend(bound *bound, double time);

/* 1 if a state with the same value at every point stays as it is for `duration`, apart from a thousandth.
 * zero: it is 0, of all unknowns. */
int bound_keeps_constant(const bound *bound, int zero, double duration);

/* The most that sources have added at a point, and to the norm, until a time. */
double bound_supplied(const bound *bound, double time);

/* [out] place: of the first point of a field, in z, y, x, whose value `is` one that is wanted. Collective.
 * STATUS_MEMORY, STATUS_DEVICE, STATUS_MPI. */
status bound_place(const solver *solver, const field *field, int (*is)(double value, double wanted),
                   double wanted, double place[3]);

/* Describes by how much a measured state has grown too far, or what in it is not finite; "" if all is well.
 * Not collective. */
enum { BOUND_TEXT = 192 };
const char *bound_excess(const bound *bound, const diagnostics_record *record, char text[BOUND_TEXT]);

#endif
