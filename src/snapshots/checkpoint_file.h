#ifndef FDAPP_SNAPSHOTS_CHECKPOINT_FILE_H
#define FDAPP_SNAPSHOTS_CHECKPOINT_FILE_H

#include "snapshots/checkpoint_block.h"

/* The HDF5 part of a snapshot: the whole structure, by one process. The library does not handle the fields'
 * values: it says where they lie (H5Dget_offset), and every rank writes its own there. Private to this
 * folder. */

/* What the file is made from. */
typedef struct checkpoint_contents {
  int64_t n[3];
  double h[3], origin[3];
  precision precision;
  int fields; /* 1 .. STATE_FIELDS */
  const char *const *names;
  checkpoint_state state;
  const char *configuration; /* resolved, as text */
} checkpoint_contents;

/* Makes the file with everything but values: groups, attributes, room for the fields and for the planes'
 * checksums on the disk, so that a full disk shows here. [out] block: what to write into the text block at
 * the end. STATUS_FILE. */
status checkpoint_file_create(const char *path, const checkpoint_contents *contents, checkpoint_block *block);

/* Reads what belongs to a state besides its fields and checks it against the block. Only for files whose
 * block was verified. STATUS_DAMAGED. */
status checkpoint_file_state(const char *path, const checkpoint_block *block, checkpoint_state *state);

/* Reads the grid's spacing. Only for files whose block was verified. STATUS_DAMAGED. */
status checkpoint_file_spacing(const char *path, double spacing[3]);

/* Reads the configuration that wrote the file. Only for files whose block was verified. [out] text: the
 * caller's to free, whatever the status. STATUS_DAMAGED, STATUS_MEMORY. */
status checkpoint_file_configuration(const char *path, char **text);

#endif
