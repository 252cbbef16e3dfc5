#ifndef FDAPP_PROBLEMS_CASES_H
#define FDAPP_PROBLEMS_CASES_H

#include "domain/field.h"
#include "problems/file_planes.h"
#include "problems/formula_team.h"
#include "problems/problem.h"

/* The case, its exact solution and the velocity field of a configuration, evaluated. What each of them is
 * stands in its own file (problem.h); here is what all have in common: tables, rows, and whether the velocity
 * carries the case to where it is still known. All transcendental functions that a field depends on are in
 * this room, evaluated on the host in double from global indices, so that every rank count and backend starts
 * from the same bits. Pure functions of configuration, grid and index: no MPI, no device.
 *
 * Lengths in domain units, x_i = i h, periodic distances. The domain may have any lx, ly, lz. */

/* A case on a grid at a time: value = phi(x, y, z, t). Owns tables; cases_close releases them. */
typedef struct cases_solution {
  const config *config;
  const grid *grid;
  double time;
  problem_map back;     /* from a point to where it was at t = 0 */
  double scale;         /* what multiplies the shape */
  int turned;           /* back is more than a shift, so that rows are computed point by point */
  double *table[3];     /* products: one factor per point of each axis; bodies: the distance from the centre;
                         * formulas: the coordinate */
  formula_team formula; /* of a formula */
  file_planes planes;   /* of a file: rows of this rank's slab alone */
} cases_solution;

/* Whether phi(t) is known: at t = 0 and with a source always, else where the velocity's motion is one of
 * those after which the case is known. */
int cases_exact_known(const config *config, double time);
/* Whether there can be any time > 0 for which it is known: decides the columns of diagnostics.csv. */
int cases_exact_exists(const config *config);
/* Whether an axis has ends, and whether the solution is known at all times, so that it can be what enters.
 * With ends it is that of the problem without them along their axes, and known only if it is what enters. */
int cases_bounded(const config *config);
int cases_exact_can_enter(const config *config);
/* In words, for the plan: "known", "not known", and when or why not if there is more to say. */
enum { CASES_TEXT = 128 };
const char *cases_exact_text(const config *config, char text[CASES_TEXT]);

/* What the grid or the precision cannot hold of the initial condition, in words with the numbers; "" if
 * nothing. A formula or a file says nothing of its waves. */
enum { CASES_HELD = 512 };
const char *cases_not_held(const config *config, const grid *grid, char text[CASES_HELD]);

/* Whether the case's file is there and its dataset as it has to be (snapshots/dataset.h). */
status cases_file_check(const config *config, const grid *grid);

/* Prepares the solution at `time` (known there). STATUS_MEMORY. config and grid must outlive it. */
status cases_open(const config *config, const grid *grid, double time, cases_solution *solution);
void cases_close(cases_solution *solution);
/* A field_row; user: a cases_solution. */
void cases_row(const void *user, int64_t z, int64_t y, double *row);
/* Points `first` to `end` - 1 of a row. */
void cases_row_part(const cases_solution *solution, int64_t z, int64_t y, int64_t first, int64_t end,
                    double *row);
/* STATUS_USAGE if a formula gave a value that is not finite or too large in one of these rows. */
status cases_verdict(const cases_solution *solution);

/* Velocity c(x, t) = g(t) c(x), c by the formula of kernels_tables: X_d in the first three of table[0][x],
 * Y_d and A_d in table[1][y], Z_d and B_d in table[2][z], global indices. One component at a time, as a
 * field_row: to the bit what kernels make of the tables in the configuration's precision. A stored
 * velocity has no tables, but for each component a formula, or this rank's planes of a file. */
typedef struct cases_velocity {
  const config *config;
  const grid *grid;
  double (*table[3])[KERNELS_TABLE];
  formula_team formula[3];
  file_planes planes[3];
  axis component;
} cases_velocity;

/* Computes the tables, or reads the formulas. Not collective. STATUS_MEMORY, and nothing is left to close.
 * config and grid must outlive it. */
status cases_velocity_open(const config *config, const grid *grid, cases_velocity *velocity);
void cases_velocity_close(cases_velocity *velocity);
void cases_velocity_row(const void *user, int64_t z, int64_t y, double *row);
/* As cases_verdict, of the components evaluated so far. */
status cases_velocity_verdict(const cases_velocity *velocity);
/* A component at a point. */
double cases_velocity_at(const cases_velocity *velocity, axis component, int64_t z, int64_t y, int64_t x);
/* g(t), at most 1 in magnitude. */
double cases_velocity_factor(const config *config, double time);
/* 1 if g is constant. */
int cases_velocity_steady(const config *config);
/* 1 if c is stored in fields: there are no tables. */
int cases_velocity_stored(const config *config);
/* 1 if c is the vector config.uniform everywhere: there is no need of tables. */
int cases_velocity_uniform(const config *config);
/* Largest sum_i |c_i| / h_i over this slab's points, at g = 1. The maximum over ranks is the caller's.
 * STATUS_MEMORY; STATUS_USAGE as cases_velocity_verdict. */
status cases_velocity_rate(const config *config, const grid *grid, double *rate);

/* A number for what this machine evaluates: XXH3 of rows of the case and of the velocity that are spread over
 * the whole grid, the same rows on every rank, and of g(t) at some times; not of files, which a rank
 * reads its part of. Where two ranks get different
 * numbers, one of them computes wrongly. STATUS_MEMORY; STATUS_USAGE as cases_verdict. */
status cases_fingerprint(const config *config, const grid *grid, uint64_t *fingerprint);

/* Of a stored velocity, along rows that are spread over this slab: the largest |div c| and the largest sum of
 * the magnitudes of its three terms, by differences of order 8; 0 of others. The maximum over ranks is the
 * caller's. STATUS_MEMORY, and as cases_velocity_open. */
status cases_velocity_divergence(const config *config, const grid *grid, double *divergence, double *terms);

/* The source term of the case, if it has one (problem.h): as field rows (user: a cases_source), and the
 * factors at a time. */
typedef struct cases_source {
  cases_velocity velocity;
  double (*table[3])[2];
  int term; /* 0 .. CASES_SOURCES - 1 */
} cases_source;
int cases_has_source(const config *config);
/* As cases_velocity_open. */
status cases_source_open(const config *config, const grid *grid, cases_source *source);
void cases_source_close(cases_source *source);
void cases_source_row(const void *user, int64_t z, int64_t y, double *row);
void cases_source_factors(const config *config, double time, double factors[CASES_SOURCES]);

#endif
