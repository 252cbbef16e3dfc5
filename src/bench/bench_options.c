#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "bench.h"

const char bench_options_help[] =
    "Usage: fdbench [kernels|pencils|operators|parts|minplus|flow|wave|halo|io|all ...] [options]\n"
    "       mpirun -np RANKS fdbench [halo|io|all ...] [options]\n"
    "\n"
    "Measures this machine and writes bench.json; every figure stands beside a plain loop, copy or write of "
    "the\n"
    "same bytes, timed alternately with it in the same run.\n"
    "\n"
    "  kernels   every operation: points per second, least bytes moved, share of a streaming loop of the "
    "same\n"
    "            reads and writes (the better of ordinary and non-temporal stores); then the pencils (rank 0 "
    "alone)\n"
    "  pencils   the report of NVIDIA's finite-difference posts: error, time and bandwidth of every variant\n"
    "  operators several differences along x, y or z from one load, against one launch for each (rank 0 "
    "alone)\n"
    "  parts     where a first derivative's time goes: load alone, with halos, with the stencil, with "
    "closures;\n"
    "            pencils in shared memory and the production kernels, share of a copy (rank 0 alone)\n"
    "  minplus   min-plus products: pairs per second, share of a loop of additions and minima in registers; "
    "the\n"
    "            full search along x, y, z; square matrices, plain ways, too; transforms of few points (rank "
    "0\n"
    "            alone)\n"
    "  flow      a stage of compressible flow, with viscosity and without: share of a copy of its words "
    "(rank 0 "
    "alone)\n"
    "  wave      a step of the wave equation, with one Laplacian and with two: share of a stream of 3 reads "
    "and 1\n"
    "            write (rank 0 alone)\n"
    "  halo      exchange of 4 planes each way, planes of 64^2 to 1024^2 (on one rank: plain copies)\n"
    "  io        states written and read, against plain files of the same bytes\n"
    "  all       all of them (default)\n"
    "\n"
    "  --backend auto|cpu|cuda      default auto\n"
    "  --grid NX[xNYxNZ][,...]      points of kernels, operators, parts and io (default 512 on devices, 320 "
    "in host memory)\n"
    "  --pencils N[,...]            cubes of the pencil report (default 64,128,256, and 512 on devices)\n"
    "  --lengths N[,...]            minplus: points of a pencil (default 512,1024, and 2048 on devices)\n"
    "  --matrices N[,...]           minplus: rows (default 1000, and 2000,4000,8000 on devices)\n"
    "  --transforms N[,...]         minplus: cubes (default 512 on devices, 256 in host memory)\n"
    "  --planes N[,...]             sides of the planes exchanged (default 64,128,256,512,1024)\n"
    "  --precision single|double|both   default both\n"
    "  --ranges whole|edges|thin|all    of planes (default whole): edges adds 2 x 4 edge planes + interior\n"
    "                               against the whole; thin adds slabs of 64 and 32 planes\n"
    "  --only PREFIX                kernels whose name begins so (dx, gradient, stage_stored, ...)\n"
    "  --threads N                  CPU threads of a rank (default: OMP_NUM_THREADS, else its share of the\n"
    "                               processors it may run on)\n"
    "  --repeat N                   samples, of which medians are taken (default 15; halo 50, io 5)\n"
    "  --directory DIR              io: where temporary files go (default .)\n"
    "  --output FILE                default bench.json\n"
    "  --help                       this text\n"
    "\n"
    "Exit codes: 0 measured; 2 bad command line; 3 device, memory or disk cannot be used.\n";

static const struct option long_options[] = {{"backend", required_argument, NULL, 'b'},
                                             {"grid", required_argument, NULL, 'g'},
                                             {"pencils", required_argument, NULL, 'n'},
                                             {"lengths", required_argument, NULL, 'L'},
                                             {"matrices", required_argument, NULL, 'M'},
                                             {"transforms", required_argument, NULL, 'T'},
                                             {"planes", required_argument, NULL, 'l'},
                                             {"precision", required_argument, NULL, 'p'},
                                             {"ranges", required_argument, NULL, 'r'},
                                             {"only", required_argument, NULL, 'k'},
                                             {"threads", required_argument, NULL, 't'},
                                             {"repeat", required_argument, NULL, 'c'},
                                             {"directory", required_argument, NULL, 'd'},
                                             {"output", required_argument, NULL, 'o'},
                                             {"help", no_argument, NULL, 'h'},
                                             {NULL, 0, NULL, 0}};

