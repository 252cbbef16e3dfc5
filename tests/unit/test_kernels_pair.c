#include "emulated/launched.h"
#include "rig.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Two stages in one sweep (kernels.apply_pair), bit for bit the two one after the other. Skipped on backends
 * without pairs. */

enum { PHI, BASE, MIDDLE, OUT, UNTOUCHED, TABLES, ARRAYS };

/* Kinds of pairs: 0, BASED, and one of the others with or without BASED. BASED: the first stage adds a base;
 * without it, phi is the base of both. FORMULA: the velocity comes from tables instead of being uniform.
 * UPWIND: differences are; the last two, in double precision alone. */
enum { BASED = 1, FORMULA = 2, UPWIND = 4 };

static int kinds(const rig *rig) {
  return rig->launch.shape.precision == PRECISION_SINGLE ? 4 : 6;
}

/* The two stages of a pair. */
static void stages_make(const rig *rig, const twin arrays[ARRAYS], int kind, int device,
                        advection_stage stages[2]) {
  void *at[ARRAYS];
  for (int i = 0; i < ARRAYS; i++) at[i] = device ? arrays[i].device : arrays[i].host;
  advection_stage common = {.uniform = {1.1, -0.7, 0.4}, .base = at[BASE], .weight_f = 0.25};
  if (kind & FORMULA) common.tables = twin_tables_at(rig, &arrays[TABLES], device);
  stages[0] = stages[1] = common;
  stages[0].f = at[PHI];
  if (!(kind & BASED)) {
    stages[0].base = NULL;
    stages[1].base = at[PHI];
  }
  stages[0].out = at[MIDDLE];
  stages[1].f = at[MIDDLE];
  stages[0].advection = -1.0 / 300.0;
  stages[1].advection = -1.0 / 170.0;
  if (kind & UPWIND) stages[0].dissipation = 1.0 / 400.0;
  if (kind & UPWIND) stages[1].dissipation = 1.0 / 230.0;
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
  for (int i = 0; i < TABLES; i++) arrays[i] = i < MIDDLE ? twin_random(rig, i + 1) : twin_sentinel(rig);
  arrays[TABLES] = twin_tables(rig, TABLES);
  for (int i = 0; i < MIDDLE; i++) {
    twin_break_halos(rig, &arrays[i]);
    twin_upload(rig, &arrays[i]);
    images_set(rig, &arrays[i]);
  }
}

static void reference_run(const rig *rig, const twin arrays[ARRAYS], int kind) {
  advection_stage stages[2];
  stages_make(rig, arrays, kind, 0, stages);
  reference_stage(&rig->launch, &stages[0]);
  images_set(rig, &arrays[MIDDLE]);
  reference_stage(&rig->launch, &stages[1]);
}

/* always: 0 if pairs that would be slower are refused, too. */
static int would_refuse(const rig *rig, const advection_stage stages[2], int always) {
  const kernels_call first = advection_call(&stages[0], rig->launch.shape.precision);
  const kernels_call second = advection_call(&stages[1], rig->launch.shape.precision);
  return rig->backend->pair_refused(&rig->launch, &first, &second, always) != NULL;
}

/* Upwind pairs that were compared with the reference. There are none where blocks do not hand rims to one
 * another. */
static int upwind_pairs;

/* Checks the number of launches whose blocks wait for one another. It is known on an emulated device with 5
 * multiprocessors; of upwind pairs, which have no other launches, it is not 0. */
static void units_check(int kind, int units) {
  const char *count = getenv("FDAPP_EMULATED_MULTIPROCESSORS");
  if (&emulated_launched == NULL || count == NULL || strcmp(count, "5") != 0) return;
  if (kind & UPWIND) {
    assert_true(emulated_launched.together > 0);
  } else {
    assert_int_equal(emulated_launched.together, units);
  }
}

