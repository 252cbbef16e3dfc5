#ifndef FDAPP_FILES_SERIES_H
#define FDAPP_FILES_SERIES_H

#include "base/check.h"

/* An index of files in time that ParaView reads, a JSON document of names and times. Creates an empty one for
 * series_add; NULL: no memory. */
typedef struct series series;
series *series_create(void);
void series_destroy(series *series);

/* Reads the entries of `directory`/`name` that `keeps` accepts, in their order; a missing or damaged index
 * has none. STATUS_MEMORY. */
status series_read(series *series, const char *directory, const char *name,
                   int (*keeps)(const char *file, const void *user), const void *user);

/* Adds a file at the end. STATUS_MEMORY. */
status series_add(series *series, const char *file, double time);

/* The name of the last file; NULL if there is none. Valid until the next change. */
const char *series_last(const series *series);

/* Writes the index, completely or not at all. STATUS_FILE, STATUS_MEMORY. */
status series_write(const series *series, const char *directory, const char *name);

#endif