static status refuse(const char *option, const char *value, const char *accepted) {
  return status_fail(STATUS_USAGE, "%s %s: accepted: %s; see fdbench --help", option, value, accepted);
}

/* Parses a whole number from `least` to `most`; *text moves behind it. */
static int parse_number(const char **text, int64_t least, int64_t most, int64_t *value) {
  char *end = NULL;
  if (**text < '0' || **text > '9') return 0;
  errno = 0;
  const long long found = strtoll(*text, &end, 10);
  if (errno != 0 || found < least || found > most) return 0;
  *value = found;
  *text = end;
  return 1;
}

static status parse_count(const char *option, const char *text, int64_t most, int *count) {
  int64_t value = 0;
  const char *at = text;
  if (!parse_number(&at, 1, most, &value) || *at != '\0') {
    char accepted[64];
    (void)snprintf(accepted, sizeof accepted, "a whole number from 1 to %lld", (long long)most);
    return refuse(option, text, accepted);
  }
  *count = (int)value;
  return STATUS_OK;
}

/* Parses a grid. The smallest has a stencil's width in x and y, and two edges in z. */
static int parse_grid(const char **text, int64_t n[3]) {
  const int64_t most = 100000;
  if (!parse_number(text, 9, most, &n[0])) return 0;
  n[1] = n[2] = n[0];
  if (**text != 'x') return 1;
  for (int d = 1; d < 3; d++) {
    if (*(*text)++ != 'x' || !parse_number(text, d == 1 ? 9 : 8, most, &n[d])) return 0;
  }
  return 1;
}

static status parse_grids(const char *text, bench_options *options) {
  static const char accepted[] = "up to 8 of NX or NXxNYxNZ between commas, NX and NY from 9, NZ from 8";
  for (const char *at = text;; at++) {
    if (options->grid_count == BENCH_GRIDS) return refuse("--grid", text, accepted);
    if (!parse_grid(&at, options->grids[options->grid_count])) return refuse("--grid", text, accepted);
    options->grid_count++;
    if (*at == '\0') return STATUS_OK;
    if (*at != ',') return refuse("--grid", text, accepted);
  }
}

static status parse_sizes(const char *option, const char *text, int64_t most, bench_sizes *sizes) {
  char accepted[64];
  (void)snprintf(accepted, sizeof accepted, "up to 8 numbers from 16 to %lld between commas",
                 (long long)most);
  for (const char *at = text;; at++) {
    if (sizes->count == BENCH_GRIDS || !parse_number(&at, 16, most, &sizes->at[sizes->count]))
      return refuse(option, text, accepted);
    sizes->count++;
    if (*at == '\0') return STATUS_OK;
    if (*at != ',') return refuse(option, text, accepted);
  }
}

static status parse_precision(const char *text, bench_options *options) {
  const int both = strcmp(text, "both") == 0;
  options->precision[PRECISION_SINGLE] = both || strcmp(text, "single") == 0;
  options->precision[PRECISION_DOUBLE] = both || strcmp(text, "double") == 0;
  if (options->precision[PRECISION_SINGLE] || options->precision[PRECISION_DOUBLE]) return STATUS_OK;
  return refuse("--precision", text, "single, double, both");
}

static status parse_ranges(const char *text, bench_options *options) {
  static const struct {
    const char *name;
    int ranges;
  } table[] = {{"whole", RANGE_WHOLE},
               {"edges", RANGE_EDGES},
               {"thin", RANGE_THIN},
               {"all", RANGE_EDGES | RANGE_THIN}};
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
    if (strcmp(text, table[i].name) == 0) {
      options->ranges |= table[i].ranges;
      return STATUS_OK;
    }
  }
  return refuse("--ranges", text, "whole, edges, thin, all");
}

