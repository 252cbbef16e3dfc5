#ifndef FDAPP_SNAPSHOTS_CHECKPOINT_JOB_H
#define FDAPP_SNAPSHOTS_CHECKPOINT_JOB_H

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>

#include "base/file.h"
#include "snapshots/checkpoint_chunks.h"
#include "snapshots/checkpoint_index.h"
#include "snapshots/checkpoint_planes.h"

/* A snapshot between checkpoint_begin and checkpoint_end, and the checkpoint's data. Private to this folder.
 *
 * Each rank's job is to pack, write, sync, read back and compare its planes. It runs in a thread of its own
 * from a copy of the fields, or at once without one. It calls neither MPI nor HDF5 nor a backend, so
 * MPI_THREAD_FUNNELED suffices. Until checkpoint_end only the job uses checkpoint.planes. Collective work,
 * the structure before the job and the name after it, is done by checkpoint_begin and checkpoint_end. */
typedef struct checkpoint_job {
  int pending;  /* 1: begun and not ended */
  int threaded; /* 1: a thread is to be joined */
  pthread_t thread;
  atomic_int done;
  char name[NAME_MAX + 1], partial[NAME_MAX + sizeof FILE_PARTIAL]; /* names in the directory */
  char path[PATH_MAX];                                              /* path of `partial` */
  int listed;                                                       /* 1: a run's snapshot, to be added to its
                                                                     * index */
  checkpoint_block block;
  checkpoint_state about;
  const state *state; /* NULL: write the copy */
  void *remembered;   /* rank 0, while the file is made: the numbers of checkpoint.memory; NULL: none */
  status result;
  char message[STATUS_MESSAGE_SIZE]; /* the thread's message, if it failed */
  double seconds, longest;           /* time of this snapshot, and of the slowest one, on this rank, without
                                      * waiting */
} checkpoint_job;

struct checkpoint {
  MPI_Comm comm;
  grid grid;
  precision precision;
  int keep;
  int beside; /* 1: checkpoint_create_beside */
  char directory[CONFIG_PATH_SIZE];
  int fields;
  const char *const *names;
  const config *config; /* of the run; NULL outside of one */
  checkpoint_planes planes;
  checkpoint_memory memory;
  int compress; /* 1: written as `chunks`, from planes.copy only */
  checkpoint_chunks chunks;
  checkpoint_job job;
  int64_t summed_step; /* step of the planes' checksums, of which rank 0 has all; -1: none */
  /* Rank 0 only. */
  char *configuration;
  int listed; /* 1: `index` has been read. It is read as late as possible, because a run first moves older
               * results away */
  checkpoint_index index;
};

/* Rank 0: lists the directory's snapshots, once. STATUS_FILE, STATUS_MEMORY. */
status checkpoint_list(checkpoint *checkpoint);

/* checkpoint_begin under any name. listed: 1 for a run's snapshot, which is added to its index. */
status checkpoint_begin_named(checkpoint *checkpoint, const char *name, int listed,
                              const checkpoint_state *about, const state *state);

/* Waits for the thread, if any, and removes the file that it wrote. Not collective. */
void checkpoint_job_abandon(checkpoint *checkpoint);

#endif
