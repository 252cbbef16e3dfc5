#include "distance/redistance.h"

#include <math.h>
#include <stdlib.h>

static size_t plane_bytes(const grid *grid, precision precision) {
  return (size_t)grid->n[0] * (size_t)grid->n[1] * kernels_element_size(precision);
}

size_t redistance_host_bytes(const grid *grid, precision precision) {
  const size_t plane = plane_bytes(grid, precision);
  return plane * (size_t)(grid->nz + 2 + 2 * field_piece_planes(plane, grid->nz));
}

status redistance_open(MPI_Comm comm, const grid *grid, const field_space *space, int direct,
                       redistance *redistance) {
  const size_t bytes = plane_bytes(grid, space->shape.precision) * (size_t)(grid->nz + 2);
  redistance->values = malloc(bytes);
  CHECK(distance_open(comm, grid, space, DISTANCE_WORK, direct, &redistance->distance));
  return agree(comm, redistance->values != NULL
                         ? STATUS_OK
                         : status_fail(STATUS_MEMORY, "no memory for %zu bytes of a level set", bytes));
}

void redistance_close(redistance *redistance) {
  distance_close(&redistance->distance);
  free(redistance->values);
  redistance->values = NULL;
}

/* Receives the planes beside the slab from the neighbours that own them. Messages are counted in rows,
 * because bytes may overflow int. */
static status exchange_planes(redistance *r, size_t plane) {
  const grid *grid = &r->distance.pencils.grid;
  const int below = grid_neighbour(grid, GRID_LOW), above = grid_neighbour(grid, GRID_HIGH);
  const int low = below < 0 ? MPI_PROC_NULL : below, high = above < 0 ? MPI_PROC_NULL : above;
  const int rows = (int)grid->n[1];
  char *const values = r->values;
  const size_t last = (size_t)grid->nz * plane;
  MPI_Datatype row;
  CHECK_MPI(MPI_Type_contiguous((int)(plane / (size_t)grid->n[1]), MPI_BYTE, &row));
  CHECK_MPI(MPI_Type_commit(&row));
  CHECK_MPI(MPI_Sendrecv(values + last, rows, row, high, 0, values, rows, row, low, 0,
                         r->distance.pencils.comm, MPI_STATUS_IGNORE));
  CHECK_MPI(MPI_Sendrecv(values + plane, rows, row, low, 1, values + last + plane, rows, row, high, 1,
                         r->distance.pencils.comm, MPI_STATUS_IGNORE));
  CHECK_MPI(MPI_Type_free(&row));
  return STATUS_OK;
}

static int is_finite(const level_set *set) {
  const grid *grid = set->grid;
  int finite = 1;
#pragma omp parallel for schedule(static) reduction(&& : finite)
  for (int64_t row = 0; row < grid->nz * grid->n[1]; row++) {
    for (int64_t x = 0; x < grid->n[0]; x++)
      finite = finite && isfinite(level_set_value(set, x, row % grid->n[1], row / grid->n[1]));
  }
  return finite;
}

status redistance_run(redistance *r, field *phi) {
  const grid *grid = &r->distance.pencils.grid;
  const precision precision = phi->shape.precision;
  const size_t plane = plane_bytes(grid, precision);
  MPI_Comm comm = r->distance.pencils.comm;
  const level_set set = {.grid = grid, .precision = precision, .values = r->values};
  int64_t inside = 0, found[2] = {0, 0};
  CHECK(agree(comm, field_load(phi, 0, grid->nz, (char *)r->values + plane)));
  CHECK(exchange_planes(r, plane));
  level_set_count(&set, &inside, &found[0]);
  found[1] = is_finite(&set) ? 0 : 1;
  CHECK_MPI(MPI_Allreduce(MPI_IN_PLACE, found, 2, MPI_INT64_T, MPI_SUM, comm));
  if (found[0] == 0 || found[1] > 0) return STATUS_OK;
  return distance_renew(&r->distance, &set, phi);
}
