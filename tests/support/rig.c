#include "rig.h"

#include <fnmatch.h>
#include <malloc.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const int rig_shapes[RIG_SHAPES][3] = {
    {33, 20, 37}, {9, 9, 4},    {64, 17, 8},  {130, 11, 5},
    {17, 40, 4},  {700, 12, 5}, {9001, 9, 4}, {96, 150, 12},
};

const int rig_large[RIG_LARGE][3] = {{256, 67, 64}, {131, 97, 83}};

/* State of one registered test. */
typedef struct rig_case {
  const kernels *backend;
  enum precision precision;
  rig_function function;
} rig_case;

void rig_assert_ok(status result, const char *call, const char *file, int line) {
  if (result == STATUS_OK) return;
  print_error("%s: %s\n", call, status_message(result));
  _fail(file, line);
}

static void rig_run(void **state) {
  const rig_case *test = *state;
  status_clear();
  if (test->backend->probe() != STATUS_OK) {
    print_message("%s\n", status_message(STATUS_DEVICE));
    skip();
  }
  rig rig = {.backend = test->backend};
  rig.launch.shape.precision = test->precision;
  rig_threads(&rig, 2);
  test->function(&rig);
  rig.backend->context_destroy(rig.context);
}

void rig_threads(rig *rig, int threads) {
  if (rig->context != NULL) rig->backend->context_destroy(rig->context);
  const kernels_setup setup = {.threads = threads};
  assert_ok(rig->backend->context_create(&setup, &rig->context));
  rig->launch.context = rig->context;
}

/* Returns 1 if a pattern after PROGRAM BACKEND matches the name of a test. */
static int left_out(const char *name, int argc, char **argv) {
  for (int i = 2; i < argc; i++) {
    if (fnmatch(argv[i], name, 0) == 0) return 1;
  }
  return 0;
}

int rig_main(int argc, char **argv, const rig_test *tests, size_t count) {
  const kernels *backend = kernels_find(argc > 1 ? argv[1] : "cpu");
  if (backend == NULL) {
    print_error("no backend '%s' in this build\n", argv[1]);
    return 1;
  }
  /* Arrays come and go without asking the system each time. */
  (void)mallopt(M_MMAP_THRESHOLD, 32 << 20);
  (void)mallopt(M_TRIM_THRESHOLD, 1 << 30);
  rig_case *cases = calloc(2 * count, sizeof *cases);
  struct CMUnitTest *registered = calloc(2 * count, sizeof *registered);
  char(*names)[96] = calloc(2 * count, sizeof *names);
  if (cases == NULL || registered == NULL || names == NULL) return 1;
  size_t n = 0;
  for (size_t i = 0; i < 2 * count; i++) {
    const rig_test *test = &tests[i / 2];
    const enum precision precision = i % 2 == 0 ? PRECISION_DOUBLE : PRECISION_SINGLE;
    (void)snprintf(names[n], sizeof names[n], "%s [%s, %s]", test->name, backend->name,
                   precision == PRECISION_DOUBLE ? "double" : "single");
    if ((precision == PRECISION_SINGLE && test->double_only) || left_out(names[n], argc, argv)) continue;
    cases[n] = (rig_case){backend, precision, test->function};
    registered[n] = (struct CMUnitTest){names[n], rig_run, NULL, NULL, &cases[n]};
    n++;
  }
  int result = _cmocka_run_group_tests(argv[0], registered, n, NULL, NULL);
  if (backend->probe() != STATUS_OK) result = RIG_SKIPPED;
  free(names);
  free(registered);
  free(cases);
  return result;
}

void rig_shape(rig *rig, int nx, int ny, int nz) {
  rig->launch.shape =
      kernels_shape_make(nx, ny, nz, 0, rig->launch.shape.precision, rig->backend->host_memory);
  rig->launch.queue = QUEUE_MAIN;
  rig->launch.planes[0] = (kernels_planes){0, nz};
  rig->launch.planes[1] = (kernels_planes){0, 0};
  rig_stencil(rig, 8, 0.011, 0.013, 0.017);
}

void rig_stencil(rig *rig, int order, double hx, double hy, double hz) {
  rig->stencil = stencil_make(order, (const double[3]){hx, hy, hz});
  rig->launch.stencil = &rig->stencil;
}

/* NaN everywhere, to be overwritten by points. */
static void host_poison(const rig *rig, void *host) {
  const size_t size = kernels_element_size(rig->launch.shape.precision);
  const size_t elements = kernels_field_bytes(&rig->launch.shape) / size;
  if (size == sizeof(float)) {
    for (size_t i = 0; i < elements; i++) ((float *)host)[i] = NAN;
  } else {
    for (size_t i = 0; i < elements; i++) ((double *)host)[i] = (double)NAN;
  }
}

