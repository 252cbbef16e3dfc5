/* fdbench: command line, MPI start and end, exit codes. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/log.h"
#include "bench.h"
#include "domain/backend.h"
#include "domain/node.h"

const bench_part bench_part_list[BENCH_PARTS] = {
    {"kernels", bench_kernels, 0}, {"pencils", bench_pencils, 0}, {"operators", bench_operators, 0},
    {"parts", bench_parts, 0},     {"minplus", bench_minplus, 0}, {"flow", bench_flow, 0},
    {"wave", bench_wave, 0},       {"halo", bench_halo, 1},       {"io", bench_io, 1}};

/* Sets sizes that are not given: `count` of them, each twice the one before. */
static void choose(bench_sizes *sizes, int count, int64_t first) {
  if (sizes->count > 0) return;
  sizes->count = count;
  for (int i = 0; i < count; i++) sizes->at[i] = first << i;
}

/* Default sizes: too large for the last-level cache, and for the posts' report cubes that a host can compute
 * in reasonable time. */
static void choose_sizes(bench *bench) {
  bench_options *options = &bench->options;
  const int host = bench->backend->host_memory;
  if (options->grid_count == 0) {
    for (int d = 0; d < 3; d++) options->grids[0][d] = host ? 320 : 512;
    options->grid_count = 1;
  }
  choose(&options->cubes, host ? 3 : 4, 64);
  choose(&options->lengths, host ? 2 : 3, 512);
  choose(&options->matrices, host ? 1 : 4, 1000);
  choose(&options->transforms, 1, host ? 256 : 512);
  choose(&options->planes, 5, 64);
}

static status bench_open(bench *bench) {
  char note[STATUS_MESSAGE_SIZE];
  node node;
  kernels_setup setup;
  CHECK(backend_choose(bench->comm, bench->options.backend, &bench->backend, note, sizeof note));
  if (note[0] != '\0') log_info("%s\n", note);
  CHECK(node_open(bench->comm, &node));
  setup.device = node.rank;
  CHECK(node_threads(&node, bench->options.threads, &setup.threads));
  CHECK(node_close(&node));
  bench->threads = setup.threads;
  CHECK(agree(bench->comm, bench->backend->context_create(&setup, &bench->context)));
  CHECK(agree(bench->comm, bench->backend->event_create(bench->context, &bench->start)));
  CHECK(agree(bench->comm, bench->backend->event_create(bench->context, &bench->end)));
  choose_sizes(bench);
  log_info("%s: %s; %d rank%s\n", bench->backend->name, bench->backend->describe(bench->context),
           bench->ranks, bench->ranks == 1 ? "" : "s");
  return agree(bench->comm, bench_report_open(bench));
}

static void bench_close(bench *bench) {
  if (bench->start != NULL) bench->backend->event_destroy(bench->start);
  if (bench->end != NULL) bench->backend->event_destroy(bench->end);
  if (bench->context != NULL) bench->backend->context_destroy(bench->context);
  json_decref(bench->report);
}

/* Only rank 0 measures; the others sleep, so that they use no processor time. */
static status alone(bench *bench, status (*part)(struct bench *)) {
  const struct timespec pause = {.tv_nsec = 20000000};
  const status mine = bench->rank == 0 ? part(bench) : STATUS_OK;
  MPI_Request request;
  CHECK_MPI(MPI_Ibarrier(bench->comm, &request));
  for (int done = 0; !done;) {
    CHECK_MPI(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
    if (!done) (void)nanosleep(&pause, NULL);
  }
  return agree(bench->comm, mine);
}

static status measure(bench *bench) {
  CHECK(bench_open(bench));
  for (int i = 0; i < BENCH_PARTS; i++) {
    const bench_part *part = &bench_part_list[i];
    if (bench->options.parts[i]) CHECK(part->collective ? part->measure(bench) : alone(bench, part->measure));
  }
  CHECK(agree(bench->comm, bench->rank == 0 ? bench_report_write(bench) : STATUS_OK));
  log_info("%s written\n", bench->options.output);
  return STATUS_OK;
}

static status perform(bench *bench, int argc, char **argv) {
  CHECK(agree(bench->comm, bench_options_parse(argc, argv, &bench->options)));
  if (bench->options.help) {
    log_info("%s", bench_options_help);
    return STATUS_OK;
  }
  const status result = measure(bench);
  bench_close(bench);
  return result;
}

int main(int argc, char **argv) {
  int provided = 0;
  bench bench;
  (void)signal(SIGXFSZ, SIG_IGN); /* a file that exceeds its size limit is then an error to report */
  memset(&bench, 0, sizeof bench);
  if (MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS) {
    (void)fprintf(stderr, "fdbench: error: MPI cannot be initialised\n");
    return EXIT_FAILURE;
  }
  bench.comm = MPI_COMM_WORLD;
  (void)MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  (void)MPI_Comm_rank(bench.comm, &bench.rank);
  (void)MPI_Comm_size(bench.comm, &bench.ranks);
  log_init(bench.rank == 0);
  log_program("fdbench");

  const status result = perform(&bench, argc, argv);
  const int code = status_exit_code(result);
  if (result != STATUS_OK) {
    if (!agree_reached()) log_init(1);
    log_error(status_message(result));
    if (!agree_reached()) (void)MPI_Abort(bench.comm, code);
  }
  (void)MPI_Finalize();
  return code;
}
