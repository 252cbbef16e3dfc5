#include "domain/grid.h"

#include <math.h>

#include <inttypes.h>
#include <string.h>

int64_t grid_slab_start(int64_t nz, int ranks, int rank) {
  const int64_t planes = nz / ranks;
  const int64_t larger = nz % ranks;
  return rank * planes + (rank < larger ? rank : larger);
}

int64_t grid_most_ranks(int64_t nz) {
  return nz / KERNELS_HALO;
}

/* Computes the slab; all axes get the same ends and weights. */
static status cut(const int64_t n[3], int ranks, int rank, grid *grid) {
  const int64_t smallest = n[2] / ranks;
  if (n[0] > KERNELS_MOST_POINTS || n[1] > KERNELS_MOST_POINTS || smallest >= KERNELS_MOST_POINTS) {
    return status_fail(STATUS_USAGE, "grid: more than %d points in one direction of a rank's slab",
                       KERNELS_MOST_POINTS);
  }
  for (int d = 0; d < 3; d++) {
    grid->n[d] = n[d];
    grid->bounded[d] = 0;
    for (int end = 0; end < GRID_ENDS; end++)
      for (int i = 0; i < CLOSURE_ROWS; i++) grid->weights[d][end][i] = 1.0;
  }
  grid->rank = rank;
  grid->ranks = ranks;
  grid->z0 = grid_slab_start(n[2], ranks, rank);
  grid->nz = (int)(grid_slab_start(n[2], ranks, rank + 1) - grid->z0);
  return STATUS_OK;
}

status grid_make(const int64_t n[3], const double l[3], int ranks, int rank, grid *grid) {
  if (ranks > grid_most_ranks(n[2])) {
    return status_fail(STATUS_USAGE, "grid: %" PRId64 " planes on %d ranks: fewer than %d to a rank", n[2],
                       ranks, KERNELS_HALO);
  }
  CHECK(cut(n, ranks, rank, grid));
  for (int d = 0; d < 3; d++) {
    grid->l[d] = l[d];
    grid->h[d] = l[d] / (double)n[d];
  }
  return STATUS_OK;
}

status grid_cut(const int64_t n[3], const double h[3], const int bounded[3], int ranks, int rank,
                grid *grid) {
  if (ranks > n[2])
    return status_fail(STATUS_USAGE,
                       "grid: %" PRId64 " planes on %d ranks; accepted: at most %" PRId64 " ranks", n[2],
                       ranks, n[2]);
  CHECK(cut(n, ranks, rank, grid));
  for (int d = 0; d < 3; d++) {
    grid->h[d] = h[d];
    grid->l[d] = h[d] * (double)(n[d] - (bounded[d] ? 1 : 0));
    grid->bounded[d] = bounded[d];
  }
  return STATUS_OK;
}

kernels_shape grid_shape(const grid *grid, precision precision, int host_memory) {
  const int whole = grid->ranks == 1 && !grid->bounded[2];
  return kernels_shape_make((int)grid->n[0], (int)grid->n[1], grid->nz, whole, precision, host_memory);
}

/* Refuses slabs so thin that the rows of a closure at an end of z would lie on two ranks, or read beyond
 * their own planes and halo planes. Only the last slab needs a check: it is the smallest. */
static status check_slabs(const grid *grid, const closure *closure) {
  const int64_t planes = grid->n[2] - grid_slab_start(grid->n[2], grid->ranks, grid->ranks - 1);
  int least = closure->width - KERNELS_HALO;
  if (least < closure->rows) least = closure->rows;
  if (least < KERNELS_HALO) least = KERNELS_HALO;
  if (grid->ranks == 1 || planes >= least) return STATUS_OK;
  return status_fail(STATUS_USAGE,
                     "grid: %" PRId64 " planes on %d ranks: %" PRId64
                     " on the last; accepted: at least %d where z has ends, at order %d",
                     grid->n[2], grid->ranks, planes, least, closure->order);
}

status grid_bound(grid *grid, int axis, int order) {
  const closure *closure = closure_of(order);
  if (grid->n[axis] < 2 * (int64_t)closure->rows) {
    return status_fail(STATUS_USAGE,
                       "grid: %" PRId64
                       " points along %c; accepted: at least %d where it has ends, at order %d",
                       grid->n[axis], "xyz"[axis], 2 * closure -> rows, order);
  }
  if (axis == 2) CHECK(check_slabs(grid, closure));
  grid->bounded[axis] = 1;
  for (int end = 0; end < GRID_ENDS; end++)
    for (int i = 0; i < closure->rows; i++) grid->weights[axis][end][i] = closure->weight[i];
  grid->h[axis] = grid->l[axis] / grid_intervals(grid, axis);
  return STATUS_OK;
}

kernels_ends grid_kernels_ends(const grid *grid) {
  kernels_ends ends = {.z0 = (int)grid->z0, .nz = (int)grid->n[2]};
  for (int d = 0; d < 3; d++) ends.bounded[d] = grid->bounded[d];
  return ends;
}

const kernels_weights *grid_kernels_weights(const grid *grid, kernels_weights *weights) {
  memcpy(weights->of, grid->weights, sizeof weights->of); /* of x and y */
  return grid->bounded[0] || grid->bounded[1] ? weights : NULL;
}

int grid_neighbour(const grid *grid, int side) {
  const int rank = grid->rank + (side == GRID_LOW ? -1 : 1);
  if (grid->bounded[2] && (rank < 0 || rank == grid->ranks)) return -1;
  return (rank + grid->ranks) % grid->ranks;
}

double grid_intervals(const grid *grid, int axis) {
  return (double)(grid->n[axis] - (grid->bounded[axis] ? 1 : 0));
}

double grid_position(const grid *grid, int axis, int64_t i) {
  return (double)i * grid->h[axis];
}

double grid_weight(const grid *grid, int axis, int64_t i) {
  const int64_t from_high = grid->n[axis] - 1 - i;
  if (i < CLOSURE_ROWS) return grid->weights[axis][GRID_LOW][i];
  return from_high < CLOSURE_ROWS ? grid->weights[axis][GRID_HIGH][from_high] : 1.0;
}

int64_t grid_nearest(const grid *grid, int axis, double position) {
  const int64_t last = grid->n[axis] - 1;
  const int64_t i = (int64_t)floor(position / grid->h[axis] + 0.5);
  if (i <= last) return i;
  return grid->bounded[axis] ? last : 0;
}

double grid_cell_volume(const grid *grid) {
  return grid->h[0] * grid->h[1] * grid->h[2];
}
