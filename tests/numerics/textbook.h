#ifndef FDAPP_TESTS_TEXTBOOK_H
#define FDAPP_TESTS_TEXTBOOK_H

#include "config/config.h"
#include "problems/problem.h"

/* The program's equation and schemes written down again as textbooks have them, sharing nothing with the
 * program but the configuration's members: differences by three plain loops, velocities and the source from
 * their formulas, the schemes in their published forms. Slow, in double. */
typedef struct textbook {
  const config *config;
  int64_t points;
  double *velocity[3]; /* at g = 1 */
} textbook;

textbook textbook_open(const config *config);
void textbook_close(textbook *book);

/* out = d phi / dt at time t; arrays are [nz][ny][nx]. */
void textbook_slope(const textbook *book, double t, const double *phi, double *out);

/* phi goes from t to t + dt, as the source of the configuration's scheme has it (tableau.h). */
void textbook_step(const textbook *book, double t, double dt, double *phi);

/* The manufactured solution at a point, from its formula. */
double textbook_manufactured(const config *config, double t, const double x[3]);

#endif
