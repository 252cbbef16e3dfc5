#include <stdlib.h>

#include "base/log.h"
#include "bench.h"
#include "domain/halo.h"

/* Exchange of halo planes, compared with simple copies of the same bytes. One rank exchanges nothing, so only
 * the copies are measured. All ranks run at once. A sample is the mean of a few consecutive exchanges, each
 * waited for; the slowest rank's time counts. */

enum { IN_A_ROW = 8, WARM_UP = 3, WAYS = 4, PLANES = 16, NEIGHBOURS = 2 };

/* One way of moving the planes. transport -1: simple copies. */
typedef struct halo_way {
  const char *name;
  int transport;
  halo halo; /* unless plain */
  double samples[BENCH_REPEATS];
  bench_spread seconds;
} halo_way;

/* Memory for all sizes, allocated once, because MPI libraries keep memory open that they have exchanged, and
 * a block can be opened only once. Copies have their own target, separate from the exchanged field; its first
 * half is for planes from below. */
typedef struct halo_target {
  void *field;                  /* exchanged */
  void *mine;                   /* target of the copies */
  void *neighbours[NEIGHBOURS]; /* of the rank below and above, in this rank's address space */
  int imported[NEIGHBOURS];
  int peers;   /* 1: it is the neighbours' memory; 0: this rank's own */
  size_t half; /* bytes of KERNELS_HALO of the largest planes */
} halo_target;

typedef struct halo_setting {
  bench *bench;
  const halo_target *target;
  grid grid;
  field_space space;
  field field;
  halo_way ways[WAYS];
  int count;
} halo_setting;

/* Copies on two queues, because a device can copy both ways at once. */
static status copy_plainly(const halo_setting *setting) {
  const field *field = &setting->field;
  const halo_target *target = setting->target;
  const kernels *backend = field->backend;
  const size_t bytes = KERNELS_HALO * field_plane_bytes(field);
  CHECK(backend->memory_copy(field->context, QUEUE_COPY, (char *)target->neighbours[0] + target->half,
                             field_plane(field, 0), bytes));
  CHECK(backend->memory_copy(field->context, QUEUE_MAIN, target->neighbours[1],
                             field_plane(field, field->shape.nz - KERNELS_HALO), bytes));
  CHECK(backend->queue_wait(field->context, QUEUE_COPY));
  return backend->queue_wait(field->context, QUEUE_MAIN);
}

/* Copies the planes that the neighbours copied here into the halo planes, to be checked there. */
static status fetch_copied(const halo_setting *setting) {
  const field *field = &setting->field;
  const size_t bytes = KERNELS_HALO * field_plane_bytes(field);
  CHECK(field->backend->memory_copy(field->context, QUEUE_MAIN, field_plane(field, -KERNELS_HALO),
                                    setting->target->mine, bytes));
  CHECK(field->backend->memory_copy(field->context, QUEUE_MAIN, field_plane(field, field->shape.nz),
                                    (char *)setting->target->mine + setting->target->half, bytes));
  return field->backend->queue_wait(field->context, QUEUE_MAIN);
}

static status move(halo_setting *setting, halo_way *way) {
  if (way->transport < 0) return copy_plainly(setting);
  const field *fields[] = {&setting->field};
  CHECK(halo_exchange(&way->halo, 1, fields));
  return setting->space.backend->queue_wait(setting->space.context, QUEUE_MAIN);
}

static status sample(halo_setting *setting, halo_way *way, double *seconds) {
  CHECK_MPI(MPI_Barrier(setting->bench->comm));
  const double start = MPI_Wtime();
  for (int i = 0; i < IN_A_ROW; i++) CHECK(move(setting, way));
  *seconds = (MPI_Wtime() - start) / IN_A_ROW;
  return STATUS_OK;
}

