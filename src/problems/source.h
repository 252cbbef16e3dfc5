#ifndef FDAPP_PROBLEMS_SOURCE_H
#define FDAPP_PROBLEMS_SOURCE_H

#include "problems/formula_team.h"
#include "problems/problem.h"

/* The sources of [source]: S(x, y, z) g(t) is added to the rate of an unknown. S is a formula for each
 * unknown that has one, g one formula of t for all of them. Evaluated on the host, as cases are. */
typedef struct source {
  const config *config;
  const grid *grid;
  formula_team formula;
} source;

/* The index in config.source of an unknown's formula, or -1 if it has none. name: the unknown's. */
int source_find(const config *config, int unknown, const char *name);
/* 1 if any unknown may have a source: then no solution is known at t > 0. */
int source_given(const config *config);
/* The key of a formula, "source.formula" or "source.formula_u" and so on. */
const char *source_key(int index);

/* Reads a formula. STATUS_MEMORY; STATUS_USAGE as formula_team_open; after an error there is nothing to
 * close. config and grid must outlive it. */
status source_open(const config *config, const grid *grid, int index, source *source);
void source_close(source *source);
/* A field_row; user: a source. */
void source_row(const void *user, int64_t z, int64_t y, double *row);
/* STATUS_USAGE as cases_verdict. */
status source_verdict(const source *source);

#endif
