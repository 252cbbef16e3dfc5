#include "app/answer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/agree.h"
#include "base/log.h"

status answer_find(MPI_Comm comm, const config *config, checkpoint *checkpoint, int64_t step,
                   const state *state, double updates, double seconds, answer *answer) {
  uint64_t hash = 0;
  double slowest = 0.0;
  CHECK(checkpoint_hash(checkpoint, step, state, &hash));
  CHECK_MPI(MPI_Allreduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, comm));
  (void)snprintf(answer->hash, sizeof answer->hash, "%016" PRIx64, hash);
  answer->merit = slowest > 0.0 ? updates / slowest : 0.0;
  answer->verdict = ANSWER_UNKNOWN;
  if (config->reference[0] != '\0')
    answer->verdict = strcmp(answer->hash, config->reference) == 0 ? ANSWER_RIGHT : ANSWER_WRONG;
  return STATUS_OK;
}

void answer_print(const answer *answer, const config *config) {
  log_info("hash       %s\nfom        %.3g point updates per second\n", answer->hash, answer->merit);
  switch (answer->verdict) {
  case ANSWER_RIGHT:
    log_info("verified   passed\n");
    break;
  case ANSWER_WRONG:
    log_info("verified   FAILED, reference %s\n", config->reference);
    break;
  default:
    log_info("verified   no reference\n");
  }
}

status answer_judge(const answer *answer, const config *config) {
  if (answer->verdict != ANSWER_WRONG) return STATUS_OK;
  return status_fail(STATUS_OTHER_ANSWER, "the answer's hash is %s, not benchmark.reference = %s",
                     answer->hash, config->reference);
}
