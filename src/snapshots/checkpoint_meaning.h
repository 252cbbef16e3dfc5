#ifndef FDAPP_SNAPSHOTS_CHECKPOINT_MEANING_H
#define FDAPP_SNAPSHOTS_CHECKPOINT_MEANING_H

#include <hdf5.h>

#include "snapshots/checkpoint_block.h"

/* The meaning of a snapshot is what it says besides its values: the text block, the attributes that are read,
 * and type, shape and place of each dataset. A program that adds an attribute, or writes one again, changes
 * bytes and not the meaning. Then the checksum of the bytes differs, and the checksum of the meaning decides
 * whether the file is damaged. Private to this folder.
 *
 * A dataset of the file holds XXH3 of the meaning. Files of older versions have no such dataset, and only
 * their bytes count. */

/* Makes the dataset in a new file, which checkpoint_meaning_write fills once the file's structure is complete
 * and the block's offsets are known. [out] offset: its place. */
status checkpoint_meaning_reserve(hid_t file, const char *path, int64_t *offset);
/* [out] hash: of what the open file says. STATUS_DAMAGED. */
status checkpoint_meaning_hash(hid_t file, const char *path, const checkpoint_block *block, uint64_t *hash);

/* STATUS_OK if the file says what it said when it was written. HDF5 reports most damage that it meets; if it
 * crashes or hangs, the program ends with a message that names the file, and the exit code of STATUS_DAMAGED.
 */
status checkpoint_meaning_verify(const char *path, const checkpoint_block *block);

#endif
