#include "app/perf.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "app/provenance.h"
#include "problems/problem.h"

static const char *const phase_names[] = {
#define X(name, text) text,
    PERF_PHASE_LIST(X)
#undef X
};

void perf_begin(perf *perf, perf_phase phase) {
  if (perf->backend != NULL && perf->backend->range_push != NULL) {
    perf->backend->range_push(phase_names[phase]);
    perf->ranges++;
  }
  perf->started[phase] = MPI_Wtime();
}

void perf_end(perf *perf, perf_phase phase) {
  const double seconds = MPI_Wtime() - perf->started[phase];
  perf->seconds[phase] += seconds;
  if (seconds > perf->largest[phase]) perf->largest[phase] = seconds;
  if (perf->ranges > 0) { /* not for a phase that began before the backend was known */
    perf->backend->range_pop();
    perf->ranges--;
  }
}

/* Number of distinct arrays to read: two, as a stage reads, if the scheme keeps as many besides scratch. */
static int readable_fields(const solver *solver, const void *in[]) {
  int count = 0;
  for (int i = 0; i < solver->stepper.slot_count && count < 2; i++) {
    if (i != 1) in[count++] = solver->stepper.slots[i].part[0].data;
  }
  return count;
}

static status time_stream(solver *solver, const kernels_stream *stream, double *best) {
  const kernels_launch launch = {
      .context = solver->context, .queue = QUEUE_MAIN, .shape = solver->space.shape};
  double spent = 0.0;
  for (int repeat = 0; repeat < 3 || (repeat < 15 && spent < 0.05); repeat++) {
    CHECK_MPI(MPI_Barrier(solver->comm));
    const double start = MPI_Wtime();
    CHECK(solver->backend->stream(&launch, stream));
    CHECK(solver->backend->queue_wait(solver->context, QUEUE_MAIN));
    double mine = MPI_Wtime() - start;
    double slowest = 0.0;
    CHECK_MPI(MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, solver->comm));
    spent += slowest;
    if (slowest < *best) *best = slowest;
  }
  return STATUS_OK;
}

/* Measures the ceiling that perf.json's share refers to: bytes per second, summed over ranks, of a streaming
 * loop with the reads and writes of this run's stage, on all ranks at once, over arrays as large as the
 * run's. The faster of ordinary and non-temporal stores counts. Takes about 0.2 seconds, or three sweeps of
 * each kind. Overwrites the stepper's scratch fields, not phi. Collective. */
static status measure_ceiling(solver *solver, double *bytes_per_second) {
  const config *config = solver->config;
  kernels_stream stream = {.writes = 1, .out = {stepper_scratch(&solver->stepper)->part[0].data}};
  stream.reads = readable_fields(solver, stream.in);
  const size_t size = kernels_element_size(config->precision);
  stream.elements = kernels_field_bytes(&solver->space.shape) / size;
  double best = 1e30;
  for (stream.nontemporal = 0; stream.nontemporal < 2; stream.nontemporal++) {
    CHECK(time_stream(solver, &stream, &best));
  }
  const double mine = (double)(stream.reads + stream.writes) * (double)stream.elements * (double)size / best;
  CHECK_MPI(MPI_Allreduce(&mine, bytes_per_second, 1, MPI_DOUBLE, MPI_SUM, solver->comm));
  return STATUS_OK;
}

/* {min, mean, max} of a figure over ranks. Collective; only rank 0 gets the object. */
static status spread(MPI_Comm comm, double mine, json_t **object) {
  double smallest = 0.0, largest = 0.0, sum = 0.0;
  int ranks = 1;
  CHECK_MPI(MPI_Comm_size(comm, &ranks));
  CHECK_MPI(MPI_Reduce(&mine, &smallest, 1, MPI_DOUBLE, MPI_MIN, 0, comm));
  CHECK_MPI(MPI_Reduce(&mine, &largest, 1, MPI_DOUBLE, MPI_MAX, 0, comm));
  CHECK_MPI(MPI_Reduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, comm));
  *object = json_pack("{s:f, s:f, s:f}", "min", smallest, "mean", sum / ranks, "max", largest);
  return STATUS_OK;
}

