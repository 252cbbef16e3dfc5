#ifndef FDAPP_SNAPSHOTS_CHECKPOINT_PLANES_H
#define FDAPP_SNAPSHOTS_CHECKPOINT_PLANES_H

#include "config/kept.h"
#include "snapshots/checkpoint_block.h"

/* The planes of a rank on their way between the fields and a snapshot, and their checksums. Private to this
 * folder. Only gather and scatter are collective. */

typedef struct checkpoint_planes {
  MPI_Comm comm;
  grid grid;        /* of the points that the file holds: theirs are sizes, spacings and this slab's planes */
  config_kept kept; /* which ones of the fields' these are */
  double origin[3]; /* of the first point kept */
  int64_t z0;       /* the fields' first owned plane */
  int part;         /* they are not all, or of another precision: written from `copy` alone */
  precision precision;
  int fields;
  void *piece; /* piece_planes packed planes */
  int piece_planes;
  /* All fields as they lay in memory, on the host, or what is kept of them; NULL: none. */
  void *copy;
  field_space space;   /* where `copy` is from */
  uint64_t *checksums; /* of the owned planes, field by field: [fields][grid.nz] */
  /* Rank 0 only. */
  uint64_t *all; /* of all planes: [fields][grid.n[2]], as in the file */
  int *counts;   /* planes of each rank */
  int *starts;   /* first plane of each rank */
} checkpoint_planes;

/* Allocates. `whole`: the fields' grid; kept: NULL for all of it. STATUS_MEMORY; checkpoint_planes_destroy is
 * due all the same. */
status checkpoint_planes_create(MPI_Comm comm, const grid *whole, const config_kept *kept,
                                precision precision, int fields, checkpoint_planes *planes);
void checkpoint_planes_destroy(checkpoint_planes *planes);

/* Computes the checksums of this rank's planes. STATUS_DEVICE. */
status checkpoint_planes_sum(checkpoint_planes *planes, const state *state);

/* Allocates `copy`: as much host memory as the owned planes take, or what is kept of them. STATUS_MEMORY,
 * STATUS_DEVICE. */
status checkpoint_planes_hold(checkpoint_planes *planes, const field_space *space);
void checkpoint_planes_release(checkpoint_planes *planes);
/* Copies the fields there. STATUS_DEVICE. */
status checkpoint_planes_copy(checkpoint_planes *planes, const state *state);

/* The same, and writes the planes into their places of the file; from `copy` if state is NULL. STATUS_FILE,
 * STATUS_DEVICE. */
status checkpoint_planes_write(checkpoint_planes *planes, const char *path, const checkpoint_block *block,
                               const state *state);

/* Compares this rank's planes in the file with `checksums`. Without a state (NULL) the file has just been
 * written: it is flushed to the disk first and not answered from memory. With one, the planes are left in it;
 * halos invalid afterwards. STATUS_DAMAGED, STATUS_FILE, STATUS_MEMORY, STATUS_DEVICE. */
status checkpoint_planes_check(checkpoint_planes *planes, const char *path, const checkpoint_block *block,
                               state *state);

/* From `checksums` of all ranks to rank 0's `all`, and back. Collective. STATUS_MPI. */
status checkpoint_planes_gather(checkpoint_planes *planes);
status checkpoint_planes_scatter(checkpoint_planes *planes);

#endif
