/* Velocities known by formula: tables of them, and no fields. */
#include "equations/advection.h"
#include "lab.h"

#include <stdlib.h>

#include "reference.h"

enum { NX = 19, NY = 12, NZ = 10 };

static config case_of(int velocity, advection_form form, precision precision) {
  config config = lab_config(NX, NY, NZ);
  config.l[1] = 0.9;
  config.velocity = velocity;
  config.form = form;
  config.precision = precision;
  config.period = 0.7;
  return config;
}

/* The tables' memory, copied to the host; the caller's to free. */
static void *tables_copied(const lab *lab, kernels_tables *tables) {
  const velocity_tables *of = &((const advection *)lab->solver.terms)->tables;
  const kernels_shape *shape = &lab->solver.space.shape;
  assert_non_null(of->memory);
  const size_t entries = (size_t)(NY + NZ + 4 * KERNELS_HALO);
  const size_t elements = 3 * ((size_t)shape->ldx + 2 * KERNELS_TABLE_SIDE) + entries * (size_t)KERNELS_TABLE;
  const size_t bytes = elements * kernels_element_size(shape->precision);
  char *host = malloc(bytes);
  assert_non_null(host);
  assert_int_equal(of->backend->memory_copy(of->context, QUEUE_MAIN, host, of->memory, bytes), STATUS_OK);
  assert_int_equal(of->backend->queue_wait(of->context, QUEUE_MAIN), STATUS_OK);
  const char *memory = of->memory;
  tables->x = host + ((const char *)of->tables.x - memory);
  tables->y = host + ((const char *)of->tables.y - memory);
  tables->z = host + ((const char *)of->tables.z - memory);
  return host;
}

/* A component on the point (or its images) of a row. */
static void check_row(const kernels_shape *shape, const kernels_tables *tables, int d, int y, int z,
                      const double *row) {
  for (int x = -KERNELS_HALO; x < NX + KERNELS_HALO; x++) {
    const double said = reference_formula(shape, tables, d, x, y, z);
    const double value = row[(x + NX) % NX];
    if (value != said) fail_msg("component %d at %d %d %d: %.17g is not %.17g", d, x, y, z, value, said);
  }
}

/* To the bit what limits the time step and makes the sources: the same function, computed on the host. */
static void check_tables(const lab *lab, const config *config) {
  kernels_tables tables;
  void *host = tables_copied(lab, &tables);
  cases_velocity velocity;
  double row[NX];
  assert_int_equal(cases_velocity_open(config, &lab->solver.grid, &velocity), STATUS_OK);
  for (int d = 0; d < 3; d++) {
    velocity.component = (axis)d;
    for (int z = -KERNELS_HALO; z < NZ + KERNELS_HALO; z++) {
      for (int y = -KERNELS_HALO; y < NY + KERNELS_HALO; y++) {
        cases_velocity_row(&velocity, (z + NZ) % NZ, (y + NY) % NY, row);
        check_row(&lab->solver.space.shape, &tables, d, y, z, row);
      }
    }
  }
  cases_velocity_close(&velocity);
  free(host);
}

static void test_tables_are_the_velocity(void **state) {
  (void)state;
  const int fields[] = {velocities_find("rotation"), velocities_find("deformation"), velocities_find("abc")};
  for (int i = 0; i < 6; i++) {
    const config config = case_of(fields[i % 3], FORM_SKEW, i < 3 ? PRECISION_SINGLE : PRECISION_DOUBLE);
    lab lab;
    lab_open(&lab, &config);
    check_tables(&lab, &config);
    lab_close(&lab);
  }
}

/* Neither memory nor traffic; a uniform one not even tables. */
static void test_what_a_velocity_costs(void **state) {
  (void)state;
  for (int form = 0; form < 3; form++) {
    for (int velocity = 0; lab_has_velocity(velocity); velocity++) {
      const config config = case_of(velocity, (advection_form)form, PRECISION_DOUBLE);
      lab lab;
      lab_open(&lab, &config);
      const advection *terms = lab.solver.terms;
      assert_int_equal(terms->tables.memory != NULL, velocity != velocities_find("uniform"));
      assert_int_equal(lab.solver.equation->array_count(&config), 0);
      lab_close(&lab);
    }
  }
}

/* Where an axis has ends, its points reach from one to the other: a flow whose period is the box is the same
 * on both. */
static void test_axes_with_ends(void **state) {
  (void)state;
  static const char *const names[] = {"deformation", "abc", "taylor_green"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    const config config = case_of(velocities_find(names[i]), FORM_ADVECTIVE, PRECISION_DOUBLE);
    const int64_t n[3] = {17, 16, 18}, inside[3] = {5, 6, 7};
    grid grid;
    cases_velocity velocity;
    assert_int_equal(grid_make(n, config.l, 1, 0, &grid), STATUS_OK);
    for (int d = 0; d < 3; d++) assert_int_equal(grid_bound(&grid, d, 2), STATUS_OK);
    assert_int_equal(cases_velocity_open(&config, &grid, &velocity), STATUS_OK);
    for (int k = 0; k < 9; k++) { /* each component, across each axis */
      int64_t low[3] = {inside[0], inside[1], inside[2]}, high[3] = {inside[0], inside[1], inside[2]};
      low[k % 3] = 0;
      high[k % 3] = n[k % 3] - 1;
      const double at_low = cases_velocity_at(&velocity, (axis)(k / 3), low[2], low[1], low[0]);
      const double at_high = cases_velocity_at(&velocity, (axis)(k / 3), high[2], high[1], high[0]);
      lab_between(at_high - at_low, -1e-14, 1e-14, "%s, component %d across axis %d", names[i], k / 3, k % 3);
    }
    cases_velocity_close(&velocity);
  }
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_tables_are_the_velocity),
      cmocka_unit_test(test_what_a_velocity_costs),
      cmocka_unit_test(test_axes_with_ends),
  };
  return lab_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
