#include <math.h>

#include "problems/problem.h"
#include "problems/rounded.h"

static double body(const config *config, const double offset[3]) {
  const double width = config->width;
  const double r = sqrt(offset[0] * offset[0] + offset[1] * offset[1] + offset[2] * offset[2]);
  if (r > width) return 0.0;
  const double c = rounded_cos(0.5 * PROBLEM_PI * r / width);
  const double c2 = c * c;
  return c2 * c2 * c2 * c2;
}

const initial_case case_blob = {
    .name = "blob",
    .help = "smooth blob of radius width, cos^8: seven continuous derivatives",
    .keys = {PROBLEM_HEIGHT, PROBLEM_CENTER, "initial.width"},
    .narrowest = 6.0,
    .widest = 0.5, /* as for a sphere */
    .body = body,
    .known_after = PROBLEM_SHIFT | PROBLEM_TURN | PROBLEM_RETURN,
    .reach = 1.0,
};
