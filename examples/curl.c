/* An operation of one's own, made of installed ones: the curl of a vector field. Each component is a
 * difference of two derivatives, curl_i = d v_k / d j - d v_j / d k, so it takes two derivatives and one
 * axpy, on any backend and any number of ranks. The field is an ABC flow with A = B = C = 1, which is its own
 * curl times 2 pi. mpirun -np 2 curl */
#include <math.h>
#include <stdio.h>

#include "domain/operators.h"
#include "domain/slab.h"

enum { N = 32 };
static const double pi = 3.14159265358979323846;

/* out[i] = (curl v)[i]. Collective; the halos of v are valid afterwards, those of out are not. `scratch` is
 * overwritten. */
static status curl(slab *slab, const field v[3], field *scratch, field out[3]) {
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    const kernels_launch launch = {.context = slab->context,
                                   .queue = QUEUE_MAIN,
                                   .shape = slab->space.shape,
                                   .planes = {{0, slab->grid.nz}},
                                   .stencil = &slab->stencil};
    CHECK(operators_derivative(&slab->halo, &slab->stencil, (axis)j, &v[k], &out[i]));
    CHECK(operators_derivative(&slab->halo, &slab->stencil, (axis)k, &v[j], scratch));
    CHECK(apply_axpy(slab->backend, &launch, -1.0, scratch->data, out[i].data));
  }
  return STATUS_OK;
}

static void abc_row(const void *user, int64_t z, int64_t y, double *row) {
  const int component = *(const int *)user;
  const double k = 2 * pi / N;
  for (int x = 0; x < N; x++) {
    const double at[3] = {k * x, k * (double)y, k * (double)z};
    row[x] = sin(at[(component + 2) % 3]) + cos(at[(component + 1) % 3]);
  }
}

/* Prints the largest |w - 2 pi v| of all points, where v is the formula. */
static status compare(const slab *slab, const field w[3]) {
  static double found[N][N][N], row[N];
  double error = 0.0;
  for (int i = 0; i < 3; i++) {
    CHECK(field_load(&w[i], 0, slab->grid.nz, found));
    for (int z = 0; z < slab->grid.nz; z++) {
      for (int y = 0; y < N; y++) {
        abc_row(&i, slab->grid.z0 + z, y, row);
        for (int x = 0; x < N; x++) error = fmax(error, fabs(found[z][y][x] - 2 * pi * row[x]));
      }
    }
  }
  CHECK_MPI(MPI_Allreduce(MPI_IN_PLACE, &error, 1, MPI_DOUBLE, MPI_MAX, slab->comm));
  if (slab->grid.rank == 0) printf("curl v = 2 pi v, off by %.1e at most\n", error);
  return STATUS_OK;
}

static status run(slab *slab, field f[7]) {
  field *v = f, *w = f + 3, *scratch = f + 6;
  for (int i = 0; i < 7; i++) CHECK(field_create(&slab->space, &f[i]));
  for (int i = 0; i < 3; i++) CHECK(field_fill(&v[i], slab->grid.z0, N, 0, abc_row, &i));
  CHECK(curl(slab, v, scratch, w));
  CHECK(compare(slab, w));
  return halo_leave(&slab->halo);
}

int main(int argc, char **argv) {
  slab slab;
  field fields[7] = {{0}};
  const slab_request request = {.n = {N, N, N},
                                .l = {1, 1, 1},
                                .order = 8,
                                .precision = PRECISION_DOUBLE,
                                .backend = argc > 1 ? argv[1] : "cpu",
                                .fields = 1};
  MPI_Init(&argc, &argv);
  status result = slab_open(MPI_COMM_WORLD, &request, &slab);
  if (result == STATUS_OK) result = run(&slab, fields);
  if (result != STATUS_OK) {
    fprintf(stderr, "curl: %s\n", status_message(result));
    MPI_Abort(MPI_COMM_WORLD, status_exit_code(result));
  }
  for (int i = 0; i < 7; i++) field_destroy(&fields[i]);
  slab_close(&slab);
  return MPI_Finalize();
}
