#include "base/text.h"
#include "config/config_table.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "settings/equations.h"
#include "problems/cases.h"

enum { FARTHEST = 1000 };

static const char *const centers[3] = {"center_x", "center_y", "center_z"};

static status key_fail(const config *c, int key, const char *value, const char *what) {
  char subject[2 * CONFIG_TEXT_SIZE];
  (void)snprintf(subject, sizeof subject, "%s.%s%s%s", config_keys[key].section, config_keys[key].name,
                 value[0] != '\0' ? " = " : "", value);
  return config_fail(c, c->line[key], subject, "%s", what);
}

/* Default directory: runs/NAME for .../NAME.ini. A name of dots is refused, because it would mean runs/
 * itself or a folder above. */
static status derive_directory(config *c, const char *path) {
  const char *slash = strrchr(path, '/');
  const char *name = slash != NULL ? slash + 1 : path;
  const char *dot = strrchr(name, '.');
  const int length = dot != NULL && dot != name ? (int)(dot - name) : (int)strlen(name);
  const int key = config_key_find("output", "directory");
  char text[CONFIG_TEXT_SIZE], what[CONFIG_TEXT_SIZE];
  (void)snprintf(text, sizeof text, "runs/%.*s", length, name);
  const char *wrong = (int)strspn(name, ".") >= length ? "no directory of its own"
                                                       : config_value_read(&config_keys[key], text, c);
  if (wrong == NULL) return STATUS_OK;
  (void)snprintf(what, sizeof what,
                 "follows from the file's name: %s; accepted: another name, or output.directory itself",
                 wrong);
  return key_fail(c, key, text, what);
}

/* The key of an axis (part 0), or of one of its ends. */
static int end_key(int d, int part) {
  static const char *const names[3][3] = {
      {"x", "x_low", "x_high"}, {"y", "y_low", "y_high"}, {"z", "z_low", "z_high"}};
  return config_key_find("boundary", names[d][part]);
}

/* Derives the ends of an axis, from the axis's key or from one key per end; one source must not give both. On
 * the command line the axis replaces its ends. */
static status derive_ends(config *c, int d) {
  const int whole = c->line[end_key(d, 0)];
  for (int end = 0; end < 2; end++) {
    const int key = end_key(d, 1 + end);
    int *part = &c->line[key];
    if (whole != CONFIG_LINE_NONE && *part != CONFIG_LINE_NONE &&
        (whole == CONFIG_LINE_OVERRIDE) == (*part == CONFIG_LINE_OVERRIDE)) {
      return key_fail(c, key, "", "the axis is given, too; accepted: one of the two");
    }
    if (whole == CONFIG_LINE_OVERRIDE && *part > 0) *part = CONFIG_LINE_NONE;
    if (*part == CONFIG_LINE_NONE) c->ends[d][end] = c->boundary[d];
  }
  if ((c->ends[d][0] == CONFIG_END_PERIODIC) != (c->ends[d][1] == CONFIG_END_PERIODIC)) {
    const int part = c->line[end_key(d, 1)] != CONFIG_LINE_NONE ? 1 : 2;
    return key_fail(c, end_key(d, part), "",
                    "one end of the axis is periodic and the other is not; accepted: both or none");
  }
  c->boundary[d] = c->ends[d][0];
  return STATUS_OK;
}

/* Refuses an end, by the key that says what it is: of that end, or of its axis. */
static status end_fail(const config *c, int d, int end, const char *value, const char *what) {
  const int part = c->line[end_key(d, 1 + end)] != CONFIG_LINE_NONE ? 1 + end : 0;
  return key_fail(c, end_key(d, part), value, what);
}

