/* Results of the CPU backend that are stored around the caches, as launches larger than these store them: the
 * same bits as those stored through them, which the shared kernel tests compare with the reference. Where
 * lines are whole cache lines, with AVX-512, nothing is delayed; the build with sanitizers has AVX2. */
#include "cpu.h"
#include "rig.h"

typedef struct fields {
  twin f, base, extra[2], velocity[3];
} fields;

static fields fields_make(rig *rig) {
  return (fields){twin_random(rig, 1),
                  twin_random(rig, 2),
                  {twin_random(rig, 3), twin_random(rig, 4)},
                  {twin_random(rig, 5), twin_random(rig, 6), twin_random(rig, 7)}};
}

static void fields_free(rig *rig, fields *fields) {
  twin_free(rig, &fields->f);
  twin_free(rig, &fields->base);
  for (int i = 0; i < 2; i++) twin_free(rig, &fields->extra[i]);
  for (int d = 0; d < 3; d++) twin_free(rig, &fields->velocity[d]);
}

/* Every operation that stores fields; which: 0 .. OPERATIONS - 1. Results in out. */
enum { OPERATIONS = 10 };

static void operation_run(rig *rig, const fields *in, int which, const twin out[3]) {
  const kernels *backend = rig->backend;
  const kernels_launch *launch = &rig->launch;
  const void *const v[3] = {in->velocity[0].device, in->velocity[1].device, in->velocity[2].device};
  void *const gradient[3] = {out[0].device, out[1].device, out[2].device};
  advection_stage stage = {.out = out[0].device,
                           .f = in->f.device,
                           .weight_f = 0.25,
                           .advection = -0.01,
                           .uniform = {1.0, -0.5, 0.25}};
  if (which >= 7) stage.base = in->base.device;
  if (which >= 8) {
    for (int d = 0; d < 3; d++) stage.velocity[d] = v[d];
    stage.form = which == 8 ? FORM_CONSERVATIVE : FORM_SKEW;
    stage.diffusion = 0.001;
  }
  if (which == 9) {
    for (int i = 0; i < 2; i++) {
      stage.extra[i] = in->extra[i].device;
      stage.weight_extra[i] = 0.125;
    }
  }
  if (which < 3) {
    assert_ok(apply_derivative(backend, launch, (axis)which, in->f.device, out[0].device));
  } else if (which == 3) {
    assert_ok(apply_gradient(backend, launch, in->f.device, gradient));
  } else if (which == 4) {
    assert_ok(apply_divergence(backend, launch, v, out[0].device));
  } else if (which == 5) {
    assert_ok(apply_laplacian(backend, launch, in->f.device, out[0].device));
  } else {
    assert_ok(advection_apply(backend, launch, &stage));
  }
}

static void shape_check(rig *rig, const int n[3]) {
  rig_shape(rig, n[0], n[1], n[2]);
  fields in = fields_make(rig);
  for (int which = 0; which < OPERATIONS; which++) {
    twin through[3], around[3];
    for (int i = 0; i < 3; i++) {
      through[i] = twin_sentinel(rig);
      around[i] = twin_sentinel(rig);
    }
    rig->context->cache_bytes = SIZE_MAX;
    operation_run(rig, &in, which, through);
    rig->context->cache_bytes = 0;
    operation_run(rig, &in, which, around);
    for (int i = 0; i < 3; i++) {
      twin_assert_same(rig, &through[i], &around[i], "stored around the caches");
      twin_free(rig, &through[i]);
      twin_free(rig, &around[i]);
    }
  }
  fields_free(rig, &in);
}

static void uneven_shapes_keep_their_bits(rig *rig) {
  for (int i = 0; i < RIG_SHAPES; i++) shape_check(rig, rig_shapes[i]);
  for (int nx = 12; nx <= 17; nx++) shape_check(rig, (const int[3]){nx, 11, 9});
}

/* Rows of several strips, and rows kept from lying a power of two apart. */
static void long_rows_keep_their_bits(rig *rig) {
  shape_check(rig, (const int[3]){1537, 9, 9});
  shape_check(rig, (const int[3]){1024, 13, 10});
}

static void axpy_keeps_its_bits(rig *rig) {
  rig_shape(rig, 97, 13, 9);
  twin x = twin_random(rig, 1), y[2] = {twin_random(rig, 2), twin_random(rig, 2)};
  for (int i = 0; i < 2; i++) {
    rig->context->cache_bytes = i == 0 ? SIZE_MAX : 0;
    assert_ok(apply_axpy(rig->backend, &rig->launch, 0.3, x.device, y[i].device));
  }
  twin_assert_same(rig, &y[0], &y[1], "axpy around the caches");
  twin_free(rig, &x);
  for (int i = 0; i < 2; i++) twin_free(rig, &y[i]);
}

/* A stage may write over its base: what waits to be stored must not be read again. */
static void a_stage_in_place_keeps_its_bits(rig *rig) {
  rig_shape(rig, 97, 13, 9);
  twin f = twin_random(rig, 1), base[2] = {twin_random(rig, 2), twin_random(rig, 2)};
  for (int i = 0; i < 2; i++) {
    rig->context->cache_bytes = i == 0 ? SIZE_MAX : 0;
    assert_ok(advection_apply(rig->backend, &rig->launch,
                              &(advection_stage){.out = base[i].device,
                                                 .f = f.device,
                                                 .base = base[i].device,
                                                 .weight_f = 0.25,
                                                 .advection = -0.01,
                                                 .uniform = {1.0, -0.5, 0.25}}));
  }
  twin_assert_same(rig, &base[0], &base[1], "stage in place");
  twin_free(rig, &f);
  for (int i = 0; i < 2; i++) twin_free(rig, &base[i]);
}

/* Always on the CPU backend, whose context these tests look into. */
int main(void) {
  static const rig_test tests[] = {RIG_TEST(uneven_shapes_keep_their_bits),
                                   RIG_TEST(long_rows_keep_their_bits), RIG_TEST(axpy_keeps_its_bits),
                                   RIG_TEST(a_stage_in_place_keeps_its_bits)};
  char *program[] = {"test_stores", "cpu", NULL};
  return rig_main(2, program, tests, sizeof tests / sizeof tests[0]);
}
