#ifndef FDAPP_TESTS_STATES_H
#define FDAPP_TESTS_STATES_H

#include <mpi.h>

#include "snapshots/checkpoint.h"

/* What the tests of state files share: a run directory, a grid, a field whose every value says where it
 * belongs. Tests on several ranks end at the first fault, all of them, by MPI_Abort. */

#define REQUIRE(condition) states_require((condition) ? 1 : 0, #condition, __FILE__, __LINE__)
void states_require(int holds, const char *condition, const char *file, int line);

typedef struct states {
  MPI_Comm comm;
  int rank, ranks;
  config config;
  grid grid;
  kernels_context *context;
  field_space space;
  state state; /* phi, or p, u, v, w */
  checkpoint *checkpoint;
} states;

/* Opens `directory` (which exists) for the ranks of comm. fields: 1, of the name phi; or the first so many of
 * p, u, v, w. */
void states_open(MPI_Comm comm, const char *directory, const int64_t n[3], precision precision, int fields,
                 int keep, states *states);
void states_close(states *states);

/* The state of a step: all members different and none of them round. */
checkpoint_state states_state(int64_t step, int picture);

/* The value of a field at a global point after `step` steps; among them -0, a subnormal number and a NaN. */
double states_value(int64_t step, int field, int64_t x, int64_t y, int64_t z);

/* Sets all fields to the values of a step; counts this rank's values that differ in any bit from what they
 * should be. */
void states_fill(states *states, int64_t step);
int64_t states_differences(const states *states, int64_t step);

/* states_fill and checkpoint_write. */
status states_write(states *states, int64_t step, int picture);

/* A new directory, the same on all ranks of comm, and its removal with all that is in it; by rank 0. */
void states_directory(MPI_Comm comm, char path[256]);
void states_remove(MPI_Comm comm, const char *path);

/* Path of a step's file; whether there is a file `name` in `directory`; number of entries, "." and ".." not
 * counted. */
void states_path(const char *directory, int64_t step, char path[512]);
int states_exists(const char *directory, const char *name);
int states_entries(const char *directory);

#endif
