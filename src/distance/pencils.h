#ifndef FDAPP_DISTANCE_PENCILS_H
#define FDAPP_DISTANCE_PENCILS_H

#include <mpi.h>

#include "base/agree.h"
#include "domain/field.h"

/* Min-plus products of a field with a cost that depends only on the distance, along whole axes of the grid:
 *
 *   out[i] = min over k of in[k] + cost(|i - k| h),   periodic axes: distance to the nearest periodic image
 *
 * Along x and y a slab holds all points. Along z the slabs travel around a ring of ranks, each to the rank
 * below, while the product with the present slab is computed:
 *
 *   rank 0   own 0, then 1, 2, 3        <- arrives from rank 1
 *   rank 1   own 1, then 2, 3, 0        <- arrives from rank 2
 *   ...
 *
 * The bits are those of one rank, because sums have two terms and a minimum does not depend on the order. */

typedef enum pencils_cost {
  PENCILS_LENGTH, /* |i - k| h */
  PENCILS_SQUARE  /* (|i - k| h)^2, times a scale */
} pencils_cost;

typedef struct pencils {
  MPI_Comm comm;
  grid grid; /* its ends say which axes are periodic */
  const field_space *space;
  int direct;         /* 1: MPI takes the fields' memory directly */
  MPI_Datatype block; /* KERNELS_PLANE_UNIT bytes, so that an int can count planes of any size */
  void *costs;        /* MEMORY_DEVICE: cost table of the longest axis */
  void *table;        /* the same table in host memory */
  void *pairs;        /* MEMORY_DEVICE: counter of pairs computed */
  void *staging[2];   /* MEMORY_STAGING: slabs that travel, unless `direct` or on one rank */
} pencils;

/* Prepares for products of fields of `space`, which must outlive them. direct: 1 if MPI can take device
 * memory. Not collective. STATUS_MEMORY, STATUS_DEVICE, STATUS_MPI; call pencils_close even after an
 * error. */
status pencils_open(MPI_Comm comm, const grid *grid, const field_space *space, int direct, pencils *pencils);
void pencils_close(pencils *pencils);

typedef struct pencils_product {
  int axis;
  pencils_cost cost;
  double scale;     /* factor of PENCILS_SQUARE */
  double least;     /* lower bound of the values of `in` */
  int accumulate;   /* 1: out is the minimum of its old value and the product */
  const field *in;  /* no NaN and no -infinity; halos neither needed nor changed */
  field *out;       /* another field */
  field *travel[2]; /* along z on several ranks: further fields for the slabs that travel, overwritten */
} pencils_product;

/* Computes a product; it is done when the call returns. Collective, the same status on every rank.
 * STATUS_MEMORY, STATUS_DEVICE, STATUS_MPI. */
status pencils_run(pencils *pencils, const pencils_product *product);

/* [out] pairs: number of pairs (i, k) that this rank has computed so far, padding included; skipping lowers
 * it. */
status pencils_pairs(pencils *pencils, double *pairs);

#endif
