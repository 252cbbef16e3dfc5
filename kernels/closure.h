#ifndef FDAPP_KERNELS_CLOSURE_H
#define FDAPP_KERNELS_CLOSURE_H

/* Differences beside the ends of an axis that has points on both of them (summation by parts): the tables of
 * closures.json. */

#include "operation.h"

/* Rows of the closure at one end, and points that a row reads, at most: those of order 8. */
enum { CLOSURE_ROWS = 8, CLOSURE_WIDTH = 12 };

/* For spacing 1 at the low end: the difference at point i < rows is
 *
 *   sum over j < width of row[of][i][j] f(j),
 *
 * and at the high end the same from there, with the other sign for a first derivative. Every row sums to
 * zero. The second derivative is the one that lets no flux through the end. An integral weighs point i with
 * weight[i], all further points with 1. */
typedef struct closure {
  int order, rows, width;
  double weight[CLOSURE_ROWS];
  double stiffness; /* of the second derivative: the largest eigenvalue of its negative, for spacing 1 */
  double row[DIFFERENCES][CLOSURE_ROWS][CLOSURE_WIDTH];
} closure;

/* The family for `order` (2, 4, 6, 8; anything else is a programmer's error). */
const closure *closure_of(int order);

/* Planes that a slab must own at an end of z, so that its rows read owned planes and `halo` planes above or
 * below alone. */
int closure_least_planes(const closure *closure, int halo);

#endif