static status refuse_kind(const config *c, int d, int end) {
  const config_choice *const names = config_keys[end_key(d, 0)].choices;
  const unsigned kinds = equation_entries[c->equation].ends;
  char what[CONFIG_TEXT_SIZE] = "the equation has no such ends; accepted: periodic";
  for (int kind = 1; names[kind].name != NULL; kind++)
    if (kinds >> kind & 1U) text_add(what, sizeof what, ", ", "%s", names[kind].name);
  const int wanted = (int)c->ends[d][end];
  text_add(what, sizeof what, "; ", "%s is for physics.equation =", names[wanted].name);
  const char *before = " ";
  for (const equation_entry *each = equation_entries; each < equation_entries + EQUATION_COUNT; each++) {
    if (!(each->ends >> wanted & 1U)) continue;
    text_add(what, sizeof what, before, "%s", each->name);
    before = " or ";
  }
  return end_fail(c, d, end, names[wanted].name, what);
}

static status check_kinds(const config *c) {
  for (int d = 0; d < 3; d++) {
    for (int end = 0; end < 2 && problem_bounded(c, d); end++)
      if (!(equation_entries[c->equation].ends >> c->ends[d][end] & 1U)) return refuse_kind(c, d, end);
  }
  return STATUS_OK;
}

/* Refuses ends that have a value where nothing spreads: pure advection knows the value where it enters
 * alone. */
static status check_fixed(const config *c) {
  const int spreads = c->diffusivity > 0.0 || !config_equation_uses(c, "diffusivity");
  for (int i = 0; i < 6 && !spreads; i++) {
    if (c->ends[i / 2][i % 2] == CONFIG_END_DIRICHLET)
      return end_fail(c, i / 2, i % 2, "dirichlet",
                      "physics.diffusivity is 0, so that nothing brings the value in; accepted: open, or a "
                      "diffusivity above 0");
  }
  return STATUS_OK;
}

/* Checks that the closures of both ends have room; an axis with ends needs them along z as along x and y. */
static status check_ends(const config *c) {
  static const char *const names[3] = {"nx", "ny", "nz"};
  enum { STENCIL_POINTS = 2 * STENCIL_RADIUS + 1 };
  const int rows = 2 * closure_of(problem_closure(c))->rows;
  const int least = rows > (int)STENCIL_POINTS ? rows : (int)STENCIL_POINTS;
  for (int d = 0; d < 3; d++) {
    if (!problem_bounded(c, d) || c->n[d] >= least) continue;
    return config_refuse(c, "grid", names[d],
                         "too few points for an axis with ends; accepted: at least %d at order %d", least,
                         c->order);
  }
  return STATUS_OK;
}

static void derive_entering(config *c) {
  if (config_given(c, "boundary", "value")) return;
  const int exact = equation_is(c, EQUATION_CARRIED) && cases_bounded(c) && cases_exact_can_enter(c);
  (void)snprintf(c->entering, sizeof c->entering, "%s", exact ? CONFIG_EXACT : "0");
}

static void derive_absorption(config *c) {
  static const char *const names[3][2] = {{"absorption_x_low", "absorption_x_high"},
                                          {"absorption_y_low", "absorption_y_high"},
                                          {"absorption_z_low", "absorption_z_high"}};
  for (int i = 0; i < 6; i++) {
    if (!config_given(c, "boundary", names[i / 2][i % 2])) c->absorbed[i / 2][i % 2] = c->absorption;
  }
}

static status derive(config *c, const char *path) {
  config_flow_derive(c);
  double shortest = c->l[0];
  for (int d = 0; d < 3; d++) {
    if (!config_given(c, "initial", centers[d])) c->center[d] = 0.5 * c->l[d];
    if (c->l[d] < shortest) shortest = c->l[d];
  }
  if (!config_given(c, "initial", "width")) c->width = 0.1 * shortest;
  if (!config_given(c, "output", "directory")) return derive_directory(c, path);
  return STATUS_OK;
}

/* 1 if a key that is not given needs no value: without a velocity that carries something its keys have no
 * effect and hold the first entry; config_wave_derive and config_flow_derive find the step of waves and of
 * flow. */
