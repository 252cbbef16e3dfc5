#ifndef FDAPP_SETTINGS_SCHEME_H
#define FDAPP_SETTINGS_SCHEME_H

/* Explicit Runge-Kutta schemes of d u / dt = L(u, t) as tables. Everything else is computed from a table:
 * states in memory, words moved, stability limits, growth of a mode. src/config reads the names from here.
 *
 * A scheme keeps states in slots; slot 0 holds u at the beginning of a step. Each stage writes one slot,
 *
 *   out = base + weight (f - base) + sum_i extra_i.weight (extra_i - base) + dt b L(f, t + c dt),
 *
 * which is the least memory traffic for one evaluation of L. Weights multiply differences, so that a constant
 * state stays constant to the bit. `out` may be the slot of base or of an extra, but not that of f, because L
 * reads neighbours of f. */

enum {
  SCHEME_STAGES = 10,
  SCHEME_SLOTS = 4,
  SCHEME_EXTRAS = 2
}; /* upper limits; raise them for a larger table */

typedef struct scheme_extra {
  int slot;
  double weight;
} scheme_extra;

/* Slots, weights, b and c of the formula above. */
typedef struct scheme_stage {
  int out, f, base; /* if base = f, only f is read and `weight` has no effect */
  double weight;
  int extras;
  scheme_extra extra[SCHEME_EXTRAS];
  double b, c;
} scheme_stage;

typedef struct scheme scheme;
struct scheme {
  const char *name; /* value of time.scheme; NULL for a table that is the `linear` of another */
  const char *help; /* description and source, for --list */
  int order;        /* for nonlinear and unsteady right-hand sides, too */
  int stages, slots;
  int result; /* slot that holds u after the last stage */
  int leap;   /* 0; or a leapfrog scheme of this order in time, which no table describes: see below */
  const scheme *linear; /* NULL, or a cheaper table with the same stability polynomial: it gives the same step
                         * if L is linear and does not depend on time, otherwise a step of lower order */
  scheme_stage stage[SCHEME_STAGES];
};

/* The i-th Runge-Kutta scheme in the order of --list, or NULL beyond the end. */
const scheme *schemes_at(int index);

/* The values of time.scheme: Runge-Kutta schemes, then leapfrog schemes. Those advance u_tt = A u by
 *
 *   u(t + dt) = 2 u - u(t - dt) + dt^2 A u                  leap = 2
 *   u(t + dt) = 2 u - u(t - dt) + dt^2 A u + dt^4/12 A A u  leap = 4, by the modified equation,
 *
 * and keep u and u(t - dt) as one state, slot 0; slot 1 is scratch. Index of a name, or -1. */
const scheme *schemes_all(int index);
int schemes_find(const char *name);

/* The largest dt of a leapfrog scheme times the square root of the largest eigenvalue of -A. */
double scheme_leap_limit(const scheme *scheme);

/* The cheapest form of a scheme for a right-hand side that is linear and steady, or not. */
const scheme *scheme_form(const scheme *scheme, int linear, int steady);

/* Words per point and unknown that one stage, or all stages of a step, read and write. They are those of f,
 * base, extras and out. */
int scheme_stage_words(const scheme_stage *stage);
int scheme_words(const scheme *scheme);

/* Returns the pairs of stages that can be computed in one sweep: bit i for stages i and i + 1. Nothing but
 * the second stage may read the result of the first. [out] result: the slot that then holds u after the last
 * stage. It differs from the scheme's if the second stage would overwrite an array of which the sweep reads
 * neighbours. */
unsigned scheme_pairs(const scheme *scheme, int *result);

/* |R(z)|: the factor by which one step multiplies a mode with du/dt = (z/dt) u, z = real + i imaginary. */
double scheme_growth(const scheme *scheme, double real, double imaginary);

/* scheme_imaginary_limit: the largest y such that no mode on the imaginary axis from 0 to i y grows.
 * scheme_real_limit: the same for the real axis from -y to 0. */
double scheme_imaginary_limit(const scheme *scheme);
double scheme_real_limit(const scheme *scheme);

/* The largest step dt such that no step up to dt lets the mode du/dt = (-real + i imaginary) u grow. */
double scheme_mode_limit(const scheme *scheme, double real, double imaginary);

#endif
