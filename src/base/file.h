#ifndef FDAPP_BASE_FILE_H
#define FDAPP_BASE_FILE_H

#include <dirent.h>
#include <stddef.h>
#include <stdint.h>

#include "base/check.h"

/* What POSIX leaves to its callers: whole reads and writes, and files that appear whole or not at all. `path`
 * is for the message. Nothing is collective. All: STATUS_FILE with path and the system's reason. */

/* Ending of names under which files are made before they get their own; what a dead run leaves of them is
 * removed by the next one. */
#define FILE_PARTIAL ".partial"

/* Reads or writes exactly `size` bytes at `offset`; a file that ends before is a fault. */
status file_read_at(int descriptor, const char *path, void *data, size_t size, int64_t offset);
status file_write_at(int descriptor, const char *path, const void *data, size_t size, int64_t offset);

/* Opens a file for reading; whatever else bears the name, a named pipe, say, is refused without waiting for
 * it. [out] descriptor: closed by the caller; -1 if there is no such file. */
status file_open_regular(const char *path, int *descriptor);

/* Waits until the file's data, or a directory's entries, are on the disk. */
status file_sync(int descriptor, const char *path);
status file_sync_directory(const char *directory);

/* Puts `from` in the place of `to`, both in `directory`, and waits until that is on the disk. */
status file_rename(const char *directory, const char *from, const char *to);

/* Writes bytes, or a text, as `directory`/`name`: temporary name, file_sync, file_rename. Without directory's
 * lock, not to be called for one name by two processes at once. */
status file_write_bytes(const char *directory, const char *name, const void *data, size_t size);
status file_write_whole(const char *directory, const char *name, const char *text);

/* [out] name: of the next entry of an open directory, NULL at its end. */
status file_next_name(DIR *entries, const char *directory, const char **name);

/* Writes "directory/name" into path (`size` bytes); STATUS_FILE if it does not fit. */
status file_path(const char *directory, const char *name, char *path, size_t size);

#endif
