#include <complex.h>
#include <math.h>
#include <string.h>

#include "app/stability_sound.h"

/* Modes of sound. With phases theta_d, s_d and e_d the symbols of the difference and of the dissipation there
 * (a_d = e_d; 0 with central differences), all times c/h_d, and velocities divided by i r c, a mode obeys
 *
 *     dp/dt = -sum_d a_d p + sum_d s_d u_d,    du_d/dt = -s_d p - e_d u_d.
 *
 * Its four rates are the roots of (x + sum_d a_d) prod_d (x + e_d) + sum_d s_d^2 prod_(k != d) (x + e_k),
 * so an axis enters by the number a + s^2/(x + e) alone. On an axis with ends a, e and s are matrices A, E
 * and S, and the number is an eigenvalue of A + S (x + E)^-1 S^T. Beside an end it is close to a + s^2/(x +
 * e) again, with three numbers of the closure. */

enum { AXES = 3, RATES = AXES + 1 };

typedef struct symbols {
  double a, e, s;
} symbols;

/* Coefficients of the polynomial but for x^4, the constant first. */
static void polynomial_make(const symbols d[AXES], double of[RATES]) {
  const double e[AXES] = {d[0].e, d[1].e, d[2].e};
  const double pairs[AXES][2] = {{e[1], e[2]}, {e[0], e[2]}, {e[0], e[1]}};
  const double sum = d[0].a + d[1].a + d[2].a;
  const double cube[AXES] = {e[0] * e[1] * e[2], e[0] * e[1] + e[0] * e[2] + e[1] * e[2], e[0] + e[1] + e[2]};
  of[0] = sum * cube[0];
  of[1] = sum * cube[1] + cube[0];
  of[2] = sum * cube[2] + cube[1];
  of[3] = sum + cube[2];
  for (int i = 0; i < AXES; i++) {
    const double square = d[i].s * d[i].s;
    of[0] += square * pairs[i][0] * pairs[i][1];
    of[1] += square * (pairs[i][0] + pairs[i][1]);
    of[2] += square;
  }
}

/* All roots at once (K. Weierstrass, E. Durand and I. O. Kerner). */
static void roots_find(const double of[RATES], double complex root[RATES]) {
  enum { MOST = 50 }; /* a multiple root gains one bit each time */
  double size = 0.0;
  for (int i = 0; i < RATES; i++) size = fmax(size, pow(fabs(of[i]), 1.0 / (RATES - i)));
  root[0] = size * (0.4 + 0.9 * I);
  for (int i = 1; i < RATES; i++) root[i] = root[i - 1] * (0.4 + 0.9 * I);
  for (int n = 0; n < MOST; n++) {
    double moved = 0.0;
    for (int i = 0; i < RATES; i++) {
      double complex value = 1.0, others = 1.0;
      for (int k = RATES - 1; k >= 0; k--) value = value * root[i] + of[k];
      for (int k = 0; k < RATES; k++) others *= k != i ? root[i] - root[k] : 1.0;
      if (others == 0.0) continue;
      root[i] -= value / others;
      moved = fmax(moved, cabs(value / others));
    }
    if (moved <= 1e-10 * size) break;
  }
}

/* Lowers the step until the rate's mode does not grow; returns 1 if that was necessary. No mode has a rate
 * with a positive real part: such a root is due to round-off, or lies near the -e of an absorbing end, where
 * a + s^2/(x + e) is no approximation. */
static int step_lower(const scheme *scheme, double complex rate, double *step) {
  static const double round_off = 1e-9;
  const double real = fmin(creal(rate), 0.0), imaginary = cimag(rate);
  if (scheme_growth(scheme, *step * real, *step * imaginary) <= 1.0 + round_off) return 0;
  double low = 0.0, high = *step;
  for (int i = 0; i < 40; i++) {
    const double middle = 0.5 * (low + high);
    *(scheme_growth(scheme, middle * real, middle * imaginary) <= 1.0 + round_off ? &low : &high) = middle;
  }
  *step = low;
  return 1;
}

enum { ECHOES = 2 };

typedef struct medium {
  const scheme *scheme;
  int order, upwind;
  const schedule_rates *rates;
} medium;

enum { PHASES = 16, FINER = 8, MOST_PHASES = PHASES + 1 + ECHOES };

/* Modes beside ends take the place of a phase along their axis: echo i has the number -1 - i. */
static const double *echo_of(const medium *m, int d, double phase) {
  return phase < 0.0 ? m->rates->echo[d][(int)(-1.0 - phase)] : NULL;
}

static symbols symbols_at(const medium *m, int d, double phase) {
  const double *echo = echo_of(m, d, phase);
  if (echo != NULL) return (symbols){echo[0], echo[1], echo[2]};
  const double sound = m->rates->sound[d];
  const double damped = m->upwind ? sound * stencil_dissipation_symbol(m->order, phase) : 0.0;
  return (symbols){damped, damped, sound * stencil_first_symbol(m->order, phase)};
}

/* Phases along axis d from `middle` - reach to `middle` + reach, the largest first: it is damped most. */
static int phases_make(const medium *m, int d, double middle, double reach, int count,
                       double of[MOST_PHASES]) {
  of[0] = middle;
  if (echo_of(m, d, middle) != NULL) return 1;
  for (int i = 0; i <= count; i++)
    of[i] = fmin(fmax(middle + reach * (1.0 - 2.0 * i / count), 0.0), acos(-1.0));
  int all = count + 1;
  for (int i = 0; i < ECHOES; i++) {
    const double *echo = m->rates->echo[d][i];
    if (echo[0] > 0.0 || echo[2] > 0.0) of[all++] = -1.0 - i;
  }
  return all;
}

/* Lowers the step until no mode of these phases grows. [in, out] worst: their middle; the mode with the least
 * step. */
static void modes_try(const medium *m, double worst[AXES], double reach, int phases, double *step) {
  double of[AXES][MOST_PHASES], polynomial[RATES];
  symbols symbols[AXES];
  double complex root[RATES];
  int count[AXES];
  for (int d = 0; d < AXES; d++) count[d] = phases_make(m, d, worst[d], reach, phases, of[d]);
  for (int i = 0; i < count[0] * count[1] * count[2]; i++) {
    const double phase[AXES] = {of[0][i % count[0]], of[1][i / count[0] % count[1]],
                                of[2][i / count[0] / count[1]]};
    for (int d = 0; d < AXES; d++) symbols[d] = symbols_at(m, d, phase[d]);
    polynomial_make(symbols, polynomial);
    roots_find(polynomial, root);
    for (int k = 0; k < RATES; k++) {
      if (step_lower(m->scheme, root[k], step)) memcpy(worst, phase, sizeof phase);
    }
  }
}

double stability_sound(const scheme *scheme, int order, int upwind, const schedule_rates *rates) {
  enum { LEVELS = 3 };
  const medium medium = {scheme, order, upwind, rates};
  const double *sound = rates->sound;
  const double half = 0.5 * acos(-1.0);
  double worst[AXES] = {half, half, half}, reach = half;
  double step = 8.0 * scheme_real_limit(scheme) / fmin(sound[0], fmin(sound[1], sound[2]));
  for (int level = 0; level < LEVELS; level++) {
    const int phases = level == 0 ? PHASES : FINER;
    modes_try(&medium, worst, reach, phases, &step);
    reach *= 2.0 / phases;
  }
  return step;
}
