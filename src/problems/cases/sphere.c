#include "problems/problem.h"

static double body(const config *config, const double offset[3]) {
  return problem_radius(offset) > config->width ? 0.0 : 1.0;
}

const initial_case case_sphere = {
    .name = "sphere",
    .help = "solid sphere of radius width (discontinuous)",
    .narrowest = 2.0,
    .jumps = 1,
    PROBLEM_BALL(body),
};
