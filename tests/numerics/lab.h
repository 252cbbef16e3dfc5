#ifndef FDAPP_TESTS_LAB_H
#define FDAPP_TESTS_LAB_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "stepping/schedule.h"
#include "app/solver.h"
#include "problems/cases.h"

/* The solver of one process, put together from a configuration and stepped from a test. Arrays of points are
 * packed doubles [nz][ny][nx], whatever the precision of the run. A status other than STATUS_OK fails the
 * test. */
enum { LAB_SKIPPED = 77 };

typedef struct lab {
  config config;
  grid grid;
  solver solver;
} lab;

/* main() of a test program: its argument names the backend (cpu if there is none); where that cannot run, the
 * program ends with LAB_SKIPPED. */
int lab_main(int argc, char **argv, const struct CMUnitTest *tests, size_t count);

/* Gaussian in the uniform velocity (1, 0.7, -0.4) on a unit cube, rk4, advective, double, order 8, one
 * thread; time is the caller's. */
config lab_config(int nx, int ny, int nz);
/* Whether there is a velocity field of this number that the program has by itself; the others are last. */
static inline int lab_has_velocity(int number) {
  return velocities_at(number) != NULL && velocities_at(number)->from == PROBLEM_FUNCTIONS;
}
int64_t lab_points(const config *config);

/* The solver with phi at the case's initial values. It must not move until lab_close. */
void lab_open(lab *lab, const config *config);
/* The same with an equation that the program does not have; it must outlive the lab. */
void lab_open_equation(lab *lab, const config *config, const equation *equation);
void lab_close(lab *lab);

/* An equation on any backend, without a solver: a state, one of zeros, and its rate of change; the indices of
 * all points and their weights in an integral. It must not move until lab_bench_close, nor the configuration.
 */
typedef struct lab_bench {
  const config *config;
  grid grid;
  const equation *equation;
  kernels_context *context;
  field_space space;
  void *terms;
  state f, zero, rate;
  int points, (*place)[3];
  double *weight;
} lab_bench;

void lab_bench_open(const kernels *on, const config *config, lab_bench *b);
void lab_bench_close(lab_bench *b);
/* Weight of a point in an integral, or of a point on an end of axis `without` in one over the end; without =
 * -1: none. */
double lab_weight(const grid *grid, const int p[3], int without);

/* Of the first unknown; and any of them. */
void lab_store(lab *lab, const double *points);
void lab_load(lab *lab, double *points);
void lab_load_field(lab *lab, int unknown, double *points);
/* `steps` steps of dt, the first of them from time t. */
void lab_march(lab *lab, double t, double dt, int64_t steps);

/* All of it: from the initial values over `steps` steps of dt; the points are the caller's to free. */
double *lab_solve(const config *config, double dt, int64_t steps);

double *lab_array(const config *config);
/* Numbers in (-1, 1), the same in every run that begins with the same seed, which moves on. */
#define LAB_SEED 88172645463325252u
void lab_randomise(const config *config, uint64_t *seed, double *points);
double lab_largest(const config *config, const double *a);
double lab_difference(const config *config, const double *a, const double *b);
/* Sums of values and of squares, in extended precision. */
long double lab_sum(const config *config, const double *a);
long double lab_squares(const config *config, const double *a);

/* The exponent p of error ~ size^p from two errors at sizes in the ratio `ratio` > 1 (coarse over fine). */
double lab_order(double coarse, double fine, double ratio);

/* lab_between(value, low, high, printf arguments): fails, with the value and its name, outside [low, high].
 */
void lab_between(double value, double low, double high, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
