#include <math.h>
#include <omp.h>
#include <stdlib.h>

#include "problems/medium_means.h"
#include "problems/problem.h"
#include "problems/resample.h"
#include "settings/equations.h"

enum { PARTS = RESAMPLE_PARTS };

static const char *const keys[CONFIG_MEDIA] = {"medium.sound_speed", "medium.density"};
const char *const medium_datasets[CONFIG_MEDIA] = {"c", "rho"};

/* The first value, in the order of memory, that is refused. */
typedef struct medium_fault {
  int found, which;
  double value;
  int64_t at[3]; /* z, y, x */
} medium_fault;

/* A thread's latest point of each column of x, or in all if the medium does not vary along x. It is that of
 * many cells where the medium does not vary along y or z. */
typedef struct medium_kept {
  int known;
  int64_t y, z;
  medium_point point;
} medium_kept;

static int has_formulas(const medium *medium) {
  return medium->formula[CONFIG_MEDIUM_SPEED].count > 0 || medium->formula[CONFIG_MEDIUM_DENSITY].count > 0;
}

/* How a formula or a file varies; `medium` has its formulas. */
static void find_variation(medium *medium) {
  for (int i = 0; i < CONFIG_MEDIA; i++) {
    for (int d = 0; d < 3; d++) {
      medium->varies[d] |= medium->planes[i].data != NULL;
      if (medium->formula[i].count > 0)
        medium->varies[d] |= formula_uses(medium->formula[i].member[0], "xyz"[d]);
    }
  }
}

static status make_kept(medium *medium) {
  const int threads = omp_get_max_threads();
  const size_t columns = medium->varies[0] ? (size_t)medium->grid->n[0] : 1;
  medium->kept = calloc((size_t)threads + 1, sizeof(medium_kept *)); /* NULL ends it */
  int complete = medium->kept != NULL;
  for (int i = 0; i < threads && complete; i++) {
    medium->kept[i] = calloc(columns, sizeof *medium->kept[i]);
    complete = medium->kept[i] != NULL;
  }
  return complete ? STATUS_OK : status_fail(STATUS_MEMORY, "no memory for a row of the medium");
}

status medium_check(const config *config, const grid *grid, char text[CASES_HELD]) {
  for (int i = 0; i < CONFIG_MEDIA; i++) {
    if (medium_of(config, i) == MEDIUM_FILE)
      CHECK(cases_file_check(grid, "medium.file", config->medium_file, medium_datasets[i],
                             config->medium_resample, text));
  }
  return STATUS_OK;
}

static void remember(medium_fault *fault, int which, double value, const int64_t x[3]) {
  const int64_t at[3] = {x[2], x[1], x[0]};
#pragma omp critical(medium_fault)
  {
    int lower = !fault->found || which < fault->which;
    for (int i = 0; i < 3 && fault->found; i++) {
      if (at[i] == fault->at[i]) continue;
      lower = at[i] < fault->at[i];
      break;
    }
    if (lower) *fault = (medium_fault){1, which, value, {at[0], at[1], at[2]}};
  }
}

static void midpoints(const medium *medium, int d, int64_t i, double place[PARTS]) {
  for (int k = 0; k < PARTS; k++)
    place[k] = medium->config->medium_at_points ? (double)i * medium->grid->h[d]
                                                : resample_midpoint(medium->grid, d, i, k);
}

double medium_value(const medium *medium, int which, const int64_t at[3], const double x[3],
                    const double *file, int *accepted) {
  const config *config = medium->config;
  const double constant[CONFIG_MEDIA] = {config->sound_speed,
                                         equation_is(config, EQUATION_DENSITY) ? config->density : 1.0};
  double value = constant[which];
  if (medium->formula[which].count > 0) value = formula_team_at(&medium->formula[which], x);
  if (medium->planes[which].data != NULL) value = file_planes_at(&medium->planes[which], at[2], at[1], at[0]);
  if (file != NULL) value = *file;
  if (value >= medium_accepted[0] && value <= medium_accepted[1]) return value;
  remember(medium->fault, which, value, at);
  *accepted = 0;
  return value;
}

static status open_files(const config *config, const grid *grid, medium *medium, int *means) {
  for (int i = 0; i < CONFIG_MEDIA; i++) {
    int fine = 0;
    if (medium_of(config, i) != MEDIUM_FILE) continue;
    CHECK(medium_means_needed(config, grid, i, &fine));
    *means |= fine;
    if (!fine)
      CHECK(file_planes_open(config, grid, "medium.file", config->medium_file, medium_datasets[i],
                             config->medium_resample, &medium->planes[i]));
  }
  return STATUS_OK;
}

