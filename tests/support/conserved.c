#include "conserved.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DENSITY, VELOCITY, PRESSURE = 4, FIELDS };

int conserved_points(const conserved_box *box) {
  return box->n[0] * box->n[1] * box->n[2];
}

static double square(const double v[3]) {
  return v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
}

void conserved_from(const conserved_box *box, double *const s[5]) {
  for (int i = 0; i < conserved_points(box); i++) {
    const double v[3] = {s[1][i], s[2][i], s[3][i]};
    s[4][i] = s[4][i] / (box->gas.gamma - 1.0) + 0.5 * s[0][i] * square(v);
    for (int j = 1; j < 4; j++) s[j][i] *= s[0][i];
  }
}

void conserved_to(const conserved_box *box, double *const s[5]) {
  for (int i = 0; i < conserved_points(box); i++) {
    for (int j = 1; j < 4; j++) s[j][i] /= s[0][i];
    const double v[3] = {s[1][i], s[2][i], s[3][i]};
    s[4][i] = (box->gas.gamma - 1.0) * (s[4][i] - 0.5 * s[0][i] * square(v));
  }
}

/* Index of the point `by` further along d. */
static int beside(const conserved_box *box, int i, int d, int by) {
  const int *n = box->n;
  int at[3] = {i % n[0], i / n[0] % n[1], i / n[0] / n[1]};
  at[d] = ((at[d] + by) % n[d] + n[d]) % n[d];
  return at[0] + n[0] * (at[1] + n[1] * at[2]);
}

/* The two-point flux along d. */
static void flux(const conserved_box *box, int d, const double a[5], const double b[5], double f[5]) {
  const double g = 1.0 / (box->gas.gamma - 1.0);
  const double c = 0.25 * (a[0] + b[0]) * (a[1 + d] + b[1 + d]), p = 0.5 * (a[4] + b[4]);
  const double *u = a + 1, *v = b + 1;
  const double product = u[0] * v[0] + u[1] * v[1] + u[2] * v[2];
  const double push = 0.5 * (u[d] * b[4] + v[d] * a[4]), mean = 0.5 * (u[d] + v[d]);
  const double inner = 0.5 * g * (a[4] / a[0] + b[4] / b[0]);
  if (box->gas.form == FLOW_DIVERGENCE) {
    for (int k = 0; k < 5; k++) f[k] = 0.0;
    for (int side = 0; side < 2; side++) {
      const double *s = side ? b : a, m = s[0] * s[1 + d];
      f[0] += 0.5 * m;
      for (int j = 0; j < 3; j++) f[1 + j] += 0.5 * (m * s[1 + j] + (j == d ? s[4] : 0.0));
      f[4] += 0.5 * s[1 + d] * ((1.0 + g) * s[4] + 0.5 * s[0] * square(s + 1));
    }
    return;
  }
  f[0] = c;
  for (int j = 0; j < 3; j++) f[1 + j] = c * 0.5 * (u[j] + v[j]) + (j == d ? p : 0.0);
  f[4] = c * (inner + 0.25 * (square(u) + square(v))) + p * mean; /* FLOW_KENNEDY_GRUBER */
  if (box->gas.form == FLOW_KEEP_PE) f[4] = 0.5 * c * product + g * p * mean + push;
  if (box->gas.form == FLOW_KEEP) f[4] = 0.5 * c * product + c * inner + push;
}

static void values(double *const s[5], int i, double at[5]) {
  for (int k = 0; k < FIELDS; k++) at[k] = s[k][i];
}

static double viscosity(const flow_gas *gas, double ratio) {
  if (gas->law != FLOW_SUTHERLAND) return gas->law == FLOW_CONSTANT ? gas->viscosity : 0.0;
  const double t = ratio / gas->gas_constant, t0 = gas->viscosity_temperature, s = gas->sutherland;
  return gas->viscosity * pow(t / t0, 1.5) * (t0 + s) / (t + s);
}

/* The first difference of an array. */
static double slope(const conserved_box *box, const double *f, int i, int d) {
  double sum = 0.0;
  for (int l = 0; l < STENCIL_RADIUS; l++)
    sum += box->stencil->first[d][l] * (f[beside(box, i, d, 1 + l)] - f[beside(box, i, d, -1 - l)]);
  return sum;
}

/* sum of c_l (mu_i + mu_n)/2 (f_n - f_i): d_j (mu d_j f). */
static double spread(const conserved_box *box, const double *mu, const double *f, int i) {
  double sum = 0.0;
  for (int d = 0; d < 3; d++) {
    for (int l = -STENCIL_RADIUS; l <= STENCIL_RADIUS; l++) {
      const int n = beside(box, i, d, l);
      if (l != 0) sum += box->stencil->second[d][abs(l)] * 0.5 * (mu[i] + mu[n]) * (f[n] - f[i]);
    }
  }
  return sum;
}

