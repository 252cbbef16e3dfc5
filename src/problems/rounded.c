#include "problems/rounded.h"

#include <math.h>
#include <mpfr.h>
#include <stdlib.h>

/* MPFR's functions of one and two arguments, rounded to a double of the whole range: with double's exponents
 * set, mpfr_subnormalize rounds small results only once. MPFR stores the exponent range per thread. */
typedef int (*one_argument)(mpfr_t result, const mpfr_t x, mpfr_rnd_t rounding);
typedef int (*two_arguments)(mpfr_t result, const mpfr_t x, const mpfr_t y, mpfr_rnd_t rounding);

enum { DIGITS = 53, LEAST_EXPONENT = -1073, LARGEST_EXPONENT = 1024 };

static double exactly(one_argument one, two_arguments two, double x, double y) {
  const mpfr_exp_t least = mpfr_get_emin(), largest = mpfr_get_emax();
  MPFR_DECL_INIT(result, DIGITS);
  MPFR_DECL_INIT(a, DIGITS);
  MPFR_DECL_INIT(b, DIGITS);
  (void)mpfr_set_d(a, x, MPFR_RNDN);
  (void)mpfr_set_d(b, y, MPFR_RNDN);
  (void)mpfr_set_emin(LEAST_EXPONENT);
  (void)mpfr_set_emax(LARGEST_EXPONENT);
  int inexact = one != NULL ? one(result, a, MPFR_RNDN) : two(result, a, b, MPFR_RNDN);
  inexact = mpfr_check_range(result, inexact, MPFR_RNDN);
  (void)mpfr_subnormalize(result, inexact, MPFR_RNDN);
  (void)mpfr_set_emin(least);
  (void)mpfr_set_emax(largest);
  return mpfr_get_d(result, MPFR_RNDN);
}

/* The sum of two doubles, of which the second is at most half a unit in the last place of the first. */
typedef struct pair {
  double high, low;
} pair;

/* a + b exactly, |a| >= |b|. */
static inline pair join(double a, double b) {
  const double high = a + b;
  return (pair){high, b - (high - a)};
}

/* a + b exactly. */
static inline pair sum(double a, double b) {
  const double high = a + b, part = high - a;
  return (pair){high, (a - (high - part)) + (b - part)};
}

static inline pair add(pair a, pair b) {
  const pair high = sum(a.high, b.high), low = sum(a.low, b.low);
  const pair middle = join(high.high, high.low + low.high);
  return join(middle.high, middle.low + low.low);
}

static inline pair times(pair a, pair b) {
  const double high = a.high * b.high;
  return join(high, fma(a.high, b.high, -high) + (a.high * b.low + a.low * b.high));
}

static inline pair over(pair a, double b) {
  const double high = a.high / b;
  return join(high, (fma(-high, b, a.high) + a.low) / b);
}

static inline pair ratio(pair a, pair b) {
  const double high = a.high / b.high;
  const pair product = times(b, (pair){high, 0.0});
  const double rest = ((a.high - product.high) - product.low) + a.low; /* the first difference is exact */
  return join(high, rest / b.high);
}

/* If all values within a factor of 1 +- 2^-80 round to one double, returns 1 and that double. */
static inline int decide(pair value, double *result) {
  const double error = fabs(value.high) * 0x1p-80;
  *result = value.high + (value.low + error);
  return *result == value.high + (value.low - error);
}

/* exp(x) = 2^k (1 + m), |m| < 0.42, for |x| < 700, with a relative error of 2^-98 of m. A Taylor polynomial
 * gives exp(m / 256) - 1; each doubling of the argument turns e = exp(s) - 1 into e (2 + e). */