status medium_open(const config *config, const grid *grid, medium *medium) {
  int means = 0;
  *medium = (struct medium){.config = config, .grid = grid};
  medium->fault = calloc(1, sizeof *medium->fault);
  if (medium->fault == NULL) return status_fail(STATUS_MEMORY, "no memory for the medium");
  status result = open_files(config, grid, medium, &means);
  for (int i = 0; i < CONFIG_MEDIA && result == STATUS_OK; i++) {
    if (medium_of(config, i) == MEDIUM_FORMULA)
      result = formula_team_open(config, keys[i], config->medium[i], &medium->formula[i]);
  }
  find_variation(medium);
  if (result == STATUS_OK && means) result = medium_means_open(medium, &medium->means);
  if (result == STATUS_OK && !means && has_formulas(medium)) result = make_kept(medium);
  if (result != STATUS_OK) medium_close(medium);
  return result;
}

void medium_close(medium *medium) {
  medium_means_close(medium->means);
  for (int i = 0; i < CONFIG_MEDIA; i++) {
    formula_team_close(&medium->formula[i]);
    file_planes_close(&medium->planes[i]);
  }
  for (int i = 0; medium->kept != NULL && medium->kept[i] != NULL; i++) free(medium->kept[i]);
  free(medium->kept);
  free(medium->fault);
  medium->means = NULL;
  medium->kept = NULL;
  medium->fault = NULL;
}

static medium_point point_at(const medium *medium, const int64_t at[3], const double x[3], int *accepted) {
  const double c = medium_value(medium, CONFIG_MEDIUM_SPEED, at, x, NULL, accepted);
  const double density = medium_value(medium, CONFIG_MEDIUM_DENSITY, at, x, NULL, accepted);
  return (medium_point){.stiffness = density * c * c, .density = density};
}

/* The part of a cell that has the value of part i, of those along axes where the medium varies. */
static int first_of(const medium *medium, int i) {
  const int along[3] = {i % PARTS, i / PARTS % PARTS, i / PARTS / PARTS};
  int first = 0;
  for (int d = 2; d >= 0; d--) first = first * PARTS + (medium->varies[d] ? along[d] : 0);
  return first;
}

/* Of the formulas over a point's cell. Parts with the same value are evaluated once, unless it is refused: of
 * these the lowest place is told. */
static medium_point mean_at(const medium *medium, const int64_t at[3], int *accepted) {
  const int parts = medium->config->medium_at_points ? 1 : PARTS;
  double place[3][PARTS], yields = 0.0, density = 0.0;
  medium_point part[PARTS * PARTS * PARTS];
  for (int d = 0; d < 3; d++) midpoints(medium, d, at[d], place[d]);
  for (int i = 0; i < parts * parts * parts; i++) {
    const double of[3] = {place[0][i % parts], place[1][i / parts % parts], place[2][i / parts / parts]};
    const int first = first_of(medium, i);
    part[i] = first < i && *accepted ? part[first] : point_at(medium, at, of, accepted);
    yields += 1.0 / part[i].stiffness;
    density += part[i].density;
  }
  const double count = (double)(parts * parts * parts);
  return (medium_point){.stiffness = count / yields, .density = density / count};
}

medium_point medium_at(const medium *medium, int64_t z, int64_t y, int64_t x) {
  const int64_t at[3] = {x, y, z};
  int accepted = 1;
  if (medium->means != NULL) return medium_means_at(medium->means, z, y, x);
  if (medium->kept == NULL) return point_at(medium, at, NULL, &accepted);
  medium_kept *kept = &medium->kept[omp_get_thread_num()][medium->varies[0] ? x : 0];
  const int same_y = !medium->varies[1] || kept->y == y, same_z = !medium->varies[2] || kept->z == z;
  if (kept->known && same_y && same_z) return kept->point;
  const medium_point point = mean_at(medium, at, &accepted);
  *kept = (medium_kept){accepted, y, z, point}; /* each cell with a value that is refused is looked at */
  return point;
}

uint64_t medium_hash(const medium *medium) {
  uint64_t sum = medium->means != NULL ? medium_means_hash(medium->means) : 0;
  for (int i = 0; i < CONFIG_MEDIA; i++)
    if (medium->planes[i].data != NULL) sum += (uint64_t)(i + 1) * file_planes_hash(&medium->planes[i]);
  return sum;
}

status medium_verdict(const medium *medium) {
  const medium_fault *fault = medium->fault;
  const config *config = medium->config;
  for (int i = 0; i < CONFIG_MEDIA; i++) CHECK(formula_team_verdict(&medium->formula[i]));
  if (!fault->found) return STATUS_OK;
  const int file = medium_of(config, fault->which) == MEDIUM_FILE;
  return status_fail(
      STATUS_USAGE,
      "%s = %s: the %s is %g at point [%lld, %lld, %lld] (z, y, x); accepted: above 0, %g to %g",
      file ? "medium.file" : keys[fault->which], file ? config->medium_file : config->medium[fault->which],
      fault->which == CONFIG_MEDIUM_SPEED ? "speed" : "density", fault->value, (long long)fault->at[0],
      (long long)fault->at[1], (long long)fault->at[2], medium_accepted[0], medium_accepted[1]);
}

/* Square roots of the stiffness and of 1/density, whose product is the speed, on this rank's planes and on as
 * many beyond as `reach`, plane by plane. */
