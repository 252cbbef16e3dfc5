#include "output/diagnostics.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/agree.h"
#include "base/file.h"
#include "base/log.h"
#include "stencil.h"

static const char file_name[] = RUNDIR_DIAGNOSTICS;

/* More than a row of STATE_FIELDS fields ever has: 25 bytes a number. */
enum { LINE_SIZE = 4096 };

static void write_columns(const diagnostics *diagnostics, FILE *out) {
  for (int f = 0; f < diagnostics->fields; f++) {
    char of[64] = "";
    if (f > 0) (void)snprintf(of, sizeof of, "_%s", diagnostics->names[f]);
    (void)fprintf(out, ",mass%s,l2%s,min%s,max%s%s", of, of, of, of, f == 0 ? ",courant" : "");
    if (diagnostics->with_errors) (void)fprintf(out, ",err_l1%s,err_l2%s,err_linf%s", of, of, of);
  }
}

static status make_header(diagnostics *diagnostics) {
  size_t size = 0;
  free(diagnostics->header);
  diagnostics->header = NULL;
  FILE *out = open_memstream(&diagnostics->header, &size);
  if (out == NULL) return status_fail(STATUS_MEMORY, "no memory for a table's columns");
  (void)fputs("step,time,dt", out);
  write_columns(diagnostics, out);
  (void)fputs("\n", out);
  return fclose(out) == 0 ? STATUS_OK : status_fail(STATUS_MEMORY, "no memory for a table's columns");
}

/* What rank 0 alone needs. */
static status create_root(diagnostics *diagnostics) {
  const grid *grid = &diagnostics->grid;
  diagnostics->all = malloc((size_t)grid->n[2] * sizeof *diagnostics->all);
  diagnostics->counts = malloc((size_t)grid->ranks * sizeof *diagnostics->counts);
  diagnostics->offsets = malloc((size_t)grid->ranks * sizeof *diagnostics->offsets);
  if (diagnostics->all == NULL || diagnostics->counts == NULL || diagnostics->offsets == NULL)
    return status_fail(STATUS_MEMORY, "no memory for the sums of %" PRId64 " planes", grid->n[2]);
  for (int rank = 0; rank < grid->ranks; rank++) {
    const int64_t start = grid_slab_start(grid->n[2], grid->ranks, rank);
    const int64_t end = grid_slab_start(grid->n[2], grid->ranks, rank + 1);
    diagnostics->offsets[rank] = (int)(start * (int64_t)sizeof(kernels_plane_sums));
    diagnostics->counts[rank] = (int)((end - start) * (int64_t)sizeof(kernels_plane_sums));
  }
  return make_header(diagnostics);
}

status diagnostics_create(MPI_Comm comm, const grid *grid, int fields, const char *const names[],
                          int64_t every, int with_errors, diagnostics *diagnostics) {
  *diagnostics = (struct diagnostics){.comm = comm,
                                      .grid = *grid,
                                      .fields = fields,
                                      .names = names,
                                      .every = every,
                                      .with_errors = with_errors};
  diagnostics->planes = malloc((size_t)grid->nz * sizeof *diagnostics->planes);
  status mine = diagnostics->planes != NULL
                    ? STATUS_OK
                    : status_fail(STATUS_MEMORY, "no memory for the sums of %d planes", grid->nz);
  if (mine == STATUS_OK && grid->rank == 0) mine = create_root(diagnostics);
  return agree(comm, mine);
}

void diagnostics_destroy(diagnostics *diagnostics) {
  free(diagnostics->planes);
  free(diagnostics->all);
  free(diagnostics->counts);
  free(diagnostics->offsets);
  free(diagnostics->header);
  if (diagnostics->file != NULL) (void)fclose(diagnostics->file);
  memset(diagnostics, 0, sizeof *diagnostics);
}

status diagnostics_drop_errors(diagnostics *diagnostics) {
  diagnostics->with_errors = 0;
  return diagnostics->grid.rank == 0 ? make_header(diagnostics) : STATUS_OK;
}

static status measure_planes(diagnostics *diagnostics, const field *field, const void *reference) {
  const stencil none = {0}; /* sums take no differences */
  const kernels_launch launch = {.context = field->context,
                                 .queue = QUEUE_MAIN,
                                 .shape = field->shape,
                                 .planes = {{0, field->shape.nz}},
                                 .stencil = &none};
  kernels_weights weights;
  return field->backend->plane_sums(&launch, field->data, reference,
                                    grid_kernels_weights(&diagnostics->grid, &weights), diagnostics->planes);
}

