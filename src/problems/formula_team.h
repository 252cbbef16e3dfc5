#ifndef FDAPP_PROBLEMS_FORMULA_TEAM_H
#define FDAPP_PROBLEMS_FORMULA_TEAM_H

#include "problems/formula.h"

/* A formula of x, y, z for several threads at once: each thread has a reader of its own. */
typedef struct formula_team {
  const config *config;
  const char *key, *text; /* of the configuration, for the message */
  int count;              /* threads; 0: no formula */
  formula **member;
  struct formula_fault *fault;
} formula_team;

/* The readers for at most the threads that OpenMP would start now. STATUS_MEMORY, and for a text that
 * formula_open refuses STATUS_USAGE; then there is nothing to close. `key` and `text` must outlive it. */
status formula_team_open(const config *config, const char *key, const char *text, formula_team *team);
void formula_team_close(formula_team *team);

/* The value at a point; called from the threads of a parallel region. A value that is not finite or beyond
 * PROBLEM_LARGEST is remembered. */
double formula_team_at(const formula_team *team, const double x[3]);
/* STATUS_USAGE if there was such a value; the message names the lowest point with one in z, y, x. */
status formula_team_verdict(const formula_team *team);

#endif
