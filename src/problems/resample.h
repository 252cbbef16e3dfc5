#ifndef FDAPP_PROBLEMS_RESAMPLE_H
#define FDAPP_PROBLEMS_RESAMPLE_H

#include "domain/grid.h"
#include "snapshots/dataset.h"

/* Interpolates a dataset of another grid to this grid; both have the same domain and place their points
 * alike. The interpolation is a product of Lagrange polynomials through RESAMPLE_POINTS points along x, then
 * y, then z: four on each side, beside an end the nearest ones. For smooth data it has order RESAMPLE_POINTS.
 * Points that both grids have keep their values, except for the sign of a zero. Everything is computed in
 * double and in one order, so that a value does not depend on the rank. */
enum { RESAMPLE_POINTS = 8 };

/* Writes planes z0 - KERNELS_HALO .. z0 + nz + KERNELS_HALO - 1, without padding, in `precision`; planes
 * beyond the grid are periodic images. source->n: the dataset's points, at least RESAMPLE_POINTS along each
 * axis. Each plane of the file that is needed is read once, or twice if a slab needs it at both ends of a
 * periodic axis. STATUS_FILE, STATUS_USAGE as dataset_read and dataset_check_values; STATUS_MEMORY. Not
 * collective. */
status resample_planes(const dataset *source, const grid *grid, precision precision, void *planes);

#endif
