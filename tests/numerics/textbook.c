#include "textbook.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "settings/scheme.h"
#include "tableau.h"

static const double pi = 3.14159265358979323846;

static int is(const config *c, const char *velocity) {
  return strcmp(velocities_at(c->velocity)->name, velocity) == 0;
}

/* The velocity at g = 1: a vector, solid rotation, LeVeque's deformation, Arnold-Beltrami-Childress flow,
 * Taylor-Green vortex. */
static double velocity_at(const config *c, int d, const double x[3]) {
  const double X = x[0] / c->l[0], Y = x[1] / c->l[1], Z = x[2] / c->l[2];
  const double a = 2.0 * pi * X, b = 2.0 * pi * Y, e = 2.0 * pi * Z;
  if (is(c, "uniform")) return c->uniform[d];
  if (is(c, "rotation")) {
    if (d == 0) return 2.0 * pi / c->period * (0.5 * c->l[1] - x[1]);
    return d == 1 ? 2.0 * pi / c->period * (x[0] - 0.5 * c->l[0]) : 0.0;
  }
  if (is(c, "deformation")) {
    if (d == 0) return c->l[0] * 2.0 * pow(sin(pi * X), 2) * sin(b) * sin(e);
    if (d == 1) return -c->l[1] * sin(a) * pow(sin(pi * Y), 2) * sin(e);
    return -c->l[2] * sin(a) * sin(b) * pow(sin(pi * Z), 2);
  }
  if (is(c, "abc")) {
    if (d == 0) return c->abc[0] * sin(e) + c->abc[2] * cos(b);
    if (d == 1) return c->abc[1] * sin(a) + c->abc[0] * cos(e);
    return c->abc[2] * sin(b) + c->abc[1] * cos(a);
  }
  if (is(c, "taylor_green")) {
    const double height = c->abc[0] * cos(e);
    if (d == 0) return height * sin(a) * cos(b);
    return d == 1 ? -height * c->l[1] / c->l[0] * cos(a) * sin(b) : 0.0;
  }
  fail_msg("%s has no formula in textbook.c", velocities_at(c->velocity)->name);
  return NAN;
}

static double factor(const config *c, double t) {
  return is(c, "deformation") ? cos(pi * t / c->period) : 1.0;
}

static void position(const config *c, int64_t i, double x[3]) {
  x[0] = c->l[0] * (double)(i % c->n[0]) / (double)c->n[0];
  x[1] = c->l[1] * (double)(i / c->n[0] % c->n[1]) / (double)c->n[1];
  x[2] = c->l[2] * (double)(i / c->n[0] / c->n[1]) / (double)c->n[2];
}

textbook textbook_open(const config *config) {
  textbook book = {.config = config, .points = config->n[0] * config->n[1] * config->n[2]};
  for (int d = 0; d < 3; d++) {
    book.velocity[d] = calloc((size_t)book.points, sizeof(double));
    for (int64_t i = 0; i < book.points; i++) {
      double x[3];
      position(config, i, x);
      book.velocity[d][i] = velocity_at(config, d, x);
    }
  }
  return book;
}

void textbook_close(textbook *book) {
  for (int d = 0; d < 3; d++) free(book->velocity[d]);
}

/* Index of the point k steps along axis d from point i, around the period. */
static int64_t shifted(const config *c, int64_t i, int d, int k) {
  const int64_t stride = d == 0 ? 1 : (d == 1 ? c->n[0] : c->n[0] * c->n[1]);
  const int64_t place = i / stride % c->n[d];
  return i + ((place + k + c->n[d]) % c->n[d] - place) * stride;
}

/* Central first difference along d of f, or of u f. */
static double first(const config *c, const double *f, const double *u, int64_t i, int d) {
  static const double weights[4][4] = {{1.0 / 2, 0, 0, 0},
                                       {2.0 / 3, -1.0 / 12, 0, 0},
                                       {3.0 / 4, -3.0 / 20, 1.0 / 60, 0},
                                       {4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280}};
  double sum = 0.0;
  for (int k = 1; k <= c->order / 2; k++) {
    const int64_t up = shifted(c, i, d, k), down = shifted(c, i, d, -k);
    const double above = u != NULL ? u[up] * f[up] : f[up];
    const double below = u != NULL ? u[down] * f[down] : f[down];
    sum += weights[c->order / 2 - 1][k - 1] * (above - below);
  }
  return sum * (double)c->n[d] / c->l[d];
}

