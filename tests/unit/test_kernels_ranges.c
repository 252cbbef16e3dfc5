#include "arrays.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Ranges of planes, thread counts, what must not be read and what must not be written. */

/* The same with the velocity of tables. */
static advection_stage formula_of(const rig *rig, const arrays *a, int device) {
  advection_stage stage = stage_of(a, device);
  stage.out = device ? a->out[6].device : a->out[6].host;
  for (int d = 0; d < 3; d++) stage.velocity[d] = NULL;
  stage.tables = twin_tables_at(rig, &a->tables, device);
  return stage;
}

static kernels_launch launch_on(const rig *rig, const kernels_planes planes[KERNELS_RANGES]) {
  kernels_launch launch = rig->launch;
  for (int i = 0; i < KERNELS_RANGES; i++) launch.planes[i] = planes[i];
  return launch;
}

/* Operations on all arrays, on the device. */
static void device_run(rig *rig, const arrays *a, const kernels_planes planes[KERNELS_RANGES]) {
  const kernels_launch launch = launch_on(rig, planes);
  void *const gradient[3] = {a->out[0].device, a->out[1].device, a->out[2].device};
  const void *const v[3] = {a->in[1].device, a->in[2].device, a->in[0].device};
  const advection_stage stage = stage_of(a, 1), formula = formula_of(rig, a, 1);
  assert_ok(apply_gradient(rig->backend, &launch, a->in[0].device, gradient));
  assert_ok(apply_divergence(rig->backend, &launch, v, a->out[3].device));
  assert_ok(apply_laplacian(rig->backend, &launch, a->in[0].device, a->out[4].device));
  assert_ok(advection_apply(rig->backend, &launch, &stage));
  assert_ok(advection_apply(rig->backend, &launch, &formula));
}

static void host_run(rig *rig, arrays *a, const kernels_planes planes[KERNELS_RANGES]) {
  const kernels_launch launch = launch_on(rig, planes);
  void *const gradient[3] = {a->out[0].host, a->out[1].host, a->out[2].host};
  const void *const v[3] = {a->in[1].host, a->in[2].host, a->in[0].host};
  const advection_stage stage = stage_of(a, 0), formula = formula_of(rig, a, 0);
  reference_gradient(&launch, a->in[0].host, gradient);
  reference_divergence(&launch, v, a->out[3].host);
  reference_laplacian(&launch, a->in[0].host, a->out[4].host);
  reference_stage(&launch, &stage);
  reference_stage(&launch, &formula);
}

static void outputs_assert_equal(rig *rig, const arrays *a, const char *what) {
  for (int i = 0; i < OUTPUTS; i++) twin_assert_equal(rig, &a->out[i], what);
}

/* Planes outside a range keep their sentinel: twins are compared whole, halos included. */
static void parts_write_their_planes_only(rig *rig) {
  static const kernels_planes ranges[][KERNELS_RANGES] = {{{0, 4}},   {{3, 4}}, {{4, 9}}, {{9, 13}},
                                                          {{12, 13}}, {{5, 5}}, {{7, 3}}};
  for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
    rig_shape(rig, 33, 20, 13);
    arrays a = arrays_make(rig);
    device_run(rig, &a, ranges[i]);
    host_run(rig, &a, ranges[i]);
    outputs_assert_equal(rig, &a, "part of the planes");
    arrays_free(rig, &a);
  }
}

/* Apart, side by side, out of order, and empty, before and after the other. */
static const kernels_planes pairs[][KERNELS_RANGES] = {
    {{0, 4}, {9, 13}},  {{9, 13}, {0, 4}}, {{0, 6}, {7, 13}},  {{2, 5}, {5, 10}},
    {{3, 4}, {11, 12}}, {{5, 5}, {2, 11}}, {{7, 3}, {12, 13}}, {{1, 2}, {13, 0}},
};
enum { PAIRS = sizeof pairs / sizeof pairs[0] };

/* Both ranges are written, and nothing else. */
static void two_ranges_in_one_launch(rig *rig) {
  for (size_t i = 0; i < PAIRS; i++) {
    rig_shape(rig, 33, 20, 13);
    arrays a = arrays_make(rig);
    device_run(rig, &a, pairs[i]);
    host_run(rig, &a, pairs[i]);
    outputs_assert_equal(rig, &a, "two ranges");
    arrays_free(rig, &a);
  }
}

/* What backends keep for large launches takes both ranges, too. */
static void large_ranges_in_one_launch(rig *rig) {
  for (int s = 0; s < RIG_LARGE; s++) {
    rig_shape(rig, rig_large[s][0], rig_large[s][1], rig_large[s][2]);
    const int nz = rig->launch.shape.nz;
    const kernels_planes planes[KERNELS_RANGES] = {{0, 27}, {30, nz}};
    arrays a = arrays_make(rig);
    device_run(rig, &a, planes);
    host_run(rig, &a, planes);
    outputs_assert_equal(rig, &a, "two large ranges");
    arrays_free(rig, &a);
  }
}

