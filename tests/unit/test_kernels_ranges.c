#include "rig.h"

#include <math.h>

/* Ranges of planes, thread counts, what must not be read and what must not be written. */

enum { INPUTS = 7, OUTPUTS = 6 }; /* gradient's three, divergence, Laplacian, stage */

typedef struct arrays {
  twin in[INPUTS], out[OUTPUTS];
} arrays;

static arrays arrays_make(rig *rig) {
  arrays arrays;
  for (int i = 0; i < INPUTS; i++) arrays.in[i] = twin_random(rig, i + 1);
  for (int i = 0; i < OUTPUTS; i++) arrays.out[i] = twin_sentinel(rig);
  return arrays;
}

static void arrays_free(rig *rig, arrays *arrays) {
  for (int i = 0; i < INPUTS; i++) twin_free(rig, &arrays->in[i]);
  for (int i = 0; i < OUTPUTS; i++) twin_free(rig, &arrays->out[i]);
}

static kernels_stage stage_of(const arrays *a, int device) {
  const void *in[INPUTS];
  for (int i = 0; i < INPUTS; i++) in[i] = device ? a->in[i].device : a->in[i].host;
  return (kernels_stage){
      .out = device ? a->out[5].device : a->out[5].host,
      .f = in[0],
      .base = in[1],
      .weight_f = 0.25,
      .extra = {in[2], in[3]},
      .weight_extra = {0.5, 0.125},
      .form = FORM_SKEW,
      .advection = -0.003,
      .velocity = {in[4], in[5], in[6]},
      .diffusion = 0.0001,
  };
}

/* All operations on the device, on planes [z0, z1). */
static void device_run(rig *rig, const arrays *a, int z0, int z1) {
  kernels_launch launch = rig->launch;
  launch.planes = (kernels_planes){z0, z1};
  void *const gradient[3] = {a->out[0].device, a->out[1].device, a->out[2].device};
  const void *const v[3] = {a->in[1].device, a->in[2].device, a->in[0].device};
  const kernels_stage stage = stage_of(a, 1);
  assert_ok(rig->backend->gradient(&launch, a->in[0].device, gradient));
  assert_ok(rig->backend->divergence(&launch, v, a->out[3].device));
  assert_ok(rig->backend->laplacian(&launch, a->in[0].device, a->out[4].device));
  assert_ok(rig->backend->stage(&launch, &stage));
}

static void host_run(rig *rig, arrays *a, int z0, int z1) {
  kernels_launch launch = rig->launch;
  launch.planes = (kernels_planes){z0, z1};
  void *const gradient[3] = {a->out[0].host, a->out[1].host, a->out[2].host};
  const void *const v[3] = {a->in[1].host, a->in[2].host, a->in[0].host};
  const kernels_stage stage = stage_of(a, 0);
  reference_gradient(&launch, a->in[0].host, gradient);
  reference_divergence(&launch, v, a->out[3].host);
  reference_laplacian(&launch, a->in[0].host, a->out[4].host);
  reference_stage(&launch, &stage);
}

static void outputs_assert_equal(rig *rig, const arrays *a, const char *what) {
  for (int i = 0; i < OUTPUTS; i++) twin_assert_equal(rig, &a->out[i], what);
}

/* Planes outside a range keep their sentinel: twins are compared whole, halos included. */
static void parts_write_their_planes_only(rig *rig) {
  static const int ranges[][2] = {{0, 4}, {3, 4}, {4, 9}, {9, 13}, {12, 13}, {5, 5}, {7, 3}};
  for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
    rig_shape(rig, 33, 20, 13);
    arrays a = arrays_make(rig);
    device_run(rig, &a, ranges[i][0], ranges[i][1]);
    host_run(rig, &a, ranges[i][0], ranges[i][1]);
    outputs_assert_equal(rig, &a, "part of the planes");
    arrays_free(rig, &a);
  }
}

/* Edge planes and interior, as a step launches them, make the whole. */
static void parts_make_the_whole(rig *rig) {
  for (int s = 0; s < 5; s++) {
    rig_shape(rig, rig_shapes[s][0], rig_shapes[s][1], rig_shapes[s][2]);
    const int nz = rig->launch.shape.nz;
    const int low = nz < 4 ? nz : 4;
    const int high = nz - 4 > low ? nz - 4 : low;
    arrays a = arrays_make(rig);
    device_run(rig, &a, high, nz);
    device_run(rig, &a, 0, low);
    device_run(rig, &a, low, high);
    host_run(rig, &a, 0, nz);
    outputs_assert_equal(rig, &a, "whole from parts");
    arrays_free(rig, &a);
  }
}

/* Interior planes are made before the halos have arrived. */
static void interior_does_not_see_halos(rig *rig) {
  rig_shape(rig, 40, 18, 11);
  arrays a = arrays_make(rig);
  for (int i = 0; i < INPUTS; i++) {
    twin_break_halos(rig, &a.in[i]);
    twin_upload(rig, &a.in[i]);
  }
  device_run(rig, &a, 4, 7);
  host_run(rig, &a, 4, 7);
  outputs_assert_equal(rig, &a, "interior beside NaN");
  for (int y = 0; y < 18; y++) {
    for (int x = 0; x < 40; x++) {
      for (int i = 0; i < OUTPUTS; i++) {
        for (int z = 4; z < 7; z++) {
          if (isnan(reference_value(&rig->launch.shape, a.out[i].host, x, y, z)))
            fail_msg("NaN at %d %d %d", x, y, z);
        }
      }
    }
  }
  arrays_free(rig, &a);
}

static void threads_do_not_show(rig *rig) {
  for (int threads = 1; threads <= 3; threads++) {
    rig_threads(rig, threads);
    for (int s = 0; s < 3; s++) {
      rig_shape(rig, rig_shapes[s][0], rig_shapes[s][1], rig_shapes[s][2]);
      arrays a = arrays_make(rig);
      device_run(rig, &a, 0, rig->launch.shape.nz);
      host_run(rig, &a, 0, rig->launch.shape.nz);
      outputs_assert_equal(rig, &a, "threads");
      arrays_free(rig, &a);
    }
  }
}

/* Large enough for stores around the caches, where a backend has them, and for several tiles in each
 * direction. */
static void large_fields_are_the_reference(rig *rig) {
  rig_shape(rig, 301, 151, rig->launch.shape.precision == PRECISION_SINGLE ? 120 : 60);
  arrays a = arrays_make(rig);
  device_run(rig, &a, 0, rig->launch.shape.nz);
  host_run(rig, &a, 0, rig->launch.shape.nz);
  outputs_assert_equal(rig, &a, "large fields");
  arrays_free(rig, &a);
}

int main(int argc, char **argv) {
  static const rig_test tests[] = {
      RIG_TEST(parts_write_their_planes_only),  RIG_TEST(parts_make_the_whole),
      RIG_TEST(interior_does_not_see_halos),    RIG_TEST(threads_do_not_show),
      RIG_TEST(large_fields_are_the_reference),
  };
  return rig_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
