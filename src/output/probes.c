#include "output/probes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/agree.h"
#include "config/kept.h"
#include "config/lists.h"

static status no_memory(int count) {
  return status_fail(STATUS_MEMORY, "no memory for %d probes", count);
}

/* Names the points of the grid that are shown, not those that were asked for. */
static status make_header(const char *const names[], probes *probes) {
  size_t size = 0;
  FILE *out = open_memstream(&probes->table.header, &size);
  if (out == NULL) return no_memory(probes->count);
  (void)fputs("step,time", out);
  for (int i = 0; i < probes->count; i++) {
    double at[3];
    for (int d = 0; d < 3; d++) at[d] = grid_position(&probes->grid, d, probes->point[i][d]);
    for (int f = 0; f < probes->fields; f++)
      (void)fprintf(out, ",%s(%.9g %.9g %.9g)", names[f], at[0], at[1], at[2]);
  }
  (void)fputs("\n", out);
  return fclose(out) == 0 ? STATUS_OK : no_memory(probes->count);
}

/* Takes the points nearest to those of the list; one that another probe has already has no second column. */
static void find_points(const grid *grid, const config_probe *list, int count, probes *probes) {
  probes->count = 0;
  for (int i = 0; i < count; i++) {
    int64_t *point = probes->point[probes->count];
    int other = 0;
    for (int d = 0; d < 3; d++) point[d] = grid_nearest(grid, d, list[i].at[d]);
    while (memcmp(probes->point[other], point, sizeof probes->point[0]) != 0) other++;
    probes->count += other == probes->count;
  }
}

static status create(const grid *grid, const config_probe *list, const char *const names[], probes *probes) {
  const size_t count = (size_t)probes->count;
  probes->point = calloc(count, sizeof *probes->point);
  probes->values = calloc(count * (size_t)probes->fields, sizeof *probes->values);
  if (probes->point == NULL || probes->values == NULL) return no_memory(probes->count);
  find_points(grid, list, probes->count, probes);
  return make_header(names, probes);
}

status probes_create(MPI_Comm comm, const grid *grid, const config *config, int fields,
                     const char *const names[], probes *probes) {
  config_probe list[CONFIG_MOST_PROBES];
  *probes = (struct probes){.comm = comm, .grid = *grid, .fields = fields, .due = config->probes_due};
  probes->table = (table){.name = RUNDIR_PROBES, .every = config->probes_due.every};
  if (config_ever(config->probes_due)) (void)config_probes_read(config->probes, list, &probes->count);
  if (probes->count == 0) return STATUS_OK;
  return agree(comm, create(grid, list, names, probes));
}

void probes_destroy(probes *probes) {
  table_destroy(&probes->table);
  free(probes->point);
  free(probes->values);
  memset(probes, 0, sizeof *probes);
}

int probes_due(const probes *probes, const schedule *schedule, int64_t step) {
  return probes->count > 0 && schedule_meets(schedule, step, probes->due);
}

status probes_open(probes *probes, const rundir *rundir, int64_t from, int due) {
  return probes->count > 0 ? table_open(&probes->table, rundir, from, due) : STATUS_OK;
}

/* The bits of the values that this rank holds, 0 for all others. */
static status load_values(probes *probes, const state *state) {
  memset(probes->values, 0, (size_t)probes->count * (size_t)probes->fields * sizeof *probes->values);
  for (int i = 0; i < probes->count; i++) {
    const int64_t *point = probes->point[i];
    const int64_t z = point[2] - probes->grid.z0;
    if (z < 0 || z >= probes->grid.nz) continue;
    for (int f = 0; f < probes->fields; f++) {
      double value = 0.0;
      CHECK(field_value(&state->part[f], (int)point[0], (int)point[1], (int)z, &value));
      memcpy(&probes->values[i * probes->fields + f], &value, sizeof value);
    }
  }
  return STATUS_OK;
}

static status write_row(probes *probes, double time, int64_t step) {
  FILE *file = probes->table.file;
  int ok = fprintf(file, "%" PRId64 ",%.17g", step, time) > 0;
  for (int i = 0; i < probes->count * probes->fields && ok; i++) {
    double value = 0.0;
    memcpy(&value, &probes->values[i], sizeof value);
    ok = fprintf(file, ",%.17g", value) > 0;
  }
  return table_end_row(&probes->table, ok);
}

status probes_append(probes *probes, const state *state, const schedule *schedule, int64_t step) {
  const int root = probes->grid.rank == 0;
  int there = root && probes->table.last >= step;
  CHECK_MPI(MPI_Bcast(&there, 1, MPI_INT, 0, probes->comm));
  if (there) return STATUS_OK;
  CHECK(agree(probes->comm, load_values(probes, state)));
  /* each value is held by one rank; OR passes its bits on unchanged, while a sum would change -0 */
  CHECK_MPI(MPI_Reduce(root ? MPI_IN_PLACE : probes->values, probes->values, probes->count * probes->fields,
                       MPI_UINT64_T, MPI_BOR, 0, probes->comm));
  return agree(probes->comm, root ? write_row(probes, schedule_time(schedule, step), step) : STATUS_OK);
}
