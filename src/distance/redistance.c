#include "distance/redistance.h"

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

status redistance_run(redistance *r, field *phi) {
  const grid *grid = &r->distance.pencils.grid;
  const precision precision = phi->shape.precision;
  const size_t plane = plane_bytes(grid, precision);
  MPI_Comm comm = r->distance.pencils.comm;
  const level_set set = {.grid = grid, .precision = precision, .values = r->values};
  int64_t counts[LEVEL_SET_COUNTS];
  CHECK(agree(comm, field_load(phi, 0, grid->nz, (char *)r->values + plane)));
  CHECK(exchange_planes(r, plane));
  level_set_count(&set, counts);
  CHECK_MPI(MPI_Allreduce(MPI_IN_PLACE, counts, LEVEL_SET_COUNTS, MPI_INT64_T, MPI_SUM, comm));
  if (counts[LEVEL_SET_CROSSED] == 0 || counts[LEVEL_SET_INFINITE] > 0) return STATUS_OK;
  return distance_renew(&r->distance, &set, phi);
}
