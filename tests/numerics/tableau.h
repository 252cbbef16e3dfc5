#ifndef FDAPP_TESTS_TABLEAU_H
#define FDAPP_TESTS_TABLEAU_H

#include <complex.h>

/* The schemes as their sources print them, and what is known of them from elsewhere. Nothing here is computed
 * from the program's tables: the tests compare the two, and a scheme without an entry here fails them. */

enum { TABLEAU_STAGES = 5 };

typedef struct tableau {
  const char *name;
  int order, stages;
  /* Butcher's form: k_i = L(u + dt sum_j a_ij k_j, t + c_i dt), u + dt sum_i b_i k_i, c_i = sum_j a_ij; or */
  double a[TABLEAU_STAGES][TABLEAU_STAGES], b[TABLEAU_STAGES];
  /* the 2N form: K = A_i K + dt L(u, t + c_i dt), u = u + B_i K. */
  double A[TABLEAU_STAGES], B[TABLEAU_STAGES], c[TABLEAU_STAGES];
  double divisor[TABLEAU_STAGES + 1]; /* stability polynomial: sum over k <= stages of z^k / divisor[k] */
  /* Ends of the stable intervals on the imaginary and the negative real axis, and how well they are known. */
  double imaginary, real, accuracy;
  /* Least words per point and step and states in memory: of any right-hand side, of a linear steady one. */
  int words, slots, linear_words, linear_slots;
} tableau;

/* The entry of a name; a failed assertion if there is none. */
const tableau *tableau_of(const char *name);

/* The factor by which one step multiplies a mode whose rate of change is z/dt. */
double complex tableau_growth(const tableau *tableau, double complex z);

/* |R(iy)| - 1 is of this power of y, less one: a norm that the differences keep drifts by dt to it. */
int tableau_drift_order(const tableau *tableau);

#endif