/* variant -1: what programs call. */
static status derivative_run(const rig *rig, const kernels_launch *launch, int variant, axis axis,
                             const void *f, void *out) {
  if (variant < 0) return apply_derivative(rig->backend, launch, axis, f, out);
  return rig->backend->derivative_variant(launch, variant, PART_WHOLE, axis, f, out);
}

/* Derivatives one by one, in all their variants. */
static void derivatives_check(rig *rig, const kernels_launch *launch, const twin *in) {
  for (int d = 0; d < 3; d++) {
    for (int variant = -1; variant < rig->backend->variant_count; variant++) {
      twin out = twin_sentinel(rig);
      assert_ok(derivative_run(rig, launch, variant, (axis)d, in->device, out.device));
      reference_derivative(launch, (axis)d, in->host, out.host);
      twin_assert_equal(rig, &out, "derivative on two ranges");
      twin_free(rig, &out);
    }
  }
}

static void single_operations_take_two_ranges(rig *rig) {
  rig_shape(rig, 33, 20, 13);
  twin in = twin_random(rig, 1);
  for (size_t i = 0; i < PAIRS; i++) {
    const kernels_launch launch = launch_on(rig, pairs[i]);
    derivatives_check(rig, &launch, &in);
    twin sum = twin_random(rig, 2);
    assert_ok(apply_axpy(rig->backend, &launch, 0.3, in.device, sum.device));
    reference_axpy(&launch, 0.3, in.host, sum.host);
    twin_assert_equal(rig, &sum, "axpy on two ranges");
    twin_free(rig, &sum);
  }
  twin_free(rig, &in);
}

/* Ranges of whole tiles, and of several pieces of a line. */
static void derivatives_take_two_long_ranges(rig *rig) {
  static const kernels_planes ranges[][KERNELS_RANGES] = {{{0, 64}, {70, 134}}, {{139, 140}, {3, 132}}};
  rig_shape(rig, 64, 32, 140);
  twin in = twin_random(rig, 3);
  for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
    const kernels_launch launch = launch_on(rig, ranges[i]);
    derivatives_check(rig, &launch, &in);
  }
  twin_free(rig, &in);
}

