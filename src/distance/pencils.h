#ifndef FDAPP_DISTANCE_PENCILS_H
#define FDAPP_DISTANCE_PENCILS_H

#include <mpi.h>

#include "base/agree.h"
#include "domain/field.h"

/* Min-plus products of a field with a cost that depends on the distance alone, along whole axes of the grid:
 *
 *   out[i] = min over k of in[k] + cost(|i - k| h),   of the nearest periodic image where the axis is
 * periodic
 *
 * Along x and y a slab holds all points. Along z the slabs travel around a ring of ranks, each to the rank
 * below, while the product with the slab that is already there is computed:
 *
 *   rank 0   own 0, then 1, 2, 3        <- arrives from rank 1
 *   rank 1   own 1, then 2, 3, 0        <- arrives from rank 2
 *   ...
 *
 * Sums have two terms and a minimum depends on no order, so the bits are those of one rank. */

typedef enum pencils_cost {
  PENCILS_LENGTH, /* |i - k| h */
  PENCILS_SQUARE  /* (|i - k| h)^2, times a scale */
} pencils_cost;

typedef struct pencils {
  MPI_Comm comm;
  grid grid; /* its ends say which axes are periodic */
  const field_space *space;
  int direct;         /* MPI takes the fields' memory as it is */
  MPI_Datatype block; /* KERNELS_PLANE_UNIT bytes: planes of any size can be counted with an int */
  void *costs;        /* MEMORY_DEVICE: a table of the longest axis */
  void *table;        /* the same in host memory */
  void *pairs;        /* MEMORY_DEVICE: a counter of pairs that were computed */
  void *staging[2];   /* MEMORY_STAGING: slabs on their way, unless `direct` or on one rank */
} pencils;

/* Prepares for products of fields of `space`, which must outlive them. direct: whether device memory can be
 * given to MPI. Not collective. STATUS_MEMORY, STATUS_DEVICE, STATUS_MPI; pencils_close is due all the same.
 */
status pencils_open(MPI_Comm comm, const grid *grid, const field_space *space, int direct, pencils *pencils);
void pencils_close(pencils *pencils);

typedef struct pencils_product {
  int axis;
  pencils_cost cost;
  double scale;    /* of squares */
  double least;    /* no value of `in` is below it */
  int accumulate;  /* out keeps its value where that is less */
  const field *in; /* no NaN and no -infinity; halos neither needed nor changed */
  field *out;      /* another field */
  field
      *travel[2]; /* along z on several ranks: other fields, for slabs on their way; their values are lost */
} pencils_product;

/* Computes a product; it is done when the call returns. Collective, the same status on every rank.
 * STATUS_MEMORY, STATUS_DEVICE, STATUS_MPI. */
status pencils_run(pencils *pencils, const pencils_product *product);

/* Pairs (i, k) that this rank has computed so far, padding included; what is above is skipping's gain. */
status pencils_pairs(pencils *pencils, double *pairs);

#endif
