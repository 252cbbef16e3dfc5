#include "reference_real.h"

#include <math.h>

/* Points of the reference in one precision: REFERENCE_REAL is float or double. */

typedef REFERENCE_REAL real;

#define CONCAT(a, b) a##b
#define EXPAND(a, b) CONCAT(a, b)

static real fused(real a, real b, real c) {
  return sizeof(real) == sizeof(float) ? (real)fmaf((float)a, (float)b, (float)c) : (real)fma(a, b, c);
}

static size_t place(const kernels_shape *shape, int x, int y, int z) {
  x += x < 0 ? shape->nx : x >= shape->nx ? -shape->nx : 0;
  y += y < 0 ? shape->ny : y >= shape->ny ? -shape->ny : 0;
  return (size_t)(z + KERNELS_HALO) * (size_t)shape->plane + (size_t)y * (size_t)shape->ldx + (size_t)x;
}

static real get(const kernels_launch *launch, const void *f, const int at[3]) {
  return ((const real *)f)[place(&launch->shape, at[0], at[1], at[2])];
}

/* The value k points further along `direction`. */
static real moved(const kernels_launch *launch, const void *f, const int at[3], int direction, int k) {
  int to[3] = {at[0], at[1], at[2]};
  to[direction] += k;
  return get(launch, f, to);
}

static real formula(const kernels_shape *shape, const kernels_tables *tables, int d, const int at[3]) {
  const real *x = (const real *)tables->x + d * (shape->ldx + 64);
  const real *y = (const real *)tables->y + at[1] * 8;
  const real *z = (const real *)tables->z + at[2] * 8;
  const real product = y[d] * z[d];
  const real sum = y[3 + d] + z[3 + d];
  return fused(x[at[0]], product, sum);
}

static real velocity(const kernels_launch *launch, const advection_stage *stage, int d, const int at[3]) {
  if (stage->velocity[d] != NULL) return get(launch, stage->velocity[d], at);
  if (stage->tables.x != NULL) return formula(&launch->shape, &stage->tables, d, at);
  return (real)stage->uniform[d];
}

/* The value of f k points further along `direction`; with a stage, of its flux. */
static real moved_flux(const kernels_launch *launch, const advection_stage *stage, const void *f,
                       const int at[3], int direction, int k) {
  const real value = moved(launch, f, at, direction, k);
  if (stage == NULL) return value;
  int to[3] = {at[0], at[1], at[2]};
  to[direction] += k;
  const real flux = velocity(launch, stage, direction, to) * value;
  return flux;
}

/* d = c4 (f+4 - f-4), then fma from the third pair to the first. */
static real first(const kernels_launch *launch, const advection_stage *stage, const void *f, const int at[3],
                  int direction) {
  real d = 0;
  for (int k = 4; k >= 1; k--) {
    const real c = (real)launch->stencil->first[direction][k - 1];
    const real difference =
        moved_flux(launch, stage, f, at, direction, k) - moved_flux(launch, stage, f, at, direction, -k);
    d = k == 4 ? c * difference : fused(c, difference, d);
  }
  return d;
}

/* D f: c4 (f+4 + f-4 - 2 f), then fma from the third pair to the first. */
static real even(const kernels_launch *launch, const void *f, const int at[3], int direction) {
  const real twice = get(launch, f, at) + get(launch, f, at);
  real e = 0;
  for (int k = 4; k >= 1; k--) {
    const real c = (real)launch->stencil->dissipation[direction][k - 1];
    const real pair = moved(launch, f, at, direction, k) + moved(launch, f, at, direction, -k);
    e = k == 4 ? c * (pair - twice) : fused(c, pair - twice, e);
  }
  return e;
}

/* The pairs of a second derivative along one axis, added to s. */
static real pairs(const kernels_launch *launch, const void *f, const int at[3], int direction, real s) {
  for (int k = 4; k >= 1; k--) {
    const real c = (real)launch->stencil->second[direction][k];
    s = fused(c, moved(launch, f, at, direction, k) + moved(launch, f, at, direction, -k), s);
  }
  return s;
}

