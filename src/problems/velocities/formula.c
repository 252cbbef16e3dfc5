#include "problems/problem.h"

/* Its values come from velocity.u, v, w and factor: cases_velocity.c. */
const velocity_field velocity_formula = {
    .name = "formula",
    .help = "u, v, w as formulas of x, y, z, times factor, a formula of t; stored",
    .from = PROBLEM_FORMULA,
    .keys = {"velocity.u", "velocity.v", "velocity.w", "velocity.factor"},
};