/* Upwind-biased first difference of order 1, 3, 5 or 7 of a flow in the direction `sign`: weights of f
 * upstream (4, 3, 2, 1 points), here, and downstream (1, 2, 3). */
static double biased(const config *c, const double *f, int64_t i, int d, int sign) {
  static const double weights[4][8] = {
      {0, 0, 0, -1, 1, 0, 0, 0},
      {0, 0, 1.0 / 6, -1, 1.0 / 2, 1.0 / 3, 0, 0},
      {0, -1.0 / 30, 1.0 / 4, -1, 1.0 / 3, 1.0 / 2, -1.0 / 20, 0},
      {1.0 / 140, -1.0 / 15, 3.0 / 10, -1, 1.0 / 4, 3.0 / 5, -1.0 / 10, 1.0 / 105}};
  double sum = 0.0;
  for (int k = -4; k <= 3; k++) sum += weights[c->order / 2 - 1][k + 4] * f[shifted(c, i, d, sign * k)];
  return sign * sum * (double)c->n[d] / c->l[d];
}

/* The m-th difference of f, m = order/2, whose first point is i: the binomial coefficients with signs. */
static double lopsided(const config *c, const double *f, int64_t i, int d) {
  static const int pascal[4][5] = {{-1, 1}, {1, -2, 1}, {-1, 3, -3, 1}, {1, -4, 6, -4, 1}};
  double sum = 0.0;
  for (int j = 0; j <= c->order / 2; j++) sum += pascal[c->order / 2 - 1][j] * f[shifted(c, i, d, j)];
  return sum;
}

/* The dissipation of upwind differences that keeps the mass: minus the transposed difference of |u| times the
 * difference. |u| is that in the middle of a difference's points, or the mean of the two there. */
static double conserving(const config *c, const double *f, const double *u, int64_t i, int d) {
  static const int pascal[4][5] = {{-1, 1}, {1, -2, 1}, {-1, 3, -3, 1}, {1, -4, 6, -4, 1}};
  const int m = c->order / 2;
  double sum = 0.0;
  for (int j = 0; j <= m; j++) {
    const int64_t start = shifted(c, i, d, -j);
    const double before = fabs(u[shifted(c, start, d, m / 2)]),
                 after = fabs(u[shifted(c, start, d, (m + 1) / 2)]);
    sum += pascal[m - 1][j] * 0.5 * (before + after) * lopsided(c, f, start, d);
  }
  return -sum * (double)c->n[d] / c->l[d] / (const double[]){2, 12, 60, 280}[m - 1];
}

static double second(const config *c, const double *f, int64_t i, int d) {
  static const double weights[4][5] = {{-2, 1, 0, 0, 0},
                                       {-5.0 / 2, 4.0 / 3, -1.0 / 12, 0, 0},
                                       {-49.0 / 18, 3.0 / 2, -3.0 / 20, 1.0 / 90, 0},
                                       {-205.0 / 72, 8.0 / 5, -1.0 / 5, 8.0 / 315, -1.0 / 560}};
  const double *w = weights[c->order / 2 - 1];
  double sum = w[0] * f[i];
  for (int k = 1; k <= c->order / 2; k++) {
    sum += w[k] * (f[shifted(c, i, d, k)] + f[shifted(c, i, d, -k)]);
  }
  return sum * pow((double)c->n[d] / c->l[d], 2);
}

double textbook_manufactured(const config *c, double t, const double x[3]) {
  double product = c->amplitude * cos(2.0 * pi * t / c->period);
  for (int d = 0; d < 3; d++) product *= cos(2.0 * pi * c->wave_number[d] * x[d] / c->l[d]);
  return c->background + product;
}

