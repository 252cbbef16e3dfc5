#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/restart.h"
#include "config/config_table.h"
#include "files/rundir.h"
#include "snapshots/checkpoint_config.h"

enum { LONG = 6, SHORT = 3, LARGEST = 1 << 20 };

/* Returns 1 for what tells several runs apart: a digit, or a letter by itself as in run_a and runA. */
static int is_mark(const char *name, const char *c) {
  const int before = c > name ? (unsigned char)c[-1] : '_', letter = (unsigned char)*c;
  if (isdigit(letter)) return 1;
  return !isalpha((unsigned char)c[1]) && (!isalpha(before) || (islower(before) && isupper(letter)));
}

/* Copies letters and digits of a name in lower case, with its marks or without them. Returns their number. */
static size_t letters_of(const char *name, int marks, char text[NAME_MAX + 1]) {
  size_t used = 0;
  for (const char *c = name; *c != '\0' && used < NAME_MAX; c++)
    if (isalnum((unsigned char)*c) && (marks || !is_mark(name, c)))
      text[used++] = (char)tolower((unsigned char)*c);
  text[used] = '\0';
  return used;
}

/* Two names of three letters, such as cpu and gpu, are those of two runs if one letter is another. */
static int is_one_replaced(const char *a, const char *b) {
  return (a[0] != b[0]) + (a[1] != b[1]) + (a[2] != b[2]) == 1;
}

/* Names that differ in capitals or separators alone are mistyped, and those that differ in marks alone are
 * of several runs. Otherwise one edit makes a name mistyped, and in a long name two between its first and
 * last letter. */
static int is_mistyped(const char *wanted, const char *there) {
  char a[NAME_MAX + 1], b[NAME_MAX + 1];
  if (letters_of(wanted, 1, a) > 0 && letters_of(there, 1, b) > 0 && strcmp(a, b) == 0) return 1;
  const size_t n = letters_of(wanted, 0, a), m = letters_of(there, 0, b);
  if ((n < SHORT && m < SHORT) || strcmp(a, b) == 0) return 0;
  if (n == SHORT && m == SHORT && is_one_replaced(a, b)) return 0;
  config_guess guess = {.word = a};
  config_guess_offer(&guess, b);
  if (guess.best == NULL || guess.distance <= 1) return guess.best != NULL;
  return guess.distance == 2 && n >= LONG && m >= LONG && a[0] == b[0] && a[n - 1] == b[m - 1];
}

static char *read_text(const char *path) {
  FILE *file = fopen(path, "rb");
  char *text = file != NULL ? calloc(LARGEST + 1, 1) : NULL;
  if (text != NULL && fread(text, 1, LARGEST, file) == 0) text[0] = '\0';
  if (file != NULL) (void)fclose(file);
  return text;
}

/* Returns 1 if the run in a directory has this problem on this grid, and snapshots. */
static int is_same_problem(const config *config, const char *directory) {
  char path[2 * PATH_MAX];
  char *ours = NULL;
  checkpoint_differences differences = {.problem = "none"};
  if (!rundir_has_states(directory)) return 0;
  (void)snprintf(path, sizeof path, "%s/" RUNDIR_CONFIG, directory);
  char *theirs = read_text(path);
  if (theirs != NULL && config_text(config, &ours) == STATUS_OK)
    checkpoint_config_compare(config, theirs, ours, &differences);
  free(theirs);
  free(ours);
  return differences.problem[0] == '\0' && differences.grid[0] == '\0';
}

/* Splits a path at its first part that is not there: "runs", "quikstart", "" of runs/quikstart. Returns 0 if
 * all of it is there. */
static int split_missing(const char *path, char above[PATH_MAX], char missing[NAME_MAX + 1],
                         const char **rest) {
  struct stat info;
  const char *begin = path;
  for (const char *end = path; *end != '\0'; begin = end + (*end == '/')) {
    end = begin + strcspn(begin, "/");
    (void)snprintf(above, PATH_MAX, "%.*s", (int)(end - path), path);
    if (end > begin && stat(above, &info) != 0) {
      (void)snprintf(above, PATH_MAX, "%.*s", begin > path ? (int)(begin - path) : 1,
                     begin > path ? path : ".");
      (void)snprintf(missing, NAME_MAX + 1, "%.*s", (int)(end - begin), begin);
      *rest = end;
      return 1;
    }
  }
  return 0;
}

/* Refuses a directory in which a run has ended, as its perf.json says, and left no snapshot: nobody who asks
 * for the latest means to compute it once more. A run that was killed before its first snapshot has no
 * perf.json, and its job begins again. */
static status check_ended(const config *config) {
  char path[PATH_MAX + sizeof "/" RUNDIR_PERF];
  const char *directory = config->directory;
  (void)snprintf(path, sizeof path, "%s/" RUNDIR_PERF, directory);
  if (access(path, F_OK) != 0 || rundir_has_states(directory) || rundir_moves(directory)) return STATUS_OK;
  return config_refuse(
      config, "restart", "from",
      "output.directory = %s holds results of a run that has ended, and no snapshot; accepted: "
      "a directory with snapshots (output.fields_every or output.checkpoint_every keeps some); "
      "or none, for a start at t = 0",
      directory);
}

status restart_check_directory(const config *config) {
  char above[PATH_MAX], missing[NAME_MAX + 1], found[PATH_MAX] = "";
  const char *rest = NULL;
  if (!restart_from_latest(config)) return STATUS_OK;
  CHECK(check_ended(config));
  if (!split_missing(config->directory, above, missing, &rest)) return STATUS_OK;
  DIR *entries = opendir(above);
  if (entries == NULL) return STATUS_OK;
  for (const struct dirent *entry = readdir(entries); entry != NULL; entry = readdir(entries)) {
    char path[PATH_MAX + 2 * NAME_MAX];
    const char *folder = strcmp(above, ".") == 0 ? "" : above;
    (void)snprintf(path, sizeof path, "%s%s%s", folder, entry->d_name, rest);
    if (is_mistyped(missing, entry->d_name) && is_same_problem(config, path))
      (void)snprintf(found, sizeof found, "%.*s", PATH_MAX - 1, path);
  }
  (void)closedir(entries);
  if (found[0] == '\0') return STATUS_OK;
  return config_refuse(
      config, "restart", "from",
      "output.directory = %s is not there, and %.300s holds snapshots of this problem; accepted: "
      "that directory; or none, for a start at t = 0",
      config->directory, found);
}
