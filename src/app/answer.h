#ifndef FDAPP_APP_ANSWER_H
#define FDAPP_APP_ANSWER_H

#include "snapshots/checkpoint.h"

/* The last lines of a finished run: the hash of its answer, its figure of merit, and whether the hash is the
 * reference. */

typedef enum answer_verdict { ANSWER_UNKNOWN, ANSWER_RIGHT, ANSWER_WRONG } answer_verdict;

typedef struct answer {
  char hash[CONFIG_HASH_SIZE];
  double merit; /* point updates (points advanced by one stage) per second of time steps */
  answer_verdict verdict;
} answer;

/* Computes the hash of `state`, the answer at `step`, and compares it with the reference. updates: points
 * times stages of the steps that this process took; seconds: their time on this rank. Collective; the same
 * result on every rank. Errors as of checkpoint_hash. */
status answer_find(MPI_Comm comm, const config *config, checkpoint *checkpoint, int64_t step,
                   const state *state, double updates, double seconds, answer *answer);

/* Prints the three lines, on rank 0. */
void answer_print(const answer *answer, const config *config);

/* STATUS_OTHER_ANSWER, with a message, if the hash is not the reference. */
status answer_judge(const answer *answer, const config *config);

#endif
