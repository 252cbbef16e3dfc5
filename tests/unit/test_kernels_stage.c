#include "rig.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Runge-Kutta stages as the program asks for them (advection_stage), bit for bit the naive reference, and
 * what is promised of them. Every combination of options is in test_kernels_operations.c. */

enum { F, BASE, EXTRA, U = 4, OUT = 7, FIELDS, TABLES = FIELDS, ARRAYS }; /* two extras; u, v, w */

/* Where the velocity comes from. */
enum { UNIFORM, STORED, FORMULA, VELOCITIES };

/* What `out` is: an array of its own, or one of the inputs it may be. */
typedef enum alias { ALIAS_NONE, ALIAS_BASE, ALIAS_FIRST, ALIAS_SECOND, ALIAS_COUNT } alias;

static const int out_is[ALIAS_COUNT] = {OUT, BASE, EXTRA, EXTRA + 1};

typedef struct combination {
  int velocity, form, diffusive, upwind, added; /* added: 0 nothing, 1 base, 2 base and extras */
  alias alias;
} combination;

static int combination_valid(const combination *c) {
  if (c->velocity == UNIFORM && c->form == FORM_CONSERVATIVE) return 0; /* forms are the same there */
  if (c->alias == ALIAS_BASE) return c->added >= 1;
  if (c->alias != ALIAS_NONE) return c->added == 2;
  return 1;
}

/* The stage's arrays in host (0) or device (1) memory. */
static advection_stage stage_make(const rig *rig, const combination *c, const twin arrays[ARRAYS],
                                  int device) {
  void *at[ARRAYS];
  for (int i = 0; i < ARRAYS; i++) at[i] = device ? arrays[i].device : arrays[i].host;
  advection_stage stage = {
      .out = at[out_is[c->alias]],
      .f = at[F],
      .weight_f = 2.0 / 3.0,
      .weight_extra = {0.3, -1.0 / 7.0},
      .form = (advection_form)c->form,
      .advection = -1.0 / 300.0,
      .uniform = {1.1, -0.7, 0.4},
      .dissipation = c->upwind ? 1.0 / 300.0 : 0.0,
      .diffusion = c->diffusive ? 1.0 / 9000.0 : 0.0,
  };
  if (c->added >= 1) stage.base = at[BASE];
  for (int i = 0; i < 2 && c->added == 2; i++) stage.extra[i] = at[EXTRA + i];
  for (int d = 0; d < 3 && c->velocity == STORED; d++) stage.velocity[d] = at[U + d];
  if (c->velocity == FORMULA) stage.tables = twin_tables_at(rig, &arrays[TABLES], device);
  return stage;
}

/* Everything but what is written. */
static void inputs_make(rig *rig, twin fill(struct rig *rig, int seed), twin arrays[ARRAYS]) {
  for (int i = 0; i < OUT; i++) arrays[i] = fill(rig, i + 1);
  arrays[TABLES] = twin_tables(rig, TABLES);
}

static void arrays_free(rig *rig, twin arrays[ARRAYS]) {
  for (int i = 0; i < ARRAYS; i++) twin_free(rig, &arrays[i]);
}

/* Runs the stage; compares arrays `first` to the last one. */
static void stage_check(rig *rig, const combination *c, const twin arrays[ARRAYS], int first) {
  const advection_stage host = stage_make(rig, c, arrays, 0);
  const advection_stage device = stage_make(rig, c, arrays, 1);
  assert_ok(advection_apply(rig->backend, &rig->launch, &device));
  reference_stage(&rig->launch, &host);
  char what[128];
  (void)snprintf(what, sizeof what, "velocity %d, form %d, diffusive %d, added %d, alias %d", c->velocity,
                 c->form, c->diffusive, c->added, (int)c->alias);
  for (int i = first; i < FIELDS; i++) twin_assert_equal(rig, &arrays[i], what);
}

/* Checks the output, and the inputs that must not change. Leaves inputs in `arrays` for another check: making
 * them takes longer than the stage. */
