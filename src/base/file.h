#ifndef FDAPP_BASE_FILE_H
#define FDAPP_BASE_FILE_H

#include <dirent.h>
#include <stddef.h>
#include <stdint.h>

#include "base/check.h"

/* Complete reads and writes, and files that appear completely or not at all, which POSIX leaves to its
 * callers. `path` is for messages. Nothing is collective. All: STATUS_FILE with path and the system's
 * reason. */

/* Ending of the temporary names of new files. The next run removes those that a killed run leaves. */
#define FILE_PARTIAL ".partial"

/* Reads or writes exactly `size` bytes at `offset`; it is an error if the file ends before. */
status file_read_at(int descriptor, const char *path, void *data, size_t size, int64_t offset);
status file_write_at(int descriptor, const char *path, const void *data, size_t size, int64_t offset);

/* Opens a regular file for reading. Anything else, such as a named pipe, is refused without waiting for it.
 * [out] descriptor: closed by the caller; -1 if there is no such file. */
status file_open_regular(const char *path, int *descriptor);

/* fsync of a file, or of a directory's entries. */
status file_sync(int descriptor, const char *path);
status file_sync_directory(const char *directory);

/* Renames `from` to `to`, both in `directory`, and waits until that is on the disk. */
status file_rename(const char *directory, const char *from, const char *to);

/* Writes bytes, or a text, as `directory`/`name`: temporary name, file_sync, file_rename. Without the
 * directory's lock, two processes must not write one name at the same time. */
status file_write_bytes(const char *directory, const char *name, const void *data, size_t size);
status file_write_whole(const char *directory, const char *name, const char *text);

/* Removes a file. Its name is gone when this returns; the system frees its blocks in a thread, so that they
 * may not be free yet. */
status file_remove(const char *path);

/* [out] name: the next entry of an open directory, NULL at its end. */
status file_next_name(DIR *entries, const char *directory, const char **name);

/* Writes "directory/name" into path (`size` bytes); STATUS_FILE if it does not fit. */
status file_path(const char *directory, const char *name, char *path, size_t size);

#endif
