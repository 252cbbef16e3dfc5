#include "arrays.h"

#include <stdlib.h>

/* Stages whose edge planes come first, and an event after them. */

/* Some planes of a field: which, and where they lie in it. */
typedef struct part {
  size_t offset, bytes;
  size_t plane, row, points; /* bytes from plane to plane, from row to row, and of a row's points */
} part;

static part part_of(const rig *rig, int z, int count) {
  const kernels_shape *shape = &rig->launch.shape;
  const size_t element = kernels_element_size(shape->precision);
  const size_t row = (size_t)shape->ldx * element;
  const size_t plane = (size_t)shape->plane * element;
  return (part){(size_t)(z + KERNELS_HALO) * plane, (size_t)count * plane, plane, row,
                (size_t)shape->nx * element};
}

/* The edge planes above and below; in a thin slab they overlap. */
static void parts_of_edges(const rig *rig, part edges[2]) {
  const int nz = rig->launch.shape.nz;
  const int planes = nz < KERNELS_HALO ? nz : KERNELS_HALO;
  edges[0] = part_of(rig, nz - planes, planes);
  edges[1] = part_of(rig, 0, planes);
}

/* As it is on the device now, whatever MAIN is doing, to another field there: at once, before more is
 * computed. */
static void part_snapshot(rig *rig, part part, const void *from, void *to) {
  assert_ok(rig->backend->memory_copy(rig->context, QUEUE_COPY, (char *)to + part.offset,
                                      (const char *)from + part.offset, part.bytes));
}

static void part_assert_equal(rig *rig, part part, const void *device, const void *host) {
  char *copied = malloc(part.bytes);
  assert_non_null(copied);
  assert_ok(rig->backend->memory_copy(rig->context, QUEUE_COPY, copied, (const char *)device + part.offset,
                                      part.bytes));
  assert_ok(rig->backend->queue_wait(rig->context, QUEUE_COPY));
  for (size_t plane = 0; plane < part.bytes; plane += part.plane) {
    for (int y = 0; y < rig->launch.shape.ny; y++) {
      const size_t at = plane + (size_t)y * part.row;
      assert_memory_equal(copied + at, (const char *)host + part.offset + at, part.points);
    }
  }
  free(copied);
}

/* When the event of a stage is passed, its edges are there, and in the end everything is. Twice, for the next
 * one must not take the last one's event for its own. */
static void edges_check(rig *rig, const twin *out, const advection_stage *on_host,
                        const advection_stage *on_device) {
  part edges[2];
  parts_of_edges(rig, edges);
  const size_t bytes = kernels_field_bytes(&rig->launch.shape);
  twin seen = twin_sentinel(rig);
  twin before = twin_sentinel(rig);
  kernels_launch launch = rig->launch;
  assert_ok(rig->backend->event_create(rig->context, &launch.edges));
  assert_ok(rig->backend->memory_copy(rig->context, QUEUE_MAIN, before.device, out->device, bytes));
  for (int i = 0; i < 2; i++) {
    if (i == 0) reference_stage(&launch, on_host);
    assert_ok(rig->backend->memory_copy(rig->context, QUEUE_MAIN, out->device, before.device, bytes));
    assert_ok(advection_apply(rig->backend, &launch, on_device));
    assert_ok(rig->backend->event_wait(launch.edges));
    for (int e = 0; e < 2; e++) part_snapshot(rig, edges[e], out->device, seen.device);
    for (int e = 0; e < 2; e++) part_assert_equal(rig, edges[e], seen.device, out->host);
    twin_assert_equal(rig, out, "stage with its edges first");
  }
  rig->backend->event_destroy(launch.edges);
  twin_free(rig, &before);
  twin_free(rig, &seen);
}

static void edges_shape(rig *rig, int nx, int ny, int nz) {
  rig_shape(rig, nx, ny, nz);
  arrays a = arrays_make(rig);
  const advection_stage on_host = stage_of(&a, 0);
  const advection_stage on_device = stage_of(&a, 1);
  edges_check(rig, &a.out[5], &on_host, &on_device);
  arrays_free(rig, &a);
}

/* A stage with uniform velocity, or with that of tables in a form. */
static void edges_plain(rig *rig, twin fill(struct rig *rig, int seed), double diffusion, int formula,
                        advection_form form) {
  twin f = fill(rig, 1);
  twin base = fill(rig, 2);
  twin out = twin_sentinel(rig);
  twin tables = twin_tables(rig, 3);
  advection_stage stage = {.f = f.host,
                           .base = base.host,
                           .out = out.host,
                           .weight_f = 0.25,
                           .form = form,
                           .advection = -0.003,
                           .diffusion = diffusion};
  for (int d = 0; d < 3; d++) stage.uniform[d] = 1.0 - 0.3 * d;
  if (formula) stage.tables = twin_tables_at(rig, &tables, 0);
  const advection_stage on_host = stage;
  if (formula) stage.tables = twin_tables_at(rig, &tables, 1);
  stage.f = f.device;
  stage.base = base.device;
  stage.out = out.device;
  edges_check(rig, &out, &on_host, &stage);
  twin_free(rig, &f);
  twin_free(rig, &base);
  twin_free(rig, &out);
  twin_free(rig, &tables);
}

static void edges_all(rig *rig, twin fill(struct rig *rig, int seed), double diffusion) {
  edges_plain(rig, fill, diffusion, 0, FORM_ADVECTIVE);
  for (int form = 0; form < 3; form++) edges_plain(rig, fill, diffusion, 1, (advection_form)form);
}

