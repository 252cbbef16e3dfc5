#include "output/receivers.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/agree.h"
#include "base/log.h"
#include "files/array_file.h"
#include "files/receivers_file.h"
#include "output/table.h"

enum { MOST_ROWS = 1024, MOST_BYTES = 64 << 20, ENTRIES = 3 * WAVE_NEAR, DIFFERENCE = 256 };

static const char source[] = "restart.from"; /* the key of a file of an earlier start, for messages */

static size_t element(const receivers *r) {
  return kernels_element_size(r->shape.precision);
}

static size_t row_bytes(const receivers *r, int64_t count) {
  return (size_t)count * element(r);
}

/* The plane of a global index on this slab or its halos. */
static int plane_of(const grid *grid, int64_t z) {
  int64_t local = z - grid->z0;
  if (local < -KERNELS_HALO) local += grid->n[2];
  if (local >= grid->nz + KERNELS_HALO) local -= grid->n[2];
  return (int)local;
}

static void set_entries(const receivers *r, const grid *grid, const points_axis axis[3], int i, int *index,
                        void *weight) {
  for (int d = 0; d < 3; d++) {
    for (int k = 0; k < WAVE_NEAR; k++) {
      const int at = i * ENTRIES + d * WAVE_NEAR + k;
      index[at] = d == 2 ? plane_of(grid, axis[d].index[k]) : (int)axis[d].index[k];
      kernels_put(r->shape.precision, weight, (size_t)at, axis[d].weight[k]);
    }
  }
}

/* Finds this rank's receivers and their interpolation. */
static status find_owned(receivers *r, const grid *grid, const config *config) {
  const size_t most = (size_t)r->points.count;
  int *index = malloc(most * ENTRIES * sizeof *index);
  void *weight = malloc(most * ENTRIES * element(r));
  r->owned = malloc(most * sizeof *r->owned);
  status result = index != NULL && weight != NULL && r->owned != NULL
                      ? STATUS_OK
                      : status_fail(STATUS_MEMORY, "no memory for receivers");
  for (int64_t i = 0; i < r->points.count && result == STATUS_OK; i++) {
    points_axis axis[3];
    for (int d = 0; d < 3; d++)
      axis[d] = points_weights(config, grid, d, r->points.at[3 * i + d], config->receiver_sinc);
    if (axis[2].base < grid->z0 || axis[2].base >= grid->z0 + grid->nz) continue;
    set_entries(r, grid, axis, r->reception.receivers, index, weight);
    r->owned[r->reception.receivers++] = (int)i;
  }
  const size_t entries = (size_t)r->reception.receivers * ENTRIES;
  if (result == STATUS_OK && entries > 0)
    result =
        kernels_upload(r->backend, r->context, index, entries * sizeof *index, (void **)&r->reception.index);
  if (result == STATUS_OK && entries > 0)
    result =
        kernels_upload(r->backend, r->context, weight, entries * element(r), (void **)&r->reception.weight);
  free(index);
  free(weight);
  return result;
}

static status make_room(receivers *r) {
  const size_t row = row_bytes(r, r->points.count);
  r->room = row * MOST_ROWS > MOST_BYTES ? (int)(MOST_BYTES / row) + 1 : MOST_ROWS;
  const size_t bytes = (size_t)r->room * row_bytes(r, r->reception.receivers) + 1;
  r->copy = malloc(bytes);
  r->pending_time = malloc((size_t)r->room * sizeof *r->pending_time);
  r->pending_step = malloc((size_t)r->room * sizeof *r->pending_step);
  if (r->copy == NULL || r->pending_time == NULL || r->pending_step == NULL)
    return status_fail(STATUS_MEMORY, "no memory for samples of receivers");
  return r->backend->memory_allocate(r->context, MEMORY_DEVICE, bytes, &r->traces);
}

