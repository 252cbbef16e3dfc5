#include <string.h>

#include "rig.h"

/* Derivative, gradient, divergence and Laplacian: bit for bit the naive reference, on every shape and order.
 */

static const char *const axes[3] = {"d/dx", "d/dy", "d/dz"};

static void each_shape(rig *rig, rig_function function) {
  for (int s = 0; s < RIG_SHAPES; s++) {
    rig_shape(rig, rig_shapes[s][0], rig_shapes[s][1], rig_shapes[s][2]);
    function(rig);
  }
}

/* A variant's parts: the field, and the sum of its two outermost neighbours. */
static void parts_check(rig *rig, const twin *f, axis direction, int variant) {
  const kernels_shape *shape = &rig->launch.shape;
  const int step[3] = {direction == AXIS_X, direction == AXIS_Y, direction == AXIS_Z};
  for (int part = PART_LOAD; part < PART_WHOLE; part++) {
    const int k = part == PART_LOAD ? 0 : STENCIL_RADIUS;
    twin out = twin_sentinel(rig);
    assert_ok(rig->backend->derivative_variant(&rig->launch, variant, (kernels_part)part, direction,
                                               f->device, out.device));
    for (int z = 0; z < shape->nz; z++) {
      for (int y = 0; y < shape->ny; y++) {
        for (int x = 0; x < shape->nx; x++) {
          double sum = 0.0;
          for (int side = -k; side <= k; side += k == 0 ? 1 : 2 * k) {
            sum +=
                reference_value(shape, f->host, x + side * step[0], y + side * step[1], z + side * step[2]);
          }
          reference_set(shape, out.host, x, y, z, sum); /* exact in double, or rounded once */
        }
      }
    }
    twin_assert_equal(rig, &out, rig->backend->variant_names[variant]);
    twin_free(rig, &out);
  }
}

static void derivative_check(rig *rig, const twin *f, axis direction, int variant, const char *what) {
  twin out = twin_sentinel(rig);
  if (variant < 0) {
    assert_ok(apply_derivative(rig->backend, &rig->launch, direction, f->device, out.device));
  } else {
    assert_ok(rig->backend->derivative_variant(&rig->launch, variant, PART_WHOLE, direction, f->device,
                                               out.device));
  }
  reference_derivative(&rig->launch, direction, f->host, out.host);
  twin_assert_equal(rig, &out, what);
  twin_free(rig, &out);
}

static void derivative_shape(rig *rig) {
  twin f = twin_random(rig, 1);
  for (int order = 2; order <= 8; order += 2) {
    rig_stencil(rig, order, 0.011, 0.013, 0.017);
    for (int d = 0; d < 3; d++) derivative_check(rig, &f, (axis)d, -1, axes[d]);
  }
  twin_free(rig, &f);
}

static void derivatives_are_the_reference(rig *rig) {
  each_shape(rig, derivative_shape);
}

/* The way of `apply`, or another one that fdbench compares. */
static int is_production(const rig *rig, int variant) {
  return strcmp(rig->backend->variant_names[variant], "production") == 0;
}

static void variants_check(rig *rig, int production) {
  if (rig->backend->variant_count == 0) return;
  twin f = twin_random(rig, 2);
  for (int v = 0; v < rig->backend->variant_count; v++) {
    if (is_production(rig, v) != production) continue;
    for (int d = 0; d < 3; d++) {
      derivative_check(rig, &f, (axis)d, v, rig->backend->variant_names[v]);
      parts_check(rig, &f, (axis)d, v);
    }
  }
  twin_free(rig, &f);
}

static void production_shape(rig *rig) {
  variants_check(rig, 1);
}

static void production_is_the_reference(rig *rig) {
  each_shape(rig, production_shape);
}

/* Their launches are cut by the shape alone, on every device alike. */
static void variant_shape(rig *rig) {
  variants_check(rig, 0);
}

static void variants_are_the_reference(rig *rig) {
  each_shape(rig, variant_shape);
}