static pair exponential(pair x, int *k) {
  enum { DOUBLINGS = 8 };
  static const double ln2[3] = {0x1.62e42fefa2000p-1, 0x1.9ef35793c6000p-41, 0x1.673007e5ed5e8p-81};
  const double n = rint(x.high * 0x1.71547652b82fep+0);
  *k = (int)n;
  for (int i = 0; i < 3; i++) x = add(x, (pair){-n * ln2[i], 0.0}); /* products of the first two are exact */
  const double scale = 1.0 / (1 << DOUBLINGS);
  const pair s = {x.high * scale, x.low * scale};
  double tail = 1.0;
  for (int i = 10; i >= 7; i--) tail = 1.0 + s.high / i * tail;
  pair e = {tail, 0.0};
  for (int i = 6; i >= 2; i--) e = add((pair){1.0, 0.0}, over(times(s, e), i));
  e = times(s, e);
  for (int i = 0; i < DOUBLINGS; i++) e = times(e, add((pair){2.0, 0.0}, e));
  return e;
}

static int quick_exp(pair x, double *result) {
  int k = 0;
  if (!(fabs(x.high) < 700.0)) return 0;
  const pair m = exponential(x, &k);
  if (!decide(add((pair){1.0, 0.0}, m), result)) return 0;
  *result = ldexp(*result, k);
  return 1;
}

/* One step of Newton's method from the C library's logarithm, whose last bits do not matter: with exp(-guess)
 * x = 1 + e the logarithm is guess + log(1 + e). */
static pair logarithm(double x) {
  int k = 0;
  const double guess = log(x);
  const pair m = exponential((pair){-guess, 0.0}, &k);
  const double scaled = ldexp(x, k);
  const pair e = add((pair){scaled - 1.0, 0.0}, times((pair){scaled, 0.0}, m));
  const double more = e.high * e.high * (e.high / 3.0 - 0.5);
  return add((pair){guess, 0.0}, add(e, (pair){more, 0.0}));
}

static int has_quick_logarithm(double x) {
  return x > 0x1p-1000 && x < 0x1p1000 && x != 1.0;
}

/* Subtracts the nearest multiple n of pi/2 from x. Fails if the rest would not have a relative error of
 * 2^-90. */
static int reduce(double x, int *n, pair *rest) {
  static const double half_pi[4] = {0x1.921fb54400000p+0, 0x1.0b4611a600000p-34, 0x1.3198a2e000000p-69,
                                    0x1.b839a252049c1p-104};
  if (!(fabs(x) < 0x1p20) || fabs(x) < 0x1p-26) return 0;
  const double multiple = rint(x * 0x1.45f306dc9c883p-1);
  *n = (int)multiple & 3;
  *rest = (pair){x, 0.0};
  for (int i = 0; i < 4; i++) *rest = add(*rest, (pair){-multiple * half_pi[i], 0.0}); /* exact but one */
  return fabs(rest->high) > 0x1p-12 || multiple == 0.0;
}

/* The Taylor series of sin(r)/r (first = 3) or cos(r) (first = 2), |r| < 0.79. */
static pair series(pair r, int first) {
  enum { IN_PAIRS = 8, ALL = 14 };
  const pair square = times(r, r);
  double tail = 1.0;
  for (int i = ALL; i >= IN_PAIRS; i--) {
    const int j = first + 2 * i;
    tail = 1.0 - square.high / (j * (j - 1)) * tail;
  }
  pair t = {tail, 0.0};
  for (int i = IN_PAIRS - 1; i >= 0; i--) {
    const int j = first + 2 * i;
    const pair term = over(times(square, t), j * (j - 1));
    t = add((pair){1.0, 0.0}, (pair){-term.high, -term.low});
  }
  return t;
}

/* sin(x + quarter pi/2). */
static int quick_sine(double x, int quarter, double *result) {
  int n = 0;
  pair r;
  if (!reduce(x, &n, &r)) return 0;
  n = (n + quarter) & 3;
  pair value = (n & 1) != 0 ? series(r, 2) : times(r, series(r, 3));
  if ((n & 2) != 0) value = (pair){-value.high, -value.low};
  return decide(value, result);
}

