#include "output/table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"

static status file_fault(const char *path) {
  return status_fail(STATUS_FILE, "%s: %s", path, strerror(errno));
}

/* Opens the existing table. [out] old: NULL if there is none. */
static status open_old(const char *path, FILE **old) {
  int descriptor = -1;
  CHECK(file_open_regular(path, &descriptor));
  if (descriptor < 0) return STATUS_OK;
  *old = fdopen(descriptor, "r");
  if (*old != NULL) return STATUS_OK;
  const status result = file_fault(path);
  (void)close(descriptor);
  return result;
}

/* Returns the end of the cell in column i that a line begins with, or the line itself if that is no such
 * cell. */
static const char *cell_end(const table *table, int i, const char *line) {
  enum { DIGITS = 16 };
  if (table->hashes && i > 0) return strspn(line, "0123456789abcdef") == DIGITS ? line + DIGITS : line;
  char *end = NULL;
  (void)strtod(line, &end);
  return end;
}

/* Returns 1 if a line is a row: as many cells as the table has columns, and nothing else. */
static int is_row(const table *table, const char *line) {
  int columns = 1;
  for (const char *name = strchr(table->header, ','); name != NULL; name = strchr(name + 1, ',')) columns++;
  for (int i = 0; i < columns; i++) {
    const char *end = cell_end(table, i, line);
    if (end == line || *end != (i + 1 < columns ? ',' : '\n')) return 0;
    line = end + 1;
  }
  return *line == '\0';
}

void table_warn_of_gap(const char *path, const char *what, int64_t last, int64_t from) {
  char since[64] = "up to step";
  if (last >= 0) (void)snprintf(since, sizeof since, "from step %" PRId64 " to", last + 1);
  log_warning("%s: no %s %s %" PRId64 ", where the run resumes: lost, or not due in the run before", path,
              what, since, from);
}

/* Warns of missing rows. None should be missing up to step `from`, where the run resumes, because rows are on
 * the disk before the state is. `last`: the latest row there is. */
static void warn_of_gaps(const char *path, int64_t from, int64_t every, int64_t last, int damaged) {
  if (damaged > 0) log_warning("%s: %d damaged row%s left out", path, damaged, damaged == 1 ? "" : "s");
  if (every > 0 && last < from - from % every) table_warn_of_gap(path, "row", last, from);
}

/* Copies the rows of an earlier run that stay to `text`: whole lines of steps up to `from`. If that run's
 * last row is not due, it was written only because the run ended there; it is dropped unless the
 * run began there, because an uninterrupted run would not have it. */
static status keep_rows(table *table, const rundir *rundir, const char *path, int64_t from, int due,
                        FILE *text) {
  FILE *old = NULL;
  int began = 0;
  CHECK(rundir_began_at(rundir->path, from, &began));
  CHECK(open_old(path, &old));
  int64_t last = -1;
  int damaged = 0;
  char *line = NULL;
  size_t room = 0;
  while (old != NULL && getline(&line, &room, old) >= 0) {
    const int64_t step = strtoll(line, NULL, 10);
    const int row = is_row(table, line);
    const int only_last = step == from && !due && !began;
    damaged += !row && strchr(line, '\n') != NULL && strcmp(line, table->header) != 0;
    if (!row || step > from) continue;
    last = step;
    if (only_last) continue;
    table->last = step;
    if (fputs(line, text) == EOF) break;
  }
  free(line);
  warn_of_gaps(path, from, table->every, last, damaged);
  if (old == NULL) return STATUS_OK;
  const status result = ferror(old) == 0 && feof(old) != 0 ? STATUS_OK : file_fault(path);
  (void)fclose(old);
  return result;
}

/* Moves an older table with other columns away, because its rows and the new ones do not fit one table. [out]
 * other: 1 if there was one. */
static status set_aside_other(const table *table, const rundir *rundir, const char *path, int *other) {
  char *line = NULL;
  size_t room = 0;
  char moved[64];
  FILE *old = NULL;
  *other = 0;
  CHECK(open_old(path, &old));
  if (old == NULL) return STATUS_OK;
  *other = getline(&line, &room, old) >= 0 && strcmp(line, table->header) != 0;
  free(line);
  const status result = ferror(old) == 0 ? STATUS_OK : file_fault(path);
  (void)fclose(old);
  CHECK(result);
  if (!*other) return STATUS_OK;
  CHECK(rundir_set_aside_one(rundir, table->name, moved));
  log_info("output     %s with other columns moved to %s/%s\n", table->name, rundir->path, moved);
  return STATUS_OK;
}

static void place_table(table *table, const rundir *rundir) {
  (void)snprintf(table->path, sizeof table->path, "%s/%s", rundir->path, table->name);
}

status table_goes_beyond(table *table, const rundir *rundir, int64_t step, int *beyond) {
  FILE *old = NULL;
  char *line = NULL;
  size_t room = 0;
  place_table(table, rundir);
  CHECK(open_old(table->path, &old));
  if (old == NULL) return STATUS_OK;
  while (getline(&line, &room, old) >= 0) {
    if (strtoll(line, NULL, 10) > step) *beyond = 1;
  }
  free(line);
  const status result = ferror(old) == 0 ? STATUS_OK : file_fault(table->path);
  (void)fclose(old);
  return result;
}

status table_open(table *table, const rundir *rundir, int64_t from, int due) {
  const char *path = table->path;
  place_table(table, rundir);
  table->last = -1;
  int other = 0;
  if (from >= 0) CHECK(set_aside_other(table, rundir, path, &other));
  char *text = NULL;
  size_t size = 0;
  FILE *rows = open_memstream(&text, &size);
  if (rows == NULL) return file_fault(path);
  status result = fputs(table->header, rows) != EOF ? STATUS_OK : file_fault(path);
  if (result == STATUS_OK && from >= 0 && !other) result = keep_rows(table, rundir, path, from, due, rows);
  const int complete = fclose(rows) == 0;
  if (result == STATUS_OK && !complete) result = status_fail(STATUS_MEMORY, "no memory for %s", path);
  if (result == STATUS_OK) result = rundir_write(rundir, table->name, text);
  free(text);
  CHECK(result);
  table->file = fopen(path, "a");
  return table->file != NULL ? STATUS_OK : file_fault(path);
}

status table_end_row(table *table, int written) {
  const int ok = written && fputc('\n', table->file) != EOF && fflush(table->file) == 0;
  return ok ? STATUS_OK : file_fault(table->path);
}

status table_sync(const table *table) {
  return table->file == NULL ? STATUS_OK : file_sync(fileno(table->file), table->path);
}

status table_close(table *table) {
  if (table->file == NULL) return STATUS_OK;
  const int failed = fclose(table->file) != 0;
  table->file = NULL;
  return failed ? file_fault(table->path) : STATUS_OK;
}

void table_destroy(table *table) {
  if (table->file != NULL) (void)fclose(table->file);
  free(table->header);
  table->file = NULL;
  table->header = NULL;
}
