#include "problems/problem.h"

/* Its values come from initial.formula: cases.c. */
const initial_case case_formula = {
    .name = "formula",
    .help = "initial.formula, or density, u, v, w, pressure; of x, y, z, lx, ly, lz, pi and [constants]",
    .from = PROBLEM_FORMULA,
    .keys = {"initial.formula", "initial.density", "initial.u", "initial.v", "initial.w", "initial.pressure"},
    .known_after = PROBLEM_SHIFT | PROBLEM_RETURN,
};
