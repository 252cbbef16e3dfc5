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

/* Default sizes: too large for the last-level cache, and for the posts' report cubes that a host can compute
 * in reasonable time. */
static void choose_sizes(bench *bench) {
  bench_options *options = &bench->options;
  const int host = bench->backend->host_memory;
  if (options->grid_count == 0) {
    for (int d = 0; d < 3; d++) options->grids[0][d] = host ? 320 : 512;
    options->grid_count = 1;
  }
  if (options->cube_count == 0) {
    options->cube_count = host ? 3 : 4;
    for (int i = 0; i < options->cube_count; i++) options->cubes[i] = (int64_t)64 << i;
  }
  if (options->length_count == 0) {
    options->length_count = host ? 2 : 3;
    for (int i = 0; i < options->length_count; i++) options->lengths[i] = (int64_t)512 << i;
  }
  if (options->matrix_count == 0) {
    options->matrix_count = host ? 1 : 4;
    for (int i = 0; i < options->matrix_count; i++) options->matrices[i] = (int64_t)1000 << i;
  }
  if (options->transform_count == 0) {
    options->transforms[0] = host ? 256 : 512;
    options->transform_count = 1;
  }
  if (options->plane_count == 0) {
    options->plane_count = 5;
    for (int i = 0; i < options->plane_count; i++) options->planes[i] = (int64_t)64 << i;
  }
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
  if (bench->options.kernels) CHECK(alone(bench, bench_kernels));
  if (bench->options.pencils) CHECK(alone(bench, bench_pencils));
  if (bench->options.operators) CHECK(alone(bench, bench_operators));
  if (bench->options.parts) CHECK(alone(bench, bench_parts));
  if (bench->options.minplus) CHECK(alone(bench, bench_minplus));
  if (bench->options.flow) CHECK(alone(bench, bench_flow));
  if (bench->options.wave) CHECK(alone(bench, bench_wave));
  if (bench->options.halo) CHECK(bench_halo(bench));
  if (bench->options.io) CHECK(bench_io(bench));
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
