#include "output/rundir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"

/* What a run leaves besides its states; the index first, so that it never names what has been moved away. */
static const char *const results[] = {RUNDIR_INDEX, RUNDIR_DIAGNOSTICS, RUNDIR_CONFIG,
                                      RUNDIR_PERF,  RUNDIR_HASHES,      RUNDIR_PROBES};
enum { RESULTS = sizeof results / sizeof results[0] };

/* Directories of results by step, with their indices. */
static const char *const folders[] = {RUNDIR_SLICES, RUNDIR_FIELDS};
enum { FOLDERS = sizeof folders / sizeof folders[0] };

/* "previous_N STEP": where results are being moved to, and after which step. */
static const char moving[] = ".moving";

static status failure(const char *path, const char *what) {
  return status_fail(STATUS_FILE, "%s: %s: %s", path, what, strerror(errno));
}

void rundir_state_name(int64_t step, char name[64]) {
  (void)snprintf(name, 64, "state_%08" PRId64 ".hdf", step);
}

int rundir_is_state(const char *name, long long *step) {
  static const char prefix[] = "state_";
  if (strncmp(name, prefix, sizeof prefix - 1) != 0) return 0;
  char *end = NULL;
  const long long number = strtoll(name + sizeof prefix - 1, &end, 10);
  char expected[64];
  /* Written back and compared: exactly one name for each step. */
  rundir_state_name(number, expected);
  if (number < 0 || strcmp(expected, name) != 0) return 0;
  if (step != NULL) *step = number;
  return 1;
}

int rundir_is_slice(const char *name, long long *step) {
  const char *number = strrchr(name, '_');
  char expected[64];
  if (number == NULL || sscanf(number, "_%8lld", step) != 1 || *step < 0) return 0;
  (void)snprintf(expected, sizeof expected, "_%08lld.hdf", *step);
  return strcmp(number, expected) == 0;
}

/* Shortens path to its parent directory. */
static void cut_last(char *path) {
  char *slash = strrchr(path, '/');
  if (slash == NULL) {
    (void)strcpy(path, ".");
  } else {
    slash[slash == path] = '\0';
  }
}

status rundir_check(const char *path) {
  char place[PATH_MAX];
  if (path[0] == '\0' || strlen(path) >= sizeof place) {
    return status_fail(STATUS_FILE, "output.directory: a path of 1 to %zu bytes is needed", sizeof place - 1);
  }
  (void)strcpy(place, path);
  struct stat info;
  while (stat(place, &info) != 0) {
    /* ENOTDIR: something above is a file; the loop ends there and says so. */
    if ((errno != ENOENT && errno != ENOTDIR) || strcmp(place, ".") == 0)
      return failure(place, "cannot be used");
    cut_last(place);
  }
  if (!S_ISDIR(info.st_mode)) return status_fail(STATUS_FILE, "%s: is not a directory", place);
  if (access(place, W_OK | X_OK) != 0) return failure(place, "cannot be written into");
  return STATUS_OK;
}

/* Makes a directory that may be there, and brings its name to the disk: without that a power cut takes what
 * is in it. A parent that may not be read cannot be asked. */
static status make_directory(const char *path) {
  char parent[PATH_MAX];
  if (mkdir(path, 0777) != 0) return errno == EEXIST ? STATUS_OK : failure(path, "cannot be made");
  (void)snprintf(parent, sizeof parent, "%s", path);
  cut_last(parent);
  return access(parent, R_OK) == 0 ? file_sync_directory(parent) : STATUS_OK;
}