/* Adds friction and conduction: compact, as flow_pairs.h says, with |u|^2/2 differenced itself. */
static void add_friction(const conserved_box *box, double *const s[5], double *const rate[5]) {
  const int points = conserved_points(box);
  const double kappa = box->gas.gamma / ((box->gas.gamma - 1.0) * box->gas.prandtl);
  double *mu = malloc((size_t)points * sizeof *mu), *theta = malloc((size_t)points * sizeof *mu);
  double *half = malloc((size_t)points * sizeof *mu), *ratio = malloc((size_t)points * sizeof *mu);
  for (int i = 0; i < points; i++) {
    const double v[3] = {s[1][i], s[2][i], s[3][i]};
    ratio[i] = s[4][i] / s[0][i];
    mu[i] = viscosity(&box->gas, ratio[i]);
    half[i] = 0.5 * square(v);
    theta[i] = slope(box, s[1], i, 0) + slope(box, s[2], i, 1) + slope(box, s[3], i, 2);
  }
  for (int i = 0; i < points; i++) {
    double g[3][3], turning = 0.0, work = 0.0, drag = 0.0;
    for (int k = 0; k < 9; k++) g[k / 3][k % 3] = slope(box, s[1 + k / 3], i, k % 3);
    for (int k = 0; k < 9; k++) turning += g[k / 3][k % 3] * g[k % 3][k / 3];
    for (int j = 0; j < 3; j++) {
      const double second = spread(box, mu, s[1 + j], i);
      double force = second + mu[i] / 3.0 * slope(box, theta, i, j);
      for (int k = 0; k < 3; k++) force += slope(box, mu, i, k) * g[k][j];
      force -= 2.0 / 3.0 * theta[i] * slope(box, mu, i, j);
      rate[1 + j][i] += force;
      work += s[1 + j][i] * force;
      drag += s[1 + j][i] * second;
    }
    rate[4][i] += work + spread(box, mu, half, i) - drag +
                  mu[i] * (turning - 2.0 / 3.0 * theta[i] * theta[i]) + kappa * spread(box, mu, ratio, i);
  }
  free(mu);
  free(theta);
  free(half);
  free(ratio);
}

static double binomial(int n, int k) {
  return k == 0 ? 1.0 : binomial(n - 1, k - 1) * (double)n / (double)k;
}

/* s delta^m q between the points i - ceil(m/2) .. i + floor(m/2), with the mean of the speeds of the two
 * middle points, or the speed of the one. */
static double damping_flux(const conserved_box *box, const double *q, const double *speed, int m, int i,
                           int d) {
  const int low = -((m + 1) / 2);
  double difference = 0.0;
  for (int k = 0; k <= m; k++)
    difference += ((m - k) % 2 == 0 ? 1.0 : -1.0) * binomial(m, k) * q[beside(box, i, d, low + k)];
  return difference * (m % 2 == 0 ? speed[i] : 0.5 * (speed[i] + speed[beside(box, i, d, -1)]));
}

/* Adds the dissipation: for each axis -1/(m binomial(2m, m) h) times the transpose of delta^m, times the
 * speed, times delta^m. */
static void add_damping(const conserved_box *box, double *const s[5], double *const rate[5]) {
  const int points = conserved_points(box), m = box->stencil->order / 2, low = -((m + 1) / 2);
  double *q[5], *speed = malloc((size_t)points * sizeof *speed);
  for (int k = 0; k < FIELDS; k++) {
    q[k] = malloc((size_t)points * sizeof *q[k]);
    memcpy(q[k], s[k], (size_t)points * sizeof *q[k]);
  }
  conserved_from(box, q);
  for (int d = 0; d < 3; d++) {
    const double scale = -box->gas.dissipation / (m * binomial(2 * m, m) * box->stencil->spacing[d]);
    for (int i = 0; i < points; i++) speed[i] = fabs(s[1 + d][i]) + sqrt(box->gas.gamma * s[4][i] / s[0][i]);
    for (int k = 0; k < FIELDS; k++) {
      for (int i = 0; i < points; i++) {
        double sum = 0.0;
        for (int t = 0; t <= m; t++) /* this point is number t of the flux at i - low - t */
          sum += ((m - t) % 2 == 0 ? 1.0 : -1.0) * binomial(m, t) *
                 damping_flux(box, q[k], speed, m, beside(box, i, d, -low - t), d);
        rate[k][i] += scale * sum;
      }
    }
  }
  for (int k = 0; k < FIELDS; k++) free(q[k]);
  free(speed);
}

void conserved_rate(const conserved_box *box, double *const state[5], double *const rate[5]) {
  for (int i = 0; i < conserved_points(box); i++) {
    double own[5], other[5], f[5];
    values(state, i, own);
    for (int k = 0; k < FIELDS; k++) rate[k][i] = 0.0;
    for (int d = 0; d < 3; d++) {
      for (int l = -STENCIL_RADIUS; l <= STENCIL_RADIUS; l++) {
        if (l == 0) continue;
        values(state, beside(box, i, d, l), other);
        flux(box, d, own, other, f);
        const double weight = (l > 0 ? -2.0 : 2.0) * box->stencil->first[d][abs(l) - 1];
        for (int k = 0; k < FIELDS; k++) rate[k][i] += weight * f[k];
      }
    }
  }
  if (box->gas.law != FLOW_INVISCID) add_friction(box, state, rate);
  if (box->gas.dissipation > 0.0) add_damping(box, state, rate);
}
