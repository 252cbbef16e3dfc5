#ifndef FDAPP_PROBLEMS_FORMULA_TEAM_H
#define FDAPP_PROBLEMS_FORMULA_TEAM_H

#include "problems/formula.h"

/* A formula of x, y, z for several threads: each thread has its own parsed copy. */
typedef struct formula_team {
  const config *config;
  const char *key, *text; /* of the configuration, for the message */
  int count;              /* copies, one per thread; 0: no formula */
  formula **member;
  struct formula_fault *fault;
} formula_team;

/* Makes copies for as many threads as OpenMP would start now. STATUS_MEMORY; STATUS_USAGE for a text that
 * formula_open refuses; then there is nothing to close. `key` and `text` must outlive it. */
status formula_team_open(const config *config, const char *key, const char *text, formula_team *team);
void formula_team_close(formula_team *team);

/* The value at a point; called from the threads of a parallel region. A value that is not finite or exceeds
 * PROBLEM_LARGEST is recorded. */
double formula_team_at(const formula_team *team, const double x[3]);
/* STATUS_USAGE if there was such a value; the message names the lowest such point in z, y, x. */
status formula_team_verdict(const formula_team *team);

#endif
