#ifndef FDAPP_STEPPING_SCHEME_H
#define FDAPP_STEPPING_SCHEME_H

/* Explicit Runge-Kutta schemes of d u / dt = L(u, t) as tables. Everything else is computed from a table:
 * states in memory, words moved, stability limits, growth of a mode. Config/ reads the names from here.
 *
 * A scheme keeps states in slots; slot 0 holds u at the beginning of a step. Each stage writes one slot,
 *
 *     out = base + weight (f - base) + sum_i extra_i.weight (extra_i - base) + dt b L(f, t + c dt),
 *
 * which needs the least memory traffic for one evaluation of L: with weights of differences, a constant state
 * stays constant to the bit. `out` may be the slot of base or of an extra, not that of f, of which L reads
 * neighbours. */

enum {
  SCHEME_STAGES = 10,
  SCHEME_SLOTS = 4,
  SCHEME_EXTRAS = 2
}; /* most of them; a larger table needs larger numbers */

typedef struct scheme_extra {
  int slot;
  double weight;
} scheme_extra;

/* Slots, weights, and b and c of the formula above. */
typedef struct scheme_stage {
  int out, f, base; /* base = f: only f itself is read, and `weight` has no effect */
  double weight;
  int extras;
  scheme_extra extra[SCHEME_EXTRAS];
  double b, c;
} scheme_stage;

typedef struct scheme scheme;
struct scheme {
  const char *name; /* as time.scheme has it; NULL for a form that is another's `linear` */
  const char *help; /* what it is and where it comes from, for --list */
  int order;        /* of nonlinear and unsteady right-hand sides, too */
  int stages, slots;
  int result;           /* slot that holds u after the last stage */
  const scheme *linear; /* NULL, or a cheaper table with the same stability polynomial: the same step where L
                         * is linear and does not depend on time, a step of lower order elsewhere */
  scheme_stage stage[SCHEME_STAGES];
};

/* The list, in the order of --list; NULL beyond the end. Index of a name, or -1. */
const scheme *schemes_at(int index);
int schemes_find(const char *name);

/* The form of a scheme that costs least for a right-hand side that is linear, steady, or not. */
const scheme *scheme_form(const scheme *scheme, int linear, int steady);

/* Words that all stages of a step move per point and unknown: f, base, extras and out. */
int scheme_words(const scheme *scheme);

/* Stages that can be computed two in one sweep, the second of what the first makes and nobody else reads: bit
 * i for stages i and i + 1. [out] result: the slot that then holds u after the last stage. It is another than
 * the scheme's if the second would overwrite an array of which the sweep reads neighbours. */
unsigned scheme_pairs(const scheme *scheme, int *result);

/* |R(z)|: the factor by which one step multiplies a mode whose rate of change is z/dt times itself,
 * z = real + i imaginary. */
double scheme_growth(const scheme *scheme, double real, double imaginary);

/* The largest y such that no mode grows on the imaginary axis from 0 to i y, and on the real axis from -y to
 * 0. */
double scheme_imaginary_limit(const scheme *scheme);
double scheme_real_limit(const scheme *scheme);

#endif
