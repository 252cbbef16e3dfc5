#include "rig.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The min-plus product: bit for bit the least of all sums, on every shape, axis and kind of cost. */

/* Costs in host memory, and in the field's precision on the backend. */
typedef struct costs {
  double *host;
  void *device;
  size_t entries;
} costs;

static double rounded(const rig *rig, double value) {
  return rig->launch.shape.precision == PRECISION_SINGLE ? (double)(float)value : value;
}

static costs costs_allocate(size_t entries) {
  costs c = {.host = calloc(entries, sizeof(double)), .entries = entries};
  assert_non_null(c.host);
  return c;
}

/* Rounds the host's numbers, and takes them to the backend. */
static void costs_upload(rig *rig, costs *c) {
  const size_t size = kernels_element_size(rig->launch.shape.precision);
  char *packed = malloc(c->entries * size);
  assert_non_null(packed);
  for (size_t i = 0; i < c->entries; i++) {
    c->host[i] = rounded(rig, c->host[i]);
    const float single = (float)c->host[i];
    memcpy(packed + i * size, size == sizeof single ? (const void *)&single : &c->host[i], size);
  }
  assert_ok(rig->backend->memory_allocate(rig->context, MEMORY_DEVICE, c->entries * size, &c->device));
  assert_ok(rig->backend->memory_copy(rig->context, QUEUE_MAIN, c->device, packed, c->entries * size));
  assert_ok(rig->backend->queue_wait(rig->context, QUEUE_MAIN));
  free(packed);
}

static void costs_free(rig *rig, costs *c) {
  rig->backend->memory_free(rig->context, MEMORY_DEVICE, c->device);
  free(c->host);
}

/* Splitmix64. */
static double noise(unsigned long long i) {
  i = i * 0x9e3779b97f4a7c15ULL + 0xd1342543de82ef95ULL;
  i = (i ^ (i >> 30)) * 0xbf58476d1ce4e5b9ULL;
  i = (i ^ (i >> 27)) * 0x94d049bb133111ebULL;
  return (double)((i ^ (i >> 31)) >> 11) * 0x1p-53;
}

/* Squares of distances; of the nearest image with a period. */
static costs squares(rig *rig, size_t entries, size_t period, double h) {
  costs c = costs_allocate(entries);
  for (size_t d = 0; d < entries; d++) {
    const size_t near = period > 0 && d > period / 2 ? (d > period ? 0 : period - d) : d;
    c.host[d] = h * (double)near * h * (double)near;
  }
  costs_upload(rig, &c);
  return c;
}

/* Of either sign, some infinite. */
static costs random_costs(rig *rig, size_t entries) {
  costs c = costs_allocate(entries);
  for (size_t d = 0; d < entries; d++)
    c.host[d] = noise(d) < 0.1 ? (double)INFINITY : 3.0 * noise(d + 77) - 1.0;
  costs_upload(rig, &c);
  return c;
}

static int points_along(const rig *rig, axis along) {
  const kernels_shape *shape = &rig->launch.shape;
  return along == AXIS_X ? shape->nx : along == AXIS_Y ? shape->ny : shape->nz;
}

/* Values of the pencil of `in` through (x, y, z). */
static void pencil_values(const rig *rig, const kernels_minplus *m, const void *in, const int at[3],
                          double *values) {
  int p[3] = {at[0], at[1], at[2]};
  for (int k = 0; k < m->count; k++) {
    p[m->along] = k;
    values[k] = reference_value(&rig->launch.shape, in, p[0], p[1], p[2]);
  }
}

/* For point i of a pencil. */
static double least_sum(const kernels_minplus *m, const costs *cost, int single, const double *values,
                        ptrdiff_t i) {
  double least = (double)INFINITY;
  for (int k = 0; k < m->count; k++) {
    const ptrdiff_t at = m->pitch != 0 ? i * m->pitch + k : labs(i + m->offset - k);
    const double exact = values[k] + cost->host[at], sum = single ? (double)(float)exact : exact;
    if (sum < least) least = sum;
  }
  return least;
}

