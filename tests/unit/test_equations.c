/* What the list of equations says fits the equations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "config/config.h"
#include "equations/sources.h"
#include "settings/equations.h"

/* A formula of [source] reaches an unknown by its name, and the equation's entry names its key. */
static void test_sources(void **state) {
  (void)state;
  for (int i = 0; i < EQUATION_COUNT; i++) {
    static config config;
    config.equation = i;
    const equation *equation = equation_of(&config);
    const char *keys = equation_entries[i].keys;
    int named = 0;
    for (const char *at = keys; at != NULL && (at = strstr(at, "formula_")) != NULL; at++)
      named += at == keys || at[-1] == ' ';
    for (int unknown = 1; unknown < equation->unknowns; unknown++) {
      const char *name = sources_name(equation, unknown);
      char key[64];
      if (name == NULL) continue;
      (void)snprintf(key, sizeof key, "formula_%s", name);
      assert_true(config_equation_uses(&config, key));
      for (int source = 1; source < CONFIG_SOURCES; source++) {
        const int own = strcmp(strchr(source_key(source), '.') + 1, key) == 0;
        (void)strcpy(config.source[source], "1");
        assert_int_equal(source_exists(&config, unknown, name), own);
        config.source[source][0] = '\0';
        named -= own;
      }
    }
    assert_int_equal(named, 0);
  }
}

/* What an entry says is what the object does. */
static void test_entries(void **state) {
  (void)state;
  for (int i = 0; i < EQUATION_COUNT; i++) {
    static config config;
    config.equation = i;
    const equation *equation = equation_of(&config);
    assert_string_equal(equation_entries[i].name, equation->name);
    assert_int_equal(equation_is(&config, EQUATION_LEAPS), equation->start != NULL);
    assert_int_equal(config_equation_uses(&config, "adaptive"), equation->measure != NULL);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_sources), cmocka_unit_test(test_entries)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