static twin twin_allocate(rig *rig) {
  twin twin = {.bytes = kernels_field_bytes(&rig->launch.shape)};
  twin.host = malloc(twin.bytes);
  assert_non_null(twin.host);
  host_poison(rig, twin.host);
  assert_ok(rig->backend->memory_allocate(rig->context, MEMORY_DEVICE, twin.bytes, &twin.device));
  return twin;
}

/* Elements to the first point of a row. */
static size_t row_of(const kernels_shape *shape, int y, int z) {
  return (size_t)(z + KERNELS_HALO) * (size_t)shape->plane + (size_t)y * (size_t)shape->ldx;
}

twin twin_make(rig *rig, twin_value value, const void *user) {
  const kernels_shape *shape = &rig->launch.shape;
  twin twin = twin_allocate(rig);
  const int single = shape->precision == PRECISION_SINGLE;
  for (int z = -KERNELS_HALO; z < shape->nz + KERNELS_HALO; z++) {
    for (int y = 0; y < shape->ny; y++) {
      const size_t row = row_of(shape, y, z);
      float *const floats = (float *)twin.host + row;
      double *const doubles = (double *)twin.host + row;
      for (int x = 0; x < shape->nx; x++) {
        const double v = value(rig, user, x, y, z);
        if (single) {
          floats[x] = (float)v;
        } else {
          doubles[x] = v;
        }
      }
    }
  }
  twin_upload(rig, &twin);
  return twin;
}

