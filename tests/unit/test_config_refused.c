#include "config_file.h"

#include <math.h>
#include <string.h>

#include "config/config_table.h"

/* What is refused of configurations, and what is said then. */

/* Sixteen hexadecimal digits and nothing else. */
static void test_hashes(void **state) {
  (void)state;
  static const char *const refused[] = {"0",
                                        "123456789abcdef",
                                        "00123456789abcdef",
                                        "0x23456789abcdef",
                                        "0123456789abcdeg",
                                        " 123456789abcdef",
                                        "-123456789abcdef",
                                        "None"};
  assert_int_equal(load_text(MINIMAL), STATUS_OK);
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
    char text[96];
    (void)snprintf(text, sizeof text, "benchmark.reference=%s", refused[i]);
    assert_override_refused(text, "16 hexadecimal digits, or none");
  }
  assert_int_equal(load_override("benchmark.reference=none"), STATUS_OK);
  assert_string_equal(c.reference, "");
}

static void test_bad_lines(void **state) {
  (void)state;
  assert_refused("nx = 1\n" MINIMAL, 1, "nx", "before the first [section]");
  assert_refused(MINIMAL "[outputs]\n", 12,
                 "[outputs]: unknown section; accepted: grid, boundary, physics, medium, point_sources, "
                 "receivers, initial",
                 "did you mean 'output'?");
  assert_refused(MINIMAL "[ output ]\n", 12, "[ output ]: unknown section", "did you mean 'output'?");
  assert_refused(MINIMAL "[output\n", 12, "[output", "closing bracket");
  assert_refused(MINIMAL "[output] x = 1\n", 12, "[output] x = 1", "alone in its line");
  assert_refused(MINIMAL "[output];x\n", 12, "[output];x", "alone in its line");
  assert_refused(MINIMAL "[]\n", 12, "[]", "unknown section");
  assert_refused(MINIMAL "\n\njunk\n[physics]\nfrom = 1\n", 14, "junk", "not understood");
  assert_refused(MINIMAL "steps", 12, "steps", "not understood");
  assert_refused(MINIMAL "= 5\n", 12, "time. = 5: unknown key",
                 "scheme, courant, dt, adaptive, t_end, steps");
  assert_refused(MINIMAL "shceme = rk4\n", 12, "time.shceme = rk4: unknown key", "did you mean 'scheme'?");
  assert_refused(MINIMAL "Scheme = rk4\n", 12, "time.Scheme = rk4", "did you mean 'scheme'?");
  assert_refused(MINIMAL "order = 4\n", 12, "time.order = 4: unknown key", "did you mean 'compute.order'?");
  assert_refused(MINIMAL "[grid]\nnx = 32\n", 13, "grid.nx", "repeated key, already in line 2");
  assert_refused(MINIMAL "dt = 1\n", 12, "time.dt", "time.courant is in line 10");
  assert_refused(MINIMAL "steps = 1\n", 12, "time.steps", "time.t_end is in line 11");
  assert_refused(MINIMAL "scheme = rk4\a\n", 12, "scheme = rk4?", "a control character");
  assert_refused(MINIMAL "scheme = rk4 # best\n", 12, "time.scheme = rk4 # best", "begins with ' ;'");
  assert_refused(MINIMAL "[restart]\nfrom=; none\n", 13, "restart.from = ; none", "begins with ' ;'");
  assert_refused(MINIMAL "[restart]\nfrom = # none\n", 13, "restart.from = # none", "begins with ' ;'");
  assert_refused(MINIMAL "scheme =\n", 12, "time.scheme = : no value", "rk4, ssprk3, ");
  assert_refused(MINIMAL "scheme = ; rk4\n", 12, "time.scheme = : no value", "rk4, ssprk3, ");
  assert_refused(MINIMAL "scheme = rk4\n  ck45\n", 13, "ck45", "not understood");
  assert_refused(MINIMAL "scheme = rk4\n  dt = 2\n", 13, "time.dt", "exactly one of the two");
}

static void test_missing(void **state) {
  (void)state;
  assert_refused("", 0, "grid.nx: missing", "an integer from 9 to");
  assert_refused("[grid]\nnx = 9\nny = 9\nnz = 4\n[initial]\n", 0, "initial.case: missing",
                 "cosine, gaussian");
  static const char start[] =
      "[grid]\nnx=9\nny=9\nnz=9\n[initial]\ncase=blob\n[velocity]\nfield=abc\n[time]\n";
  char text[256];
  (void)snprintf(text, sizeof text, "%ssteps = 1\n", start);
  assert_refused(text, 0, "time.courant: missing, and so is time.dt", "exactly one");
  (void)snprintf(text, sizeof text, "%sdt = 1\n", start);
  assert_refused(text, 0, "time.t_end: missing, and so is time.steps", "exactly one");
}

