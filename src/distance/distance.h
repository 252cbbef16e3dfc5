#ifndef FDAPP_DISTANCE_DISTANCE_H
#define FDAPP_DISTANCE_DISTANCE_H

#include "distance/level_set.h"
#include "distance/pencils.h"

/* Exact distances of all points of a grid to a set, and the solution of u_t + |grad u|^2 / 2 = 0, as min-plus
 * products along x, y and z (docs/explanation/distance.md). */

/* Called by every rank after each product: `done` of `products`. */
typedef void (*distance_progress)(void *user, int done, int products);

enum { DISTANCE_WORK = 3, DISTANCE_SIDES = 4 /* most fields besides the result */ };

typedef struct distance {
  pencils pencils;
  const field_space *space;
  field work[DISTANCE_SIDES]; /* along z, two of them carry the slabs that travel */
  void *piece[2];             /* host memory: planes of two fields */
  int piece_planes;
  distance_progress progress; /* NULL: none */
  void *user;
  int done, products; /* of the current transform */
  double seconds;     /* time of its products; the rest is spent between host and device */
} distance;

/* Prepares for transforms of fields of `space`, which must outlive them. sides: fields to allocate,
 * DISTANCE_WORK, or DISTANCE_SIDES for signed distances to points. direct: 1 if MPI can take device memory.
 * Collective, as are all functions below but distance_close; the same status on every rank. STATUS_MEMORY,
 * STATUS_DEVICE, STATUS_MPI. Call distance_close even after an error. */
status distance_open(MPI_Comm comm, const grid *grid, const field_space *space, int sides, int direct,
                     distance *distance);
void distance_close(distance *distance);

/* out = distance of each point to the nearest point of the set, 0 for points of the set. If `is_signed`,
 * points of the set get the negative distance to the nearest point outside. The set, and with signs its
 * complement, must have a point. */
status distance_to_points(distance *distance, const level_set *set, int is_signed, field *out);

/* out = distance of each point to the nearest crossing of the surface with a line of the grid; for points
 * beside the surface level_set_beside, if that is less. In the set it is negative if `is_signed`, else 0. The
 * surface must cross at least one line. */
status distance_to_surface(distance *distance, const level_set *set, int is_signed, field *out);

/* out = the same with the sign of (value - level). Points beside the surface keep their value, so that the
 * surface does not move. */
status distance_renew(distance *distance, const level_set *set, field *out);

/* out = min over all points y of value(y) + |x - y|^2 / (2 time), with values minus the level. */
status distance_hopf_lax(distance *distance, const level_set *values, double time, field *out);

#endif
