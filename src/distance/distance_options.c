#include "distance/distance_options.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "settings/settings.h"
#include "problems/problem.h"

const char distance_options_help[] =
    "Usage: mpirun -np RANKS fddistance [--validate] IN.hdf OUT.hdf [key=value ...] [--hopf-lax T]\n"
    "       fddistance --version | --help\n"
    "\n"
    "Computes the exact Euclidean distance of every grid point to the set {phi >= level} of a snapshot, or "
    "of any\n"
    "dataset of shape (nz, ny, nx) in an HDF5 file, in the dataset's precision, and writes it as\n"
    "VTKHDF/PointData/distance, which ParaView opens. Slabs along z, one per rank, of one plane at least.\n"
    "\n"
    "  level=NUMBER                   of the set's surface (default 0)\n"
    "  binary=yes|no                  yes: to the nearest point of the set; no: to the surface between "
    "points,\n"
    "                                 where linear interpolation along the grid's lines finds it (default "
    "no)\n"
    "  signed=yes|no                  yes: negative inside; no: 0 inside (default yes)\n"
    "  boundary.x=periodic|open       likewise boundary.y, boundary.z; periodic: the box has length n h, and "
    "the\n"
    "                                 nearest image counts (default: as the file says, else periodic)\n"
    "  dataset=NAME                   default VTKHDF/PointData/phi\n"
    "  spacing.x=NUMBER               likewise spacing.y, spacing.z (default: /VTKHDF's Spacing, else the\n"
    "                                 coordinates of the dataset's axes, else 1)\n"
    "  backend=auto|cpu|cuda          default auto\n"
    "  threads=N                      CPU threads of a rank (default: OMP_NUM_THREADS, else its share)\n"
    "  --hopf-lax T                   instead of a distance the solution at time T > 0 of\n"
    "                                 u_t + |grad u|^2 / 2 = 0, u(x, 0) = phi: the least of\n"
    "                                 phi(y) + |x - y|^2 / 2T over all points y, as VTKHDF/PointData/u\n"
    "  --validate                     checks all but the values, prints the plan, computes and writes "
    "nothing\n"
    "  --version                      version and revision\n"
    "  --help                         this text\n"
    "\n"
    "OUT.hdf appears whole or not at all, replaces a file of that name, and is never the input. A run that "
    "is\n"
    "interrupted may leave OUT.hdf.partial, which nothing reads and the next run replaces.\n"
    "Exit codes: 0 written; 2 bad command line or data; 3 file, device, memory or disk cannot be used.\n";

typedef enum kind {
  KIND_REAL,
  KIND_SPACING,
  KIND_YES_NO,
  KIND_END,
  KIND_TEXT,
  KIND_BACKEND,
  KIND_THREADS
} kind;

typedef struct key {
  const char *name;
  kind kind;
  size_t offset;
  int of_distance; /* 1: --hopf-lax does not use it */
} key;

#define MEMBER(member) offsetof(distance_options, member)
static const key keys[] = {{"level", KIND_REAL, MEMBER(level), 1},
                           {"binary", KIND_YES_NO, MEMBER(binary), 1},
                           {"signed", KIND_YES_NO, MEMBER(is_signed), 1},
                           {"boundary.x", KIND_END, MEMBER(bounded[0]), 0},
                           {"boundary.y", KIND_END, MEMBER(bounded[1]), 0},
                           {"boundary.z", KIND_END, MEMBER(bounded[2]), 0},
                           {"dataset", KIND_TEXT, MEMBER(dataset), 0},
                           {"spacing.x", KIND_SPACING, MEMBER(spacing[0]), 0},
                           {"spacing.y", KIND_SPACING, MEMBER(spacing[1]), 0},
                           {"spacing.z", KIND_SPACING, MEMBER(spacing[2]), 0},
                           {"backend", KIND_BACKEND, MEMBER(backend), 0},
                           {"threads", KIND_THREADS, MEMBER(threads), 0}};
enum { KEY_COUNT = sizeof keys / sizeof keys[0] };

static status refuse(const char *name, const char *value, const char *accepted) {
  return status_fail(STATUS_USAGE, "command line: %s = %s; accepted: %s; see fddistance --help", name, value,
                     accepted);
}

/* Reads a decimal number of at most PROBLEM_LARGEST; strtod also accepts spaces, nan and hexadecimal
 * digits. */
static int read_real(const char *text, double *value) {
  char *end = NULL;
  if (text[0] == '\0' || text[strspn(text, "+-.0123456789eE")] != '\0') return 0;
  errno = 0;
  *value = strtod(text, &end);
  return *end == '\0' && end != text && errno == 0 && fabs(*value) <= PROBLEM_LARGEST;
}

static int read_word(const char *text, const char *no, const char *yes, int *value) {
  *value = strcmp(text, yes) == 0;
  return *value || strcmp(text, no) == 0;
}

static int read_text(const char *text, char *value, size_t size) {
  const int length = snprintf(value, size, "%s", text);
  return length > 0 && (size_t)length < size;
}

static int read_threads(const char *text, int *value) {
  char *end = NULL;
  if (text[0] < '1' || text[0] > '9') return 0;
  const long found = strtol(text, &end, 10);
  *value = (int)found;
  return *end == '\0' && found <= CONFIG_THREADS_MOST;
}

static status read_backend(const char *text, char *value) {
  char accepted[128] = "auto";
  for (int i = 0; i < kernels_count(); i++)
    text_add(accepted, sizeof accepted, ", ", "%s", kernels_at(i)->name);
  if (strcmp(text, "auto") != 0 && kernels_find(text) == NULL) return refuse("backend", text, accepted);
  (void)snprintf(value, sizeof((distance_options *)NULL)->backend, "%s", text);
  return STATUS_OK;
}

