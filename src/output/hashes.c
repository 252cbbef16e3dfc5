#include "output/hashes.h"

#include <inttypes.h>

status hashes_create(int64_t every, int fields, const char *const *names, int64_t planes, table *table) {
  size_t size = 0;
  *table = (struct table){.name = RUNDIR_HASHES, .every = every, .hashes = 1};
  FILE *out = open_memstream(&table->header, &size);
  int ok = out != NULL && fputs("step,hash", out) != EOF;
  for (int f = 0; f < fields && ok; f++) {
    for (int64_t z = 0; z < planes && ok; z++) ok = fprintf(out, ",%s_%" PRId64, names[f], z) > 0;
  }
  ok = ok && fputc('\n', out) != EOF;
  if (out != NULL) ok = fclose(out) == 0 && ok;
  return ok ? STATUS_OK : status_fail(STATUS_MEMORY, "no memory for " RUNDIR_HASHES);
}

status hashes_append(table *table, int64_t step, uint64_t answer, const uint64_t *hashes, size_t count) {
  if (table->last >= step) return STATUS_OK;
  int ok = fprintf(table->file, "%" PRId64 ",%016" PRIx64, step, answer) > 0;
  for (size_t i = 0; i < count && ok; i++) ok = fprintf(table->file, ",%016" PRIx64, hashes[i]) > 0;
  return table_end_row(table, ok);
}