static status collect_phases(const perf *perf, const solver *solver, json_t **phases) {
  *phases = json_object();
  json_t *entry = NULL;
  for (int i = 0; i < PERF_PHASE_COUNT; i++) {
    CHECK(spread(solver->comm, perf->seconds[i], &entry));
    (void)json_object_set_new(*phases, phase_names[i], entry);
  }
  CHECK(spread(solver->comm, solver->halo.wait_seconds, &entry));
  (void)json_object_set_new(*phases, "halo_wait", entry);
  return STATUS_OK;
}

/* Mean times of the sampled stages. Collective. */
static status collect_stage(const solver *solver, json_t **stage) {
  const stepper_times *times = &solver->stepper.times;
  const double samples = times->samples > 0 ? (double)times->samples : 1.0;
  const struct {
    const char *name;
    double seconds;
  } parts[] = {{"edges", times->edges}, {"interior", times->interior}, {"halo", times->halo}};
  *stage = json_object();
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
    json_t *entry = NULL;
    CHECK(spread(solver->comm, parts[i].seconds / samples, &entry));
    (void)json_object_set_new(*stage, parts[i].name, entry);
  }
  return STATUS_OK;
}

typedef struct place {
  char host[128], device[128], uuid[64];
} place;

/* all: the places of all ranks, on rank 0; else NULL. */
static status gather_places(MPI_Comm comm, const place *mine, place *all) {
  const int bytes = (int)sizeof *mine;
  CHECK_MPI(MPI_Gather(mine, bytes, MPI_BYTE, all, bytes, MPI_BYTE, 0, comm));
  return STATUS_OK;
}

/* The host and device of each rank, in rank order: [{host, device, uuid}]. Collective; only rank 0 gets the
 * array. */
static status collect_places(const solver *solver, json_t **places) {
  place mine = {.host = ""}, *all = NULL;
  const kernels *backend = solver->backend;
  status result = STATUS_OK;
  (void)gethostname(mine.host, sizeof mine.host - 1);
  (void)snprintf(mine.device, sizeof mine.device, "%s", backend->describe(solver->context));
  if (backend->device_uuid != NULL)
    (void)snprintf(mine.uuid, sizeof mine.uuid, "%s", backend->device_uuid(solver->context));
  if (solver->grid.rank == 0) {
    all = malloc((size_t)solver->grid.ranks * sizeof *all);
    if (all == NULL) result = status_fail(STATUS_MEMORY, "no memory for the places of the ranks");
  }
  result = agree(solver->comm, result);
  if (result == STATUS_OK) result = gather_places(solver->comm, &mine, all);
  *places = json_array();
  for (int rank = 0; result == STATUS_OK && all != NULL && rank < solver->grid.ranks; rank++) {
    json_t *entry = json_pack("{s:s, s:s}", "host", all[rank].host, "device", all[rank].device);
    if (all[rank].uuid[0] != '\0') (void)json_object_set_new(entry, "uuid", json_string(all[rank].uuid));
    (void)json_array_append_new(*places, entry);
  }
  free(all);
  return result;
}

static json_t *description(const solver *solver) {
  const config *config = solver->config;
  json_t *grid =
      json_pack("[I, I, I]", (json_int_t)config->n[0], (json_int_t)config->n[1], (json_int_t)config->n[2]);
  return json_pack("{s:o, s:s, s:s, s:i, s:i, s:{s:s, s:s}, s:b, s:o, s:s, s:i, s:s, s:s, s:s}", "provenance",
                   provenance_json(), "backend", solver->backend->name, "device",
                   solver->backend->describe(solver->context), "ranks", solver->grid.ranks, "threads",
                   solver->threads, "transport", "name", transport_name(solver->transport.transport),
                   "reason", solver->transport.reason, "overlap", config->overlap, "grid", grid, "precision",
                   config_precision_name(config->precision), "order", config->order, "scheme",
                   schemes_all(config->scheme)->name, "form", config_form_name(config->form), "velocity",
                   velocities_at(config->velocity)->name);
}

