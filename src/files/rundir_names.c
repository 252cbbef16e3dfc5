#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "files/rundir_parts.h"

const char *const rundir_results[RUNDIR_RESULTS] = {RUNDIR_INDEX,    RUNDIR_DIAGNOSTICS, RUNDIR_CONFIG,
                                                    RUNDIR_PERF,     RUNDIR_HASHES,      RUNDIR_PROBES,
                                                    RUNDIR_RECEIVERS};
const char *const rundir_folders[RUNDIR_FOLDERS] = {RUNDIR_SLICES, RUNDIR_FIELDS};

void rundir_state_name(int64_t step, char name[64]) {
  (void)snprintf(name, 64, "state_%08" PRId64 ".hdf", step);
}

void rundir_statistics_name(int64_t step, char name[64]) {
  (void)snprintf(name, 64, "statistics_%08" PRId64 ".hdf", step);
}

/* Returns 1 if a name is `prefix` with a step; it is written back and compared, because each step has exactly
 * one name. */
static int is_of_step(const char *name, const char *prefix, long long *step) {
  const size_t length = strlen(prefix);
  char expected[64];
  if (strncmp(name, prefix, length) != 0) return 0;
  const long long number = strtoll(name + length, NULL, 10);
  (void)snprintf(expected, sizeof expected, "%s%08lld.hdf", prefix, number);
  if (number < 0 || strcmp(expected, name) != 0) return 0;
  if (step != NULL) *step = number;
  return 1;
}

int rundir_is_state(const char *name, long long *step) {
  return is_of_step(name, "state_", step);
}

int rundir_is_of_step(const char *name, long long *step) {
  return is_of_step(name, "state_", step) || is_of_step(name, "statistics_", step);
}

static status prune(const char *directory, const char *name, void *user) {
  const int64_t *newest = user;
  long long step = 0;
  char state[64], path[PATH_MAX];
  if (!is_of_step(name, "statistics_", &step) || step >= *newest) return STATUS_OK;
  rundir_state_name(step, state);
  CHECK(file_path(directory, state, path, sizeof path));
  if (access(path, F_OK) == 0) return STATUS_OK;
  CHECK(file_path(directory, name, path, sizeof path));
  return file_remove(path);
}

status rundir_prune_statistics(const char *directory, int64_t step) {
  return rundir_each_name(directory, prune, &step);
}

int rundir_is_slice(const char *name, long long *step) {
  const char *number = strrchr(name, '_');
  char expected[64];
  if (number == NULL || sscanf(number, "_%8lld", step) != 1 || *step < 0) return 0;
  (void)snprintf(expected, sizeof expected, "_%08lld.hdf", *step);
  return strcmp(number, expected) == 0;
}

static int is_in(const char *const *list, const char *word, size_t length) {
  while (*list != NULL && (strlen(*list) != length || strncmp(*list, word, length) != 0)) list++;
  return *list != NULL;
}

/* Returns the rest of a picture's name that begins with the name of its state; otherwise the whole name. */
static const char *picture_of(const char *name) {
  long long step = 0;
  char begin[64];
  if (sscanf(name, "state_%lld", &step) != 1 || step < 0) return name;
  (void)snprintf(begin, sizeof begin, "state_%08lld_", step);
  return strncmp(name, begin, strlen(begin)) == 0 ? name + strlen(begin) : name;
}

/* Returns 1 for the default names of pictures by fdplot and by the script for ParaView. Fields may follow
 * some of them, as in slices_gradient.png. */
static int is_picture(const char *name) {
  static const char *const stems[] = {"slices", "history", "movie", "spectrum", "watch", "paraview", NULL};
  static const char *const of_fields[] = {"slices", "movie", "spectrum", NULL};
  static const char *const endings[] = {"png", "pdf", "svg", "jpg", "webp", "gif", "mp4", NULL};
  const char *stem = picture_of(name);
  const char *dot = strrchr(stem, '.');
  return dot != NULL && is_in(endings, dot + 1, strlen(dot + 1)) &&
         (is_in(stems, stem, strcspn(stem, ".")) || is_in(of_fields, stem, strcspn(stem, "_")));
}

int rundir_is_result(const char *name) {
  for (int i = 0; i < RUNDIR_RESULTS; i++) {
    if (strcmp(name, rundir_results[i]) == 0) return 1;
  }
  for (int i = 0; i < RUNDIR_FOLDERS; i++) {
    if (strcmp(name, rundir_folders[i]) == 0) return 1;
  }
  return rundir_is_of_step(name, NULL) || is_picture(name);
}

