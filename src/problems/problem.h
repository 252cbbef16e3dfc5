#ifndef FDAPP_PROBLEMS_PROBLEM_H
#define FDAPP_PROBLEMS_PROBLEM_H

#include <float.h>
#include <math.h>

#include "settings/settings.h"
#include "domain/grid.h"

/* The objects that define a problem: an initial condition (cases/) and a velocity field (velocities/), each
 * one constant object in one file. cases.h evaluates them; config/ reads their names, keys and limits. Their
 * functions are pure functions of configuration, position and time, and are called from several threads at
 * once. Lengths are in domain units. */

#define PROBLEM_PI 3.14159265358979323846

/* Source of the values of a case or a velocity field: its own functions, or a formula or file of the
 * configuration. */
typedef enum problem_origin { PROBLEM_FUNCTIONS, PROBLEM_FORMULA, PROBLEM_FILE } problem_origin;

/* The default dataset of a file: that of a snapshot. */
#define PROBLEM_DATASET "VTKHDF/PointData/phi"

/* Largest magnitude of values from formulas and files, as of numbers in a configuration. */
#define PROBLEM_LARGEST 1e30
#define PROBLEM_SLACK   1e-12

/* Least standard deviation of a gaussian pulse, in spacings, that a grid resolves. */
#define PROBLEM_PULSE_WIDTH 1.5

/* Motions, as flags. A velocity names its motion; a case names the motions after which its solution is
 * known. */
enum {
  PROBLEM_SHIFT = 1, /* by the same distance everywhere */
  PROBLEM_TURN = 2,  /* around an axis */
  PROBLEM_RETURN = 4 /* any motion that returns to the start */
};

/* Position at t = 0 of a point x: about + matrix (x - about) + shift. */
typedef struct problem_map {
  double about[3], matrix[3][3], shift[3];
} problem_map;

/* The acoustic solution with a case as the initial pressure. STANDS: a standing wave. TRAVELS: a plane wave
 * that travels along its wave vector. UNKNOWN: the medium is at rest at t = 0, and no solution is known. */
typedef enum problem_sound { SOUND_UNKNOWN, SOUND_STANDS, SOUND_TRAVELS } problem_sound;

enum { PROBLEM_KEYS = 16, CASES_SOURCES = 2 };

/* An object's lists of keys end with NULL. A key is "section.name". */
#define PROBLEM_HEIGHT "initial.amplitude", "initial.background"
#define PROBLEM_CENTER "initial.center_x", "initial.center_y", "initial.center_z"
#define PROBLEM_WAVES  "initial.kx", "initial.ky", "initial.kz"

/* The velocity c(x, t) = g(t) c(x). */
typedef struct velocity_field {
  const char *name, *help;
  problem_origin from; /* other than PROBLEM_FUNCTIONS: a stored velocity, without entry and factor */
  const char *keys[PROBLEM_KEYS];
  int uniform; /* 1: c is the vector u, v, w, so kernels need no tables */
  /* Sets the entries that the formula of kernels_tables needs at index i of an axis. On entry `table` is 0
   * along x and has factors of 1 along y and z. The sums begin at PROBLEM_SUM. */
  void (*entry)(const config *config, const grid *grid, axis axis, int64_t i, double table[KERNELS_TABLE]);
  double (*factor)(const config *config, double time);               /* g, at most 1 in magnitude; NULL: 1 */
  unsigned motion;                                                   /* one of the flags, or 0 */
  void (*back)(const config *config, double time, problem_map *map); /* map to the start; NULL: identity */
  /* 1 if the motion is as `motion` says at this time > 0; and a description of when that is. NULL: always. */
  int (*known)(const config *config, double time);
  const char *when;
  /* 1 if a body of this radius around the case's centre is carried as a whole; and a description of what
   * happens otherwise. NULL: always. */
  int (*holds)(const config *config, double radius);
  const char *otherwise;
} velocity_field;

enum { PROBLEM_SUM = 3 };

/* A source term S, the sum of factors(t) times rows. It maintains a solution that is not carried by the
 * velocity. */
typedef struct problem_source {
  /* The entries that rows need at an index of each axis. */
  void (*entry)(const config *config, const grid *grid, int d, int64_t i, double entry[2]);
  /* Term `term` at a point, from the entries of its three indices and the velocity. */
  double (*value)(const config *config, int term, const double *const entry[3], const double velocity[3]);
  void (*factors)(const config *config, double time, double velocity_factor, double factors[CASES_SOURCES]);
} problem_source;

/* A state of compressible flow with mean density 1 and velocity 1, at the configuration's Mach number: the
 * values of its unknowns (flow.h) at a point, from entries of its three indices. */
