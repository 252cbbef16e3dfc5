#include "rig.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Plane sums: the documented order to the last bit, exact integers, extrema among NaN. */

static void sums_assert_equal(const kernels_plane_sums *a, const kernels_plane_sums *b, int count) {
  for (int i = 0; i < count; i++) {
    const double expected[7] = {a[i].sum,       a[i].sum_squares,   a[i].minimum,      a[i].maximum,
                                a[i].error_sum, a[i].error_squares, a[i].error_maximum};
    const double found[7] = {b[i].sum,       b[i].sum_squares,   b[i].minimum,      b[i].maximum,
                             b[i].error_sum, b[i].error_squares, b[i].error_maximum};
    for (int k = 0; k < 7; k++) {
      if (memcmp(&expected[k], &found[k], sizeof(double)) != 0) {
        fail_msg("plane %d, figure %d: expected %.17g, found %.17g", i, k, expected[k], found[k]);
      }
    }
  }
}

static kernels_plane_sums *sums_make(int count) {
  kernels_plane_sums *sums = calloc((size_t)count, sizeof *sums);
  assert_non_null(sums);
  return sums;
}

static void sums_shape(rig *rig, int with_reference) {
  const int nz = rig->launch.shape.nz;
  twin f = twin_random(rig, 1);
  twin r = twin_random(rig, 2);
  twin_break_halos(rig, &f);
  twin_upload(rig, &f);
  kernels_plane_sums *expected = sums_make(nz);
  kernels_plane_sums *found = sums_make(nz);
  reference_plane_sums(&rig->launch, f.host, with_reference ? r.host : NULL, expected);
  assert_ok(rig->backend->plane_sums(&rig->launch, f.device, with_reference ? r.device : NULL, NULL, found));
  sums_assert_equal(expected, found, nz);

  /* Part of the planes: the same figures, counted from the first of them. */
  kernels_launch part = rig->launch;
  part.planes[0] = (kernels_planes){1, nz - 1};
  memset(found, 0, (size_t)nz * sizeof *found);
  assert_ok(rig->backend->plane_sums(&part, f.device, with_reference ? r.device : NULL, NULL, found));
  sums_assert_equal(expected + 1, found, nz - 2);

  /* Two parts: those of the first before those of the second, wherever they lie. */
  part.planes[0] = (kernels_planes){nz - 1, nz};
  part.planes[1] = (kernels_planes){0, 2};
  memset(found, 0, (size_t)nz * sizeof *found);
  assert_ok(rig->backend->plane_sums(&part, f.device, with_reference ? r.device : NULL, NULL, found));
  sums_assert_equal(expected + nz - 1, found, 1);
  sums_assert_equal(expected, found + 1, 2);

  part.planes[0] = (kernels_planes){2, 2};
  part.planes[1] = (kernels_planes){3, 1};
  assert_ok(rig->backend->plane_sums(&part, f.device, NULL, NULL, NULL));
  free(found);
  free(expected);
  twin_free(rig, &f);
  twin_free(rig, &r);
}

static void sums_are_the_reference(rig *rig) {
  for (int s = 0; s < RIG_SHAPES; s++) {
    rig_shape(rig, rig_shapes[s][0], rig_shapes[s][1], rig_shapes[s][2]);
    sums_shape(rig, 0);
    sums_shape(rig, 1);
  }
}

static int integer_at(int x, int y, int z) {
  return (7 * x + 11 * y + 13 * z) % 31 - 9;
}

static double integer_value(const rig *rig, const void *user, int x, int y, int z) {
  (void)rig;
  return (double)(integer_at(x, y, z) + *(const int *)user);
}

static void integers_sum_exactly(rig *rig) {
  rig_shape(rig, 130, 37, 5);
  static const int shift = -3;
  static const int none = 0;
  twin f = twin_make(rig, integer_value, &none);
  twin r = twin_make(rig, integer_value, &shift);
  kernels_plane_sums sums[5];
  assert_ok(rig->backend->plane_sums(&rig->launch, f.device, r.device, NULL, sums));
  for (int z = 0; z < 5; z++) {
    long sum = 0, squares = 0;
    int minimum = 1000, maximum = -1000;
    for (int y = 0; y < 37; y++) {
      for (int x = 0; x < 130; x++) {
        const int v = integer_at(x, y, z);
        sum += v;
        squares += v * v;
        minimum = v < minimum ? v : minimum;
        maximum = v > maximum ? v : maximum;
      }
    }
    assert_true(sums[z].sum == (double)sum && sums[z].sum_squares == (double)squares);
    assert_true(sums[z].minimum == (double)minimum && sums[z].maximum == (double)maximum);
    assert_true(sums[z].error_sum == 3.0 * 130 * 37 && sums[z].error_squares == 9.0 * 130 * 37);
    assert_true(sums[z].error_maximum == 3.0);
  }
  twin_free(rig, &f);
  twin_free(rig, &r);
}

/* Plane 0: one number among NaN; plane 1: nothing but NaN; plane 2: an infinity; plane 3: zeros of both
 * signs. */
static double odd_value(const rig *rig, const void *user, int x, int y, int z) {
  (void)rig;
  (void)user;
  if (z == 0) return x == 20 && y == 3 ? -2.5 : (double)NAN;
  if (z == 1) return (double)NAN;
  if (z == 2) return x == 1 && y == 8 ? (double)INFINITY : 1.0;
  return (x + y) % 2 == 0 ? -0.0 : 0.0;
}

static void extrema_ignore_nan(rig *rig) {
  rig_shape(rig, 33, 9, 4);
  twin f = twin_make(rig, odd_value, NULL);
  kernels_plane_sums sums[4];
  assert_ok(rig->backend->plane_sums(&rig->launch, f.device, NULL, NULL, sums));
  assert_true(sums[0].minimum == -2.5 && sums[0].maximum == -2.5);
  assert_true(isnan(sums[0].sum) && isnan(sums[0].sum_squares));
  assert_true(sums[1].minimum == (double)INFINITY && sums[1].maximum == (double)-INFINITY);
  assert_true(sums[2].minimum == 1.0 && sums[2].maximum == (double)INFINITY && isinf(sums[2].sum));
  assert_true(sums[3].minimum == 0.0 && !signbit(sums[3].minimum));
  assert_true(sums[3].maximum == 0.0 && !signbit(sums[3].maximum));
  assert_true(sums[3].error_sum == 0.0 && sums[3].error_maximum == 0.0);

  /* With a reference, the errors follow the same rules. */
  assert_ok(rig->backend->plane_sums(&rig->launch, f.device, f.device, NULL, sums));
  assert_true(isnan(sums[0].error_sum) && sums[0].error_maximum == 0.0);
  assert_true(sums[1].error_maximum == (double)-INFINITY);
  twin_free(rig, &f);
}

int main(int argc, char **argv) {
  static const rig_test tests[] = {
      RIG_TEST(sums_are_the_reference),
      RIG_TEST(integers_sum_exactly),
      RIG_TEST(extrema_ignore_nan),
  };
  return rig_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
