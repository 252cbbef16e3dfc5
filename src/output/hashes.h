#ifndef FDAPP_OUTPUT_HASHES_H
#define FDAPP_OUTPUT_HASHES_H

#include <stddef.h>
#include <stdio.h>

#include "output/rundir.h"

/* hashes.csv: the hash of the answer and of each of its planes, on the way through a run. Two runs of one
 * problem have the same table, so its first difference says at which step, and in which planes (and so on
 * which rank), a machine computed wrongly. Rank 0 only. */

/* Begins the table: "step,hash," and a column NAME_Z for each plane z of each field. [out] file: closed by
 * hashes_close. STATUS_FILE, also if the directory is another run's by now. */
status hashes_open(const rundir *rundir, int fields, const char *const *names, int64_t planes, FILE **file);

/* Adds a row. hashes: those of the planes, count = fields times planes, first field first. STATUS_FILE. */
status hashes_append(FILE *file, int64_t step, uint64_t answer, const uint64_t *hashes, size_t count);

/* NULL is allowed. STATUS_FILE if the table is not whole. */
status hashes_close(FILE *file);

#endif