/* So wide that a device has more tiles than blocks at once: the last edges come late. (An emulated one of few
 * multiprocessors has them with the shapes above.) */
static void largest_rows_edges_come_late(rig *rig) {
  if (rig->backend->host_memory) return;
  const int single = rig->launch.shape.precision == PRECISION_SINGLE;
  rig_shape(rig, single ? 8580 : 4290, 34, 20);
  edges_all(rig, twin_random, 0.0);
  edges_plain(rig, twin_random, 1e-4, 0, FORM_ADVECTIVE);
  edges_plain(rig, twin_random, 1e-4, 1, FORM_ADVECTIVE);
}

/* Planes of which a device cuts some tiles along z and not the others. */
static void largest_launches_edges_come_first(rig *rig) {
  if (rig->backend->host_memory) return;
  rig_shape(rig, 768, 768, 88);
  edges_plain(rig, twin_random, 0.0, 0, FORM_ADVECTIVE);
  edges_plain(rig, twin_random, 0.0, 1, FORM_CONSERVATIVE);
}

/* Edges above are computed downwards. */
static void edges_of_zeros(rig *rig) {
  for (int order = 2; order <= 8; order += 2) {
    rig_shape(rig, rig_large[0][0], rig_large[0][1], rig_large[0][2]);
    rig_stencil(rig, order, 0.02, 0.03, 0.04);
    if (order == 8) {
      edges_all(rig, twin_zeros, 0.0);
    } else {
      edges_plain(rig, twin_zeros, 0.0, order == 4, FORM_ADVECTIVE);
    }
  }
}

static void edges_come_first(rig *rig) {
  for (int s = 0; s < RIG_SHAPES; s++) edges_shape(rig, rig_shapes[s][0], rig_shapes[s][1], rig_shapes[s][2]);
  for (int s = 0; s < RIG_LARGE; s++) {
    edges_shape(rig, rig_large[s][0], rig_large[s][1], rig_large[s][2]);
    edges_all(rig, twin_random, 0.0);
    edges_plain(rig, twin_random, 1e-4, 1, FORM_CONSERVATIVE);
    edges_plain(rig, twin_random, 1e-4, 1, FORM_SKEW);
  }
  edges_of_zeros(rig);
}

/* For apply_seen: the edge planes of `out` are copied to `seen` when a launch has signalled them. */
static struct {
  rig *rig;
  const twin *out, *seen;
} watch;

static status apply_seen(const kernels_launch *launch, const kernels_call *call) {
  part edges[2];
  const status done = watch.rig->backend->apply(launch, call);
  if (done != STATUS_OK || launch->edges == NULL) return done;
  assert_ok(watch.rig->backend->event_wait(launch->edges));
  parts_of_edges(watch.rig, edges);
  for (int e = 0; e < 2; e++) part_snapshot(watch.rig, edges[e], watch.out->device, watch.seen->device);
  return STATUS_OK;
}

/* Where axes have ends, layers of the edge planes are written, too, when these are signalled. */
static void edges_with_ends(rig *rig, const int bounded[3]) {
  part edges[2];
  twin f = twin_random(rig, 1), base = twin_random(rig, 2), out = twin_sentinel(rig),
       seen = twin_sentinel(rig);
  kernels_launch launch = rig->launch;
  kernels watched = *rig->backend;
  kernels_ends ends = {.bounded = {bounded[0], bounded[1], bounded[2]}, .nz = rig->launch.shape.nz};
  const kernels_call call = {.kind = OPERATION_advection,
                             .options = SUM_BASE | SUM_OWN | ADVECTION_UNIFORM | ADVECTION_GRADIENT,
                             .in = {[ADVECTION_F] = f.device, [SUM_IN_BASE] = base.device},
                             .out = {out.device},
                             .weight = {[WEIGHT_OWN] = 0.25, [WEIGHT_PART + ADVECTION_PART_A] = -0.01},
                             .uniform = {1.0, 0.5, -0.75},
                             .ends = &ends};
  watched.apply = apply_seen;
  watch.rig = rig;
  watch.out = &out;
  watch.seen = &seen;
  assert_ok(kernels_ends_open(rig->backend, rig->context, launch.shape.precision, &rig->stencil, &ends));
  assert_ok(rig->backend->event_create(rig->context, &launch.edges));
  assert_ok(apply_bounded(&watched, &launch, &call));
  twin_download(rig, &out);
  parts_of_edges(rig, edges);
  for (int e = 0; e < 2; e++) part_assert_equal(rig, edges[e], seen.device, out.host);
  rig->backend->event_destroy(launch.edges);
  kernels_ends_close(rig->backend, rig->context, &ends);
  twin_free(rig, &f);
  twin_free(rig, &base);
  twin_free(rig, &out);
  twin_free(rig, &seen);
}

static void edges_have_their_layers(rig *rig) {
  if (rig->backend->layers == NULL) return;
  for (int s = 0; s < RIG_LARGE; s++) {
    rig_shape(rig, rig_large[s][0], rig_large[s][1], rig_large[s][2]);
    edges_with_ends(rig, (const int[]){1, 1, 0});
    edges_with_ends(rig, (const int[]){1, 1, 1});
  }
}

int main(int argc, char **argv) {
  static const rig_test tests[] = {
      RIG_TEST(edges_come_first),
      RIG_TEST(edges_have_their_layers),
      RIG_TEST(largest_rows_edges_come_late),
      RIG_TEST(largest_launches_edges_come_first),
  };
  return rig_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
