/* Halos on a grid with two ends in z: between slabs as on a periodic grid; beyond an end nothing is received,
 * and the halo planes keep what they held. Run on several ranks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "domain/halo.h"

enum { NX = 9, NY = 10, NZ = 17 };

static void require(int holds, const char *what, int rank) {
  if (holds) return;
  (void)fprintf(stderr, "rank %d: not so: %s (%s)\n", rank, what, status_message(STATUS_OK));
  (void)MPI_Abort(MPI_COMM_WORLD, 1);
}
#define REQUIRE(condition) require((condition) ? 1 : 0, #condition, grid.rank)

/* Every value is the number of its plane. */
static void plane_row(const void *user, int64_t z, int64_t y, double *row) {
  (void)user;
  (void)y;
  for (int x = 0; x < NX; x++) row[x] = (double)z;
}

static double value_of(const field *field, int z) {
  static double plane[NX * NY];
  return field_load(field, z, 1, plane) == STATUS_OK ? plane[NX * NY - 1] : -1.0;
}

int main(int argc, char **argv) {
  const kernels *backend = kernels_find("cpu");
  const kernels_setup setup = {.threads = 1};
  const double before = -7.0;
  double planes[NX * NY];
  int rank = 0;
  int ranks = 1;
  grid grid;
  kernels_context *context = NULL;
  field_space space;
  field f;
  halo halo;
  (void)MPI_Init(&argc, &argv);
  (void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  (void)MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 0; i < NX * NY; i++) planes[i] = before;
  grid.rank = rank;
  REQUIRE(grid_make((const int64_t[3]){NX, NY, NZ}, (const double[3]){1.0, 1.0, 1.0}, ranks, rank, &grid) ==
          STATUS_OK);
  REQUIRE(grid_bound(&grid, 2, 2) == STATUS_OK);
  REQUIRE(backend->context_create(&setup, &context) == STATUS_OK);
  REQUIRE(field_space_open(backend, context, grid_shape(&grid, PRECISION_DOUBLE, 1), &space) == STATUS_OK);
  REQUIRE(field_create(&space, &f) == STATUS_OK);
  REQUIRE(halo_create(MPI_COMM_WORLD, &grid, &space, TRANSPORT_HOST, 1, &halo) == STATUS_OK);
  REQUIRE(field_fill(&f, grid.z0, NZ, 0, plane_row, NULL) == STATUS_OK);
  for (int z = 1; z <= KERNELS_HALO; z++) {
    REQUIRE(field_store(&f, -z, 1, planes) == STATUS_OK);
    REQUIRE(field_store(&f, grid.nz - 1 + z, 1, planes) == STATUS_OK);
  }
  REQUIRE(halo_exchange(&halo, 1, (const field *const[]){&f}) == STATUS_OK);
  for (int z = 1; z <= KERNELS_HALO; z++) {
    const int64_t top = grid.z0 + grid.nz - 1 + z;
    REQUIRE(value_of(&f, -z) == (rank == 0 ? before : (double)(grid.z0 - z)));
    REQUIRE(value_of(&f, grid.nz - 1 + z) == (rank == ranks - 1 ? before : (double)top));
  }
  REQUIRE(value_of(&f, 0) == (double)grid.z0 && value_of(&f, grid.nz - 1) == (double)(grid.z0 + grid.nz - 1));
  halo_destroy(&halo);
  field_destroy(&f);
  field_space_close(&space);
  backend->context_destroy(context);
  return MPI_Finalize() == MPI_SUCCESS ? 0 : 1;
}
