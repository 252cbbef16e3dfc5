#ifndef FDAPP_PROBLEMS_POINTS_H
#define FDAPP_PROBLEMS_POINTS_H

#include "domain/grid.h"
#include "settings/settings.h"

/* Places off the grid: point sources and receivers of the configuration. */
typedef struct points {
  int64_t count;
  double *at;        /* x, y, z of each */
  double *amplitude; /* of sources */
  double *delay;     /* of sources */
  uint64_t hash;     /* stands for what a file gives of these; 0: nothing */
} points;

/* Read the places. STATUS_USAGE for one outside the box, or another number of amplitudes; STATUS_FILE,
 * STATUS_MEMORY; points_close even after an error. */
status points_sources(const config *config, points *points);
status points_receivers(const config *config, points *points);
void points_close(points *points);

/* Interpolation to a place on one axis: the sum of weight times value over eight points; index is the global
 * one, that of the image where a point lies beyond an end. */
enum { POINTS_NEAR = 8 };
typedef struct points_axis {
  int64_t base; /* the point at or below the place */
  int64_t index[POINTS_NEAR];
  double weight[POINTS_NEAR];
} points_axis;

/* The points are floor(x/h) - 3 to floor(x/h) + 4. Beyond a wall they are mirrored, beyond a free end
 * mirrored and negated, and the point on the end has no weight; beside other ends they are the eight next to
 * it. Weights are Lagrange's, or with `sinc` those of a sinc with Kaiser's window of half-width 4 (G. J.
 * Hicks, Geophysics 67 (2002) 156), b = 6.31. No point appears twice with a weight. */
points_axis points_weights(const config *config, const grid *grid, int d, double x, int sinc);

#endif
