#ifndef FDAPP_FILES_RUNDIR_PARTS_H
#define FDAPP_FILES_RUNDIR_PARTS_H

#include "files/rundir.h"

/* Shared by rundir.c (the directory and its lock), rundir_names.c (the names of a run's own files) and
 * rundir_move.c (moves the results of earlier runs away). */

/* The files of a run besides its states; the index first, so that it never names a file that has been moved
 * away. */
enum { RUNDIR_RESULTS = 7 };
extern const char *const rundir_results[RUNDIR_RESULTS];

/* Directories of results by step, with their indices. */
enum { RUNDIR_FOLDERS = 2 };
extern const char *const rundir_folders[RUNDIR_FOLDERS];

/* A file with "previous_N STEP" during a move: its target, and the step after which states move. */
#define RUNDIR_MOVING ".moving"

/* STATUS_FILE with the path, the failed action and errno's text. */
status rundir_failure(const char *path, const char *what);

/* Makes a directory unless it exists, and syncs its entry in the parent, because without that a power failure
 * could lose its contents. A parent that cannot be read is not synced. */
status rundir_make_directory(const char *path);

/* Calls `visit` for every name in the directory until one call fails. */
status rundir_each_name(const char *directory,
                        status (*visit)(const char *directory, const char *name, void *user), void *user);

/* Returns 1 if `name` is that of a state, or of statistics; [out] step, unless NULL. */
int rundir_is_of_step(const char *name, long long *step);

/* 1 if a file or folder of this name is a result of a run. */
int rundir_is_result(const char *name);

/* Removes the temporary files of a run that was killed. */
status rundir_remove_partials(const char *directory);

/* Finishes the move that a killed run had begun. */
status rundir_finish_move(const char *directory);

#endif