/* Adds rates from the slowest rank's steps, on rank 0. */
static void add_rates(json_t *root, const perf *perf, const solver *solver, double bytes, double ceiling) {
  const config *config = solver->config;
  json_t *phases = json_object_get(root, "phases");
  const double steps = (double)perf->steps;
  double seconds[PERF_PHASE_COUNT];
  double all = 0.0;
  for (int i = 0; i < PERF_PHASE_COUNT; i++) {
    seconds[i] = json_real_value(json_object_get(json_object_get(phases, phase_names[i]), "max"));
    all += seconds[i];
  }
  const double points = (double)config->n[0] * (double)config->n[1] * (double)config->n[2];
  const double each = perf->steps > 0 ? seconds[PERF_STEPS] / steps : 0.0;
  const double rate = each > 0.0 ? bytes / each : 0.0;
  (void)json_object_set_new(root, "steps", json_integer((json_int_t)perf->steps));
  (void)json_object_set_new(root, "words_per_point_and_step", json_integer(solver_step_words(solver)));
  (void)json_object_set_new(root, "stages_per_step", json_integer(solver->stepper.scheme->stages));
  const int last = solver_last_words(solver);
  (void)json_object_set_new(root, "words_per_point_and_last_stage",
                            last > 0 ? json_integer(last) : json_null());
  (void)json_object_set_new(root, "seconds_per_step", json_real(each));
  (void)json_object_set_new(root, "points_per_second", json_real(each > 0.0 ? points / each : 0.0));
  (void)json_object_set_new(root, "bytes_per_second", json_real(rate));
  (void)json_object_set_new(root, "ceiling_bytes_per_second", json_real(ceiling));
  (void)json_object_set_new(root, "share_of_ceiling", json_real(ceiling > 0.0 ? rate / ceiling : 0.0));
  (void)json_object_set_new(root, "output_share", json_real(all > 0.0 ? seconds[PERF_OUTPUT] / all : 0.0));
}

/* Adds null values if the run did not reach its end, or has no reference. */
static void add_answer(json_t *root, const answer *answer) {
  const int judged = answer != NULL && answer->verdict != ANSWER_UNKNOWN;
  (void)json_object_set_new(root, "figure_of_merit", answer != NULL ? json_real(answer->merit) : json_null());
  (void)json_object_set_new(root, "hash", answer != NULL ? json_string(answer->hash) : json_null());
  (void)json_object_set_new(root, "verified",
                            judged ? json_boolean(answer->verdict == ANSWER_RIGHT) : json_null());
}

status perf_write(const perf *perf, solver *solver, const rundir *rundir, const answer *answer) {
  double ceiling = 0.0;
  double bytes = 0.0;
  const double mine = solver_step_bytes(solver);
  json_t *phases = NULL;
  json_t *stage = NULL;
  json_t *energy = NULL;
  json_t *places = NULL;
  CHECK(measure_ceiling(solver, &ceiling));
  CHECK_MPI(MPI_Reduce(&mine, &bytes, 1, MPI_DOUBLE, MPI_SUM, 0, solver->comm));
  status result = collect_phases(perf, solver, &phases);
  if (result == STATUS_OK) result = collect_stage(solver, &stage);
  if (result == STATUS_OK) result = energy_report(solver->comm, &perf->energy, &energy);
  if (result == STATUS_OK) result = collect_places(solver, &places);
  if (result == STATUS_OK && solver->grid.rank == 0) {
    json_t *root = description(solver);
    (void)json_object_set(root, "phases", phases);
    (void)json_object_set(root, "stage", stage);
    add_rates(root, perf, solver, bytes, ceiling);
    add_answer(root, answer);
    (void)json_object_set(root, "energy", energy);
    (void)json_object_set(root, "places", places);
    char *text = json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
    result = text != NULL ? rundir_write(rundir, RUNDIR_PERF, text)
                          : status_fail(STATUS_MEMORY, "no memory for " RUNDIR_PERF);
    free(text);
    json_decref(root);
  }
  json_decref(phases);
  json_decref(stage);
  json_decref(energy);
  json_decref(places);
  return agree(solver->comm, result);
}
