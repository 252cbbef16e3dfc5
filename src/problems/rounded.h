#ifndef FDAPP_PROBLEMS_ROUNDED_H
#define FDAPP_PROBLEMS_ROUNDED_H

/* Correctly rounded functions: the double nearest to the exact value, which is the same on every processor
 * and with every C library. The C library's own functions differ in the last bit between processors, because
 * glibc has variants with and without FMA. No field, step size or factor may come from any other
 * transcendental function; +, -, *, /, sqrt, fma, fabs, rint, round, ceil and floor are exact or correctly
 * rounded everywhere.
 *
 * MPFR defines the results. sin, cos, exp, tanh, log and pow first try an evaluation in pairs of doubles with
 * a relative error below 2^-80, in a tenth of MPFR's time. That decides the rounding in all but one of about
 * 2^27 cases. Round to nearest is assumed. Thread-safe if MPFR is (as Debian builds it). */
double rounded_sin(double x);
double rounded_cos(double x);
double rounded_tan(double x);
double rounded_asin(double x);
double rounded_acos(double x);
double rounded_atan(double x);
double rounded_atan2(double y, double x);
double rounded_sinh(double x);
double rounded_cosh(double x);
double rounded_tanh(double x);
double rounded_asinh(double x);
double rounded_acosh(double x);
double rounded_atanh(double x);
double rounded_exp(double x);
double rounded_log(double x);
double rounded_log2(double x);
double rounded_log10(double x);
double rounded_pow(double x, double y);

#endif
