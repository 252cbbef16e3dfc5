#ifndef FDAPP_KERNELS_CLOSURE_H
#define FDAPP_KERNELS_CLOSURE_H

/* Differences beside the ends of an axis that has points on both of them (summation by parts): the rows of
 * closures.json, whose spectra run/closures.py checks. */

#include "operation.h"

/* Most rows of a closure at one end, and most points that a row reads: those of order 8. */
enum { CLOSURE_ROWS = 8, CLOSURE_WIDTH = 12 };

/* For spacing 1 at the low end, the difference at point i < rows is
 *
 *   sum over j < width of row[of][i][j] f(j).
 *
 * At the high end the rows are mirrored, with the opposite sign for a first derivative. Every row sums to
 * zero. The second derivative lets no flux through the end. If the end has a prescribed value g, `fixed` is
 * row 0 of the second derivative, and pull[i] (g - f(0)) is added at point i. In an integral, point i has the
 * weight weight[i], all further points 1.
 *
 * The penalty `pull` is H^-1 (e_0 - d), where d is the one-sided derivative at the end that belongs to the
 * second derivative H^-1 (-M - e_0 d^T). With g = 0 the energy 1/2 sum weight[i] f(i)^2 then falls by
 * f^T M f + f(0)^2 at each end: the terms with d cancel. The adjoint-consistent penalty has + d. It needs a
 * strength of at least 1/borrowing (closures.json), which makes order 8 a hundred times as stiff. Source:
 * M. H. Carpenter, J. Nordström and D. Gottlieb, J. Comput. Phys. 148 (1999) 341; both penalties: J. Gong and
 * J. Nordström, J. Comput. Appl. Math. 236 (2011) 602. */
typedef struct closure {
  int order, rows, width;
  double weight[CLOSURE_ROWS];
  double fixed[CLOSURE_WIDTH], pull[CLOSURE_ROWS];
  double row[DIFFERENCES][CLOSURE_ROWS][CLOSURE_WIDTH];
} closure;

/* The closure of `order` (2, 4, 6, 8; anything else is a programmer's error). */
const closure *closure_of(int order);

#endif
