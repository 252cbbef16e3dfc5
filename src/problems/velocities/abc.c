#include "problems/problem.h"
#include "problems/rounded.h"

/* u = a sin Z + c cos Y, v = b sin X + a cos Z, w = c sin Y + b cos X, one wave across the domain; T. Dombre
 * et al., J. Fluid Mech. 167 (1986) 353. */

static void entry(const config *config, const grid *grid, axis axis, int64_t i, double table[KERNELS_TABLE]) {
  const double *k = config->abc;
  const double phase = 2.0 * PROBLEM_PI * (double)i / grid_intervals(grid, (int)axis);
  switch (axis) {
  case AXIS_X:
    table[AXIS_Y] = k[1] * rounded_sin(phase);
    table[AXIS_Z] = k[1] * rounded_cos(phase);
    break;
  case AXIS_Y:
    table[PROBLEM_SUM + AXIS_X] = k[2] * rounded_cos(phase);
    table[PROBLEM_SUM + AXIS_Z] = k[2] * rounded_sin(phase);
    break;
  default:
    table[PROBLEM_SUM + AXIS_X] = k[0] * rounded_sin(phase);
    table[PROBLEM_SUM + AXIS_Y] = k[0] * rounded_cos(phase);
    break;
  }
}

const velocity_field velocity_abc = {
    .name = "abc",
    .help = "Arnold-Beltrami-Childress flow with amplitudes a, b, c; no exact solution",
    .keys = {"velocity.a", "velocity.b", "velocity.c"},
    .entry = entry,
};
