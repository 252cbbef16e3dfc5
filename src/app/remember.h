#ifndef FDAPP_APP_REMEMBER_H
#define FDAPP_APP_REMEMBER_H

#include "app/solver.h"
#include "snapshots/checkpoint.h"

/* What the equation's terms remember beside the state (equation_memory), between the ranks and rank 0, which
 * reads and writes it with snapshots. The numbers of all planes in ascending z, then those beside the low and
 * the high end of z: so they do not depend on the number of ranks. */
checkpoint_memory remember_of(solver *solver);

/* How many numbers that are. */
int64_t remember_count(const config *config, const grid *grid);

#endif