/* The product, pencil by pencil. */
static void brute_force(const rig *rig, const kernels_minplus *m, const costs *cost, const twin *in,
                        const twin *out) {
  const kernels_shape *shape = &rig->launch.shape;
  const int n = points_along(rig, m->along), single = shape->precision == PRECISION_SINGLE;
  const int pencils[3] = {m->along == AXIS_X ? 1 : shape->nx, m->along == AXIS_Y ? 1 : shape->ny,
                          m->along == AXIS_Z ? 1 : shape->nz};
  double *values = calloc((size_t)m->count, sizeof *values);
  assert_non_null(values);
  for (int j = 0; j < pencils[0] * pencils[1] * pencils[2]; j++) {
    int p[3] = {j % pencils[0], j / pencils[0] % pencils[1], j / pencils[0] / pencils[1]};
    pencil_values(rig, m, in->host, p, values);
    for (int i = 0; i < n; i++) {
      p[m->along] = i;
      const double before =
          m->accumulate ? reference_value(shape, out->host, p[0], p[1], p[2]) : (double)INFINITY;
      const double sum = least_sum(m, cost, single, values, i);
      reference_set(shape, out->host, p[0], p[1], p[2], (sum < before ? sum : before) + 0.0);
    }
  }
  free(values);
}

/* The product, or the backend's plainer way of it number `variant`. in and out: of the rig's shape, `in` of
 * m->count planes along z. */
static void check_way(rig *rig, int variant, kernels_minplus m, const costs *cost, const twin *in, twin *out,
                      const char *what) {
  const kernels_shape *shape = &rig->launch.shape;
  const size_t size = kernels_element_size(shape->precision);
  const size_t first = (size_t)KERNELS_HALO * (size_t)shape->plane * size;
  m.in = (const char *)in->device + first;
  m.out = (char *)out->device + first;
  m.cost = cost->device;
  assert_ok(variant < 0 ? rig->backend->minplus(&rig->launch, &m)
                        : rig->backend->minplus_variant(&rig->launch, variant, &m));
  brute_force(rig, &m, cost, in, out);
  twin_assert_equal(rig, out, what);
}

static void check(rig *rig, kernels_minplus m, const costs *cost, const twin *in, twin *out,
                  const char *what) {
  check_way(rig, -1, m, cost, in, out, what);
}

static void check_fresh(rig *rig, kernels_minplus m, const costs *cost, const twin *in, const char *what) {
  twin out = m.accumulate ? twin_random(rig, 5) : twin_sentinel(rig);
  check(rig, m, cost, in, &out, what);
  twin_free(rig, &out);
}

enum { SHAPES = 7 };
static const int shapes[SHAPES][3] = {{33, 20, 37}, {9, 9, 4},   {64, 17, 8}, {1, 1, 1},
                                      {70, 3, 100}, {5, 131, 2}, {300, 2, 3}};

static void each_shape(rig *rig, rig_function function) {
  for (int s = 0; s < SHAPES; s++) {
    rig_shape(rig, shapes[s][0], shapes[s][1], shapes[s][2]);
    function(rig);
  }
}

/* Zero with a probability of 1/50, else infinite. */
static double sparse_value(const rig *rig, const void *user, int x, int y, int z) {
  (void)rig;
  (void)user;
  return noise((unsigned long long)((z + 8) * 1000003 + y * 1009 + x)) < 0.02 ? 0.0 : (double)INFINITY;
}

static void tables_of_a_shape(rig *rig) {
  twin in = twin_random(rig, 1);
  twin sparse = twin_make(rig, sparse_value, NULL);
  for (int d = 0; d < 3; d++) {
    const int n = points_along(rig, (axis)d);
    costs open = squares(rig, (size_t)n, 0, 0.1);
    costs periodic = squares(rig, (size_t)n, (size_t)n, 0.1);
    costs any = random_costs(rig, (size_t)n);
    kernels_minplus m = {.along = (axis)d, .count = n, .least = -1.0};
    check_fresh(rig, m, &open, &in, "squares");
    check_fresh(rig, m, &periodic, &in, "periodic squares");
    check_fresh(rig, m, &any, &in, "any table");
    m.accumulate = 1;
    check_fresh(rig, m, &any, &in, "any table, accumulated");
    m.least = 0.0;
    check_fresh(rig, m, &periodic, &sparse, "few points, accumulated");
    m.accumulate = 0;
    check_fresh(rig, m, &open, &sparse, "few points");
    m.least = (double)-INFINITY;
    check_fresh(rig, m, &any, &sparse, "nothing skipped");
    costs_free(rig, &open);
    costs_free(rig, &periodic);
    costs_free(rig, &any);
  }
  twin_free(rig, &in);
  twin_free(rig, &sparse);
}

static void tables_are_brute_force(rig *rig) {
  each_shape(rig, tables_of_a_shape);
}