/* units: launches whose blocks hand rims to one another. */
static void pair_check(rig *rig, int kind, int units, const char *what) {
  twin arrays[ARRAYS];
  advection_stage stages[2];
  arrays_make(rig, arrays);
  stages_make(rig, arrays, kind, 1, stages);
  if (!(kind & UPWIND) || !would_refuse(rig, stages, 1)) {
    upwind_pairs += kind & UPWIND ? 1 : 0;
    reference_run(rig, arrays, kind);
    const kernels_call first = advection_call(&stages[0], rig->launch.shape.precision);
    const kernels_call second = advection_call(&stages[1], rig->launch.shape.precision);
    assert_null(rig->backend->pair_refused(&rig->launch, &first, &second, 1));
    if (&emulated_launched != NULL) emulated_launched.together = 0;
    assert_ok(rig->backend->apply_pair(&rig->launch, &first, &second));
    units_check(kind, units);
    twin_assert_equal(rig, &arrays[OUT], what);
    twin_assert_same(rig, &arrays[MIDDLE], &arrays[UNTOUCHED], "what the second stage reads is not stored");
  }
  for (int i = 0; i < ARRAYS; i++) twin_free(rig, &arrays[i]);
}

static void shape_set(rig *rig, int nx, int ny, int nz) {
  rig_shape(rig, nx, ny, nz);
  rig->launch.shape.whole = 1;
}

static void shape_check(rig *rig, const int shape[3], int order, int units) {
  shape_set(rig, shape[0], shape[1], shape[2]);
  rig_stencil(rig, order, 0.02, 0.03, 0.04);
  for (int kind = 0; kind < kinds(rig); kind++) {
    char what[96];
    (void)snprintf(what, sizeof what, "pair on %d x %d x %d, kind %d", shape[0], shape[1], shape[2], kind);
    pair_check(rig, kind, units, what);
  }
}

/* Tiles that are cut short, several tiles along each axis, rows that end with a part of a vector, planes that
 * wrap around more than once. units: launches whose blocks hand rims to one another on a device with 5
 * multiprocessors, in single or in double precision: up to three, of unequal height, and through more planes
 * than are kept. */
static void pairs_are_the_reference(rig *rig) {
  static const struct {
    int n[3], units_single, units_double;
  } shapes[] = {{{9, 9, 1}, 0, 0},     {{9, 9, 4}, 0, 0},    {{33, 20, 37}, 0, 0}, {{64, 24, 16}, 0, 0},
                {{65, 25, 8}, 0, 0},   {{130, 11, 5}, 0, 0}, {{70, 75, 9}, 0, 0},  {{131, 49, 21}, 0, 0},
                {{128, 48, 40}, 0, 0}, {{72, 60, 8}, 1, 0},  {{72, 124, 8}, 2, 0}, {{72, 172, 8}, 3, 0},
                {{40, 60, 8}, 0, 1},   {{40, 124, 8}, 1, 2}, {{40, 172, 8}, 0, 3}, {{40, 268, 8}, 2, 0},
                {{40, 60, 64}, 1, 1}};
  const int single = rig->launch.shape.precision == PRECISION_SINGLE;
  if (rig->backend->apply_pair == NULL) skip();
  upwind_pairs = 0;
  for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
    shape_check(rig, shapes[s].n, 8 - 2 * (int)(s % 4),
                single ? shapes[s].units_single : shapes[s].units_double);
  assert_true(upwind_pairs >= (single ? 0 : 2 * 8));
}

/* On 132 multiprocessors blocks hand rims to one another here, in one and in two units. */
static void largest_planes_are_the_reference(rig *rig) {
  const int single = rig->launch.shape.precision == PRECISION_SINGLE;
  if (rig->backend->apply_pair == NULL) skip();
  shape_check(rig, (const int[]){single ? 512 : 256, 512, 10}, 8, 1);
  shape_check(rig, (const int[]){single ? 1024 : 512, 512, 10}, 8, 2);
}

/* ---- A slab among others: planes AROUND and above of a whole one, which are its halos and it. ---- */

enum { AROUND = 2 * KERNELS_HALO };

static size_t planes_bytes(const rig *rig, int planes) {
  const kernels_shape *shape = &rig->launch.shape;
  return (size_t)planes * (size_t)shape->plane * kernels_element_size(shape->precision);
}

/* Plane z of the whole slab. */
static char *plane_at(const rig *rig, void *array, int z) {
  return (char *)array + planes_bytes(rig, z + KERNELS_HALO);
}

