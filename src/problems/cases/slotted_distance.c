#include <math.h>

#include "problems/problem.h"

/* Zalesak's disc, a cylinder along z of radius R with a slot |x| < R/6 from below up to y = 2R/3, as a
 * distance. Its boundary in a plane of z:
 *
 *        ,---------.          arc       the circle but for the mouth of the slot
 *      /   .-----.   \        top       y = 2R/3 between the walls
 *     |    |     |    |       walls     x = -R/6 and R/6, from the circle to the top
 *      \   |     |   /
 *        `-'     '-'          corners   where walls and circle meet
 */

typedef struct disc {
  double radius, wall, top, mouth; /* the corners are at (+-wall, -mouth) */
} disc;

static disc disc_of(const config *config) {
  const double r = config->width;
  return (disc){r, r / 6.0, 2.0 / 3.0 * r, sqrt(r * r - r / 6.0 * (r / 6.0))};
}

static double length(double x, double y) {
  return sqrt(x * x + y * y);
}

/* The distance of v from the interval [low, high]. */
static double outside(double v, double low, double high) {
  return fmax(0.0, fmax(low - v, v - high));
}

/* The walls are symmetric, so x is taken as positive. */
static double boundary_distance(const disc *d, double x, double y) {
  const double r = length(x, y);
  const double to_wall = length(x - d->wall, outside(y, -d->mouth, d->top));
  const double to_top = length(outside(x, 0.0, d->wall), y - d->top);
  const double straight = fmin(to_wall, to_top);
  /* below the mouth the nearest point of the arc is a corner, which is also the end of a wall */
  const int at_mouth = y < 0.0 && x * d->mouth < -y * d->wall;
  return at_mouth ? straight : fmin(straight, fabs(r - d->radius));
}

static double body(const config *config, const double offset[3]) {
  const disc d = disc_of(config);
  const double x = fabs(offset[0]), y = offset[1];
  const int inside = length(x, y) <= d.radius && !(x < d.wall && y < d.top);
  const double distance = boundary_distance(&d, x, y);
  return inside ? 0.0 - distance : distance;
}

const initial_case case_slotted_distance = {
    .name = "slotted_distance",
    .help = "distance to Zalesak's slotted disc of radius width, negative inside, the same along z",
    .keys = {PROBLEM_HEIGHT, "initial.center_x", "initial.center_y", "initial.width"},
    .narrowest = 6.0,
    .widest = 0.5, /* as for a sphere */
    .body = body,
    .is_distance = 1,
    .known_after = PROBLEM_SHIFT | PROBLEM_RETURN,
};
