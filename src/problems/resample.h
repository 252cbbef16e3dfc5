#ifndef FDAPP_PROBLEMS_RESAMPLE_H
#define FDAPP_PROBLEMS_RESAMPLE_H

#include "domain/grid.h"
#include "files/dataset.h"

/* How a dataset's points lie along an axis of a grid. Places are compared to a thousandth of the dataset's
 * spacing. */
typedef enum resample_fit {
  RESAMPLE_ALIKE,  /* as the grid's own points: over the whole axis, from 0 on. Files that do not say where
                    * their points lie are taken so */
  RESAMPLE_PERIOD, /* over one period of a periodic axis, from another origin on */
  RESAMPLE_COVERS, /* otherwise, but no point of the grid lies outside of them */
  RESAMPLE_OUTSIDE /* not so: some of the grid's points lie outside */
} resample_fit;

/* `n`: the dataset's points along the axis d. */
resample_fit resample_fit_of(const dataset_place *place, const grid *grid, int d, int64_t n);

/* STATUS_USAGE if a fit is RESAMPLE_OUTSIDE; the message names both places. */
status resample_check(const dataset *source, const dataset_place *place, const grid *grid);

/* Interpolates a dataset to a grid, at the places of both. The interpolation is a product of Lagrange
 * polynomials through RESAMPLE_POINTS points along x, then y, then z: four on each side, beside an end the
 * nearest ones. For smooth data it has order RESAMPLE_POINTS. Points that both grids have keep their values,
 * except for the sign of a zero. Everything is computed in double and in one order, so that a value does not
 * depend on the rank. */
enum { RESAMPLE_POINTS = 8 };

/* Writes planes z0 - KERNELS_HALO .. z0 + nz + KERNELS_HALO - 1, without padding, in `precision`; planes
 * beyond the grid are periodic images. source->n: the dataset's points, at least RESAMPLE_POINTS along each
 * axis, placed so that resample_check accepts it. Each plane of the file that is needed is read once, or
 * twice if a slab needs it at both ends of a periodic axis. STATUS_FILE, STATUS_USAGE as dataset_read and
 * dataset_check_values; STATUS_MEMORY. Not collective. */
status resample_planes(const dataset *source, const dataset_place *place, const grid *grid,
                       precision precision, void *planes);

/* The same dataset within the cells of a grid, of which each is divided into RESAMPLE_PARTS parts along each
 * axis: a cell reaches half a spacing to each side of its point and ends at an end of an axis. Values are
 * those at the midpoints of the parts. Along an axis on which the dataset's points lie closer than the grid's
 * it is interpolated linearly; along others as above, but held near the two points around, so that beside a
 * jump it does not leave their range. */
enum { RESAMPLE_PARTS = 4 };

/* The place of the midpoint of a part of cell i of axis d, within a periodic axis. */
double resample_midpoint(const grid *grid, int d, int64_t i, int part);

typedef struct resample_cells resample_cells;
/* source, place and grid must outlive it. STATUS_MEMORY; then there is nothing to close. */
status resample_cells_open(const dataset *source, const dataset_place *place, const grid *grid,
                           resample_cells **cells);
/* [out] values: [n[1] RESAMPLE_PARTS][n[0] RESAMPLE_PARTS], of part `part` along z of the cells of plane z,
 * in which parts follow one another along each axis. Errors as of resample_planes. */
status resample_cells_plane(resample_cells *cells, int64_t z, int part, double *values);
void resample_cells_close(resample_cells *cells); /* NULL: nothing happens */

#endif
