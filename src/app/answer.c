#include "app/answer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/agree.h"
#include "base/log.h"

/* The reference hash of the run's precision, "" for none. */
static const char *reference_of(const config *config) {
  const int single = config->precision == PRECISION_SINGLE && config->reference_single[0] != '\0';
  return single ? config->reference_single : config->reference;
}

status answer_find(MPI_Comm comm, const config *config, checkpoint *checkpoint, int64_t step,
                   const state *state, double updates, double seconds, answer *answer) {
  uint64_t hash = 0;
  double slowest = 0.0;
  CHECK(checkpoint_hash(checkpoint, step, state, &hash));
  CHECK_MPI(MPI_Allreduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, comm));
  (void)snprintf(answer->hash, sizeof answer->hash, "%016" PRIx64, hash);
  answer->merit = slowest > 0.0 ? updates / slowest : 0.0;
  answer->verdict = ANSWER_UNKNOWN;
  const char *reference = reference_of(config);
  if (reference[0] != '\0')
    answer->verdict = strcmp(answer->hash, reference) == 0 ? ANSWER_RIGHT : ANSWER_WRONG;
  return STATUS_OK;
}

void answer_print(const answer *answer, const config *config) {
  log_info("hash       %s\nfom        %.3g point updates per second\n", answer->hash, answer->merit);
  switch (answer->verdict) {
  case ANSWER_RIGHT:
    log_info("verified   passed\n");
    break;
  case ANSWER_WRONG:
    log_info("verified   FAILED, reference %s\n", reference_of(config));
    break;
  default:
    log_info("verified   no reference\n");
  }
}

status answer_judge(const answer *answer, const config *config) {
  if (answer->verdict != ANSWER_WRONG) return STATUS_OK;
  return status_fail(STATUS_OTHER_ANSWER, "the answer's hash is %s, not benchmark.reference = %s",
                     answer->hash, reference_of(config));
}
