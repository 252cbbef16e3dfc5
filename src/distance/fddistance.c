/* fddistance: command line, MPI start and end, exit codes. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/agree.h"
#include "base/log.h"
#include "base/version.h"
#include "distance/distance_job.h"

static status perform(MPI_Comm comm, int argc, char **argv) {
  distance_options options;
  CHECK(agree(comm, distance_options_parse(argc, argv, &options)));
  if (options.action == DISTANCE_HELP) {
    log_info("%s", distance_options_help);
    return STATUS_OK;
  }
  if (options.action == DISTANCE_VERSION) {
    log_info("fddistance %s, revision %s\n", FDAPP_VERSION, FDAPP_REVISION);
    return STATUS_OK;
  }
  return distance_job(comm, &options);
}

int main(int argc, char **argv) {
  int provided = 0, rank = 0;
  (void)signal(SIGXFSZ, SIG_IGN); /* a file that exceeds its size limit is then an error to report */
  if (MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS) {
    (void)fprintf(stderr, "fddistance: error: MPI cannot be initialised\n");
    return EXIT_FAILURE;
  }
  (void)MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  (void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  log_init(rank == 0);
  log_program("fddistance");

  const status result = perform(MPI_COMM_WORLD, argc, argv);
  const int code = status_exit_code(result);
  if (result != STATUS_OK) {
    if (!agree_reached()) log_init(1);
    log_error(status_message(result));
    if (!agree_reached()) (void)MPI_Abort(MPI_COMM_WORLD, code);
  }
  (void)MPI_Finalize();
  return code;
}
