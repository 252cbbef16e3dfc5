#include "problems/problem.h"
#include "problems/rounded.h"

/* The Taylor-Green vortex, M. E. Brachet et al., J. Fluid Mech. 130 (1983) 411: u = a sin X cos Y cos Z,
 * v = -a cos X sin Y cos Z, w = 0, one wave across the domain. v is scaled by ly/lx, so that the field is
 * free of divergence in any domain. */
static void entry(const config *config, const grid *grid, axis axis, int64_t i, double table[KERNELS_TABLE]) {
  const double phase = 2.0 * PROBLEM_PI * (double)i / grid_intervals(grid, (int)axis);
  table[AXIS_X] = axis == AXIS_X ? config->abc[0] * rounded_sin(phase) : rounded_cos(phase);
  table[AXIS_Y] = axis == AXIS_Y ? rounded_sin(phase) : rounded_cos(phase);
  if (axis == AXIS_X) table[AXIS_Y] *= -config->abc[0] * grid->l[1] / grid->l[0];
}

const velocity_field velocity_taylor_green = {
    .name = "taylor_green",
    .help = "Taylor-Green vortex with amplitude a; no exact solution",
    .keys = {"velocity.a"},
    .entry = entry,
};
