#include "rig.h"

#include <math.h>

/* Operations of the general engine where axes have ends, against lean ones: a curl has the bits of six
 * derivatives, a velocity gradient those of nine, and advection by a two-point function is the skew form to
 * round-off. */

static kernels_ends ends_open(rig *rig, unsigned bounded) {
  kernels_ends ends = {.nz = rig->launch.shape.nz};
  for (int d = 0; d < 3; d++) ends.bounded[d] = (int)(bounded >> d & 1U);
  assert_ok(kernels_ends_open(rig->backend, rig->context, rig->launch.shape.precision, &rig->stencil, &ends));
  return ends;
}

/* A derivative along an axis; out is the caller's to free. */
static twin derivative_of(rig *rig, const kernels_ends *ends, const twin *f, int along) {
  twin out = twin_zeros(rig, 1);
  const kernels_call call = {.kind = OPERATION_derivative,
                             .options = (unsigned)along | (unsigned)DERIVATIVE_FIRST,
                             .in = {f->device},
                             .out = {out.device},
                             .ends = ends};
  assert_ok(apply_bounded(rig->backend, &rig->launch, &call));
  twin_download(rig, &out);
  return out;
}

static void curl_check(rig *rig, unsigned bounded) {
  const kernels_shape *shape = &rig->launch.shape;
  twin in[3], out[3];
  kernels_ends ends = ends_open(rig, bounded);
  kernels_call call = {.kind = OPERATION_curl, .ends = &ends};
  for (int i = 0; i < 3; i++) {
    call.in[i] = (in[i] = twin_random(rig, i + 1)).device;
    call.out[i] = (out[i] = twin_zeros(rig, 1)).device;
  }
  assert_ok(apply_bounded(rig->backend, &rig->launch, &call));
  for (int i = 0; i < 3; i++) {
    const int next = (i + 1) % 3, after = (i + 2) % 3;
    twin a = derivative_of(rig, &ends, &in[after], next), b = derivative_of(rig, &ends, &in[next], after);
    for (int k = 0; k < shape->nx * shape->ny * shape->nz; k++) {
      const int x = k % shape->nx, y = k / shape->nx % shape->ny, z = k / shape->nx / shape->ny;
      const double difference =
          reference_value(shape, a.host, x, y, z) - reference_value(shape, b.host, x, y, z);
      reference_set(shape, a.host, x, y, z, difference);
    }
    twin_download(rig, &out[i]);
    for (int k = 0; k < shape->nx * shape->ny * shape->nz; k++) {
      const int x = k % shape->nx, y = k / shape->nx % shape->ny, z = k / shape->nx / shape->ny;
      const double found = reference_value(shape, out[i].host, x, y, z);
      const double expected = reference_value(shape, a.host, x, y, z);
      if (found != expected) fail_msg("curl %d at %d, %d, %d: %.17g, not %.17g", i, x, y, z, found, expected);
    }
    twin_free(rig, &a);
    twin_free(rig, &b);
  }
  for (int i = 0; i < 3; i++) {
    twin_free(rig, &in[i]);
    twin_free(rig, &out[i]);
  }
  kernels_ends_close(rig->backend, rig->context, &ends);
}

static void curls_are_derivatives(rig *rig) {
  for (unsigned bounded = 0; bounded < 8; bounded++) {
    rig_shape(rig, 37, 21, 18);
    rig_stencil(rig, 2 + 2 * ((int)bounded % 4), 0.02, 0.03, 0.04);
    curl_check(rig, bounded);
  }
}

