#include "problems/problem.h"

static double body(const config *config, const double offset[3]) {
  return problem_radius(offset) - config->width;
}

const initial_case case_sphere_distance = {
    .name = "sphere_distance",
    .help = "distance to a sphere of radius width, negative inside (level_set.redistance_every)",
    .keys = {PROBLEM_HEIGHT, PROBLEM_CENTER, "initial.width"},
    .narrowest = 2.0,
    .widest = 0.5, /* as for a sphere */
    .body = body,
    .is_distance = 1,
    .known_after = PROBLEM_SHIFT | PROBLEM_RETURN,
};
