#ifndef FDAPP_DISTANCE_DISTANCE_H
#define FDAPP_DISTANCE_DISTANCE_H

#include "distance/level_set.h"
#include "distance/pencils.h"

/* Exact distances of all points of a grid to a set, and the solution of u_t + |grad u|^2 / 2 = 0, as min-plus
 * products along x, y and z (docs/explanation/distance.md). */

/* Called by every rank after each product: `done` of `products`. */
typedef void (*distance_progress)(void *user, int done, int products);

enum { DISTANCE_WORK = 3, DISTANCE_SIDES = 4 /* most fields beside the result */ };

typedef struct distance {
  pencils pencils;
  const field_space *space;
  field work[DISTANCE_SIDES]; /* of which two are slabs on their way, along z */
  void *piece[2];             /* host: planes of two fields */
  int piece_planes;
  distance_progress progress; /* NULL: nobody is told */
  void *user;
  int done, products; /* of the transform under way */
  double seconds;     /* of its products: what is left of the time goes between host and device */
} distance;

/* Prepares for transforms of fields of `space`, which must outlive them. sides: fields to allocate,
 * DISTANCE_WORK, or DISTANCE_SIDES for signed distances to points. direct: whether device memory can be given
 * to MPI. Collective, as all that follow but distance_close; the same status on every rank. STATUS_MEMORY,
 * STATUS_DEVICE, STATUS_MPI. distance_close is due all the same. */
status distance_open(MPI_Comm comm, const grid *grid, const field_space *space, int sides, int direct,
                     distance *distance);
void distance_close(distance *distance);

/* out = distance of each point to the nearest point of the set, the set's own being 0; if `is_signed`, less
 * the distance to the nearest point outside. The set, and with signs its complement, has a point. */
status distance_to_points(distance *distance, const level_set *set, int is_signed, field *out);

/* out = distance of each point to the nearest crossing of the surface with a line of the grid, or for points
 * beside it level_set_beside, where that is less; if `is_signed`, negative in the set, else 0 there. The
 * surface crosses at least one line. */
status distance_to_surface(distance *distance, const level_set *set, int is_signed, field *out);

/* out = the same, but with the sign of the value less the level. Points beside the surface keep that value,
 * so that the surface does not move at all. */
status distance_renew(distance *distance, const level_set *set, field *out);

/* out = min over all points y of value(y) + |x - y|^2 / (2 time); values less the level. */
status distance_hopf_lax(distance *distance, const level_set *values, double time, field *out);

#endif