static void inputs_check(rig *rig, const combination *c, twin arrays[ARRAYS]) {
  const int written = out_is[c->alias];
  arrays[OUT] = twin_sentinel(rig);
  stage_check(rig, c, arrays, 0);
  twin_free(rig, &arrays[OUT]);
  if (written == OUT) return;
  twin_free(rig, &arrays[written]);
  arrays[written] = twin_random(rig, written + 1);
}

/* Combinations one after the other, on the shape that is set. */
static void combinations_check(rig *rig, const combination *c, int count) {
  twin arrays[ARRAYS];
  inputs_make(rig, twin_random, arrays);
  for (int i = 0; i < count; i++)
    if (combination_valid(&c[i])) inputs_check(rig, &c[i], arrays);
  arrays[OUT] = twin_sentinel(rig);
  arrays_free(rig, arrays);
}

static void combination_check(rig *rig, const combination *c) {
  combinations_check(rig, c, 1);
}

static void stages_in_place_are_the_reference(rig *rig) {
  enum { COUNT = VELOCITIES * 3 * 3 * ALIAS_COUNT };
  combination all[COUNT];
  for (int code = 0; code < COUNT; code++) {
    all[code] = (combination){
        .velocity = code % VELOCITIES,
        .form = code / 3 % 3,
        .diffusive = code % 2,
        .upwind = code / 2 % 2,
        .added = code / 9 % 3,
        .alias = (alias)(code / 27),
    };
  }
  for (int s = 1; s < 5; s++) {
    rig_shape(rig, rig_shapes[s][0], rig_shapes[s][1], rig_shapes[s][2]);
    combinations_check(rig, all, COUNT);
  }
}

static void lower_orders_are_the_reference(rig *rig) {
  for (int order = 2; order <= 6; order += 2) {
    rig_shape(rig, 33, 20, 9);
    rig_stencil(rig, order, 0.02, 0.03, 0.04);
    for (int velocity = STORED; velocity <= FORMULA; velocity++) {
      combination_check(
          rig,
          &(combination){.velocity = velocity, .form = FORM_SKEW, .diffusive = 1, .upwind = 1, .added = 1});
    }
  }
}

/* With a base, zeros of either sign become +0, whatever the signs of what is zero on the way: those of
 * derivatives may depend on the backend. */
static void zeros_lose_their_sign(rig *rig) {
  rig_shape(rig, 33, 20, 9);
  for (int order = 2; order <= 8; order += 2) {
    rig_stencil(rig, order, 0.02, 0.03, 0.04);
    for (int code = 0; code < VELOCITIES * 3; code++) {
      const combination c = {.velocity = code / 3, .form = code % 3, .added = 1};
      if (!combination_valid(&c)) continue;
      twin arrays[ARRAYS];
      inputs_make(rig, twin_zeros, arrays);
      arrays[OUT] = twin_sentinel(rig);
      stage_check(rig, &c, arrays, OUT);
      for (int x = 0; x < 33; x++)
        assert_false(signbit(reference_value(&rig->launch.shape, arrays[OUT].host, x, x % 20, x % 9)));
      arrays_free(rig, arrays);
    }
  }
}

/* Long rows and many tiles. */
static void large_shapes_are_the_reference(rig *rig) {
  static const int large[] = {0, 5, 6, 7};
  combination all[7] = {{.added = 1}};
  for (int i = 1; i < 7; i++) {
    const int form = i % 3;
    all[i] = (combination){
        .velocity = i < 4 ? STORED : FORMULA, .form = form, .diffusive = form == 2, .added = form};
  }
  for (int i = 0; i < 4; i++) {
    const int s = large[i];
    rig_shape(rig, rig_shapes[s][0], rig_shapes[s][1], rig_shapes[s][2]);
    combinations_check(rig, all, 7);
  }
}

/* Large launches may take other kernels: each way of advecting with and without diffusion and with each
 * number of arrays added, on one of the large shapes. */
