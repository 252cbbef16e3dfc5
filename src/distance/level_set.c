#include "distance/level_set.h"

#include <math.h>

double level_set_value(const level_set *set, int64_t x, int64_t y, int64_t z) {
  const int64_t *n = set->grid->n;
  const size_t at = (size_t)(((z + 1) * n[1] + y) * n[0] + x);
  return kernels_number(set->precision, set->values, at) - set->level;
}

int level_set_holds(const level_set *set, int64_t x, int64_t y, int64_t z) {
  return level_set_value(set, x, y, z) >= 0.0;
}

/* The neighbour below (side 0) or above along an axis; returns 0 if the axis ends before it. Along z the slab
 * has planes beside it, so nothing wraps around. */
static int neighbour(const level_set *set, int axis, int side, int64_t at[3]) {
  const grid *grid = set->grid;
  const int64_t first = axis == 2 ? grid->z0 : 0, n = grid->n[axis];
  const int64_t next = first + at[axis] + (side == GRID_LOW ? -1 : 1);
  if (next >= 0 && next < n) {
    at[axis] = next - first;
    return 1;
  }
  if (grid->bounded[axis]) return 0;
  at[axis] = axis == 2 ? next - first : (next + n) % n;
  return 1;
}

/* The value minus the neighbour's, if the surface is between them, else 0. */
static double drop(const level_set *set, int axis, int side, int64_t x, int64_t y, int64_t z, double value) {
  int64_t at[3] = {x, y, z};
  if (!neighbour(set, axis, side, at)) return 0.0;
  const double other = level_set_value(set, at[0], at[1], at[2]);
  return (value >= 0.0) != (other >= 0.0) ? fabs(value - other) : 0.0;
}

/* The larger drop of the two sides: that of the nearer crossing. */
static double steepest(const level_set *set, int axis, int64_t x, int64_t y, int64_t z, double value) {
  return fmax(drop(set, axis, GRID_LOW, x, y, z, value), drop(set, axis, GRID_HIGH, x, y, z, value));
}

double level_set_crossing(const level_set *set, int axis, int64_t x, int64_t y, int64_t z) {
  const double value = level_set_value(set, x, y, z);
  const double most = steepest(set, axis, x, y, z, value);
  return most > 0.0 ? fabs(value) / most * set->grid->h[axis] : (double)INFINITY;
}

/* The difference of both neighbours' values over their distance; beyond an end the point's own value is
 * used. */
static double central_slope(const level_set *set, int axis, int64_t x, int64_t y, int64_t z) {
  double value[GRID_ENDS];
  int steps = 0;
  for (int side = 0; side < GRID_ENDS; side++) {
    int64_t at[3] = {x, y, z};
    steps += neighbour(set, axis, side, at);
    value[side] = level_set_value(set, at[0], at[1], at[2]);
  }
  return steps > 0 ? (value[GRID_HIGH] - value[GRID_LOW]) / (steps * set->grid->h[axis]) : 0.0;
}

double level_set_beside(const level_set *set, int64_t x, int64_t y, int64_t z) {
  const double value = level_set_value(set, x, y, z);
  double squares = 0.0;
  int crossed = 0;
  for (int axis = 0; axis < 3; axis++) {
    const double most = steepest(set, axis, x, y, z, value);
    const double slope = most > 0.0 ? most / set->grid->h[axis] : central_slope(set, axis, x, y, z);
    crossed |= most > 0.0;
    squares += slope * slope;
  }
  return crossed ? fabs(value) / sqrt(squares) : (double)INFINITY;
}

void level_set_count(const level_set *set, int64_t counts[LEVEL_SET_COUNTS]) {
  const grid *grid = set->grid;
  int64_t held = 0, found = 0, infinite = 0;
#pragma omp parallel for schedule(static) reduction(+ : held, found, infinite)
  for (int64_t row = 0; row < grid->nz * grid->n[1]; row++) {
    const int64_t z = row / grid->n[1], y = row % grid->n[1];
    for (int64_t x = 0; x < grid->n[0]; x++) {
      const double value = level_set_value(set, x, y, z);
      held += value >= 0.0;
      infinite += !isfinite(value);
      for (int axis = 0; axis < 3; axis++) found += steepest(set, axis, x, y, z, value) > 0.0;
    }
  }
  counts[LEVEL_SET_INSIDE] = held;
  counts[LEVEL_SET_CROSSED] = found;
  counts[LEVEL_SET_INFINITE] = infinite;
}
