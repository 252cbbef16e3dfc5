#include "output/hashes.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "base/file.h"

static status fault(void) {
  return status_fail(STATUS_FILE, RUNDIR_HASHES ": cannot be written: %s", strerror(errno));
}

status hashes_open(const rundir *rundir, int fields, const char *const *names, int64_t planes, FILE **file) {
  char path[PATH_MAX];
  CHECK(rundir_check_held(rundir));
  CHECK(file_path(rundir->path, RUNDIR_HASHES, path, sizeof path));
  *file = fopen(path, "w");
  if (*file == NULL) return fault();
  int ok = fputs("step,hash", *file) != EOF;
  for (int f = 0; f < fields && ok; f++) {
    for (int64_t z = 0; z < planes && ok; z++) ok = fprintf(*file, ",%s_%" PRId64, names[f], z) > 0;
  }
  return ok && fputc('\n', *file) != EOF && fflush(*file) == 0 ? STATUS_OK : fault();
}

status hashes_append(FILE *file, int64_t step, uint64_t answer, const uint64_t *hashes, size_t count) {
  int ok = fprintf(file, "%" PRId64 ",%016" PRIx64, step, answer) > 0;
  for (size_t i = 0; i < count && ok; i++) ok = fprintf(file, ",%016" PRIx64, hashes[i]) > 0;
  return ok && fputc('\n', file) != EOF && fflush(file) == 0 ? STATUS_OK : fault();
}

status hashes_close(FILE *file) {
  return file == NULL || fclose(file) == 0 ? STATUS_OK : fault();
}
