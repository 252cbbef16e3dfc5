#include "rig.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Runge-Kutta stages: every combination of options, bit for bit the naive reference. */

enum { ARRAYS = 8 }; /* f, base, extra, extra, u, v, w, out */
enum { F, BASE, EXTRA, U = 4, OUT = 7 };

/* What `out` is: an array of its own, or one of the inputs it may be. */
typedef enum alias { ALIAS_NONE, ALIAS_BASE, ALIAS_FIRST, ALIAS_SECOND, ALIAS_COUNT } alias;

typedef struct combination {
  int stored, form, diffusive, added; /* added: 0 nothing, 1 base, 2 base and extras */
  alias alias;
} combination;

static int combination_valid(const combination *c) {
  if (!c->stored && c->form != FORM_ADVECTIVE && c->form != FORM_SKEW)
    return 0; /* forms are the same there */
  if (c->alias == ALIAS_BASE) return c->added >= 1;
  if (c->alias != ALIAS_NONE) return c->added == 2;
  return 1;
}

/* The stage's arrays in host (0) or device (1) memory. */
static kernels_stage stage_make(const combination *c, const twin arrays[ARRAYS], int device) {
  void *at[ARRAYS];
  for (int i = 0; i < ARRAYS; i++) at[i] = device ? arrays[i].device : arrays[i].host;
  static const int out_is[ALIAS_COUNT] = {OUT, BASE, EXTRA, EXTRA + 1};
  kernels_stage stage = {
      .out = at[out_is[c->alias]],
      .f = at[F],
      .weight_f = 2.0 / 3.0,
      .weight_extra = {0.3, -1.0 / 7.0},
      .form = (advection_form)c->form,
      .advection = -1.0 / 300.0,
      .uniform = {1.1, -0.7, 0.4},
      .diffusion = c->diffusive ? 1.0 / 9000.0 : 0.0,
  };
  if (c->added >= 1) stage.base = at[BASE];
  for (int i = 0; i < 2 && c->added == 2; i++) stage.extra[i] = at[EXTRA + i];
  for (int d = 0; d < 3 && c->stored; d++) stage.velocity[d] = at[U + d];
  return stage;
}

/* Runs the stage; compares arrays `first` to the last one. */
static void stage_check(rig *rig, const combination *c, const twin arrays[ARRAYS], int first) {
  const kernels_stage host = stage_make(c, arrays, 0);
  const kernels_stage device = stage_make(c, arrays, 1);
  assert_ok(rig->backend->stage(&rig->launch, &device));
  reference_stage(&rig->launch, &host);
  char what[128];
  (void)snprintf(what, sizeof what, "stored %d, form %d, diffusive %d, added %d, alias %d", c->stored,
                 c->form, c->diffusive, c->added, (int)c->alias);
  for (int i = first; i < ARRAYS; i++) twin_assert_equal(rig, &arrays[i], what);
}

static void combination_check(rig *rig, const combination *c) {
  twin arrays[ARRAYS];
  for (int i = 0; i < OUT; i++) arrays[i] = twin_random(rig, i + 1);
  arrays[OUT] = twin_sentinel(rig);
  stage_check(rig, c, arrays, 0); /* the output, and the inputs that must not change */
  for (int i = 0; i < ARRAYS; i++) twin_free(rig, &arrays[i]);
}

static void combinations_check(rig *rig) {
  for (int code = 0; code < 2 * 3 * 2 * 3 * ALIAS_COUNT; code++) {
    const combination c = {
        .stored = code % 2,
        .form = code / 2 % 3,
        .diffusive = code / 6 % 2,
        .added = code / 12 % 3,
        .alias = (alias)(code / 36),
    };
    if (combination_valid(&c)) combination_check(rig, &c);
  }
}

static void every_combination_is_the_reference(rig *rig) {
  for (int s = 1; s < 5; s++) {
    rig_shape(rig, rig_shapes[s][0], rig_shapes[s][1], rig_shapes[s][2]);
    combinations_check(rig);
  }
}

static void lower_orders_are_the_reference(rig *rig) {
  const combination c = {.stored = 1, .form = FORM_SKEW, .diffusive = 1, .added = 1};
  for (int order = 2; order <= 6; order += 2) {
    rig_shape(rig, 33, 20, 9);
    rig_stencil(rig, order, 0.02, 0.03, 0.04);
    combination_check(rig, &c);
  }
}

/* With a base, zeros of either sign become +0, whatever the signs of what is zero on the way: those of
 * derivatives may depend on the backend. */
