#include "equations/wave_sources.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "config/config.h"

/* The points on which one source acts: a box of index sets, those of its weights and their neighbours. */
enum { REACH = STENCIL_RADIUS, MOST = POINTS_NEAR * (2 * REACH + 1) };

typedef struct side {
  points_axis from; /* the points of the interpolation */
  int count;
  int64_t to[MOST];                 /* those and their neighbours */
  double second[MOST][POINTS_NEAR]; /* the second derivative at `to` of what is at `from` */
  double self[MOST][POINTS_NEAR];   /* 1 where both are the same point */
  double share[POINTS_NEAR];        /* weight over H of the axis */
} side;

/* An entry before it is sorted. */
typedef struct entry {
  int64_t place;
  int source;
  double weight[2];
} entry;

typedef struct builder {
  const grid *grid;
  const kernels_shape *shape;
  const wave_sourced *of;
  int fourth;
  entry *entries;
  size_t count, room;
} builder;

static int find(side *side, int64_t i) {
  for (int k = 0; k < side->count; k++) {
    if (side->to[k] == i) return k;
  }
  side->to[side->count] = i;
  memset(side->second[side->count], 0, sizeof side->second[0]);
  memset(side->self[side->count], 0, sizeof side->self[0]);
  return side->count++;
}

/* Adds the coefficients by which the point of number k acts on others, along axis d: as itself, or as an
 * image about an end. */
static void spread(const builder *b, const config *config, int d, int k, side *side) {
  const double *c = b->of->stencil->second[d];
  const int64_t n = b->grid->n[d], j = side->from.index[k];
  const int bounded = b->grid->bounded[d];
  side->self[find(side, j)][k] = 1.0;
  for (int m = -REACH; m <= REACH; m++) {
    const int64_t i = j + m;
    if (bounded && (i < 0 || i >= n)) continue;
    side->second[find(side, (i + n) % n)][k] += c[m < 0 ? -m : m];
  }
  for (int end = 0; end < 2 && bounded; end++) {
    const config_end kind = config->ends[d][end];
    const double sign = kind == CONFIG_END_FREE ? -1.0 : 1.0;
    const int64_t image = end == 0 ? -j : 2 * (n - 1) - j;
    if (image == j || kind == CONFIG_END_LAYER) continue;
    for (int64_t i = image - REACH; i <= image + REACH; i++) {
      if (i < 0 || i >= n) continue;
      side->second[find(side, i)][k] += sign * c[i < image ? image - i : i - image];
    }
  }
}

static void make_side(const builder *b, const config *config, int d, double x, side *side) {
  side->from = points_weights(config, b->grid, d, x, config->source_sinc);
  side->count = 0;
  for (int k = 0; k < POINTS_NEAR; k++) {
    const int64_t i = side->from.index[k];
    side->share[k] = side->from.weight[k] / (b->grid->h[d] * grid_weight(b->grid, d, i));
    if (side->from.weight[k] != 0.0) spread(b, config, d, k, side);
  }
}

static double factor_at(const builder *b, int64_t z, int64_t y, int64_t x) {
  return medium_at(b->of->medium, z, y, x).stiffness * b->of->dt * b->of->dt;
}

static status append(builder *b, const int64_t at[3], int source, const double weight[2]) {
  if (b->count == b->room) {
    b->room = 2 * b->room + 1024;
    entry *more = realloc(b->entries, b->room * sizeof *more);
    if (more == NULL) return status_fail(STATUS_MEMORY, "no memory for point sources");
    b->entries = more;
  }
  const int64_t z = at[2] - b->grid->z0;
  b->entries[b->count++] =
      (entry){.place = (z + KERNELS_HALO) * b->shape->plane + at[1] * b->shape->ldx + at[0],
              .source = source,
              .weight = {weight[0], weight[1]}};
  return STATUS_OK;
}