double rounded_sin(double x) {
  double result = 0.0;
  return quick_sine(x, 0, &result) ? result : exactly(mpfr_sin, NULL, x, 0.0);
}

double rounded_cos(double x) {
  double result = 0.0;
  return quick_sine(x, 1, &result) ? result : exactly(mpfr_cos, NULL, x, 0.0);
}

double rounded_exp(double x) {
  double result = 0.0;
  return quick_exp((pair){x, 0.0}, &result) ? result : exactly(mpfr_exp, NULL, x, 0.0);
}

double rounded_log(double x) {
  double result = 0.0;
  if (has_quick_logarithm(x) && decide(logarithm(x), &result)) return result;
  return exactly(mpfr_log, NULL, x, 0.0);
}

/* tanh = e / (2 + e) with e = exp(2 x) - 1. */
static int quick_tanh(double x, double *result) {
  int k = 0;
  const double size = fabs(x);
  if (size > 20.0) { /* 1 - 2 exp(-40) rounds to 1 */
    *result = copysign(1.0, x);
    return 1;
  }
  if (!(size > 0x1p-20)) return 0;
  pair e = exponential((pair){2.0 * size, 0.0}, &k);
  if (k != 0) e = add((pair){ldexp(1.0, k) - 1.0, 0.0}, (pair){ldexp(e.high, k), ldexp(e.low, k)});
  if (!decide(ratio(e, add((pair){2.0, 0.0}, e)), result)) return 0;
  *result = copysign(*result, x);
  return 1;
}

double rounded_tanh(double x) {
  double result = 0.0;
  return quick_tanh(x, &result) ? result : exactly(mpfr_tanh, NULL, x, 0.0);
}

enum { MOST_FACTORS = 32 };

/* x^n, 0 < |n| <= MOST_FACTORS, for |x| from 2^-15 to 2^15, by squares. Each product has a relative error of
 * at most 2^-102, and a power at most the sum of 2 |n| of these. */
static pair whole_power(double x, int n) {
  pair square = {x, 0.0}, power = {1.0, 0.0};
  for (int left = abs(n); left > 0; left /= 2) {
    if (left % 2 != 0) power = times(power, square);
    square = times(square, square);
  }
  return n > 0 ? power : ratio((pair){1.0, 0.0}, power);
}

static int has_whole_power(double x, double y) {
  return rint(y) == y && y != 0.0 && fabs(y) <= MOST_FACTORS && fabs(x) > 0x1p-15 && fabs(x) < 0x1p15;
}

double rounded_pow(double x, double y) {
  double result = 0.0;
  const int whole = rint(y) == y && fabs(y) < 0x1p31;
  if (y == 2.0) return x * x;
  if (has_whole_power(x, y) && decide(whole_power(x, (int)y), &result)) return result;
  if (has_quick_logarithm(fabs(x)) && (x > 0.0 || whole) && y != 0.0 && fabs(y) < 0x1p31) {
    const pair power = times(logarithm(fabs(x)), (pair){y, 0.0});
    if (fabs(power.high) > 0x1p-20 && quick_exp(power, &result))
      return x < 0.0 && fmod(y, 2.0) != 0.0 ? -result : result;
  }
  return exactly(NULL, mpfr_pow, x, y);
}

#define BY_MPFR(name)                                                                                        \
  double rounded_##name(double x) {                                                                          \
    return exactly(mpfr_##name, NULL, x, 0.0);                                                               \
  }
BY_MPFR(tan)
BY_MPFR(asin)
BY_MPFR(acos)
BY_MPFR(atan)
BY_MPFR(sinh)
BY_MPFR(cosh)
BY_MPFR(asinh)
BY_MPFR(acosh)
BY_MPFR(atanh)
BY_MPFR(log2)
BY_MPFR(log10)

double rounded_atan2(double y, double x) {
  return exactly(NULL, mpfr_atan2, y, x);
}
