#include "equations/trial.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>

#include "problems/problem.h"
#include "settings/scheme.h"

/* POINTS: along an axis of the box, if the run has as many; two closures of order 8 fill 16. VECTORS: with
 * 60, and a margin of 0.985, 4 of 100 boxes beside periodic axes of up to 31 points had limits up to 0.8 %
 * too large; with 90, 2 of 65, up to 1 %. MARGIN is for that, and for phases that the box does not have. */
enum { POINTS = 16, VECTORS = 90 };
static const double margin = 0.975;

typedef double complex hessenberg[VECTORS][VECTORS];

typedef struct trial {
  config config;
  grid grid;
  const equation *equation;
  const kernels *backend;
  kernels_context *context;
  field_space space;
  void *terms;
  state f, zero, rate;
  size_t count;   /* values: points times unknowns */
  double *weight; /* roots of their weights in the energy */
  double *vector; /* VECTORS + 1 of them */
} trial;

static size_t points_of(const grid *grid) {
  return (size_t)(grid->n[0] * grid->n[1] * grid->n[2]);
}

static status open_box(const config *problem, const grid *grid, trial *t) {
  const kernels_setup setup = {.threads = 1};
  t->config = *problem;
  t->config.precision = PRECISION_DOUBLE;
  t->config.source_points[0] = t->config.source_file[0] = '\0'; /* they lie outside of the trial's box */
  for (int d = 0; d < 3; d++) {
    const int64_t most = POINTS + (grid->bounded[d] ? 1 : 0);
    t->config.n[d] = grid->n[d] < most ? grid->n[d] : most;
    t->config.l[d] = grid->h[d] * (double)(t->config.n[d] - (grid->bounded[d] ? 1 : 0));
  }
  CHECK(problem_grid(&t->config, 1, 0, &t->grid));
  t->backend = kernels_find("cpu");
  CHECK(t->backend->context_create(&setup, &t->context));
  CHECK(field_space_open(t->backend, t->context, grid_shape(&t->grid, PRECISION_DOUBLE, 1), &t->space));
  CHECK(t->equation->create(&t->config, &t->grid, &t->space, &t->terms));
  state *const states[] = {&t->f, &t->zero, &t->rate};
  for (int i = 0; i < 3; i++)
    CHECK(state_create(&t->space, t->equation->unknowns, t->equation->names, states[i]));
  return STATUS_OK;
}

/* In the energy's inner product no right-hand side with stable ends has growing modes, and neither have the
 * projections below. */
static status weigh(trial *t) {
  double of[STATE_FIELDS];
  const size_t points = points_of(&t->grid);
  t->count = points * (size_t)t->equation->unknowns;
  t->weight = malloc(t->count * sizeof *t->weight);
  t->vector = malloc((VECTORS + 1) * t->count * sizeof *t->vector);
  if (t->weight == NULL || t->vector == NULL) return status_fail(STATUS_MEMORY, "no memory for a trial");
  for (int f = 0; f < STATE_FIELDS; f++) of[f] = 1.0;
  if (t->equation->energy != NULL) t->equation->energy(t->terms, of);
  for (size_t i = 0; i < t->count; i++) {
    const int64_t *n = t->grid.n, p = (int64_t)(i % points);
    t->weight[i] =
        sqrt(of[i / points] * grid_weight(&t->grid, 0, p % n[0]) * grid_weight(&t->grid, 1, p / n[0] % n[1]) *
             grid_weight(&t->grid, 2, p / n[0] / n[1]));
  }
  return STATUS_OK;
}

static void close_box(trial *t) {
  free(t->weight);
  free(t->vector);
  state_destroy(&t->f);
  state_destroy(&t->zero);
  state_destroy(&t->rate);
  t->equation->destroy(t->terms);
  if (t->space.backend != NULL) field_space_close(&t->space);
  if (t->context != NULL) t->backend->context_destroy(t->context);
}

/* to = W L W^-1 from, with W the weights. `from` is overwritten. */
static status apply(trial *t, double *from, double *to) {
  const size_t points = points_of(&t->grid);
  for (size_t i = 0; i < t->count; i++) from[i] /= t->weight[i];
  for (int f = 0; f < t->f.count; f++)
    CHECK(field_store(&t->f.part[f], 0, t->grid.nz, from + (size_t)f * points));
  const stage stage = {
      .planes = {{0, t->grid.nz}}, .out = &t->rate, .f = &t->f, .base = &t->zero, .weight = 1.0};
  CHECK(t->equation->stage(t->terms, &stage));
  CHECK(t->backend->queue_wait(t->context, QUEUE_MAIN));
  for (int f = 0; f < t->f.count; f++)
    CHECK(field_load(&t->rate.part[f], 0, t->grid.nz, to + (size_t)f * points));
  for (size_t i = 0; i < t->count; i++) to[i] *= t->weight[i];
  return STATUS_OK;
}

static double product(const double *a, const double *b, size_t count) {
  double sum = 0.0;
  for (size_t i = 0; i < count; i++) sum += a[i] * b[i];
  return sum;
}

/* Numbers in (-1, 1), which hold all modes. */
static void make_noise(double *vector, size_t count) {
  uint64_t seed = 88172645463325252U;
  for (size_t i = 0; i < count; i++) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    vector[i] = 2.0 * (double)(seed >> 11) / 9007199254740992.0 - 1.0;
  }
}

static double scale_to_one(double *vector, size_t count) {
  const double length = sqrt(product(vector, vector, count));
  for (size_t i = 0; i < count && length > 0.0; i++) vector[i] /= length;
  return length;
}

/* The right-hand side in the space of the vectors v, L v, L^2 v, ... of noise v, whose eigenvalues are close
 * to the outermost of all. [out] size: of h; less than VECTORS if the space is smaller. */
