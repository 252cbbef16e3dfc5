#include "config_file.h"

#include <stdlib.h>
#include <string.h>

#include "config/config_table.h"
#include "problems/problem.h"
#include "settings/scheme.h"

/* Reading configurations. */

static void test_defaults(void **state) {
  (void)state;
  assert_int_equal(load_text(MINIMAL), STATUS_OK);
  assert_true(c.n[0] == 32 && c.n[1] == 33 && c.n[2] == 34);
  for (int d = 0; d < 3; d++) {
    assert_true(c.l[d] == 1.0 && c.center[d] == 0.5 && c.wave_number[d] == 1 && c.abc[d] == 1.0);
    assert_true(c.uniform[d] == (d == 0 ? 1.0 : 0.0));
  }
  assert_true(c.form == FORM_ADVECTIVE && c.diffusivity == 0.0);
  assert_true(c.initial == cases_find("blob") && c.width == 0.1 && c.amplitude == 1.0 && c.background == 0.0);
  assert_true(c.velocity == velocities_find("abc") && c.period == 1.0);
  assert_true(c.scheme == schemes_find("rk4") && c.courant == 1.2 && c.dt == 0.0 && c.t_end == 2.0 &&
              c.steps == -1);
  assert_string_equal(c.backend, "auto");
  assert_true(c.precision == PRECISION_DOUBLE && c.order == 8 && c.threads == 0);
  assert_true(c.transport == CONFIG_TRANSPORT_AUTO && c.overlap == 1 && c.pairs == CONFIG_PAIRS_AUTO);
  assert_string_equal(c.directory, "runs/the.case");
  assert_true(c.fields_due.every == 99999999 && c.checkpoint_every == 0 && c.diagnostics_due.every == 10);
  assert_true(c.checkpoint_keep == 2 && c.wall_limit == 0.0);
  assert_string_equal(c.restart, "");
  assert_string_equal(c.reference, "");
  assert_int_equal(load_override("grid.ly=4"), STATUS_OK);
  assert_true(c.center[0] == 0.5 && c.center[1] == 2.0 && c.width == 0.1);
  assert_int_equal(load_text(MINIMAL "[grid]\nlx=2\nly=3\nlz=5\n"), STATUS_OK);
  assert_true(c.center[0] == 1.0 && c.center[1] == 1.5 && c.center[2] == 2.5 && c.width == 0.2);
}

static void test_every_key(void **state) {
  (void)state;
  assert_int_equal(
      load_text(
          "[grid]\nnx=40\nny=50\nnz=60\nlx=2\nly=3\nlz=4\n[physics]\nform=skew\ndiffusivity=1e-3\n"
          "[initial]\ncase=slotted\ncenter_x=.25\ncenter_y=-1.\ncenter_z=+3e0\nwidth=0.75\namplitude=-2\n"
          "background=.5\nkx=2\nky=-3\nkz=0\n[velocity]\nfield=uniform\nu=4\nv=5\nw=6\na=7\nb=8\nc=9\nperiod="
          "10\n"
          "[time]\nscheme=ck45\ndt=0.01\nsteps=77\n[compute]\nbackend=cpu\nprecision=single\norder="
          "6\nthreads=3\n"
          "[halo]\ntransport=staged\noverlap=no\n[output]\ndirectory=a "
          "b/c\nfields_every=11\ncheckpoint_every=12\n"
          "diagnostics_every=13\ncheckpoint_keep=14\nwall_limit=15.5\n[restart]\nfrom=latest\n"
          "[benchmark]\nreference=0123456789ABCDEF\nreference_single=fedcba9876543210\nhash_every=7\n"),
      STATUS_OK);
  assert_true(c.n[0] == 40 && c.n[1] == 50 && c.n[2] == 60 && c.l[0] == 2 && c.l[1] == 3 && c.l[2] == 4);
  assert_true(c.form == FORM_SKEW && c.diffusivity == 1e-3 && c.initial == cases_find("slotted"));
  assert_true(c.center[0] == 0.25 && c.center[1] == -1 && c.center[2] == 3 && c.width == 0.75);
  assert_true(c.amplitude == -2 && c.background == 0.5);
  assert_true(c.wave_number[0] == 2 && c.wave_number[1] == -3 && c.wave_number[2] == 0);
  assert_true(c.velocity == velocities_find("uniform") && c.uniform[0] == 4 && c.uniform[1] == 5 &&
              c.uniform[2] == 6);
  assert_true(c.abc[0] == 7 && c.abc[1] == 8 && c.abc[2] == 9 && c.period == 10);
  assert_true(c.scheme == schemes_find("ck45") && c.courant == 0 && c.dt == 0.01 && c.t_end == -1 &&
              c.steps == 77);
  assert_string_equal(c.backend, "cpu");
  assert_true(c.precision == PRECISION_SINGLE && c.order == 6 && c.threads == 3);
  assert_true(c.transport == CONFIG_TRANSPORT_STAGED && c.overlap == 0);
  assert_string_equal(c.directory, "a b/c");
  assert_true(c.fields_due.every == 11 && c.checkpoint_every == 12 && c.diagnostics_due.every == 13);
  assert_true(c.checkpoint_keep == 14 && c.wall_limit == 15.5);
  assert_string_equal(c.restart, "latest");
  assert_string_equal(c.reference, "0123456789abcdef");
  assert_string_equal(c.reference_single, "fedcba9876543210");
  assert_int_equal(c.hash_every, 7);
}

