#ifndef FDAPP_OUTPUT_RUNDIR_PARTS_H
#define FDAPP_OUTPUT_RUNDIR_PARTS_H

#include "output/rundir.h"

/* Shared by rundir.c (the directory and its lock), rundir_names.c (what is a run's own in it) and
 * rundir_move.c (results that are set aside). */

/* What a run leaves besides its states; the index first, so that it never names what has been moved away. */
enum { RUNDIR_RESULTS = 6 };
extern const char *const rundir_results[RUNDIR_RESULTS];

/* Directories of results by step, with their indices. */
enum { RUNDIR_FOLDERS = 2 };
extern const char *const rundir_folders[RUNDIR_FOLDERS];

/* A file with "previous_N STEP": where results are being moved to, and after which step. */
#define RUNDIR_MOVING ".moving"

/* STATUS_FILE with the path, what has failed, and errno's text. */
status rundir_failure(const char *path, const char *what);

/* Makes a directory that may be there, and brings its name to the disk: without that a power cut takes what
 * is in it. A parent that may not be read cannot be asked. */
status rundir_make_directory(const char *path);

/* Calls `visit` for every name in the directory until one call fails. */
status rundir_each_name(const char *directory,
                        status (*visit)(const char *directory, const char *name, void *user), void *user);

/* 1 if a file or folder of this name is a result of a run. */
int rundir_is_result(const char *name);

/* Removes temporary files of a run that died. */
status rundir_remove_partials(const char *directory);

/* Finishes the move that a run that died had begun. */
status rundir_finish_move(const char *directory);

#endif
