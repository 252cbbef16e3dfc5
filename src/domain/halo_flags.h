#ifndef FDAPP_DOMAIN_HALO_FLAGS_H
#define FDAPP_DOMAIN_HALO_FLAGS_H

#include "base/agree.h"

/* Flags by which neighbours on one node synchronise an exchange without messages: numbers in shared memory,
 * each written by one rank and read by its neighbours. docs/explanation/performance.md, "Halo exchange on one
 * node", compares them with empty messages. */

/* FLAG_OWNER: identifies the rank; used by halo_flags_open alone. */
typedef enum halo_flag { FLAG_READY, FLAG_DONE, FLAG_OWNER, FLAG_COUNT } halo_flag;
typedef enum halo_side { SIDE_BELOW, SIDE_ABOVE, SIDE_COUNT } halo_side;

typedef struct halo_flags {
  _Atomic unsigned *mine;               /* [FLAG_COUNT]; READY and DONE are zero at first. NULL: not open */
  _Atomic unsigned *theirs[SIDE_COUNT]; /* the neighbours' flags; read only */
} halo_flags;

/* Opens the flags of the neighbours. ranks: of `comm`, below and above this one; MPI_PROC_NULL: no neighbour.
 * Collective over comm. Released by halo_flags_close. STATUS_DEVICE if the ranks share no memory, or the
 * memory found is not the neighbours'. */
status halo_flags_open(MPI_Comm comm, const int ranks[SIDE_COUNT], halo_flags *flags);

/* Not collective. */
void halo_flags_close(halo_flags *flags);

/* Sets a flag. A neighbour that sees `number` also sees everything written before. */
void halo_flags_set(halo_flags *flags, halo_flag flag, unsigned number);

/* Returns when the neighbour has set `number` or a later one. */
void halo_flags_wait(const halo_flags *flags, halo_side side, halo_flag flag, unsigned number);

#endif