/* The base has KERNELS_HALO halo planes: others are NaN on the device. */
static void base_cut(rig *rig, twin *base, int nz) {
  const kernels_shape *shape = &rig->launch.shape;
  for (int z = 0; z < shape->nz; z++) {
    if (z >= AROUND - KERNELS_HALO && z < AROUND + nz + KERNELS_HALO) continue;
    for (int y = 0; y < shape->ny; y++) {
      for (int x = 0; x < shape->nx; x++) reference_set(shape, base->host, x, y, z, (double)NAN);
    }
  }
  twin_upload(rig, base);
}

/* The same bits on the slab, and nothing beyond it, on the host. */
static void slab_reference(const rig *rig, const twin arrays[ARRAYS], int kind, int nz) {
  advection_stage stages[2];
  kernels_launch launch = rig->launch;
  stages_make(rig, arrays, kind, 0, stages);
  reference_stage(&launch, &stages[0]);
  images_set(rig, &arrays[MIDDLE]);
  launch.planes[0] = (kernels_planes){AROUND, AROUND + nz};
  reference_stage(&launch, &stages[1]);
}

/* Returns 0 if there is no such upwind pair on the slab. */
static int slab_launch(rig *rig, const twin arrays[ARRAYS], int kind, int nz, kernels_event *edges) {
  const kernels_shape *whole = &rig->launch.shape;
  kernels_launch launch = rig->launch;
  advection_stage stages[2];
  twin part[ARRAYS];
  for (int i = 0; i < TABLES; i++)
    part[i] = (twin){.device = (char *)arrays[i].device + planes_bytes(rig, AROUND)};
  part[TABLES] = arrays[TABLES];
  stages_make(rig, part, kind, 1, stages);
  for (int k = 0; k < 2 && kind & FORMULA; k++)
    stages[k].tables.z = (const char *)stages[k].tables.z +
                         (size_t)AROUND * KERNELS_TABLE * kernels_element_size(whole->precision);
  launch.shape = kernels_shape_make(whole->nx, whole->ny, nz, 0, whole->precision, rig->backend->host_memory);
  launch.planes[0] = (kernels_planes){0, nz};
  launch.edges = edges;
  const kernels_call first = advection_call(&stages[0], whole->precision);
  const kernels_call second = advection_call(&stages[1], whole->precision);
  const char *refused = rig->backend->pair_refused(&launch, &first, &second, 1);
  if (kind & UPWIND && refused != NULL) return 0;
  assert_null(refused);
  assert_ok(rig->backend->apply_pair(&launch, &first, &second));
  upwind_pairs += kind & UPWIND ? 1 : 0;
  return 1;
}

/* When the event has passed, AROUND planes at each end are there: copies of them are taken at once. */
static void slab_edges_check(rig *rig, const twin *out, int nz, kernels_event *edges) {
  const int first[] = {nz, AROUND}; /* the upper edge, the lower one */
  twin seen = twin_sentinel(rig);
  assert_ok(rig->backend->event_wait(edges));
  for (int e = 0; e < 2; e++)
    assert_ok(rig->backend->memory_copy(rig->context, QUEUE_COPY, plane_at(rig, seen.device, first[e]),
                                        plane_at(rig, out->device, first[e]), planes_bytes(rig, AROUND)));
  assert_ok(rig->backend->queue_wait(rig->context, QUEUE_COPY));
  for (int e = 0; e < 2; e++)
    memcpy(plane_at(rig, seen.host, first[e]), plane_at(rig, out->host, first[e]), planes_bytes(rig, AROUND));
  twin_assert_equal(rig, &seen, "edges of a pair");
  twin_free(rig, &seen);
}

static void slab_check(rig *rig, int nz, int kind, const char *what) {
  twin arrays[ARRAYS];
  kernels_event *edges = NULL;
  arrays_make(rig, arrays);
  slab_reference(rig, arrays, kind, nz);
  base_cut(rig, &arrays[BASE], nz);
  const int launched = slab_launch(rig, arrays, kind, nz, NULL);
  if (launched) twin_assert_equal(rig, &arrays[OUT], what);
  assert_ok(rig->backend->event_create(rig->context, &edges));
  for (int i = 0; i < 2 && launched; i++) { /* the next one must not take the last one's event for its own */
    assert_ok(rig->backend->memory_copy(rig->context, QUEUE_MAIN, arrays[OUT].device,
                                        arrays[UNTOUCHED].device, arrays[OUT].bytes));
    (void)slab_launch(rig, arrays, kind, nz, edges);
    slab_edges_check(rig, &arrays[OUT], nz, edges);
    twin_assert_equal(rig, &arrays[OUT], what);
  }
  rig->backend->event_destroy(edges);
  for (int i = 0; i < ARRAYS; i++) twin_free(rig, &arrays[i]);
}

