#include "output/diagnostics.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/agree.h"

static void write_columns(const diagnostics *diagnostics, FILE *out) {
  const int figures = diagnostics->figures.count;
  for (int i = 0; i < figures; i++) (void)fprintf(out, ",%s", diagnostics->figures.column[i].name);
  if (figures > 0) (void)fputs(",courant", out);
  for (int f = 0; f < diagnostics->fields; f++) {
    char of[64] = "";
    if (f > 0) (void)snprintf(of, sizeof of, "_%s", diagnostics->names[f]);
    if (figures == 0)
      (void)fprintf(out, ",mass%s,l2%s,min%s,max%s%s", of, of, of, of, f == 0 ? ",courant" : "");
    if (diagnostics->with_errors) (void)fprintf(out, ",err_l1%s,err_l2%s,err_linf%s", of, of, of);
  }
}

static status make_header(diagnostics *diagnostics) {
  size_t size = 0;
  free(diagnostics->table.header);
  diagnostics->table.header = NULL;
  FILE *out = open_memstream(&diagnostics->table.header, &size);
  if (out == NULL) return status_fail(STATUS_MEMORY, "no memory for a table's columns");
  (void)fputs(diagnostics->with_energy ? "step,time,dt,energy" : "step,time,dt", out);
  write_columns(diagnostics, out);
  (void)fputs("\n", out);
  return fclose(out) == 0 ? STATUS_OK : status_fail(STATUS_MEMORY, "no memory for a table's columns");
}

/* Allocates what only rank 0 needs. */
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
                                      .with_errors = with_errors,
                                      .table = {.name = RUNDIR_DIAGNOSTICS, .every = every}};
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
  table_destroy(&diagnostics->table);
  memset(diagnostics, 0, sizeof *diagnostics);
}

status diagnostics_add_energy(diagnostics *diagnostics, const double weight[STATE_FIELDS]) {
  diagnostics->with_energy = 1;
  for (int f = 0; f < STATE_FIELDS; f++) diagnostics->weight[f] = weight[f];
  return diagnostics->grid.rank == 0 ? make_header(diagnostics) : STATUS_OK;
}

status diagnostics_add_figures(diagnostics *diagnostics, const config *config, const figures *figures) {
  diagnostics->config = config;
  diagnostics->figures = *figures;
  return diagnostics->grid.rank == 0 ? make_header(diagnostics) : STATUS_OK;
}

status diagnostics_drop_errors(diagnostics *diagnostics) {
  diagnostics->with_errors = 0;
  return diagnostics->grid.rank == 0 ? make_header(diagnostics) : STATUS_OK;
}

/* Rank 0: adds the planes in global order. Returns 1 if all values are finite. */
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

/* Brings the sums of all planes of a field to rank 0. */
static status gather_sums(diagnostics *diagnostics, const field *field, const void *reference) {
  CHECK(agree(diagnostics->comm, field_sums(field, &diagnostics->grid, reference, diagnostics->planes)));
  CHECK_MPI(MPI_Gatherv(diagnostics->planes, diagnostics->grid.nz * (int)sizeof(kernels_plane_sums), MPI_BYTE,
                        diagnostics->all, diagnostics->counts, diagnostics->offsets, MPI_BYTE, 0,
                        diagnostics->comm));
  return STATUS_OK;
}

status diagnostics_energy(diagnostics *diagnostics, const field *density, diagnostics_record *record) {
  diagnostics_field sums = {.mass = 0.0};
  CHECK(gather_sums(diagnostics, density, NULL));
  if (diagnostics->grid.rank == 0) (void)sum_planes(diagnostics, 0, &sums);
  record->energy = 0.5 * sums.mass;
  CHECK_MPI(MPI_Bcast(&record->energy, 1, MPI_DOUBLE, 0, diagnostics->comm));
  return STATUS_OK;
}

static status measure_figures(diagnostics *diagnostics, const state *fields, field *work,
                              diagnostics_record *record) {
  const figures *figures = &diagnostics->figures;
  const double *l = diagnostics->grid.l;
  for (int i = 0; i < figures->count; i++) {
    const figures_column *of = &figures->column[i];
    diagnostics_field sums = {0};
    if (of->unknown < 0) {
      CHECK(agree(diagnostics->comm,
                  figures->find(diagnostics->config, &diagnostics->grid, fields, of->figure, work)));
      CHECK(gather_sums(diagnostics, work, NULL));
      if (diagnostics->grid.rank == 0) (void)sum_planes(diagnostics, 0, &sums);
    } else {
      sums = record->field[of->unknown];
    }
    record->figure[i] = of->fold == FIGURES_MEAN    ? sums.mass / (l[0] * l[1] * l[2])
                        : of->fold == FIGURES_LEAST ? sums.minimum
                                                    : sums.maximum;
  }
  return STATUS_OK;
}

status diagnostics_measure(diagnostics *diagnostics, const state *fields, const state *exact, field *work,
                           const schedule *schedule, int64_t step, double courant,
                           diagnostics_record *record) {
  *record = (diagnostics_record){
      .step = step, .time = schedule_time(schedule, step), .dt = schedule_dt(schedule, step), .finite = 1};
  record->courant = courant;
  for (int f = 0; f < diagnostics->fields; f++) {
    const void *reference = exact != NULL ? exact->part[f].data : NULL;
    CHECK(gather_sums(diagnostics, &fields->part[f], reference));
    if (diagnostics->grid.rank == 0) {
      const int finite = sum_planes(diagnostics, exact != NULL, &record->field[f]);
      record->finite = record->finite && finite;
      record->energy += 0.5 * diagnostics->weight[f] * record->field[f].l2 * record->field[f].l2;
    }
  }
  CHECK(measure_figures(diagnostics, fields, work, record));
  CHECK_MPI(MPI_Bcast(record, (int)sizeof *record, MPI_BYTE, 0, diagnostics->comm));
  return STATUS_OK;
}

status diagnostics_append(diagnostics *diagnostics, const diagnostics_record *record) {
  FILE *file = diagnostics->table.file;
  int ok = fprintf(file, "%" PRId64 ",%.17g,%.17g", record->step, record->time, record->dt) > 0;
  if (diagnostics->with_energy) ok = ok && fprintf(file, ",%.17g", record->energy) > 0;
  const int figures = diagnostics->figures.count;
  for (int i = 0; i < figures; i++) ok = ok && fprintf(file, ",%.17g", record->figure[i]) > 0;
  if (figures > 0) ok = ok && fprintf(file, ",%.17g", record->courant) > 0;
  for (int f = 0; f < diagnostics->fields; f++) {
    const diagnostics_field *of = &record->field[f];
    if (figures == 0)
      ok = ok && fprintf(file, ",%.17g,%.17g,%.17g,%.17g", of->mass, of->l2, of->minimum, of->maximum) > 0;
    if (f == 0 && figures == 0) ok = ok && fprintf(file, ",%.17g", record->courant) > 0;
    if (!diagnostics->with_errors) continue;
    ok = ok && fprintf(file, ",%.17g,%.17g,%.17g", of->error_l1, of->error_l2, of->error_linf) > 0;
  }
  return table_end_row(&diagnostics->table, ok);
}
