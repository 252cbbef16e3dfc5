/* A rank that does not come to a meeting is not waited for, and its absence is not agreed on with it. Run on
 * several ranks. */
#include <string.h>

#include "app/control.h"
#include "expect.h"

int wrong = 0;

int main(int argc, char **argv) {
  int rank = 0, ranks = 1, all = 0;
  control control;
  (void)MPI_Init(&argc, &argv);
  (void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  (void)MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  control_init(&control, MPI_COMM_WORLD, MPI_Wtime(), 0.0, 1e9, 0);
  EXPECT(control_meet(&control, 1) == STATUS_OK);
  control_init(&control, MPI_COMM_WORLD, MPI_Wtime(), 0.0, 1.0, 4710);
  if (rank < ranks - 1) {
    const status late = control_meet(&control, 4711);
    char expected[64];
    (void)snprintf(expected, sizeof expected, "rank %d has not come to step 4711 for 1 seconds",
                   rank == 0 ? ranks - 1 : 0);
    EXPECT(late == STATUS_LATE && status_exit_code(late) == 3);
    EXPECT(agree(MPI_COMM_WORLD, late) == STATUS_LATE && !agree_reached());
    EXPECT(strcmp(status_message(late), expected) == 0);
  }
  MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  (void)MPI_Finalize();
  return all > 0;
}
