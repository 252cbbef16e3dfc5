#ifndef FDAPP_SNAPSHOTS_CHECKPOINT_BLOCK_H
#define FDAPP_SNAPSHOTS_CHECKPOINT_BLOCK_H

#include "snapshots/checkpoint.h"

/* The text block at the head of a snapshot, the planes of its fields, and all checks of a file that do not
 * need the HDF5 library. Private to this folder; nothing is collective. */

enum { CHECKPOINT_BLOCK_BYTES = 2048, CHECKPOINT_NAME = 32 /* a field's name with its terminating zero */ };

/* The contents of the block. */
typedef struct checkpoint_block {
  precision precision;
  int64_t n[3];       /* nx, ny, nz */
  int64_t file_bytes; /* size of the whole file */
  int fields;         /* 1 .. STATE_FIELDS */
  char names[STATE_FIELDS][CHECKPOINT_NAME];
  int64_t offsets[STATE_FIELDS]; /* of each field's values, from the start of the file; ascending */
  int compressed; /* 1: offsets are those of the first chunks, and chunks are part of the metadata */
  int64_t checksums_offset; /* of the planes' checksums: [fields][n[2]] */
  int64_t step;
  double time;
  int picture;
} checkpoint_block;

/* Bytes of a packed plane, of one field's values (of compressed ones 0), and of all checksums. */
int64_t checkpoint_plane_bytes(const checkpoint_block *block);
int64_t checkpoint_data_bytes(const checkpoint_block *block);
int64_t checkpoint_checksums_bytes(const checkpoint_block *block);

/* Returns 1 if `name` can name a field: letters, digits and '_', at least one, fewer than CHECKPOINT_NAME. */
int checkpoint_is_name(const char *name);

/* Writes the fields' names to text, as "p, u, v, w". */
void checkpoint_block_names(const checkpoint_block *block, char *text, size_t size);

/* Opens a file for reading. STATUS_DAMAGED for anything but a regular file of at least a block's size,
 * STATUS_FILE if it cannot be opened. [out] descriptor: closed by the caller. */
status checkpoint_block_open(const char *path, int *descriptor);

/* Returns 1 if a file begins as a snapshot does; 0 also if it cannot be read. */
int checkpoint_block_begins(const char *path);

/* Writes the block's text, with this checksum of the bytes. */
void checkpoint_block_format(const checkpoint_block *block, uint64_t checksum,
                             char text[CHECKPOINT_BLOCK_BYTES]);

/* Reads the block and checks it, also against the file's size: all its offsets lie in the file, which may
 * have grown. STATUS_DAMAGED, STATUS_FILE. Sufficient for the index. */
status checkpoint_block_read(int descriptor, const char *path, checkpoint_block *block);

/* [out] as_written: 1 if the file has the size, and all bytes that are not a field's values have the
 * checksum, that stand in the block. STATUS_DAMAGED, STATUS_FILE, STATUS_MEMORY. */
status checkpoint_block_verify(int descriptor, const char *path, const checkpoint_block *block,
                               int *as_written);

/* Computes that checksum from the file and writes the block into the file. STATUS_FILE, STATUS_MEMORY. */
status checkpoint_block_write(int descriptor, const char *path, const checkpoint_block *block);

/* [out] checksums: of `count` packed planes of `bytes` bytes each; computed by several threads. */
void checkpoint_block_sum(const void *planes, int count, size_t bytes, uint64_t *checksums);

/* The answer's hash (checkpoint.h), from the checksums of all planes or from those in a file. */
uint64_t checkpoint_block_answer(const uint64_t *checksums, size_t count);
status checkpoint_block_read_answer(int descriptor, const char *path, const checkpoint_block *block,
                                    uint64_t *hash);

/* Writes `count` packed planes of a field, from global plane z0 on, to the file. [out] checksums of them.
 * STATUS_FILE. */
status checkpoint_block_store(int descriptor, const char *path, const checkpoint_block *block, int field,
                              int64_t z0, int count, const void *values, uint64_t *checksums);

/* Compares planes z0 .. z0+count-1 of a field with `checksums` (one per plane), reading a piece at a time. If
 * `values` is not NULL, it gets the `count` planes. STATUS_DAMAGED naming field and plane, STATUS_FILE,
 * STATUS_MEMORY. */
status checkpoint_block_planes(int descriptor, const char *path, const checkpoint_block *block, int field,
                               int64_t z0, int count, const uint64_t *checksums, void *values);

#endif
