#include <math.h>

#include "problems/problem.h"

/* S. T. Zalesak, J. Comput. Phys. 31 (1979) 335, in three dimensions. */
static double body(const config *config, const double offset[3]) {
  const double width = config->width;
  const double r = problem_radius(offset);
  if (r > width) return 0.0;
  return fabs(offset[0]) < width / 6.0 && offset[1] < 2.0 / 3.0 * width ? 0.0 : 1.0;
}

const initial_case case_slotted = {
    .name = "slotted",
    .help = "slotted solid sphere of radius width (discontinuous)",
    .narrowest = 6.0,
    .jumps = 1,
    PROBLEM_BALL(body),
};