/* Tells rank 0 which receivers each rank has. */
static status share_numbers(receivers *r, int ranks) {
  if (r->root) {
    r->counts = calloc((size_t)ranks, sizeof *r->counts);
    r->offsets = calloc((size_t)ranks, sizeof *r->offsets);
    r->numbers = calloc((size_t)r->points.count, sizeof *r->numbers);
    r->gathered = malloc(row_bytes(r, r->points.count));
  }
  const int held =
      !r->root || (r->counts != NULL && r->offsets != NULL && r->numbers != NULL && r->gathered != NULL);
  CHECK(agree(r->comm, held ? STATUS_OK : status_fail(STATUS_MEMORY, "no memory for receivers")));
  CHECK_MPI(MPI_Gather(&r->reception.receivers, 1, MPI_INT, r->counts, 1, MPI_INT, 0, r->comm));
  for (int i = 1; r->root && i < ranks; i++) r->offsets[i] = r->offsets[i - 1] + r->counts[i - 1];
  CHECK_MPI(MPI_Gatherv(r->owned, r->reception.receivers, MPI_INT, r->numbers, r->counts, r->offsets, MPI_INT,
                        0, r->comm));
  return STATUS_OK;
}

status receivers_create(MPI_Comm comm, const grid *grid, const field_space *space, const config *config,
                        receivers *receivers) {
  *receivers = (struct receivers){.comm = comm,
                                  .backend = space->backend,
                                  .context = space->context,
                                  .shape = space->shape,
                                  .config = config,
                                  .every = config->receivers_every,
                                  .last = -1,
                                  .root = grid->rank == 0};
  if (!config_received(config)) return STATUS_OK;
  CHECK(agree(comm, points_receivers(config, &receivers->points)));
  CHECK(agree(comm, find_owned(receivers, grid, config)));
  CHECK(agree(comm, make_room(receivers)));
  return share_numbers(receivers, grid->ranks);
}

void receivers_destroy(receivers *r) {
  const void *const device[] = {r->reception.index, r->reception.weight, r->traces};
  void *const host[] = {r->owned,   r->copy,     r->pending_time, r->pending_step, r->counts, r->offsets,
                        r->numbers, r->gathered, r->time,         r->step,         r->values};
  if (r->backend == NULL) return;
  for (size_t i = 0; i < sizeof device / sizeof *device; i++)
    r->backend->memory_free(r->context, MEMORY_DEVICE, (void *)device[i]);
  for (size_t i = 0; i < sizeof host / sizeof *host; i++) free(host[i]);
  points_close(&r->points);
  *r = (receivers){.last = -1};
}

/* Rank 0: room for more samples. */
static status grow(receivers *r, int64_t rows) {
  if (rows <= r->rows_room) return STATUS_OK;
  const int64_t room = 2 * rows;
  double *time = realloc(r->time, (size_t)room * sizeof *time);
  if (time != NULL) r->time = time;
  int64_t *step = realloc(r->step, (size_t)room * sizeof *step);
  if (step != NULL) r->step = step;
  void *values = realloc(r->values, (size_t)room * row_bytes(r, r->points.count));
  if (values != NULL) r->values = values;
  if (time == NULL || step == NULL || values == NULL)
    return status_fail(STATUS_MEMORY, "no memory for samples of receivers");
  r->rows_room = room;
  return STATUS_OK;
}

static status take_rows(receivers *r, int64_t rows, const double *time, const double *step, const double *p,
                        int64_t from) {
  CHECK(grow(r, rows));
  for (int64_t i = 0; i < rows && step[i] <= (double)from; i++) {
    r->time[i] = time[i];
    r->step[i] = (int64_t)step[i];
    for (int64_t k = i * r->points.count; k < (i + 1) * r->points.count; k++)
      kernels_put(r->shape.precision, r->values, (size_t)k, p[k]);
    r->rows = i + 1;
    r->last = r->step[i];
  }
  r->changed = r->rows < rows;
  return STATUS_OK;
}

