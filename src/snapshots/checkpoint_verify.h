#ifndef FDAPP_SNAPSHOTS_CHECKPOINT_VERIFY_H
#define FDAPP_SNAPSHOTS_CHECKPOINT_VERIFY_H

#include "snapshots/checkpoint_block.h"

/* Checks of a whole file, of any run. Private to this folder; checkpoint.h has the functions for others. */

/* The warning about a file of which bytes have changed, but nothing that a run or a picture reads. */
#define CHECKPOINT_CHANGED "changed since it was written, in what neither resuming nor pictures read"

/* Checks all of a file but the planes: every byte or, if other programs changed some, what it says. [out]
 * changed: 1 in the second case. */
status checkpoint_verify_surroundings(int descriptor, const char *path, const checkpoint_block *block,
                                      int *changed);

#endif
