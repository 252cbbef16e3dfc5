#include "domain/grid.h"

#include <inttypes.h>

int64_t grid_slab_start(int64_t nz, int ranks, int rank) {
  const int64_t planes = nz / ranks;
  const int64_t larger = nz % ranks;
  return rank * planes + (rank < larger ? rank : larger);
}

int64_t grid_most_ranks(int64_t nz) {
  return nz / KERNELS_HALO;
}

status grid_make(const int64_t n[3], const double l[3], int ranks, int rank, grid *grid) {
  const int64_t smallest = n[2] / ranks;
  if (ranks > grid_most_ranks(n[2])) {
    return status_fail(STATUS_USAGE, "grid: %" PRId64 " planes on %d ranks: fewer than %d to a rank", n[2],
                       ranks, KERNELS_HALO);
  }
  if (n[0] > KERNELS_MOST_POINTS || n[1] > KERNELS_MOST_POINTS || smallest >= KERNELS_MOST_POINTS) {
    return status_fail(STATUS_USAGE, "grid: more than %d points in one direction of a rank's slab",
                       KERNELS_MOST_POINTS);
  }
  for (int d = 0; d < 3; d++) {
    grid->n[d] = n[d];
    grid->l[d] = l[d];
    grid->h[d] = l[d] / (double)n[d];
  }
  grid->rank = rank;
  grid->ranks = ranks;
  grid->z0 = grid_slab_start(n[2], ranks, rank);
  grid->nz = (int)(grid_slab_start(n[2], ranks, rank + 1) - grid->z0);
  return STATUS_OK;
}

kernels_shape grid_shape(const grid *grid, precision precision, int host_memory) {
  return kernels_shape_make((int)grid->n[0], (int)grid->n[1], grid->nz, grid->ranks == 1, precision,
                            host_memory);
}

double grid_cell_volume(const grid *grid) {
  return grid->h[0] * grid->h[1] * grid->h[2];
}