/* Comments, indentation, line ends and a byte order mark change nothing. */
static void test_layout(void **state) {
  (void)state;
  static config plain;
  assert_int_equal(load_text(MINIMAL), STATUS_OK);
  plain = c;
  assert_int_equal(
      load_text(
          "\xEF\xBB\xBF; first\r\n# second\r\n\r\n[grid] ; section\r\n nx = 32 ;c\r\n\tny=33\t; c = 1\r\n"
          "    ; nz = 99\r\n    nz : 34   \r\n[initial]\r\ncase = blob\r\n[velocity]\r\nfield = abc\r\n"
          "[time]\r\n[grid]\r\n[time]\r\ncourant = 1.2\r\nt_end = 2"),
      STATUS_OK);
  assert_memory_equal(&c, &plain, offsetof(config, file));

  static const char *const before[] = {"; ", "[output] ; ", "scheme = rk4 ; "};
  for (int i = 0; i < 3; i++) { /* a comment may be as long as it likes, wherever it stands */
    char text[16384] = MINIMAL;
    strcat(text, before[i]);
    memset(text + strlen(text), 'x', 9000);
    assert_int_equal(load_text(text), STATUS_OK);
  }
}

/* A formula has up to 4095 bytes on its line, and is kept to the last of them. */
static void test_long_values(void **state) {
  (void)state;
  char text[16384], formula[8192];
  for (int extra = 0; extra < 2; extra++) {
    memset(formula, 0, sizeof formula);
    for (int i = 0; i < 2047 + extra; i++) strcat(formula, "1+");
    strcat(formula, "x");
    (void)snprintf(text, sizeof text, "%s[initial]\nformula = %s ; more\n", MINIMAL, formula);
    if (extra == 0) {
      assert_int_equal(load_text(text), STATUS_OK);
      assert_string_equal(c.formula, formula);
    } else {
      assert_refused(text, 13, "too long", "a formula of at most 4095 bytes");
    }
  }
}

#define FORMULA                                                                                              \
  "[grid]\nnx = 9\nny = 9\nnz = 9\nlx = 2\n[time]\ndt = 0.1\nt_end = 2\n[initial]\ncase = formula\n"         \
  "[velocity]\nfield = formula\n[constants]\nA = 0.5\nlong_name_2 = -3e-2 ; c\n[velocity]\n"