static void gradient_check(rig *rig, unsigned bounded) {
  const kernels_shape *shape = &rig->launch.shape;
  twin in[3], out[9];
  kernels_ends ends = ends_open(rig, bounded);
  kernels_call call = {.kind = OPERATION_velocity_gradient, .ends = &ends};
  for (int i = 0; i < 3; i++) call.in[i] = (in[i] = twin_random(rig, i + 1)).device;
  for (int i = 0; i < 9; i++) call.out[i] = (out[i] = twin_zeros(rig, 1)).device;
  assert_ok(apply_bounded(rig->backend, &rig->launch, &call));
  for (int i = 0; i < 9; i++) {
    twin expected = derivative_of(rig, &ends, &in[i / 3], i % 3);
    twin_download(rig, &out[i]);
    for (int k = 0; k < shape->nx * shape->ny * shape->nz; k++) {
      const int x = k % shape->nx, y = k / shape->nx % shape->ny, z = k / shape->nx / shape->ny;
      const double found = reference_value(shape, out[i].host, x, y, z);
      const double right = reference_value(shape, expected.host, x, y, z);
      if (found != right)
        fail_msg("velocity gradient %d at %d, %d, %d: %.17g, not %.17g", i, x, y, z, found, right);
    }
    twin_free(rig, &expected);
    twin_free(rig, &out[i]);
  }
  for (int i = 0; i < 3; i++) twin_free(rig, &in[i]);
  kernels_ends_close(rig->backend, rig->context, &ends);
}

static void velocity_gradients_are_derivatives(rig *rig) {
  for (unsigned bounded = 0; bounded < 8; bounded++) {
    rig_shape(rig, 37, 21, 18);
    rig_stencil(rig, 2 + 2 * ((int)bounded % 4), 0.02, 0.03, 0.04);
    gradient_check(rig, bounded);
  }
}

/* The skew form by a lean stage: f plus the form. */
static void pair_check(rig *rig, unsigned bounded) {
  const kernels_shape *shape = &rig->launch.shape;
  twin in[4], pair = twin_zeros(rig, 1), stage = twin_zeros(rig, 1);
  kernels_ends ends = ends_open(rig, bounded);
  kernels_call two_point = {.kind = OPERATION_skew_advection, .out = {pair.device}, .ends = &ends};
  kernels_call lean = {.kind = OPERATION_advection,
                       .options = SUM_BASE | ADVECTION_STORED | ADVECTION_GRADIENT | ADVECTION_FLUX,
                       .out = {stage.device},
                       .weight = {[WEIGHT_PART + ADVECTION_PART_A] = 1.0},
                       .ends = &ends};
  for (int i = 0; i < 4; i++) {
    in[i] = twin_random(rig, i + 1);
    two_point.in[i] = in[i].device;
    lean.in[i == 0 ? (int)ADVECTION_F : ADVECTION_U + i - 1] = in[i].device;
  }
  assert_ok(apply_bounded(rig->backend, &rig->launch, &two_point));
  assert_ok(apply_bounded(rig->backend, &rig->launch, &lean));
  twin_download(rig, &pair);
  twin_download(rig, &stage);
  const double tolerance = shape->precision == PRECISION_SINGLE ? 1e-4 : 2e-13;
  for (int k = 0; k < shape->nx * shape->ny * shape->nz; k++) {
    const int x = k % shape->nx, y = k / shape->nx % shape->ny, z = k / shape->nx / shape->ny;
    const double form =
        reference_value(shape, stage.host, x, y, z) - reference_value(shape, in[0].host, x, y, z);
    const double found = reference_value(shape, pair.host, x, y, z);
    if (!(fabs(found - form) <= tolerance / rig->stencil.spacing[0]))
      fail_msg("skew advection at %d, %d, %d: %.17g, not %.17g", x, y, z, found, form);
  }
  for (int i = 0; i < 4; i++) twin_free(rig, &in[i]);
  twin_free(rig, &pair);
  twin_free(rig, &stage);
  kernels_ends_close(rig->backend, rig->context, &ends);
}

static void two_point_advection_is_the_skew_form(rig *rig) {
  for (unsigned bounded = 0; bounded < 8; bounded++) {
    rig_shape(rig, 37, 21, 18);
    rig_stencil(rig, 2 + 2 * ((int)bounded % 4), 0.02, 0.03, 0.04);
    pair_check(rig, bounded);
  }
}

int main(int argc, char **argv) {
  const rig_test tests[] = {RIG_TEST(curls_are_derivatives), RIG_TEST(velocity_gradients_are_derivatives),
                            RIG_TEST(two_point_advection_is_the_skew_form)};
  return rig_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