/* Rank 0: planes in global order. Returns whether all values are finite. */
static int sum_planes(const diagnostics *diagnostics, int with_exact, diagnostics_field *sums) {
  const grid *grid = &diagnostics->grid;
  kernels_plane_sums total = {.minimum = INFINITY, .maximum = -INFINITY};
  for (int64_t z = 0; z < grid->n[2]; z++) {
    const kernels_plane_sums *plane = &diagnostics->all[z];
    const double weight = grid_weight(grid, 2, z);
    total.sum += weight * plane->sum;
    total.sum_squares += weight * plane->sum_squares;
    total.minimum = plane->minimum < total.minimum ? plane->minimum : total.minimum;
    total.maximum = plane->maximum > total.maximum ? plane->maximum : total.maximum;
    total.error_sum += weight * plane->error_sum;
    total.error_squares += weight * plane->error_squares;
    total.error_maximum =
        plane->error_maximum > total.error_maximum ? plane->error_maximum : total.error_maximum;
  }
  const double volume = grid_cell_volume(grid);
  *sums = (diagnostics_field){.mass = total.sum * volume,
                              .l2 = sqrt(total.sum_squares * volume),
                              .minimum = total.minimum,
                              .maximum = total.maximum,
                              .error_l1 = with_exact ? total.error_sum * volume : NAN,
                              .error_l2 = with_exact ? sqrt(total.error_squares * volume) : NAN,
                              .error_linf = with_exact ? total.error_maximum : NAN};
  return isfinite(total.sum) && isfinite(total.sum_squares);
}

status diagnostics_measure(diagnostics *diagnostics, const state *fields, const state *exact,
                           const schedule *schedule, int64_t step, double courant,
                           diagnostics_record *record) {
  *record = (diagnostics_record){
      .step = step, .time = schedule_time(schedule, step), .dt = schedule_dt(schedule, step), .finite = 1};
  record->courant = courant;
  for (int f = 0; f < diagnostics->fields; f++) {
    const void *reference = exact != NULL ? exact->part[f].data : NULL;
    CHECK(agree(diagnostics->comm, measure_planes(diagnostics, &fields->part[f], reference)));
    CHECK_MPI(MPI_Gatherv(diagnostics->planes, diagnostics->grid.nz * (int)sizeof(kernels_plane_sums),
                          MPI_BYTE, diagnostics->all, diagnostics->counts, diagnostics->offsets, MPI_BYTE, 0,
                          diagnostics->comm));
    if (diagnostics->grid.rank == 0) {
      const int finite = sum_planes(diagnostics, exact != NULL, &record->field[f]);
      record->finite = record->finite && finite;
    }
  }
  CHECK_MPI(MPI_Bcast(record, (int)sizeof *record, MPI_BYTE, 0, diagnostics->comm));
  return STATUS_OK;
}

static status file_fault(const char *path) {
  return status_fail(STATUS_FILE, "%s: %s", path, strerror(errno));
}

/* [out] table: NULL if there is none. */
static status open_table(const char *path, FILE **table) {
  int descriptor = -1;
  CHECK(file_open_regular(path, &descriptor));
  if (descriptor < 0) return STATUS_OK;
  *table = fdopen(descriptor, "r");
  if (*table != NULL) return STATUS_OK;
  const status result = file_fault(path);
  (void)close(descriptor);
  return result;
}

/* Whether a line is a row: as many numbers as the table has columns, and nothing else. */
static int is_row(const diagnostics *diagnostics, const char *line) {
  int columns = 1;
  for (const char *name = strchr(diagnostics->header, ','); name != NULL; name = strchr(name + 1, ','))
    columns++;
  for (int i = 0; i < columns; i++) {
    char *end = NULL;
    (void)strtod(line, &end);
    if (end == line || *end != (i + 1 < columns ? ',' : '\n')) return 0;
    line = end + 1;
  }
  return *line == '\0';
}

/* Rows are on the disk before the state that the run goes on from. `last`: the latest that is there. */
static void warn_of_gaps(const char *path, int64_t from, int64_t every, int64_t last, int damaged) {
  if (damaged > 0) log_warning("%s: %d damaged row%s left out", path, damaged, damaged == 1 ? "" : "s");
  if (every == 0 || last >= from - from % every) return;
  if (last < 0) {
    log_warning("%s: no row up to step %" PRId64 ", where the run goes on: lost, or not asked for", path,
                from);
  } else {
    log_warning("%s: no row from step %" PRId64 " to %" PRId64
                ", where the run goes on: lost, or not asked for",
                path, last + 1, from);
  }
}

/* The rows of an earlier run that stay: whole lines, not beyond `from`; a last row that was written only
 * because that run ended there would not be in an uninterrupted run, unless that began there. They are copied
 * to `text`. */