/* Every numerical key refuses what is not a number within its range, in the file and on the command line. */
static void test_bad_numbers(void **state) {
  (void)state;
  static const char *const texts[] = {
      "nan",    "NaN",     "inf",   "-inf",  "infinity", "1e400",
      "-1e400", "0x10",    "0b1",   "12abc", "1 2",      "1,5",
      "1d3",    "--1",     "1e",    ".",     "-",        "99999999999999999999999999999999",
      "1e-400", "one",     "1_000", "\"9\"", "9;",       "1..2",
      "1e5e5",  "\xC2\xB2"};
  int tried = 0;
  for (int i = 0; i < CONFIG_KEY_COUNT; i++) {
    const config_key *key = &config_keys[i];
    if (key->kind != CONFIG_COUNT && key->kind != CONFIG_INT && key->kind != CONFIG_REAL) continue;
    char low[64], high[64], override[128], text[160], where[96], accepted[CONFIG_TEXT_SIZE];
    (void)snprintf(low, sizeof low, "%.17g", key->minimum - fmax(1.0, fabs(key->minimum)));
    (void)snprintf(high, sizeof high, key->kind == CONFIG_REAL ? "%.17g" : "%.0f", key->maximum * 1.0001 + 1);
    for (size_t t = 0; t < sizeof texts / sizeof texts[0] + 2; t++) {
      const size_t k = t - 2;
      const char *value = t == 0 ? low : t == 1 ? high : texts[k];
      assert_int_equal(load_text(MINIMAL), STATUS_OK);
      (void)snprintf(override, sizeof override, "%s.%s=%s", key->section, key->name, value);
      assert_override_refused(override, config_value_accepted(key, accepted));
      (void)snprintf(text, sizeof text, "\n[%s]\n\n%s = %s\n", key->section, key->name, value);
      (void)snprintf(where, sizeof where, "%s.%s = %s: ", key->section, key->name, value);
      assert_refused(text, 4, where, accepted);
      tried++;
    }
  }
  assert_true(tried > 700);
}

/* The limits that the contract names. */
static void test_limits(void **state) {
  (void)state;
  static const char *const refused[] = {"grid.nx=8",
                                        "grid.ny=8",
                                        "grid.nz=3",
                                        "grid.lx=0",
                                        "grid.lz=-1",
                                        "physics.diffusivity=-1e-9",
                                        "initial.width=0",
                                        "velocity.period=0",
                                        "time.courant=0",
                                        "time.dt=0",
                                        "time.t_end=-1e-9",
                                        "time.steps=-1",
                                        "time.steps=100000000",
                                        "compute.threads=-1",
                                        "output.fields_every=-1",
                                        "output.checkpoint_every=-1",
                                        "output.diagnostics_every=-1",
                                        "output.checkpoint_keep=1",
                                        "output.wall_limit=-1"};
  static const char *const accepted[] = {
      "grid.nx=9",           "grid.nz=4",        "time.steps=0",        "time.t_end=0",
      "time.steps=99999999", "velocity.u=-1e30", "initial.amplitude=0", "output.checkpoint_keep=1000000"};
  assert_int_equal(load_text(MINIMAL), STATUS_OK);
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
    assert_override_refused(refused[i], "out of range");
  for (size_t i = 0; i < sizeof accepted / sizeof accepted[0]; i++) {
    if (load_override(accepted[i]) != STATUS_OK)
      fail_msg("%s: %s", accepted[i], status_message(STATUS_USAGE));
  }
}

static void test_bad_words(void **state) {
  (void)state;
  assert_int_equal(load_text(MINIMAL), STATUS_OK);
  assert_override_refused("grid.nx=010", "leading zero");
  assert_override_refused("grid.nx=64.0", "not an integer");
  assert_override_refused("compute.order=3", "accepted: 8, 6, 4, 2");
  assert_override_refused("compute.order=8.0", "accepted: 8, 6, 4, 2");
  assert_override_refused("initial.case=MANUFACTURED", "did you mean 'manufactured'?");
  assert_override_refused("time.scheme=RK4", "did you mean 'rk4'?");
  assert_override_refused("initial.case=guassian", "did you mean 'gaussian'?");
  assert_override_refused("halo.overlap=true", "accepted: yes, no");
  assert_override_refused("compute.backend=gpu", "accepted: auto, ");
  assert_override_refused("output.directory=", "no value");
  assert_override_refused("output.directory=~/runs", "not expanded");
  assert_override_refused("output.directory=$HOME/runs", "not expanded");
  assert_override_refused("output.directory='runs'", "without quotes");
  assert_override_refused("output.directory=a\nb", "control character");
  assert_override_refused("output.directory=a ;b", "begins a comment");
  assert_override_refused("time.dt=1e-9", "more than 99999999 steps");
  assert_override_refused("initial.width=0.51", "at most 0.5 of the shortest length");
  assert_override_refused("initial.center_y=-1001", "too far away");
  char path_text[512] = "restart.from=";
  memset(path_text + strlen(path_text), 'p', CONFIG_PATH_LIMIT);
  assert_int_equal(load_override(path_text), STATUS_OK);
  strcat(path_text, "p");
  assert_override_refused(path_text, "too long");
}

