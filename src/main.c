/* fdapp: command line, MPI start and end, exit codes; the only MPI_Abort. */
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/version.h"
#include "snapshots/checkpoint.h"
#include "app/control.h"
#include "domain/grid.h"
#include "app/simulation.h"

static const char help[] =
    "Usage: mpirun -np RANKS fdapp [--validate] CONFIG.ini [section.key=value ...]\n"
    "       fdapp --verify FILE... | --hash FILE...\n"
    "       fdapp --list | --version | --help\n"
    "\n"
    "Solves for advection and diffusion, sound, waves, or compressible flow, on a box, periodic or with\n"
    "ends, with differences of order 2 to 8, the box cut into slabs along z, one slab per rank, one GPU\n"
    "(or some CPU cores) per rank.\n"
    "\n"
    "  CONFIG.ini          the run; config/ holds commented examples, --list prints all keys\n"
    "  section.key=value   overrides a key of the file, e.g. time.steps=100 output.directory=runs/test\n"
    "  --validate          check everything, print the plan, run nothing, write nothing\n"
    "  --verify FILE...    check snapshots byte by byte\n"
    "  --hash FILE...      check them, and print the hash of the answer in each\n"
    "  --list              cases, velocity fields, schemes, forms, backends, and all keys with what they "
    "accept\n"
    "  --version           versions and revision\n"
    "  --help              this text\n"
    "\n"
    "Exit codes: 0 finished; 2 bad command line or configuration (no result touched); 3 the environment\n"
    "(device, memory, disk, damaged file); 4 the solution blew up: it is not finite, or grew beyond what\n"
    "the problem allows (the last good snapshot, if any is written, is on disk); 5 the answer's hash is\n"
    "not benchmark.reference; 75 stopped early on request (SIGTERM, SIGINT, SIGUSR1, SIGUSR2, SIGHUP,\n"
    "SIGXCPU or output.wall_limit) after a checkpoint: resume with restart.from=latest.\n";

typedef enum action {
  ACTION_RUN,
  ACTION_VALIDATE,
  ACTION_VERIFY,
  ACTION_HASH,
  ACTION_LIST,
  ACTION_VERSION,
  ACTION_HELP
} action;

static const struct option options[] = {{"validate", no_argument, NULL, ACTION_VALIDATE},
                                        {"verify", no_argument, NULL, ACTION_VERIFY},
                                        {"hash", no_argument, NULL, ACTION_HASH},
                                        {"list", no_argument, NULL, ACTION_LIST},
                                        {"version", no_argument, NULL, ACTION_VERSION},
                                        {"help", no_argument, NULL, ACTION_HELP},
                                        {NULL, 0, NULL, 0}};

static status parse(int argc, char **argv, action *action) {
  *action = ACTION_RUN;
  opterr = 0;
  for (int found = 0, index = -1; (found = getopt_long(argc, argv, "h", options, &index)) != -1; index = -1) {
    const int abbreviated = index >= 0 && strcmp(argv[optind - 1] + 2, options[index].name) != 0;
    if (found == '?' || abbreviated) {
      const char letter[] = {'-', (char)optopt, '\0'};
      return status_fail(
          STATUS_USAGE,
          "unknown option '%s'; accepted: --validate, --verify, --hash, --list, --version, --help",
          optopt > ' ' ? letter : argv[optind - 1]);
    }
    if (*action != ACTION_RUN)
      return status_fail(STATUS_USAGE, "give one option at a time; see fdapp --help");
    *action = found == 'h' ? ACTION_HELP : (enum action)found;
  }
  const int arguments = argc - optind;
  const int needs_files = *action == ACTION_VERIFY || *action == ACTION_HASH;
  const int needs_argument = *action == ACTION_RUN || *action == ACTION_VALIDATE || needs_files;
  if (needs_argument && arguments == 0) {
    return needs_files
               ? status_fail(STATUS_USAGE, "no snapshot given; usage: fdapp --%s FILE...; see fdapp --help",
                             *action == ACTION_HASH ? "hash" : "verify")
               : status_fail(STATUS_USAGE,
                             "no configuration file given; usage: mpirun -np RANKS fdapp CONFIG.ini "
                             "[section.key=value ...]; see fdapp --help");
  }
  if (!needs_argument && arguments > 0) {
    return status_fail(STATUS_USAGE, "unexpected argument '%s'; see fdapp --help", argv[optind]);
  }
  return STATUS_OK;
}

static void print_version(void) {
  log_info("fdapp %s, revision %s\n", FDAPP_VERSION, FDAPP_REVISION);
  log_info("compiler  %s\nmpi       %s\nhdf5      %s\ncuda      %s\n", FDAPP_COMPILER, FDAPP_MPI, FDAPP_HDF5,
           FDAPP_CUDA_VERSION);
}