static status keep_rows(diagnostics *diagnostics, const rundir *rundir, const char *path, int64_t from,
                        FILE *text) {
  FILE *old = NULL;
  int began = 0;
  CHECK(rundir_began_at(rundir->path, from, &began));
  CHECK(open_table(path, &old));
  const int64_t every = diagnostics->every;
  int64_t last = -1;
  int damaged = 0;
  char line[LINE_SIZE];
  while (old != NULL && fgets(line, (int)sizeof line, old) != NULL) {
    const int64_t step = strtoll(line, NULL, 10);
    const int row = is_row(diagnostics, line);
    const int only_last = step == from && !schedule_due(step, every) && !began;
    damaged += !row && strchr(line, '\n') != NULL && strcmp(line, diagnostics->header) != 0;
    if (!row || step > from) continue;
    last = step;
    if (only_last) continue;
    diagnostics->last = step;
    if (fputs(line, text) == EOF) break;
  }
  warn_of_gaps(path, from, every, last, damaged);
  if (old == NULL) return STATUS_OK;
  const status result = ferror(old) == 0 && feof(old) != 0 ? STATUS_OK : file_fault(path);
  (void)fclose(old);
  return result;
}

/* An older table with other columns moves out of the way: its rows and the new ones are not one table. [out]
 * other: whether there was one. */
static status set_aside_other(const diagnostics *diagnostics, const rundir *rundir, const char *path,
                              int *other) {
  char line[LINE_SIZE] = "";
  char moved[64];
  FILE *old = NULL;
  *other = 0;
  CHECK(open_table(path, &old));
  if (old == NULL) return STATUS_OK;
  *other = fgets(line, (int)sizeof line, old) != NULL && strcmp(line, diagnostics->header) != 0;
  const status result = ferror(old) == 0 ? STATUS_OK : file_fault(path);
  (void)fclose(old);
  CHECK(result);
  if (!*other) return STATUS_OK;
  CHECK(rundir_set_aside_one(rundir, file_name, moved));
  log_info("output     %s with other columns moved to %s/%s\n", file_name, rundir->path, moved);
  return STATUS_OK;
}

static void place_table(diagnostics *diagnostics, const rundir *rundir) {
  (void)snprintf(diagnostics->path, sizeof diagnostics->path, "%s/%s", rundir->path, file_name);
}

status diagnostics_goes_beyond(diagnostics *diagnostics, const rundir *rundir, int64_t step, int *beyond) {
  FILE *table = NULL;
  char line[LINE_SIZE];
  *beyond = 0;
  place_table(diagnostics, rundir);
  CHECK(open_table(diagnostics->path, &table));
  if (table == NULL) return STATUS_OK;
  while (fgets(line, (int)sizeof line, table) != NULL) {
    if (strtoll(line, NULL, 10) > step) *beyond = 1;
  }
  const status result = ferror(table) == 0 ? STATUS_OK : file_fault(diagnostics->path);
  (void)fclose(table);
  return result;
}

status diagnostics_open(diagnostics *diagnostics, const rundir *rundir, int64_t from) {
  const char *path = diagnostics->path;
  place_table(diagnostics, rundir);
  diagnostics->last = -1;
  int other = 0;
  if (from >= 0) CHECK(set_aside_other(diagnostics, rundir, path, &other));
  char *text = NULL;
  size_t size = 0;
  FILE *rows = open_memstream(&text, &size);
  if (rows == NULL) return file_fault(path);
  status result = fputs(diagnostics->header, rows) != EOF ? STATUS_OK : file_fault(path);
  if (result == STATUS_OK && from >= 0 && !other) result = keep_rows(diagnostics, rundir, path, from, rows);
  const int complete = fclose(rows) == 0;
  if (result == STATUS_OK && !complete) result = status_fail(STATUS_MEMORY, "no memory for %s", path);
  if (result == STATUS_OK) result = rundir_write(rundir, file_name, text);
  free(text);
  CHECK(result);
  diagnostics->file = fopen(path, "a");
  return diagnostics->file != NULL ? STATUS_OK : file_fault(path);
}

status diagnostics_append(diagnostics *diagnostics, const diagnostics_record *record) {
  FILE *file = diagnostics->file;
  int ok = fprintf(file, "%" PRId64 ",%.17g,%.17g", record->step, record->time, record->dt) > 0;
  for (int f = 0; f < diagnostics->fields; f++) {
    const diagnostics_field *of = &record->field[f];
    ok = ok && fprintf(file, ",%.17g,%.17g,%.17g,%.17g", of->mass, of->l2, of->minimum, of->maximum) > 0;
    if (f == 0) ok = ok && fprintf(file, ",%.17g", record->courant) > 0;
    if (!diagnostics->with_errors) continue;
    ok = ok && fprintf(file, ",%.17g,%.17g,%.17g", of->error_l1, of->error_l2, of->error_linf) > 0;
  }
  ok = ok && fputc('\n', file) != EOF && fflush(file) == 0;
  return ok ? STATUS_OK : file_fault(diagnostics->path);
}

status diagnostics_sync(const diagnostics *diagnostics) {
  return file_sync(fileno(diagnostics->file), diagnostics->path);
}

status diagnostics_close(diagnostics *diagnostics) {
  if (diagnostics->file == NULL) return STATUS_OK;
  const int failed = fclose(diagnostics->file) != 0;
  diagnostics->file = NULL;
  return failed ? file_fault(diagnostics->path) : STATUS_OK;
}
