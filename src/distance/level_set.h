#ifndef FDAPP_DISTANCE_LEVEL_SET_H
#define FDAPP_DISTANCE_LEVEL_SET_H

#include "domain/grid.h"

/* The set {phi >= level} of one rank's slab, and where its surface crosses the lines of the grid. Host memory
 * and plain arithmetic; nothing is collective.
 *
 * Between two neighbours of which one is in the set the surface is where linear interpolation finds the
 * level: (phi_i - level) / (phi_i - phi_j) of the spacing away from point i. */
typedef struct level_set {
  const grid *grid;    /* its ends say which axes are periodic */
  precision precision; /* of the values */
  const void *values;  /* planes z0 - 1 .. z0 + nz, packed; those beyond an end are not read */
  double level;
} level_set;

/* Whether a point is in the set. x, y: of the grid; z: of the slab, -1 .. nz. */
int level_set_holds(const level_set *set, int64_t x, int64_t y, int64_t z);

/* The value less the level. */
double level_set_value(const level_set *set, int64_t x, int64_t y, int64_t z);

/* Distance to the nearest crossing between the point and its two neighbours along an axis, +infinity where
 * there is none. z: of the slab, 0 .. nz - 1. */
double level_set_crossing(const level_set *set, int axis, int64_t x, int64_t y, int64_t z);

/* For a point of which a neighbour is on the other side, |phi - level| / |grad phi|: the distance to the
 * plane that the values about it describe. The gradient's component along an axis is the one-sided difference
 * across the nearer crossing, or the central one where there is none. +infinity for all other points. */
double level_set_beside(const level_set *set, int64_t x, int64_t y, int64_t z);

/* Points of the slab in the set, and pairs of neighbours that the surface crosses (each counted at both). */
void level_set_count(const level_set *set, int64_t *inside, int64_t *crossed);

#endif
