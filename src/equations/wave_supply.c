#include "equations/wave_supply.h"

#include <math.h>

/* What a row of an array needs. */
typedef struct filling {
  source source;
  const medium *medium;
  const kernels_wave *step;
  double squared; /* dt^2 */
  int whole;      /* 1: without what ends keep, but zero on free ends */
} filling;

/* What ends keep at a point of a step. */
static double kept_at(const filling *f, int64_t z, int64_t y, int64_t x, double factor) {
  const grid *grid = f->medium->grid;
  const int n[3] = {(int)grid->n[0], (int)grid->n[1], (int)grid->nz};
  const int at[3] = {(int)x, (int)y, (int)(z - grid->z0)};
  int zero = 0;
  const unsigned axes = wave_ends_at(f->step, n, at, &zero);
  if (zero || f->whole) return zero ? 0.0 : 1.0;
  return 1.0 / (1.0 + sqrt(factor) * wave_rate(grid->h, axes));
}

static void kept_row(const void *user, int64_t z, int64_t y, double *row) {
  const filling *f = user;
  for (int64_t x = 0; x < f->medium->grid->n[0]; x++)
    row[x] = kept_at(f, z, y, x, medium_at(f->medium, z, y, x).stiffness * f->squared);
}

static void fill_row(const void *user, int64_t z, int64_t y, double *row) {
  const filling *f = user;
  source_row(&f->source, z, y, row);
  for (int64_t x = 0; x < f->medium->grid->n[0]; x++) {
    const double factor = medium_at(f->medium, z, y, x).stiffness * f->squared;
    row[x] *= factor * kept_at(f, z, y, x, factor);
  }
}

status wave_supply_keep(const medium *medium, const kernels_wave *step, double dt, field *field) {
  const filling f = {.medium = medium, .step = step, .squared = dt * dt};
  CHECK(field->backend->queue_wait(field->context, QUEUE_MAIN));
  return field_fill(field, medium->grid->z0, medium->grid->n[2], 0, kept_row, &f);
}

static status make(const field_space *space, filling *f, wave_supply *supply) {
  const grid *grid = f->medium->grid;
  for (int i = 0; i < (f->step->twice ? 2 : 1); i++) {
    CHECK(field_create(space, &supply->array[i]));
    supply->count++;
    f->whole = i == 1;
    CHECK(field_fill(&supply->array[i], grid->z0, grid->n[2], i, fill_row, f));
  }
  CHECK(source_verdict(&f->source));
  CHECK(field_largest(&supply->array[0], grid, &supply->largest));
  supply->largest /= f->squared;
  if (f->source.planes.data != NULL) supply->hash = file_planes_hash(&f->source.planes);
  return STATUS_OK;
}

status wave_supply_open(const field_space *space, const medium *medium, const kernels_wave *step, double dt,
                        wave_supply *supply) {
  filling f = {.medium = medium, .step = step, .squared = dt * dt};
  *supply = (wave_supply){.dt = dt};
  if (!source_exists(medium->config, 0, "p")) return STATUS_OK;
  CHECK(source_factor(medium->config, &supply->factor));
  CHECK(source_open(medium->config, medium->grid, 0, "p", &f.source));
  const status result = make(space, &f, supply);
  source_close(&f.source);
  return result;
}

void wave_supply_close(wave_supply *supply) {
  for (int i = 0; i < supply->count; i++) field_destroy(&supply->array[i]);
  formula_close(supply->factor);
  *supply = (wave_supply){.count = 0};
}

status wave_supply_add(const wave_supply *s, const kernels_launch *launch, double t, const field *out) {
  if (s->count == 0) return STATUS_OK;
  const double g = source_factor_at(s->factor, t), dt = s->dt;
  double number[2] = {g, g};
  if (t == 0.0) {
    number[0] = s->count == 1 ? 0.5 * g : g / 6.0 + source_factor_at(s->factor, 0.5 * dt) / 3.0;
    number[1] = 0.5 * g;
  } else if (s->count == 2) {
    number[0] += (source_factor_at(s->factor, t + dt) - 2.0 * g + source_factor_at(s->factor, t - dt)) / 12.0;
  }
  for (int i = 0; i < s->count; i++)
    CHECK(apply_axpy(out->backend, launch, number[i], s->array[i].data, out->data));
  return STATUS_OK;
}

double wave_supply_largest(const wave_supply *s, const config *config) {
  const double end = config->t_end >= 0.0 ? config->t_end : (double)config->steps * s->dt;
  return s->largest * source_factor_most(s->factor, 0.0, end) * 0.5 * end * end;
}
