#include "gather.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/agree.h"

status gather(MPI_Comm comm, const grid *grid, const field *field, char *all) {
  const size_t plane = (size_t)(grid->n[0] * grid->n[1]) * kernels_element_size(field->shape.precision);
  char *mine = malloc(plane * (size_t)grid->nz);
  CHECK(field_load(field, 0, grid->nz, mine));
  if (grid->rank != 0) {
    CHECK_MPI(MPI_Send(mine, (int)plane * grid->nz, MPI_BYTE, 0, 5, comm));
  } else {
    memcpy(all, mine, plane * (size_t)grid->nz);
    for (int rank = 1; rank < grid->ranks; rank++) {
      const int64_t start = grid_slab_start(grid->n[2], grid->ranks, rank);
      const int64_t count = grid_slab_start(grid->n[2], grid->ranks, rank + 1) - start;
      CHECK_MPI(MPI_Recv(all + (size_t)start * plane, (int)((size_t)count * plane), MPI_BYTE, rank, 5, comm,
                         MPI_STATUS_IGNORE));
    }
  }
  free(mine);
  return STATUS_OK;
}

void wait_asleep(MPI_Comm comm) {
  const struct timespec pause = {.tv_nsec = 500000};
  MPI_Request request;
  int done = 0;
  MPI_Ibarrier(comm, &request);
  for (MPI_Test(&request, &done, MPI_STATUS_IGNORE); !done; MPI_Test(&request, &done, MPI_STATUS_IGNORE))
    (void)nanosleep(&pause, NULL);
}

int check_on_backend(int argc, char **argv, int (*check)(const kernels *backend)) {
  enum { SKIPPED = 77 };
  MPI_Init(&argc, &argv);
  const char *name = argc > 1 ? argv[1] : "cpu";
  const kernels *backend = kernels_find(name);
  int code = SKIPPED;
  if (backend == NULL || backend->probe() != STATUS_OK) {
    (void)printf("skipped: backend %s cannot run here\n", name);
  } else {
    const int mine = check(backend);
    int wrong = 0;
    MPI_Allreduce(&mine, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    code = wrong == 0 ? 0 : 1;
  }
  MPI_Finalize();
  return code;
}
