#ifndef FDAPP_BASE_GROUPS_H
#define FDAPP_BASE_GROUPS_H

#include <stddef.h>

/* Limits of control groups (containers, batch systems) on this process: the minimum over its own group and
 * all above it, in version 1 and version 2 of the kernel's interface (Linux,
 * Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/).
 *
 * groups: the file that lists the process's groups, GROUPS_OF_PROCESS. root: where the groups' trees are
 * mounted, GROUPS_ROOT. Tests use others. Not collective; a file that cannot be read means no limit. */
#define GROUPS_OF_PROCESS "/proc/self/cgroup"
#define GROUPS_ROOT       "/sys/fs/cgroup"

/* Bytes that this process and the others of its groups can still allocate before the kernel, or a batch
 * system that watches the limit, kills one of them. SIZE_MAX without a limit. */
size_t groups_memory(const char *groups, const char *root);

/* Number of processors whose time the group may use: quota divided by period, at least 1, INT_MAX without a
 * quota. Rounded down, because one thread more would be stopped for a part of each period. */
int groups_processors(const char *groups, const char *root);

#endif
