#include <math.h>

#include "problems/problem.h"
#include "problems/rounded.h"

/* R. J. LeVeque, SIAM J. Numer. Anal. 33 (1996) 627, section 9.5, scaled to the domain: u = 2 sin^2(pi X)
 * sin(2 pi Y) sin(2 pi Z) and so on, with sin^2(pi X) = (1 - cos(2 pi X))/2; reversed in time. */

static void entry(const config *config, const grid *grid, axis axis, int64_t i, double table[KERNELS_TABLE]) {
  const double phase = 2.0 * PROBLEM_PI * (double)i / grid_intervals(grid, (int)axis);
  const double amplitude[3] = {grid->l[0], -0.5 * grid->l[1], -0.5 * grid->l[2]};
  (void)config;
  for (int d = 0; d < 3; d++) table[d] = d == (int)axis ? 1.0 - rounded_cos(phase) : rounded_sin(phase);
  for (int d = 0; d < 3 && axis == AXIS_X; d++) table[d] *= amplitude[d];
}

static double factor(const config *config, double time) {
  return rounded_cos(PROBLEM_PI * time / config->period);
}

static int known(const config *config, double time) {
  const double periods = time / config->period;
  return round(periods) >= 1.0 && fabs(periods - round(periods)) < 1e-12;
}

const velocity_field velocity_deformation = {
    .name = "deformation",
    .help = "LeVeque 1996: swirling, reversed in time, back after period; exact then",
    .keys = {"velocity.period"},
    .entry = entry,
    .factor = factor,
    .motion = PROBLEM_RETURN,
    .known = known,
    .when = "after whole periods",
};
