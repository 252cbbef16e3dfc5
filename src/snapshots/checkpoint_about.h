#ifndef FDAPP_SNAPSHOTS_CHECKPOINT_ABOUT_H
#define FDAPP_SNAPSHOTS_CHECKPOINT_ABOUT_H

#include "snapshots/checkpoint_file.h"

/* The group /fdapp of a snapshot: what it says of itself in attributes, and what an equation remembers.
 * Private to this folder. */

/* Writes the data for resuming, and the provenance. [out] offset: of the planes' checksums. STATUS_FILE. */
status checkpoint_about_write(hid_t file, const char *path, const checkpoint_contents *contents,
                              int64_t *offset);

/* Reads the data of a state besides its fields and checks it against the block, which must have been
 * verified. STATUS_DAMAGED. */
status checkpoint_about_state(const char *path, const checkpoint_block *block, checkpoint_state *state);

/* Reads the `count` numbers of the memory; zeros if there are none or another number of them. The block must
 * have been verified. STATUS_DAMAGED. */
status checkpoint_about_memory(const char *path, precision precision, int64_t count, void *values);

/* Checks it against its checksum, if there is any. STATUS_DAMAGED, STATUS_MEMORY. */
status checkpoint_about_memory_verify(const char *path, const checkpoint_block *block);

/* Reads the grid's spacing. The block must have been verified. STATUS_DAMAGED. */
status checkpoint_about_spacing(const char *path, double spacing[3]);

/* Reads the configuration that wrote the file. The block must have been verified. [out] text: the caller
 * frees it, whatever the status. STATUS_DAMAGED, STATUS_MEMORY. */
status checkpoint_about_configuration(const char *path, char **text);

#endif