static real second(const kernels_launch *launch, const void *f, const int at[3]) {
  real s = 0;
  for (int direction = 0; direction < 3; direction++) s = pairs(launch, f, at, direction, s);
  const stencil *coefficients = launch->stencil;
  const double centre = coefficients->second[0][0] + coefficients->second[1][0] + coefficients->second[2][0];
  return fused((real)centre, get(launch, f, at), s);
}

static real advection(const kernels_launch *launch, const advection_stage *stage, const int at[3]) {
  const int uniform = stage->velocity[0] == NULL && stage->tables.x == NULL;
  real u[3];
  for (int d = 0; d < 3; d++) u[d] = velocity(launch, stage, d, at);
  real along = u[0] * first(launch, NULL, stage->f, at, 0);
  along = fused(u[1], first(launch, NULL, stage->f, at, 1), along);
  along = fused(u[2], first(launch, NULL, stage->f, at, 2), along);
  if (uniform || stage->form == FORM_ADVECTIVE) return along;
  real flux = first(launch, stage, stage->f, at, 0);
  flux = flux + first(launch, stage, stage->f, at, 1);
  flux = flux + first(launch, stage, stage->f, at, 2);
  if (stage->form == FORM_CONSERVATIVE) return flux;
  const real both = along + flux;
  return (real)0.5 * both;
}

static real dissipation(const kernels_launch *launch, const advection_stage *stage, const int at[3]) {
  real sum = 0;
  for (int d = 0; d < 3; d++) {
    const real component = velocity(launch, stage, d, at), size = component < 0 ? -component : component;
    const real e = even(launch, stage->f, at, d);
    sum = d == 0 ? size * e : fused(size, e, sum);
  }
  return sum;
}

/* Conserving dissipation along one axis: fluxes at the points for m = order/2 = 4 and 2, at the middles of
 * neighbours for 3 and 1. A flux is the speed there times the m-th difference of f: the sum of (-1)^(m - j)
 * binomial(m, j) f(j). A point gets them back with the same signs. The order: the first and the last point
 * of a difference, then the second and the last but one; each less the value at the flux's point, which for
 * odd m is the one after it. */
static real flux_at(const kernels_launch *launch, const advection_stage *stage, const int at[3], int d) {
  static const int difference[5][5] = {
      {0}, {0, -1, 1, 0, 0}, {0, 1, -2, 1, 0}, {-1, 3, -3, 1, 0}, {1, -4, 6, -4, 1}};
  static const int order[4] = {0, 4, 1, 3};
  const int m = launch->stencil->order / 2;
  const real centre = get(launch, stage->f, at);
  int before[3] = {at[0], at[1], at[2]};
  before[d]--;
  real sum = 0;
  for (int i = 0; i < 4; i++) {
    const real tap = (real)difference[m][order[i]];
    const real value = moved(launch, stage->f, at, d, order[i] - 2) - centre;
    sum = i == 0 ? tap * value : fused(tap, value, sum);
  }
  const real here = velocity(launch, stage, d, at), there = velocity(launch, stage, d, before);
  const real speed = m % 2 == 0 ? (real)fabs(here) : (real)fabs(here) / 2;
  return fused(m % 2 == 0 ? 0 : (real)0.5, (real)fabs(there), speed) * sum;
}

static real damping(const kernels_launch *launch, const advection_stage *stage, const int at[3], int d) {
  static const int difference[5][5] = {
      {0}, {0, -1, 1, 0, 0}, {0, 1, -2, 1, 0}, {-1, 3, -3, 1, 0}, {1, -4, 6, -4, 1}};
  static const int order[5] = {-2, 2, -1, 1, 0};
  static const double share[5] = {0, 2, 12, 60, 280};
  const int m = launch->stencil->order / 2;
  real sum = 0;
  for (int i = 0; i < 5; i++) {
    int to[3] = {at[0], at[1], at[2]};
    to[d] += order[i];
    const real tap = (real)difference[m][2 - order[i]], flux = flux_at(launch, stage, to, d);
    sum = i == 0 ? tap * flux : fused(tap, flux, sum);
  }
  return (real)(-1 / share[m] / launch->stencil->spacing[d]) * sum;
}