/* Clears the halo planes, or compares them with their expected values. */
static status check_halos(halo_setting *setting, int clear, const char *name) {
  field *field = &setting->field;
  const size_t points = (size_t)field->shape.nx * (size_t)field->shape.ny * KERNELS_HALO;
  const precision precision = field->shape.precision;
  void *values = calloc(points, kernels_element_size(precision));
  double *row = malloc((size_t)field->shape.nx * sizeof *row);
  status result =
      values != NULL && row != NULL ? STATUS_OK : status_fail(STATUS_MEMORY, "no memory for planes");
  const int starts[NEIGHBOURS] = {-KERNELS_HALO, field->shape.nz};
  int wrong = 0;
  for (int side = 0; side < NEIGHBOURS && result == STATUS_OK; side++) {
    if (clear) {
      result = field_store(field, starts[side], KERNELS_HALO, values);
      continue;
    }
    result = field_load(field, starts[side], KERNELS_HALO, values);
    for (size_t i = 0; i < points && result == STATUS_OK; i++) {
      const size_t x = i % (size_t)field->shape.nx;
      const int64_t line = (int64_t)(i / (size_t)field->shape.nx);
      const int64_t z = setting->grid.z0 + starts[side] + line / field->shape.ny;
      if (x == 0) {
        bench_noise_row(&field->shape.nx, (z + setting->grid.n[2]) % setting->grid.n[2],
                        line % field->shape.ny, row);
      }
      const double expected = precision == PRECISION_SINGLE ? (double)(float)row[x] : row[x];
      wrong += kernels_number(precision, values, i) != expected;
    }
  }
  free(values);
  free(row);
  if (wrong > 0) result = status_fail(STATUS_MPI, "halo by %s: %d points are wrong", name, wrong);
  return agree(setting->bench->comm, result);
}

static status measure(halo_setting *setting) {
  bench *bench = setting->bench;
  double unused = 0.0;
  for (int w = 0; w < setting->count; w++) {
    CHECK(check_halos(setting, 1, setting->ways[w].name));
    CHECK(move(setting, &setting->ways[w]));
    CHECK_MPI(MPI_Barrier(bench->comm));
    if (setting->ways[w].transport < 0) CHECK(fetch_copied(setting));
    /* copies into this rank's own memory are only right if it is its own neighbour */
    if (setting->ways[w].transport >= 0 || setting->target->peers || bench->ranks == 1)
      CHECK(check_halos(setting, 0, setting->ways[w].name));
    for (int i = 0; i < WARM_UP; i++) CHECK(sample(setting, &setting->ways[w], &unused));
  }
  const int samples = bench_samples(bench, BENCH_SAMPLES_HALO);
  for (int i = 0; i < samples; i++) {
    for (int w = 0; w < setting->count; w++) {
      CHECK(sample(setting, &setting->ways[w], &setting->ways[w].samples[i]));
    }
  }
  for (int w = 0; w < setting->count; w++) {
    halo_way *way = &setting->ways[w];
    CHECK_MPI(MPI_Allreduce(MPI_IN_PLACE, way->samples, samples, MPI_DOUBLE, MPI_MAX, bench->comm));
    way->seconds = bench_spread_of(samples, way->samples);
  }
  return STATUS_OK;
}

/* Opens the neighbours' memory, if the backend can and there are neighbours. With two ranks both are the
 * same, and are opened once. Collective. */
static status target_import(bench *bench, halo_target *target) {
  const kernels *backend = bench->backend;
  unsigned char mine[KERNELS_HANDLE_BYTES] = {0};
  unsigned char theirs[NEIGHBOURS][KERNELS_HANDLE_BYTES] = {{0}};
  const int below = (bench->rank + bench->ranks - 1) % bench->ranks;
  const int above = (bench->rank + 1) % bench->ranks;
  status result = backend->memory_export(bench->context, target->mine, mine);
  CHECK_MPI(MPI_Sendrecv(mine, sizeof mine, MPI_BYTE, above, 1, theirs[0], sizeof mine, MPI_BYTE, below, 1,
                         bench->comm, MPI_STATUS_IGNORE));
  CHECK_MPI(MPI_Sendrecv(mine, sizeof mine, MPI_BYTE, below, 2, theirs[1], sizeof mine, MPI_BYTE, above, 2,
                         bench->comm, MPI_STATUS_IGNORE));
  const int different = below == above ? 1 : NEIGHBOURS;
  for (int i = 0; i < different && result == STATUS_OK; i++) {
    result = backend->memory_import(bench->context, theirs[i], &target->neighbours[i]);
    target->imported[i] = result == STATUS_OK;
  }
  if (different == 1) target->neighbours[1] = target->neighbours[0];
  return agree(bench->comm, result);
}