/* K times weight over H at the points of the interpolation, whose planes lie on this slab or its halos. */
static void find_near(const builder *b, const side side[3],
                      double near[POINTS_NEAR][POINTS_NEAR][POINTS_NEAR]) {
  const grid *grid = b->grid;
  for (int k = 0; k < POINTS_NEAR; k++) {
    const int64_t z = side[2].from.index[k];
    int64_t local = z - grid->z0;
    if (local < -REACH) local += grid->n[2];
    if (local >= grid->nz + REACH) local -= grid->n[2];
    const int here = local >= -REACH && local < grid->nz + REACH;
    for (int j = 0; j < POINTS_NEAR; j++) {
      for (int i = 0; i < POINTS_NEAR; i++) {
        const double share = side[0].share[i] * side[1].share[j] * side[2].share[k];
        near[k][j][i] = here && share != 0.0
                            ? share * factor_at(b, z, side[1].from.index[j], side[0].from.index[i])
                            : 0.0;
      }
    }
  }
}

/* The two weights of a source at one point. */
static void weigh(const side side[3], double near[POINTS_NEAR][POINTS_NEAR][POINTS_NEAR], const int to[3],
                  double weight[2]) {
  double self = 0.0, laplacian = 0.0;
  for (int k = 0; k < POINTS_NEAR; k++) {
    const double z = side[2].self[to[2]][k], dz = side[2].second[to[2]][k];
    for (int j = 0; j < POINTS_NEAR && (z != 0.0 || dz != 0.0); j++) {
      const double y = side[1].self[to[1]][j], dy = side[1].second[to[1]][j];
      for (int i = 0; i < POINTS_NEAR && (y != 0.0 || dy != 0.0); i++) {
        const double x = side[0].self[to[0]][i], dx = side[0].second[to[0]][i];
        self += z * y * x * near[k][j][i];
        laplacian += (dz * y * x + z * dy * x + z * y * dx) * near[k][j][i];
      }
    }
  }
  weight[0] = self;
  weight[1] = laplacian;
}

static status add_source(builder *b, const config *config, const double at[3], double amplitude, int source) {
  double near[POINTS_NEAR][POINTS_NEAR][POINTS_NEAR];
  side side[3];
  for (int d = 0; d < 3; d++) make_side(b, config, d, at[d], &side[d]);
  find_near(b, side, near);
  for (int i = 0; i < side[0].count * side[1].count * side[2].count; i++) {
    const int to[3] = {i % side[0].count, i / side[0].count % side[1].count,
                       i / side[0].count / side[1].count};
    const int64_t point[3] = {side[0].to[to[0]], side[1].to[to[1]], side[2].to[to[2]]};
    if (point[2] < b->grid->z0 || point[2] >= b->grid->z0 + b->grid->nz) continue;
    double weight[2];
    weigh(side, near, to, weight);
    if (weight[0] == 0.0 && (weight[1] == 0.0 || !b->fourth)) continue;
    const double factor = factor_at(b, point[2], point[1], point[0]);
    const int local[3] = {(int)point[0], (int)point[1], (int)(point[2] - b->grid->z0)};
    const int n[3] = {b->shape->nx, b->shape->ny, b->shape->nz};
    int zero = 0;
    const unsigned axes = wave_ends_at(b->of->step, n, local, &zero);
    const double kept = zero ? 0.0 : amplitude / (1.0 + sqrt(factor) * wave_rate(b->grid->h, axes));
    weight[0] *= kept;
    weight[1] *= b->fourth ? kept * factor / 12.0 : 0.0;
    CHECK(append(b, point, source, weight));
  }
  return STATUS_OK;
}

static int by_place(const void *a, const void *b) {
  const entry *p = a, *q = b;
  if (p->place != q->place) return p->place < q->place ? -1 : 1;
  return (p->source > q->source) - (p->source < q->source);
}

/* Finds the first point of each plane among those at `place`. */
static status find_starts(wave_sources *s, const builder *b, const int64_t *place) {
  s->starts = malloc(((size_t)b->shape->nz + 1) * sizeof *s->starts);
  if (s->starts == NULL) return status_fail(STATUS_MEMORY, "no memory for point sources");
  int i = 0;
  for (int z = 0; z <= b->shape->nz; z++) {
    while (i < s->injection.points && place[i] < (z + KERNELS_HALO) * b->shape->plane) i++;
    s->starts[z] = i;
  }
  return STATUS_OK;
}