static real damped(const kernels_launch *launch, const advection_stage *stage, const int at[3]) {
  const real xy = damping(launch, stage, at, 0) + damping(launch, stage, at, 1);
  return xy + damping(launch, stage, at, 2);
}

static real combined(const kernels_launch *launch, const advection_stage *stage, const int at[3]) {
  const real f = get(launch, stage->f, at);
  const real base = stage->base != NULL ? get(launch, stage->base, at) : f;
  const int varies = stage->velocity[0] != NULL || stage->tables.x != NULL;
  const int conserves = varies && stage->form == FORM_CONSERVATIVE;
  real sum = base;
  if (stage->base != NULL) sum = fused((real)stage->weight_f, f - base, sum);
  for (int i = 0; i < 2 && stage->extra[i] != NULL; i++) {
    sum = fused((real)stage->weight_extra[i], get(launch, stage->extra[i], at) - base, sum);
  }
  sum = fused((real)stage->advection, advection(launch, stage, at), sum);
  if ((real)stage->dissipation != 0)
    sum = fused((real)stage->dissipation,
                conserves ? damped(launch, stage, at) : dissipation(launch, stage, at), sum);
  if ((real)stage->diffusion != 0) sum = fused((real)stage->diffusion, second(launch, stage->f, at), sum);
  return sum;
}

/* One point of each operation of operations.h. */

static real derivative_point(const kernels_launch *launch, const kernels_call *call, int output, int part,
                             const int at[3]) {
  (void)part;
  const int direction = (int)call->options & 3;
  const void *f = call->in[0];
  if (output == 0) return first(launch, NULL, f, at, direction);
  if (output == 2) return even(launch, f, at, direction);
  const real centre = (real)launch->stencil->second[direction][0];
  return fused(centre, get(launch, f, at), pairs(launch, f, at, direction, 0));
}

/* A part of sound; in a medium it is multiplied by input 4. */
static real in_medium(const kernels_launch *launch, const kernels_call *call, real part, const int at[3]) {
  return call->options & OPTION_MEDIUM ? get(launch, call->in[4], at) * part : part;
}

static real gradient_point(const kernels_launch *launch, const kernels_call *call, int output, int part,
                           const int at[3]) {
  const real slope = part == 1 ? even(launch, call->in[1 + output], at, output)
                               : first(launch, NULL, call->in[0], at, output);
  return in_medium(launch, call, slope, at);
}

static real gradient_magnitude_point(const kernels_launch *launch, const kernels_call *call, int output,
                                     int part, const int at[3]) {
  (void)part;
  (void)output;
  real squares = 0;
  for (int d = 0; d < 3; d++) {
    const real difference = first(launch, NULL, call->in[0], at, d);
    squares = d == 0 ? difference * difference : fused(difference, difference, squares);
  }
  return (real)sqrt((double)squares); /* rounded once: double has more than twice single's digits */
}

static real divergence_point(const kernels_launch *launch, const kernels_call *call, int output, int part,
                             const int at[3]) {
  (void)output;
  real along[3];
  for (int d = 0; d < 3; d++)
    along[d] = part == 1 ? even(launch, call->in[3], at, d) : first(launch, NULL, call->in[d], at, d);
  const real sum = along[0] + along[1];
  return in_medium(launch, call, sum + along[2], at);
}

static real curl_point(const kernels_launch *launch, const kernels_call *call, int output, int part,
                       const int at[3]) {
  const int next = (output + 1) % 3, after = (output + 2) % 3;
  (void)part;
  return first(launch, NULL, call->in[after], at, next) - first(launch, NULL, call->in[next], at, after);
}

static real velocity_gradient_point(const kernels_launch *launch, const kernels_call *call, int output,
                                    int part, const int at[3]) {
  (void)part;
  return first(launch, NULL, call->in[output / 3], at, output % 3);
}

