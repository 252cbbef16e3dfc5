#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/agree.h"
#include "base/file.h"
#include "base/log.h"
#include "bench.h"
#include "snapshots/checkpoint.h"
#include "files/rundir.h"

/* States written and read by all ranks, alternating with plain files of the same bytes: each rank writes its
 * planes from host memory to a file of its own and calls fsync. Both kinds of files are read from the
 * system's file cache if it still holds them. */

enum { PIECE = 32 << 20 };

static const char *const names[] = {"phi"};

typedef enum io_way { IO_WRITE, IO_PLAIN_WRITE, IO_READ, IO_PLAIN_READ, IO_WAYS } io_way;

typedef struct io_setting {
  bench *bench;
  config config;
  grid grid;
  field_space space;
  state state; /* phi alone */
  checkpoint *checkpoint;
  char plain[BENCH_PATH]; /* this rank's plain file */
  size_t bytes;           /* bytes of this rank's points */
  char *piece;            /* PIECE bytes */
  int sample;
} io_setting;

static status plain_pass(io_setting *setting, int writes) {
  const char *path = setting->plain;
  const int descriptor =
      open(path, writes ? O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC : O_RDONLY | O_CLOEXEC, 0666);
  if (descriptor < 0)
    return status_fail(STATUS_FILE, "%s: cannot %s: %s", path, writes ? "make" : "open", strerror(errno));
  status result = STATUS_OK;
  for (size_t done = 0; done < setting->bytes && result == STATUS_OK; done += PIECE) {
    const size_t size = setting->bytes - done < PIECE ? setting->bytes - done : PIECE;
    result = writes ? file_write_at(descriptor, path, setting->piece, size, (int64_t)done)
                    : file_read_at(descriptor, path, setting->piece, size, (int64_t)done);
  }
  if (writes && result == STATUS_OK) result = file_sync(descriptor, path);
  (void)close(descriptor);
  return result;
}

static void state_path(const char *directory, int sample, char path[BENCH_PATH]) {
  char name[64];
  rundir_state_name(sample, name);
  (void)snprintf(path, BENCH_PATH, "%.4000s/%s", directory, name);
}

static status perform(io_setting *setting, io_way way) {
  char path[BENCH_PATH];
  checkpoint_state about = {.step = setting->sample, .dt = 1.0, .picture = 0};
  switch (way) {
  case IO_WRITE:
    return checkpoint_write(setting->checkpoint, &about, &setting->state);
  case IO_READ:
    state_path(setting->config.directory, setting->sample, path);
    return checkpoint_read(setting->checkpoint, path, &about, &setting->state);
  default:
    return agree(setting->bench->comm, plain_pass(setting, way == IO_PLAIN_WRITE));
  }
}

static status measure(io_setting *setting, double samples[IO_WAYS][BENCH_REPEATS]) {
  MPI_Comm comm = setting->bench->comm;
  const int count = bench_samples(setting->bench, BENCH_SAMPLES_IO);
  for (int i = -1; i < count; i++) { /* round -1 creates what later rounds replace */
    setting->sample = i + 1;
    for (int way = 0; way < IO_WAYS; way++) {
      CHECK_MPI(MPI_Barrier(comm));
      const double start = MPI_Wtime();
      CHECK(perform(setting, (io_way)way));
      const double mine = MPI_Wtime() - start;
      if (i >= 0) CHECK_MPI(MPI_Allreduce(&mine, &samples[way][i], 1, MPI_DOUBLE, MPI_MAX, comm));
    }
  }
  return STATUS_OK;
}

static void report(const io_setting *setting, double samples[IO_WAYS][BENCH_REPEATS], json_t *results) {
  static const char *const ways[] = {"write", "plain write", "read", "plain read"};
  const int64_t *n = setting->grid.n;
  const double bytes =
      (double)n[0] * (double)n[1] * (double)n[2] * (double)kernels_element_size(setting->config.precision);
  const int count = bench_samples(setting->bench, BENCH_SAMPLES_IO);
  bench_spread spreads[IO_WAYS];
  for (int way = 0; way < IO_WAYS; way++) spreads[way] = bench_spread_of(count, samples[way]);
  for (int way = 0; way < IO_WAYS; way++) {
    const double rate = 1e-9 * bytes / spreads[way].median;
    const double plain =
        spreads[way == IO_WRITE || way == IO_PLAIN_WRITE ? IO_PLAIN_WRITE : IO_PLAIN_READ].median;
    const char *precision = config_precision_name(setting->config.precision);
    json_t *grid = json_pack("[I, I, I]", (json_int_t)n[0], (json_int_t)n[1], (json_int_t)n[2]);
    (void)json_array_append_new(results,
                                json_pack("{s:s, s:o, s:s, s:f, s:o, s:f, s:f}", "operation", ways[way],
                                          "grid", grid, "precision", precision, "bytes", bytes, "seconds",
                                          bench_report_spread(&spreads[way]), "gigabytes_per_second", rate,
                                          "versus_plain", spreads[way].median / plain));
    log_info("io %4lld x %4lld x %4lld %s  %-11s %9.4f s  %7.3f GB/s  %5.2f x the plain time\n",
             (long long)n[0], (long long)n[1], (long long)n[2], precision, ways[way], spreads[way].median,
             rate, spreads[way].median / plain);
  }
}