/* Slabs of one to several pieces along z, with edges that meet, and with other planes between them. In the
 * last one blocks hand rims to one another on 5 multiprocessors. */
static void slabs_among_others_are_the_reference(rig *rig) {
  static const int shapes[][3] = {{33, 20, 8},   {9, 9, 15},    {65, 25, 16},
                                  {131, 49, 37}, {128, 24, 26}, {64, 56, 24}};
  if (rig->backend->apply_pair == NULL) skip();
  upwind_pairs = 0;
  for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
    const int nz = shapes[s][2];
    shape_set(rig, shapes[s][0], shapes[s][1], nz + 2 * AROUND);
    rig_stencil(rig, 8 - 2 * (int)(s % 4), 0.02, 0.03, 0.04);
    for (int kind = 0; kind < kinds(rig); kind++) {
      char what[96];
      (void)snprintf(what, sizeof what, "pair on a slab of %d x %d x %d, kind %d", shapes[s][0], shapes[s][1],
                     nz, kind);
      slab_check(rig, nz, kind, what);
    }
  }
  assert_true(upwind_pairs > 0 || rig->launch.shape.precision == PRECISION_SINGLE);
}

static int is_refused(const rig *rig, const advection_stage stages[2]) {
  return would_refuse(rig, stages, 1);
}

/* Blocks that hand rims to one another wait for so long and no longer; the launch that they wait in is an
 * error, and every one after it. */
static void a_lost_block_is_an_error(rig *rig) {
  twin arrays[ARRAYS];
  advection_stage stages[2];
  if (rig->backend->apply_pair == NULL || getenv("FDAPP_EMULATED_MULTIPROCESSORS") == NULL) skip();
  shape_set(rig, rig->launch.shape.precision == PRECISION_SINGLE ? 128 : 64, 64, 8);
  arrays_make(rig, arrays);
  stages_make(rig, arrays, 0, 1, stages);
  const kernels_call first = advection_call(&stages[0], rig->launch.shape.precision);
  const kernels_call second = advection_call(&stages[1], rig->launch.shape.precision);
  assert_ok(rig->backend->apply_pair(&rig->launch, &first, &second));
  assert_ok(rig->backend->queue_wait(rig->context, QUEUE_MAIN));
  assert_int_equal(setenv("FDAPP_EMULATED_LOST_BLOCK", "1", 1), 0);
  (void)rig->backend->apply_pair(&rig->launch, &first, &second);
  assert_int_equal(unsetenv("FDAPP_EMULATED_LOST_BLOCK"), 0);
  for (int i = 0; i < 2; i++) {
    assert_int_equal(rig->backend->queue_wait(rig->context, QUEUE_MAIN), STATUS_DEVICE);
    assert_non_null(strstr(status_message(STATUS_DEVICE), "blocks have waited for one another in vain"));
  }
  status_clear();
  for (int i = 0; i < ARRAYS; i++) twin_free(rig, &arrays[i]);
}

/* Where a multiprocessor holds no block that waits for others there are no pairs of such blocks. */
static void blocks_without_room_are_refused(rig *rig) {
  const int single = rig->launch.shape.precision == PRECISION_SINGLE;
  const char *count = getenv("FDAPP_EMULATED_MULTIPROCESSORS");
  twin arrays[ARRAYS];
  advection_stage stages[2];
  if (rig->backend->apply_pair == NULL || count == NULL || strcmp(count, "5") != 0) skip();
  shape_set(rig, single ? 72 : 40, 60, 8);
  arrays_make(rig, arrays);
  for (int kind = 0; kind < kinds(rig); kind++) {
    stages_make(rig, arrays, kind, 1, stages);
    shape_set(rig, single ? 72 : 40, 60, 8);
    assert_false(would_refuse(rig, stages, 1));
    assert_int_equal(setenv("FDAPP_EMULATED_NO_ROOM", "1", 1), 0);
    assert_true(would_refuse(rig, stages, 1));
    shape_set(rig, 64, 24, 16); /* each block computes around its tile, unless differences are upwind */
    assert_int_equal(would_refuse(rig, stages, 1), (kind & UPWIND) != 0);
    assert_int_equal(unsetenv("FDAPP_EMULATED_NO_ROOM"), 0);
  }
  for (int i = 0; i < ARRAYS; i++) twin_free(rig, &arrays[i]);
}

