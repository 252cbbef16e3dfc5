#ifndef FDAPP_PROBLEMS_FORMULA_H
#define FDAPP_PROBLEMS_FORMULA_H

#include "base/check.h"
#include "config/settings.h"

/* A formula of the configuration, read and evaluated by muParser. It may use its variables, pi, lx, ly, lz,
 * the names of [constants], and FORMULA_FUNCTIONS. Functions and powers are those of rounded.h, so that a
 * formula has one value on every processor; log is the natural logarithm, as ln is. */
#define FORMULA_FUNCTIONS                                                                                    \
  "sin, cos, tan, asin, acos, atan, atan2, sinh, cosh, tanh, asinh, acosh, atanh, exp, log, ln, log2, "      \
  "log10, sqrt, abs, sign, rint, min, max, sum, avg"

typedef struct formula formula;

enum { FORMULA_VARIABLES = 4 };

/* Reads `text`, whose variables are the letters of `variables`, at most four: "xyz", "t" or "xyzt". [out]
 * *made, to be closed; NULL after a failure. STATUS_USAGE: it cannot be read, and the message says where and
 * what is accepted: "character 7: ...". Neither this nor closing is safe while another thread does the same.
 */
status formula_open(const config *config, const char *text, const char *variables, formula **made);
void formula_close(formula *formula);

/* The value, which may be infinite or NaN. One thread at a time for each formula. */
double formula_at(formula *formula, const double values[FORMULA_VARIABLES]);
/* Whether the value depends on a variable, and on one of them. */
int formula_varies(formula *formula);
int formula_uses(formula *formula, char variable);

/* Whether a name may be that of a constant: a letter, then letters, digits and _, and nothing that means
 * something else in a formula. */
int formula_name_free(const char *name);

#endif