static void target_release(bench *bench, halo_target *target) {
  for (int i = 0; i < NEIGHBOURS; i++) {
    if (target->imported[i]) bench->backend->memory_release(bench->context, target->neighbours[i]);
    target->imported[i] = 0;
  }
}

/* Allocates memory for the largest planes to be measured. Collective. */
static status target_open(bench *bench, halo_target *target) {
  for (int i = 0; i < bench->options.planes.count; i++) {
    const int side = (int)bench->options.planes.at[i];
    const kernels_shape shape =
        kernels_shape_make(side, side, PLANES, 0, PRECISION_DOUBLE, bench->backend->host_memory);
    const size_t bytes = (size_t)(KERNELS_HALO * shape.plane) * sizeof(double);
    if (bytes > target->half) target->half = bytes;
  }
  const size_t field = target->half / KERNELS_HALO * (PLANES + 2 * KERNELS_HALO);
  status result =
      bench->backend->memory_allocate(bench->context, MEMORY_DEVICE, 2 * target->half, &target->mine);
  if (result == STATUS_OK)
    result = bench->backend->memory_allocate(bench->context, MEMORY_DEVICE, field, &target->field);
  CHECK(agree(bench->comm, result));
  target->peers = bench->backend->memory_export != NULL && bench->ranks > 1;
  if (target->peers && target_import(bench, target) != STATUS_OK) {
    log_warning("no plain peer copies to compare with: %s", status_message(STATUS_DEVICE));
    status_clear();
    target->peers = 0;
  }
  if (target->peers) return STATUS_OK;
  target_release(bench, target);
  target->neighbours[0] = target->neighbours[1] = target->mine;
  return STATUS_OK;
}

/* together: 1 if all ranks are here; then memory is freed only when no other rank has it open. */
static void target_close(bench *bench, halo_target *target, int together) {
  target_release(bench, target);
  if (together) (void)MPI_Barrier(bench->comm);
  bench->backend->memory_free(bench->context, MEMORY_DEVICE, target->mine);
  bench->backend->memory_free(bench->context, MEMORY_DEVICE, target->field);
}

static status add_way(halo_setting *setting, const char *name, int kind) {
  halo_way *way = &setting->ways[setting->count++];
  way->name = name;
  way->transport = kind;
  if (kind < 0) return STATUS_OK;
  return agree(setting->bench->comm, halo_create(setting->bench->comm, &setting->grid, &setting->space,
                                                 (transport)kind, 1, &way->halo));
}

static status setting_open(halo_setting *setting, int64_t side, precision precision) {
  bench *bench = setting->bench;
  const int64_t n[3] = {side, side, (int64_t)PLANES * bench->ranks};
  CHECK(grid_make(n, (const double[]){1.0, 1.0, 1.0}, bench->ranks, bench->rank, &setting->grid));
  status result =
      field_space_open(bench->backend, bench->context,
                       grid_shape(&setting->grid, precision, bench->backend->host_memory), &setting->space);
  setting->field = (field){.backend = setting->space.backend,
                           .context = setting->space.context,
                           .shape = setting->space.shape,
                           .data = setting->target->field,
                           .depth = setting->space.depth,
                           .staging = setting->space.staging,
                           .chunk = setting->space.chunk};
  if (result == STATUS_OK) {
    result =
        field_fill(&setting->field, setting->grid.z0, n[2], 0, bench_noise_row, &setting->field.shape.nx);
  }
  return agree(bench->comm, result);
}