/* Splitmix64 of the point's index. */
static double random_value(const rig *rig, const void *user, int x, int y, int z) {
  (void)rig;
  uint64_t s = (uint64_t)(z + KERNELS_HALO) << 40 | (uint64_t)y << 20 | (uint64_t)x;
  s = s * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t) * (const int *)user * UINT64_C(0xd1342543de82ef95);
  s = (s ^ (s >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  s = (s ^ (s >> 27)) * UINT64_C(0x94d049bb133111eb);
  s = s ^ (s >> 31);
  return (double)(s >> 11) * 0x1p-52 - 1.0;
}

twin twin_random(rig *rig, int seed) {
  return twin_make(rig, random_value, &seed);
}

/* The three tables one after the other: elements to where each begins, and to where all end. */
static void tables_layout(const kernels_shape *shape, size_t begin[4]) {
  begin[0] = 0;
  begin[1] = 3 * ((size_t)shape->ldx + 2 * KERNELS_TABLE_SIDE);
  begin[2] = begin[1] + (size_t)(shape->ny + 2 * KERNELS_HALO) * KERNELS_TABLE;
  begin[3] = begin[2] + (size_t)(shape->nz + 2 * KERNELS_HALO) * KERNELS_TABLE;
}

/* Of point i of n; of the point it is an image of, or (no images: a slab among others) one of its own. */
static double table_value(const rig *rig, int seed, int d, axis axis, int i, int n, int images) {
  if (i < -KERNELS_HALO || i >= n + KERNELS_HALO) return (double)NAN;
  const int point = images ? (i + KERNELS_HALO * n) % n : i;
  return random_value(rig, &seed, point + KERNELS_HALO, d, (int)axis);
}

static void tables_fill(const rig *rig, int seed, double *x, double *y, double *z) {
  const kernels_shape *shape = &rig->launch.shape;
  const int pitch = shape->ldx + 2 * KERNELS_TABLE_SIDE;
  for (int d = 0; d < 3; d++) {
    for (int i = 0; i < pitch; i++)
      x[d * pitch + i] = table_value(rig, seed, d, AXIS_X, i - KERNELS_TABLE_SIDE, shape->nx, 1);
  }
  for (int k = 0; k < KERNELS_TABLE; k++) {
    const int means = k < 6;
    for (int i = 0; i < shape->ny + 2 * KERNELS_HALO; i++)
      y[i * KERNELS_TABLE + k] =
          means ? table_value(rig, seed, k, AXIS_Y, i - KERNELS_HALO, shape->ny, 1) : (double)NAN;
    for (int i = 0; i < shape->nz + 2 * KERNELS_HALO; i++)
      z[i * KERNELS_TABLE + k] =
          means ? table_value(rig, seed, k, AXIS_Z, i - KERNELS_HALO, shape->nz, shape->whole) : (double)NAN;
  }
}

twin twin_tables(rig *rig, int seed) {
  const size_t size = kernels_element_size(rig->launch.shape.precision);
  size_t begin[4];
  tables_layout(&rig->launch.shape, begin);
  twin twin = {.bytes = begin[3] * size};
  twin.host = malloc(twin.bytes);
  double *values = malloc(begin[3] * sizeof *values);
  assert_non_null(twin.host);
  assert_non_null(values);
  tables_fill(rig, seed, values, values + begin[1], values + begin[2]);
  for (size_t i = 0; i < begin[3]; i++) {
    if (size == sizeof(float)) {
      ((float *)twin.host)[i] = (float)values[i];
    } else {
      ((double *)twin.host)[i] = values[i];
    }
  }
  free(values);
  assert_ok(rig->backend->memory_allocate(rig->context, MEMORY_DEVICE, twin.bytes, &twin.device));
  twin_upload(rig, &twin);
  return twin;
}

kernels_tables twin_tables_at(const rig *rig, const twin *twin, int device) {
  const size_t size = kernels_element_size(rig->launch.shape.precision);
  const char *memory = device ? twin->device : twin->host;
  const size_t entries = (size_t)KERNELS_HALO * KERNELS_TABLE;
  size_t begin[4];
  tables_layout(&rig->launch.shape, begin);
  return (kernels_tables){.x = memory + KERNELS_TABLE_SIDE * size,
                          .y = memory + (begin[1] + entries) * size,
                          .z = memory + (begin[2] + entries) * size};
}

static double zero_value(const rig *rig, const void *user, int x, int y, int z) {
  return copysign(0.0, random_value(rig, user, x, y, z));
}

twin twin_zeros(rig *rig, int seed) {
  return twin_make(rig, zero_value, &seed);
}

static double sentinel_value(const rig *rig, const void *user, int x, int y, int z) {
  (void)rig;
  (void)user;
  (void)x;
  (void)y;
  (void)z;
  return -8765432.0;
}

twin twin_sentinel(rig *rig) {
  return twin_make(rig, sentinel_value, NULL);
}

void twin_free(rig *rig, twin *twin) {
  rig->backend->memory_free(rig->context, MEMORY_DEVICE, twin->device);
  free(twin->host);
}

void twin_upload(rig *rig, const twin *twin) {
  assert_ok(rig->backend->memory_copy(rig->context, QUEUE_MAIN, twin->device, twin->host, twin->bytes));
  assert_ok(rig->backend->queue_wait(rig->context, QUEUE_MAIN));
}

void twin_download(rig *rig, const twin *twin) {
  assert_ok(rig->backend->memory_copy(rig->context, QUEUE_MAIN, twin->host, twin->device, twin->bytes));
  assert_ok(rig->backend->queue_wait(rig->context, QUEUE_MAIN));
}

void twin_break_halos(rig *rig, twin *twin) {
  const kernels_shape *shape = &rig->launch.shape;
  for (int z = -KERNELS_HALO; z < shape->nz + KERNELS_HALO; z++) {
    if (z >= 0 && z < shape->nz) continue;
    for (int y = 0; y < shape->ny; y++) {
      for (int x = 0; x < shape->nx; x++) reference_set(shape, twin->host, x, y, z, (double)NAN);
    }
  }
}

/* Bits of two values of the rig's precision, as doubles: widening keeps them apart. */
static int same_bits(double a, double b) {
  return memcmp(&a, &b, sizeof a) == 0;
}

/* Whether the points of one row are the same bytes: most rows, and sooner said than point by point. */
static int same_row(const kernels_shape *shape, const void *a, const void *b, int y, int z) {
  const size_t size = kernels_element_size(shape->precision);
  const size_t row = row_of(shape, y, z);
  return memcmp((const char *)a + row * size, (const char *)b + row * size, (size_t)shape->nx * size) == 0;
}

/* Compares all points of two host arrays. */
static void host_assert_equal(const rig *rig, const void *expected, const void *found, const char *what) {
  const kernels_shape *shape = &rig->launch.shape;
  size_t wrong = 0;
  for (int z = -KERNELS_HALO; z < shape->nz + KERNELS_HALO; z++) {
    for (int y = 0; y < shape->ny; y++) {
      if (same_row(shape, expected, found, y, z)) continue;
      for (int x = 0; x < shape->nx; x++) {
        const double a = reference_value(shape, expected, x, y, z);
        const double b = reference_value(shape, found, x, y, z);
        if (same_bits(a, b)) continue;
        if (wrong++ == 0) print_error("%s: (%d, %d, %d): expected %.17g, found %.17g\n", what, x, y, z, a, b);
      }
    }
  }
  if (wrong > 0) {
    fail_msg("%s: %zu points differ on %d x %d x %d", what, wrong, shape->nx, shape->ny, shape->nz);
  }
}

static void *device_copy(rig *rig, const twin *device) {
  twin copy = *device;
  copy.host = malloc(copy.bytes);
  assert_non_null(copy.host);
  twin_download(rig, &copy);
  return copy.host;
}

void twin_assert_equal(rig *rig, const twin *twin, const char *what) {
  void *found = device_copy(rig, twin);
  host_assert_equal(rig, twin->host, found, what);
  free(found);
}

void twin_assert_same(rig *rig, const twin *a, const twin *b, const char *what) {
  void *expected = device_copy(rig, a);
  void *found = device_copy(rig, b);
  host_assert_equal(rig, expected, found, what);
  free(found);
  free(expected);
}
