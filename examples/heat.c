/* The heat equation d phi/dt = Laplacian phi on the unit cube, with differences of order 8 and rk4, against
 * the solution exp(-12 pi^2 t) sin(2 pi x) sin(2 pi y) sin(2 pi z).   mpirun -np 2 heat */
#include <math.h>
#include <stdio.h>

#include "domain/slab.h"
#include "stepping/stepper.h"

enum { N = 32, STEPS = 100 };
static const double pi = 3.14159265358979323846, dt = 1e-4;
static const char *const names[] = {"phi"};

static void sines(const void *height, int64_t z, int64_t y, double *row) {
  const double k = 2 * pi / N, s = *(const double *)height * sin(k * (double)y) * sin(k * (double)z);
  for (int x = 0; x < N; x++) row[x] = sin(k * x) * s;
}

/* One stage: the scheme's sum of earlier states, and its weight times the Laplacian, in one kernel. */
static status heat_stage(void *stencil, const stage *stage) {
  const kernels_launch launch = stage_launch(stage, stencil);
  kernels_call call = {.kind = OPERATION_advection,
                       .options = ADVECTION_UNIFORM | ADVECTION_GRADIENT | ADVECTION_DIFFUSION,
                       .weight = {[WEIGHT_PART + ADVECTION_PART_DIFFUSION] = 1}};
  stage_sum(stage, 0, &call);
  CHECK(stage->f->part[0].backend->apply(&launch, &call));
  return stage_end(stage);
}

static status run(slab *slab, stepper *stepper) {
  static double now[N][N][N], row[N], error; /* error: the largest of this rank */
  const stepper_rhs heat = {.self = &slab->stencil, .linear = 1, .steady = 1, .stage = heat_stage};
  CHECK(
      stepper_create(&slab->space, 1, names, schemes_at(schemes_find("rk4")), heat, &slab->halo, 1, stepper));
  field *phi = &stepper_state(stepper)->part[0];
  CHECK(field_fill(phi, slab->grid.z0, N, 0, sines, &(double){1}));
  CHECK(stepper_connect(stepper));
  for (int step = 0; step < STEPS; step++) CHECK(stepper_step(stepper, step * dt, dt, 0));
  CHECK(field_load(phi, 0, slab->grid.nz, now));
  for (int i = 0; i < slab->grid.nz * N; i++) {
    sines(&(double){exp(-12 * pi * pi * STEPS * dt)}, slab->grid.z0 + i / N, i % N, row);
    for (int x = 0; x < N; x++) error = fmax(error, fabs(now[i / N][i % N][x] - row[x]));
  }
  CHECK_MPI(MPI_Allreduce(MPI_IN_PLACE, &error, 1, MPI_DOUBLE, MPI_MAX, slab->comm));
  if (slab->grid.rank == 0) printf("t = %g: phi is off by %.1e at most\n", STEPS * dt, error);
  return halo_leave(&slab->halo);
}

int main(int argc, char **argv) {
  slab slab;
  stepper stepper = {0};
  const slab_request request = {{N, N, N}, {1, 1, 1}, 8, PRECISION_DOUBLE, argc > 1 ? argv[1] : "cpu", 1};
  MPI_Init(&argc, &argv);
  status result = slab_open(MPI_COMM_WORLD, &request, &slab);
  if (result == STATUS_OK) result = run(&slab, &stepper);
  if (result != STATUS_OK) fprintf(stderr, "heat: %s\n", status_message(result));
  if (result != STATUS_OK) MPI_Abort(MPI_COMM_WORLD, status_exit_code(result));
  stepper_destroy(&stepper);
  slab_close(&slab);
  return MPI_Finalize();
}