typedef struct root {
  double stiffness, volume;
} root;

typedef struct window {
  const medium *medium;
  int reach;
  double
      share[STENCIL_RADIUS]; /* of the coefficients of the first difference, of both neighbours 1/2 in all */
  root *ring;                /* 2 reach + 1 planes */
} window;

static root *plane_of(const window *w, int64_t z) {
  const grid *grid = w->medium->grid;
  return w->ring + ((z + w->reach) % (2 * w->reach + 1)) * grid->n[0] * grid->n[1];
}

static void evaluate(const window *w, int64_t z) {
  const grid *grid = w->medium->grid;
  const int64_t *n = grid->n, global = (grid->z0 + z + n[2]) % n[2];
  root *plane = plane_of(w, z);
#pragma omp parallel for schedule(static)
  for (int64_t y = 0; y < n[1]; y++) {
    for (int64_t x = 0; x < n[0]; x++) {
      const medium_point at = medium_at(w->medium, global, y, x);
      plane[y * n[0] + x] = (root){sqrt(at.stiffness), sqrt(1.0 / at.density)};
    }
  }
}

/* The mean of the neighbours of a point of this rank's plane z along axis d, weighted as the first difference
 * weighs them. */
static root around(const window *w, int64_t z, int64_t y, int64_t x, int d) {
  const grid *grid = w->medium->grid;
  root mean = {0.0, 0.0};
  for (int i = 0; i < 2 * w->reach; i++) {
    const int k = i / 2 + 1, away = i % 2 == 0 ? k : -k;
    int64_t at[3] = {x, y, grid->z0 + z};
    at[d] += away;
    if (at[d] < 0 || at[d] >= grid->n[d]) {
      if (grid->bounded[d]) continue;
      at[d] = (at[d] + grid->n[d]) % grid->n[d];
    }
    const root *there = &plane_of(w, d == 2 ? z + away : z)[at[1] * grid->n[0] + at[0]];
    mean.stiffness += w->share[k - 1] * there->stiffness;
    mean.volume += w->share[k - 1] * there->volume;
  }
  return mean;
}

static void extend(const window *w, int64_t z, medium_range *range) {
  const int64_t *n = w->medium->grid->n;
  const root *plane = plane_of(w, z);
  double slow = range->slowest, fast = range->fastest, low = range->impedance[0], high = range->impedance[1];
#pragma omp parallel for schedule(static) reduction(min : slow, low) reduction(max : fast, high)
  for (int64_t i = 0; i < n[0] * n[1]; i++) {
    const root at = plane[i];
    slow = fmin(slow, at.stiffness * at.volume);
    fast = fmax(fast, at.stiffness * at.volume);
    for (int d = 0; d < 3 && w->reach > 0; d++) {
      const root mean = around(w, z, i / n[0], i % n[0], d);
      fast = fmax(fast, fmax(at.stiffness * mean.volume, mean.stiffness * at.volume));
    }
    low = fmin(low, at.stiffness / at.volume);
    high = fmax(high, at.stiffness / at.volume);
  }
  *range = (medium_range){slow, fast, {low, high}};
}

static void weigh_neighbours(const config *config, window *w) {
  const stencil stencil = stencil_make(config->order, (double[3]){1.0, 1.0, 1.0});
  double sum = 0.0;
  for (int k = 0; k < STENCIL_RADIUS; k++) sum += 2.0 * fabs(stencil.first[0][k]);
  for (int k = 0; k < STENCIL_RADIUS; k++) w->share[k] = fabs(stencil.first[0][k]) / sum;
}

static status find_range(const medium *medium, medium_range *range) {
  const grid *grid = medium->grid;
  window w = {.medium = medium};
  if (medium_of(medium->config, CONFIG_MEDIUM_DENSITY) != MEDIUM_CONSTANT) w.reach = STENCIL_RADIUS;
  weigh_neighbours(medium->config, &w);
  w.ring = malloc((size_t)((2 * w.reach + 1) * grid->n[0] * grid->n[1]) * sizeof *w.ring);
  if (w.ring == NULL) return status_fail(STATUS_MEMORY, "no memory for planes of the medium");
  *range = (medium_range){INFINITY, 0.0, {INFINITY, 0.0}};
  for (int64_t z = -w.reach; z < grid->nz + w.reach; z++) {
    const int64_t global = grid->z0 + z;
    if (!grid->bounded[2] || (global >= 0 && global < grid->n[2])) evaluate(&w, z);
    if (z >= w.reach) extend(&w, z - w.reach, range);
  }
  free(w.ring);
  return medium_verdict(medium);
}

status medium_find_range(const config *config, const grid *grid, medium_range *range) {
  medium medium;
  const double impedance = config->density * config->sound_speed;
  *range = (medium_range){config->sound_speed, config->sound_speed, {impedance, impedance}};
  if (!medium_varies(config)) return STATUS_OK;
  CHECK(medium_open(config, grid, &medium));
  const status result = find_range(&medium, range);
  medium_close(&medium);
  return result;
}