static void matrices_of_a_shape(rig *rig) {
  twin in = twin_random(rig, 2);
  for (int d = 0; d < 3; d++) {
    const int n = points_along(rig, (axis)d);
    const int pitch = (n + 1 + 31) / 32 * 32; /* whole alignments in both precisions */
    costs matrix = random_costs(rig, (size_t)pitch * (size_t)n);
    kernels_minplus m = {.along = (axis)d, .count = n, .pitch = pitch, .least = 0.0};
    check_fresh(rig, m, &matrix, &in, "matrix");
    m.accumulate = 1;
    check_fresh(rig, m, &matrix, &in, "matrix, accumulated");
    costs_free(rig, &matrix);
  }
  twin_free(rig, &in);
}

static void matrices_are_brute_force(rig *rig) {
  each_shape(rig, matrices_of_a_shape);
}

/* What fdbench compares with. */
static void plain_ways_of_a_shape(rig *rig) {
  const int n = rig->launch.shape.ny;
  const int pitch = (n + 1 + 31) / 32 * 32;
  twin in = twin_random(rig, 8);
  costs matrix = random_costs(rig, (size_t)pitch * (size_t)n);
  for (int v = 0; v < rig->backend->minplus_variant_count; v++) {
    twin out = twin_sentinel(rig);
    check_way(rig, v, (kernels_minplus){.along = AXIS_Y, .count = n, .pitch = pitch}, &matrix, &in, &out,
              rig->backend->minplus_variant_names[v]);
    twin_free(rig, &out);
  }
  costs_free(rig, &matrix);
  twin_free(rig, &in);
}

static void plain_ways_are_brute_force(rig *rig) {
  each_shape(rig, plain_ways_of_a_shape);
}

/* The loop is one of numbers: a sum of operands below zero goes on falling, and what has no operand stays. */
static void loop_counts_its_pairs(rig *rig) {
  rig_shape(rig, 33, 20, 37);
  costs loop = costs_allocate(2 * KERNELS_LOOP);
  for (size_t i = 0; i < KERNELS_LOOP; i++) loop.host[i] = -0.25;
  costs_upload(rig, &loop);
  const size_t size = kernels_element_size(rig->launch.shape.precision);
  double pairs = 0.0;
  char first[8];
  assert_ok(rig->backend->minplus_loop(&rig->launch, loop.device, (char *)loop.device + KERNELS_LOOP * size,
                                       &pairs));
  assert_ok(rig->backend->memory_copy(rig->context, QUEUE_MAIN, first,
                                      (char *)loop.device + KERNELS_LOOP * size, size));
  assert_ok(rig->backend->queue_wait(rig->context, QUEUE_MAIN));
  float single = 0.0F;
  double twofold = 0.0;
  memcpy(&single, first, sizeof single);
  memcpy(&twofold, first, sizeof twofold);
  assert_true(pairs > 1e6);
  assert_true((size == sizeof single ? (double)single : twofold) < -500.0);
  costs_free(rig, &loop);
}

/* A few points of a set far from one another, more planes than one chunk of k holds, and a row that ends
 * within a vector. */
static double lone_value(const rig *rig, const void *user, int x, int y, int z) {
  (void)rig;
  (void)user;
  return (x == 3 && y == 100 && z == 1) || (x == 66 && y == 7 && z == 0) ? 0.0 : (double)INFINITY;
}

static void lone_points_are_found(rig *rig) {
  rig_shape(rig, 67, 130, 2);
  twin in = twin_make(rig, lone_value, NULL);
  for (int d = 0; d < 3; d++) {
    const int n = points_along(rig, (axis)d);
    costs periodic = squares(rig, (size_t)n, (size_t)n, 0.1);
    check_fresh(rig, (kernels_minplus){.along = (axis)d, .count = n}, &periodic, &in, "two points");
    check_fresh(rig, (kernels_minplus){.along = (axis)d, .count = n, .accumulate = 1}, &periodic, &in,
                "two points, accumulated");
    costs_free(rig, &periodic);
  }
  twin_free(rig, &in);
}

/* Slabs of 3 to 90 planes, each against all of them in turn, give what the whole gives, whatever the order.
 */