/* Warns of samples that are missing before step `from`, where the run resumes, and of another spacing. */
static void warn_of_gaps(const receivers *r, const char *path, int64_t from) {
  const int64_t gap = r->rows > 1 ? r->last - r->step[r->rows - 2] : r->every;
  if (gap != r->every) {
    log_warning("%s: samples up to step %" PRId64 " are %" PRId64 " apart in steps, and later ones %" PRId64
                ", by receivers.every",
                path, r->last, gap, r->every);
  } else if (r->last < from - from % r->every) {
    table_warn_of_gap(path, "sample", r->last, from);
  }
}

static status read_rows(receivers *r, const char *path, int64_t from) {
  double *time = NULL, *step = NULL, *p = NULL;
  int64_t times = 0, steps = 0, rows = 0;
  status result = array_file_read(source, path, "time", 0, &times, &time);
  if (result == STATUS_OK) result = array_file_read(source, path, "step", 0, &steps, &step);
  if (result == STATUS_OK) result = array_file_read(source, path, "p", (int)r->points.count, &rows, &p);
  if (result == STATUS_OK && (times != rows || steps != rows))
    result = status_fail(STATUS_USAGE, "%s: datasets of different lengths", path);
  if (result == STATUS_OK) result = take_rows(r, rows, time, step, p, from);
  free(time);
  free(step);
  free(p);
  return result;
}

static const char *weights_of(const receivers *r) {
  return r->config->receiver_sinc ? "sinc" : "lagrange";
}

/* Says what differs between a file's receivers and this run's. [out] what: "" for nothing. */
static void find_difference(const receivers *r, int64_t count, const double *at, const char *weights,
                            char what[DIFFERENCE]) {
  const double *ours = r->points.at;
  what[0] = '\0';
  if (count != r->points.count) {
    (void)snprintf(what, DIFFERENCE, "holds %" PRId64 " receiver%s, and this run has %" PRId64, count,
                   count == 1 ? "" : "s", r->points.count);
    return;
  }
  for (int64_t i = 0; i < count; i++, at += 3, ours += 3) {
    if (at[0] == ours[0] && at[1] == ours[1] && at[2] == ours[2]) continue;
    (void)snprintf(what, DIFFERENCE,
                   "has receiver %" PRId64 " at (%.9g, %.9g, %.9g), and this run at (%.9g, %.9g, %.9g)",
                   i + 1, at[0], at[1], at[2], ours[0], ours[1], ours[2]);
    return;
  }
  if (weights[0] != '\0' && strcmp(weights, weights_of(r)) != 0)
    (void)snprintf(what, DIFFERENCE, "is of receivers.weights = %s, and this run has %s", weights,
                   weights_of(r));
}

/* Moves a file of other receivers away, because its traces and the new ones are not one. [out] other: 1 if it
 * was one. */
static status set_aside_other(const receivers *r, const rundir *rundir, const char *path, int64_t from,
                              int *other) {
  char weights[RECEIVERS_WEIGHTS], what[DIFFERENCE] = "", moved[64];
  double *at = NULL;
  int64_t count = 0;
  CHECK(array_file_read(source, path, "positions", 3, &count, &at));
  const status result = receivers_file_weights(path, weights);
  if (result == STATUS_OK) find_difference(r, count, at, weights, what);
  free(at);
  CHECK(result);
  *other = what[0] != '\0';
  if (!*other) return STATUS_OK;
  CHECK(rundir_set_aside_one(rundir, RUNDIR_RECEIVERS, moved));
  log_warning("%s %s: the file moves to %s/%s, and a new one begins at step %" PRId64, path, what,
              rundir->path, moved, from);
  return STATUS_OK;
}

