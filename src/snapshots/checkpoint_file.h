#ifndef FDAPP_SNAPSHOTS_CHECKPOINT_FILE_H
#define FDAPP_SNAPSHOTS_CHECKPOINT_FILE_H

#include <hdf5.h>

#include "snapshots/checkpoint_block.h"

/* The HDF5 part of a snapshot: its whole structure, made by one process. HDF5 does not write the fields'
 * values: it tells their places (H5Dget_offset), and every rank writes its own planes there. Private to this
 * folder. */

/* Names of the datasets: of a field, and of the planes' checksums. */
enum { CHECKPOINT_FIELD_PLACE = 64 };
void checkpoint_file_place(const char *name, char place[CHECKPOINT_FIELD_PLACE]);
#define CHECKPOINT_CHECKSUMS "/fdapp/plane_checksums"

/* Opens a file for reading. STATUS_FILE. checkpoint_file_close closes it in any case, and returns `result`,
 * or the fault of closing if that was STATUS_OK. */
status checkpoint_file_open(const char *path, hid_t *file);
status checkpoint_file_close(hid_t file, const char *path, status result);

/* Makes the file of the job that has begun, with everything but values: groups, attributes, and room on the
 * disk for the fields and the planes' checksums, so that a full disk is found here. [out] block: to be
 * written as the text block at the end. STATUS_FILE. */
status checkpoint_file_create(const checkpoint *checkpoint, checkpoint_block *block);

#endif