/* Pairs by formula gain less: `auto` takes them only where it takes those with a uniform velocity, and never
 * if rows are no whole vectors. Only shapes are looked at. */
static void formulas_are_refused_sooner(rig *rig) {
  static const int shapes[][3] = {{32, 20, 9}, {320, 120, 40}, {320, 120, 80}, {319, 120, 80}};
  twin arrays[ARRAYS];
  advection_stage uniform[2], formula[2];
  if (rig->backend->apply_pair == NULL) skip();
  shape_set(rig, 33, 20, 9);
  arrays_make(rig, arrays);
  stages_make(rig, arrays, 0, 1, uniform);
  stages_make(rig, arrays, FORMULA, 1, formula);
  for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
    shape_set(rig, shapes[s][0], shapes[s][1], shapes[s][2]);
    assert_true(would_refuse(rig, formula, 0) || !would_refuse(rig, uniform, 0));
    assert_true(would_refuse(rig, formula, 0) || shapes[s][0] % 2 == 0);
    assert_false(would_refuse(rig, formula, 1));
  }
  for (int i = 0; i < ARRAYS; i++) twin_free(rig, &arrays[i]);
}

/* What there is no kernel for is said, and never computed otherwise. */
static void others_are_refused(rig *rig) {
  twin arrays[ARRAYS];
  advection_stage stages[2];
  if (rig->backend->apply_pair == NULL) skip();
  shape_set(rig, 40, 60, 9);
  arrays_make(rig, arrays);
  stages_make(rig, arrays, BASED, 1, stages);
  stages[1].base = arrays[PHI].device; /* not the first one's */
  assert_true(is_refused(rig, stages));
  stages[1].base = arrays[BASE].device;
  stages[1].diffusion = 0.1;
  assert_true(is_refused(rig, stages));
  stages[1].diffusion = 0.0;
  stages[1].dissipation = 0.1;
  assert_true(is_refused(rig, stages));
  stages[0].dissipation = 0.1;
  assert_int_equal(is_refused(rig, stages), rig->launch.shape.precision == PRECISION_SINGLE);
  stages[0].dissipation = stages[1].dissipation = 0.0;
  assert_false(is_refused(rig, stages));
  stages[1].tables = twin_tables_at(rig, &arrays[TABLES], 1); /* another velocity than the first one's */
  assert_true(is_refused(rig, stages));
  stages_make(rig, arrays, FORMULA, 1, stages);
  assert_false(is_refused(rig, stages));
  stages[1].tables.y = stages[1].tables.z; /* not the first one's */
  assert_true(is_refused(rig, stages));
  stages[1].tables.y = stages[0].tables.y;
  assert_false(is_refused(rig, stages));
  stages[0].dissipation = stages[1].dissipation = 0.1;
  assert_true(is_refused(rig, stages));
  stages[0].dissipation = stages[1].dissipation = 0.0;
  stages[0].form = stages[1].form = FORM_SKEW;
  assert_true(is_refused(rig, stages));
  for (int i = 0; i < ARRAYS; i++) twin_free(rig, &arrays[i]);
}

int main(int argc, char **argv) {
  static const rig_test tests[] = {RIG_TEST(pairs_are_the_reference),
                                   RIG_TEST(largest_planes_are_the_reference),
                                   RIG_TEST(slabs_among_others_are_the_reference),
                                   RIG_TEST(blocks_without_room_are_refused),
                                   RIG_TEST(formulas_are_refused_sooner),
                                   RIG_TEST(others_are_refused),
                                   RIG_TEST(a_lost_block_is_an_error)};
  return rig_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
