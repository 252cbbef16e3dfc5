#include <math.h>

#include "problems/problem.h"
#include "problems/rounded.h"

/* Rotation of a solid body around the axis z through the middle of the domain, counter-clockwise, one turn
 * per `period`. */

static void entry(const config *config, const grid *grid, axis axis, int64_t i, double table[KERNELS_TABLE]) {
  const double omega = 2.0 * PROBLEM_PI / config->period;
  const double from_middle = grid_position(grid, (int)axis, i) - 0.5 * grid->l[axis];
  if (axis == AXIS_X) table[AXIS_Y] = omega * from_middle;
  if (axis == AXIS_Y) table[PROBLEM_SUM + AXIS_X] = -omega * from_middle;
}

static void back(const config *config, double time, problem_map *map) {
  const double angle = 2.0 * PROBLEM_PI * time / config->period;
  map->about[0] = 0.5 * config->l[0];
  map->about[1] = 0.5 * config->l[1];
  map->matrix[0][0] = map->matrix[1][1] = rounded_cos(angle);
  map->matrix[0][1] = rounded_sin(angle);
  map->matrix[1][0] = -rounded_sin(angle);
}

/* A body rotates as a whole only within the largest circle around the axis; beyond it the periodic
 * continuation is not a rotation. */
static int holds(const config *config, double radius) {
  const double x = problem_nearest(config->center[0] - 0.5 * config->l[0], config->l[0]);
  const double y = problem_nearest(config->center[1] - 0.5 * config->l[1], config->l[1]);
  return sqrt(x * x + y * y) + radius <= 0.5 * fmin(config->l[0], config->l[1]);
}

const velocity_field velocity_rotation = {
    .name = "rotation",
    .help = "solid body around the axis z through the middle, one turn in period; exact near the axis",
    .keys = {"velocity.period"},
    .entry = entry,
    .motion = PROBLEM_TURN,
    .back = back,
    .holds = holds,
    .otherwise = "the case reaches beyond the circle that turns as a whole",
};