static void test_formulas(void **state) {
  (void)state;
  assert_int_equal(
      load_text(FORMULA "u = A*x\nv = 1\nw = sin(y)\nfactor = t/2\n[initial]\nformula = A + x\n"), STATUS_OK);
  assert_string_equal(c.formula, "A + x");
  assert_string_equal(c.component[0], "A*x");
  assert_string_equal(c.component[2], "sin(y)");
  assert_string_equal(c.factor, "t/2");
  assert_int_equal(c.constant_count, 2);
  assert_string_equal(c.constants[1].name, "long_name_2");
  assert_true(c.constants[1].value == -0.03);
  /* u, v, w are numbers for any other field, and read as such. */
  assert_int_equal(load_text(MINIMAL "[velocity]\nu = 0.25\nw = -1e-3\n"), STATUS_OK);
  assert_true(c.uniform[0] == 0.25 && c.uniform[1] == 0.0 && c.uniform[2] == -1e-3);
  assert_refused(MINIMAL "[velocity]\nw = 2*x\n", 13, "velocity.w = 2*x: not a decimal number",
                 "formulas with velocity.field = formula");
  assert_refused(FORMULA "u = 1\n", 0, "initial.formula = none: missing", "a formula of x, y, z");
  assert_refused(FORMULA "u = 1+\n[initial]\nformula = x\n", 17, "velocity.u = 1+: character 3", "expected");
  assert_refused(FORMULA "factor = 1+t\n[initial]\nformula = x\n", 17, "is 1.002 at t = 0.002", "at most 1");
  assert_refused(FORMULA "[constants]\nA = 1\n", 18, "constants.A = 1: repeated", "each constant once");
  assert_refused(FORMULA "[constants]\nlx = 1\n", 18, "constants.lx = 1: not a name", "a letter");
  assert_refused(FORMULA "[constants]\n_b = 1\n", 18, "constants._b = 1: not a name", "a letter");
  assert_refused(FORMULA "[constants]\nb = nan\n", 18, "constants.b = nan: not a decimal number", "a number");
}

static void test_override_order(void **state) {
  (void)state;
  char *overrides[] = {" grid . nx = 21 ", "time.dt=0.25", "time.steps=7", "restart.from=none"};
  assert_int_equal(load_text(MINIMAL "[restart]\nfrom = latest\n"), STATUS_OK);
  assert_int_equal(config_load(path, 4, overrides, &c), STATUS_OK);
  assert_true(c.n[0] == 21 && c.dt == 0.25 && c.courant == 0.0 && c.steps == 7 && c.t_end == -1.0);
  assert_string_equal(c.restart, "");
  assert_string_equal(c.reference, "");
  char *same[] = {"time.courant=1", "time.t_end=0"};
  assert_int_equal(config_load(path, 2, same, &c), STATUS_OK);
  assert_true(c.dt == 0.0 && c.courant == 1.0 && c.steps == -1 && c.t_end == 0.0);
  /* What the file has wrong stays wrong. */
  assert_int_equal(load_text(MINIMAL "dt = 1\n"), STATUS_USAGE);
  assert_int_equal(load_override("time.dt=0.5"), STATUS_USAGE);
}

static void assert_without_effect(const char *names) {
  char text[CONFIG_NAMES_SIZE];
  assert_string_equal(config_without_effect(&c, 0, text), names);
}

/* On backends in host memory, and on others. */
static void assert_without_effect_on(const char *host, const char *others) {
  char text[CONFIG_NAMES_SIZE];
  assert_string_equal(config_without_effect(&c, 1, text), host);
  assert_string_equal(config_without_effect(&c, 0, text), others);
}

