#include "settings/scheme.h"

#include <complex.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

/* C.-W. Shu and S. Osher, J. Comput. Phys. 77 (1988) 439: convex combinations, written with differences. */
static const scheme ssprk3 = {
    .name = "ssprk3",
    .help = "strong-stability-preserving Runge-Kutta (Shu and Osher 1988)",
    .order = 3,
    .stages = 3,
    .slots = 3,
    .stage = {{.out = 1, .f = 0, .base = 0, .b = 1.0, .c = 0.0},
              {.out = 2, .f = 1, .base = 0, .weight = 0.25, .b = 0.25, .c = 1.0},
              {.out = 0, .f = 2, .base = 0, .weight = 2.0 / 3.0, .b = 2.0 / 3.0, .c = 0.5}}};

/* Horner's form of the stability polynomial: phi + dt L(phi + dt/2 L(phi + dt/3 L(phi + dt/4 L phi))). */
static const scheme rk4_horner = {.order = 4,
                                  .stages = 4,
                                  .slots = 3,
                                  .stage = {{.out = 1, .f = 0, .base = 0, .b = 1.0 / 4.0},
                                            {.out = 2, .f = 1, .base = 0, .b = 1.0 / 3.0},
                                            {.out = 1, .f = 2, .base = 0, .b = 1.0 / 2.0},
                                            {.out = 0, .f = 1, .base = 0, .b = 1.0}}};

/* The last stage combines the stage fields: phi + ((phi1 - phi) + 2 (phi2 - phi) + (phi3 - phi))/3 + dt/6 L
 * phi3. */
static const scheme rk4 = {.name = "rk4",
                           .help = "classical Runge-Kutta (Kutta 1901)",
                           .order = 4,
                           .stages = 4,
                           .slots = 4,
                           .linear = &rk4_horner,
                           .stage = {{.out = 1, .f = 0, .base = 0, .b = 0.5, .c = 0.0},
                                     {.out = 2, .f = 1, .base = 0, .b = 0.5, .c = 0.5},
                                     {.out = 3, .f = 2, .base = 0, .b = 1.0, .c = 0.5},
                                     {.out = 0,
                                      .f = 3,
                                      .base = 0,
                                      .weight = 1.0 / 3.0,
                                      .extras = 2,
                                      .extra = {{1, 1.0 / 3.0}, {2, 2.0 / 3.0}},
                                      .b = 1.0 / 6.0,
                                      .c = 1.0}}};

/* Schemes in the 2N form K = A_j K + dt L(u), u = u + B_j K need two slots and no K, because K_j = (u_j -
 * u_j-1)/B_j-1:
 *
 *     u_j+1 = u_j + B_j A_j/B_j-1 (u_j - u_j-1) + dt B_j L u_j,
 *
 * which is a stage with base u_j-1 and the weight below. */
#define WEIGHT_2N(A, B, previous_B) (1.0 + (B) * (A) / (previous_B))

/* J. H. Williamson, J. Comput. Phys. 35 (1980) 48, case 7: A = 0, -5/9, -153/128, B = 1/3, 15/16, 8/15. */
static const scheme rk3 = {.name = "rk3",
                           .help = "low-storage Runge-Kutta (Williamson 1980)",
                           .order = 3,
                           .stages = 3,
                           .slots = 2,
                           .result = 1,
                           .stage = {{.out = 1, .f = 0, .base = 0, .b = 1.0 / 3.0, .c = 0.0},
                                     {.out = 0,
                                      .f = 1,
                                      .base = 0,
                                      .weight = WEIGHT_2N(-5.0 / 9.0, 15.0 / 16.0, 1.0 / 3.0),
                                      .b = 15.0 / 16.0,
                                      .c = 1.0 / 3.0},
                                     {.out = 1,
                                      .f = 0,
                                      .base = 1,
                                      .weight = WEIGHT_2N(-153.0 / 128.0, 8.0 / 15.0, 15.0 / 16.0),
                                      .b = 8.0 / 15.0,
                                      .c = 0.75}}};

