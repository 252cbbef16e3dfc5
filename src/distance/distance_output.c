#include "distance/distance_output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "settings/settings.h"

status distance_output_split(const char *path, char directory[DISTANCE_PATH], const char **name) {
  const char *slash = strrchr(path, '/');
  *name = slash == NULL ? path : slash + 1;
  (void)snprintf(directory, DISTANCE_PATH, "%.*s", slash == NULL ? 1 : (int)(slash - path) + (slash == path),
                 slash == NULL ? "." : path);
  if ((*name)[0] == '\0')
    return status_fail(STATUS_USAGE, "%s: a directory; accepted: the name of a file", path);
  return strlen(directory) < CONFIG_PATH_SIZE ? STATUS_OK : status_fail(STATUS_USAGE, "%s: too long", path);
}

/* Returns 1 if both paths lead to one file. */
static int same_file(const char *one, const char *other) {
  struct stat a, b;
  return stat(one, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

status distance_output_check(const distance_options *options) {
  const char *path = options->output, *name = NULL;
  char directory[DISTANCE_PATH], partial[DISTANCE_PATH + sizeof FILE_PARTIAL];
  struct stat out;
  CHECK(distance_output_split(path, directory, &name));
  if (access(directory, W_OK | X_OK) != 0)
    return status_fail(STATUS_FILE, "%s: cannot be written there: %s", path, strerror(errno));
  if (stat(path, &out) == 0 && !S_ISREG(out.st_mode))
    return status_fail(STATUS_USAGE, "%s: exists and is no file", path);
  (void)snprintf(partial, sizeof partial, "%s" FILE_PARTIAL, path);
  for (const char *target = path; target != NULL; target = target == path ? partial : NULL) {
    if (same_file(options->input, target))
      return status_fail(STATUS_USAGE, "%s: is the input, which is never overwritten", target);
  }
  return STATUS_OK;
}
