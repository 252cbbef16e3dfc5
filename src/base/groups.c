#include "base/groups.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Reads one or two numbers at the start of a file; -1 for those that are missing ("max": no limit). */
static void read_numbers(const char *directory, const char *name, long long *first, long long *second) {
  char path[PATH_MAX + 64];
  long long ignored;
  if (second == NULL) second = &ignored;
  *first = *second = -1;
  (void)snprintf(path, sizeof path, "%s/%s", directory, name);
  FILE *file = fopen(path, "r");
  if (file == NULL) return;
  if (fscanf(file, "%lld %lld", first, second) < 1) *first = -1;
  (void)fclose(file);
}

static long long read_number(const char *directory, const char *name) {
  long long number;
  read_numbers(directory, name, &number, NULL);
  return number;
}

/* Bytes of file pages that the kernel would reclaim first. The group counts them as used, but they are
 * available. */
static long long read_reclaimable(const char *directory) {
  char path[PATH_MAX + 64];
  char line[128];
  long long number = 0;
  (void)snprintf(path, sizeof path, "%s/memory.stat", directory);
  FILE *file = fopen(path, "r");
  if (file == NULL) return 0;
  while (fgets(line, sizeof line, file) != NULL) {
    if (sscanf(line, "total_inactive_file %lld", &number) == 1) break; /* version 1 */
    (void)sscanf(line, "inactive_file %lld", &number);
  }
  (void)fclose(file);
  return number;
}

/* Reads what one group leaves, SIZE_MAX without a limit. unified: 1 for version 2 of the interface, 0 for
 * version 1. */
typedef size_t (*group_limit)(const char *directory, int unified);

static size_t memory_of(const char *directory, int unified) {
  const long long limit = read_number(directory, unified ? "memory.max" : "memory.limit_in_bytes");
  const long long all = read_number(directory, unified ? "memory.current" : "memory.usage_in_bytes");
  const long long used = all - read_reclaimable(directory);
  if (limit < 0) return SIZE_MAX;
  return limit > used ? (size_t)(limit - (used > 0 ? used : 0)) : 0;
}

static size_t processors_of(const char *directory, int unified) {
  long long quota;
  long long period;
  if (unified) {
    read_numbers(directory, "cpu.max", &quota, &period);
  } else {
    quota = read_number(directory, "cpu.cfs_quota_us");
    period = read_number(directory, "cpu.cfs_period_us");
  }
  if (quota < 0 || period <= 0) return SIZE_MAX;
  return quota > period ? (size_t)(quota / period) : 1;
}

/* Minimum over the group at root/tree/path and all groups above it. */
static size_t least_above(const char *root, const char *tree, const char *path, int unified,
                          group_limit limit) {
  char place[PATH_MAX];
  size_t least = SIZE_MAX;
  (void)snprintf(place, sizeof place, "%s%s%s", root, tree, path);
  const size_t top = strlen(root) + strlen(tree);
  for (;;) {
    const size_t here = limit(place, unified);
    if (here < least) least = here;
    char *slash = strrchr(place, '/');
    if (slash == NULL || (size_t)(slash - place) < top) return least;
    *slash = '\0';
  }
}

/* Returns 1 if a comma-separated list of version 1's controllers contains `name`. */
static int has_controller(char *list, const char *name) {
  for (char *rest = NULL, *word = strtok_r(list, ",", &rest); word != NULL;
       word = strtok_r(NULL, ",", &rest)) {
    if (strcmp(word, name) == 0) return 1;
  }
  return 0;
}

/* Minimum over all groups of the process. controller: its name in version 1, with the tree root/name. */
static size_t least_of_groups(const char *groups, const char *root, const char *controller,
                              group_limit limit) {
  size_t least = SIZE_MAX;
  char line[PATH_MAX];
  char tree[64];
  (void)snprintf(tree, sizeof tree, "/%s", controller);
  FILE *file = fopen(groups, "r");
  if (file == NULL) return least;
  while (fgets(line, sizeof line, file) != NULL) { /* "number:controllers:path" */
    line[strcspn(line, "\n")] = '\0';
    char *controllers = strchr(line, ':');
    char *path = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
    if (path == NULL) continue;
    *path++ = '\0';
    const int unified = controllers[1] == '\0';
    if (!unified && !has_controller(controllers + 1, controller)) continue;
    const size_t here = least_above(root, unified ? "" : tree, path, unified, limit);
    if (here < least) least = here;
  }
  (void)fclose(file);
  return least;
}

size_t groups_memory(const char *groups, const char *root) {
  return least_of_groups(groups, root, "memory", memory_of);
}

int groups_processors(const char *groups, const char *root) {
  const size_t least = least_of_groups(groups, root, "cpu", processors_of);
  return least < INT_MAX ? (int)least : INT_MAX;
}
