#include "problems/problem.h"

/* Its values come from initial.formula: cases.c. */
const initial_case case_formula = {
    .name = "formula",
    .help = "initial.formula, of x, y, z, lx, ly, lz, pi and [constants]",
    .from = PROBLEM_FORMULA,
    .keys = {"initial.formula"},
    .known_after = PROBLEM_SHIFT | PROBLEM_RETURN,
};
