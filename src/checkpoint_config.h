#ifndef FDAPP_CHECKPOINT_CONFIG_H
#define FDAPP_CHECKPOINT_CONFIG_H

#include <stddef.h>

/* Whether a state is one of this run's problem. Private to the checkpoint room. */

/* Compares two configurations as config_write writes them: what decides the solution, that is physics,
 * initial and velocity, but for physics.form, which like the scheme decides only how it is approached. [out]
 * names: the keys whose values differ, "section.key, section.key", as many as fit into `size` bytes; "" if
 * none does. A key that only one of them has is no difference. */
void checkpoint_config_compare(const char *theirs, const char *ours, char *names, size_t size);

#endif
