#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "files/rundir_parts.h"

/* A move of results. */
typedef struct move {
  char previous[64];
  long long after;    /* states of later steps; -1: all results */
  const char *folder; /* whose files move_file moves */
} move;

/* target: the new name, seen from the directory. */
static status rename_to(const char *directory, const char *name, const char *target) {
  char from[PATH_MAX], to[PATH_MAX];
  CHECK(file_path(directory, name, from, sizeof from));
  CHECK(file_path(directory, target, to, sizeof to));
  return rename(from, to) == 0 ? STATUS_OK : rundir_failure(from, "cannot be moved away");
}

static status move_one(const char *directory, const char *name, void *user) {
  const move *move = user;
  char target[NAME_MAX + 66];
  long long step = 0;
  const int goes =
      move->after < 0 ? rundir_is_result(name) : rundir_is_of_step(name, &step) && step > move->after;
  if (!goes) return STATUS_OK;
  (void)snprintf(target, sizeof target, "%s/%s", move->previous, name);
  return rename_to(directory, name, target);
}

/* Moves the index first, so that it never names a file that has been moved away. */
static status move_all(const char *directory, move *move) {
  char path[PATH_MAX];
  for (int i = 0; i < RUNDIR_RESULTS; i++) {
    CHECK(file_path(directory, rundir_results[i], path, sizeof path));
    if (access(path, F_OK) == 0) CHECK(move_one(directory, rundir_results[i], move));
  }
  return rundir_each_name(directory, move_one, move);
}

/* Moves a result of a later step from a folder to the same folder in the target. */
static status move_file(const char *directory, const char *name, void *user) {
  const move *move = user;
  char target[NAME_MAX + 128];
  long long step = 0;
  if (!rundir_is_slice(name, &step) || step <= move->after) return STATUS_OK;
  (void)snprintf(target, sizeof target, "../%s/%s/%s", move->previous, move->folder, name);
  return rename_to(directory, name, target);
}

static status move_folder_files(const char *directory, const char *name, move *move) {
  char target[128], from[PATH_MAX], to[PATH_MAX];
  (void)snprintf(target, sizeof target, "%s/%s", move->previous, name);
  CHECK(file_path(directory, name, from, sizeof from));
  CHECK(file_path(directory, target, to, sizeof to));
  if (move->after < 0 || access(from, F_OK) != 0) return STATUS_OK;
  CHECK(rundir_make_directory(to));
  move->folder = name;
  CHECK(rundir_each_name(from, move_file, move));
  CHECK(file_sync_directory(to));
  return file_sync_directory(from);
}

/* Makes an announced move; the announcement is removed when everything moved is on the disk. */
static status move_announced(const char *directory, move *move) {
  char path[PATH_MAX];
  CHECK(move_all(directory, move));
  for (int i = 0; i < RUNDIR_FOLDERS; i++) CHECK(move_folder_files(directory, rundir_folders[i], move));
  CHECK(file_path(directory, move->previous, path, sizeof path));
  CHECK(file_sync_directory(path));
  CHECK(file_sync_directory(directory));
  CHECK(file_path(directory, RUNDIR_MOVING, path, sizeof path));
  if (unlink(path) != 0) return rundir_failure(path, "cannot be removed");
  return file_sync_directory(directory);
}

status rundir_move(const char *directory, const char *previous, int64_t after) {
  move move = {.after = after};
  char text[128];
  (void)snprintf(move.previous, sizeof move.previous, "%s", previous);
  (void)snprintf(text, sizeof text, "%s %" PRId64 "\n", previous, after);
  CHECK(file_write_whole(directory, RUNDIR_MOVING, text));
  return move_announced(directory, &move);
}

