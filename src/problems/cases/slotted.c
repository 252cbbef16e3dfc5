#include <math.h>

#include "problems/problem.h"

/* S. T. Zalesak, J. Comput. Phys. 31 (1979) 335, in three dimensions. */
static double body(const config *config, const double offset[3]) {
  const double width = config->width;
  const double r = sqrt(offset[0] * offset[0] + offset[1] * offset[1] + offset[2] * offset[2]);
  if (r > width) return 0.0;
  return fabs(offset[0]) < width / 6.0 && offset[1] < 2.0 / 3.0 * width ? 0.0 : 1.0;
}

const initial_case case_slotted = {
    .name = "slotted",
    .help = "slotted solid sphere of radius width (discontinuous)",
    .keys = {PROBLEM_HEIGHT, PROBLEM_CENTER, "initial.width"},
    .narrowest = 6.0,
    .widest = 0.5, /* as for a sphere */
    .body = body,
    .known_after = PROBLEM_SHIFT | PROBLEM_TURN | PROBLEM_RETURN,
    .reach = 1.0,
};
