#ifndef FDAPP_PROBLEMS_PROBLEM_H
#define FDAPP_PROBLEMS_PROBLEM_H

#include "config/settings.h"
#include "domain/grid.h"

/* What a problem is made of: an initial condition and a velocity field, each one object in one file of its
 * own (cases/, velocities/). cases.h evaluates them; config/ reads their names, keys and limits. The objects
 * are constants, and their functions are pure functions of configuration, position and time, called from
 * several threads at once. Lengths are in domain units. */

#define PROBLEM_PI 3.14159265358979323846

/* Where values of a case or a velocity field come from: its own functions, or what the configuration names.
 */
typedef enum problem_origin { PROBLEM_FUNCTIONS, PROBLEM_FORMULA, PROBLEM_FILE } problem_origin;

/* The dataset of a file that is taken unless told otherwise: that of a snapshot. */
#define PROBLEM_DATASET "VTKHDF/PointData/phi"

/* Largest magnitude of what a formula or a file may give, as of the keys of a configuration. */
#define PROBLEM_LARGEST 1e30

/* Motions that leave a shape recognisable, as flags. A velocity names the one that it makes, a case those
 * after which its solution is still known. */
enum {
  PROBLEM_SHIFT = 1, /* along the axes, by the same distance everywhere */
  PROBLEM_TURN = 2,  /* around an axis */
  PROBLEM_RETURN = 4 /* anything, but back where it started */
};

/* Where a point x was at t = 0: about + matrix (x - about) + shift. */
typedef struct problem_map {
  double about[3], matrix[3][3], shift[3];
} problem_map;

/* A pressure whose sound is known: a wave at rest that swings in its place, or one that travels along its
 * wave vector. Any other one is at rest at t = 0, and its sound is not known. */
typedef enum problem_sound { SOUND_UNKNOWN, SOUND_STANDS, SOUND_TRAVELS } problem_sound;

enum { PROBLEM_KEYS = 16, CASES_SOURCES = 2 };

/* The lists of keys of an object end with NULL. A key is "section.name". */
#define PROBLEM_HEIGHT "initial.amplitude", "initial.background"
#define PROBLEM_CENTER "initial.center_x", "initial.center_y", "initial.center_z"
#define PROBLEM_WAVES  "initial.kx", "initial.ky", "initial.kz"

/* The velocity c(x, t) = g(t) c(x). */
typedef struct velocity_field {
  const char *name, *help;
  problem_origin from; /* not PROBLEM_FUNCTIONS: a stored velocity, without entry and factor */
  const char *keys[PROBLEM_KEYS];
  int uniform; /* c is the vector u, v, w: kernels need no tables */
  /* Adds to `table`, which is 0 along x and holds factors of 1 along y and z, what the formula of
   * kernels_tables needs at index i of an axis. The sums begin at PROBLEM_SUM. */
  void (*entry)(const config *config, const grid *grid, axis axis, int64_t i, double table[KERNELS_TABLE]);
  double (*factor)(const config *config, double time);               /* g, at most 1 in magnitude; NULL: 1 */
  unsigned motion;                                                   /* one of the flags, or 0 */
  void (*back)(const config *config, double time, problem_map *map); /* NULL: where it started */
  /* Whether the motion is as said at this time > 0, and when that is, in words; NULL: always. */
  int (*known)(const config *config, double time);
  const char *when;
  /* Whether a body of this radius around the case's centre is carried as a whole, and what happens otherwise,
   * in words; NULL: always. */
  int (*holds)(const config *config, double radius);
  const char *otherwise;
} velocity_field;

enum { PROBLEM_SUM = 3 };

/* A source term S = sum of factors(t) times rows: what keeps a case up that no velocity carries. */
typedef struct problem_source {
  /* Along each axis what rows need at an index. */
  void (*entry)(const config *config, const grid *grid, int d, int64_t i, double entry[2]);
  /* Term `term` at a point, from the entries of its three indices and the velocity. */
  double (*value)(const config *config, int term, const double *const entry[3], const double velocity[3]);
  void (*factors)(const config *config, double time, double velocity_factor, double factors[CASES_SOURCES]);
} problem_source;

/* phi(x, t) = background + scale(t) shape(x), where shape is either a product of three functions of one
 * coordinate each (`factor`) or a function of the offset from the centre (`body`). */
typedef struct initial_case {
  const char *name, *help;
  problem_origin from; /* not PROBLEM_FUNCTIONS: without factor, body and scale */
  const char *keys[PROBLEM_KEYS];
  double narrowest; /* least width in spacings that a grid holds; where it uses initial.width */
  double widest;    /* largest width allowed, in shortest lengths; where it uses initial.width */
  /* The factor of axis d at x, a coordinate before the motion; `time` for the spreading by diffusion. */
  double (*factor)(const config *config, int d, double x, double time);
  /* The value at an offset from the centre, of the nearest image along periodic axes. */
  double (*body)(const config *config, const double offset[3]);
  double (*scale)(const config *config, double time); /* NULL: initial.amplitude */
  problem_sound sound;                                /* what it becomes as the pressure of sound */
  int is_distance;              /* a level-set function: a run may make it a distance again */
  unsigned known_after;         /* motions after which it is known, without diffusion */
  int spreads;                  /* known in a shifting velocity with diffusion too */
  double reach;                 /* radius beyond which there is nothing, in widths */
  const problem_source *source; /* NULL: none; else it does not move, and is known at any time */
} initial_case;

/* The lists, in the order of --list; NULL beyond the end. */
const initial_case *cases_at(int index);
const velocity_field *velocities_at(int index);
/* Index of a name, or -1. */
int cases_find(const char *name);
int velocities_find(const char *name);

/* Whether the case or the velocity of a configuration makes use of a key. */
int problem_uses(const config *config, const char *section, const char *name);

/* Whether a factor g(t) is at most 1 in magnitude, but for round-off: step sizes rely on it. */
int problem_factor_allowed(double factor);

/* The grid of a configuration, with its ends. STATUS_USAGE as grid_make and grid_bound. */
status problem_grid(const config *config, int ranks, int rank, grid *grid);

/* x along an axis of a length, as the nearest periodic image of 0. */
double problem_nearest(double x, double length);
/* Whether axis d has two ends, and an offset along it: of the nearest image if it is periodic. */
int problem_bounded(const config *config, int d);
double problem_offset(const config *config, int d, double x);
/* Wave number of whole waves across axis d, 2 pi k / l, and the sum of their squares. Between a wall and a
 * free end they are a quarter of a wave less. */
double problem_wave(const config *config, int d);
double problem_waves_squared(const config *config);
/* The standing wave along axis d at x, and its slope over the negative wave number: cos(k x) and sin(k x),
 * or, where the low end is free, sin(k x) and -cos(k x). */
double problem_standing(const config *config, int d, double x);
double problem_standing_slope(const config *config, int d, double x);

#endif