/* Reads the announced move of a run that was killed. */
static status read_move(const char *directory, move *move, int *found) {
  char path[PATH_MAX];
  char text[128] = "";
  char end = '\0';
  int descriptor = -1;
  CHECK(file_path(directory, RUNDIR_MOVING, path, sizeof path));
  CHECK(file_open_regular(path, &descriptor));
  *found = descriptor >= 0;
  if (!*found) return STATUS_OK;
  const ssize_t length = pread(descriptor, text, sizeof text - 1, 0);
  const int whole = length > 0 && sscanf(text, "%63s %lld%c", move->previous, &move->after, &end) == 3 &&
                    end == '\n' && move->after >= -1 && strncmp(move->previous, "previous_", 9) == 0 &&
                    strchr(move->previous, '/') == NULL;
  (void)close(descriptor);
  if (whole) return STATUS_OK;
  return status_fail(
      STATUS_FILE,
      "%s: is not as a run leaves it; it should say where earlier results were being moved to: "
      "move them by hand, then remove it",
      path);
}

status rundir_finish_move(const char *directory) {
  move move;
  char to[PATH_MAX];
  int found = 0;
  CHECK(read_move(directory, &move, &found));
  if (!found) return STATUS_OK;
  CHECK(file_path(directory, move.previous, to, sizeof to));
  if (mkdir(to, 0777) != 0 && errno != EEXIST) return rundir_failure(to, "cannot be made");
  CHECK(move_announced(directory, &move));
  log_info("output     results that a run had begun to move are all in %s now\n", to);
  return STATUS_OK;
}

int rundir_moves(const char *directory) {
  char path[PATH_MAX];
  const int named = file_path(directory, RUNDIR_MOVING, path, sizeof path) == STATUS_OK;
  return named && access(path, F_OK) == 0;
}

status rundir_previous(const char *directory, char name[64]) {
  char path[PATH_MAX];
  for (int number = 1;; number++) {
    (void)snprintf(name, 64, "previous_%d", number);
    CHECK(file_path(directory, name, path, sizeof path));
    if (mkdir(path, 0777) == 0) return STATUS_OK;
    if (errno != EEXIST) return rundir_failure(path, "cannot be made");
  }
}

static status find_result(const char *directory, const char *name, void *user) {
  (void)directory;
  if (rundir_is_result(name)) *(int *)user = 1;
  return STATUS_OK;
}

status rundir_set_aside(const rundir *rundir, char moved[64]) {
  int found = 0;
  moved[0] = '\0';
  CHECK(rundir_each_name(rundir->path, find_result, &found));
  if (!found) return STATUS_OK;
  CHECK(rundir_previous(rundir->path, moved));
  return rundir_move(rundir->path, moved, -1);
}

status rundir_set_aside_one(const rundir *rundir, const char *name, char moved[64]) {
  move move = {.after = -1};
  char path[PATH_MAX];
  CHECK(rundir_previous(rundir->path, moved));
  (void)snprintf(move.previous, sizeof move.previous, "%s", moved);
  CHECK(move_one(rundir->path, name, &move));
  CHECK(file_path(rundir->path, moved, path, sizeof path));
  CHECK(file_sync_directory(path)); /* the new place before the old one */
  return file_sync_directory(rundir->path);
}

/* Copies a complete file; a missing one is skipped. */
static status copy_file(const char *directory, const char *name, const char *to) {
  char path[PATH_MAX];
  struct stat info;
  int descriptor = -1;
  CHECK(file_path(directory, name, path, sizeof path));
  CHECK(file_open_regular(path, &descriptor));
  if (descriptor < 0) return STATUS_OK;
  status result = fstat(descriptor, &info) == 0 ? STATUS_OK : rundir_failure(path, "cannot be read");
  const size_t size = result == STATUS_OK ? (size_t)info.st_size : 0;
  char *text = calloc(size + 1, 1);
  if (text == NULL) result = status_fail(STATUS_MEMORY, "no memory for a copy of %s", path);
  if (result == STATUS_OK) result = file_read_at(descriptor, path, text, size, 0);
  if (result == STATUS_OK) result = file_write_bytes(to, name, text, size);
  free(text);
  (void)close(descriptor);
  return result;
}

status rundir_copy_results(const char *directory, const char *previous) {
  char to[PATH_MAX];
  CHECK(file_path(directory, previous, to, sizeof to));
  /* without the index, which is the first: it lists the states of its own directory */
  for (int i = 1; i < RUNDIR_RESULTS; i++) CHECK(copy_file(directory, rundir_results[i], to));
  return STATUS_OK;
}
