#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

#include "domain/grid.h"

/* Slabs: they tile the planes, differ by at most one, and what cannot be is refused in words. */

static void slabs_tile_the_planes(void **state) {
  (void)state;
  for (int64_t nz = 4; nz <= 130; nz += 7) {
    for (int ranks = 1; ranks <= nz / KERNELS_HALO; ranks++) {
      assert_int_equal(grid_slab_start(nz, ranks, 0), 0);
      assert_int_equal(grid_slab_start(nz, ranks, ranks), nz);
      int64_t before = nz;
      for (int r = 0; r < ranks; r++) {
        const int64_t size = grid_slab_start(nz, ranks, r + 1) - grid_slab_start(nz, ranks, r);
        assert_true(size == nz / ranks || size == nz / ranks + 1);
        assert_true(size <= before); /* larger ones first */
        before = size;
      }
    }
  }
}

static void grids_are_made(void **state) {
  (void)state;
  grid g;
  assert_int_equal(grid_make((const int64_t[3]){33, 20, 37}, (const double[3]){1.0, 2.0, 37.0}, 4, 1, &g),
                   STATUS_OK);
  assert_true(g.h[0] == 1.0 / 33.0 && g.h[1] == 2.0 / 20.0 && g.h[2] == 1.0);
  assert_int_equal(g.z0, 10);
  assert_int_equal(g.nz, 9);
  assert_true(grid_cell_volume(&g) == (1.0 / 33.0) * (2.0 / 20.0) * 1.0);
  const kernels_shape single = grid_shape(&g, PRECISION_SINGLE, 0);
  const kernels_shape twice = grid_shape(&g, PRECISION_DOUBLE, 0);
  assert_int_equal(single.ldx, 64);
  assert_int_equal(twice.ldx, 48);
  assert_int_equal(twice.nx, 33);
  assert_int_equal(twice.ny, 20);
  assert_int_equal(twice.nz, 9);
  assert_false(twice.whole);
  assert_int_equal(twice.plane, 31 * 256 / 8);  /* 20 * 48 * 8 = 30 * 256 */
  assert_int_equal(single.plane, 21 * 256 / 4); /* 20 * 64 * 4 = 20 * 256 */
  assert_int_equal(kernels_field_bytes(&twice), (9 + 8) * 31 * 256);
  assert_int_equal(kernels_field_bytes(&single), (9 + 8) * 21 * 256);
  assert_int_equal(grid_make((const int64_t[3]){33, 20, 37}, (const double[3]){1.0, 2.0, 37.0}, 1, 0, &g),
                   STATUS_OK);
  assert_true(grid_shape(&g, PRECISION_SINGLE, 0).whole);
  assert_int_equal(grid_bound(&g, 0, 2), STATUS_OK);
  assert_true(grid_shape(&g, PRECISION_SINGLE, 0).whole);
  assert_int_equal(grid_bound(&g, 2, 2), STATUS_OK); /* nothing beyond the ends to wrap around to */
  assert_false(grid_shape(&g, PRECISION_SINGLE, 0).whole);
}

/* The rule's exact values: it integrates linear functions exactly, here x on [0, 3]. */
static void an_axis_with_ends(void **state) {
  (void)state;
  grid g;
  assert_int_equal(grid_make((const int64_t[3]){25, 20, 37}, (const double[3]){3.0, 2.0, 37.0}, 3, 1, &g),
                   STATUS_OK);
  assert_int_equal(grid_bound(&g, 0, 2), STATUS_OK);
  assert_true(g.h[0] == 0.125 && g.h[1] == 2.0 / 20.0);
  assert_true(g.bounded[0] && !g.bounded[1] && !g.bounded[2]);
  assert_true(grid_position(&g, 0, 0) == 0.0 && grid_position(&g, 0, 24) == 3.0);
  assert_true(grid_position(&g, 1, 10) == 1.0);
  assert_true(grid_intervals(&g, 0) == 24.0 && grid_intervals(&g, 1) == 20.0);
  double length = 0.0;
  double moment = 0.0;
  for (int64_t i = 0; i < 25; i++) {
    length += grid_weight(&g, 0, i) * g.h[0];
    moment += grid_weight(&g, 0, i) * g.h[0] * grid_position(&g, 0, i);
    assert_true(grid_weight(&g, 1, i % 20) == 1.0);
  }
  assert_true(length == 3.0 && moment == 4.5);
  assert_int_equal(grid_make((const int64_t[3]){25, 15, 37}, (const double[3]){1.0, 1.0, 1.0}, 1, 0, &g),
                   STATUS_OK);
  assert_int_equal(grid_bound(&g, 1, 8), STATUS_USAGE);
  assert_non_null(strstr(status_message(STATUS_USAGE), "15 points along y; accepted: at least 16"));
  status_clear();
}

