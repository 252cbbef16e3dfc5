#include "problems/cases.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

/* Switches over cases and velocities have no default: the compiler names those that a new one is missing
 * from. */

/* Whether the case is a product of functions of one coordinate each; else it is a body. */
static int is_separable(const config *config) {
  switch (config->initial) {
  case CONFIG_CASE_COSINE:
  case CONFIG_CASE_GAUSSIAN:
  case CONFIG_CASE_MANUFACTURED:
    return 1;
  case CONFIG_CASE_SPHERE:
  case CONFIG_CASE_SLOTTED:
  case CONFIG_CASE_BLOB:
  case CONFIG_CASE_COUNT:
    break;
  }
  return 0;
}

/* x minus the centre along one axis, the nearest periodic image. */
static double nearest(double offset, double length) {
  return offset - length * round(offset / length);
}

/* Whether the case turns as a whole: it stays in the largest circle around the axis, beyond which the
 * periodic continuation of the rotation is none. Of a Gaussian what is less than 1e-13 does not count. */
static int stays_in_circle(const config *config) {
  const double reach = (config->initial == CONFIG_CASE_GAUSSIAN ? 8.0 : 1.0) * config->width;
  const double x = nearest(config->center[0] - 0.5 * config->l[0], config->l[0]);
  const double y = nearest(config->center[1] - 0.5 * config->l[1], config->l[1]);
  return hypot(x, y) + reach <= 0.5 * fmin(config->l[0], config->l[1]);
}

/* Whether the case would turn without changing its shape if nothing were periodic. */
static int turns(const config *config) {
  const int shape = config->initial == CONFIG_CASE_GAUSSIAN || !is_separable(config);
  return config->velocity == CONFIG_VELOCITY_ROTATION && config->diffusivity == 0.0 && shape;
}

/* Whether what the velocity carries along is still known in closed form. */
static int is_carried(const config *config) {
  const int gaussian = config->initial == CONFIG_CASE_GAUSSIAN;
  switch (config->velocity) {
  case CONFIG_VELOCITY_UNIFORM:
    return config->diffusivity == 0.0 || gaussian || config->initial == CONFIG_CASE_COSINE;
  case CONFIG_VELOCITY_ROTATION:
    return turns(config) && stays_in_circle(config);
  case CONFIG_VELOCITY_DEFORMATION:
    return config->diffusivity == 0.0;
  case CONFIG_VELOCITY_ABC:
  case CONFIG_VELOCITY_COUNT:
    break;
  }
  return 0;
}

int cases_exact_exists(const config *config) {
  switch (config->initial) {
  case CONFIG_CASE_MANUFACTURED:
    return 1;
  case CONFIG_CASE_COSINE:
  case CONFIG_CASE_GAUSSIAN:
  case CONFIG_CASE_SPHERE:
  case CONFIG_CASE_SLOTTED:
  case CONFIG_CASE_BLOB:
    return is_carried(config);
  case CONFIG_CASE_COUNT:
    break;
  }
  return 0;
}

int cases_exact_known(const config *config, double time) {
  if (time == 0.0) return 1;
  if (!cases_exact_exists(config)) return 0;
  if (config->initial == CONFIG_CASE_MANUFACTURED || config->velocity != CONFIG_VELOCITY_DEFORMATION)
    return 1;
  const double periods = time / config->period;
  return round(periods) >= 1.0 && fabs(periods - round(periods)) < 1e-12;
}

const char *cases_exact_text(const config *config) {
  const int later = config->velocity == CONFIG_VELOCITY_DEFORMATION && !cases_has_source(config);
  if (cases_exact_exists(config)) return later ? "known after whole periods" : "known";
  return turns(config) ? "not known: the case reaches beyond the circle that turns as a whole" : "not known";
}

static double squared_wave_number(const config *config) {
  double sum = 0.0;
  for (int d = 0; d < 3; d++) {
    const double k = 2.0 * pi * config->wave_number[d] / config->l[d];
    sum += k * k;
  }
  return sum;
}

