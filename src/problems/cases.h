#ifndef FDAPP_PROBLEMS_CASES_H
#define FDAPP_PROBLEMS_CASES_H

#include "domain/field.h"
#include "problems/file_planes.h"
#include "problems/formula_team.h"
#include "problems/problem.h"

/* Evaluates the case, its exact solution and the velocity field of a configuration. Each case and velocity
 * field is defined in its own file (problem.h); this header has what they share: tables, rows, and the test
 * for times at which the solution is known. All transcendental functions that a field depends on are in this
 * folder. They are evaluated on the host, in double, from global indices, so that every number of ranks and
 * every backend starts from the same bits. Pure functions of configuration, grid and index: no MPI, no
 * device.
 *
 * Lengths in domain units, x_i = i h, periodic distances. The domain may have any lx, ly, lz. */

/* A case on a grid at a time: value = phi(x, y, z, t). It owns tables, which cases_close frees. */
typedef struct cases_solution {
  const config *config;
  const grid *grid;
  double time;
  problem_map back;     /* maps a point to its position at t = 0 */
  double scale;         /* factor of the shape */
  int turned;           /* 1: back is more than a shift, so rows are computed point by point */
  double *table[3];     /* one entry per point of each axis. Products: a factor; bodies: the distance from the
                         * centre; formulas: the coordinate */
  formula_team formula; /* if the case is a formula */
  file_planes planes;   /* if the case is a file: rows of this rank's slab only */
} cases_solution;

/* 1 if phi(t) is known: at t = 0, always with a source, and if the velocity's motion is one after which the
 * case is known. */
int cases_exact_known(const config *config, double time);
/* 1 if the solution can be known at a time > 0: then diagnostics.csv has columns of errors. */
int cases_exact_exists(const config *config);
/* cases_bounded returns 1 if an axis has ends. cases_exact_can_enter returns 1 if the solution is known at
 * all times, so that it can be the inflow. With ends, the solution is that of the problem without ends, and
 * it is known only if it is the inflow. */
int cases_bounded(const config *config);
int cases_exact_can_enter(const config *config);
/* Text for the plan: "known", or "not known", and when or why not. */
enum { CASES_TEXT = 128 };
const char *cases_exact_text(const config *config, char text[CASES_TEXT]);

/* Fewest points per wave: with fewer a wave travels visibly wrongly; the difference of order 8 has an error
 * of 0.1 % at 6.4 points and of 1 % at 4.7. Fewest steps of the stored precision within an amplitude: with
 * fewer the field is a staircase. */
#define CASES_LEAST_POINTS 6.0
#define CASES_LEAST_STEPS  100.0
/* The least width of a body, in spacings, for the run's equation, from that of advection. */
double cases_needed_width(const config *config, double narrowest);

/* Text on what the grid or the precision does not resolve of the initial condition, with numbers; "" if
 * nothing. Formulas and files are not examined: unresolved_warn (app/unresolved.h) looks at the stored field.
 */
enum { CASES_HELD = 512 };
const char *cases_not_held(const config *config, const grid *grid, char text[CASES_HELD]);

/* Name of the case's dataset in its file. */
const char *cases_dataset(const config *config);
/* Checks that the files of the case, if `begins` is 1, and of a velocity that the equation uses exist, and
 * that their datasets are valid (file_planes.h). [out] text: the files whose points lie elsewhere by what
 * they say, although their values are taken point by point; "" if there are none. */
status cases_files_check(const config *config, const grid *grid, int begins, char text[CASES_HELD]);
/* The same of a dataset of another key's file, whose place is added to the text. */
status cases_file_check(const grid *grid, const char *key, const char *path, const char *name, int resample,
                        char text[CASES_HELD]);

/* Prepares the solution at `time`, at which it must be known. STATUS_MEMORY. config and grid must outlive
 * it. */
status cases_open(const config *config, const grid *grid, double time, cases_solution *solution);
void cases_close(cases_solution *solution);
/* A field_row; user: a cases_solution. */
void cases_row(const void *user, int64_t z, int64_t y, double *row);
/* The same for points `first` to `end` - 1 of a row. */
void cases_row_part(const cases_solution *solution, int64_t z, int64_t y, int64_t first, int64_t end,
                    double *row);
