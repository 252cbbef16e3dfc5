#ifndef FDAPP_SNAPSHOTS_CHECKPOINT_JOB_H
#define FDAPP_SNAPSHOTS_CHECKPOINT_JOB_H

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>

#include "base/file.h"
#include "snapshots/checkpoint_index.h"
#include "snapshots/checkpoint_planes.h"

/* A snapshot between checkpoint_begin and checkpoint_end, and what a checkpoint is made of. Private to this
 * folder.
 *
 * The job of each rank is its planes: packed, written, synced, read back and compared. It is done in a thread
 * of its own from a copy of the fields, or at once without one. It calls neither MPI nor HDF5, nor a backend,
 * so that MPI_THREAD_FUNNELED is enough; until checkpoint_end it alone uses checkpoint.planes. All that ranks
 * do together, the structure before it and the name after it, is the caller's, in checkpoint_begin and
 * checkpoint_end. */
typedef struct checkpoint_job {
  int pending;  /* begun and not ended */
  int threaded; /* in a thread, which has to be joined */
  pthread_t thread;
  atomic_int done;
  char name[NAME_MAX + 1], partial[NAME_MAX + sizeof FILE_PARTIAL]; /* in the directory */
  char path[PATH_MAX];                                              /* of `partial` */
  int listed;                                                       /* a run's, for its index */
  checkpoint_block block;
  checkpoint_state about;
  const state *state; /* NULL: the copy is written */
  status result;
  char message[STATUS_MESSAGE_SIZE]; /* of the thread, if it failed */
  double seconds, longest;           /* what this snapshot and the slowest one took here, waiting left out */
} checkpoint_job;

struct checkpoint {
  MPI_Comm comm;
  grid grid;
  precision precision;
  int keep;
  char directory[CONFIG_PATH_SIZE];
  int fields;
  const char *const *names;
  checkpoint_planes planes;
  checkpoint_job job;
  int64_t summed_step; /* planes' checksums, on rank 0 all of them, are those of this step; -1: of none */
  /* Rank 0 only. */
  char *configuration;
  int listed; /* whether `index` has been read: not before it is needed, for a run first sets older results
                 aside */
  checkpoint_index index;
};

/* Rank 0: reads which snapshots the directory holds, once. STATUS_FILE, STATUS_MEMORY. */
status checkpoint_list(checkpoint *checkpoint);

/* checkpoint_begin under any name; `listed`: a run's snapshot, for its index. */
status checkpoint_begin_named(checkpoint *checkpoint, const char *name, int listed,
                              const checkpoint_state *about, const state *state);

/* Waits for the thread, if any, and forgets what it wrote: nothing of it is left under any name. Not
 * collective. */
void checkpoint_job_abandon(checkpoint *checkpoint);

#endif