/* By (u_i + u_j)/2 f_j of point i and each neighbour j. */
static real skew_advection_point(const kernels_launch *launch, const kernels_call *call, int output, int part,
                                 const int at[3]) {
  real sum = 0;
  (void)output;
  (void)part;
  for (int d = 0; d < 3; d++) {
    const real own = get(launch, call->in[1 + d], at);
    real slope = 0;
    for (int k = 4; k >= 1; k--) {
      const real c = (real)launch->stencil->first[d][k - 1];
      const real after =
          (own + moved(launch, call->in[1 + d], at, d, k)) / 2 * moved(launch, call->in[0], at, d, k);
      const real before =
          (own + moved(launch, call->in[1 + d], at, d, -k)) / 2 * moved(launch, call->in[0], at, d, -k);
      slope = k == 4 ? c * (after - before) : fused(c, after - before, slope);
    }
    sum = d == 0 ? slope : sum + slope;
  }
  return sum;
}

static real laplacian_point(const kernels_launch *launch, const kernels_call *call, int output, int part,
                            const int at[3]) {
  (void)part;
  (void)output;
  return second(launch, call->in[0], at);
}

static real axpy_point(const kernels_launch *launch, const kernels_call *call, int output, int part,
                       const int at[3]) {
  (void)part;
  (void)output;
  return fused((real)call->scalar[0], get(launch, call->in[0], at), get(launch, call->in[1], at));
}

static real product_point(const kernels_launch *launch, const kernels_call *call, int output, int part,
                          const int at[3]) {
  (void)part;
  (void)output;
  return get(launch, call->in[0], at) * get(launch, call->in[1], at);
}

/* After a value of weight s, where all before it have weight 1 - s together. */
static real moments_point(const kernels_launch *launch, const kernels_call *call, int output, int part,
                          const int at[3]) {
  const real share = (real)call->scalar[0], mean = get(launch, call->in[1], at);
  const real variance = get(launch, call->in[2], at), d = get(launch, call->in[0], at) - mean;
  (void)part;
  if (output == 0) return fused(share, d, mean);
  const real kept = fused(-share, variance, variance), square = d * d;
  return fused((real)call->scalar[1], square, kept);
}

static real mean_product_point(const kernels_launch *launch, const kernels_call *call, int output, int part,
                               const int at[3]) {
  const real mean = get(launch, call->in[2], at);
  const real product = get(launch, call->in[0], at) * get(launch, call->in[1], at);
  (void)part;
  (void)output;
  return fused((real)call->scalar[0], product - mean, mean);
}

static real sound_energy_point(const kernels_launch *launch, const kernels_call *call, int output, int part,
                               const int at[3]) {
  real of[6];
  (void)output;
  (void)part;
  for (int i = 0; i < 6; i++) of[i] = get(launch, call->in[i], at);
  const real square = of[0] * of[0], squares = fused(of[3], of[3], fused(of[2], of[2], of[1] * of[1]));
  const real first_share = square / of[4], second_share = squares / of[5];
  return first_share + second_share;
}

/* Parts: u.grad f, div(u f) or their mean; the dissipation; the Laplacian. */
static real advection_point(const kernels_launch *launch, const kernels_call *call, int output, int part,
                            const int at[3]) {
  (void)output;
  const unsigned options = call->options;
  advection_stage stage = {.f = call->in[0],
                           .form = !(options & ADVECTION_FLUX)       ? FORM_ADVECTIVE
                                   : !(options & ADVECTION_GRADIENT) ? FORM_CONSERVATIVE
                                                                     : FORM_SKEW};
  for (int d = 0; d < 3; d++) {
    stage.uniform[d] = call->uniform[d];
    if (options & ADVECTION_STORED) stage.velocity[d] = call->in[1 + d];
  }
  if (options & ADVECTION_FORMULA) stage.tables = call->tables;
  if (part == 1 && (options & ADVECTION_DAMPED)) return damped(launch, &stage, at);
  if (part == 1) return dissipation(launch, &stage, at);
  return part == 2 ? second(launch, stage.f, at) : advection(launch, &stage, at);
}

/* The arrays with the own state and with the base of output 0. An operation that differences own states has
 * them among its inputs; without OWN they are then the base, too. */
