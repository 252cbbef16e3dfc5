#ifndef FDAPP_PROBLEMS_SOURCE_H
#define FDAPP_PROBLEMS_SOURCE_H

#include "problems/file_planes.h"
#include "problems/formula_team.h"
#include "problems/problem.h"

/* The sources of [source]: S(x, y, z) g(t) is added to the rate of an unknown. S is a formula for each
 * unknown that has one, or a dataset of source.file with the unknown's name; g is one formula of t for all of
 * them. Evaluated on the host, as cases are. */
typedef struct source {
  const config *config;
  const grid *grid;
  formula_team formula;
  file_planes planes; /* of the file; without data: S is the formula */
} source;

/* 1 if any unknown may have a source: then no solution is known at t > 0. */
int source_given(const config *config);
/* 1 if a force per mass acts, which needs no array. */
int source_forced(const config *config);
/* 1 if this unknown has one. name: of its dataset and its key, formula_NAME; that of unknown 0 is formula. */
int source_exists(const config *config, int unknown, const char *name);
/* The key of a formula, "source.formula" or "source.formula_u" and so on. */
const char *source_key(int index);

/* Writes where a source comes from, for messages: "source.formula_u", "u of source.file". */
void source_describe(const config *config, int unknown, const char *name, char *text, size_t size);

/* Reads a formula or a dataset. STATUS_MEMORY; STATUS_USAGE as formula_team_open; errors of file_planes_open;
 * after an error there is nothing to close. config and grid must outlive it. */
status source_open(const config *config, const grid *grid, int unknown, const char *name, source *source);
void source_close(source *source);
/* A field_row; user: a source. */
void source_row(const void *user, int64_t z, int64_t y, double *row);
/* STATUS_USAGE as cases_verdict. */
status source_verdict(const source *source);

/* The factor g, or NULL if there is no source; to be closed by formula_close. */
status source_factor(const config *config, formula **factor);
double source_factor_at(formula *factor, double time);
/* The largest |g| at 1001 times of an interval. */
double source_factor_most(formula *factor, double from, double to);

#endif
