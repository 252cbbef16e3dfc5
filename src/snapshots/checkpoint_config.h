#ifndef FDAPP_SNAPSHOTS_CHECKPOINT_CONFIG_H
#define FDAPP_SNAPSHOTS_CHECKPOINT_CONFIG_H

#include "snapshots/checkpoint.h"

/* Compares the configuration in a snapshot with this run's. */

enum { CHECKPOINT_NAMES = 256 };

/* Keys whose values differ, "section.key, section.key", as many as fit; "" if none does. problem: keys that
 * change the solution (physics, initial, velocity). method: keys that change its approximation (form, scheme,
 * order). grid: keys without which no snapshot can be resumed (grid, precision). */
typedef struct checkpoint_differences {
  char problem[CHECKPOINT_NAMES], method[CHECKPOINT_NAMES], grid[CHECKPOINT_NAMES];
} checkpoint_differences;

/* Compares two configurations written by config_write, `ours` from `config`. A key that only one of them has
 * is no difference, and a key without effect in this run does not change its problem. config: NULL for none.
 */
void checkpoint_config_compare(const config *config, const char *theirs, const char *ours,
                               checkpoint_differences *differences);

/* Refuses statistics up to a time whose samples are not those of this run's window up to that time. An end of
 * the window may differ if it lies after all states so far, or if the samples end before it. The
 * configurations are written by config_write. STATUS_FOREIGN. */
status checkpoint_config_window(const char *path, const char *theirs, const char *ours,
                                const checkpoint_state *about);

#endif