static void neighbours(int ranks, int bounded, const int below[], const int above[]) {
  grid g;
  for (int rank = 0; rank < ranks; rank++) {
    assert_int_equal(
        grid_make((const int64_t[3]){16, 16, 16}, (const double[3]){1.0, 1.0, 1.0}, ranks, rank, &g),
        STATUS_OK);
    if (bounded) assert_int_equal(grid_bound(&g, 2, 2), STATUS_OK);
    assert_int_equal(grid_neighbour(&g, GRID_LOW), below[rank]);
    assert_int_equal(grid_neighbour(&g, GRID_HIGH), above[rank]);
  }
}

static void slabs_have_neighbours(void **state) {
  (void)state;
  neighbours(1, 0, (const int[]){0}, (const int[]){0});
  neighbours(1, 1, (const int[]){-1}, (const int[]){-1});
  neighbours(2, 0, (const int[]){1, 0}, (const int[]){1, 0});
  neighbours(2, 1, (const int[]){-1, 0}, (const int[]){1, -1});
  neighbours(4, 0, (const int[]){3, 0, 1, 2}, (const int[]){1, 2, 3, 0});
  neighbours(4, 1, (const int[]){-1, 0, 1, 2}, (const int[]){1, 2, 3, -1});
}

/* Rows are a multiple of 128 bytes; in host memory one of 64 that is not nearer than 128 to a multiple of
 * 2048. Planes are an odd multiple of 256, in host memory not nearer than 12 KiB to a multiple of 128 KiB.
 * Neither is more than that takes. */
static void pitches_are_whole_lines(void **state) {
  (void)state;
  for (int nx = 1; nx < 1100; nx++) {
    for (int p = 0; p < 4; p++) {
      const int bytes = p % 2 == 0 ? 4 : 8, host = p / 2;
      const int ny = 1 + nx * 7 % 131;
      const kernels_shape shape =
          kernels_shape_make(nx, ny, 4, 0, p % 2 == 0 ? PRECISION_SINGLE : PRECISION_DOUBLE, host);
      const int row = shape.ldx * bytes, unit = host ? 64 : 128;
      int least = (nx * bytes + unit - 1) / unit * unit;
      while (host && least > 64 && (least % 2048 < 128 || least % 2048 > 1920)) least += 64;
      assert_int_equal(row, least);
      const ptrdiff_t plane = shape.plane * bytes;
      ptrdiff_t units = (ny * row + 255) / 256;
      while (host && units > 256 && (units % 512 < 48 || units % 512 > 464)) units++;
      assert_int_equal(plane, 256 * (units % 2 == 0 ? units + 1 : units));
    }
  }
}

/* Counted in 64 bits: rows of 2^26 doubles are 2^29 bytes, 2^26 of them 2^55, and 256 more make the units
 * odd; in host memory rows are 128 longer, and planes 12 KiB. */
static void largest_planes_are_counted(void **state) {
  (void)state;
  const kernels_shape shape = kernels_shape_make(1 << 26, 1 << 26, 4, 0, PRECISION_DOUBLE, 0);
  assert_int_equal(shape.ldx, 1 << 26);
  assert_true(shape.plane == ((ptrdiff_t)1 << 52) + 32);
  const kernels_shape host = kernels_shape_make(1 << 26, 1 << 26, 4, 0, PRECISION_DOUBLE, 1);
  assert_int_equal(host.ldx, (1 << 26) + 16);
  assert_true(host.plane == ((ptrdiff_t)1 << 52) + ((ptrdiff_t)1 << 30) + 1568);
}

static void refused(const int64_t n[3], int ranks, const char *word) {
  grid g;
  status_clear();
  assert_int_equal(grid_make(n, (const double[3]){1.0, 1.0, 1.0}, ranks, 0, &g), STATUS_USAGE);
  if (strstr(status_message(STATUS_USAGE), word) == NULL) {
    fail_msg("'%s' is not in '%s'", word, status_message(STATUS_USAGE));
  }
  status_clear();
}

static void impossible_slabs_are_refused(void **state) {
  (void)state;
  grid g;
  refused((const int64_t[3]){16, 16, 15}, 4, "planes");
  refused((const int64_t[3]){16, 16, 3}, 1, "planes");
  assert_int_equal(grid_make((const int64_t[3]){16, 16, 16}, (const double[3]){1.0, 1.0, 1.0}, 4, 3, &g),
                   STATUS_OK);
  assert_int_equal(g.nz, 4);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(slabs_tile_the_planes),        cmocka_unit_test(grids_are_made),
      cmocka_unit_test(pitches_are_whole_lines),      cmocka_unit_test(largest_planes_are_counted),
      cmocka_unit_test(impossible_slabs_are_refused), cmocka_unit_test(an_axis_with_ends),
      cmocka_unit_test(slabs_have_neighbours),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