/* Along each axis lines of 64 and of 128 points, and lines that end with a part of such a piece. */
static void variants_cut_lines_of_any_length(rig *rig) {
  static const int shapes[][3] = {{64, 32, 4},  {128, 32, 4}, {100, 37, 5}, {32, 64, 4},  {32, 128, 4},
                                  {37, 100, 5}, {32, 9, 64},  {32, 9, 128}, {34, 9, 100}, {9, 9, 131}};
  for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
    rig_shape(rig, shapes[s][0], shapes[s][1], shapes[s][2]);
    variants_check(rig, 0);
  }
}

/* Derivatives in x and y need no halo planes at all. */
static void halos_do_not_leak_into_x_and_y(rig *rig) {
  rig_shape(rig, 33, 20, 7);
  twin f = twin_random(rig, 3);
  twin_break_halos(rig, &f);
  twin_upload(rig, &f);
  derivative_check(rig, &f, AXIS_X, -1, axes[0]);
  derivative_check(rig, &f, AXIS_Y, -1, axes[1]);
  twin_free(rig, &f);
}

static void gradient_shape(rig *rig) {
  twin f = twin_random(rig, 4);
  twin out[3], alone[3];
  for (int d = 0; d < 3; d++) {
    out[d] = twin_sentinel(rig);
    alone[d] = twin_sentinel(rig);
    assert_ok(apply_derivative(rig->backend, &rig->launch, (axis)d, f.device, alone[d].device));
  }
  void *const device[3] = {out[0].device, out[1].device, out[2].device};
  void *const host[3] = {out[0].host, out[1].host, out[2].host};
  assert_ok(apply_gradient(rig->backend, &rig->launch, f.device, device));
  reference_gradient(&rig->launch, f.host, host);
  for (int d = 0; d < 3; d++) {
    twin_assert_equal(rig, &out[d], axes[d]);
    twin_assert_same(rig, &alone[d], &out[d], "gradient and derivative");
    twin_free(rig, &out[d]);
    twin_free(rig, &alone[d]);
  }
  twin_free(rig, &f);
}

static void gradient_is_the_reference_and_three_derivatives(rig *rig) {
  each_shape(rig, gradient_shape);
}

/* A field's divergence; its first two components need no halo planes. */
static void divergence_shape(rig *rig) {
  twin v[3] = {twin_random(rig, 5), twin_random(rig, 6), twin_random(rig, 7)};
  for (int d = 0; d < 2; d++) {
    twin_break_halos(rig, &v[d]);
    twin_upload(rig, &v[d]);
  }
  twin out = twin_sentinel(rig);
  const void *const device[3] = {v[0].device, v[1].device, v[2].device};
  const void *const host[3] = {v[0].host, v[1].host, v[2].host};
  assert_ok(apply_divergence(rig->backend, &rig->launch, device, out.device));
  reference_divergence(&rig->launch, host, out.host);
  twin_assert_equal(rig, &out, "divergence");
  twin_free(rig, &out);
  for (int d = 0; d < 3; d++) twin_free(rig, &v[d]);
}

static void divergence_is_the_reference(rig *rig) {
  each_shape(rig, divergence_shape);
}

static void laplacian_check(rig *rig, const twin *f) {
  twin out = twin_sentinel(rig);
  assert_ok(apply_laplacian(rig->backend, &rig->launch, f->device, out.device));
  reference_laplacian(&rig->launch, f->host, out.host);
  twin_assert_equal(rig, &out, "Laplacian");
  twin_free(rig, &out);
}

static void laplacian_shape(rig *rig) {
  twin f = twin_random(rig, 8);
  for (int order = 2; order <= 8; order += 2) {
    rig_stencil(rig, order, 0.011, 0.013, 0.017);
    laplacian_check(rig, &f);
  }
  twin_free(rig, &f);
}

static void laplacian_is_the_reference(rig *rig) {
  each_shape(rig, laplacian_shape);
}

/* Fewer points than a device has multiprocessors. */
static void smallest_launches_are_the_reference(rig *rig) {
  rig_shape(rig, 9, 9, 1);
  gradient_shape(rig);
  divergence_shape(rig);
  laplacian_shape(rig);
}