static status read_value(const key *key, const char *text, distance_options *options) {
  void *const member = (char *)options + key->offset;
  switch (key->kind) {
  case KIND_REAL:
    return read_real(text, member) ? STATUS_OK : refuse(key->name, text, "a number from -1e30 to 1e30");
  case KIND_SPACING:
    if (read_real(text, member) && *(double *)member >= 1e-30) return STATUS_OK;
    return refuse(key->name, text, "a number from 1e-30 to 1e30");
  case KIND_YES_NO:
    return read_word(text, "no", "yes", member) ? STATUS_OK : refuse(key->name, text, "yes, no");
  case KIND_END:
    return read_word(text, "periodic", "open", member) ? STATUS_OK
                                                       : refuse(key->name, text, "periodic, open");
  case KIND_TEXT:
    return read_text(text, member, DISTANCE_PATH) ? STATUS_OK
                                                  : refuse(key->name, text, "the name of a dataset");
  case KIND_THREADS:
    if (read_threads(text, member)) return STATUS_OK;
    return refuse(key->name, text, "a whole number from 1 to 4096");
  default:
    return read_backend(text, member);
  }
}

static status refuse_key(const char *text, size_t length) {
  char accepted[256] = "";
  for (int i = 0; i < KEY_COUNT; i++) text_add(accepted, sizeof accepted, ", ", "%s", keys[i].name);
  return status_fail(STATUS_USAGE, "command line: unknown key '%.*s'; accepted: %s; see fddistance --help",
                     length > 64 ? 64 : (int)length, text, accepted);
}

/* given: counts the keys seen so far. */
static status read_key(const char *text, int given[KEY_COUNT], distance_options *options) {
  const size_t length = strcspn(text, "=");
  for (int i = 0; i < KEY_COUNT; i++) {
    if (strlen(keys[i].name) != length || strncmp(keys[i].name, text, length) != 0) continue;
    if (given[i]++) return status_fail(STATUS_USAGE, "command line: %s is given twice", keys[i].name);
    return read_value(&keys[i], text + length + 1, options);
  }
  return refuse_key(text, length);
}

/* Reads the option at argv[*at], and its value. */
static status read_option(int argc, char **argv, int *at, distance_options *options) {
  static const struct {
    const char *name;
    distance_action action;
  } actions[] = {{"--validate", DISTANCE_VALIDATE},
                 {"--version", DISTANCE_VERSION},
                 {"--help", DISTANCE_HELP},
                 {"-h", DISTANCE_HELP}};
  const char *name = argv[*at];
  for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++) {
    if (strcmp(name, actions[i].name) != 0) continue;
    if (options->action != DISTANCE_RUN)
      return status_fail(STATUS_USAGE, "give one option at a time; see fddistance --help");
    options->action = actions[i].action;
    return STATUS_OK;
  }
  if (strcmp(name, "--hopf-lax") != 0)
    return status_fail(STATUS_USAGE,
                       "unknown option '%.64s'; accepted: --hopf-lax, --validate, --version, --help", name);
  if (options->time > 0.0) return status_fail(STATUS_USAGE, "command line: --hopf-lax is given twice");
  const char *value = *at + 1 < argc ? argv[++*at] : "";
  if (read_real(value, &options->time) && options->time >= 1e-30) return STATUS_OK;
  return refuse("--hopf-lax", value, "a time from 1e-30 to 1e30");
}

static status read_path(const char *text, distance_options *options) {
  for (int i = 0; i < KEY_COUNT; i++) {
    const size_t length = strlen(keys[i].name);
    if (strncmp(text, keys[i].name, length) == 0 && text[length] == '=')
      return status_fail(STATUS_USAGE,
                         "'%.200s' where a path is due: IN.hdf and OUT.hdf come before the keys", text);
  }
  char *const path = options->input[0] == '\0' ? options->input : options->output;
  if (path[0] != '\0')
    return status_fail(STATUS_USAGE, "unexpected argument '%.200s'; see fddistance --help", text);
  if (read_text(text, path, DISTANCE_PATH)) return STATUS_OK;
  return status_fail(STATUS_USAGE, "a path has 1 to %d bytes", DISTANCE_PATH - 1);
}

static void name_idle(const int given[KEY_COUNT], distance_options *options) {
  for (int i = 0; i < KEY_COUNT; i++)
    if (options->time > 0.0 && given[i] && keys[i].of_distance)
      text_add(options->idle, sizeof options->idle, ", ", "%s", keys[i].name);
}

status distance_options_parse(int argc, char **argv, distance_options *options) {
  int given[KEY_COUNT] = {0};
  memset(options, 0, sizeof *options);
  options->is_signed = 1;
  for (int d = 0; d < 3; d++) options->bounded[d] = -1;
  (void)snprintf(options->backend, sizeof options->backend, "auto");
  (void)snprintf(options->dataset, sizeof options->dataset, "%s", PROBLEM_DATASET);
  for (int i = 1; i < argc; i++) {
    if (argv[i][0] == '-') {
      CHECK(read_option(argc, argv, &i, options));
    } else if (options->output[0] != '\0' && strchr(argv[i], '=') != NULL) {
      CHECK(read_key(argv[i], given, options));
    } else {
      CHECK(read_path(argv[i], options));
    }
  }
  name_idle(given, options);
  if (options->action == DISTANCE_VERSION || options->action == DISTANCE_HELP || options->output[0] != '\0')
    return STATUS_OK;
  return status_fail(STATUS_USAGE,
                     "%s; usage: mpirun -np RANKS fddistance IN.hdf OUT.hdf [key=value ...]; see "
                     "fddistance --help",
                     options->input[0] == '\0' ? "no input given" : "no output given");
}
