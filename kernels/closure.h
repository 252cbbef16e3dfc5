#ifndef FDAPP_KERNELS_CLOSURE_H
#define FDAPP_KERNELS_CLOSURE_H

/* Differences beside the ends of an axis that has points on both of them (summation by parts): the tables of
 * closures.json. */

#include "operation.h"

/* Most rows of a closure at one end, and most points that a row reads: those of order 8. */
enum { CLOSURE_ROWS = 8, CLOSURE_WIDTH = 12 };

/* For spacing 1 at the low end, the difference at point i < rows is
 *
 *   sum over j < width of row[of][i][j] f(j).
 *
 * At the high end the rows are mirrored, with the opposite sign for a first derivative. Every row sums to
 * zero. The second derivative lets no flux through the end. In an integral, point i has the weight weight[i],
 * all further points 1. */
typedef struct closure {
  int order, rows, width;
  double weight[CLOSURE_ROWS];
  double stiffness; /* largest eigenvalue of the negative second derivative, for spacing 1 */
  double resonance; /* square of the highest acoustic frequency between walls or free ends imposed by
                     * penalties, for speed 1 and spacing 1 */
  double row[DIFFERENCES][CLOSURE_ROWS][CLOSURE_WIDTH];
} closure;

/* The closure of `order` (2, 4, 6, 8; anything else is a programmer's error). */
const closure *closure_of(int order);

/* Number of planes that a slab at an end of z must own, so that its rows read only its own planes and `halo`
 * planes of its neighbour. */
int closure_least_planes(const closure *closure, int halo);

#endif
