#ifndef FDAPP_OUTPUT_TABLE_H
#define FDAPP_OUTPUT_TABLE_H

#include <stdio.h>

#include "files/rundir.h"

/* A table of a run: a CSV file whose rows begin with the step, continued when the run resumes. Rows are on
 * the disk before the snapshot from which a run resumes, and a resumed run continues the table as if it had
 * never stopped. Rank 0 only. */
typedef struct table {
  const char *name; /* name of the file in the run directory */
  int64_t every;    /* steps between rows; 0 or less: not due by steps */
  int hashes;       /* 1: behind the step, cells are hashes of 16 hexadecimal digits; 0: numbers */
  char *header;     /* the first line, with its newline; owned */
  FILE *file;       /* open between table_open and table_close */
  char path[sizeof((rundir *)0)->path + 64];
  int64_t last; /* step of the latest row that table_open kept, -1: none */
} table;

/* Opens the table in the run directory. from < 0: a new table with a header. from >= 0: keeps the rows of
 * steps up to `from`, that of `from` itself only if it is `due` there, because the run resumes there;
 * warns of rows that are missing right before it. An older file with other columns moves into the first free
 * previous_N. STATUS_FILE, STATUS_MEMORY. */
status table_open(table *table, const rundir *rundir, int64_t from, int due);

/* [out] beyond: set to 1 if the table has rows of steps after `step`, else unchanged. STATUS_FILE. */
status table_goes_beyond(table *table, const rundir *rundir, int64_t step, int *beyond);

/* Ends a row that the caller printed to `file`, and flushes it. written: 1 if all of it could be printed.
 * STATUS_FILE. */
status table_end_row(table *table, int written);

/* Warns that a file lacks each `what` ("row") after step `last`, or with -1 all, up to step `from`. */
void table_warn_of_gap(const char *path, const char *what, int64_t last, int64_t from);

/* Waits until the rows are on the disk; called before a snapshot, so that no snapshot exists without its
 * rows. table_sync and table_close do nothing if the table is not open. STATUS_FILE. */
status table_sync(const table *table);
status table_close(table *table);

/* Releases everything. */
void table_destroy(table *table);

#endif