static void large_launches_are_the_reference(rig *rig) {
  for (int s = 0; s < RIG_LARGE; s++) {
    rig_shape(rig, rig_large[s][0], rig_large[s][1], rig_large[s][2]);
    twin arrays[ARRAYS];
    inputs_make(rig, twin_random, arrays);
    arrays[OUT] = twin_sentinel(rig);
    for (int code = s; code < 7 * 2 * 3; code += RIG_LARGE) {
      const int way = code / 6; /* the uniform one, then three forms of each other */
      combination c = {.velocity = way == 0   ? UNIFORM
                                   : way <= 3 ? STORED
                                              : FORMULA,
                       .form = way == 0 ? FORM_ADVECTIVE : (way - 1) % 3};
      c.diffusive = code / 3 % 2;
      c.added = code % 3;
      twin_free(rig, &arrays[OUT]);
      arrays[OUT] = twin_sentinel(rig);
      stage_check(rig, &c, arrays, OUT);
    }
    arrays_free(rig, arrays);
  }
  rig_shape(rig, 130, 131, 64); /* a thin slab, of rows that end with half a vector in single precision */
  combinations_check(rig,
                     (combination[]){{.velocity = UNIFORM, .form = FORM_ADVECTIVE, .added = 1},
                                     {.velocity = STORED, .form = FORM_SKEW, .added = 1},
                                     {.velocity = STORED, .form = FORM_CONSERVATIVE, .upwind = 1, .added = 1},
                                     {.velocity = FORMULA, .form = FORM_CONSERVATIVE, .added = 1}},
                     4);
}

/* Velocity components along x and y are read on the point's own plane, and all of them in the advective form.
 */
static void halos_of_velocities_do_not_leak(rig *rig) {
  for (int form = 0; form < 3; form++) {
    rig_shape(rig, 33, 20, 6);
    const combination c = {.velocity = STORED, .form = form, .added = 2};
    twin arrays[ARRAYS];
    inputs_make(rig, twin_random, arrays);
    arrays[OUT] = twin_sentinel(rig);
    for (int i = BASE; i < OUT; i++) {
      if (i == U + 2 && form != FORM_ADVECTIVE) continue;
      twin_break_halos(rig, &arrays[i]);
      twin_upload(rig, &arrays[i]);
    }
    const advection_stage host = stage_make(rig, &c, arrays, 0);
    const advection_stage device = stage_make(rig, &c, arrays, 1);
    assert_ok(advection_apply(rig->backend, &rig->launch, &device));
    reference_stage(&rig->launch, &host);
    twin_assert_equal(rig, &arrays[OUT], "stage with NaN in halos");
    arrays_free(rig, arrays);
  }
}

static double constant_value(const rig *rig, const void *user, int x, int y, int z) {
  (void)rig;
  (void)x;
  (void)y;
  (void)z;
  return *(const double *)user;
}

/* A constant stays that constant, to the last bit, whatever the weights; it only has to move. */
static void constants_stay(rig *rig) {
  rig_shape(rig, 33, 20, 5);
  static const double constant = 1.0 / 3.0;
  for (int velocity = 0; velocity < VELOCITIES; velocity++) {
    twin arrays[ARRAYS];
    for (int i = 0; i < U; i++) arrays[i] = twin_make(rig, constant_value, &constant);
    for (int i = U; i < OUT; i++) arrays[i] = twin_random(rig, i);
    arrays[OUT] = twin_sentinel(rig);
    arrays[TABLES] = twin_tables(rig, TABLES);
    const combination c = {.velocity = velocity, .form = FORM_ADVECTIVE, .upwind = 1, .added = 2};
    advection_stage device = stage_make(rig, &c, arrays, 1);
    assert_ok(advection_apply(rig->backend, &rig->launch, &device));
    twin_download(rig, &arrays[OUT]);
    for (int z = 0; z < 5; z++) {
      for (int y = 0; y < 20; y++) {
        for (int x = 0; x < 33; x++) {
          assert_true(reference_value(&rig->launch.shape, arrays[OUT].host, x, y, z) ==
                      reference_value(&rig->launch.shape, arrays[F].host, x, y, z));
        }
      }
    }
    arrays_free(rig, arrays);
  }
}

