#ifndef FDAPP_SNAPSHOTS_CHECKPOINT_CONFIG_H
#define FDAPP_SNAPSHOTS_CHECKPOINT_CONFIG_H

#include <stddef.h>

/* Whether a state is one of this run's problem. Private to the checkpoint room. */

enum { CHECKPOINT_NAMES = 256 };

/* Keys whose values differ, "section.key, section.key", as many as fit; "" if none does. problem: of what
 * decides the solution, that is physics, initial and velocity. method: of how it is approached: the form, the
 * scheme, the order. */
typedef struct checkpoint_differences {
  char problem[CHECKPOINT_NAMES], method[CHECKPOINT_NAMES];
} checkpoint_differences;

/* Compares two configurations as config_write writes them. A key that only one of them has is no difference.
 */
void checkpoint_config_compare(const char *theirs, const char *ours, checkpoint_differences *differences);

#endif
