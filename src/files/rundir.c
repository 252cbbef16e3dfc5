#include "files/rundir.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "files/rundir_parts.h"

status rundir_failure(const char *path, const char *what) {
  return status_fail(STATUS_FILE, "%s: %s: %s", path, what, strerror(errno));
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
    /* ENOTDIR: a file is in the path; the loop ends there and reports it */
    if ((errno != ENOENT && errno != ENOTDIR) || strcmp(place, ".") == 0)
      return rundir_failure(place, "cannot be used");
    cut_last(place);
  }
  if (!S_ISDIR(info.st_mode)) return status_fail(STATUS_FILE, "%s: is not a directory", place);
  if (access(place, W_OK | X_OK) != 0) return rundir_failure(place, "cannot be written into");
  return STATUS_OK;
}

status rundir_make_directory(const char *path) {
  char parent[PATH_MAX];
  if (mkdir(path, 0777) != 0) return errno == EEXIST ? STATUS_OK : rundir_failure(path, "cannot be made");
  (void)snprintf(parent, sizeof parent, "%s", path);
  cut_last(parent);
  return access(parent, R_OK) == 0 ? file_sync_directory(parent) : STATUS_OK;
}

static status make_directories(const char *path) {
  char place[PATH_MAX];
  (void)snprintf(place, sizeof place, "%s", path);
  for (char *slash = strchr(place + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    CHECK(rundir_make_directory(place));
    *slash = '/';
  }
  return rundir_make_directory(place);
}

/* Reports the process that holds the lock, from the lock's file. */
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
  if (descriptor < 0) return rundir_failure(path, "cannot be made");

  status result = STATUS_OK;
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  if (fcntl(descriptor, F_SETLK, &lock) == 0) {
    char host[128] = "";
    char text[256];
    (void)gethostname(host, sizeof host - 1);
    (void)snprintf(text, sizeof text, "process %ld on %s\n", (long)getpid(), host);
    if (ftruncate(descriptor, 0) != 0) result = rundir_failure(path, "cannot be written");
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

status rundir_open(const char *path, rundir *rundir) {
  rundir->lock = -1;
  rundir->path[0] = '\0';
  CHECK(rundir_check(path));
  (void)snprintf(rundir->path, sizeof rundir->path, "%s", path);
  CHECK(make_directories(path));
  CHECK(take_lock(rundir));
  char fields[PATH_MAX];
  status result = rundir_remove_partials(path);
  if (result == STATUS_OK) result = rundir_finish_move(path);
  if (result == STATUS_OK) result = file_path(path, RUNDIR_FIELDS, fields, sizeof fields);
  /* Finishes a move of kept snapshots of later steps. */
  if (result == STATUS_OK) result = rundir_finish_move(fields);
  if (result != STATUS_OK) rundir_close(rundir);
  return result;
}

status rundir_make_fields(const rundir *rundir) {
  char path[PATH_MAX];
  CHECK(file_path(rundir->path, RUNDIR_FIELDS, path, sizeof path));
  return rundir_make_directory(path);
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
  if (fstat(rundir->lock, &held) != 0) return rundir_failure(path, "cannot be read");
  /* if the path does not exist, no other run has taken it */
  if (stat(path, &there) != 0 || (held.st_dev == there.st_dev && held.st_ino == there.st_ino))
    return STATUS_OK;
  return status_fail(STATUS_FILE, "%s: is another run's by now: this one's directory has been replaced",
                     rundir->path);
}

status rundir_write(const rundir *rundir, const char *name, const char *text) {
  CHECK(rundir_check_held(rundir));
  return file_write_whole(rundir->path, name, text);
}
