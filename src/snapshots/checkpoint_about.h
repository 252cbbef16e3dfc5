#ifndef FDAPP_SNAPSHOTS_CHECKPOINT_ABOUT_H
#define FDAPP_SNAPSHOTS_CHECKPOINT_ABOUT_H

#include "snapshots/checkpoint_file.h"

/* The group /fdapp of a snapshot: what it says of itself in attributes, and what an equation remembers.
 * Private to this folder. What is read is of an open file whose block has been verified. */

/* Writes the data for resuming of the job that has begun, and the provenance. [out] offset: of the planes'
 * checksums. STATUS_FILE. */
status checkpoint_about_write(hid_t file, const char *path, const checkpoint *checkpoint, int64_t *offset);

/* Reads the data of a state besides its fields and checks it against the block. STATUS_DAMAGED. */
status checkpoint_about_state(hid_t file, const char *path, const checkpoint_block *block,
                              checkpoint_state *state);

/* Reads the memory and checks it against its checksum. [out] values: `count` numbers, zeros if the file has
 * another number of them; NULL: the check alone. STATUS_DAMAGED, STATUS_MEMORY. */
status checkpoint_about_memory(hid_t file, const char *path, const checkpoint_block *block, int64_t count,
                               void *values);

/* Reads the grid's spacing. STATUS_DAMAGED. */
status checkpoint_about_spacing(hid_t file, const char *path, double spacing[3]);

/* Reads the configuration that wrote the file. [out] text: the caller frees it, whatever the status.
 * STATUS_DAMAGED, STATUS_MEMORY. */
status checkpoint_about_configuration(hid_t file, const char *path, char **text);

#endif
