/* Velocities known by formula: the advective form has tables of them and no fields, the other forms fields of
 * the same bits. */
#include "lab.h"

#include <stdlib.h>

#include "reference.h"

enum { NX = 19, NY = 12, NZ = 10 };

static config case_of(int velocity, advection_form form, precision precision) {
  config config = lab_config(NX, NY, NZ);
  config.l[1] = 0.9;
  config.velocity = (config_velocity)velocity;
  config.form = form;
  config.precision = precision;
  config.period = 0.7;
  return config;
}

/* The tables' memory, copied to the host; the caller's to free. */
static void *tables_copied(const lab *lab, kernels_tables *tables) {
  const velocity_tables *of = &lab->solver.advection.tables;
  const kernels_shape *shape = &lab->solver.space.shape;
  assert_non_null(of->memory);
  const size_t elements = 3 * (size_t)shape->ldx + (size_t)(NY + NZ) * KERNELS_TABLE;
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

static void check_component(const lab *stored, const kernels_tables *tables, int d) {
  const kernels_shape *shape = &stored->solver.space.shape;
  void *points = malloc((size_t)NX * NY * NZ * sizeof(double));
  assert_non_null(points);
  assert_int_equal(field_load(&stored->solver.advection.velocity[d], 0, NZ, points), STATUS_OK);
  for (int i = 0; i < NX * NY * NZ; i++) {
    const int x = i % NX, y = i / NX % NY, z = i / (NX * NY);
    const double said = reference_formula(shape, tables, d, x, y, z);
    const double value =
        shape->precision == PRECISION_SINGLE ? (double)((float *)points)[i] : ((double *)points)[i];
    if (value != said) fail_msg("component %d at %d %d %d: %.17g is not %.17g", d, x, y, z, value, said);
  }
  free(points);
}

static void test_fields_hold_what_tables_say(void **state) {
  (void)state;
  static const int fields[] = {CONFIG_VELOCITY_ROTATION, CONFIG_VELOCITY_DEFORMATION, CONFIG_VELOCITY_ABC};
  for (int i = 0; i < 6; i++) {
    const precision precision = i < 3 ? PRECISION_SINGLE : PRECISION_DOUBLE;
    const config by_tables = case_of(fields[i % 3], FORM_ADVECTIVE, precision);
    const config by_fields = case_of(fields[i % 3], i % 2 ? FORM_SKEW : FORM_CONSERVATIVE, precision);
    kernels_tables tables;
    lab advective, stored;
    lab_open(&advective, &by_tables);
    lab_open(&stored, &by_fields);
    void *host = tables_copied(&advective, &tables);
    for (int d = 0; d < 3; d++) check_component(&stored, &tables, d);
    free(host);
    lab_close(&stored);
    lab_close(&advective);
  }
}

/* Neither memory nor traffic in the advective form, three fields in the others; nothing for a uniform one. */
static void test_what_a_velocity_costs(void **state) {
  (void)state;
  for (int form = 0; form < 3; form++) {
    for (int velocity = 0; velocity < CONFIG_VELOCITY_COUNT; velocity++) {
      const config config = case_of(velocity, (advection_form)form, PRECISION_DOUBLE);
      const int fields = velocity == CONFIG_VELOCITY_UNIFORM || form == FORM_ADVECTIVE ? 0 : 3;
      lab lab;
      lab_open(&lab, &config);
      assert_int_equal(lab.solver.advection.velocity_count, fields);
      assert_int_equal(advection_field_count(&config), fields);
      assert_int_equal(advection_stage_words(&config), fields);
      lab_close(&lab);
    }
  }
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_fields_hold_what_tables_say),
      cmocka_unit_test(test_what_a_velocity_costs),
  };
  return lab_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