static int needs_nothing(const config *config, const config_key *key) {
  const int step = strcmp(key->name, "dt") == 0 || strcmp(key->name, "courant") == 0;
  if (key->need == CONFIG_DEFAULT) return 0;
  if (key->need == CONFIG_REQUIRED)
    return strcmp(key->section, "velocity") == 0 && !equation_is(config, EQUATION_CARRIED);
  return step && (equation_is(config, EQUATION_LEAPS | EQUATION_GAS));
}

static status complete_key(config *c, int index) {
  const config_key *key = &config_keys[index];
  char accepted[CONFIG_TEXT_SIZE], what[2 * CONFIG_TEXT_SIZE];
  const int other = key->other != NULL ? config_key_find(key->section, key->other) : index;
  const int other_given = c->line[other] != CONFIG_LINE_NONE;
  if (c->line[index] != CONFIG_LINE_NONE || needs_nothing(c, key)) return STATUS_OK;
  const int neither = key->need == CONFIG_ALTERNATIVE && !other_given;
  if (key->need == CONFIG_DEFAULT || (neither && key->fallback != NULL)) {
    (void)config_value_read(key, key->fallback, c);
  } else if (key->need == CONFIG_REQUIRED) {
    (void)snprintf(what, sizeof what, "missing; accepted: %s", config_value_accepted(key, accepted));
    return key_fail(c, index, "", what);
  } else if (neither && config_keys[other].fallback == NULL) {
    (void)snprintf(what, sizeof what, "missing, and so is %s.%s; exactly one of the two is needed",
                   key->section, key->other);
    return key_fail(c, index, "", what);
  }
  return STATUS_OK;
}

/* The bytes of all fields of a node's ranks, with halo planes and padding, must fit 64 bits: more fields than
 * any run has, up to 8 halo planes for 4 owned planes, and buffers. */
enum { FIELDS_AT_MOST = 64 };

static status check_size(const config *c) {
  const int64_t plane = kernels_shape_make((int)c->n[0], (int)c->n[1], 1, 0, c->precision, 1).plane;
  const int64_t planes = c->n[2] + 2 * KERNELS_HALO;
  int64_t bytes;
  if (__builtin_mul_overflow(plane, planes, &bytes) ||
      __builtin_mul_overflow(bytes, FIELDS_AT_MOST * (int64_t)kernels_element_size(c->precision), &bytes)) {
    char value[128];
    (void)snprintf(value, sizeof value, "%" PRId64 ", ny = %" PRId64 ", nz = %" PRId64, c->n[0], c->n[1],
                   c->n[2]);
    return key_fail(c, config_key_find("grid", "nx"), value,
                    "fields of nx ny nz points have more bytes than 64 bits count; accepted: fewer points");
  }
  return STATUS_OK;
}

static status check_waves(const config *c) {
  static const char *const names[3] = {"kx", "ky", "kz"};
  for (int d = 0; d < 3; d++) {
    const int64_t most = c->n[d] / 2, k = c->wave_number[d];
    if (!problem_uses(c, "initial", names[d]) || (k <= most && k >= -most)) continue;
    return config_refuse(c, "initial", names[d],
                         "more waves than %" PRId64 " points can show; accepted: an integer from %" PRId64
                         " to %" PRId64,
                         c->n[d], -most, most);
  }
  return STATUS_OK;
}

/* Limits the distance of the centre, whose coordinates lose digits far away. */
static status check_place(const config *c) {
  const initial_case *initial = cases_at(c->initial);
  const int has_width = problem_uses(c, "initial", "width");
  const double shortest = fmin(c->l[0], fmin(c->l[1], c->l[2])), share = initial->widest;
  for (int d = 0; d < 3; d++) {
    if (has_width && c->width > share * c->l[d]) {
      return config_refuse(c, "initial", "width",
                           "too wide for %s along %c; accepted: at most %g of the shortest length, %.9g",
                           initial->name, "xyz"[d], share, share * shortest);
    }
    if (!(c->center[d] >= -FARTHEST * c->l[d]) || !(c->center[d] <= FARTHEST * c->l[d])) {
      return config_refuse(c, "initial", centers[d],
                           "too far away; accepted: at most %d lengths of the domain from its corner",
                           FARTHEST);
    }
  }
  return STATUS_OK;
}

