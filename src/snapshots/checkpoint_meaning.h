#ifndef FDAPP_SNAPSHOTS_CHECKPOINT_MEANING_H
#define FDAPP_SNAPSHOTS_CHECKPOINT_MEANING_H

#include <hdf5.h>

#include "snapshots/checkpoint_block.h"

/* What a snapshot says besides its values: the text block, the attributes that are read, and type, shape and
 * place of each dataset. Other programs change bytes without touching that, when they add an attribute or
 * write one again as it was. Then the checksum of the bytes fails, and this decides. Private to this folder.
 *
 * The file has XXH3 of all this in a dataset; files of older versions do not, and for them the bytes alone
 * count. */

/* Makes the dataset in a new file, which checkpoint_meaning_write fills once the file's structure is complete
 * and the block's offsets are known. [out] offset: its place. */
status checkpoint_meaning_reserve(hid_t file, const char *path, int64_t *offset);
/* [out] hash: of what the open file says. STATUS_DAMAGED. */
status checkpoint_meaning_hash(hid_t file, const char *path, const checkpoint_block *block, uint64_t *hash);

/* STATUS_OK if the file says what it said when it was written. It is read in a process of its own, because
 * the HDF5 library may crash or hang on a file whose bytes are damaged. */
status checkpoint_meaning_verify(const char *path, const checkpoint_block *block);

#endif
