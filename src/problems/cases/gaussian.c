#include <math.h>

#include "problems/problem.h"
#include "problems/rounded.h"

/* The pulse, which spreads as s^2 = w^2 + 2 k t. Along a periodic axis all images that matter in double
 * precision are added. */
static double factor(const config *config, int d, double x, double time) {
  const double width = config->width, length = config->l[d];
  const double offset = problem_offset(config, d, x - config->center[d]);
  const double s = sqrt(width * width + 2.0 * config->diffusivity * time);
  /* a pulse wider than 1.5 lengths is flat: by Poisson's summation the remaining waves are below exp(-2 (pi
   * s/l)^2) */
  if (s > 1.5 * length && !problem_bounded(config, d)) return sqrt(2.0 * PROBLEM_PI) * width / length;
  const int images = problem_bounded(config, d) ? 0 : (int)ceil(9.0 * s / length) + 1;
  double sum = 0.0;
  for (int m = -images; m <= images; m++) {
    const double distance = (offset + m * length) / s;
    if (fabs(distance) < 12.0) sum += rounded_exp(-0.5 * distance * distance); /* less than 1e-31 beyond */
  }
  return sum * (width / s);
}

const initial_case case_gaussian = {
    .name = "gaussian",
    .help = "Gaussian pulse of standard deviation width, periodic images included",
    .keys = {PROBLEM_HEIGHT, PROBLEM_CENTER, "initial.width"},
    .narrowest = PROBLEM_PULSE_WIDTH,
    .widest = 1.0,
    .factor = factor,
    .known_after = PROBLEM_SHIFT | PROBLEM_TURN | PROBLEM_RETURN,
    .spreads = 1,
    .reach = 8.0, /* less than 1e-13 beyond */
};
