#ifndef FDAPP_BASE_GROUPS_H
#define FDAPP_BASE_GROUPS_H

#include <stddef.h>

/* Limits that control groups (containers, batch systems) put on this process. The least counts of its own
 * group and of all above it, in version 1 and version 2 of the kernel's interface (Linux,
 * Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/).
 *
 * groups: the process's groups as the kernel lists them, GROUPS_OF_PROCESS.
 * root: where the groups' trees are mounted, GROUPS_ROOT.
 * Both can be others for tests. Not collective; a file that cannot be read limits nothing. */
#define GROUPS_OF_PROCESS "/proc/self/cgroup"
#define GROUPS_ROOT       "/sys/fs/cgroup"

/* Bytes that this process and the others of its groups may still take before the kernel (or a batch system
 * that watches the limit) ends one of them. SIZE_MAX without a limit. */
size_t groups_memory(const char *groups, const char *root);

/* Processors whose time the processes of the group may take together: the quota divided by its period,
 * rounded down because a thread more would be stopped for part of each period, and 1 at least. INT_MAX
 * without a quota. */
int groups_processors(const char *groups, const char *root);

#endif