enum { PROBLEM_FLOW_ENTRIES = 4 };
typedef struct problem_flow {
  double amplitude, largest; /* initial.amplitude, if it is not given, and a bound on its magnitude */
  int inviscid;              /* 1: the solution is known at all times without viscosity */
  int viscous;               /* 1: with constant viscosity, too */
  int linear; /* 1: up to errors of the order of amplitude^2; the default amplitude has none to speak of */
  void (*entry)(const config *config, int d, double x, double time, double entry[PROBLEM_FLOW_ENTRIES]);
  double (*value)(const config *config, int unknown, double time, const double *const entry[3]);
} problem_flow;

/* The pressure, and the temperature, of density 1 and velocity 1 at the configuration's Mach number. */
static inline double problem_flow_pressure(const config *config) {
  return 1.0 / (config->gamma * config->mach * config->mach);
}
static inline double problem_flow_temperature(const config *config) {
  return problem_flow_pressure(config) / config->gas_constant;
}

/* phi(x, t) = background + scale(t) shape(x), where shape is either a product of three functions of one
 * coordinate each (`factor`) or a function of the offset from the centre (`body`). */
typedef struct initial_case {
  const char *name, *help;
  problem_origin from; /* other than PROBLEM_FUNCTIONS: without factor, body and scale */
  const char *keys[PROBLEM_KEYS];
  double narrowest; /* least initial.width, in spacings, that a grid resolves */
  double widest;    /* largest initial.width allowed, in shortest lengths */
  /* The factor of axis d at x, the position before the motion; `time` is for spreading by diffusion. */
  double (*factor)(const config *config, int d, double x, double time);
  /* The value at an offset from the centre; along periodic axes that of the nearest image. */
  double (*body)(const config *config, const double offset[3]);
  double (*scale)(const config *config, double time); /* NULL: initial.amplitude */
  problem_sound sound;                                /* its solution as the pressure of acoustics */
  int jumps;                                          /* 1: the values jump at an edge */
  int is_distance;              /* 1: a signed distance, which redistancing may restore */
  unsigned known_after;         /* motions after which the solution is known without diffusion */
  int spreads;                  /* 1: also known in a shifting velocity with diffusion */
  double reach;                 /* radius beyond which the value is the background, in widths */
  const problem_flow *flow;     /* NULL: a case of other equations; else of flow, with none of the above */
  const problem_source *source; /* NULL: none; otherwise the solution does not move and is always known */
} initial_case;

/* What cases have in common that are zero beyond initial.width from their centre. A larger body would touch
 * its own periodic image and be cut there. */
#define PROBLEM_BALL(function)                                                                               \
  .keys = {PROBLEM_HEIGHT, PROBLEM_CENTER, "initial.width"}, .widest = 0.5, .body = (function),              \
  .known_after = PROBLEM_SHIFT | PROBLEM_TURN | PROBLEM_RETURN, .reach = 1.0

/* The i-th object in the order of --list; NULL beyond the end. */
const initial_case *cases_at(int index);
const velocity_field *velocities_at(int index);
/* Index of a name, or -1. */
int cases_find(const char *name);
int velocities_find(const char *name);

/* 1 if the case or the velocity of a configuration uses a key. */
int problem_uses(const config *config, const char *section, const char *name);

/* 1 if a factor g(t) is at most 1 in magnitude, apart from round-off, as step sizes require. */
int problem_factor_allowed(double factor);

/* The distance of 1 to the next larger number of a precision. */
static inline double problem_rounding(precision precision) {
  return precision == PRECISION_SINGLE ? (double)FLT_EPSILON : DBL_EPSILON;
}

/* The order of the closures beside ends: that of the differences; waves have mirror images instead, whose
 * norm is that of order 2. */
int problem_closure(const config *config);

/* The grid of a configuration, with its ends. STATUS_USAGE as grid_make and grid_bound. */
status problem_grid(const config *config, int ranks, int rank, grid *grid);

/* The distance from the centre at an offset from it. */
static inline double problem_radius(const double offset[3]) {
  return sqrt(offset[0] * offset[0] + offset[1] * offset[1] + offset[2] * offset[2]);
}

/* The periodic image of x nearest to 0, along an axis of the given length. */
double problem_nearest(double x, double length);
/* problem_bounded returns 1 if axis d has two ends. problem_offset returns the offset x along the axis or, if
 * the axis is periodic, that of the nearest image. */
int problem_bounded(const config *config, int d);
/* 1 for a coordinate outside the domain. One within PROBLEM_SLACK of its length beyond an end lies on the
 * end, where rounding has put it. */
int problem_outside(const config *config, int d, double at);
double problem_offset(const config *config, int d, double x);
/* Wave number 2 pi k / l of whole waves across axis d, and the sum of their squares. Between a wall and a
 * free end there is a quarter of a wave less. */
double problem_wave(const config *config, int d);
double problem_waves_squared(const config *config);
/* The standing wave along axis d at x, and its slope over the negative wave number: cos(k x) and sin(k x),
 * or, where the low end is free, sin(k x) and -cos(k x). */
double problem_standing(const config *config, int d, double x);
double problem_standing_slope(const config *config, int d, double x);

#endif
