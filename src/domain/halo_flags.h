#ifndef FDAPP_DOMAIN_HALO_FLAGS_H
#define FDAPP_DOMAIN_HALO_FLAGS_H

#include "base/agree.h"

/* What neighbours on one node have to tell each other in an exchange without messages: numbers in shared
 * memory, each written by one rank alone and read by its neighbours. What that gains over messages of no
 * bytes: docs/explanation/performance.md, "Halo exchange on one node". */

/* FLAG_OWNER: whose numbers they are; for halo_flags_open alone. */
typedef enum halo_flag { FLAG_READY, FLAG_DONE, FLAG_OWNER, FLAG_COUNT } halo_flag;
typedef enum halo_side { SIDE_BELOW, SIDE_ABOVE, SIDE_COUNT } halo_side;

typedef struct halo_flags {
  _Atomic unsigned *mine;               /* [FLAG_COUNT], READY and DONE zero at first; NULL: not open */
  _Atomic unsigned *theirs[SIDE_COUNT]; /* of the neighbours, read only */
} halo_flags;

/* ranks: of `comm`, below and above this one; MPI_PROC_NULL: none, whose numbers are not opened. Collective
 * over comm. Released by halo_flags_close. STATUS_DEVICE where the ranks share no memory, or what is found is
 * not the neighbours'. */
status halo_flags_open(MPI_Comm comm, const int ranks[SIDE_COUNT], halo_flags *flags);

/* Not collective. */
void halo_flags_close(halo_flags *flags);

/* Tells the neighbours `number`; what was done before is seen by who sees it. */
void halo_flags_set(halo_flags *flags, halo_flag flag, unsigned number);

/* Returns when a neighbour has told `number` or a later one. */
void halo_flags_wait(const halo_flags *flags, halo_side side, halo_flag flag, unsigned number);

#endif
