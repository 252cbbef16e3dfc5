#ifndef FDAPP_DOMAIN_GRID_H
#define FDAPP_DOMAIN_GRID_H

#include <stdint.h>

#include "kernels.h"

/* The ends of an axis. */
enum { GRID_LOW, GRID_HIGH, GRID_ENDS };

/* The global grid and this rank's slab of it. Pure arithmetic: no MPI, no allocation, constant once made.
 * Point i of an axis of length l lies at i h, where
 *
 *   h = l/n         periodic: n distinct points
 *   h = l/(n - 1)   with ends: points on both of them
 *
 * An integral along an axis is h times the sum of weight times value (grid_weight). */
typedef struct grid {
  int64_t n[3];                               /* global points: nx, ny, nz */
  double l[3];                                /* lengths */
  double h[3];                                /* spacings */
  int bounded[3];                             /* 1: the axis has two ends; 0: it is periodic */
  double weights[3][GRID_ENDS][CLOSURE_ROWS]; /* of the points beside each end, the outermost first */
  int rank;                                   /* number of this slab, 0 .. ranks-1, ascending in z */
  int ranks;
  int64_t z0; /* global index of the first owned plane */
  int nz;     /* owned planes, >= KERNELS_HALO */
} grid;

/* First plane of slab `rank` of `ranks`: slabs differ by at most one plane, larger ones first.
 * grid_slab_start(nz, ranks, ranks) == nz. */
int64_t grid_slab_start(int64_t nz, int ranks, int rank);

/* Largest number of ranks on which each has KERNELS_HALO planes. */
int64_t grid_most_ranks(int64_t nz);

/* A grid that is periodic along every axis. STATUS_USAGE if a rank would own fewer than KERNELS_HALO planes,
 * or if local sizes overflow int. */
status grid_make(const int64_t n[3], const double l[3], int ranks, int rank, grid *grid);

/* A grid with spacings `h`, with ends along the axes where `bounded` is 1 (weights 1), for programs that
 * exchange no halo planes: a rank may own a single plane. STATUS_USAGE if there are more ranks than planes,
 * or if local sizes overflow int. */
status grid_cut(const int64_t n[3], const double h[3], const int bounded[3], int ranks, int rank, grid *grid);

/* Shape of a field on this slab, in host memory or a device's (kernels_shape_make). If one rank holds all of
 * a periodic z, kernels wrap around; with ends they read halo planes even on one rank. */
kernels_shape grid_shape(const grid *grid, precision precision, int host_memory);

/* Gives an axis two ends: changes the spacing, and sets the weights of the closure of `order` (closure_of).
 * Call it before anything is made from the grid. STATUS_USAGE if the closures of both ends would meet, or if,
 * along z, the first or the last slab has fewer planes than a closure reads. */
status grid_bound(grid *grid, int axis, int order);

/* grid_kernels_ends: the ends for operations on this slab, without the members that kernels_ends_open makes.
 * grid_kernels_weights: the weights for sums over planes, or NULL if x and y are periodic. */
kernels_ends grid_kernels_ends(const grid *grid);
const kernels_weights *grid_kernels_weights(const grid *grid, kernels_weights *weights);

/* The rank of the slab below (GRID_LOW) or above (GRID_HIGH) this one, -1 beyond an end of z. */
int grid_neighbour(const grid *grid, int side);

/* Number of spacings along an axis: point i lies at the fraction i / grid_intervals of its length. */
double grid_intervals(const grid *grid, int axis);

/* Coordinate, and quadrature weight, of global point i of an axis. */
double grid_position(const grid *grid, int axis, int64_t i);
double grid_weight(const grid *grid, int axis, int64_t i);

/* Index of the point of an axis nearest to a position in [0, l]; of two equally near points the upper one. At
 * the end of a periodic axis that is point 0, by its image. */
int64_t grid_nearest(const grid *grid, int axis, double position);

/* Volume of a cell, hx hy hz. */
double grid_cell_volume(const grid *grid);

#endif
