#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "domain/field.h"

/* Fields through a staging buffer of any size: points arrive in their places, and padding is zero. */

enum { NX = 9, NY = 3, NZ = 7 };

/* A device whose memory the host does not read; counts the bytes that come from it. */
static kernels device;
static const void *staged; /* where they come to */
static size_t copied;

static status count_copy(kernels_context *context, kernels_queue queue, void *to, const void *from,
                         size_t bytes) {
  if (to == staged) copied += bytes;
  return kernels_find("cpu")->memory_copy(context, queue, to, from, bytes);
}

static status count_pieces(kernels_context *context, kernels_queue queue, const kernels_pieces *pieces) {
  if (pieces->to == staged) copied += pieces->bytes * pieces->count;
  return kernels_find("cpu")->memory_copy_pieces(context, queue, pieces);
}

typedef struct stand {
  const kernels *backend;
  kernels_context *context;
  field_space space;
  field field;
} stand;

/* The staging buffer takes `chunk` planes and holds garbage; so does the field. */
static stand stand_open(precision precision, int chunk) {
  device = *kernels_find("cpu");
  device.host_memory = 0;
  device.memory_copy = count_copy;
  device.memory_copy_pieces = count_pieces;
  stand s = {.backend = &device};
  const kernels_setup setup = {.threads = 2};
  assert_int_equal(s.backend->context_create(&setup, &s.context), STATUS_OK);
  const kernels_shape shape = kernels_shape_make(NX, NY, NZ, 0, precision, 1);
  assert_int_equal(field_space_open(s.backend, s.context, shape, &s.space), STATUS_OK);
  assert_int_equal(s.space.chunk, NZ);
  s.space.chunk = chunk;
  assert_int_equal(field_create(&s.space, &s.field), STATUS_OK);
  staged = s.space.staging;
  memset(s.space.staging, 0xff, (size_t)chunk * field_plane_bytes(&s.field));
  memset(s.field.data, 0xff, kernels_field_bytes(&shape));
  return s;
}

static void stand_close(stand *s) {
  field_destroy(&s->field);
  field_space_close(&s->space);
  s->backend->context_destroy(s->context);
}

static double value_at(int64_t z, int64_t y, int x) {
  return (double)(1 + x + 16 * y + 256 * z);
}

/* Puts a value of `element` bytes at `to`. */
static void value_put(char *to, double value, size_t element) {
  const float narrow = (float)value;
  memcpy(to, element == sizeof narrow ? (const void *)&narrow : &value, element);
}

static void value_row(const void *user, int64_t z, int64_t y, double *row) {
  (void)user;
  for (int x = 0; x < NX; x++) row[x] = value_at(z, y, x);
}

/* Planes first .. last-1 hold values, those of their images outside the slab, and nothing else. */
static void check_planes(const stand *s, int first, int last) {
  const size_t bytes = field_plane_bytes(&s->field), element = kernels_element_size(s->field.shape.precision);
  const size_t row = 16 * element; /* NX points in whole lines of 64 bytes: one, or two in double precision */
  char *expected = calloc(1, bytes);
  assert_non_null(expected);
  for (int z = first; z < last; z++) {
    for (int y = 0; y < NY; y++) {
      for (int x = 0; x < NX; x++) {
        value_put(expected + (size_t)y * row + (size_t)x * element, value_at((z + NZ) % NZ, y, x), element);
      }
    }
    assert_memory_equal(field_plane(&s->field, z), expected, bytes);
  }
  free(expected);
}

static void filled(precision precision, int chunk) {
  stand s = stand_open(precision, chunk);
  assert_int_equal(field_fill(&s.field, 0, NZ, 1, value_row, NULL), STATUS_OK);
  check_planes(&s, -KERNELS_HALO, NZ + KERNELS_HALO);
  stand_close(&s);
}