/* Makes a unique directory below --directory, the same one for all ranks. */
static status make_directory(io_setting *setting) {
  bench *bench = setting->bench;
  char *path = setting->config.directory;
  status result = STATUS_OK;
  if (bench->rank == 0) {
    (void)snprintf(path, CONFIG_PATH_SIZE, "%.4000s/fdbench-XXXXXX", bench->options.directory);
    if (mkdtemp(path) == NULL) {
      result = status_fail(STATUS_FILE, "%s: cannot make a directory in it: %s", bench->options.directory,
                           strerror(errno));
    }
  }
  CHECK(agree(bench->comm, result));
  CHECK_MPI(MPI_Bcast(path, CONFIG_PATH_SIZE, MPI_CHAR, 0, bench->comm));
  (void)snprintf(setting->plain, sizeof setting->plain, "%.4000s/plain_%d", path, bench->rank);
  return STATUS_OK;
}

/* Removes the files of this program: plain files, states and their index. */
static void remove_directory(const io_setting *setting) {
  char path[BENCH_PATH];
  const char *directory = setting->config.directory;
  (void)unlink(setting->plain);
  (void)MPI_Barrier(setting->bench->comm);
  if (setting->bench->rank != 0) return;
  for (int i = 0; i <= bench_samples(setting->bench, BENCH_SAMPLES_IO); i++) {
    state_path(directory, i, path);
    (void)unlink(path);
  }
  (void)snprintf(path, sizeof path, "%.4000s/" RUNDIR_INDEX, directory);
  (void)unlink(path);
  if (rmdir(directory) != 0) log_warning("%s: not removed: %s", directory, strerror(errno));
}

static status setting_open(io_setting *setting, const int64_t n[3], precision precision) {
  bench *bench = setting->bench;
  config *config = &setting->config;
  config->precision = precision;
  config->checkpoint_keep = 2;
  for (int d = 0; d < 3; d++) {
    config->n[d] = n[d];
    config->l[d] = 1.0;
  }
  CHECK(agree(bench->comm, grid_make(n, config->l, bench->ranks, bench->rank, &setting->grid)));
  status result =
      field_space_open(bench->backend, bench->context,
                       grid_shape(&setting->grid, precision, bench->backend->host_memory), &setting->space);
  if (result == STATUS_OK) result = state_create(&setting->space, 1, names, &setting->state);
  if (result == STATUS_OK) {
    field *phi = &setting->state.part[0];
    result = field_fill(phi, setting->grid.z0, n[2], 0, bench_noise_row, &phi->shape.nx);
  }
  setting->bytes = (size_t)n[0] * (size_t)n[1] * (size_t)setting->grid.nz * kernels_element_size(precision);
  setting->piece = malloc(PIECE);
  if (result == STATUS_OK && setting->piece == NULL)
    result = status_fail(STATUS_MEMORY, "no memory for a piece");
  if (result == STATUS_OK) {
    bench_noise_row(&(const int){PIECE / (int)sizeof(double)}, bench->rank, 0,
                    (double *)(void *)setting->piece);
  }
  return agree(bench->comm, result);
}

static void setting_close(io_setting *setting) {
  free(setting->piece);
  checkpoint_destroy(setting->checkpoint);
  state_destroy(&setting->state);
  field_space_close(&setting->space);
}

static status measure_states(bench *bench, const int64_t n[3], precision precision, json_t *results) {
  static io_setting setting; /* static because it is large */
  double samples[IO_WAYS][BENCH_REPEATS];
  memset(&setting, 0, sizeof setting);
  setting.bench = bench;
  status result = setting_open(&setting, n, precision);
  if (result == STATUS_OK) result = make_directory(&setting);
  if (result == STATUS_OK) {
    result = checkpoint_create(bench->comm, &setting.grid, &setting.config, 1, names, &setting.checkpoint);
    if (result == STATUS_OK) result = measure(&setting, samples);
    if (result == STATUS_OK) report(&setting, samples, results);
    if (result == STATUS_OK || agree_reached()) remove_directory(&setting);
  }
  setting_close(&setting);
  return result;
}

status bench_io(bench *bench) {
  json_t *results = json_array();
  bench_report_add(bench, "io", results);
  for (int g = 0; g < bench->options.grid_count; g++) {
    for (int p = PRECISION_SINGLE; p <= PRECISION_DOUBLE; p++) {
      if (bench->options.precision[p])
        CHECK(measure_states(bench, bench->options.grids[g], (precision)p, results));
    }
  }
  return STATUS_OK;
}