static void test_bad_overrides(void **state) {
  (void)state;
  static const char *const texts[] = {"",   "grid",    "grid.nx", "nx=5",     "=",     ".",
                                      ".=", "grid.=5", ".nx=5",   "grid=.nx", "--nx=5"};
  assert_int_equal(load_text(MINIMAL), STATUS_OK);
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    assert_override_refused(texts[i], "accepted: section.key=value");
  }
  assert_override_refused("gird.nx=5", "did you mean 'grid'?");
  assert_override_refused("grid.nz=4=4", "grid.nz = 4=4");
  char text[CONFIG_PATH_SIZE];
  memset(text, 'x', sizeof text - 1);
  text[sizeof text - 1] = '\0';
  memcpy(text + 2000, ".x=", 3);
  assert_override_refused(text, "too long");
}

static void test_products(void **state) {
  (void)state;
  assert_refused(
      "[grid]\nnx = 67108864\nny = 67108864\nnz = 1000\n[initial]\ncase = blob\n[velocity]\nfield = abc\n"
      "[time]\ndt = 1\nsteps = 1\n",
      2, "grid.nx = 67108864, ny = 67108864, nz = 1000", "64 bits");
  assert_refused(/* one field would fit */
                 "[grid]\nnx = 2097152\nny = 2097152\nnz = 131064\n[initial]\ncase = blob\n[velocity]\nfield "
                 "= abc\n"
                 "[time]\ndt = 1\nsteps = 1\n",
                 2, "grid.nx = 2097152, ny = 2097152, nz = 131064", "64 bits");
  assert_refused(
      "[grid]\nnx = 9\nny = 9\nnz = 9\n[initial]\ncase = cosine\nky = -5\n[velocity]\nfield = abc\n"
      "[time]\ndt = 1\nsteps = 1\n",
      7, "initial.ky = -5", "an integer from -4 to 4");
  assert_refused(
      "[grid]\nnx = 9\nny = 9\nnz = 9\n[initial]\ncase = manufactured\nkz = 5\n[velocity]\nfield = abc\n"
      "[time]\ndt = 1\nsteps = 1\n",
      7, "initial.kz = 5", "an integer from -4 to 4");
}

/* Of what stands twice on the command line neither wins. */
static void test_contradictions(void **state) {
  (void)state;
  static char *pairs[][2] = {{"time.dt=0.5", "time.courant=1"},
                             {"time.courant=1", "time.dt=0.5"},
                             {"time.steps=7", "time.t_end=0"},
                             {"grid.nx=20", "grid.nx=20"},
                             {"time.courant=1", "time.courant=2"}};
  static const char *const says[][2] = {{"time.courant: time.dt is on the command line", "exactly one"},
                                        {"time.dt: time.courant is on the command line", "exactly one"},
                                        {"time.t_end: time.steps is on the command line", "exactly one"},
                                        {"grid.nx: repeated key", "already on the command line"},
                                        {"time.courant: repeated key", "already on the command line"}};
  for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
    assert_int_equal(load_text(MINIMAL), STATUS_OK);
    assert_int_equal(config_load(path, 2, pairs[i], &c), STATUS_USAGE);
    assert_message("command line: ");
    assert_message(says[i][0]);
    assert_message(says[i][1]);
  }
}

/* What is refused later names the place of the value as well. */
static void test_refuse(void **state) {
  (void)state;
  char where[96];
  assert_int_equal(load_text(MINIMAL), STATUS_OK);
  assert_int_equal(config_refuse(&c, "time", "t_end", "too %s", "late"), STATUS_USAGE);
  (void)snprintf(where, sizeof where, "%s:11: time.t_end = 2: too late", path);
  assert_string_equal(status_message(STATUS_USAGE), where);
  status_clear();
  assert_int_equal(config_refuse(&c, "compute", "order", "no"), STATUS_USAGE);
  (void)snprintf(where, sizeof where, "%s: compute.order = 8: no", path);
  assert_string_equal(status_message(STATUS_USAGE), where);
  assert_int_equal(load_override("output.directory=a/b"), STATUS_OK);
  assert_int_equal(config_refuse(&c, "output", "directory", "no"), STATUS_USAGE);
  assert_string_equal(status_message(STATUS_USAGE), "command line: output.directory = a/b: no");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_hashes),         cmocka_unit_test(test_bad_lines),
      cmocka_unit_test(test_missing),        cmocka_unit_test(test_bad_numbers),
      cmocka_unit_test(test_limits),         cmocka_unit_test(test_bad_words),
      cmocka_unit_test(test_bad_overrides),  cmocka_unit_test(test_products),
      cmocka_unit_test(test_contradictions), cmocka_unit_test(test_refuse),
  };
  return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
