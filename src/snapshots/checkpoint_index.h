#ifndef FDAPP_SNAPSHOTS_CHECKPOINT_INDEX_H
#define FDAPP_SNAPSHOTS_CHECKPOINT_INDEX_H

#include "snapshots/checkpoint.h"

/* Which states a directory holds, and the index of them that ParaView reads. Private to the checkpoint room;
 * rank 0 only. The directory is read once; afterwards what is written and removed is noted. */

typedef struct checkpoint_entry {
  int64_t step; /* as the name says */
  double time;
  int picture;
  int known; /* whether the file's header was in order; if not, the entry is in no index and never pruned */
} checkpoint_entry;

typedef struct checkpoint_index {
  const char *directory;
  checkpoint_entry *entries; /* ascending in step */
  size_t count;
  size_t room;
} checkpoint_index;

/* Lists the directory (which stays the caller's); one that does not exist has no states. STATUS_FILE,
 * STATUS_MEMORY. */
status checkpoint_index_open(const char *directory, checkpoint_index *index);
void checkpoint_index_close(checkpoint_index *index);

/* Notes a state just written, writes the index state.hdf.series, then removes all but the newest `keep` of
 * those that are no pictures. STATUS_FILE, STATUS_MEMORY. */
status checkpoint_index_add(checkpoint_index *index, const checkpoint_state *state, int keep);

/* Moves states of later steps into a previous_N below the directory, with an index of them and copies of what
 * else their run left, and writes the index in any case. [out] moved: whether there were any. STATUS_FILE,
 * STATUS_MEMORY. */
status checkpoint_index_rewind(checkpoint_index *index, int64_t step, int *moved);

#endif