/* One factor of the Gaussian: all periodic images that reach double precision, and the spreading s^2 = w^2 +
 * 2 k t. */
static double gaussian_factor(const config *config, double time, double offset, double length) {
  const double width = config->width;
  const double s = sqrt(width * width + 2.0 * config->diffusivity * time);
  /* Spread over more than the domain it is flat: by Poisson's sum the waves left are below exp(-2 (pi
   * s/l)^2). */
  if (s > 1.5 * length) return sqrt(2.0 * pi) * width / length;
  const int images = (int)ceil(9.0 * s / length) + 1;
  double sum = 0.0;
  for (int m = -images; m <= images; m++) {
    const double d = (offset + m * length) / s;
    sum += exp(-0.5 * d * d);
  }
  return sum * (width / s);
}

/* Entry of an axis table: a factor for separable cases, the distance from the moved centre for the others. */
static double axis_entry(const config *config, const grid *grid, double time, int d, int64_t i) {
  const double moved = config->velocity == CONFIG_VELOCITY_UNIFORM ? config->uniform[d] * time : 0.0;
  const double x = (double)i * grid->h[d];
  const double length = grid->l[d];
  const double wave = 2.0 * pi * config->wave_number[d] / length;
  switch (config->initial) {
  case CONFIG_CASE_MANUFACTURED:
    return cos(wave * x);
  case CONFIG_CASE_COSINE:
    return cos(wave * (x - moved));
  case CONFIG_CASE_GAUSSIAN:
    return gaussian_factor(config, time, nearest(x - config->center[d] - moved, length), length);
  case CONFIG_CASE_SPHERE:
  case CONFIG_CASE_SLOTTED:
  case CONFIG_CASE_BLOB:
  case CONFIG_CASE_COUNT:
    break;
  }
  return nearest(x - config->center[d] - moved, length);
}

status cases_open(const config *config, const grid *grid, double time, cases_solution *solution) {
  *solution = (cases_solution){.config = config, .grid = grid, .time = time};
  for (int d = 0; d < 3; d++) {
    solution->table[d] = malloc((size_t)grid->n[d] * sizeof(double));
    if (solution->table[d] == NULL) {
      cases_close(solution);
      return status_fail(STATUS_MEMORY, "no memory for tables of the initial condition");
    }
    for (int64_t i = 0; i < grid->n[d]; i++) solution->table[d][i] = axis_entry(config, grid, time, d, i);
  }
  return STATUS_OK;
}

void cases_close(cases_solution *solution) {
  for (int d = 0; d < 3; d++) {
    free(solution->table[d]);
    solution->table[d] = NULL;
  }
}

/* The body's value at an offset from its centre. */
static double body(const config *config, double dx, double dy, double dz) {
  const double width = config->width;
  const double r = sqrt(dx * dx + dy * dy + dz * dz);
  if (r > width) return 0.0;
  switch (config->initial) {
  case CONFIG_CASE_SPHERE:
    return 1.0;
  case CONFIG_CASE_SLOTTED:
    return fabs(dx) < width / 6.0 && dy < 2.0 / 3.0 * width ? 0.0 : 1.0;
  case CONFIG_CASE_BLOB: {
    const double c = cos(0.5 * pi * r / width);
    const double c2 = c * c;
    return c2 * c2 * c2 * c2;
  }
  case CONFIG_CASE_COSINE:
  case CONFIG_CASE_GAUSSIAN:
  case CONFIG_CASE_MANUFACTURED:
  case CONFIG_CASE_COUNT:
    break;
  }
  return 0.0;
}

/* Turned by the rotation: the value at the point where this one came from, nearest image of the centre. */
static double turned_value(const cases_solution *s, double x, double y, double z) {
  const config *config = s->config;
  const double angle = 2.0 * pi * s->time / config->period;
  const double middle_x = 0.5 * config->l[0];
  const double middle_y = 0.5 * config->l[1];
  const double from_x = middle_x + cos(angle) * (x - middle_x) + sin(angle) * (y - middle_y);
  const double from_y = middle_y - sin(angle) * (x - middle_x) + cos(angle) * (y - middle_y);
  const double offset[3] = {nearest(from_x - config->center[0], config->l[0]),
                            nearest(from_y - config->center[1], config->l[1]),
                            nearest(z - config->center[2], config->l[2])};
  if (config->initial != CONFIG_CASE_GAUSSIAN) return body(config, offset[0], offset[1], offset[2]);
  double product = 1.0;
  for (int d = 0; d < 3; d++) product *= gaussian_factor(config, 0.0, offset[d], config->l[d]);
  return product;
}

