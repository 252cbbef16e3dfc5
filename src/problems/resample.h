#ifndef FDAPP_PROBLEMS_RESAMPLE_H
#define FDAPP_PROBLEMS_RESAMPLE_H

#include "domain/grid.h"
#include "snapshots/dataset.h"

/* A dataset of another grid on this one: of the same domain, with its points placed as this grid's are.
 * Interpolated by a product of Lagrange polynomials through RESAMPLE_POINTS points along x, then y, then z:
 * four on each side, beside an end those nearest to it. Smooth data are met with order RESAMPLE_POINTS;
 * points that both grids have keep their values, but for the sign of a zero. In double precision and in one
 * order, so that a value does not depend on the rank that computes it. */
enum { RESAMPLE_POINTS = 8 };

/* Writes planes z0 - KERNELS_HALO .. z0 + nz + KERNELS_HALO - 1, without padding, in the precision; beyond
 * the grid, periodic images. source->n: what the dataset has, RESAMPLE_POINTS and more along each axis.
 * Reads each plane of the file that is needed once, or twice if a slab needs it at both ends of a periodic
 * axis. STATUS_FILE, STATUS_USAGE as dataset_read, and as dataset_check_values; STATUS_MEMORY. Not
 * collective. */
status resample_planes(const dataset *source, const grid *grid, precision precision, void *planes);

#endif