static status project(trial *t, hessenberg h, int *size) {
  double *first = t->vector, *scratch = malloc(t->count * sizeof *scratch);
  status result = scratch != NULL ? STATUS_OK : status_fail(STATUS_MEMORY, "no memory for a trial");
  double largest = 0.0;
  make_noise(first, t->count);
  scale_to_one(first, t->count);
  for (*size = 0; *size < VECTORS && result == STATUS_OK;) {
    const double *last = first + (size_t)*size * t->count;
    double *next = first + (size_t)(*size + 1) * t->count;
    for (size_t i = 0; i < t->count; i++) scratch[i] = last[i];
    result = apply(t, scratch, next);
    for (int k = 0; k <= *size && result == STATUS_OK; k++) {
      const double *other = first + (size_t)k * t->count;
      const double share = product(other, next, t->count);
      for (size_t i = 0; i < t->count; i++) next[i] -= share * other[i];
      h[k][*size] = share;
      largest = fmax(largest, fabs(share));
    }
    const double rest = scale_to_one(next, t->count);
    if (++*size < VECTORS) h[*size][*size - 1] = rest;
    if (rest <= 1e-10 * largest) break;
  }
  free(scratch);
  return result;
}

/* C libraries round cabs and csqrt differently (problems/rounded.h). */
static double magnitude(double complex z) {
  return sqrt(creal(z) * creal(z) + cimag(z) * cimag(z));
}

static double complex root(double complex z) {
  const double size = magnitude(z), real = sqrt(0.5 * fmax(size + creal(z), 0.0)),
               imaginary = sqrt(0.5 * fmax(size - creal(z), 0.0));
  return real + I * (cimag(z) < 0.0 ? -imaginary : imaginary);
}

/* The eigenvalue of the last two rows' block that is nearer to its last entry (J. H. Wilkinson). */
static double complex shift_of(hessenberg h, int last) {
  const double complex a = h[last - 1][last - 1], d = h[last][last], half = 0.5 * (a - d),
                       offset = root(half * half + h[last - 1][last] * h[last][last - 1]);
  const double complex plus = half + offset, minus = half - offset;
  return d + (magnitude(plus) < magnitude(minus) ? plus : minus);
}

/* Rows first .. last of h - shift = Q R become those of R Q + shift. */
static void rotate(hessenberg h, int first, int last, double complex shift) {
  double cosine[VECTORS];
  double complex sine[VECTORS];
  for (int i = first; i <= last; i++) h[i][i] -= shift;
  for (int i = first; i < last; i++) {
    const double complex a = h[i][i], b = h[i + 1][i];
    const double length = sqrt(magnitude(a) * magnitude(a) + magnitude(b) * magnitude(b));
    const double complex phase = magnitude(a) > 0.0 ? a / magnitude(a) : 1.0;
    cosine[i] = length > 0.0 ? magnitude(a) / length : 1.0;
    sine[i] = length > 0.0 ? phase * conj(b) / length : 0.0;
    for (int k = i; k <= last; k++) {
      const double complex upper = h[i][k], lower = h[i + 1][k];
      h[i][k] = cosine[i] * upper + sine[i] * lower;
      h[i + 1][k] = cosine[i] * lower - conj(sine[i]) * upper;
    }
  }
  for (int i = first; i < last; i++) {
    for (int k = first; k <= i + 1; k++) {
      const double complex left = h[k][i], right = h[k][i + 1];
      h[k][i] = cosine[i] * left + conj(sine[i]) * right;
      h[k][i + 1] = cosine[i] * right - sine[i] * left;
    }
  }
  for (int i = first; i <= last; i++) h[i][i] += shift;
}

/* Leaves the eigenvalues on the diagonal (J. G. F. Francis, V. N. Kublanovskaya). */
static void diagonalise(hessenberg h, int size) {
  enum { MOST = 40, UNUSUAL = 10 };
  int last = size - 1, tries = 0;
  while (last > 0) {
    int first = last;
    while (first > 0 && magnitude(h[first][first - 1]) >
                            1e-14 * (magnitude(h[first][first]) + magnitude(h[first - 1][first - 1])))
      first--;
    if (first == last || tries == MOST) {
      last--;
      tries = 0;
      continue;
    }
    const int stuck = ++tries % UNUSUAL == 0;
    rotate(h, first, last, stuck ? h[last][last] + magnitude(h[last][last - 1]) : shift_of(h, last));
  }
}

status trial_step(const equation *equation, const config *problem, const grid *grid, double *step) {
  trial *t = calloc(1, sizeof *t);
  double complex(*h)[VECTORS] = calloc(VECTORS, sizeof *h);
  int size = 0;
  double largest = 0.0;
  status result = t != NULL && h != NULL ? STATUS_OK : status_fail(STATUS_MEMORY, "no memory for a trial");
  *step = INFINITY;
  if (t != NULL) t->equation = equation;
  if (result == STATUS_OK) result = open_box(problem, grid, t);
  if (result == STATUS_OK) result = weigh(t);
  if (result == STATUS_OK) result = project(t, h, &size);
  if (t != NULL) close_box(t);
  if (result == STATUS_OK) diagonalise(h, size);
  for (int i = 0; i < size; i++) largest = fmax(largest, magnitude(h[i][i]));
  for (int i = 0; i < size && result == STATUS_OK; i++) {
    if (magnitude(h[i][i]) <= 1e-6 * largest) continue;
    const double decay = fmax(-creal(h[i][i]), 0.0);
    *step = fmin(*step, margin * scheme_mode_limit(schemes_at(problem->scheme), decay, cimag(h[i][i])));
  }
  free(h);
  free(t);
  return result;
}
