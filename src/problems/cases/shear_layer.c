#include <math.h>

#include "problems/problem.h"
#include "problems/rounded.h"

/* The doubly periodic shear layer of J. B. Bell, P. Colella and H. M. Glaz, J. Comput. Phys. 85 (1989) 257:
 * tanh layers of thickness width, a quarter of the length below and above the centre. All periodic images are
 * added, so that the field is smooth everywhere; at usual widths they change nothing. */
static double factor(const config *config, int d, double x, double time) {
  const double length = config->l[1];
  (void)time;
  if (d != 1) return 1.0;
  const double offset = problem_nearest(x - config->center[1], length);
  const int images =
      (int)ceil(20.0 * config->width / length) + 1; /* the last image changes the sum by at most exp(-40) */
  double sum = -1.0;
  for (int m = -images; m <= images; m++) {
    const double distance = offset + m * length;
    sum += rounded_tanh((distance + 0.25 * length) / config->width) -
           rounded_tanh((distance - 0.25 * length) / config->width);
  }
  return sum;
}

const initial_case case_shear_layer = {
    .name = "shear_layer",
    .help = "tanh layers of thickness width, ly/4 below and above center_y: from -1 through 1 to -1",
    .keys = {PROBLEM_HEIGHT, "initial.center_y", "initial.width"},
    .narrowest = 1.5,
    .widest = 0.5,
    .factor = factor,
    .known_after = PROBLEM_SHIFT | PROBLEM_RETURN,
};