/* Large launches may take other kernels. */
static void large_launches_are_the_reference(rig *rig) {
  for (int s = 0; s < RIG_LARGE; s++) {
    rig_shape(rig, rig_large[s][0], rig_large[s][1], rig_large[s][2]);
    gradient_shape(rig);
    divergence_shape(rig);
    twin f = twin_random(rig, 11);
    for (int d = 0; d < 3; d++) derivative_check(rig, &f, (axis)d, -1, axes[d]);
    laplacian_check(rig, &f);
    twin_free(rig, &f);
  }
}

/* What devices keep for the largest launches: d/dz from 16 MiB on. */
static void largest_launches_are_the_reference(rig *rig) {
  if (rig->backend->host_memory) return;
  const int single = rig->launch.shape.precision == PRECISION_SINGLE;
  rig_shape(rig, 512, 129, single ? 130 : 66);
  twin f = twin_random(rig, 12);
  for (int d = 1; d < 3; d++) {
    derivative_check(rig, &f, (axis)d, -1, axes[d]);
    for (int v = 0; v < rig->backend->variant_count; v++) {
      if (is_production(rig, v)) parts_check(rig, &f, (axis)d, v);
    }
  }
  twin_free(rig, &f);
}

/* Planes of more tiles than a device of 132 multiprocessors holds at once, some of them in pieces. */
static void largest_planes_are_the_reference(rig *rig) {
  if (rig->backend->host_memory) return;
  rig_shape(rig, 768, 768, 88);
  gradient_shape(rig);
  twin f = twin_random(rig, 13);
  laplacian_check(rig, &f);
  twin_free(rig, &f);
}

static void axpy_shape(rig *rig) {
  twin x = twin_random(rig, 9);
  twin y = twin_random(rig, 10);
  assert_ok(apply_axpy(rig->backend, &rig->launch, 0.3, x.device, y.device));
  reference_axpy(&rig->launch, 0.3, x.host, y.host);
  twin_assert_equal(rig, &y, "axpy");
  twin_free(rig, &x);
  twin_free(rig, &y);
}

/* The factor from memory, of which axpy takes the first number. */
static void axpy_takes_numbers(rig *rig) {
  rig_shape(rig, 33, 20, 13);
  twin x = twin_random(rig, 1), y = twin_random(rig, 2), factor = twin_random(rig, 3);
  const int single = rig->launch.shape.precision == PRECISION_SINGLE;
  const double a = single ? (double)((float *)factor.host)[0] : ((double *)factor.host)[0];
  const kernels_call call = {.kind = OPERATION_axpy,
                             .in = {x.device, y.device},
                             .out = {y.device},
                             .scalar = {7.0},
                             .numbers = factor.device};
  assert_ok(rig->backend->apply(&rig->launch, &call));
  reference_axpy(&rig->launch, a, x.host, y.host);
  twin_assert_equal(rig, &y, "axpy with a factor in memory");
  twin_free(rig, &x);
  twin_free(rig, &y);
  twin_free(rig, &factor);
}

static void axpy_is_the_reference(rig *rig) {
  each_shape(rig, axpy_shape);
}

int main(int argc, char **argv) {
  static const rig_test tests[] = {
      RIG_TEST(derivatives_are_the_reference),
      RIG_TEST(production_is_the_reference),
      RIG_TEST(variants_are_the_reference),
      RIG_TEST(variants_cut_lines_of_any_length),
      RIG_TEST(halos_do_not_leak_into_x_and_y),
      RIG_TEST(gradient_is_the_reference_and_three_derivatives),
      RIG_TEST(divergence_is_the_reference),
      RIG_TEST(laplacian_is_the_reference),
      RIG_TEST(axpy_is_the_reference),
      RIG_TEST(axpy_takes_numbers),
      RIG_TEST(smallest_launches_are_the_reference),
      RIG_TEST(large_launches_are_the_reference),
      RIG_TEST(largest_launches_are_the_reference),
      RIG_TEST(largest_planes_are_the_reference),
  };
  return rig_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