/* What multiplies the separable product at this time. */
static double separable_amplitude(const config *config, double time) {
  if (config->initial == CONFIG_CASE_MANUFACTURED) {
    return config->amplitude * cos(2.0 * pi * time / config->period);
  }
  if (config->initial == CONFIG_CASE_COSINE) {
    return config->amplitude * exp(-config->diffusivity * squared_wave_number(config) * time);
  }
  return config->amplitude;
}

void cases_row(const void *user, int64_t z, int64_t y, double *row) {
  const cases_solution *s = user;
  const config *config = s->config;
  const int64_t nx = s->grid->n[0];
  const int turned = config->velocity == CONFIG_VELOCITY_ROTATION && s->time > 0.0 &&
                     config->initial != CONFIG_CASE_MANUFACTURED;
  if (turned) {
    for (int64_t x = 0; x < nx; x++) {
      const double value =
          turned_value(s, (double)x * s->grid->h[0], (double)y * s->grid->h[1], (double)z * s->grid->h[2]);
      row[x] = config->background + config->amplitude * value;
    }
  } else if (is_separable(config)) {
    const double factor = separable_amplitude(config, s->time) * s->table[1][y] * s->table[2][z];
    for (int64_t x = 0; x < nx; x++) row[x] = config->background + factor * s->table[0][x];
  } else {
    for (int64_t x = 0; x < nx; x++) {
      row[x] = config->background +
               config->amplitude * body(config, s->table[0][x], s->table[1][y], s->table[2][z]);
    }
  }
}

int cases_has_source(const config *config) {
  return config->initial == CONFIG_CASE_MANUFACTURED;
}

status cases_source_open(const config *config, const grid *grid, cases_source *source) {
  source->term = 0;
  return cases_velocity_open(config, grid, &source->velocity);
}

void cases_source_close(cases_source *source) {
  cases_velocity_close(&source->velocity);
}

void cases_source_row(const void *user, int64_t z, int64_t y, double *row) {
  const cases_source *source = user;
  const config *config = source->velocity.config;
  const grid *grid = source->velocity.grid;
  double k[3];
  for (int d = 0; d < 3; d++) k[d] = 2.0 * pi * config->wave_number[d] / config->l[d];
  const double cy = cos(k[1] * (double)y * grid->h[1]), sy = sin(k[1] * (double)y * grid->h[1]);
  const double cz = cos(k[2] * (double)z * grid->h[2]), sz = sin(k[2] * (double)z * grid->h[2]);
  const int64_t nx = grid->n[0];
  if (source->term == 0) {
    for (int64_t x = 0; x < nx; x++) row[x] = cos(k[0] * (double)x * grid->h[0]) * cy * cz;
    return;
  }
  for (int64_t x = 0; x < nx; x++) {
    const double cx = cos(k[0] * (double)x * grid->h[0]), sx = sin(k[0] * (double)x * grid->h[0]);
    const double slope[3] = {-k[0] * sx * cy * cz, -k[1] * cx * sy * cz, -k[2] * cx * cy * sz};
    row[x] = 0.0;
    for (int d = 0; d < 3; d++) row[x] += cases_velocity_at(&source->velocity, (axis)d, z, y, x) * slope[d];
  }
}

void cases_source_factors(const config *config, double time, double factors[CASES_SOURCES]) {
  const double w = 2.0 * pi / config->period;
  factors[0] = config->amplitude *
               (config->diffusivity * squared_wave_number(config) * cos(w * time) - w * sin(w * time));
  factors[1] = config->amplitude * cos(w * time) * cases_velocity_factor(config, time);
}