/* Keys that were given in vain are named; defaults are not, nor what a resolved configuration lists. */
static void test_without_effect(void **state) {
  (void)state;
  assert_int_equal(load_text(MINIMAL), STATUS_OK);
  assert_without_effect("");
  assert_int_equal(load_override("velocity.u=1"), STATUS_OK);
  assert_without_effect("velocity.u");
  assert_int_equal(load_text(MINIMAL "[initial]\nkx = 1\nwidth = .2\n[velocity]\na = 2\nperiod = 1\n"),
                   STATUS_OK);
  assert_without_effect("initial.kx, velocity.period");
  assert_int_equal(load_override("initial.case=manufactured"), STATUS_OK);
  assert_without_effect("initial.width");
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  config_write(&c, file);
  assert_int_equal(fclose(file), 0);
  assert_int_equal(config_load(path, 0, NULL, &c), STATUS_OK);
  assert_without_effect("");
  assert_int_equal(load_override("initial.center_x=0.5"), STATUS_OK);
  assert_without_effect("initial.center_x");
}

/* A file that asks for what only a device has, and still runs where `auto` finds none. */
static void test_without_effect_on_host(void **state) {
  (void)state;
  assert_int_equal(load_text(MINIMAL "[compute]\npairs = yes\n[halo]\ntransport = peer\n"), STATUS_OK);
  assert_without_effect_on("compute.pairs, halo.transport", "");
  assert_int_equal(load_override("compute.pairs=no"), STATUS_OK);
  assert_without_effect_on("halo.transport", "");
  assert_int_equal(load_override("halo.transport=auto"), STATUS_OK);
  assert_without_effect_on("compute.pairs", "");
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  config_write(&c, file);
  assert_int_equal(fclose(file), 0);
  assert_int_equal(config_load(path, 0, NULL, &c), STATUS_OK);
  assert_without_effect_on("", "");
}

static void test_files(void **state) {
  (void)state;
  status_clear();
  assert_int_equal(config_load("/nowhere/x.ini", 0, NULL, &c), STATUS_FILE);
  assert_message("/nowhere/x.ini: cannot be opened: No such file");
  status_clear();
  assert_int_equal(config_load(directory, 0, NULL, &c), STATUS_FILE);
  assert_message("Is a directory");
  write_bytes("[grid]\0\n", 8);
  status_clear();
  assert_int_equal(config_load(path, 0, NULL, &c), STATUS_USAGE);
  assert_message("zero bytes");
  const size_t large = (1 << 20) + 1;
  char *bytes = malloc(large);
  assert_non_null(bytes);
  memset(bytes, '\n', large);
  write_bytes(bytes, large);
  free(bytes);
  status_clear();
  assert_int_equal(config_load(path, 0, NULL, &c), STATUS_USAGE);
  assert_message("larger than 1048576 bytes");
}

/* Every key in a list that ends with NULL is in the table, or --list names a key that no file can give. */
static void check_listed(const char *name, const char *const keys[PROBLEM_KEYS]) {
  int count = 0;
  for (; count < PROBLEM_KEYS && keys[count] != NULL; count++) {
    char section[64];
    const char *dot = strchr(keys[count], '.');
    if (dot != NULL) (void)snprintf(section, sizeof section, "%.*s", (int)(dot - keys[count]), keys[count]);
    if (dot == NULL || config_key_find(section, dot + 1) < 0)
      fail_msg("%s lists the key %s, which is not in config_table.c", name, keys[count]);
  }
  if (count == PROBLEM_KEYS) fail_msg("%s lists %d keys, so no NULL ends its list", name, count);
}

static void test_listed_keys(void **state) {
  (void)state;
  for (int i = 0; cases_at(i) != NULL; i++) check_listed(cases_at(i)->name, cases_at(i)->keys);
  for (int i = 0; velocities_at(i) != NULL; i++) check_listed(velocities_at(i)->name, velocities_at(i)->keys);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_defaults),       cmocka_unit_test(test_every_key),
      cmocka_unit_test(test_layout),         cmocka_unit_test(test_long_values),
      cmocka_unit_test(test_formulas),       cmocka_unit_test(test_override_order),
      cmocka_unit_test(test_without_effect), cmocka_unit_test(test_without_effect_on_host),
      cmocka_unit_test(test_files),          cmocka_unit_test(test_listed_keys),
  };
  return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
