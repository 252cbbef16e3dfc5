#ifndef FDAPP_DOMAIN_GRID_H
#define FDAPP_DOMAIN_GRID_H

#include <stdint.h>

#include "kernels.h"

/* The global grid and this rank's slab of it. Pure arithmetic: no MPI, nothing allocated, never changes after
 * grid_make. Periodic: n distinct points on a length l, spacing h = l/n, point i at i h. */
typedef struct grid {
  int64_t n[3]; /* global points: nx, ny, nz */
  double l[3];  /* lengths */
  double h[3];  /* spacings */
  int rank;     /* of this slab, 0 .. ranks-1, ascending in z */
  int ranks;
  int64_t z0; /* global index of the first owned plane */
  int nz;     /* owned planes, >= KERNELS_HALO */
} grid;

/* First plane of slab `rank` of `ranks`: slabs differ by at most one plane, larger ones first.
 * grid_slab_start(nz, ranks, ranks) == nz. */
int64_t grid_slab_start(int64_t nz, int ranks, int rank);

/* Most ranks on which each has KERNELS_HALO planes. */
int64_t grid_most_ranks(int64_t nz);

/* STATUS_USAGE if a rank would own fewer than KERNELS_HALO planes, or if local sizes overflow int. */
status grid_make(const int64_t n[3], const double l[3], int ranks, int rank, grid *grid);

/* Shape of a field on this slab, in host memory or a device's (kernels_shape_make). */
kernels_shape grid_shape(const grid *grid, precision precision, int host_memory);

/* Volume of a cell, hx hy hz. */
double grid_cell_volume(const grid *grid);

#endif
