#include "config_file.h"

#include "settings/equations.h"

/* An entry of the list of equations may leave out all that it does not need, its keys included: this list
 * stands for that of settings/equations.c, which is then not linked. */
const equation_entry equation_entries[EQUATION_COUNT] = {
    {.name = "bare", .help = "no keys, ends or derived data"}};

static void test_no_keys(void **state) {
  char text[CONFIG_NAMES_SIZE];
  (void)state;
  assert_int_equal(load_text(MINIMAL "[physics]\nequation = bare\ndiffusivity = 1\n"), STATUS_OK);
  assert_true(config_equation_uses(&c, "equation"));
  assert_false(config_equation_uses(&c, "diffusivity"));
  assert_string_equal(config_without_effect(&c, 1, text), "physics.diffusivity, velocity.field");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_keys)};
  return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
