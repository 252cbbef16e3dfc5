#include "rig.h"

#include <stdio.h>

/* Two stages in one sweep (kernels.apply_pair), bit for bit the two one after the other. Skipped on backends
 * without pairs. */

enum { PHI, BASE, MIDDLE, OUT, UNTOUCHED, ARRAYS };

/* The two stages of a pair: the first adds a base (or not, then it is phi that both stand on), the second the
 * same. */
static void stages_make(const twin arrays[ARRAYS], int based, int device, kernels_stage stages[2]) {
  void *at[ARRAYS];
  for (int i = 0; i < ARRAYS; i++) at[i] = device ? arrays[i].device : arrays[i].host;
  const kernels_stage common = {.uniform = {1.1, -0.7, 0.4}, .base = at[BASE], .weight_f = 0.25};
  stages[0] = stages[1] = common;
  stages[0].f = at[PHI];
  if (!based) {
    stages[0].base = NULL;
    stages[1].base = at[PHI];
  }
  stages[0].out = at[MIDDLE];
  stages[1].f = at[MIDDLE];
  stages[0].advection = -1.0 / 300.0;
  stages[1].advection = -1.0 / 170.0;
  stages[1].out = at[OUT];
}

/* The halo planes of a host twin, from which the reference takes images. */
static void images_set(const rig *rig, const twin *twin) {
  const kernels_shape *shape = &rig->launch.shape;
  for (int z = -KERNELS_HALO; z < shape->nz + KERNELS_HALO; z++) {
    const int image = (z + KERNELS_HALO * shape->nz) % shape->nz;
    for (int y = 0; y < shape->ny; y++) {
      for (int x = 0; x < shape->nx; x++) {
        reference_set(shape, twin->host, x, y, z, reference_value(shape, twin->host, x, y, image));
      }
    }
  }
}

/* Inputs whose halo planes are NaN on the device: images are made from the points there, not read. */
static void arrays_make(rig *rig, twin arrays[ARRAYS]) {
  for (int i = 0; i < ARRAYS; i++) arrays[i] = i < MIDDLE ? twin_random(rig, i + 1) : twin_sentinel(rig);
  for (int i = 0; i < MIDDLE; i++) {
    twin_break_halos(rig, &arrays[i]);
    twin_upload(rig, &arrays[i]);
    images_set(rig, &arrays[i]);
  }
}

static void reference_run(const rig *rig, const twin arrays[ARRAYS], int based) {
  kernels_stage stages[2];
  stages_make(arrays, based, 0, stages);
  reference_stage(&rig->launch, &stages[0]);
  images_set(rig, &arrays[MIDDLE]);
  reference_stage(&rig->launch, &stages[1]);
}

static void pair_check(rig *rig, int based, const char *what) {
  twin arrays[ARRAYS];
  kernels_stage stages[2];
  arrays_make(rig, arrays);
  reference_run(rig, arrays, based);
  stages_make(arrays, based, 1, stages);
  const kernels_call first = kernels_stage_call(&stages[0], rig->launch.shape.precision);
  const kernels_call second = kernels_stage_call(&stages[1], rig->launch.shape.precision);
  assert_null(rig->backend->pair_refused(&rig->launch, &first, &second, 1));
  assert_ok(rig->backend->apply_pair(&rig->launch, &first, &second));
  twin_assert_equal(rig, &arrays[OUT], what);
  twin_assert_same(rig, &arrays[MIDDLE], &arrays[UNTOUCHED], "what the second stage reads is not stored");
  for (int i = 0; i < ARRAYS; i++) twin_free(rig, &arrays[i]);
}

static void shape_set(rig *rig, int nx, int ny, int nz) {
  rig_shape(rig, nx, ny, nz);
  rig->launch.shape.whole = 1;
}

/* Tiles that are cut short, several tiles along each axis, rows that end with a part of a vector, planes that
 * wrap around more than once. */
static void pairs_are_the_reference(rig *rig) {
  static const int shapes[][3] = {{9, 9, 1},    {9, 9, 4},   {33, 20, 37},  {64, 24, 16}, {65, 25, 8},
                                  {130, 11, 5}, {70, 75, 9}, {131, 49, 21}, {128, 48, 40}};
  if (rig->backend->apply_pair == NULL) skip();
  for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
    shape_set(rig, shapes[s][0], shapes[s][1], shapes[s][2]);
    rig_stencil(rig, 8 - 2 * (int)(s % 4), 0.02, 0.03, 0.04);
    for (int based = 0; based < 2; based++) {
      char what[96];
      (void)snprintf(what, sizeof what, "pair on %d x %d x %d, base %d", shapes[s][0], shapes[s][1],
                     shapes[s][2], based);
      pair_check(rig, based, what);
    }
  }
}

/* What there is no kernel for is said, and never computed otherwise. */
static void others_are_refused(rig *rig) {
  twin arrays[ARRAYS];
  kernels_stage stages[2];
  if (rig->backend->apply_pair == NULL) skip();
  shape_set(rig, 33, 20, 9);
  arrays_make(rig, arrays);
  stages_make(arrays, 1, 1, stages);
  const enum precision precision = rig->launch.shape.precision;
  const kernels_call first = kernels_stage_call(&stages[0], precision);
  stages[1].base = arrays[PHI].device; /* not the first one's */
  kernels_call second = kernels_stage_call(&stages[1], precision);
  assert_non_null(rig->backend->pair_refused(&rig->launch, &first, &second, 1));
  stages[1].base = arrays[BASE].device;
  stages[1].diffusion = 0.1;
  second = kernels_stage_call(&stages[1], precision);
  assert_non_null(rig->backend->pair_refused(&rig->launch, &first, &second, 1));
  stages[1].diffusion = 0.0;
  second = kernels_stage_call(&stages[1], precision);
  assert_null(rig->backend->pair_refused(&rig->launch, &first, &second, 1));
  rig->launch.shape.whole = 0;
  assert_non_null(rig->backend->pair_refused(&rig->launch, &first, &second, 1));
  for (int i = 0; i < ARRAYS; i++) twin_free(rig, &arrays[i]);
}

int main(int argc, char **argv) {
  static const rig_test tests[] = {RIG_TEST(pairs_are_the_reference), RIG_TEST(others_are_refused)};
  return rig_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