static status make_directories(const char *path) {
  char place[PATH_MAX];
  (void)snprintf(place, sizeof place, "%s", path);
  for (char *slash = strchr(place + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    CHECK(make_directory(place));
    *slash = '/';
  }
  return make_directory(place);
}

/* Who holds the lock, as its file says. */
static status in_use(const char *path, int descriptor) {
  char owner[256] = "";
  const ssize_t length = pread(descriptor, owner, sizeof owner - 1, 0);
  if (length <= 0) (void)strcpy(owner, "another process");
  owner[strcspn(owner, "\n")] = '\0';
  return status_fail(STATUS_FILE, "%s: in use by %s", path, owner);
}

static status take_lock(rundir *rundir) {
  char path[PATH_MAX];
  CHECK(file_path(rundir->path, ".lock", path, sizeof path));
  const int descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (descriptor < 0) return failure(path, "cannot be made");

  status result = STATUS_OK;
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  if (fcntl(descriptor, F_SETLK, &lock) == 0) {
    char host[128] = "";
    char text[256];
    (void)gethostname(host, sizeof host - 1);
    (void)snprintf(text, sizeof text, "process %ld on %s\n", (long)getpid(), host);
    if (ftruncate(descriptor, 0) != 0) result = failure(path, "cannot be written");
    if (result == STATUS_OK) result = file_write_at(descriptor, path, text, strlen(text), 0);
    if (result == STATUS_OK) rundir->lock = descriptor;
  } else if (errno == EAGAIN || errno == EACCES) {
    result = in_use(rundir->path, descriptor);
  } else {
    log_warning("%s: no lock (%s): a second run in this directory would not be refused", path,
                strerror(errno));
  }
  if (rundir->lock != descriptor) (void)close(descriptor);
  return result;
}

/* Calls `visit` for every name in the directory until one call fails. */
static status each_name(const char *directory,
                        status (*visit)(const char *directory, const char *name, void *user), void *user) {
  DIR *entries = opendir(directory);
  if (entries == NULL) return failure(directory, "cannot be listed");
  status result = STATUS_OK;
  const char *name = NULL;
  while ((result = file_next_name(entries, directory, &name)) == STATUS_OK && name != NULL) {
    result = visit(directory, name, user);
    if (result != STATUS_OK) break;
  }
  (void)closedir(entries);
  return result;
}

static int is_in(const char *const *list, const char *word, size_t length) {
  while (*list != NULL && (strlen(*list) != length || strncmp(*list, word, length) != 0)) list++;
  return *list != NULL;
}

/* What fdplot leaves in a run's directory if nobody chooses another name. */
static int is_picture(const char *name) {
  static const char *const stems[] = {"slices", "history", "movie", "spectrum", "watch", NULL};
  static const char *const endings[] = {"png", "pdf", "svg", "jpg", "webp", "gif", "mp4", NULL};
  const char *dot = strrchr(name, '.');
  return dot != NULL && is_in(stems, name, (size_t)(dot - name)) && is_in(endings, dot + 1, strlen(dot + 1));
}

static int is_result(const char *name) {
  for (int i = 0; i < RESULTS; i++) {
    if (strcmp(name, results[i]) == 0) return 1;
  }
  for (int i = 0; i < FOLDERS; i++) {
    if (strcmp(name, folders[i]) == 0) return 1;
  }
  return rundir_is_state(name, NULL) || is_picture(name);
}

static int is_slice_result(const char *name) {
  static const char ending[] = ".hdf.series";
  long long step = 0;
  const size_t length = strlen(name);
  return rundir_is_slice(name, &step) ||
         (length > sizeof ending && strcmp(name + length - (sizeof ending - 1), ending) == 0);
}

static status remove_partial(const char *directory, const char *name, void *user) {
  (void)user;
  const size_t length = strlen(name);
  const size_t ending = strlen(FILE_PARTIAL);
  char whole[NAME_MAX + 1];
  char path[PATH_MAX];
  if (length <= ending || strcmp(name + length - ending, FILE_PARTIAL) != 0) return STATUS_OK;
  (void)snprintf(whole, sizeof whole, "%.*s", (int)(length - ending), name);
  if (!is_result(whole) && strcmp(whole, moving) != 0 && !is_slice_result(whole)) return STATUS_OK;
  CHECK(file_path(directory, name, path, sizeof path));
  return unlink(path) == 0 ? STATUS_OK : failure(path, "cannot be removed");
}

static status remove_partials(const char *directory) {
  char path[PATH_MAX];
  CHECK(each_name(directory, remove_partial, NULL));
  for (int i = 0; i < FOLDERS; i++) {
    CHECK(file_path(directory, folders[i], path, sizeof path));
    if (access(path, F_OK) == 0) CHECK(each_name(path, remove_partial, NULL));
  }
  return STATUS_OK;
}

/* Results on their way. */
typedef struct move {
  char previous[64];
  long long after; /* states of later steps; -1: all results */
} move;

static status move_one(const char *directory, const char *name, void *user) {
  const move *move = user;
  char from[PATH_MAX];
  char to[PATH_MAX];
  char target[NAME_MAX + 66];
  long long step = 0;
  const int goes = move->after < 0 ? is_result(name) : rundir_is_state(name, &step) && step > move->after;
  if (!goes) return STATUS_OK;
  (void)snprintf(target, sizeof target, "%s/%s", move->previous, name);
  CHECK(file_path(directory, name, from, sizeof from));
  CHECK(file_path(directory, target, to, sizeof to));
  return rename(from, to) == 0 ? STATUS_OK : failure(from, "cannot be set aside");
}

/* The index first, so that it never names what has been moved away. */
static status move_all(const char *directory, move *move) {
  char path[PATH_MAX];
  for (int i = 0; i < RESULTS; i++) {
    CHECK(file_path(directory, results[i], path, sizeof path));
    if (access(path, F_OK) == 0) CHECK(move_one(directory, results[i], move));
  }
  return each_name(directory, move_one, move);
}

/* Results of later steps from a folder into the same one there. */
typedef struct move_folder {
  const move *move;
  const char *name;
} move_folder;

static status move_file(const char *directory, const char *name, void *user) {
  const move_folder *folder = user;
  const move *move = folder->move;
  char target[NAME_MAX + 128], from[PATH_MAX], to[PATH_MAX];
  long long step = 0;
  if (!rundir_is_slice(name, &step) || step <= move->after) return STATUS_OK;
  (void)snprintf(target, sizeof target, "../%s/%s/%s", move->previous, folder->name, name);
  CHECK(file_path(directory, name, from, sizeof from));
  CHECK(file_path(directory, target, to, sizeof to));
  return rename(from, to) == 0 ? STATUS_OK : failure(from, "cannot be set aside");
}

static status move_folder_files(const char *directory, const char *name, const move *move) {
  move_folder folder = {.move = move, .name = name};
  char target[128], from[PATH_MAX], to[PATH_MAX];
  (void)snprintf(target, sizeof target, "%s/%s", move->previous, name);
  CHECK(file_path(directory, name, from, sizeof from));
  CHECK(file_path(directory, target, to, sizeof to));
  if (move->after < 0 || access(from, F_OK) != 0) return STATUS_OK;
  CHECK(make_directory(to));
  CHECK(each_name(from, move_file, &folder));
  CHECK(file_sync_directory(to));
  return file_sync_directory(from);
}

/* A move that has been announced: the word of it goes when all that has moved is on the disk. */
static status move_announced(const char *directory, move *move) {
  char path[PATH_MAX];
  CHECK(move_all(directory, move));
  for (int i = 0; i < FOLDERS; i++) CHECK(move_folder_files(directory, folders[i], move));
  CHECK(file_path(directory, move->previous, path, sizeof path));
  CHECK(file_sync_directory(path));
  CHECK(file_sync_directory(directory));
  CHECK(file_path(directory, moving, path, sizeof path));
  if (unlink(path) != 0) return failure(path, "cannot be removed");
  return file_sync_directory(directory);
}

status rundir_move(const char *directory, const char *previous, int64_t after) {
  move move = {.after = after};
  char text[128];
  (void)snprintf(move.previous, sizeof move.previous, "%s", previous);
  (void)snprintf(text, sizeof text, "%s %" PRId64 "\n", previous, after);
  CHECK(file_write_whole(directory, moving, text));
  return move_announced(directory, &move);
}

/* What a run that died was moving. */
static status read_move(const char *directory, move *move, int *found) {
  char path[PATH_MAX];
  char text[128] = "";
  char end = '\0';
  int descriptor = -1;
  CHECK(file_path(directory, moving, path, sizeof path));
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

static status finish_move(const char *directory) {
  move move;
  char to[PATH_MAX];
  int found = 0;
  CHECK(read_move(directory, &move, &found));
  if (!found) return STATUS_OK;
  CHECK(file_path(directory, move.previous, to, sizeof to));
  if (mkdir(to, 0777) != 0 && errno != EEXIST) return failure(to, "cannot be made");
  CHECK(move_announced(directory, &move));
  log_info("output     results that a run had begun to move are all in %s now\n", to);
  return STATUS_OK;
}

int rundir_moves(const char *directory) {
  char path[PATH_MAX];
  const int named = file_path(directory, moving, path, sizeof path) == STATUS_OK;
  return named && access(path, F_OK) == 0;
}

status rundir_open(const char *path, rundir *rundir) {
  rundir->lock = -1;
  rundir->path[0] = '\0';
  CHECK(rundir_check(path));
  (void)snprintf(rundir->path, sizeof rundir->path, "%s", path);
  CHECK(make_directories(path));
  CHECK(take_lock(rundir));
  char fields[PATH_MAX];
  status result = remove_partials(path);
  if (result == STATUS_OK) result = finish_move(path);
  if (result == STATUS_OK) result = file_path(path, RUNDIR_FIELDS, fields, sizeof fields);
  if (result == STATUS_OK) result = finish_move(fields); /* its kept snapshots of later steps */
  if (result != STATUS_OK) rundir_close(rundir);
  return result;
}

status rundir_make_fields(const rundir *rundir) {
  char path[PATH_MAX];
  CHECK(file_path(rundir->path, RUNDIR_FIELDS, path, sizeof path));
  return make_directory(path);
}

void rundir_close(rundir *rundir) {
  if (rundir->lock >= 0) (void)close(rundir->lock);
  rundir->lock = -1;
}

status rundir_check_held(const rundir *rundir) {
  char path[PATH_MAX];
  struct stat held;
  struct stat there;
  if (rundir->lock < 0) return STATUS_OK;
  CHECK(file_path(rundir->path, ".lock", path, sizeof path));
  if (fstat(rundir->lock, &held) != 0) return failure(path, "cannot be read");
  /* Where nothing is, nobody has taken the place. */
  if (stat(path, &there) != 0 || (held.st_dev == there.st_dev && held.st_ino == there.st_ino))
    return STATUS_OK;
  return status_fail(STATUS_FILE, "%s: is another run's by now: this one's directory has been replaced",
                     rundir->path);
}

status rundir_previous(const char *directory, char name[64]) {
  char path[PATH_MAX];
  for (int number = 1;; number++) {
    (void)snprintf(name, 64, "previous_%d", number);
    CHECK(file_path(directory, name, path, sizeof path));
    if (mkdir(path, 0777) == 0) return STATUS_OK;
    if (errno != EEXIST) return failure(path, "cannot be made");
  }
}

static status find_result(const char *directory, const char *name, void *user) {
  (void)directory;
  if (is_result(name)) *(int *)user = 1;
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
  CHECK(each_name(directory, find_first, &first));
  *began = first >= step;
  return STATUS_OK;
}

status rundir_set_aside(const rundir *rundir, char moved[64]) {
  int found = 0;
  moved[0] = '\0';
  CHECK(each_name(rundir->path, find_result, &found));
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
  CHECK(file_sync_directory(path)); /* where it is, before where it was */
  return file_sync_directory(rundir->path);
}

/* A whole text file; one that is not there is none to copy. */
static status copy_text(const char *directory, const char *name, const char *to) {
  char path[PATH_MAX];
  struct stat info;
  int descriptor = -1;
  CHECK(file_path(directory, name, path, sizeof path));
  CHECK(file_open_regular(path, &descriptor));
  if (descriptor < 0) return STATUS_OK;
  status result = fstat(descriptor, &info) == 0 ? STATUS_OK : failure(path, "cannot be read");
  const size_t size = result == STATUS_OK ? (size_t)info.st_size : 0;
  char *text = calloc(size + 1, 1);
  if (text == NULL) result = status_fail(STATUS_MEMORY, "no memory for a copy of %s", path);
  if (result == STATUS_OK) result = file_read_at(descriptor, path, text, size, 0);
  if (result == STATUS_OK) result = file_write_whole(to, name, text);
  free(text);
  (void)close(descriptor);
  return result;
}

status rundir_copy_results(const char *directory, const char *previous) {
  char to[PATH_MAX];
  CHECK(file_path(directory, previous, to, sizeof to));
  /* But the index, which comes first: it is of the states in a directory. */
  for (int i = 1; i < RESULTS; i++) CHECK(copy_text(directory, results[i], to));
  return STATUS_OK;
}

status rundir_write(const rundir *rundir, const char *name, const char *text) {
  CHECK(rundir_check_held(rundir));
  return file_write_whole(rundir->path, name, text);
}
