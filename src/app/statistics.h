#ifndef FDAPP_APP_STATISTICS_H
#define FDAPP_APP_STATISTICS_H

#include "app/restart.h"
#include "domain/state.h"

/* Statistics over a window of time ([statistics]): of chosen unknowns the mean, the variance and, if wanted,
 * the mean product of each two of them. Samples are the states of every `every`-th step from `from` to `to`.
 * The weight w of a sample is the time since the sample before, of the first one that of the second, so that
 * steps of any size give means over time, and constant steps those of the samples. Statistics are kept where
 * the fields are and renewed at each sample (West's recurrence, of 1979), with a = w over the sum of all w:
 *
 *   d = x - mean,   variance <- variance - a variance + a (1 - a) d^2,   mean <- mean + a d,
 *   product <- product + a (x y - product).
 *
 * Operations at single points make them, so their bits do not depend on ranks, threads or backend. They are
 * written beside each whole snapshot, and at the end of the run, as statistics_NNNNNNNN.hdf, and a resumed
 * run continues those of the snapshot's step. */
typedef struct statistics {
  MPI_Comm comm;
  const config *config;
  stencil stencil;
  int fields, chosen[STATE_FIELDS]; /* indices of the unknowns; fields = 0: no statistics */
  char text[STATE_FIELDS][2 * CONFIG_NAME_SIZE];
  const char *names[STATE_FIELDS];
  state arrays; /* means, variances, products */
  field work[CONFIG_STATISTICS_WORK];
  checkpoint *file;
  int64_t last, written; /* step of the newest sample, of the newest file; -1: none */
  checkpoint_samples samples;
} statistics;

/* Refuses names that are none of the unknowns, and more statistics than a snapshot holds. STATUS_USAGE. */
status statistics_check(const config *config, int unknowns, const char *const names[]);

/* Allocates; nothing without [statistics]. `names` are those of the unknowns. Everything must outlive it.
 * Collective. STATUS_MEMORY, STATUS_DEVICE, STATUS_MPI; call statistics_destroy even after an error. */
status statistics_create(MPI_Comm comm, const grid *grid, const field_space *space, const config *config,
                         int unknowns, const char *const names[], statistics *statistics);
void statistics_destroy(statistics *statistics);

/* Continues the statistics of the snapshot from which the run resumes. A warning says so if they are not
 * there, or are those of other fields or of another window. Collective. STATUS_DAMAGED and others as
 * checkpoint_read. */
status statistics_resume(statistics *statistics, const restart *restart);

/* Takes the sample of a step, if it is due. Returns when enqueued on MAIN. STATUS_DEVICE. */
status statistics_sample(statistics *statistics, const state *state, int64_t step, double time);

/* Writes the file of this step into the run's directory, unless it is there, and removes those of earlier
 * steps whose snapshots are gone. Collective. Errors as of checkpoint_write. */
status statistics_write(statistics *statistics, int64_t step, double time);

/* At the end of a run: warns if there was no sample. */
void statistics_warn(const statistics *statistics);

#endif
