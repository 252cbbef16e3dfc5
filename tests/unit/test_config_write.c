#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/config_table.h"

/* The table of keys, writing what was read, and the ready cases in FDAPP_CONFIG_DIR. */

static char path[] = "/tmp/fdapp_config_XXXXXX";
static config c;

static int make_file(void **state) {
  (void)state;
  const int descriptor = mkstemp(path);
  return descriptor < 0 ? -1 : close(descriptor);
}

static int remove_file(void **state) {
  (void)state;
  return unlink(path);
}

/* The smallest configuration, with an override. */
static void load_with(const char *override) {
  static const char text[] =
      "[grid]\nnx = 32\nny = 33\nnz = 34\n[initial]\ncase = blob\n[velocity]\nfield = abc\n"
      "[time]\ncourant = 1.2\nt_end = 2\n";
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0);
  assert_int_equal(fclose(file), 0);
  char argument[CONFIG_PATH_SIZE];
  (void)snprintf(argument, sizeof argument, "%s", override);
  char *overrides[] = {argument};
  status_clear();
  if (config_load(path, 1, overrides, &c) != STATUS_OK) fail_msg("%s", status_message(STATUS_USAGE));
}

/* load(write(c)) == c, bit by bit. */
static void assert_round_trip(void) {
  static config before;
  before = c;
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  config_write(&c, file);
  assert_int_equal(fclose(file), 0);
  status_clear();
  if (config_load(path, 0, NULL, &c) != STATUS_OK) fail_msg("%s", status_message(STATUS_USAGE));
  assert_memory_equal(&c, &before, offsetof(config, file));
}

static void test_round_trip(void **state) {
  (void)state;
  static const char *const overrides[] = {"grid.lx=0.1",
                                          "grid.lz=3.3333333333333333333",
                                          "physics.diffusivity=1e-30",
                                          "physics.form=conservative",
                                          "initial.amplitude=-1e30",
                                          "initial.background=1.7976931348623157e-15",
                                          "initial.kz=-2",
                                          "velocity.field=uniform",
                                          "velocity.v=-0",
                                          "velocity.period=123456.789012345678",
                                          "time.dt=0.012345678901234567",
                                          "time.steps=0",
                                          "time.t_end=0.7",
                                          "time.courant=0.1",
                                          "compute.backend=cpu",
                                          "compute.precision=single",
                                          "compute.order=2",
                                          "halo.transport=cuda_aware",
                                          "halo.overlap=no",
                                          "output.directory=with space;no#comment: = here",
                                          "output.wall_limit=0.1",
                                          "output.directory=../\xC3\xA4",
                                          "restart.from=latest",
                                          "restart.from=a/state_00000010.hdf"};
  for (size_t i = 0; i < sizeof overrides / sizeof overrides[0]; i++) {
    load_with(overrides[i]);
    assert_round_trip();
  }
}

static void test_locale(void **state) {
  (void)state;
  /* Made with `localedef` by the test run where the system has the sources; any with a decimal comma will do.
   */
  if (setlocale(LC_ALL, "de_DE.UTF-8") == NULL && setlocale(LC_ALL, "fr_FR.UTF-8") == NULL) skip();
  char text[16];
  (void)snprintf(text, sizeof text, "%.1f", 0.5);
  assert_string_equal(text, "0,5");
  load_with("grid.lx=2.5");
  assert_true(c.courant == 1.2 && c.l[0] == 2.5);
  assert_round_trip();
  (void)setlocale(LC_ALL, "C");
}

static void test_table(void **state) {
  (void)state;
  static config filled;
  for (int i = 0; i < CONFIG_KEY_COUNT; i++) {
    const config_key *key = &config_keys[i];
    assert_int_equal(config_key_find(key->section, key->name), i);
    assert_non_null(key->help);
    if (key->need == CONFIG_DEFAULT) assert_null(config_value_read(key, key->fallback, &filled));
    if (key->need == CONFIG_ALTERNATIVE) {
      assert_string_equal(config_keys[config_key_find(key->section, key->other)].other, key->name);
    }
  }
}

/* --list names everything once: a key that is in the table cannot be missing from the documentation made of
 * it. */
static void test_list(void **state) {
  (void)state;
  static char text[1 << 16];
  FILE *file = fmemopen(text, sizeof text, "w");
  assert_non_null(file);
  config_list(file);
  assert_int_equal(fclose(file), 0);
  for (int i = 0; i < CONFIG_KEY_COUNT; i++) {
    char row[64];
    (void)snprintf(row, sizeof row, "\n  %s.%s ", config_keys[i].section, config_keys[i].name);
    const char *found = strstr(text, row);
    if (found == NULL) fail_msg("%s is not listed", row);
    const char *below = strchr(found + 1, '\n') + 1; /* the meaning, below the name */
    assert_string_equal(config_keys[i].help, strndupa(below, strcspn(below, "\n")) + strspn(below, " "));
  }
  assert_non_null(strstr(text, "\n  slotted "));
  assert_non_null(strstr(text, "\n  deformation "));
  assert_non_null(strstr(text, "\n  ssprk3 "));
  assert_non_null(strstr(text, "\n  conservative "));
  assert_non_null(strstr(text, "\n  cpu\n"));
}

static void test_ready_cases(void **state) {
  (void)state;
  static const char *const names[] = {"quickstart", "cosine",       "gaussian", "rotation", "deformation",
                                      "abc",        "manufactured", "scaling",  "formula"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    char file[512], runs[64];
    (void)snprintf(file, sizeof file, "%s/%s.ini", FDAPP_CONFIG_DIR, names[i]);
    (void)snprintf(runs, sizeof runs, "runs/%s", names[i]);
    status_clear();
    if (config_load(file, 0, NULL, &c) != STATUS_OK) fail_msg("%s", status_message(STATUS_USAGE));
    assert_string_equal(c.directory, runs);
    assert_round_trip();
  }
}

/* A name that gives no directory, or one that would not survive being written, is refused. */
static void test_directory_from_the_name(void **state) {
  (void)state;
  static const char *const names[] = {".ini", "..ini", "...ini", "a .ini", "$a.ini"};
  static const char *const says[] = {NULL, "no directory", "no directory", "ends with a blank",
                                     "not expanded"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    char folder[] = "/tmp/fdapp_names_XXXXXX";
    char file[64];
    assert_non_null(mkdtemp(folder));
    (void)snprintf(file, sizeof file, "%s/%s", folder, names[i]);
    load_with("grid.nx=32");
    assert_int_equal(symlink(path, file), 0);
    status_clear();
    const status result = config_load(file, 0, NULL, &c);
    assert_int_equal(unlink(file), 0);
    assert_int_equal(rmdir(folder), 0);
    assert_int_equal(result, says[i] == NULL ? STATUS_OK : STATUS_USAGE);
    if (says[i] != NULL) assert_non_null(strstr(status_message(STATUS_USAGE), says[i]));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_round_trip),  cmocka_unit_test(test_locale),
      cmocka_unit_test(test_table),       cmocka_unit_test(test_list),
      cmocka_unit_test(test_ready_cases), cmocka_unit_test(test_directory_from_the_name),
  };
  return cmocka_run_group_tests(tests, make_file, remove_file);
}
