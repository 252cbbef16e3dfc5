#ifndef FDAPP_SNAPSHOTS_CHECKPOINT_CHUNKS_H
#define FDAPP_SNAPSHOTS_CHECKPOINT_CHUNKS_H

#include <hdf5.h>

#include "snapshots/checkpoint_planes.h"

/* Compressed snapshots. A chunk is a plane of a field, shuffled and deflated as HDF5's filters do it. Each
 * rank compresses its own planes with zlib, within the job, and writes them where rank 0 has made room for
 * them, so that neither depends on what the HDF5 library can do in parallel (version 1.10 filters in parallel
 * only by collective calls, and crashes after an error of the disk). Private to this folder. */

typedef struct checkpoint_chunks {
  char *bytes; /* this rank's compressed planes, one after another: fields, planes */
  size_t used, room;
  void *shuffled;            /* a plane */
  int64_t *sizes, *offsets;  /* of this rank's planes: [fields][grid.nz] */
  int64_t *all, *all_offset; /* rank 0: of all planes, [fields][grid.n[2]] */
} checkpoint_chunks;

/* Allocates for these planes. STATUS_MEMORY; STATUS_USAGE if a plane has more bytes than a chunk may have, or
 * the HDF5 library has no deflate. Call checkpoint_chunks_destroy even after an error. */
status checkpoint_chunks_create(const checkpoint_planes *planes, checkpoint_chunks *chunks);
void checkpoint_chunks_destroy(checkpoint_chunks *chunks);

/* Computes the checksums of the planes in the copy, and compresses them. Not collective. STATUS_MEMORY. */
status checkpoint_chunks_make(checkpoint_planes *planes, checkpoint_chunks *chunks);

/* Rank 0 gets all sizes; and the ranks get their offsets. Collective. STATUS_MPI. */
status checkpoint_chunks_gather(const checkpoint_planes *planes, checkpoint_chunks *chunks);
status checkpoint_chunks_scatter(const checkpoint_planes *planes, checkpoint_chunks *chunks);

/* Makes the dataset `place` of shape n in a file in memory, whose descriptor is `memory`, with chunks of
 * these sizes, whose bytes take no memory. [out] offsets: of the chunks, ascending. STATUS_FILE,
 * STATUS_MEMORY. */
status checkpoint_chunks_reserve(hid_t file, const char *path, const char *place, hid_t type,
                                 const hsize_t n[3], int memory, const int64_t *sizes, int64_t *offsets);

/* Writes this rank's chunks, syncs, reads them back and compares. Not collective. STATUS_FILE,
 * STATUS_DAMAGED. */
status checkpoint_chunks_write(const checkpoint_planes *planes, const checkpoint_chunks *chunks,
                               const char *path);

/* Compares the planes of a field with their checksums, through HDF5. STATUS_DAMAGED, STATUS_MEMORY. */
status checkpoint_chunks_verify(const char *path, const checkpoint_block *block, int field,
                                const uint64_t *checksums);

#endif
