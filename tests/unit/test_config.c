#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/config_table.h"
#include "problems/problem.h"
#include "stepping/scheme.h"

/* Reading and refusing configurations. */

#define MINIMAL                                                                                              \
  "[grid]\nnx = 32\nny = 33\nnz = 34\n[initial]\ncase = blob\n[velocity]\nfield = abc\n[time]\ncourant = "   \
  "1.2\nt_end = 2\n"

static char directory[] = "/tmp/fdapp_config_XXXXXX";
static char path[64];
static config c;

static int make_directory(void **state) {
  (void)state;
  if (mkdtemp(directory) == NULL) return -1;
  (void)snprintf(path, sizeof path, "%s/the.case.ini", directory);
  return 0;
}

static int remove_directory(void **state) {
  (void)state;
  (void)unlink(path);
  return rmdir(directory);
}

static void write_bytes(const char *bytes, size_t length) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, length, file), length);
  assert_int_equal(fclose(file), 0);
}

static status load_text(const char *text) {
  write_bytes(text, strlen(text));
  status_clear();
  return config_load(path, 0, NULL, &c);
}

static status load_override(const char *override) {
  char text[CONFIG_PATH_SIZE];
  (void)snprintf(text, sizeof text, "%s", override);
  char *overrides[] = {text};
  status_clear();
  return config_load(path, 1, overrides, &c);
}

static void assert_message(const char *piece) {
  const char *message = status_message(STATUS_USAGE);
  if (strstr(message, piece) == NULL) fail_msg("'%s' is not in '%s'", piece, message);
}

/* The text is refused with a message that begins with path:line and contains each piece. */
static void assert_refused(const char *text, int line, const char *piece, const char *other) {
  char where[96];
  assert_int_equal(load_text(text), STATUS_USAGE);
  (void)snprintf(where, sizeof where, line > 0 ? "%s:%d: " : "%s: ", path, line);
  const char *message = status_message(STATUS_USAGE);
  if (strncmp(message, where, strlen(where)) != 0) fail_msg("'%s' does not begin with '%s'", message, where);
  assert_message(piece);
  assert_message(other);
}

static void assert_override_refused(const char *override, const char *piece) {
  assert_int_equal(load_override(override), STATUS_USAGE);
  assert_message("command line: ");
  assert_message(piece);
}

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
  assert_true(c.fields_every == 99999999 && c.checkpoint_every == 0 && c.diagnostics_every == 10);
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
  assert_true(c.fields_every == 11 && c.checkpoint_every == 12 && c.diagnostics_every == 13);
  assert_true(c.checkpoint_keep == 14 && c.wall_limit == 15.5);
  assert_string_equal(c.restart, "latest");
  assert_string_equal(c.reference, "0123456789abcdef");
  assert_string_equal(c.reference_single, "fedcba9876543210");
  assert_int_equal(c.hash_every, 7);
}

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
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
    char text[96];
    (void)snprintf(text, sizeof text, "benchmark.reference=%s", refused[i]);
    assert_override_refused(text, "16 hexadecimal digits, or none");
  }
  assert_int_equal(load_override("benchmark.reference=none"), STATUS_OK);
  assert_string_equal(c.reference, "");
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

static void test_bad_lines(void **state) {
  (void)state;
  assert_refused("nx = 1\n" MINIMAL, 1, "nx", "before the first [section]");
  assert_refused(MINIMAL "[outputs]\n", 12,
                 "[outputs]: unknown section; accepted: grid, boundary, physics, initial",
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

static void assert_without_effect(const char *names) {
  char text[CONFIG_NAMES_SIZE];
  assert_string_equal(config_without_effect(&c, text), names);
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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_defaults),       cmocka_unit_test(test_every_key),
      cmocka_unit_test(test_hashes),         cmocka_unit_test(test_layout),
      cmocka_unit_test(test_long_values),    cmocka_unit_test(test_formulas),
      cmocka_unit_test(test_bad_lines),      cmocka_unit_test(test_missing),
      cmocka_unit_test(test_bad_numbers),    cmocka_unit_test(test_limits),
      cmocka_unit_test(test_bad_words),      cmocka_unit_test(test_bad_overrides),
      cmocka_unit_test(test_products),       cmocka_unit_test(test_override_order),
      cmocka_unit_test(test_contradictions), cmocka_unit_test(test_refuse),
      cmocka_unit_test(test_files),          cmocka_unit_test(test_without_effect),
  };
  return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