static double negative_zero(const rig *rig, const void *user, int x, int y, int z) {
  (void)rig;
  (void)user;
  (void)x;
  (void)y;
  (void)z;
  return -0.0;
}

/* Without diffusion is who has none in the field's precision: a term of zeros would take -0 its sign. */
static void diffusion_is_rounded_first(rig *rig) {
  rig_shape(rig, 33, 20, 12);
  twin f = twin_make(rig, negative_zero, NULL), out = twin_sentinel(rig);
  for (int diffusive = 0; diffusive < 2; diffusive++) {
    advection_stage stage = {
        .advection = -0.5, .uniform = {1.0, 1.0, 1.0}, .diffusion = diffusive ? 1e-40 : 1e-300};
    stage.f = f.host;
    stage.out = out.host;
    reference_stage(&rig->launch, &stage);
    stage.f = f.device;
    stage.out = out.device;
    assert_ok(advection_apply(rig->backend, &rig->launch, &stage));
    twin_assert_equal(rig, &out, "diffusion that is rounded to zero, or nearly");
    const int positive = diffusive || rig->launch.shape.precision == PRECISION_DOUBLE;
    const double value = reference_value(&rig->launch.shape, out.host, 5, 5, 5);
    assert_int_equal(signbit(value) == 0, positive);
  }
  twin_free(rig, &out);
  twin_free(rig, &f);
}

/* A component of the velocity that tables stand for, in the precision of the rig. */
typedef struct formula {
  const twin *tables;
  int component;
} formula;

static double formula_value(const rig *rig, const void *user, int x, int y, int z) {
  const formula *of = user;
  const kernels_shape *shape = &rig->launch.shape;
  const kernels_tables tables = twin_tables_at(rig, of->tables, 0);
  return reference_formula(shape, &tables, of->component, x, y, z);
}

/* The bits of a stage by formula are those of one that has the same velocity in fields. */
static void formulas_are_their_fields(rig *rig) {
  for (int s = 0; s < RIG_LARGE + 2; s++) {
    const int *shape = s < RIG_LARGE ? rig_large[s] : rig_shapes[s];
    rig_shape(rig, shape[0], shape[1], shape[2]);
    twin f = twin_random(rig, 1), tables = twin_tables(rig, 2), velocity[3];
    for (int d = 0; d < 3; d++) velocity[d] = twin_make(rig, formula_value, &(formula){&tables, d});
    for (int form = 0; form < 3; form++) {
      twin by_formula = twin_sentinel(rig), by_fields = twin_sentinel(rig);
      advection_stage stage = {
          .f = f.device, .form = (advection_form)form, .advection = -0.003, .diffusion = s % 2 * 1e-4};
      stage.tables = twin_tables_at(rig, &tables, 1);
      stage.out = by_formula.device;
      assert_ok(advection_apply(rig->backend, &rig->launch, &stage));
      stage.tables = (kernels_tables){NULL, NULL, NULL};
      stage.out = by_fields.device;
      for (int d = 0; d < 3; d++) stage.velocity[d] = velocity[d].device;
      assert_ok(advection_apply(rig->backend, &rig->launch, &stage));
      twin_assert_same(rig, &by_fields, &by_formula, "velocity by formula and from fields");
      twin_free(rig, &by_fields);
      twin_free(rig, &by_formula);
    }
    for (int d = 0; d < 3; d++) twin_free(rig, &velocity[d]);
    twin_free(rig, &tables);
    twin_free(rig, &f);
  }
}

int main(int argc, char **argv) {
  static const rig_test tests[] = {
      RIG_TEST(stages_in_place_are_the_reference),
      RIG_TEST(lower_orders_are_the_reference),
      RIG_TEST(large_shapes_are_the_reference),
      RIG_TEST(large_launches_are_the_reference),
      RIG_TEST(formulas_are_their_fields),
      RIG_TEST(halos_of_velocities_do_not_leak),
      RIG_TEST(constants_stay),
      RIG_TEST(zeros_lose_their_sign),
      RIG_TEST(diffusion_is_rounded_first),
  };
  return rig_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
