#ifndef FDAPP_OUTPUT_HASHES_H
#define FDAPP_OUTPUT_HASHES_H

#include <stddef.h>

#include "output/table.h"

/* hashes.csv: the hash of the answer and of each of its planes at several steps of a run. Two runs of one
 * problem have equal tables, so the first difference tells at which step, and in which planes (and so on
 * which rank), a machine computed wrongly. Rank 0 only. */

/* Makes the table with a row every `every` steps: "step,hash," and a column NAME_Z for each plane z of each
 * field. The caller opens it. Call table_destroy afterwards. STATUS_MEMORY. */
status hashes_create(int64_t every, int fields, const char *const *names, int64_t planes, table *table);

/* Adds a row, unless the table has that of this step. hashes: those of the planes, count = fields times
 * planes, first field first. STATUS_FILE. */
status hashes_append(table *table, int64_t step, uint64_t answer, const uint64_t *hashes, size_t count);

#endif
