#ifndef FDAPP_APP_ANSWER_H
#define FDAPP_APP_ANSWER_H

#include "snapshots/checkpoint.h"

/* What a finished run says of itself in its last lines: the hash of its answer, its figure of merit, and
 * whether the hash is the reference. */

typedef enum answer_verdict { ANSWER_UNKNOWN, ANSWER_RIGHT, ANSWER_WRONG } answer_verdict;

typedef struct answer {
  char hash[CONFIG_HASH_SIZE];
  double merit; /* point updates per second: points advanced by one stage each, in the time of steps alone */
  answer_verdict verdict;
} answer;

/* Finds hash and verdict of `state`, the answer at `step`. updates: points times stages that this process's
 * steps took; seconds: of these steps on this rank. Collective; the same on every rank. As checkpoint_hash.
 */
status answer_find(MPI_Comm comm, const config *config, checkpoint *checkpoint, int64_t step,
                   const state *state, double updates, double seconds, answer *answer);

/* Prints the three lines. Rank 0 prints. */
void answer_print(const answer *answer, const config *config);

/* STATUS_OTHER_ANSWER, in words, if the hash is not the reference. */
status answer_judge(const answer *answer, const config *config);

#endif