static status parse_text(const char *option, const char *text, char *value, size_t size) {
  const int length = snprintf(value, size, "%s", text);
  if (length > 0 && (size_t)length < size) return STATUS_OK;
  return status_fail(STATUS_USAGE, "%s: accepted: 1 to %zu bytes", option, size - 1);
}

static status parse_backend(const char *text, bench_options *options) {
  char accepted[128] = "auto";
  for (int i = 0; i < kernels_count(); i++)
    text_add(accepted, sizeof accepted, ", ", "%s", kernels_at(i)->name);
  if (strcmp(text, "auto") != 0 && kernels_find(text) == NULL) return refuse("--backend", text, accepted);
  return parse_text("--backend", text, options->backend, sizeof options->backend);
}

static status parse_option(int option, const char *text, bench_options *options) {
  switch (option) {
  case 'b':
    return parse_backend(text, options);
  case 'g':
    return parse_grids(text, options);
  case 'n':
    return parse_sizes("--pencils", text, 2048, &options->cubes);
  case 'l':
    return parse_sizes("--planes", text, 2048, &options->planes);
  case 'L':
    return parse_sizes("--lengths", text, 65536, &options->lengths);
  case 'M':
    return parse_sizes("--matrices", text, 65536, &options->matrices);
  case 'T':
    return parse_sizes("--transforms", text, 2048, &options->transforms);
  case 'p':
    return parse_precision(text, options);
  case 'r':
    return parse_ranges(text, options);
  case 'k':
    CHECK(parse_text("--only", text, options->only, sizeof options->only));
    return bench_kernels_only(options->only);
  case 't':
    return parse_count("--threads", text, 4096, &options->threads);
  case 'c':
    return parse_count("--repeat", text, BENCH_REPEATS, &options->repeat);
  case 'd':
    return parse_text("--directory", text, options->directory, sizeof options->directory);
  case 'o':
    return parse_text("--output", text, options->output, sizeof options->output);
  default:
    options->help = 1;
    return STATUS_OK;
  }
}

static status parse_part(const char *text, bench_options *options) {
  const int all = strcmp(text, "all") == 0;
  char accepted[128] = "";
  int found = all;
  for (int i = 0; i < BENCH_PARTS; i++) {
    const char *name = bench_part_list[i].name;
    /* kernels, then the pencils */
    const int wanted =
        strcmp(text, name) == 0 || (strcmp(text, "kernels") == 0 && strcmp(name, "pencils") == 0);
    options->parts[i] |= all || wanted;
    found |= wanted;
    text_add(accepted, sizeof accepted, ", ", "%s", name);
  }
  if (found) return STATUS_OK;
  return status_fail(STATUS_USAGE, "unknown part '%s'; accepted: %s, all; see fdbench --help", text,
                     accepted);
}

status bench_options_parse(int argc, char **argv, bench_options *options) {
  *options = (bench_options){.backend = "auto",
                             .precision = {1, 1},
                             .ranges = RANGE_WHOLE,
                             .output = "bench.json",
                             .directory = "."};
  opterr = 0;
  for (int found = 0; (found = getopt_long(argc, argv, ":h", long_options, NULL)) != -1;) {
    if (found == ':') {
      return status_fail(STATUS_USAGE, "option '%s' needs a value; see fdbench --help", argv[optind - 1]);
    }
    if (found == '?') {
      return status_fail(
          STATUS_USAGE,
          "unknown option '%s'; accepted: --backend, --grid, --pencils, --lengths, --matrices, --transforms, "
          "--planes, --precision, --ranges, --only, --threads, --repeat, --directory, --output, --help",
          argv[optind - 1]);
    }
    CHECK(parse_option(found, optarg, options));
  }
  for (int i = optind; i < argc; i++) CHECK(parse_part(argv[i], options));
  return optind == argc ? parse_part("all", options) : STATUS_OK;
}