/* Redistancing needs a case that is a signed distance; formulas and files are not checked. */
static status check_level_set(const config *c) {
  char accepted[CONFIG_TEXT_SIZE] = "";
  const initial_case *initial = cases_at(c->initial);
  if (c->redistance_every == 0) return STATUS_OK;
  if (!equation_is(c, EQUATION_CARRIED))
    return config_refuse(c, "level_set", "redistance_every",
                         "the equation has no velocity field that could carry a surface; accepted: 0");
  if (initial->is_distance && fabs(c->amplitude) != 1.0)
    return config_refuse(c, "initial", "amplitude",
                         "what level_set.redistance_every restores has slope 1; accepted: 1, -1");
  if (initial->is_distance || initial->from != PROBLEM_FUNCTIONS) return STATUS_OK;
  for (int i = 0; cases_at(i) != NULL; i++)
    if (cases_at(i)->is_distance || cases_at(i)->from != PROBLEM_FUNCTIONS)
      text_add(accepted, sizeof accepted, ", ", "%s", cases_at(i)->name);
  return config_refuse(c, "level_set", "redistance_every", "%s is no distance; accepted: 0, or the cases %s",
                       initial->name, accepted);
}

static status check_steps(const config *c) {
  if (c->adaptive && c->courant <= 0.0) {
    return config_refuse(c, "time", "adaptive",
                         "the step follows from a Courant number, and time.dt is given; accepted: "
                         "time.courant in its place, or no");
  }
  if (c->dt > 0 && c->t_end > CONFIG_STEPS_MOST * c->dt) {
    return config_refuse(c, "time", "dt", "t_end = %g takes more than %d steps; accepted: a number from %g",
                         c->t_end, CONFIG_STEPS_MOST,
                         c->t_end / CONFIG_STEPS_MOST * (1.0 + 1e-5)); /* room for printing with 6 digits */
  }
  return STATUS_OK;
}

/* Refuses values whose first or second differences are too small for single precision. */
static status check_single(const config *c) {
  static const double least = 1e-30; /* FLT_MIN is 1e-38 */
  const double length = fmax(c->l[0], fmax(c->l[1], c->l[2]));
  const double first = fabs(c->amplitude) / length;
  const double second = c->diffusivity > 0.0 ? fmin(1.0, fabs(c->amplitude)) / (length * length) : first;
  if (c->precision != PRECISION_SINGLE || c->amplitude == 0.0 || fmin(first, second) >= least)
    return STATUS_OK;
  return config_refuse(c, "compute", "precision",
                       "derivatives of about %.1g are too small for it; accepted: double, or lengths and an "
                       "amplitude nearer to one",
                       fmin(first, second));
}

status config_complete(config *c, const char *path) {
  for (int i = 0; i < CONFIG_KEY_COUNT; i++) CHECK(complete_key(c, i));
  for (int d = 0; d < 3; d++) CHECK(derive_ends(c, d));
  CHECK(derive(c, path));
  derive_entering(c);
  derive_absorption(c);
  config_wave_derive(c);
  CHECK(check_size(c));
  CHECK(config_formulas_check(c));
  CHECK(check_kinds(c));
  CHECK(check_fixed(c));
  CHECK(check_ends(c));
  CHECK(config_wave_check(c));
  CHECK(config_flow_check(c));
  CHECK(check_waves(c));
  CHECK(check_place(c));
  CHECK(check_single(c));
  CHECK(check_level_set(c));
  CHECK(config_output_check(c));
  return check_steps(c);
}
