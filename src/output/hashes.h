#ifndef FDAPP_OUTPUT_HASHES_H
#define FDAPP_OUTPUT_HASHES_H

#include <stddef.h>
#include <stdio.h>

#include "output/rundir.h"

/* hashes.csv: the hash of the answer and of each of its planes at several steps of a run. Two runs of one
 * problem have equal tables, so the first difference tells at which step, and in which planes (and so on
 * which rank), a machine computed wrongly. Rank 0 only. */

/* Begins the table: "step,hash," and a column NAME_Z for each plane z of each field. [out] file: closed by
 * hashes_close. STATUS_FILE, also if another run has taken the directory. */
status hashes_open(const rundir *rundir, int fields, const char *const *names, int64_t planes, FILE **file);

/* Adds a row. hashes: those of the planes, count = fields times planes, first field first. STATUS_FILE. */
status hashes_append(FILE *file, int64_t step, uint64_t answer, const uint64_t *hashes, size_t count);

/* Closes the file; NULL is allowed. STATUS_FILE if not everything was written. */
status hashes_close(FILE *file);

#endif
