#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "equations/acoustics.h"
#include "equations/trial.h"
#include "problems/medium.h"
#include "settings/scheme.h"

/* What limits a step of sound: inside the grid the growth of waves, beside ends what a trial finds. With
 * phases theta_d, s_d and e_d the symbols of the difference and of the dissipation there
 * (a_d = e_d; 0 with central differences), all times c/h_d, and velocities divided by i r c, a mode obeys
 *
 *     dp/dt = -sum_d a_d p + sum_d s_d u_d,    du_d/dt = -s_d p - e_d u_d.
 *
 * Its four rates are the roots of (x + sum_d a_d) prod_d (x + e_d) + sum_d s_d^2 prod_(k != d) (x + e_k),
 * and no end of an axis has a part in it. */

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

/* Lowers the step until the rate's mode does not grow; returns 1 if that was necessary. A root with a
 * positive real part is due to round-off. */
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

typedef struct lattice {
  const scheme *scheme;
  int order, upwind;
  double rate[AXES]; /* c/h */
} lattice;

static symbols symbols_at(const lattice *m, int d, double phase) {
  const double damped = m->upwind ? m->rate[d] * stencil_dissipation_symbol(m->order, phase) : 0.0;
  return (symbols){damped, damped, m->rate[d] * stencil_first_symbol(m->order, phase)};
}

/* Lowers the step until no mode with phases of `count` + 1 along each axis, from `worst` - reach to `worst` +
 * reach, grows. [in, out] worst: their middle; the mode with the least step. */
static void modes_try(const lattice *m, double worst[AXES], double reach, int count, double *step) {
  const double middle[AXES] = {worst[0], worst[1], worst[2]};
  const int each = count + 1;
  for (int i = 0; i < each * each * each; i++) {
    const int at[AXES] = {i % each, i / each % each, i / each / each};
    double phase[AXES], polynomial[RATES];
    symbols symbols[AXES];
    double complex root[RATES];
    for (int d = 0; d < AXES; d++) {
      /* the largest first: it is damped most */
      phase[d] = fmin(fmax(middle[d] + reach * (1.0 - 2.0 * at[d] / count), 0.0), acos(-1.0));
      symbols[d] = symbols_at(m, d, phase[d]);
    }
    polynomial_make(symbols, polynomial);
    roots_find(polynomial, root);
    for (int k = 0; k < RATES; k++) {
      if (step_lower(m->scheme, root[k], step)) memcpy(worst, phase, sizeof phase);
    }
  }
}

/* The largest step with which no wave inside the grid grows. */
static double inside_step(const config *config, const grid *grid) {
  enum { LEVELS = 3, PHASES = 16, FINER = 8 };
  lattice lattice = {.scheme = schemes_at(config->scheme),
                     .order = config->order,
                     .upwind = config->difference == CONFIG_DIFFERENCE_UPWIND};
  const double half = 0.5 * acos(-1.0);
  double worst[AXES] = {half, half, half}, reach = half, least = INFINITY;
  for (int d = 0; d < AXES; d++) {
    lattice.rate[d] = config->sound_speed / grid->h[d];
    least = fmin(least, lattice.rate[d]);
  }
  double step = 8.0 * scheme_real_limit(lattice.scheme) / least;
  for (int level = 0; level < LEVELS; level++) {
    const int count = level == 0 ? PHASES : FINER;
    modes_try(&lattice, worst, reach, count, &step);
    reach *= 2.0 / count;
  }
  return step;
}

/* Lowers the step to what a uniform medium allows. [out] bound: 1 if waves inside the grid do not grow with
 * dt, and only the trial forbids it. */
static status uniform_step(const config *config, const grid *grid, double dt, double *step, int *bound) {
  const double inside = inside_step(config, grid);
  double beside = INFINITY;
  if (grid->bounded[0] || grid->bounded[1] || grid->bounded[2])
    CHECK(trial_step(&acoustics_equation, config, grid, &beside));
  *bound = dt <= inside;
  *step = fmin(*step, fmin(inside, beside));
  return STATUS_OK;
}

/* A medium that varies stands for a uniform one of its fastest wave, with upwind differences and with none of
 * their dissipation, which varies. */
static status varying_step(const config *config, const grid *grid, const schedule_rates *rates, double dt,
                           equation_limit *limit) {
  struct config uniform = *config;
  double squares = 0.0;
  for (int d = 0; d < AXES; d++) squares += 1.0 / (grid->h[d] * grid->h[d]);
  uniform.sound_speed = rates->advection / sqrt(squares);
  for (int i = 0; i < CONFIG_MEDIA; i++) uniform.medium[i][0] = '\0';
  uniform.medium_file[0] = '\0';
  CHECK(uniform_step(&uniform, grid, dt, &limit->step, &limit->bound));
  uniform.difference = CONFIG_DIFFERENCE_CENTRAL;
  if (config->difference != CONFIG_DIFFERENCE_CENTRAL)
    CHECK(uniform_step(&uniform, grid, dt, &limit->step, &limit->bound));
  limit->bound = 1;
  return STATUS_OK;
}

status acoustics_limit(const config *config, const grid *grid, const schedule_rates *rates, double dt,
                       equation_limit *limit) {
  limit->step = INFINITY;
  CHECK(medium_varies(config) ? varying_step(config, grid, rates, dt, limit)
                              : uniform_step(config, grid, dt, &limit->step, &limit->bound));
  (void)snprintf(limit->words, EQUATION_WORDS, EQUATION_BEYOND, dt * rates->advection,
                 limit->step * rates->advection, schemes_at(config->scheme)->name, config->order);
  return STATUS_OK;
}
