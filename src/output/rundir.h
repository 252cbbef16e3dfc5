#ifndef FDAPP_OUTPUT_RUNDIR_H
#define FDAPP_OUTPUT_RUNDIR_H

#include <stdint.h>

#include "base/check.h"

/* The output directory of a run: made, checked and locked before anything is written into it. Rank 0 only. */
typedef struct rundir {
  char path[4096];
  int lock; /* descriptor of the locked file `path`/.lock, -1 if none */
} rundir;

/* What a run leaves in its directory, besides its states. */
#define RUNDIR_CONFIG      "config.ini"
#define RUNDIR_DIAGNOSTICS "diagnostics.csv"
#define RUNDIR_INDEX       "state.hdf.series"
#define RUNDIR_PERF        "perf.json"
#define RUNDIR_HASHES      "hashes.csv"
#define RUNDIR_PROBES      "probes.csv"

/* The directory of slices in it: files NAME_NNNNNNNN.hdf by step, and their indices NAME.hdf.series. */
#define RUNDIR_SLICES "slices"

/* The directory of kept snapshots that hold the fields in part, named as states are, and their index. */
#define RUNDIR_FIELDS "fields"

/* Checks without leaving a trace that `path` is a writable directory or could be made (its nearest existing
 * parent is a writable directory). STATUS_FILE naming what is in the way. */
status rundir_check(const char *path);

/* Makes the directory (parents too), takes the lock (an advisory lock that ends with the process, so a dead
 * run leaves none behind), moves away what a run that died had begun to move away, and removes its temporary
 * files. STATUS_FILE; "in use by process N on HOST" if another run holds it. Where the file system has no
 * locks, a warning and no lock. [out] rundir: closed by rundir_close. */
status rundir_open(const char *path, rundir *rundir);
void rundir_close(rundir *rundir);

/* Makes the directory of kept snapshots that hold the fields in part, if it is not there. STATUS_FILE. */
status rundir_make_fields(const rundir *rundir);

/* Whether the directory is still the one that was opened; STATUS_FILE if another run's has taken its place.
 * To be asked before anything is written into it. */
status rundir_check_held(const rundir *rundir);

/* For a run that starts at t = 0 where an earlier one left results: moves these (states, their index,
 * diagnostics.csv, probes.csv, hashes.csv, config.ini, perf.json, slices, and the pictures that fdplot made
 * of them by its own names) into the first free `previous_N` below the directory, so that nothing is lost and
 * nothing mixed. [out] moved: the name of that directory, or "" if there was nothing to move. STATUS_FILE,
 * STATUS_MEMORY; so, too, of the functions that follow. */
status rundir_set_aside(const rundir *rundir, char moved[64]);

/* Makes the first free `previous_N` below `directory`. [out] name: of that directory, without what leads to
 * it. */
status rundir_previous(const char *directory, char name[64]);

/* Moves results of `directory` into `previous` below it: states after step `after`, or, if that is -1, all
 * there are. The move is announced before it begins: should the run die meanwhile, the next rundir_open
 * finishes it. */
status rundir_move(const char *directory, const char *previous, int64_t after);

/* Whether the run in `directory` began at `step`: no state there is of an earlier one. STATUS_FILE. */
status rundir_began_at(const char *directory, int64_t step, int *began);

/* Whether a move in `directory` has been announced and not finished. */
int rundir_moves(const char *directory);

/* Moves file `name` into the first free `previous_N`. [out] moved: as of rundir_set_aside. */
status rundir_set_aside_one(const rundir *rundir, const char *name, char moved[64]);

/* Copies the tables, config.ini and perf.json, those that are there, from `directory` into
 * `previous` below it: of a branch whose later states move there. */
status rundir_copy_results(const char *directory, const char *previous);

/* Writes `text` as file `name` whole or not at all: temporary name, fsync, rename, fsync of the directory.
 * STATUS_FILE, also if the directory is another run's by now. */
status rundir_write(const rundir *rundir, const char *name, const char *text);

/* Name of the state file of a step, state_NNNNNNNN.hdf. */
void rundir_state_name(int64_t step, char name[64]);

/* Whether `name` is that of a slice of a step; [out] step. */
int rundir_is_slice(const char *name, long long *step);

/* Whether `name` is that of a state file; [out] step, unless NULL. */
int rundir_is_state(const char *name, long long *step);

#endif
