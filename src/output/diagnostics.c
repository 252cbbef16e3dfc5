#include "output/diagnostics.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"

static const char file_name[] = RUNDIR_DIAGNOSTICS;

status diagnostics_create(solver *solver, diagnostics *diagnostics) {
  *diagnostics =
      (struct diagnostics){.solver = solver, .with_errors = solver->equation->known_later(solver->config)};
  const grid *grid = &solver->grid;
  diagnostics->planes = malloc((size_t)grid->nz * sizeof *diagnostics->planes);
  int enough = diagnostics->planes != NULL;
  if (grid->rank == 0) {
    diagnostics->all = malloc((size_t)grid->n[2] * sizeof *diagnostics->all);
    diagnostics->counts = malloc((size_t)grid->ranks * sizeof *diagnostics->counts);
    diagnostics->offsets = malloc((size_t)grid->ranks * sizeof *diagnostics->offsets);
    enough =
        enough && diagnostics->all != NULL && diagnostics->counts != NULL && diagnostics->offsets != NULL;
  }
  const status mine =
      enough ? STATUS_OK : status_fail(STATUS_MEMORY, "no memory for the sums of %d planes", grid->nz);
  CHECK(agree(solver->comm, mine));
  for (int rank = 0; grid->rank == 0 && rank < grid->ranks; rank++) {
    const int64_t start = grid_slab_start(grid->n[2], grid->ranks, rank);
    const int64_t end = grid_slab_start(grid->n[2], grid->ranks, rank + 1);
    diagnostics->offsets[rank] = (int)(start * (int64_t)sizeof(kernels_plane_sums));
    diagnostics->counts[rank] = (int)((end - start) * (int64_t)sizeof(kernels_plane_sums));
  }
  return STATUS_OK;
}

void diagnostics_destroy(diagnostics *diagnostics) {
  free(diagnostics->planes);
  free(diagnostics->all);
  free(diagnostics->counts);
  free(diagnostics->offsets);
  if (diagnostics->file != NULL) (void)fclose(diagnostics->file);
  memset(diagnostics, 0, sizeof *diagnostics);
}

static status measure_planes(diagnostics *diagnostics, double time, int with_exact) {
  solver *solver = diagnostics->solver;
  const field *phi = &stepper_state(&solver->stepper)->part[0];
  field *exact = &stepper_scratch(&solver->stepper)->part[0];
  const stencil stencil = stencil_make(solver->config->order, solver->grid.h);
  const kernels_launch launch = {.context = solver->context,
                                 .queue = QUEUE_MAIN,
                                 .shape = phi->shape,
                                 .planes = {{0, phi->shape.nz}},
                                 .stencil = &stencil};
  if (with_exact) CHECK(solver->equation->fill(solver->config, &solver->grid, time, 0, exact));
  const void *reference = with_exact ? exact->data : NULL;
  return solver->backend->plane_sums(&launch, phi->data, reference, diagnostics->planes);
}

/* Rank 0: planes in global order. */
static void sum_planes(const diagnostics *diagnostics, int with_exact, diagnostics_record *record) {
  const grid *grid = &diagnostics->solver->grid;
  kernels_plane_sums total = {.minimum = INFINITY, .maximum = -INFINITY};
  for (int64_t z = 0; z < grid->n[2]; z++) {
    const kernels_plane_sums *plane = &diagnostics->all[z];
    total.sum += plane->sum;
    total.sum_squares += plane->sum_squares;
    total.minimum = plane->minimum < total.minimum ? plane->minimum : total.minimum;
    total.maximum = plane->maximum > total.maximum ? plane->maximum : total.maximum;
    total.error_sum += plane->error_sum;
    total.error_squares += plane->error_squares;
    total.error_maximum =
        plane->error_maximum > total.error_maximum ? plane->error_maximum : total.error_maximum;
  }
  const double volume = grid_cell_volume(grid);
  record->mass = total.sum * volume;
  record->l2 = sqrt(total.sum_squares * volume);
  record->minimum = total.minimum;
  record->maximum = total.maximum;
  record->error_l1 = with_exact ? total.error_sum * volume : NAN;
  record->error_l2 = with_exact ? sqrt(total.error_squares * volume) : NAN;
  record->error_linf = with_exact ? total.error_maximum : NAN;
  record->finite = isfinite(total.sum) && isfinite(total.sum_squares);
}

status diagnostics_measure(diagnostics *diagnostics, const schedule *schedule, int64_t step,
                           diagnostics_record *record) {
  solver *solver = diagnostics->solver;
  const double time = schedule_time(schedule, step);
  const int with_exact = diagnostics->with_errors && solver->equation->known(solver->config, time);
  *record = (diagnostics_record){.step = step, .time = time, .dt = schedule_dt(schedule, step)};
  record->courant =
      record->dt * solver->rates.advection * fabs(solver->equation->rate_factor(solver->config, time));
  CHECK(agree(solver->comm, measure_planes(diagnostics, time, with_exact)));
  CHECK_MPI(MPI_Gatherv(diagnostics->planes, solver->grid.nz * (int)sizeof(kernels_plane_sums), MPI_BYTE,
                        diagnostics->all, diagnostics->counts, diagnostics->offsets, MPI_BYTE, 0,
                        solver->comm));
  if (solver->grid.rank == 0) sum_planes(diagnostics, with_exact, record);
  CHECK_MPI(MPI_Bcast(record, (int)sizeof *record, MPI_BYTE, 0, solver->comm));
  return STATUS_OK;
}

static const char *header(const diagnostics *diagnostics) {
  return diagnostics->with_errors ? "step,time,dt,mass,l2,min,max,courant,err_l1,err_l2,err_linf\n"
                                  : "step,time,dt,mass,l2,min,max,courant\n";
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
  for (const char *name = strchr(header(diagnostics), ','); name != NULL; name = strchr(name + 1, ','))
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
  const int64_t every = diagnostics->solver->config->diagnostics_every;
  int64_t last = -1;
  int damaged = 0;
  char line[1024];
  while (old != NULL && fgets(line, (int)sizeof line, old) != NULL) {
    const int64_t step = strtoll(line, NULL, 10);
    const int row = is_row(diagnostics, line);
    const int only_last = step == from && !schedule_due(step, every) && !began;
    damaged += !row && strchr(line, '\n') != NULL && strcmp(line, header(diagnostics)) != 0;
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
  char line[1024] = "";
  char moved[64];
  FILE *old = NULL;
  *other = 0;
  CHECK(open_table(path, &old));
  if (old == NULL) return STATUS_OK;
  *other = fgets(line, (int)sizeof line, old) != NULL && strcmp(line, header(diagnostics)) != 0;
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
  char line[1024];
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
  status result = fputs(header(diagnostics), rows) != EOF ? STATUS_OK : file_fault(path);
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
  int ok =
      fprintf(file, "%" PRId64 ",%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g", record->step, record->time,
              record->dt, record->mass, record->l2, record->minimum, record->maximum, record->courant) > 0;
  if (diagnostics->with_errors) {
    ok =
        ok && fprintf(file, ",%.17g,%.17g,%.17g", record->error_l1, record->error_l2, record->error_linf) > 0;
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
