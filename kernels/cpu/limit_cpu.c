#include "cpu.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Names of one kind of control group: unified (version 2) or the memory controller's own tree (version 1). */
typedef struct group_files {
  const char *tree, *limit, *usage;
} group_files;

/* A number at the start of a file; -1 if there is none ("max": no limit). */
static long long read_number(const char *directory, const char *name) {
  char path[PATH_MAX + 64];
  long long number = -1;
  (void)snprintf(path, sizeof path, "%s/%s", directory, name);
  FILE *file = fopen(path, "r");
  if (file == NULL) return -1;
  if (fscanf(file, "%lld", &number) != 1) number = -1;
  (void)fclose(file);
  return number;
}

/* File pages that the group would give up first; counted as used, but free to whoever asks. */
static long long read_reclaimable(const char *directory) {
  char path[PATH_MAX + 64];
  char line[128];
  long long number = 0;
  (void)snprintf(path, sizeof path, "%s/memory.stat", directory);
  FILE *file = fopen(path, "r");
  if (file == NULL) return 0;
  while (fgets(line, sizeof line, file) != NULL) {
    if (sscanf(line, "total_inactive_file %lld", &number) == 1) break; /* version 1: with the groups below */
    (void)sscanf(line, "inactive_file %lld", &number);
  }
  (void)fclose(file);
  return number;
}

/* Room in the group at root/tree/path and in all above it. */
static size_t group_room(const char *root, const group_files *files, const char *path) {
  char place[PATH_MAX];
  size_t least = SIZE_MAX;
  (void)snprintf(place, sizeof place, "%s%s%s", root, files->tree, path);
  const size_t top = strlen(root) + strlen(files->tree);
  for (;;) {
    const long long limit = read_number(place, files->limit);
    const long long used = read_number(place, files->usage) - read_reclaimable(place);
    if (limit >= 0) {
      const size_t room = limit > used ? (size_t)(limit - (used > 0 ? used : 0)) : 0;
      if (room < least) least = room;
    }
    char *slash = strrchr(place, '/');
    if (slash == NULL || (size_t)(slash - place) < top) return least;
    *slash = '\0';
  }
}

size_t memory_limit_cpu(const char *groups, const char *root) {
  static const group_files unified = {"", "memory.max", "memory.current"};
  static const group_files controller = {"/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"};
  size_t least = SIZE_MAX;
  char line[PATH_MAX];
  FILE *file = fopen(groups, "r");
  if (file == NULL) return least;
  while (fgets(line, sizeof line, file) != NULL) { /* "number:controllers:path" */
    line[strcspn(line, "\n")] = '\0';
    char *controllers = strchr(line, ':');
    char *path = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
    if (path == NULL) continue;
    *path++ = '\0';
    const group_files *files = controllers[1] == '\0'                   ? &unified
                               : strcmp(controllers + 1, "memory") == 0 ? &controller
                                                                        : NULL;
    const size_t room = files != NULL ? group_room(root, files, path) : SIZE_MAX;
    if (room < least) least = room;
  }
  (void)fclose(file);
  return least;
}