/* M. H. Carpenter and C. A. Kennedy, NASA TM-109112 (1994), solution 3. */
#define A2 (-567301805773.0 / 1357537059087.0)
#define A3 (-2404267990393.0 / 2016746695238.0)
#define A4 (-3550918686646.0 / 2091501179385.0)
#define A5 (-1275806237668.0 / 842570457699.0)
#define B1 (1432997174477.0 / 9575080441755.0)
#define B2 (5161836677717.0 / 13612068292357.0)
#define B3 (1720146321549.0 / 2090206949498.0)
#define B4 (3134564353537.0 / 4481467310338.0)
#define B5 (2277821191437.0 / 14882151754819.0)
static const scheme ck45 = {
    .name = "ck45",
    .help = "low-storage Runge-Kutta (Carpenter and Kennedy 1994, NASA TM-109112)",
    .order = 4,
    .stages = 5,
    .slots = 2,
    .result = 1,
    .stage = {{.out = 1, .f = 0, .base = 0, .b = B1, .c = 0.0},
              {.out = 0, .f = 1, .base = 0, .weight = WEIGHT_2N(A2, B2, B1), .b = B2, .c = B1},
              {.out = 1,
               .f = 0,
               .base = 1,
               .weight = WEIGHT_2N(A3, B3, B2),
               .b = B3,
               .c = 2526269341429.0 / 6820363962896.0},
              {.out = 0,
               .f = 1,
               .base = 0,
               .weight = WEIGHT_2N(A4, B4, B3),
               .b = B4,
               .c = 2006345519317.0 / 3224310063776.0},
              {.out = 1,
               .f = 0,
               .base = 1,
               .weight = WEIGHT_2N(A5, B5, B4),
               .b = B5,
               .c = 2802321613138.0 / 2924317926251.0}}};

/* Horner's form of the polynomial of kgu35. */
static const scheme kgu35_horner = {.order = 3,
                                    .stages = 5,
                                    .slots = 3,
                                    .stage = {{.out = 1, .f = 0, .base = 0, .b = 1.0 / 5.0},
                                              {.out = 2, .f = 1, .base = 0, .b = 1.0 / 5.0},
                                              {.out = 1, .f = 2, .base = 0, .b = 1.0 / 3.0},
                                              {.out = 2, .f = 1, .base = 0, .b = 1.0 / 2.0},
                                              {.out = 0, .f = 2, .base = 0, .b = 1.0}}};

/* Ullrich's five stages of order 3, from J. E. Guerra and P. A. Ullrich, Geosci. Model Dev. 9 (2016) 2007.
 * The last stage is -u0/4 + 5 u1/4 + 3 dt/4 L u4. The polynomial is that of I. P. E. Kinnmark and W. G. Gray,
 * Math. Comput. Simul. 26 (1984) 181, whose imaginary limit sqrt 15 is the largest for five stages of order
 * 3. */
static const scheme kgu35 = {
    .name = "kgu35",
    .help = "largest steps of advection (Kinnmark and Gray 1984, Guerra and Ullrich 2016)",
    .order = 3,
    .stages = 5,
    .slots = 4,
    .linear = &kgu35_horner,
    .stage = {{.out = 1, .f = 0, .base = 0, .b = 1.0 / 5.0, .c = 0.0},
              {.out = 2, .f = 1, .base = 0, .b = 1.0 / 5.0, .c = 1.0 / 5.0},
              {.out = 3, .f = 2, .base = 0, .b = 1.0 / 3.0, .c = 1.0 / 5.0},
              {.out = 2, .f = 3, .base = 0, .b = 2.0 / 3.0, .c = 1.0 / 3.0},
              {.out = 0,
               .f = 2,
               .base = 0,
               .extras = 1,
               .extra = {{1, 5.0 / 4.0}},
               .b = 3.0 / 4.0,
               .c = 2.0 / 3.0}}};

static const scheme *const schemes[] = {&rk4, &ssprk3, &rk3, &ck45, &kgu35};

const scheme *schemes_at(int index) {
  return index >= 0 && index < (int)(sizeof schemes / sizeof schemes[0]) ? schemes[index] : NULL;
}

/* G. R. Shubin and J. B. Bell, SIAM J. Sci. Stat. Comput. 8 (1987) 135: the modified equation. */
static const scheme leapfrogs[] = {
    {.name = "leapfrog",
     .help = "second differences in time (wave)",
     .leap = 2,
     .order = 2,
     .stages = 1,
     .slots = 2},
    {.name = "leapfrog4",
     .help = "the same with the modified equation (wave; Shubin and Bell 1987)",
     .leap = 4,
     .order = 4,
     .stages = 1,
     .slots = 2}};

const scheme *schemes_all(int index) {
  const int first = (int)(sizeof schemes / sizeof schemes[0]), leap = index - first;
  if (leap < 0) return schemes_at(index);
  return leap < (int)(sizeof leapfrogs / sizeof leapfrogs[0]) ? &leapfrogs[leap] : NULL;
}

int schemes_find(const char *name) {
  for (int i = 0; schemes_all(i) != NULL; i++) {
    if (strcmp(schemes_all(i)->name, name) == 0) return i;
  }
  return -1;
}