static status upload_entries(wave_sources *s, builder *b) {
  const size_t n = b->count, element = kernels_element_size(s->precision);
  int64_t *place = malloc((n + 1) * sizeof *place);
  int *first = malloc((n + 1) * sizeof *first), *source = malloc((n + 1) * sizeof *source);
  void *weight = malloc((2 * n + 1) * element);
  status result = STATUS_OK;
  if (place == NULL || first == NULL || source == NULL || weight == NULL)
    result = status_fail(STATUS_MEMORY, "no memory for point sources");
  int points = 0;
  for (size_t e = 0; e < n && result == STATUS_OK; e++) {
    if (e == 0 || b->entries[e].place != b->entries[e - 1].place) {
      place[points] = b->entries[e].place;
      first[points++] = (int)e;
    }
    source[e] = b->entries[e].source;
    for (size_t k = 0; k < 2; k++) kernels_put(s->precision, weight, 2 * e + k, b->entries[e].weight[k]);
  }
  wave_injection *to = &s->injection;
  if (result == STATUS_OK) {
    first[points] = (int)n;
    to->points = points;
    result = find_starts(s, b, place);
  }
  const struct {
    const void *host;
    size_t bytes;
    void **device;
  } arrays[] = {{place, (size_t)points * sizeof *place, (void **)&to->place},
                {first, (size_t)(points + 1) * sizeof *first, (void **)&to->first},
                {source, n * sizeof *source, (void **)&to->source},
                {weight, 2 * n * element, (void **)&to->weight}};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays && result == STATUS_OK; i++)
    result = kernels_upload(s->backend, s->context, arrays[i].host, arrays[i].bytes, arrays[i].device);
  free(place);
  free(first);
  free(source);
  free(weight);
  return result;
}

/* Of all sources, for one step. */
static size_t signal_bytes(const wave_sources *s) {
  return 2 * (size_t)s->points.count * kernels_element_size(s->precision);
}

static status build(wave_sources *s, builder *b) {
  for (int64_t i = 0; i < s->points.count; i++)
    CHECK(add_source(b, s->config, &s->points.at[3 * i], s->points.amplitude[i], (int)i));
  if (b->count > 0) qsort(b->entries, b->count, sizeof *b->entries, by_place);
  CHECK(s->backend->memory_allocate(s->context, MEMORY_STAGING, WAVE_SIGNALS * signal_bytes(s),
                                    (void **)&s->staged));
  CHECK(s->backend->memory_allocate(s->context, MEMORY_DEVICE, WAVE_SIGNALS * signal_bytes(s),
                                    (void **)&s->signals));
  return upload_entries(s, b);
}

/* Warns, on rank 0, of signals that begin with a jump. */
static void warn_of_jumps(const wave_sources *s) {
  static const double small = 1e-3;
  double largest = 0.0;
  for (int64_t i = 0; i < s->points.count; i++)
    largest = fmax(largest, wavelet_jump(&s->wavelet, s->points.delay[i]));
  if (largest > small)
    log_warning("point_sources: the wavelet is %.2g of its peak at t = 0, where the signal begins with that "
                "jump; a longer delay avoids it",
                largest);
}

status wave_sources_open(const config *config, const grid *grid, const field_space *space,
                         const wave_sourced *of, wave_sources *sources) {
  const int fourth = of->step->twice;
  *sources = (wave_sources){.config = config,
                            .backend = space->backend,
                            .context = space->context,
                            .precision = space->shape.precision,
                            .dt = of->dt,
                            .fourth = fourth};
  if (!config_sourced(config)) return STATUS_OK;
  CHECK(points_sources(config, &sources->points));
  CHECK(wavelet_open(config, &sources->wavelet));
  warn_of_jumps(sources);
  builder builder = {.grid = grid, .shape = &space->shape, .of = of, .fourth = fourth};
  const status result = build(sources, &builder);
  free(builder.entries);
  return result;
}