typedef struct sum_arrays {
  int own, base;
} sum_arrays;

static sum_arrays arrays_of(const operation *o) {
  const int own = o->differences_own ? o->own_input : (int)SUM_IN_OWN;
  return (sum_arrays){own, o->differences_own && !(o->sum & SUM_OWN) ? own : (int)SUM_IN_BASE};
}

/* The sum of a stage for one output, without its parts. */
static real sum_point(const kernels_launch *launch, const kernels_call *call, int output, sum_arrays of,
                      const int at[3]) {
  const real base = get(launch, call->in[of.base + output], at);
  real sum = base;
  if (call->options & SUM_OWN)
    sum = fused((real)call->weight[WEIGHT_OWN], get(launch, call->in[of.own + output], at) - base, sum);
  for (int i = 0; i < 2 && (call->options & SUM_EXTRAS); i++)
    sum = fused((real)call->weight[WEIGHT_EXTRA + i],
                get(launch, call->in[SUM_IN_EXTRA + SUM_OUTPUTS * i + output], at) - base, sum);
  return sum;
}

/* A row of each operation: a function apiece with all that it calls, of which the compiler makes one loop.
 * What is stored is read at its own point at most. */
#define X(name, additions)                                                                                   \
  __attribute__((flatten)) static void name##_row(const kernels_launch *launch, const kernels_call *call,    \
                                                  const operation *o, int k, int y, int z) {                 \
    real *row = (real *)call->out[k] + place(&launch->shape, 0, y, z);                                       \
    const sum_arrays of = arrays_of(o);                                                                      \
    const unsigned parts = operation_parts(o, call->options);                                                \
    _Pragma("GCC ivdep") for (int x = 0; x < launch->shape.nx; x++) {                                        \
      const int at[3] = {x, y, z};                                                                           \
      const int added = (call->options & SUM_BASE) != 0;                                                     \
      real sum = added ? sum_point(launch, call, k, of, at) : name##_point(launch, call, k, 0, at);          \
      for (int j = 0; j < OPERATION_PARTS && added; j++) {                                                   \
        if (parts >> j & 1U)                                                                                 \
          sum = fused((real)call->weight[WEIGHT_PART + j], name##_point(launch, call, k, j, at), sum);       \
      }                                                                                                      \
      row[x] = sum;                                                                                          \
    }                                                                                                        \
  }
OPERATIONS(X)
#undef X

static void row_apply(const kernels_launch *launch, const kernels_call *call, int y, int z) {
  static void (*const row[])(const kernels_launch *, const kernels_call *, const operation *, int, int,
                             int) = {
#define X(name, additions) [OPERATION_##name] = name##_row,
      OPERATIONS(X)
#undef X
  };
  const operation o = operation_describe(call->kind, call->options);
  for (int k = 0; k < OPERATION_OUTPUTS; k++) {
    if (operation_stores(&o, k)) row[call->kind](launch, call, &o, k, y, z);
  }
}

__attribute__((flatten)) static void row_stage(const kernels_launch *launch, const advection_stage *stage,
                                               int y, int z) {
  real *row = (real *)stage->out + place(&launch->shape, 0, y, z);
#pragma GCC ivdep
  for (int x = 0; x < launch->shape.nx; x++) row[x] = combined(launch, stage, (const int[3]){x, y, z});
}

static double point_formula(const kernels_shape *shape, const kernels_tables *tables, int d, int x, int y,
                            int z) {
  return (double)formula(shape, tables, d, (const int[3]){x, y, z});
}

static double value_get(const kernels_shape *shape, const void *f, int x, int y, int z) {
  return (double)((const real *)f)[place(shape, x, y, z)];
}

static void value_set(const kernels_shape *shape, void *f, int x, int y, int z, double value) {
  ((real *)f)[place(shape, x, y, z)] = (real)value;
}

const reference_points EXPAND(reference_points_, REFERENCE_REAL) = {
    .value = value_get,
    .set = value_set,
    .apply = row_apply,
    .stage = row_stage,
    .formula = point_formula,
};
