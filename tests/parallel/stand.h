#ifndef FDAPP_TESTS_STAND_H
#define FDAPP_TESTS_STAND_H

#include "domain/field.h"
#include "expect.h"

/* A device that is not one: the CPU backend that says its memory is not the host's, and shares it between
 * processes as a GPU does; and an MPI that takes device memory, or not, as a test wants it. */

enum { NX = 33, NY = 20, PLANES = 8 }; /* planes a rank, one more on some */

typedef struct stand {
  int rank, ranks;
  grid grid;
  kernels device; /* its memory is not the host's */
  field_space space;
} stand;

void stand_open(stand *stand);
void stand_close(stand *stand);

extern size_t staging; /* bytes allocated so far */
extern int full;       /* whether the device has no memory left */
extern int one_device; /* whether all ranks have the same device */
extern status met;     /* what a meeting ends with here */

/* An MPI that says it is CUDA-aware, and how it takes device memory. */
extern int says_aware;
extern enum manner { TAKES, REFUSES_RECEIVES, REFUSES_SENDS, SENDS_WRONG } manner;

/* One that uses UCX, with its CUDA modules but the one named so, if any. */
extern int has_ucx;
extern const char *lacks;

#endif
