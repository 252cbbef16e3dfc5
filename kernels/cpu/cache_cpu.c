#include "cpu.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

/* Reads the first line of a file that describes a cache; empty if there is none. */
static void cache_line(const char *root, int cpu, int index, const char *name, char *line, int size) {
  char path[PATH_MAX];
  line[0] = '\0';
  (void)snprintf(path, sizeof path, "%s/cpu%d/cache/index%d/%s", root, cpu, index, name);
  FILE *file = fopen(path, "r");
  if (file == NULL) return;
  if (fgets(line, size, file) == NULL) line[0] = '\0';
  (void)fclose(file);
}

/* Number of processors in a map: hexadecimal digits with commas between words. */
static int map_count(const char *map) {
  int count = 0;
  for (; *map != '\0'; map++) {
    const char digit[2] = {*map, '\0'};
    count += __builtin_popcountl(strtoul(digit, NULL, 16));
  }
  return count;
}

size_t last_cache_cpu(const char *root, int cpu, int threads) {
  char line[4096];
  int last = -1;
  long level = 0;
  for (int index = 0;; index++) {
    cache_line(root, cpu, index, "level", line, sizeof line);
    if (line[0] == '\0') break;
    if (strtol(line, NULL, 10) <= level) continue;
    level = strtol(line, NULL, 10);
    last = index;
  }
  if (last < 0) return 0;
  cache_line(root, cpu, last, "shared_cpu_map", line, sizeof line);
  const int processors = map_count(line);
  cache_line(root, cpu, last, "size", line, sizeof line); /* "32768K" */
  const long size = strtol(line, NULL, 10);
  if (processors < 1 || size < 1) return 0;
  return (size_t)size * 1024 * (size_t)((threads + processors - 1) / processors);
}
