#ifndef FDAPP_SNAPSHOTS_CHECKPOINT_PLANES_H
#define FDAPP_SNAPSHOTS_CHECKPOINT_PLANES_H

#include "config/kept.h"
#include "snapshots/checkpoint_block.h"

/* A rank's planes on their way between the fields and a snapshot, and their checksums. Private to this
 * folder. Only gather and scatter are collective. */

typedef struct checkpoint_planes {
  MPI_Comm comm;
  grid grid;        /* grid of the points in the file: its sizes, spacings and this slab's planes */
  config_kept kept; /* which of the fields' points these are */
  double origin[3]; /* of the first point kept */
  int64_t z0;       /* the fields' first owned plane */
  int part;         /* 1: not all points, or another precision: written from `copy` only */
  precision precision;
  int fields;
  void *piece; /* piece_planes packed planes */
  int piece_planes;
  /* all fields as in memory, on the host, or their kept points; NULL: none */
  void *copy;
  field_space space;   /* the space that allocated `copy` */
  uint64_t *checksums; /* of the owned planes, field by field: [fields][grid.nz] */
  /* Rank 0 only. */
  uint64_t *all; /* of all planes: [fields][grid.n[2]], as in the file */
  int *counts;   /* planes of each rank */
  int *starts;   /* first plane of each rank */
} checkpoint_planes;

/* Allocates. `whole`: the fields' grid; kept: NULL for all points. STATUS_MEMORY; call
 * checkpoint_planes_destroy even after an error. */
status checkpoint_planes_create(MPI_Comm comm, const grid *whole, const config_kept *kept,
                                precision precision, int fields, checkpoint_planes *planes);
void checkpoint_planes_destroy(checkpoint_planes *planes);

/* Computes the checksums of this rank's planes. STATUS_DEVICE. */
status checkpoint_planes_sum(checkpoint_planes *planes, const state *state);

/* Allocates `copy`: host memory for the owned planes, or for their kept points. STATUS_MEMORY,
 * STATUS_DEVICE. */
status checkpoint_planes_hold(checkpoint_planes *planes, const field_space *space);
void checkpoint_planes_release(checkpoint_planes *planes);
/* Copies the fields to `copy`. STATUS_DEVICE. */
status checkpoint_planes_copy(checkpoint_planes *planes, const state *state);

/* Packs planes z .. z + count - 1 of a field in `copy` into `piece`; count is at most piece_planes. */
void checkpoint_planes_pack(const checkpoint_planes *planes, int field, int z, int count);

/* Computes the checksums and writes the planes to the file, from `copy` if state is NULL. STATUS_FILE,
 * STATUS_DEVICE. */
status checkpoint_planes_write(checkpoint_planes *planes, const char *path, const checkpoint_block *block,
                               const state *state);

/* Compares this rank's planes in the file with `checksums`. If state is NULL, the file has just been written:
 * it is flushed to the disk first, and read from the disk, not from the page cache. Otherwise the planes are
 * stored in the state, whose halos are invalid afterwards. STATUS_DAMAGED, STATUS_FILE, STATUS_MEMORY,
 * STATUS_DEVICE. */
status checkpoint_planes_check(checkpoint_planes *planes, const char *path, const checkpoint_block *block,
                               state *state);

/* Gathers `checksums` of all ranks to rank 0's `all`, and scatters them back. Collective. STATUS_MPI. */
status checkpoint_planes_gather(checkpoint_planes *planes);
status checkpoint_planes_scatter(checkpoint_planes *planes);

#endif
