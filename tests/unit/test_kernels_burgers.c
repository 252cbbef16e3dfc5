#include "rig.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "burgers.h"

/* A second system on the engines of two-point fluxes: Burgers' equation, against differences of fluxes, and
 * for the same bits on every backend. */

static burgers_stage *stage_of(const rig *rig) {
  const int single = rig->launch.shape.precision == PRECISION_SINGLE;
#ifdef BURGERS_CUDA
  if (strcmp(rig->backend->name, "cuda") == 0) return single ? burgers_cuda_float : burgers_cuda_double;
#endif
  return single ? burgers_cpu_float : burgers_cpu_double;
}

/* Numbers in (-1, 1) from a seed, with periodic images in the halos. */
static double noise(const rig *rig, const void *user, int x, int y, int z) {
  const int nz = rig->launch.shape.nz;
  const unsigned seed = *(const unsigned *)user;
  const unsigned hash =
      ((unsigned)x * 73856093U) ^ ((unsigned)y * 19349663U) ^ ((unsigned)((z + nz) % nz) * 83492791U) ^ seed;
  return (double)((hash * 2654435761U) >> 8) / (1 << 23) - 1.0;
}

static double zero(const rig *rig, const void *user, int x, int y, int z) {
  (void)rig;
  (void)user;
  (void)x;
  (void)y;
  (void)z;
  return 0.0;
}

static double flux(double u, double v) {
  return (u * u + u * v + v * v) / 6.0;
}

/* du/dt at a point: for each axis and distance the flux to the point above less that from the point below. */
static double rate_at(const rig *rig, const twin *f, const int at[3]) {
  const kernels_shape *shape = &rig->launch.shape;
  const int n[3] = {shape->nx, shape->ny, shape->nz};
  const double u = reference_value(shape, f->host, at[0], at[1], at[2]);
  double rate = 0.0;
  for (int d = 0; d < 3; d++) {
    for (int l = 1; l <= STENCIL_RADIUS; l++) {
      int up[3] = {at[0], at[1], at[2]}, down[3] = {at[0], at[1], at[2]};
      up[d] = (at[d] + l) % n[d];
      down[d] = (at[d] - l + n[d]) % n[d];
      const double above = reference_value(shape, f->host, up[0], up[1], up[2]);
      const double below = reference_value(shape, f->host, down[0], down[1], down[2]);
      rate -= 2.0 * rig->stencil.first[d][l - 1] * (flux(u, above) - flux(below, u));
    }
  }
  return rate;
}

static void expect_rates(rig *rig, int nx, int ny, int nz, int order) {
  const double bound = rig->launch.shape.precision == PRECISION_SINGLE ? 1e-5 : 2e-14;
  const unsigned seed = 5;
  double energy = 0.0, size = 0.0;
  rig_shape(rig, nx, ny, nz);
  rig_stencil(rig, order, 0.3, 0.4, 0.5);
  twin f = twin_make(rig, noise, &seed), base = twin_make(rig, zero, NULL), out = twin_sentinel(rig);
  assert_ok(stage_of(rig)(&rig->launch, f.device, base.device, 1.0, out.device));
  twin_download(rig, &out);
  for (int p = 0; p < nx * ny * nz; p++) {
    const int at[3] = {p % nx, p / nx % ny, p / nx / ny};
    const double found = reference_value(&rig->launch.shape, out.host, at[0], at[1], at[2]);
    const double expected = rate_at(rig, &f, at);
    if (!(fabs(found - expected) <= bound))
      fail_msg("rows of %d, point %d %d %d: %.17g, expected %.17g", nx, at[0], at[1], at[2], found, expected);
    const double work = found * reference_value(&rig->launch.shape, f.host, at[0], at[1], at[2]);
    energy += work;
    size += fabs(work);
  }
  /* this flux keeps the sum of u^2 */
  if (!(fabs(energy) <= bound * size)) fail_msg("the energy changes by %g of %g", energy, size);
  twin_free(rig, &f);
  twin_free(rig, &base);
  twin_free(rig, &out);
}

static void rates_are_differences_of_fluxes(rig *rig) {
  for (int i = 0; i < 5; i++)
    expect_rates(rig, rig_shapes[i][0], rig_shapes[i][1], rig_shapes[i][2], 8 - 2 * (i % 4));
}

/* Periodic images lie at every place of a line of points. */
static void rows_of_any_length_have_their_images(rig *rig) {
  for (int nx = 9; nx <= 40; nx++) expect_rates(rig, nx, 9, 9, 8);
}

/* The CPU's memory with what the host twin holds. */
static void *copy_of(const kernels *cpu, kernels_context *context, const twin *t) {
  void *copy;
  assert_ok(cpu->memory_allocate(context, MEMORY_DEVICE, t->bytes, &copy));
  memcpy(copy, t->host, t->bytes);
  return copy;
}

/* The second shape is large enough for a device of five multiprocessors to march. */
static void stages_have_the_bits_of_the_cpu(rig *rig) {
  static const int shapes[2][3] = {{33, 20, 17}, {70, 21, 19}};
  const kernels *cpu = kernels_find("cpu");
  const unsigned seeds[2] = {5, 77};
  for (int i = 0; i < 4; i++) {
    const int *n = shapes[i / 2];
    rig_shape(rig, n[0], n[1], n[2]);
    rig->launch.shape.whole = i % 2;
    twin f = twin_make(rig, noise, &seeds[0]), base = twin_make(rig, noise, &seeds[1]);
    kernels_launch launch = rig->launch;
    assert_ok(cpu->context_create(&(kernels_setup){.threads = 1}, &launch.context));
    void *copies[2] = {copy_of(cpu, launch.context, &f), copy_of(cpu, launch.context, &base)};
    assert_ok(stage_of(rig)(&rig->launch, f.device, base.device, 0.01, base.device));
    assert_ok((launch.shape.precision == PRECISION_SINGLE ? burgers_cpu_float : burgers_cpu_double)(
        &launch, copies[0], copies[1], 0.01, copies[1]));
    memcpy(base.host, copies[1], base.bytes);
    twin_assert_equal(rig, &base, "as on the CPU");
    for (int k = 0; k < 2; k++) cpu->memory_free(launch.context, MEMORY_DEVICE, copies[k]);
    cpu->context_destroy(launch.context);
    twin_free(rig, &f);
    twin_free(rig, &base);
  }
}

int main(int argc, char **argv) {
  static const rig_test tests[] = {
      RIG_TEST(rates_are_differences_of_fluxes),
      RIG_TEST(rows_of_any_length_have_their_images),
      RIG_TEST(stages_have_the_bits_of_the_cpu),
  };
  return rig_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
