#ifndef FDAPP_FILES_RUNDIR_H
#define FDAPP_FILES_RUNDIR_H

#include <stdint.h>

#include "base/check.h"

/* The output directory of a run: made, checked and locked before anything is written into it. Rank 0 only. */
typedef struct rundir {
  char path[4096];
  int lock; /* descriptor of the locked file `path`/.lock, -1 if none */
} rundir;

/* The files of a run in its directory, besides its states. */
#define RUNDIR_CONFIG      "config.ini"
#define RUNDIR_DIAGNOSTICS "diagnostics.csv"
#define RUNDIR_INDEX       "state.hdf.series"
#define RUNDIR_PERF        "perf.json"
#define RUNDIR_HASHES      "hashes.csv"
#define RUNDIR_PROBES      "probes.csv"
#define RUNDIR_RECEIVERS   "receivers.h5"

/* The directory of slices in it: files NAME_NNNNNNNN.hdf by step, and their indices NAME.hdf.series. */
#define RUNDIR_SLICES "slices"

/* The directory of kept snapshots that hold the fields in part, named as states are, and their index. */
#define RUNDIR_FIELDS "fields"

/* Checks that `path` is a writable directory or could be made (its nearest existing parent is a writable
 * directory), without changing anything. STATUS_FILE naming the obstacle. */
status rundir_check(const char *path);

/* Makes the directory (parents too) and locks it. The lock is advisory and ends with the process, so a killed
 * run leaves none behind. Then finishes a move that a killed run had begun, and removes its temporary files.
 * STATUS_FILE; "in use by process N on HOST" if another run holds the lock. On a file system without locks: a
 * warning, and no lock. [out] rundir: closed by rundir_close. */
status rundir_open(const char *path, rundir *rundir);
void rundir_close(rundir *rundir);

/* Makes the directory of kept snapshots that hold the fields in part, if it does not exist. STATUS_FILE. */
status rundir_make_fields(const rundir *rundir);

/* STATUS_OK if the directory is still the one that was opened, STATUS_FILE if another run has taken its
 * place. Call it before anything is written into the directory. */
status rundir_check_held(const rundir *rundir);

/* For a run that starts at t = 0 in a directory with results of an earlier run: moves these (states, their
 * index, diagnostics.csv, probes.csv, hashes.csv, config.ini, perf.json, slices, and fdplot's pictures of
 * them under their default names) into the first free `previous_N` below the directory, so that nothing is
 * lost or mixed. [out] moved: the name of that directory, or "" if there was nothing to move. STATUS_FILE,
 * STATUS_MEMORY, as for the functions below. */
status rundir_set_aside(const rundir *rundir, char moved[64]);

/* Makes the first free `previous_N` below `directory`. [out] name: its name without the path. */
status rundir_previous(const char *directory, char name[64]);

/* Moves results of `directory` into `previous` below it: states after step `after`, or everything if that is
 * -1. The move is announced before it begins, so that the next rundir_open finishes it if the run is killed
 * meanwhile. */
status rundir_move(const char *directory, const char *previous, int64_t after);

/* [out] began: 1 if the run in `directory` began at `step`, so that it has no states of earlier steps.
 * STATUS_FILE. */
status rundir_began_at(const char *directory, int64_t step, int *began);

/* Returns 1 if a move in `directory` has been announced and not finished. */
int rundir_moves(const char *directory);

/* Moves file `name` into the first free `previous_N`. [out] moved: as of rundir_set_aside. */
status rundir_set_aside_one(const rundir *rundir, const char *name, char moved[64]);

/* Copies the existing tables, config.ini and perf.json from `directory` into `previous` below it, when the
 * later states of a run move there. */
status rundir_copy_results(const char *directory, const char *previous);

/* Writes `text` as file `name`, completely or not at all: temporary name, fsync, rename, fsync of the
 * directory. STATUS_FILE, also if another run has taken the directory. */
status rundir_write(const rundir *rundir, const char *name, const char *text);

/* Name of the state file of a step, state_NNNNNNNN.hdf. */
void rundir_state_name(int64_t step, char name[64]);

/* Name of the file of statistics up to a step, statistics_NNNNNNNN.hdf. */
void rundir_statistics_name(int64_t step, char name[64]);

/* Removes files of statistics of steps before `step` beside which there is no state. STATUS_FILE. */
status rundir_prune_statistics(const char *directory, int64_t step);

/* Returns 1 if `name` is that of a slice of a step; [out] step. */
int rundir_is_slice(const char *name, long long *step);

/* Returns 1 if `name` is that of a state file; [out] step, unless NULL. */
int rundir_is_state(const char *name, long long *step);

/* Returns 1 if the directory has a state file; 0 also if it cannot be read. */
int rundir_has_states(const char *directory);

/* Returns 1 if a path names a result of a run in `directory`, or something below one, or a link to it. */
int rundir_owns(const char *directory, const char *path);

#endif