static void slabs_of_z_are_the_whole(rig *rig) {
  enum { NZ = 150, SLABS = 4 };
  static const int start[SLABS + 1] = {0, 3, 30, 60, NZ};
  rig_shape(rig, 37, 3, NZ);
  twin in = twin_random(rig, 3);
  twin whole = twin_sentinel(rig);
  twin parts = twin_sentinel(rig);
  costs periodic = squares(rig, NZ, NZ, 0.02);
  const size_t plane = (size_t)rig->launch.shape.plane * kernels_element_size(rig->launch.shape.precision);
  check(rig, (kernels_minplus){.along = AXIS_Z, .count = NZ, .least = -1.0}, &periodic, &in, &whole, "whole");
  for (int s = 0; s < SLABS; s++) {
    kernels_launch launch = rig->launch;
    launch.shape.nz = start[s + 1] - start[s];
    for (int step = 0; step < SLABS; step++) {
      const int from = (s + step) % SLABS;
      const kernels_minplus m = {.out = (char *)parts.device + plane * (size_t)(KERNELS_HALO + start[s]),
                                 .in = (const char *)in.device + plane * (size_t)(KERNELS_HALO + start[from]),
                                 .along = AXIS_Z,
                                 .count = start[from + 1] - start[from],
                                 .accumulate = step > 0,
                                 .cost = periodic.device,
                                 .offset = start[s] - start[from],
                                 .least = -1.0};
      assert_ok(rig->backend->minplus(&launch, &m));
    }
  }
  twin_assert_same(rig, &whole, &parts, "slabs");
  costs_free(rig, &periodic);
  twin_free(rig, &in);
  twin_free(rig, &whole);
  twin_free(rig, &parts);
}

/* Whatever the signs of the zeros that are added and compared, the result is +0. */
static void zeros_are_positive(rig *rig) {
  rig_shape(rig, 33, 20, 37);
  twin in = twin_zeros(rig, 4);
  for (int d = 0; d < 3; d++) {
    costs c = costs_allocate((size_t)points_along(rig, (axis)d));
    for (size_t i = 0; i < c.entries; i++) c.host[i] = copysign(0.0, noise(i) - 0.5);
    costs_upload(rig, &c);
    kernels_minplus m = {.along = (axis)d, .count = (int)c.entries};
    check_fresh(rig, m, &c, &in, "zeros");
    twin out = twin_zeros(rig, 6);
    m.accumulate = 1;
    check(rig, m, &c, &in, &out, "zeros, accumulated");
    twin_free(rig, &out);
    costs_free(rig, &c);
  }
  twin_free(rig, &in);
}

static unsigned long long pairs_of(rig *rig, double least, const twin *in, const costs *cost) {
  twin out = twin_sentinel(rig);
  void *counter = NULL;
  unsigned long long pairs = 0;
  assert_ok(rig->backend->memory_allocate(rig->context, MEMORY_DEVICE, sizeof pairs, &counter));
  check(rig,
        (kernels_minplus){.along = AXIS_Y, .count = rig->launch.shape.ny, .least = least, .pairs = counter},
        cost, in, &out, "counted");
  assert_ok(rig->backend->memory_copy(rig->context, QUEUE_MAIN, &pairs, counter, sizeof pairs));
  assert_ok(rig->backend->queue_wait(rig->context, QUEUE_MAIN));
  rig->backend->memory_free(rig->context, MEMORY_DEVICE, counter);
  twin_free(rig, &out);
  return pairs;
}

/* Where values are near one another and costs grow, most of the search is skipped; all of it is done where
 * nothing is known. */
static void what_cannot_win_is_skipped(rig *rig) {
  rig_shape(rig, 96, 512, 2);
  twin in = twin_random(rig, 7);
  costs open = squares(rig, 512, 0, 0.5);
  const unsigned long long all = 96ULL * 512 * 512 * 2;
  const unsigned long long full = pairs_of(rig, (double)-INFINITY, &in, &open);
  const unsigned long long some = pairs_of(rig, -1.0, &in, &open);
  assert_true(full >= all && full < all + all / 2);
  assert_true(some > 0 && some < all / 2);
  twin sparse = twin_make(rig, sparse_value, NULL);
  assert_true(pairs_of(rig, 0.0, &sparse, &open) < all / 2); /* nearly all of which are infinite */
  twin_free(rig, &sparse);
  costs_free(rig, &open);
  twin_free(rig, &in);
}

int main(int argc, char **argv) {
  const rig_test tests[] = {
      RIG_TEST(tables_are_brute_force),     RIG_TEST(matrices_are_brute_force),
      RIG_TEST(slabs_of_z_are_the_whole),   RIG_TEST(zeros_are_positive),
      RIG_TEST(what_cannot_win_is_skipped), RIG_TEST(plain_ways_are_brute_force),
      RIG_TEST(loop_counts_its_pairs),      RIG_TEST(lone_points_are_found),
  };
  return rig_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