/* Verifies every file and prints a line for each, with `hashes` "HASH  FILE". Returns the last fault. */
static status verify(int count, char **paths, int hashes) {
  status result = STATUS_OK;
  for (int i = 0; i < count; i++) {
    char line[STATUS_MESSAGE_SIZE];
    uint64_t hash = 0;
    const status found = checkpoint_verify(paths[i], line, sizeof line, &hash);
    if (found == STATUS_OK) {
      if (hashes) (void)snprintf(line, sizeof line, "%016" PRIx64 "  %s", hash, paths[i]);
      log_info("%s\n", line);
      continue;
    }
    log_error(status_message(found));
    status_clear();
    result = found;
  }
  return result;
}

static status check_ranks(const config *config, int ranks) {
  const int64_t most = grid_most_ranks(config->n[2]);
  if (ranks <= most) return STATUS_OK;
  return config_refuse(config, "grid", "nz",
                       "fewer than %d planes to each of %d ranks; accepted: at most %" PRId64
                       " ranks, or nz from %d",
                       KERNELS_HALO, ranks, most, KERNELS_HALO * ranks);
}

static status read_config(MPI_Comm comm, int rank, int count, char **arguments, config *config) {
  int ranks = 1;
  status mine = STATUS_OK;
  CHECK_MPI(MPI_Comm_size(comm, &ranks));
  if (rank == 0) {
    mine = config_load(arguments[0], count - 1, arguments + 1, config);
    if (mine == STATUS_OK) mine = check_ranks(config, ranks);
  }
  CHECK(agree(comm, mine));
  CHECK_MPI(MPI_Bcast(config, (int)sizeof *config, MPI_BYTE, 0, comm));
  return STATUS_OK;
}

/* Checks that standard output was written, because it is the only result of these actions. Collective. */
static status words_told(MPI_Comm comm, int rank) {
  const int lost = rank == 0 && (fflush(stdout) != 0 || ferror(stdout));
  return agree(comm, lost ? status_fail(STATUS_FILE, "standard output cannot be written") : STATUS_OK);
}

/* All actions but a run. Collective. */
static status tell(MPI_Comm comm, int rank, action action, int count, char **arguments) {
  config config;
  status found = STATUS_OK;
  switch (action) {
  case ACTION_HELP:
    log_info("%s", help);
    return STATUS_OK;
  case ACTION_VERSION:
    print_version();
    return STATUS_OK;
  case ACTION_LIST:
    if (rank == 0) config_list(stdout);
    return STATUS_OK;
  case ACTION_VERIFY:
  case ACTION_HASH:
    if (rank == 0) found = verify(count, arguments, action == ACTION_HASH);
    if (found != STATUS_OK) (void)status_fail(found, "not every snapshot is whole");
    return agree(comm, found);
  default:
    CHECK(read_config(comm, rank, count, arguments, &config));
    return simulation_validate(comm, &config);
  }
}

static status perform(MPI_Comm comm, int rank, int argc, char **argv, double start) {
  action action = ACTION_RUN;
  CHECK(agree(comm, parse(argc, argv, &action)));
  if (action != ACTION_RUN) {
    CHECK(tell(comm, rank, action, argc - optind, argv + optind));
    return words_told(comm, rank);
  }
  config config;
  CHECK(read_config(comm, rank, argc - optind, argv + optind, &config));
  control_set_signals();
  return simulation_run(comm, &config, start);
}

/* Opens /dev/null for standard streams that the shell has closed (>&-). Otherwise the next open file would
 * take their number, and our output would fill MPI's internal pipes until they block. */
static void fill_standard_files(void) {
  int descriptor = -1;
  do {
    descriptor = open("/dev/null", O_RDWR);
  } while (descriptor >= 0 && descriptor <= STDERR_FILENO);
  if (descriptor >= 0) (void)close(descriptor);
}

int main(int argc, char **argv) {
  int provided = 0;
  fill_standard_files();
  (void)signal(SIGXFSZ, SIG_IGN); /* a file that exceeds its size limit is then an error to report */
  if (MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS) {
    (void)fprintf(stderr, "fdapp: error: MPI cannot be initialised\n");
    return EXIT_FAILURE;
  }
  const double start = MPI_Wtime();
  int rank = 0;
  (void)MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  (void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  log_init(rank == 0);

  const status result = perform(MPI_COMM_WORLD, rank, argc, argv, start);
  const int code = status_exit_code(result);
  if (result != STATUS_OK && !agree_reached()) {
    /* the other ranks do not know of this fault and may wait for this one */
    log_init(1);
    log_error(status_message(result));
    (void)MPI_Abort(MPI_COMM_WORLD, code);
  }
  if (result == STATUS_STOPPED) {
    log_warning("%s", status_message(result));
  } else if (result != STATUS_OK) {
    log_error(status_message(result));
  }
  (void)MPI_Finalize();
  return code;
}
