#ifndef FDAPP_DISTANCE_LEVEL_SET_H
#define FDAPP_DISTANCE_LEVEL_SET_H

#include "domain/grid.h"

/* The set {phi >= level} on one rank's slab, and the places where its surface crosses the lines of the grid.
 * Host memory and plain arithmetic; nothing is collective.
 *
 * If one of two neighbours is in the set, the surface is where linear interpolation finds the level: at
 * (phi_i - level) / (phi_i - phi_j) of the spacing from point i. */
typedef struct level_set {
  const grid *grid;    /* its ends say which axes are periodic */
  precision precision; /* of the values */
  const void *values;  /* planes z0 - 1 .. z0 + nz, packed; those beyond an end are not read */
  double level;
} level_set;

/* Returns 1 if a point is in the set. x, y: of the grid; z: of the slab, -1 .. nz. */
int level_set_holds(const level_set *set, int64_t x, int64_t y, int64_t z);

/* The value minus the level. */
double level_set_value(const level_set *set, int64_t x, int64_t y, int64_t z);

/* Distance along an axis from the point to the nearest crossing with its two neighbours; +infinity if there
 * is none. z: of the slab, 0 .. nz - 1. */
double level_set_crossing(const level_set *set, int axis, int64_t x, int64_t y, int64_t z);

/* For a point with a neighbour on the other side, |phi - level| / |grad phi|: the distance to the plane that
 * the surrounding values describe. The gradient's component along an axis is the one-sided difference across
 * the nearer crossing, or the central one without a crossing. +infinity for all other points. */
double level_set_beside(const level_set *set, int64_t x, int64_t y, int64_t z);

/* Numbers of the slab's points in the set, of pairs of neighbours that the surface separates (each counted
 * twice), and of points whose value is not finite. */
enum { LEVEL_SET_INSIDE, LEVEL_SET_CROSSED, LEVEL_SET_INFINITE, LEVEL_SET_COUNTS };
void level_set_count(const level_set *set, int64_t counts[LEVEL_SET_COUNTS]);

#endif
