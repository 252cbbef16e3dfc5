#ifndef FDAPP_FILES_ARRAY_FILE_H
#define FDAPP_FILES_ARRAY_FILE_H

#include <stdint.h>

#include "base/check.h"

/* Reads a dataset of numbers of a user's file, in double: one of `columns` columns, or with columns = 0 one
 * of one axis. `key` is the configuration's, for messages. [out] rows: 0 if there is no such dataset; values:
 * the caller frees them. STATUS_USAGE for another shape or a value that is not finite; STATUS_FILE,
 * STATUS_MEMORY. */
status array_file_read(const char *key, const char *path, const char *name, int columns, int64_t *rows,
                       double **values);

#endif
