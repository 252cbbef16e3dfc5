#include <math.h>

#include "problems/problem.h"

static double body(const config *config, const double offset[3]) {
  const double r = sqrt(offset[0] * offset[0] + offset[1] * offset[1] + offset[2] * offset[2]);
  return r > config->width ? 0.0 : 1.0;
}

const initial_case case_sphere = {
    .name = "sphere",
    .help = "solid sphere of radius width (discontinuous)",
    .keys = {PROBLEM_HEIGHT, PROBLEM_CENTER, "initial.width"},
    .narrowest = 2.0,
    .widest = 0.5, /* a larger sphere would touch its own image and be cut there */
    .body = body,
    .known_after = PROBLEM_SHIFT | PROBLEM_TURN | PROBLEM_RETURN,
    .reach = 1.0,
};