static void setting_close(halo_setting *setting) {
  for (int w = 0; w < setting->count; w++) {
    if (setting->ways[w].halo.backend != NULL) halo_destroy(&setting->ways[w].halo);
  }
  field_space_close(&setting->space);
}

/* Reports the results; the last way is that of simple copies. */
static void report(const halo_setting *setting, json_t *results) {
  const bench_spread *plain = &setting->ways[setting->count - 1].seconds;
  const kernels_shape *shape = &setting->space.shape;
  const double bytes = (double)(NEIGHBOURS * KERNELS_HALO) * (double)field_plane_bytes(&setting->field);
  const char *precision = config_precision_name(shape->precision);
  for (int w = 0; w < setting->count; w++) {
    const halo_way *way = &setting->ways[w];
    const double ratio = way->seconds.median / plain->median;
    const double rate = 1e-9 * bytes / way->seconds.median;
    (void)json_array_append_new(results, json_pack("{s:i, s:s, s:s, s:f, s:o, s:f, s:f}", "plane", shape->nx,
                                                   "precision", precision, "way", way->name, "bytes_sent",
                                                   bytes, "seconds", bench_report_spread(&way->seconds),
                                                   "gigabytes_per_second", rate, "versus_plain", ratio));
    log_info("halo %5d^2 %s  %-11s %10.2f us  %8.2f GB/s sent  %6.2f x plain\n", shape->nx, precision,
             way->name, 1e6 * way->seconds.median, rate, ratio);
  }
}

/* Adds the exchange by the transport that a run would choose, and by its alternatives. */
static status add_exchanges(halo_setting *setting) {
  static transport_choice choice;
  static int chosen;
  if (!chosen) {
    CHECK(transport_choose(setting->bench->comm, &setting->space, CONFIG_TRANSPORT_AUTO, &choice));
    chosen = 1;
    log_info("halo: transport %s: %s\n", transport_name(choice.transport), choice.reason);
  }
  static const transport chain[] = {TRANSPORT_PEER, TRANSPORT_CUDA_AWARE, TRANSPORT_STAGED};
  int found = 0;
  for (size_t i = 0; i < sizeof chain / sizeof chain[0]; i++) {
    found = found || chain[i] == choice.transport;
    if (found) CHECK(add_way(setting, transport_name(chain[i]), (int)chain[i]));
  }
  return found ? STATUS_OK : add_way(setting, transport_name(choice.transport), (int)choice.transport);
}

static status measure_planes(bench *bench, const halo_target *target, int64_t side, precision precision,
                             json_t *results) {
  halo_setting setting = {.bench = bench, .target = target};
  status result = setting_open(&setting, side, precision);
  if (result == STATUS_OK && bench->ranks > 1) result = add_exchanges(&setting);
  if (result == STATUS_OK) result = add_way(&setting, target->peers ? "peer copy" : "local copy", -1);
  if (result == STATUS_OK) result = measure(&setting);
  if (result == STATUS_OK) report(&setting, results);
  for (int w = 0; w < setting.count && result == STATUS_OK; w++)
    if (setting.ways[w].transport >= 0) result = halo_leave(&setting.ways[w].halo);
  setting_close(&setting);
  return result;
}

status bench_halo(bench *bench) {
  json_t *results = json_array();
  halo_target target = {0};
  bench_report_add(bench, "halo", results);
  if (bench->ranks == 1) log_info("halo: one rank exchanges nothing: plain copies only\n");
  status result = target_open(bench, &target);
  for (int i = 0; i < bench->options.planes.count; i++) {
    for (int p = PRECISION_SINGLE; p <= PRECISION_DOUBLE && result == STATUS_OK; p++) {
      if (bench->options.precision[p])
        result = measure_planes(bench, &target, bench->options.planes.at[i], (precision)p, results);
    }
  }
  target_close(bench, &target, result == STATUS_OK);
  return result;
}