status receivers_open(receivers *r, const rundir *rundir, int64_t from) {
  char path[sizeof rundir->path + sizeof "/" RUNDIR_RECEIVERS];
  int other = 0;
  if (r->points.count == 0 || from < 0) return STATUS_OK;
  (void)snprintf(path, sizeof path, "%s/" RUNDIR_RECEIVERS, rundir->path);
  FILE *file = fopen(path, "rb");
  if (file != NULL) {
    (void)fclose(file);
    CHECK(set_aside_other(r, rundir, path, from, &other));
    if (!other) CHECK(read_rows(r, path, from));
  }
  if (!other) warn_of_gaps(r, path, from);
  return STATUS_OK;
}

/* Brings the samples on the devices to rank 0. */
static status collect(receivers *r) {
  const int mine = r->reception.receivers;
  const size_t row = row_bytes(r, mine);
  status result = STATUS_OK;
  if (r->pending > 0 && mine > 0) {
    result = r->backend->memory_copy(r->context, QUEUE_MAIN, r->copy, r->traces, (size_t)r->pending * row);
    if (result == STATUS_OK) result = r->backend->queue_wait(r->context, QUEUE_MAIN);
  }
  if (result == STATUS_OK && r->root) result = grow(r, r->rows + r->pending);
  CHECK(agree(r->comm, result));
  MPI_Datatype type = r->shape.precision == PRECISION_SINGLE ? MPI_FLOAT : MPI_DOUBLE;
  for (int i = 0; i < r->pending; i++) {
    CHECK_MPI(MPI_Gatherv((char *)r->copy + (size_t)i * row, mine, type, r->gathered, r->counts, r->offsets,
                          type, 0, r->comm));
    if (!r->root) continue;
    char *to = (char *)r->values + (size_t)r->rows * row_bytes(r, r->points.count);
    for (int64_t k = 0; k < r->points.count; k++)
      memcpy(to + row_bytes(r, r->numbers[k]), (char *)r->gathered + row_bytes(r, k), element(r));
    r->time[r->rows] = r->pending_time[i];
    r->step[r->rows++] = r->pending_step[i];
    r->changed = 1;
  }
  r->pending = 0;
  return STATUS_OK;
}

int receivers_due(const receivers *r, int64_t step) {
  return r->points.count > 0 && step % r->every == 0;
}

status receivers_sample(receivers *r, const field *p, double time, int64_t step) {
  if (!receivers_due(r, step)) return STATUS_OK;
  if (!r->begun) CHECK_MPI(MPI_Bcast(&r->last, 1, MPI_INT64_T, 0, r->comm)); /* rank 0 read the file */
  r->begun = 1;
  if (step <= r->last) return STATUS_OK;
  if (r->pending == r->room) CHECK(collect(r));
  const kernels_launch launch = {.context = r->context, .queue = QUEUE_MAIN, .shape = r->shape};
  kernels_wave call = {.task = WAVE_RECEIVE, .p = p->data, .reception = r->reception};
  call.reception.trace = (char *)r->traces + (size_t)r->pending * row_bytes(r, r->reception.receivers);
  if (r->reception.receivers > 0) CHECK(r->backend->wave(&launch, &call));
  r->pending_time[r->pending] = time;
  r->pending_step[r->pending++] = step;
  r->last = step;
  return STATUS_OK;
}

status receivers_save(receivers *r, const rundir *rundir) {
  if (r->points.count == 0) return STATUS_OK;
  CHECK(collect(r));
  status result = STATUS_OK;
  if (r->root && r->changed) {
    const receivers_file file = {.precision = r->shape.precision,
                                 .receivers = r->points.count,
                                 .rows = r->rows,
                                 .positions = r->points.at,
                                 .time = r->time,
                                 .step = r->step,
                                 .p = r->values,
                                 .weights = weights_of(r),
                                 .length = config_unit_of(r->config, "length"),
                                 .time_unit = config_unit_of(r->config, "time"),
                                 .p_unit = config_unit_of(r->config, "p")};
    result = receivers_file_write(rundir->path, RUNDIR_RECEIVERS, &file);
    r->changed = 0;
  }
  return agree(r->comm, result);
}