/* STATUS_USAGE if a formula gave a value in one of these rows that is not finite or too large. */
status cases_verdict(const cases_solution *solution);

/* Velocity c(x, t) = g(t) c(x), with c by the formula of kernels_tables: X_d in the first three of
 * table[0][x], Y_d and A_d in table[1][y], Z_d and B_d in table[2][z], global indices. As a field_row it
 * gives one component at a time, equal to the bit to what kernels compute from the tables in the
 * configuration's precision. A stored velocity has no tables; each component has a formula, or this rank's
 * planes of a file. */
typedef struct cases_velocity {
  const config *config;
  const grid *grid;
  double (*table[3])[KERNELS_TABLE];
  formula_team formula[3];
  file_planes planes[3];
  axis component;
} cases_velocity;

/* Computes the tables, or reads the formulas. Not collective. STATUS_MEMORY; after an error there is nothing
 * to close. config and grid must outlive it. */
status cases_velocity_open(const config *config, const grid *grid, cases_velocity *velocity);
void cases_velocity_close(cases_velocity *velocity);
void cases_velocity_row(const void *user, int64_t z, int64_t y, double *row);
/* The same as cases_verdict, for the components evaluated so far. */
status cases_velocity_verdict(const cases_velocity *velocity);
/* A component at a point. */
double cases_velocity_at(const cases_velocity *velocity, axis component, int64_t z, int64_t y, int64_t x);
/* g(t), at most 1 in magnitude. */
double cases_velocity_factor(const config *config, double time);
/* 1 if g is constant. */
int cases_velocity_steady(const config *config);
/* 1 if c is stored in fields; then there are no tables. */
int cases_velocity_stored(const config *config);
/* 1 if c is the vector config.uniform everywhere; then no tables are needed. */
int cases_velocity_uniform(const config *config);
/* Largest |c_i| / h_i, each, and largest sum of them, over this slab's points, for g = 1. The caller takes
 * the maximum over ranks. STATUS_MEMORY; STATUS_USAGE as cases_velocity_verdict. */
status cases_velocity_rate(const config *config, const grid *grid, double along[3], double *rate);

/* XXH3 of values that this machine computes: rows of the case and of the velocity, spread over the whole grid
 * and the same on every rank, and g(t) at some times. Files are left out, because a rank reads only its part.
 * If two ranks get different numbers, one of them computes wrongly. STATUS_MEMORY; STATUS_USAGE as
 * cases_verdict. */
status cases_fingerprint(const config *config, const grid *grid, uint64_t *fingerprint);

/* For a stored velocity, at all points of this slab by the differences of the run: the largest |div c| and
 * the largest sum of the magnitudes of its three terms; 0 for other velocities. The caller takes the maximum
 * over ranks. STATUS_MEMORY, and as cases_velocity_open. */
status cases_velocity_divergence(const config *config, const grid *grid, double *divergence, double *terms);

/* For a velocity given by tables: [out] slope, for each component a bound on its changes between neighbours
 * along its own axis, over the spacing, 0 only if it does not change; divergence, the largest |div c| on this
 * slab by the differences of the run, whose errors are all that it is, or 0 in the advective form. Both 0 for
 * other velocities. STATUS_MEMORY. */
status cases_velocity_slopes(const config *config, const grid *grid, double slope[3], double *divergence);

/* The source term of the case, if it has one (problem.h): field rows (user: a cases_source), and their
 * factors at a time. */
typedef struct cases_source {
  cases_velocity velocity;
  double (*table[3])[2];
  int term; /* 0 .. CASES_SOURCES - 1 */
} cases_source;
int cases_has_source(const config *config);
/* The same as cases_velocity_open. */
status cases_source_open(const config *config, const grid *grid, cases_source *source);
void cases_source_close(cases_source *source);
void cases_source_row(const void *user, int64_t z, int64_t y, double *row);
void cases_source_factors(const config *config, double time, double factors[CASES_SOURCES]);

#endif