/* What keeps the manufactured solution going: its d/dt + c . grad - kappa Laplacian. */
static double source_at(const textbook *book, double t, int64_t i) {
  const config *c = book->config;
  const double w = 2.0 * pi / c->period;
  double x[3], k[3], slope = 0.0, squared = 0.0, shape = c->amplitude;
  position(c, i, x);
  for (int d = 0; d < 3; d++) {
    k[d] = 2.0 * pi * c->wave_number[d] / c->l[d];
    shape *= cos(k[d] * x[d]);
    squared += k[d] * k[d];
  }
  for (int d = 0; d < 3; d++) {
    double other = -k[d] * sin(k[d] * x[d]) * c->amplitude;
    for (int e = 0; e < 3; e++) other *= e == d ? 1.0 : cos(k[e] * x[e]);
    slope += factor(c, t) * book->velocity[d][i] * other;
  }
  return -w * sin(w * t) * shape + cos(w * t) * (slope + c->diffusivity * squared * shape);
}

void textbook_slope(const textbook *book, double t, const double *phi, double *out) {
  const config *c = book->config;
  for (int64_t i = 0; i < book->points; i++) {
    double advective = 0.0, conservative = 0.0, laplacian = 0.0;
    for (int d = 0; d < 3; d++) {
      advective += book->velocity[d][i] * first(c, phi, NULL, i, d);
      conservative += first(c, phi, book->velocity[d], i, d);
      laplacian += second(c, phi, i, d);
    }
    double transport = 0.5 * (advective + conservative);
    if (c->form == FORM_ADVECTIVE) transport = advective;
    if (c->form == FORM_CONSERVATIVE) transport = conservative;
    out[i] = -factor(c, t) * transport + c->diffusivity * laplacian;
    const int upwind = c->difference == CONFIG_DIFFERENCE_UPWIND;
    for (int d = 0; d < 3 && upwind && c->form == FORM_CONSERVATIVE; d++)
      out[i] += fabs(factor(c, t)) * conserving(c, phi, book->velocity[d], i, d);
    for (int d = 0; d < 3 && upwind && c->form != FORM_CONSERVATIVE; d++) {
      const double carried = factor(c, t) * book->velocity[d][i];
      out[i] -= carried * (biased(c, phi, i, d, carried < 0.0 ? -1 : 1) - first(c, phi, NULL, i, d));
    }
    if (c->initial == cases_find("manufactured")) out[i] += source_at(book, t, i);
  }
}

static void step_butcher(const textbook *book, const tableau *table, double t, double dt, double *phi) {
  double *k[TABLEAU_STAGES + 1]; /* the slopes, and the state that they are taken at */
  double *const at = k[table->stages] = calloc((size_t)book->points, sizeof *at);
  for (int s = 0; s < table->stages; s++) {
    double c = 0.0;
    k[s] = calloc((size_t)book->points, sizeof *k[s]);
    memcpy(at, phi, (size_t)book->points * sizeof *at);
    for (int j = 0; j < s; j++) {
      c += table->a[s][j];
      for (int64_t i = 0; i < book->points; i++) at[i] += dt * table->a[s][j] * k[j][i];
    }
    textbook_slope(book, t + c * dt, at, k[s]);
  }
  for (int s = 0; s < table->stages; s++) {
    for (int64_t i = 0; i < book->points; i++) phi[i] += dt * table->b[s] * k[s][i];
  }
  for (int s = 0; s <= table->stages; s++) free(k[s]);
}

static void step_2n(const textbook *book, const tableau *table, double t, double dt, double *phi) {
  double *K = calloc((size_t)book->points, sizeof *K);
  double *slope = calloc((size_t)book->points, sizeof *slope);
  for (int s = 0; s < table->stages; s++) {
    textbook_slope(book, t + table->c[s] * dt, phi, slope);
    for (int64_t i = 0; i < book->points; i++) {
      K[i] = table->A[s] * K[i] + dt * slope[i];
      phi[i] += table->B[s] * K[i];
    }
  }
  free(K);
  free(slope);
}

void textbook_step(const textbook *book, double t, double dt, double *phi) {
  const tableau *table = tableau_of(schemes_at(book->config->scheme)->name);
  if (table->B[0] != 0.0) {
    step_2n(book, table, t, dt, phi);
  } else {
    step_butcher(book, table, t, dt, phi);
  }
}
