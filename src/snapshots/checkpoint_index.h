#ifndef FDAPP_SNAPSHOTS_CHECKPOINT_INDEX_H
#define FDAPP_SNAPSHOTS_CHECKPOINT_INDEX_H

#include "snapshots/checkpoint.h"

/* The list of states in a directory, and the index of them that ParaView reads. Private to this folder; rank
 * 0 only. The directory is read once; later changes are made to the list, too. */

typedef struct checkpoint_entry {
  int64_t step; /* from the file's name */
  double time;
  int picture;
  int known; /* 1: the file's header was valid; otherwise the entry is in no index and never pruned */
} checkpoint_entry;

typedef struct checkpoint_index {
  const char *directory;
  checkpoint_entry *entries; /* ascending in step */
  size_t count;
  size_t room;
} checkpoint_index;

/* Lists the directory; a missing one has no states. The name must outlive the index. STATUS_FILE,
 * STATUS_MEMORY. */
status checkpoint_index_open(const char *directory, checkpoint_index *index);
void checkpoint_index_close(checkpoint_index *index);

/* Adds a state just written, writes the index state.hdf.series, then removes all checkpoints but the newest
 * `keep`. STATUS_FILE, STATUS_MEMORY. */
status checkpoint_index_add(checkpoint_index *index, const checkpoint_state *state, int keep);

/* Moves states of later steps into a previous_N below the directory, with an index of them and copies of the
 * run's other files, and writes the index in any case. [out] moved: 1 if there were any. STATUS_FILE,
 * STATUS_MEMORY. */
status checkpoint_index_rewind(checkpoint_index *index, int64_t step, int *moved);

#endif