void wave_sources_close(wave_sources *s) {
  const wave_injection *injection = &s->injection;
  const void *const device[] = {injection->place, injection->first, injection->source, injection->weight,
                                s->signals};
  if (s->backend == NULL) return;
  for (size_t i = 0; i < sizeof device / sizeof *device; i++)
    s->backend->memory_free(s->context, MEMORY_DEVICE, (void *)device[i]);
  points_close(&s->points);
  wavelet_close(&s->wavelet);
  free(s->starts);
  s->backend->memory_free(s->context, MEMORY_STAGING, s->staged);
  *s = (wave_sources){.config = NULL};
}

/* The two numbers of each source for the step from t. */
static void find_signals(const wave_sources *s, double t, double scale, void *to) {
  double now = 0.0, corrected = 0.0;
  for (size_t i = 0; i < (size_t)s->points.count; i++) {
    const double delay = s->points.delay[i];
    if (i == 0 || delay != s->points.delay[i - 1]) {
      now = corrected = wavelet_at(&s->wavelet, t, delay);
      if (s->fourth)
        corrected += (wavelet_at(&s->wavelet, t + s->dt, delay) - 2.0 * now +
                      wavelet_at(&s->wavelet, t - s->dt, delay)) /
                     12.0;
    }
    kernels_put(s->precision, to, 2 * i, scale * corrected);
    kernels_put(s->precision, to, 2 * i + 1, scale * now);
  }
}

/* Adds the sources to a range of planes. */
static status inject(const wave_sources *s, const kernels_launch *launch, kernels_planes range,
                     const field *out) {
  kernels_wave call = {.task = WAVE_INJECT, .injection = s->injection, .out = out->data};
  if (range.z1 <= range.z0) return STATUS_OK;
  const int from = s->starts[range.z0];
  call.injection.points = s->starts[range.z1] - from;
  call.injection.place += from;
  call.injection.first += from;
  return call.injection.points > 0 ? s->backend->wave(launch, &call) : STATUS_OK;
}

status wave_sources_add(wave_sources *s, const kernels_launch *launch, double t, double scale,
                        const field *out) {
  const size_t bytes = signal_bytes(s), at = (size_t)(s->steps % WAVE_SIGNALS) * bytes;
  if (s->injection.points == 0) return STATUS_OK;
  if (s->steps == WAVE_SIGNALS) {
    CHECK(s->backend->queue_wait(s->context, QUEUE_MAIN));
    s->steps = 0;
  }
  s->steps++;
  find_signals(s, t, scale, s->staged + at);
  CHECK(s->backend->memory_copy(s->context, QUEUE_MAIN, s->signals + at, s->staged + at, bytes));
  s->injection.signal = s->signals + at;
  for (int i = 0; i < KERNELS_RANGES; i++) CHECK(inject(s, launch, launch->planes[i], out));
  return STATUS_OK;
}

uint64_t wave_sources_hash(const wave_sources *s, const grid *grid) {
  return grid->z0 == 0 ? s->points.hash + s->wavelet.hash : 0;
}

double wave_sources_largest(const wave_sources *s, const grid *grid) {
  double sum = 0.0, peak = 1.0;
  for (int64_t i = 0; i < s->points.count; i++) sum += fabs(s->points.amplitude[i]);
  for (int i = 0; i < s->wavelet.rows; i++) peak = fmax(peak, fabs(s->wavelet.table[2 * i + 1]));
  return sum * peak / fmin(grid->h[0], fmin(grid->h[1], grid->h[2]));
}

status wave_sources_check(const config *config, const grid *grid, double slowest) {
  const double widest = fmax(grid->h[0], fmax(grid->h[1], grid->h[2]));
  const double highest = 0.5 * slowest / widest;
  if (!config_sourced(config) || config->frequency <= highest || config->wavelet == CONFIG_WAVELET_FILE)
    return STATUS_OK;
  return config_refuse(
      config, "point_sources", "frequency",
      "its waves have %.3g points; accepted: at most %.6g, the highest frequency of the grid",
      slowest / config->frequency / widest, highest);
}
