#include "problems/problem.h"
#include "problems/rounded.h"

static double body(const config *config, const double offset[3]) {
  const double width = config->width;
  const double r = problem_radius(offset);
  if (r > width) return 0.0;
  const double c = rounded_cos(0.5 * PROBLEM_PI * r / width);
  const double c2 = c * c;
  return c2 * c2 * c2 * c2;
}

const initial_case case_blob = {
    .name = "blob",
    .help = "smooth blob of radius width, cos^8: seven continuous derivatives",
    .narrowest = 6.0,
    PROBLEM_BALL(body),
};