/* Edge planes and interior, as a step launches them, make the whole. */
static void parts_make_the_whole(rig *rig) {
  for (int s = 0; s < 5; s++) {
    rig_shape(rig, rig_shapes[s][0], rig_shapes[s][1], rig_shapes[s][2]);
    const int nz = rig->launch.shape.nz;
    const int low = nz < 4 ? nz : 4;
    const int high = nz - 4 > low ? nz - 4 : low;
    arrays a = arrays_make(rig);
    device_run(rig, &a, (kernels_planes[]){{0, low}, {high, nz}});
    device_run(rig, &a, (kernels_planes[]){{low, high}, {0, 0}});
    host_run(rig, &a, rig->launch.planes);
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
  device_run(rig, &a, (kernels_planes[]){{4, 7}, {0, 0}});
  host_run(rig, &a, (kernels_planes[]){{4, 7}, {0, 0}});
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

/* Random numbers, the host's halo planes being images; on the device they are NaN. */
static twin twin_images(rig *rig, int seed) {
  const kernels_shape *shape = &rig->launch.shape;
  twin twin = twin_random(rig, seed);
  twin_break_halos(rig, &twin);
  twin_upload(rig, &twin);
  for (int z = -KERNELS_HALO; z < shape->nz + KERNELS_HALO; z++) {
    const int image = (z + KERNELS_HALO * shape->nz) % shape->nz;
    for (int y = 0; y < shape->ny; y++) {
      for (int x = 0; x < shape->nx; x++) {
        reference_set(shape, twin.host, x, y, z, reference_value(shape, twin.host, x, y, image));
      }
    }
  }
  return twin;
}

static void whole_derivatives(rig *rig, const arrays *a) {
  for (int d = 0; d < 3; d++) {
    for (int variant = -1; variant < rig->backend->variant_count; variant++) {
      twin out = twin_sentinel(rig);
      assert_ok(derivative_run(rig, &rig->launch, variant, (axis)d, a->in[0].device, out.device));
      reference_derivative(&rig->launch, (axis)d, a->in[0].host, out.host);
      twin_assert_equal(rig, &out, "derivative of a whole slab");
      twin_free(rig, &out);
    }
  }
}

/* The forms that device_run leaves out. */
static void whole_stages(rig *rig, const arrays *a) {
  for (int i = 0; i < 5; i++) {
    const advection_form forms[5] = {FORM_ADVECTIVE, FORM_ADVECTIVE, FORM_CONSERVATIVE, FORM_ADVECTIVE,
                                     FORM_CONSERVATIVE};
    const int formula = i >= 3;
    advection_stage device = formula ? formula_of(rig, a, 1) : stage_of(a, 1);
    advection_stage host = formula ? formula_of(rig, a, 0) : stage_of(a, 0);
    device.form = host.form = forms[i];
    if (i == 0) {
      for (int d = 0; d < 3; d++) device.velocity[d] = host.velocity[d] = NULL;
      device.uniform[2] = host.uniform[2] = 0.7;
    }
    device.diffusion = host.diffusion = 0.0;
    assert_ok(advection_apply(rig->backend, &rig->launch, &device));
    reference_stage(&rig->launch, &host);
    twin_assert_equal(rig, &a->out[formula ? 6 : 5], "stage of a whole slab");
  }
}

/* A slab that is whole wraps around at its ends, as often as it takes, and does not look at halo planes: the
 * reference takes images from there. */
static void whole_slab(rig *rig, int nx, int ny, int nz) {
  rig_shape(rig, nx, ny, nz);
  rig->launch.shape.whole = 1;
  arrays a;
  for (int i = 0; i < INPUTS; i++) a.in[i] = twin_images(rig, i + 1);
  for (int i = 0; i < OUTPUTS; i++) a.out[i] = twin_sentinel(rig);
  a.tables = twin_tables(rig, INPUTS + 1);
  device_run(rig, &a, rig->launch.planes);
  host_run(rig, &a, rig->launch.planes);
  outputs_assert_equal(rig, &a, "whole slab");
  whole_derivatives(rig, &a);
  whole_stages(rig, &a);
  arrays_free(rig, &a);
}

static void whole_slabs_need_no_halos(rig *rig) {
  for (int nz = 1; nz <= 20; nz++) whole_slab(rig, 33, 9, nz);
  for (int s = 0; s < RIG_SHAPES; s++) whole_slab(rig, rig_shapes[s][0], rig_shapes[s][1], rig_shapes[s][2]);
  whole_slab(rig, rig_large[0][0], rig_large[0][1], rig_large[0][2]);
  for (int nz = 64; nz <= 131; nz += nz == 128 ? 3 : 32) whole_slab(rig, 32, 9, nz); /* pieces of lines */
}

static void largest_slabs_need_no_halos(rig *rig) {
  for (int s = 1; s < RIG_LARGE; s++) whole_slab(rig, rig_large[s][0], rig_large[s][1], rig_large[s][2]);
}

static void threads_do_not_show(rig *rig) {
  for (int threads = 1; threads <= 3; threads++) {
    rig_threads(rig, threads);
    for (int s = 0; s < 3; s++) {
      rig_shape(rig, rig_shapes[s][0], rig_shapes[s][1], rig_shapes[s][2]);
      arrays a = arrays_make(rig);
      device_run(rig, &a, rig->launch.planes);
      host_run(rig, &a, rig->launch.planes);
      outputs_assert_equal(rig, &a, "threads");
      arrays_free(rig, &a);
    }
  }
}

static void whole_fields(rig *rig, int nx, int ny, int nz, const char *what) {
  rig_shape(rig, nx, ny, nz);
  arrays a = arrays_make(rig);
  device_run(rig, &a, rig->launch.planes);
  host_run(rig, &a, rig->launch.planes);
  outputs_assert_equal(rig, &a, what);
  arrays_free(rig, &a);
}

/* Large enough for stores around the caches, where a backend has them, and for several tiles in each
 * direction. And as large, but with fewer rows than a tile. */
static void large_fields_are_the_reference(rig *rig) {
  const int single = rig->launch.shape.precision == PRECISION_SINGLE;
  whole_fields(rig, 301, 151, single ? 120 : 60, "large fields");
  whole_fields(rig, single ? 11001 : 5501, 9, 8, "fields of few rows");
}

int main(int argc, char **argv) {
  static const rig_test tests[] = {
      RIG_TEST(parts_write_their_planes_only),    RIG_TEST(two_ranges_in_one_launch),
      RIG_TEST(large_ranges_in_one_launch),       RIG_TEST(single_operations_take_two_ranges),
      RIG_TEST(derivatives_take_two_long_ranges), RIG_TEST(parts_make_the_whole),
      RIG_TEST(interior_does_not_see_halos),      RIG_TEST(whole_slabs_need_no_halos),
      RIG_TEST(largest_slabs_need_no_halos),      RIG_TEST(threads_do_not_show),
      RIG_TEST(large_fields_are_the_reference),
  };
  return rig_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