/* Planes 1 .. NZ-2 from packed memory and back. */
static void stored(precision precision, int chunk) {
  stand s = stand_open(precision, chunk);
  char packed[NX * NY * NZ * sizeof(double)], back[sizeof packed];
  const size_t element = kernels_element_size(precision);
  size_t at = 0;
  for (int z = 1; z < NZ - 1; z++) {
    for (int y = 0; y < NY; y++) {
      for (int x = 0; x < NX; x++, at += element) value_put(packed + at, value_at(z, y, x), element);
    }
  }
  assert_int_equal(field_store(&s.field, 1, NZ - 2, packed), STATUS_OK);
  check_planes(&s, 1, NZ - 1);
  memset(s.space.staging, 0xff, (size_t)chunk * field_plane_bytes(&s.field));
  assert_int_equal(field_load(&s.field, 1, NZ - 2, back), STATUS_OK);
  assert_memory_equal(back, packed, at);
  stand_close(&s);
}

static void fields_go_through_staging(void **state) {
  (void)state;
  for (int p = PRECISION_SINGLE; p <= PRECISION_DOUBLE; p++) {
    for (int chunk = 1; chunk <= NZ; chunk += 2) { /* 3: the last piece is shorter */
      filled((precision)p, chunk);
      stored((precision)p, chunk);
    }
  }
}

/* A plane of points, and points within planes: their values, and no byte more from the device. */
static void check_loaded(const char *loaded, const int64_t first[3], const int64_t count[3], int64_t stride,
                         precision as) {
  const size_t element = kernels_element_size(as);
  char value[sizeof(double)];
  for (int64_t i = 0; i < count[0] * count[1] * count[2]; i++) {
    const int64_t x = first[0] + i % count[0] * stride, y = first[1] + i / count[0] % count[1] * stride;
    const int64_t z = first[2] + i / count[0] / count[1] * stride;
    value_put(value, value_at(z, y, (int)x), element);
    assert_memory_equal(loaded + (size_t)i * element, value, element);
  }
}

static void cut_out(precision precision, int chunk) {
  const int64_t n[3] = {NX, NY, NZ};
  const size_t element = kernels_element_size(precision);
  char loaded[NX * NY * NZ * sizeof(double)];
  stand s = stand_open(precision, chunk);
  assert_int_equal(field_fill(&s.field, 0, NZ, 1, value_row, NULL), STATUS_OK);
  for (int along = AXIS_X; along <= AXIS_Z; along++) {
    for (int at = 0; at < n[along]; at++) {
      int64_t first[3] = {0, 0, 0}, count[3] = {NX, NY, NZ};
      first[along] = at;
      count[along] = 1;
      const size_t points = (size_t)(count[0] * count[1] * count[2]);
      copied = 0;
      assert_int_equal(field_load_cut(&s.field, (axis)along, at, loaded), STATUS_OK);
      check_loaded(loaded, first, count, 1, precision);
      assert_int_equal(copied, along == AXIS_Z ? field_plane_bytes(&s.field) : points * element);
    }
  }
  const int64_t first[3] = {1, 0, 4}, count[3] = {3, 2, 1};
  copied = 0;
  assert_int_equal(field_load_points(&s.field, 4, first, count, 2, PRECISION_SINGLE, loaded), STATUS_OK);
  check_loaded(loaded, first, count, 2, PRECISION_SINGLE);
  assert_int_equal(copied, (size_t)(2 * 5) * element); /* two rows of points 1 to 5 */
  double value = 0.0;
  copied = 0;
  assert_int_equal(field_value(&s.field, 8, 2, 6, &value), STATUS_OK);
  assert_true(value == value_at(6, 2, 8));
  assert_int_equal(copied, element);
  stand_close(&s);
}

static void what_is_written_alone_is_copied(void **state) {
  (void)state;
  for (int p = PRECISION_SINGLE; p <= PRECISION_DOUBLE; p++) {
    for (int chunk = 1; chunk <= NZ; chunk += 2) cut_out((precision)p, chunk);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(fields_go_through_staging),
                                     cmocka_unit_test(what_is_written_alone_is_copied)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
