/* The gradient of phi = sin(2 pi x) cos(2 pi y) cos(4 pi z) on a box, and the divergence of that gradient, by
 * differences of order 8. Both are compared with the formulas; the answer is the same on any number of ranks.
 *     mpirun -np 3 gradient */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "domain/operators.h"
#include "domain/slab.h"

enum { NX = 48, NY = 40, NZ = 64, FIELDS = 5 };
static const double pi = 3.14159265358979323846;

/* phi, its derivatives along x, y, z, and its Laplacian, at a global point. */
static double formula(int which, int64_t x, int64_t y, int64_t z) {
  const double kx = 2 * pi, ky = 2 * pi, kz = 4 * pi;
  const double ax = kx * (double)x / NX, ay = ky * (double)y / NY, az = kz * (double)z / NZ;
  switch (which) {
  case 1:
    return kx * cos(ax) * cos(ay) * cos(az);
  case 2:
    return -ky * sin(ax) * sin(ay) * cos(az);
  case 3:
    return -kz * sin(ax) * cos(ay) * sin(az);
  case 4:
    return -(kx * kx + ky * ky + kz * kz) * sin(ax) * cos(ay) * cos(az);
  default:
    return sin(ax) * cos(ay) * cos(az);
  }
}

static void phi_row(const void *user, int64_t z, int64_t y, double *row) {
  (void)user;
  for (int64_t x = 0; x < NX; x++) row[x] = formula(0, x, y, z);
}

/* The largest difference between a field and its formula, over all ranks. */
static status compare(const slab *slab, const field *field, int which, const char *name) {
  const int nz = slab->grid.nz;
  double error = 0.0;
  double(*values)[NY][NX] = malloc((size_t)nz * sizeof *values);
  if (values == NULL) return status_fail(STATUS_MEMORY, "no memory for %d planes", nz);
  const status loaded = field_load(field, 0, nz, values);
  for (int z = 0; z < nz; z++) {
    for (int y = 0; y < NY; y++) {
      for (int x = 0; x < NX; x++)
        error = fmax(error, fabs(values[z][y][x] - formula(which, x, y, slab->grid.z0 + z)));
    }
  }
  free(values);
  CHECK(agree(slab->comm, loaded));
  CHECK_MPI(MPI_Allreduce(MPI_IN_PLACE, &error, 1, MPI_DOUBLE, MPI_MAX, slab->comm));
  if (slab->grid.rank == 0) printf("%-12s off by %.6e at most\n", name, error);
  return STATUS_OK;
}

static status run(slab *slab, field f[FIELDS]) {
  static const char *const names[FIELDS] = {"phi", "d phi/dx", "d phi/dy", "d phi/dz", "div grad phi"};
  field *const gradient[3] = {&f[1], &f[2], &f[3]};
  const field *const vector[3] = {&f[1], &f[2], &f[3]};
  for (int i = 0; i < FIELDS; i++) CHECK(field_create(&slab->space, &f[i]));
  CHECK(field_fill(&f[0], slab->grid.z0, NZ, 0, phi_row, NULL));
  CHECK(operators_gradient(&slab->halo, &slab->stencil, &f[0], gradient));
  CHECK(operators_divergence(&slab->halo, &slab->stencil, vector, &f[4]));
  for (int i = 1; i < FIELDS; i++) CHECK(compare(slab, &f[i], i, names[i]));
  return halo_leave(&slab->halo);
}

int main(int argc, char **argv) {
  slab slab;
  field fields[FIELDS] = {{0}};
  const slab_request request = {.n = {NX, NY, NZ},
                                .l = {1, 1, 1},
                                .order = 8,
                                .precision = PRECISION_DOUBLE,
                                .backend = argc > 1 ? argv[1] : "cpu",
                                .fields = 3};
  MPI_Init(&argc, &argv);
  status result = slab_open(MPI_COMM_WORLD, &request, &slab);
  if (result == STATUS_OK) result = run(&slab, fields);
  if (result != STATUS_OK) {
    fprintf(stderr, "gradient: %s\n", status_message(result));
    MPI_Abort(MPI_COMM_WORLD, status_exit_code(result));
  }
  for (int i = 0; i < FIELDS; i++) field_destroy(&fields[i]);
  slab_close(&slab);
  return MPI_Finalize();
}