static void zeros_lose_their_sign(rig *rig) {
  rig_shape(rig, 33, 20, 9);
  for (int order = 2; order <= 8; order += 2) {
    rig_stencil(rig, order, 0.02, 0.03, 0.04);
    for (int stored = 0; stored < 2; stored++) {
      const combination c = {.stored = stored, .form = stored ? FORM_SKEW : FORM_ADVECTIVE, .added = 1};
      twin arrays[ARRAYS];
      for (int i = 0; i < ARRAYS; i++) arrays[i] = twin_zeros(rig, i + 1);
      twin_free(rig, &arrays[OUT]);
      arrays[OUT] = twin_sentinel(rig);
      stage_check(rig, &c, arrays, OUT);
      for (int x = 0; x < 33; x++)
        assert_false(signbit(reference_value(&rig->launch.shape, arrays[OUT].host, x, x % 20, x % 9)));
      for (int i = 0; i < ARRAYS; i++) twin_free(rig, &arrays[i]);
    }
  }
}

/* Long rows and many tiles. */
static void large_shapes_are_the_reference(rig *rig) {
  static const int large[] = {0, 5, 6, 7};
  for (int i = 0; i < 4; i++) {
    const int s = large[i];
    rig_shape(rig, rig_shapes[s][0], rig_shapes[s][1], rig_shapes[s][2]);
    for (int form = 0; form < 3; form++) {
      combination_check(rig,
                        &(combination){.stored = 1, .form = form, .diffusive = form == 2, .added = form});
    }
    combination_check(rig, &(combination){.added = 1});
  }
}

/* Large launches may take other kernels: each way of advecting with and without diffusion and with each
 * number of arrays added, on one of the large shapes. */
static void large_launches_are_the_reference(rig *rig) {
  for (int s = 0; s < RIG_LARGE; s++) {
    rig_shape(rig, rig_large[s][0], rig_large[s][1], rig_large[s][2]);
    twin arrays[ARRAYS];
    for (int i = 0; i < OUT; i++) arrays[i] = twin_random(rig, i + 1);
    for (int code = s; code < 4 * 2 * 3; code += RIG_LARGE) {
      const int way = code / 6; /* 0: uniform, else the forms */
      const combination c = {
          .stored = way > 0, .form = way > 0 ? way - 1 : 0, .diffusive = code / 3 % 2, .added = code % 3};
      arrays[OUT] = twin_sentinel(rig);
      stage_check(rig, &c, arrays, OUT);
      twin_free(rig, &arrays[OUT]);
    }
    for (int i = 0; i < OUT; i++) twin_free(rig, &arrays[i]);
  }
}

/* Velocity components along x and y are read on the point's own plane, and all of them in the advective form.
 */
static void halos_of_velocities_do_not_leak(rig *rig) {
  for (int form = 0; form < 3; form++) {
    rig_shape(rig, 33, 20, 6);
    const combination c = {.stored = 1, .form = form, .added = 2};
    twin arrays[ARRAYS];
    for (int i = 0; i < OUT; i++) arrays[i] = twin_random(rig, i + 1);
    arrays[OUT] = twin_sentinel(rig);
    for (int i = BASE; i < OUT; i++) {
      if (i == U + 2 && form != FORM_ADVECTIVE) continue;
      twin_break_halos(rig, &arrays[i]);
      twin_upload(rig, &arrays[i]);
    }
    const kernels_stage host = stage_make(&c, arrays, 0);
    const kernels_stage device = stage_make(&c, arrays, 1);
    assert_ok(rig->backend->stage(&rig->launch, &device));
    reference_stage(&rig->launch, &host);
    twin_assert_equal(rig, &arrays[OUT], "stage with NaN in halos");
    for (int i = 0; i < ARRAYS; i++) twin_free(rig, &arrays[i]);
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
  for (int stored = 0; stored < 2; stored++) {
    twin arrays[ARRAYS];
    for (int i = 0; i < U; i++) arrays[i] = twin_make(rig, constant_value, &constant);
    for (int i = U; i < OUT; i++) arrays[i] = twin_random(rig, i);
    arrays[OUT] = twin_sentinel(rig);
    const combination c = {.stored = stored, .form = FORM_ADVECTIVE, .added = 2};
    kernels_stage device = stage_make(&c, arrays, 1);
    assert_ok(rig->backend->stage(&rig->launch, &device));
    twin_download(rig, &arrays[OUT]);
    for (int z = 0; z < 5; z++) {
      for (int y = 0; y < 20; y++) {
        for (int x = 0; x < 33; x++) {
          assert_true(reference_value(&rig->launch.shape, arrays[OUT].host, x, y, z) ==
                      reference_value(&rig->launch.shape, arrays[F].host, x, y, z));
        }
      }
    }
    for (int i = 0; i < ARRAYS; i++) twin_free(rig, &arrays[i]);
  }
}

int main(int argc, char **argv) {
  static const rig_test tests[] = {
      RIG_TEST(every_combination_is_the_reference),
      RIG_TEST(lower_orders_are_the_reference),
      RIG_TEST(large_shapes_are_the_reference),
      RIG_TEST(large_launches_are_the_reference),
      RIG_TEST(halos_of_velocities_do_not_leak),
      RIG_TEST(constants_stay),
      RIG_TEST(zeros_lose_their_sign),
  };
  return rig_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
