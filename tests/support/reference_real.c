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

static real velocity(const kernels_launch *launch, const kernels_stage *stage, int d, const int at[3]) {
  if (stage->velocity[d] != NULL) return get(launch, stage->velocity[d], at);
  if (stage->tables.x != NULL) return formula(&launch->shape, &stage->tables, d, at);
  return (real)stage->uniform[d];
}

/* The value of f k points further along `direction`; with a stage, of its flux. */
static real moved_flux(const kernels_launch *launch, const kernels_stage *stage, const void *f,
                       const int at[3], int direction, int k) {
  const real value = moved(launch, f, at, direction, k);
  if (stage == NULL) return value;
  int to[3] = {at[0], at[1], at[2]};
  to[direction] += k;
  const real flux = velocity(launch, stage, direction, to) * value;
  return flux;
}

/* d = c4 (f+4 - f-4), then fma from the third pair to the first. */
static real first(const kernels_launch *launch, const kernels_stage *stage, const void *f, const int at[3],
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

static real advection(const kernels_launch *launch, const kernels_stage *stage, const int at[3]) {
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

static real dissipation(const kernels_launch *launch, const kernels_stage *stage, const int at[3]) {
  real sum = 0;
  for (int d = 0; d < 3; d++) {
    const real component = velocity(launch, stage, d, at), size = component < 0 ? -component : component;
    const real e = even(launch, stage->f, at, d);
    sum = d == 0 ? size * e : fused(size, e, sum);
  }
  return sum;
}

static real combined(const kernels_launch *launch, const kernels_stage *stage, const int at[3]) {
  const real f = get(launch, stage->f, at);
  const real base = stage->base != NULL ? get(launch, stage->base, at) : f;
  real sum = base;
  if (stage->base != NULL) sum = fused((real)stage->weight_f, f - base, sum);
  for (int i = 0; i < 2 && stage->extra[i] != NULL; i++) {
    sum = fused((real)stage->weight_extra[i], get(launch, stage->extra[i], at) - base, sum);
  }
  sum = fused((real)stage->advection, advection(launch, stage, at), sum);
  if ((real)stage->dissipation != 0)
    sum = fused((real)stage->dissipation, dissipation(launch, stage, at), sum);
  if ((real)stage->diffusion != 0) sum = fused((real)stage->diffusion, second(launch, stage->f, at), sum);
  return sum;
}

/* One point of each operation of operations.h. */

static real derivative_point(const kernels_launch *launch, const kernels_call *call, int output,
                             const int at[3]) {
  const int direction = (int)call->options & 3;
  const void *f = call->in[0];
  if (output == 0) return first(launch, NULL, f, at, direction);
  if (output == 2) return even(launch, f, at, direction);
  const real centre = (real)launch->stencil->second[direction][0];
  return fused(centre, get(launch, f, at), pairs(launch, f, at, direction, 0));
}

static real gradient_point(const kernels_launch *launch, const kernels_call *call, int output,
                           const int at[3]) {
  return first(launch, NULL, call->in[0], at, output);
}

static real gradient_magnitude_point(const kernels_launch *launch, const kernels_call *call, int output,
                                     const int at[3]) {
  (void)output;
  real squares = 0;
  for (int d = 0; d < 3; d++) {
    const real difference = first(launch, NULL, call->in[0], at, d);
    squares = d == 0 ? difference * difference : fused(difference, difference, squares);
  }
  return (real)sqrt((double)squares); /* rounded once: double has more than twice single's digits */
}

static real divergence_point(const kernels_launch *launch, const kernels_call *call, int output,
                             const int at[3]) {
  (void)output;
  const real sum = first(launch, NULL, call->in[0], at, 0) + first(launch, NULL, call->in[1], at, 1);
  return sum + first(launch, NULL, call->in[2], at, 2);
}

static real laplacian_point(const kernels_launch *launch, const kernels_call *call, int output,
                            const int at[3]) {
  (void)output;
  return second(launch, call->in[0], at);
}

static real axpy_point(const kernels_launch *launch, const kernels_call *call, int output, const int at[3]) {
  (void)output;
  return fused((real)call->scalar[0], get(launch, call->in[0], at), get(launch, call->in[1], at));
}

static real product_point(const kernels_launch *launch, const kernels_call *call, int output,
                          const int at[3]) {
  (void)output;
  return get(launch, call->in[0], at) * get(launch, call->in[1], at);
}

/* The sum of a stage for output k of n, whose first input is `first_input`, plus the weighted term. */
static real sum_point(const kernels_launch *launch, const kernels_call *call, int first_input, int n, int k,
                      real term, const int at[3]) {
  const int base_missing = (call->options & SUM_UPWIND) && !(call->options & SUM_OWN); /* it is own */
  const real base = get(launch, call->in[first_input + (base_missing ? n : 0) + k], at);
  const int arrays = call->options & SUM_EXTRAS ? 3 : call->options & SUM_OWN ? 1 : 0;
  real sum = base;
  for (int i = 0; i < arrays; i++)
    sum = fused((real)call->scalar[i], get(launch, call->in[first_input + n * (i + 1) + k], at) - base, sum);
  return fused((real)call->scalar[3], term, sum);
}

static real divergence_stage_point(const kernels_launch *launch, const kernels_call *call, int output,
                                   const int at[3]) {
  const real sum = sum_point(launch, call, 3, 1, output, divergence_point(launch, call, 0, at), at);
  if (!(call->options & SUM_UPWIND)) return sum;
  const real xy = even(launch, call->in[4], at, 0) + even(launch, call->in[4], at, 1);
  return fused((real)call->scalar[4], xy + even(launch, call->in[4], at, 2), sum);
}

static real gradient_stage_point(const kernels_launch *launch, const kernels_call *call, int output,
                                 const int at[3]) {
  const real sum = sum_point(launch, call, 1, 3, output, gradient_point(launch, call, output, at), at);
  if (!(call->options & SUM_UPWIND)) return sum;
  return fused((real)call->scalar[4], even(launch, call->in[4 + output], at, output), sum);
}

static real stage_point(const kernels_launch *launch, const kernels_call *call, int output, const int at[3]) {
  (void)output;
  const unsigned options = call->options;
  kernels_stage stage = {.f = call->in[0],
                         .weight_f = call->scalar[0],
                         .weight_extra = {call->scalar[1], call->scalar[2]},
                         .advection = call->scalar[3],
                         .form = !(options & STAGE_FLUX)       ? FORM_ADVECTIVE
                                 : !(options & STAGE_GRADIENT) ? FORM_CONSERVATIVE
                                                               : FORM_SKEW};
  if (options & STAGE_BASE) stage.base = call->in[1];
  for (int i = 0; i < 2 && (options & STAGE_EXTRAS); i++) stage.extra[i] = call->in[2 + i];
  for (int d = 0; d < 3; d++) {
    stage.uniform[d] = call->uniform[d];
    if (options & STAGE_STORED) stage.velocity[d] = call->in[4 + d];
  }
  if (options & STAGE_FORMULA) stage.tables = call->tables;
  if (options & STAGE_UPWIND) stage.dissipation = call->scalar[4];
  if (options & STAGE_DIFFUSION) stage.diffusion = call->scalar[5];
  return combined(launch, &stage, at);
}

/* A row of each operation: a function apiece with all that it calls, of which the compiler makes one loop.
 * What is stored is read at its own point at most. */
#define X(name, additions)                                                                                   \
  __attribute__((flatten)) static void name##_row(const kernels_launch *launch, const kernels_call *call,    \
                                                  int k, int y, int z) {                                     \
    real *row = (real *)call->out[k] + place(&launch->shape, 0, y, z);                                       \
    _Pragma("GCC ivdep") for (int x = 0; x < launch->shape.nx; x++) row[x] =                                 \
        name##_point(launch, call, k, (const int[3]){x, y, z});                                              \
  }
OPERATIONS(X)
#undef X

static void row_apply(const kernels_launch *launch, const kernels_call *call, int y, int z) {
  static void (*const row[])(const kernels_launch *, const kernels_call *, int, int, int) = {
#define X(name, additions) [OPERATION_##name] = name##_row,
      OPERATIONS(X)
#undef X
  };
  const operation o = operation_describe(call->kind, call->options);
  for (int k = 0; k < OPERATION_OUTPUTS; k++) {
    if (operation_stores(&o, k)) row[call->kind](launch, call, k, y, z);
  }
}

__attribute__((flatten)) static void row_stage(const kernels_launch *launch, const kernels_stage *stage,
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
