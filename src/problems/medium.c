#include "problems/medium.h"

#include <math.h>
#include <stdlib.h>

#include "problems/problem.h"

enum { PARTS = 4 };

/* The first point, in the order of memory, whose speed is refused. */
typedef struct medium_fault {
  int found;
  double value;
  int64_t at[3]; /* z, y, x */
} medium_fault;

static int has_file(const config *config) {
  return config->medium_file[0] != '\0';
}

static int has_formula(const config *config) {
  return config->medium_speed[0] != 0 && !has_file(config);
}

int medium_varies(const config *config) {
  return has_file(config) || has_formula(config);
}

status medium_open(const config *config, const grid *grid, medium *medium) {
  status result = STATUS_OK;
  *medium = (struct medium){.config = config, .grid = grid};
  medium->fault = calloc(1, sizeof *medium->fault);
  if (medium->fault == NULL) return status_fail(STATUS_MEMORY, "no memory for the medium");
  if (has_file(config))
    result = file_planes_open(config, grid, "medium.file", config->medium_file, MEDIUM_DATASET,
                              config->medium_resample, &medium->planes);
  if (has_formula(config))
    result = formula_team_open(config, "medium.sound_speed", config->medium_speed, &medium->formula);
  if (result != STATUS_OK) medium_close(medium);
  return result;
}

void medium_close(medium *medium) {
  formula_team_close(&medium->formula);
  file_planes_close(&medium->planes);
  free(medium->fault);
  medium->fault = NULL;
}

/* Keeps a speed that is not above 0. */
static void remember(medium_fault *fault, double value, int64_t z, int64_t y, int64_t x) {
  const int64_t at[3] = {z, y, x};
#pragma omp critical(medium_fault)
  {
    int lower = !fault->found;
    for (int i = 0; i < 3 && fault->found; i++) {
      if (at[i] == fault->at[i]) continue;
      lower = at[i] < fault->at[i];
      break;
    }
    if (lower) *fault = (medium_fault){1, value, {z, y, x}};
  }
}

/* Places of the midpoints of a point's cell along axis d. */
static void midpoints(const medium *medium, int d, int64_t i, double place[PARTS]) {
  const grid *grid = medium->grid;
  const double h = grid->h[d];
  const int64_t last = grid->n[d] - 1;
  double low = -0.5, high = 0.5;
  if (grid->bounded[d] && i == 0) low = 0.0;
  if (grid->bounded[d] && i == last) high = 0.0;
  if (medium->config->medium_at_points) low = high = 0.0;
  for (int k = 0; k < PARTS; k++) {
    place[k] = ((double)i + low + (high - low) * (k + 0.5) / PARTS) * h;
    if (place[k] < 0.0) place[k] += grid->l[d];
    if (!grid->bounded[d] && place[k] >= grid->l[d]) place[k] -= grid->l[d];
  }
}

static double mean_of(const medium *medium, const int64_t at[3]) {
  double place[3][PARTS], sum = 0.0;
  const int parts = medium->config->medium_at_points ? 1 : PARTS;
  for (int d = 0; d < 3; d++) midpoints(medium, d, at[d], place[d]);
  for (int i = 0; i < parts * parts * parts; i++) {
    const double x[3] = {place[0][i % parts], place[1][i / parts % parts], place[2][i / parts / parts]};
    const double c = formula_team_at(&medium->formula, x);
    if (!(c > 0.0)) remember(medium->fault, c, at[2], at[1], at[0]);
    sum += 1.0 / (c * c);
  }
  return (double)(parts * parts * parts) / sum;
}

double medium_squared(const medium *medium, int64_t z, int64_t y, int64_t x) {
  const config *config = medium->config;
  if (has_formula(config)) return mean_of(medium, (const int64_t[3]){x, y, z});
  const double c = has_file(config) ? file_planes_at(&medium->planes, z, y, x) : config->sound_speed;
  if (!(c > 0.0)) remember(medium->fault, c, z, y, x);
  return c * c;
}

status medium_verdict(const medium *medium) {
  const medium_fault *fault = medium->fault;
  const char *key = has_file(medium->config) ? "file" : "sound_speed";
  CHECK(formula_team_verdict(&medium->formula));
  if (!fault->found) return STATUS_OK;
  return status_fail(
      STATUS_USAGE,
      "medium.%s = %s: the speed is %g at point [%lld, %lld, %lld] (z, y, x); accepted: above 0", key,
      has_file(medium->config) ? medium->config->medium_file : medium->config->medium_speed, fault->value,
      (long long)fault->at[0], (long long)fault->at[1], (long long)fault->at[2]);
}

status medium_range(const config *config, const grid *grid, double range[2]) {
  medium medium;
  double low = INFINITY, high = 0.0;
  range[0] = range[1] = config->sound_speed;
  if (!medium_varies(config)) return STATUS_OK;
  CHECK(medium_open(config, grid, &medium));
#pragma omp parallel for schedule(static) reduction(min : low) reduction(max : high)
  for (int64_t i = 0; i < grid->nz * grid->n[1]; i++) {
    for (int64_t x = 0; x < grid->n[0]; x++) {
      const double squared = medium_squared(&medium, grid->z0 + i / grid->n[1], i % grid->n[1], x);
      low = fmin(low, squared);
      high = fmax(high, squared);
    }
  }
  range[0] = sqrt(low);
  range[1] = sqrt(high);
  const status result = medium_verdict(&medium);
  medium_close(&medium);
  return result;
}