static int is_slice_result(const char *name) {
  static const char ending[] = ".hdf.series";
  long long step = 0;
  const size_t length = strlen(name);
  return rundir_is_slice(name, &step) ||
         (length > sizeof ending && strcmp(name + length - (sizeof ending - 1), ending) == 0);
}

status rundir_each_name(const char *directory,
                        status (*visit)(const char *directory, const char *name, void *user), void *user) {
  DIR *entries = opendir(directory);
  if (entries == NULL) return rundir_failure(directory, "cannot be listed");
  status result = STATUS_OK;
  const char *name = NULL;
  while ((result = file_next_name(entries, directory, &name)) == STATUS_OK && name != NULL) {
    result = visit(directory, name, user);
    if (result != STATUS_OK) break;
  }
  (void)closedir(entries);
  return result;
}

static status remove_partial(const char *directory, const char *name, void *user) {
  (void)user;
  const size_t length = strlen(name);
  const size_t ending = strlen(FILE_PARTIAL);
  char whole[NAME_MAX + 1];
  char path[PATH_MAX];
  if (length <= ending || strcmp(name + length - ending, FILE_PARTIAL) != 0) return STATUS_OK;
  (void)snprintf(whole, sizeof whole, "%.*s", (int)(length - ending), name);
  if (!rundir_is_result(whole) && strcmp(whole, RUNDIR_MOVING) != 0 && !is_slice_result(whole))
    return STATUS_OK;
  CHECK(file_path(directory, name, path, sizeof path));
  return unlink(path) == 0 ? STATUS_OK : rundir_failure(path, "cannot be removed");
}

status rundir_remove_partials(const char *directory) {
  char path[PATH_MAX];
  CHECK(rundir_each_name(directory, remove_partial, NULL));
  for (int i = 0; i < RUNDIR_FOLDERS; i++) {
    CHECK(file_path(directory, rundir_folders[i], path, sizeof path));
    if (access(path, F_OK) == 0) CHECK(rundir_each_name(path, remove_partial, NULL));
  }
  return STATUS_OK;
}

static status find_first(const char *directory, const char *name, void *user) {
  (void)directory;
  long long *first = user, step = 0;
  if (rundir_is_state(name, &step) && step < *first) *first = step;
  return STATUS_OK;
}

status rundir_began_at(const char *directory, int64_t step, int *began) {
  long long first = LLONG_MAX;
  CHECK(rundir_each_name(directory, find_first, &first));
  *began = first >= step;
  return STATUS_OK;
}

static status find_state(const char *directory, const char *name, void *user) {
  (void)directory;
  if (rundir_is_state(name, NULL)) *(int *)user = 1;
  return STATUS_OK;
}

int rundir_has_states(const char *directory) {
  int found = 0;
  if (rundir_each_name(directory, find_state, &found) != STATUS_OK) status_clear();
  return found;
}

/* Returns 1 if an absolute path lies in a directory, whose path is absolute, too, among a run's results. */
static int is_below(const char *directory, const char *path) {
  const size_t length = strlen(directory);
  char name[NAME_MAX + 1];
  if (strncmp(path, directory, length) != 0 || path[length] != '/') return 0;
  (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(path + length + 1, "/"), path + length + 1);
  return rundir_is_result(name);
}

/* Follows the links of a path but for its last name. The caller frees it; NULL if there is no such folder. */
static char *follow_folder(const char *path) {
  const char *slash = strrchr(path, '/');
  char folder[PATH_MAX], *whole = NULL, *parent;
  (void)snprintf(folder, sizeof folder, "%.*s", slash != NULL ? (int)(slash - path) + 1 : 1,
                 slash != NULL ? path : ".");
  parent = realpath(folder, NULL);
  if (parent != NULL && asprintf(&whole, "%s/%s", parent, slash != NULL ? slash + 1 : path) < 0) whole = NULL;
  free(parent);
  return whole;
}

int rundir_owns(const char *directory, const char *path) {
  char *ours = realpath(directory, NULL), *meant = realpath(path, NULL), *named = follow_folder(path);
  const int owns =
      ours != NULL && ((meant != NULL && is_below(ours, meant)) || (named != NULL && is_below(ours, named)));
  free(ours);
  free(meant);
  free(named);
  return owns;
}