/* With x = dt^2 times the eigenvalue, x and x - x^2/12 must lie between 0 and 4. */
double scheme_leap_limit(const scheme *scheme) {
  return scheme->leap == 4 ? sqrt(12.0) : 2.0;
}

const scheme *scheme_form(const scheme *scheme, int linear, int steady) {
  return linear && steady && scheme->linear != NULL ? scheme->linear : scheme;
}

int scheme_stage_words(const scheme_stage *stage) {
  return 2 + (stage->base != stage->f) + stage->extras;
}

int scheme_words(const scheme *scheme) {
  int words = 0;
  for (int i = 0; i < scheme->stages; i++) words += scheme_stage_words(&scheme->stage[i]);
  return words;
}

static int reads(const scheme_stage *stage, int slot) {
  int found = stage->f == slot || stage->base == slot;
  for (int k = 0; k < stage->extras; k++) found |= stage->extra[k].slot == slot;
  return found;
}

/* Returns 1 if the contents of `slot` after stage i are read later. */
static int is_needed(const scheme *scheme, int i, int slot) {
  for (int k = i + 1; k < scheme->stages; k++) {
    if (reads(&scheme->stage[k], slot)) return 1;
    if (scheme->stage[k].out == slot) return 0;
  }
  return slot == scheme->result;
}

/* The slot of the result if stages i and i + 1 are computed in one sweep: the second stage's slot, or, at the
 * end of a step, the first one's, which the sweep does not need. -1 if they cannot be one sweep. */
static int pair_result(const scheme *scheme, int i) {
  const scheme_stage *first = &scheme->stage[i], *second = &scheme->stage[i + 1];
  const int between = first->out;
  if (second->f != between || second->base == between || first->extras + second->extras > 0) return -1;
  if (is_needed(scheme, i + 1, between)) return -1;
  if (!reads(first, second->out) && second->base != second->out) return second->out;
  return i + 2 == scheme->stages && !reads(first, between) ? between : -1;
}

unsigned scheme_pairs(const scheme *scheme, int *result) {
  unsigned pairs = 0;
  *result = scheme->result;
  for (int i = 0; i + 1 < scheme->stages; i++) {
    const int slot = pair_result(scheme, i);
    if (slot < 0) continue;
    pairs |= 1U << i++;
    if (i + 1 == scheme->stages) *result = slot;
  }
  return pairs;
}

/* Magnitudes are roots of sums of squares here and below, because C libraries round cabs and hypot
 * differently (problems/rounded.h): with values on ends and no velocity the step size follows from a limit.
 */
double scheme_growth(const scheme *scheme, double real, double imaginary) {
  double complex slots[SCHEME_SLOTS] = {1.0};
  for (int i = 0; i < scheme->stages; i++) {
    const scheme_stage *stage = &scheme->stage[i];
    const double complex f = slots[stage->f];
    const double complex base = slots[stage->base];
    double complex out = base + stage->weight * (f - base) + stage->b * (real + I * imaginary) * f;
    for (int k = 0; k < stage->extras; k++)
      out += stage->extra[k].weight * (slots[stage->extra[k].slot] - base);
    slots[stage->out] = out;
  }
  const double complex out = slots[scheme->result];
  return sqrt(creal(out) * creal(out) + cimag(out) * cimag(out));
}

/* The length of the interval on a ray from 0 along which no mode grows. A scheme of s stages is stable up to
 * at most s - 1 on the imaginary axis and 2 s^2 on the real one, so the search ends. */
static double limit_along(const scheme *scheme, double real, double imaginary) {
  static const double step = 1.0 / 64.0, round_off = 1e-13;
  double low = 0.0;
  while (scheme_growth(scheme, real * (low + step), imaginary * (low + step)) <= 1.0 + round_off) low += step;
  double high = low + step;
  for (int i = 0; i < 48; i++) {
    const double middle = 0.5 * (low + high);
    *(scheme_growth(scheme, real * middle, imaginary * middle) <= 1.0 + round_off ? &low : &high) = middle;
  }
  return low;
}

double scheme_imaginary_limit(const scheme *scheme) {
  return limit_along(scheme, 0.0, 1.0);
}

double scheme_real_limit(const scheme *scheme) {
  return limit_along(scheme, -1.0, 0.0);
}

double scheme_mode_limit(const scheme *scheme, double real, double imaginary) {
  const double size = sqrt(real * real + imaginary * imaginary);
  return limit_along(scheme, -real / size, imaginary / size) / size;
}
