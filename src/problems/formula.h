#ifndef FDAPP_PROBLEMS_FORMULA_H
#define FDAPP_PROBLEMS_FORMULA_H

#include "base/check.h"
#include "settings/settings.h"

/* A formula of the configuration, parsed and evaluated by muParser. It may use its variables, pi, lx, ly, lz,
 * the names of [constants], and FORMULA_FUNCTIONS. Functions and powers are those of rounded.h, so that a
 * formula has one value on every processor; log is the natural logarithm, like ln. */
#define FORMULA_FUNCTIONS                                                                                    \
  "sin, cos, tan, asin, acos, atan, atan2, sinh, cosh, tanh, asinh, acosh, atanh, exp, log, ln, log2, "      \
  "log10, sqrt, abs, sign, rint, min, max, sum, avg"

typedef struct formula formula;

enum { FORMULA_VARIABLES = 4 };

/* Parses `text`, whose variables are the letters of `variables`, at most four: "xyz", "t" or "xyzt". [out]
 * *made, to be closed; NULL after an error. STATUS_USAGE: it cannot be parsed; the message says where and
 * what is accepted: "character 7: ...". Not thread-safe, nor is closing. */
status formula_open(const config *config, const char *text, const char *variables, formula **made);
void formula_close(formula *formula);

/* The value, which may be infinite or NaN. A formula must not be evaluated by two threads at once. Where no
 * variable that it depends on has changed, the last value is returned again: a formula of z costs an
 * evaluation per plane. */
double formula_at(formula *formula, const double values[FORMULA_VARIABLES]);
/* formula_varies returns 1 if the value depends on any variable, formula_uses if it depends on this one. */
int formula_varies(const formula *formula);
int formula_uses(const formula *formula, char variable);

/* 1 if a constant may have this name: a letter, then letters, digits and _, and no name that has a meaning in
 * formulas. */
int formula_name_free(const char *name);

#endif
