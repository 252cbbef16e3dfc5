#include "rig.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Every operation of operations.h, in every way and with every combination of additions: bit for bit its
 * reference (reference_real.c), and not a point written beside the planes asked for. A new operation is
 * tested here once it is in the list. */

/* Inputs with random numbers, outputs with what nobody writes. What a declaration does not read is NULL for
 * the engines, and `other` for the reference: one that reads it gets other values, so that the test says
 * where. */
typedef struct operands {
  operation of;
  twin in[OPERATION_ARRAYS], out[OPERATION_OUTPUTS], tables, other;
} operands;

static operands operands_make(rig *rig, const kernels_way *way, unsigned options) {
  operands o = {.of = operation_describe(way->kind, options),
                .other = twin_random(rig, OPERATION_ARRAYS + 2)};
  for (int i = 0; i < OPERATION_ARRAYS; i++)
    if (operation_inputs(&o.of) >> i & 1U) o.in[i] = twin_random(rig, i + 1);
  for (int k = 0; k < OPERATION_OUTPUTS; k++)
    if (operation_stores(&o.of, k)) o.out[k] = twin_sentinel(rig);
  if (o.of.velocity == VELOCITY_TABLES) o.tables = twin_tables(rig, OPERATION_ARRAYS + 1);
  return o;
}

static void operands_free(rig *rig, operands *o) {
  for (int i = 0; i < OPERATION_ARRAYS; i++)
    if (operation_inputs(&o->of) >> i & 1U) twin_free(rig, &o->in[i]);
  for (int k = 0; k < OPERATION_OUTPUTS; k++)
    if (operation_stores(&o->of, k)) twin_free(rig, &o->out[k]);
  if (o->of.velocity == VELOCITY_TABLES) twin_free(rig, &o->tables);
  twin_free(rig, &o->other);
}

static kernels_call call_make(const rig *rig, const kernels_way *way, unsigned options, const operands *o,
                              int device) {
  kernels_call call = {.kind = way->kind, .options = options, .uniform = {1.1, -0.7, 0.4}};
  for (int i = 0; i < OPERATION_ARRAYS; i++) {
    const void *host = operation_inputs(&o->of) >> i & 1U ? o->in[i].host : o->other.host;
    call.in[i] = device ? o->in[i].device : host;
  }
  for (int k = 0; k < OPERATION_OUTPUTS; k++) call.out[k] = device ? o->out[k].device : o->out[k].host;
  for (int i = 0; i < OPERATION_SCALARS; i++) call.scalar[i] = (i % 2 ? -1.0 : 1.0) / (3.0 + i);
  for (int i = 0; i < OPERATION_WEIGHTS; i++) call.weight[i] = (i % 2 ? -1.0 : 1.0) / (3.0 + i);
  if (o->of.velocity == VELOCITY_TABLES) call.tables = twin_tables_at(rig, &o->tables, device);
  return call;
}

static void operation_check(rig *rig, const kernels_way *way, unsigned additions) {
  const unsigned options = way->options | additions;
  operands o = operands_make(rig, way, options);
  const kernels_call device = call_make(rig, way, options, &o, 1), host = call_make(rig, way, options, &o, 0);
  char what[128];
  (void)snprintf(what, sizeof what, "%s with additions %#x", way->name, additions);
  assert_ok(rig->backend->apply(&rig->launch, &device));
  reference_apply(&rig->launch, &host);
  for (int k = 0; k < OPERATION_OUTPUTS; k++)
    if (operation_stores(&o.of, k)) twin_assert_equal(rig, &o.out[k], what);
  operands_free(rig, &o);
}

/* Each combination on two of the shapes, and on two ranges of another; of one way, if FDAPP_WAY names it. */
static void every_combination_is_the_reference(rig *rig) {
  const char *only = getenv("FDAPP_WAY");
  int count = 0;
  for (int w = 0; w < OPERATION_WAY_COUNT; w++) {
    if (only != NULL && strcmp(only, kernels_ways[w].name) != 0) continue;
    const unsigned all = operation_additions(kernels_ways[w].kind, kernels_ways[w].options);
    for (unsigned additions = 0, more = 1; more; more = (additions = additions_next(all, additions)) != 0) {
      if (!operation_combines(kernels_ways[w].kind, kernels_ways[w].options, additions)) continue;
      for (int i = 0; i < 2; i++) {
        const int *shape = rig_shapes[(count + 3 * i) % RIG_SHAPES];
        rig_shape(rig, shape[0], shape[1], shape[2]);
        operation_check(rig, &kernels_ways[w], additions);
      }
      rig_shape(rig, 33, 20, 13);
      rig->launch.planes[0] = (kernels_planes){9, 13};
      rig->launch.planes[1] = (kernels_planes){1, 6};
      rig_stencil(rig, 2 + 2 * (count % 4), 0.02, 0.03, 0.04);
      operation_check(rig, &kernels_ways[w], additions);
      count++;
    }
  }
  if (count == 0) fail_msg("no way is called %s", only);
}

/* The last combination of a way's additions, which has the most of them. */
static unsigned additions_most(const kernels_way *way) {
  const unsigned all = operation_additions(way->kind, way->options);
  unsigned most = 0;
  for (unsigned some = additions_next(all, 0); some != 0; some = additions_next(all, some))
    if (operation_combines(way->kind, way->options, some)) most = some;
  return most;
}

/* Large launches may take other kernels. */
static void large_launches_are_the_reference(rig *rig) {
  for (int w = 0; w < OPERATION_WAY_COUNT; w++) {
    const int *shape = rig_large[w % RIG_LARGE];
    rig_shape(rig, shape[0], shape[1], shape[2]);
    operation_check(rig, &kernels_ways[w], additions_most(&kernels_ways[w]));
  }
}

enum { ENOUGH = 2 * CLOSURE_ROWS };

/* The row of a closure at a point, from its tables; 0 if the point is in no layer of the axis. */
static int closed(const rig *rig, const void *f, int of, int d, const int p[3], double *value) {
  const kernels_shape *shape = &rig->launch.shape;
  const closure *closure = closure_of(rig->stencil.order);
  const int n[3] = {shape->nx, shape->ny, shape->nz}, high = n[d] - 1 - p[d] < closure->rows;
  const int row = high ? n[d] - 1 - p[d] : p[d];
  if (row >= closure->rows || n[d] < ENOUGH) return 0;
  const double h = rig->stencil.spacing[d], sign = high && of == DIFFERENCE_FIRST ? -1.0 : 1.0;
  *value = 0.0;
  for (int j = 0; j < closure->width; j++) {
    int q[3] = {p[0], p[1], p[2]};
    q[d] = high ? n[d] - 1 - j : j;
    *value += sign * closure->row[of][row][j] / (of == DIFFERENCE_SECOND ? h * h : h) *
              reference_value(shape, f, q[0], q[1], q[2]);
  }
  return 1;
}

/* Difference `of` along d. reference: its values on a periodic grid. */
static void output_check(const rig *rig, const twin *f, const twin *out, const twin *reference, int of,
                         int d) {
  const kernels_shape *shape = &rig->launch.shape;
  const double tolerance = shape->precision == PRECISION_SINGLE ? 1e-4 : 1e-12;
  const double h = rig->stencil.spacing[d], scale = of == DIFFERENCE_SECOND ? 1.0 / (h * h) : 1.0 / h;
  for (int i = 0; i < shape->nx * shape->ny * shape->nz; i++) {
    const int p[3] = {i % shape->nx, i / shape->nx % shape->ny, i / shape->nx / shape->ny};
    const double found = reference_value(shape, out->host, p[0], p[1], p[2]);
    double expected = reference_value(shape, reference->host, p[0], p[1], p[2]);
    (void)closed(rig, f->host, of, d, p, &expected);
    if (!(fabs(found - expected) <= 30.0 * scale * tolerance))
      fail_msg("difference %d along %d at %d, %d, %d: %g, not %g", of, d, p[0], p[1], p[2], found, expected);
  }
}

/* Calls an operation with three outputs of one input where all axes have ends that have ENOUGH points. Output
 * i is difference of[i] along d[i]. */
static void ends_check(rig *rig, operation_kind kind, unsigned options, const int of[3], const int d[3]) {
  twin f = twin_random(rig, 1), out[3], reference[3];
  const kernels_shape *shape = &rig->launch.shape;
  kernels_ends ends = {.bounded = {1, shape->ny >= ENOUGH, shape->nz >= ENOUGH}, .nz = shape->nz};
  kernels_call call = {.kind = kind, .options = options, .in = {f.host}};
  for (int i = 0; i < 3; i++) {
    out[i] = twin_sentinel(rig);
    reference[i] = twin_sentinel(rig);
    call.out[i] = reference[i].host;
  }
  reference_apply(&rig->launch, &call);
  call.in[0] = f.device;
  for (int i = 0; i < 3; i++) call.out[i] = out[i].device;
  call.ends = &ends;
  assert_ok(kernels_ends_open(rig->backend, rig->context, rig->launch.shape.precision, &rig->stencil, &ends));
  assert_ok(apply_bounded(rig->backend, &rig->launch, &call));
  for (int i = 0; i < 3; i++) {
    twin_download(rig, &out[i]);
    output_check(rig, &f, &out[i], &reference[i], of[i], d[i]);
    twin_free(rig, &out[i]);
    twin_free(rig, &reference[i]);
  }
  kernels_ends_close(rig->backend, rig->context, &ends);
  twin_free(rig, &f);
}

/* All outputs of `derivative` in one launch. */
static void ends_take_several_outputs(rig *rig) {
  rig_shape(rig, 33, 20, 37);
  for (int d = 0; d < 3; d++) {
    ends_check(rig, OPERATION_derivative, (unsigned)d | (unsigned)derivative_additions,
               (const int[]){DIFFERENCE_FIRST, DIFFERENCE_SECOND, DIFFERENCE_DISSIPATION},
               (const int[]){d, d, d});
  }
}

/* Rows with lines between the layers of x, and rows between those of y: the CPU computes lines beside ends of
 * x apart. */
static void ends_of_long_rows(rig *rig) {
  rig_shape(rig, 67, 37, 20);
  ends_check(rig, OPERATION_gradient, 0, (const int[]){DIFFERENCE_FIRST, DIFFERENCE_FIRST, DIFFERENCE_FIRST},
             (const int[]){AXIS_X, AXIS_Y, AXIS_Z});
}

/* In either precision and with each length of vectors a line that shares its cache line with the layer at the
 * high end is in no layer, so far from the low end that nothing of the program lies there in memory. */
static void ends_of_longest_rows(rig *rig) {
  rig_shape(rig, 40022, 15, 1);
  ends_check(rig, OPERATION_gradient, 0, (const int[]){DIFFERENCE_FIRST, DIFFERENCE_FIRST, DIFFERENCE_FIRST},
             (const int[]){AXIS_X, AXIS_Y, AXIS_Z});
}

/* A stage that overwrites its base computes each point once: it has the bits of one that writes elsewhere, on
 * rows whose layers leave few points between them and are not whole vectors. */
static void ends_in_place(rig *rig) {
  for (int order = 4; order <= 8; order += 2) {
    for (int nx = 2 * closure_of(order)->rows; nx < 20; nx++) {
      rig_shape(rig, nx, 17, 18);
      rig_stencil(rig, order, 0.011, 0.013, 0.017);
      twin f = twin_random(rig, 1), apart = twin_random(rig, 2), in_place = twin_random(rig, 2);
      kernels_ends ends = {.bounded = {1, 1, 1}, .nz = rig->launch.shape.nz};
      kernels_call call = {.kind = OPERATION_advection,
                           .options = SUM_BASE | SUM_OWN | ADVECTION_UNIFORM | ADVECTION_GRADIENT,
                           .in = {[ADVECTION_F] = f.device, [SUM_IN_BASE] = in_place.device},
                           .out = {apart.device},
                           .weight = {[WEIGHT_OWN] = 0.25, [WEIGHT_PART + ADVECTION_PART_A] = -0.01},
                           .uniform = {1.0, 0.5, -0.75},
                           .ends = &ends};
      assert_ok(
          kernels_ends_open(rig->backend, rig->context, rig->launch.shape.precision, &rig->stencil, &ends));
      assert_ok(apply_bounded(rig->backend, &rig->launch, &call));
      call.out[0] = in_place.device;
      assert_ok(apply_bounded(rig->backend, &rig->launch, &call));
      twin_download(rig, &apart);
      twin_download(rig, &in_place);
      twin_assert_same(rig, &apart, &in_place, "a stage with ends, in place");
      kernels_ends_close(rig->backend, rig->context, &ends);
      twin_free(rig, &f);
      twin_free(rig, &apart);
      twin_free(rig, &in_place);
    }
  }
}

/* Weight i of a coupling in a medium of positive a and b: times a, or times sqrt(a b). */
static double weight_in(const rig *rig, const twin medium[2], int i, double weight, const int p[3]) {
  const kernels_shape *shape = &rig->launch.shape;
  const double a = reference_value(shape, medium[0].host, p[0], p[1], p[2]);
  const double b = reference_value(shape, medium[1].host, p[0], p[1], p[2]);
  if (shape->precision == PRECISION_DOUBLE) return weight * (i == 0 ? a : sqrt(a * b));
  return (float)weight * (i == 0 ? (float)a : sqrtf((float)a * (float)b));
}

/* The value at a point and what a coupling adds to it there on an end of axis d. medium: NULL, or a and b. */
static double coupled(const rig *rig, const kernels_coupling *coupling, const twin of[2], const twin *medium,
                      double value, int d, const int p[3]) {
  const kernels_shape *shape = &rig->launch.shape;
  const int n[3] = {shape->nx, shape->ny, shape->nz};
  const int high = p[d] == n[d] - 1;
  if (p[d] != 0 && !high) return value;
  for (int i = 0; i < 2; i++) {
    double weight = coupling->weight[d][high][i];
    if (medium != NULL) weight = weight_in(rig, medium, i, weight, p);
    const double field = reference_value(shape, of[i].host, p[0], p[1], p[2]);
    value = shape->precision == PRECISION_SINGLE ? (double)fmaf((float)weight, (float)field, (float)value)
                                                 : fma(weight, field, value);
  }
  return value;
}

static double positive_value(const rig *rig, const void *phase, int x, int y, int z) {
  (void)rig;
  return 1.5 + sin(*(const double *)phase + x + 0.7 * y - 1.3 * z);
}

/* Couplings add two fields at the ends: to the one output at those of all axes, one after the other, or to
 * output d at those of axis d. */
static void coupling_check(rig *rig, operation_kind kind, unsigned options, int outputs, int in_medium) {
  const double phases[2] = {0.2, 2.0};
  twin f = twin_random(rig, 1), of[2] = {twin_random(rig, 2), twin_random(rig, 3)}, plain[3], found[3];
  twin medium[2] = {twin_make(rig, positive_value, &phases[0]), twin_make(rig, positive_value, &phases[1])};
  const kernels_shape *shape = &rig->launch.shape;
  kernels_ends ends = {.bounded = {1, 1, 1}, .nz = shape->nz};
  kernels_coupling coupling = {.medium = {in_medium ? medium[0].device : NULL, medium[1].device}};
  kernels_call call = {.kind = kind, .options = options, .in = {f.device}, .ends = &ends};
  for (int i = 0; i < 12; i++) {
    coupling.of[i / 4][i % 2] = of[i % 2].device;
    coupling.weight[i / 4][i / 2 % 2][i % 2] = 0.25 * i - 1.0;
  }
  assert_ok(kernels_ends_open(rig->backend, rig->context, shape->precision, &rig->stencil, &ends));
  for (int k = 0; k < outputs; k++) call.out[k] = (plain[k] = twin_sentinel(rig)).device;
  assert_ok(apply_bounded(rig->backend, &rig->launch, &call));
  for (int k = 0; k < outputs; k++) call.out[k] = (found[k] = twin_sentinel(rig)).device;
  call.coupling = &coupling;
  assert_ok(apply_bounded(rig->backend, &rig->launch, &call));
  for (int k = 0; k < outputs; k++) {
    twin_download(rig, &plain[k]);
    twin_download(rig, &found[k]);
    for (int i = 0; i < shape->nx * shape->ny * shape->nz; i++) {
      const int p[3] = {i % shape->nx, i / shape->nx % shape->ny, i / shape->nx / shape->ny};
      double expected = reference_value(shape, plain[k].host, p[0], p[1], p[2]);
      for (int d = 0; d < 3; d++)
        if (outputs == 1 || d == k)
          expected = coupled(rig, &coupling, of, in_medium ? medium : NULL, expected, d, p);
      const double value = reference_value(shape, found[k].host, p[0], p[1], p[2]);
      if (value != expected)
        fail_msg("output %d at %d, %d, %d: %.17g, not %.17g", k, p[0], p[1], p[2], value, expected);
    }
    twin_free(rig, &plain[k]);
    twin_free(rig, &found[k]);
  }
  kernels_ends_close(rig->backend, rig->context, &ends);
  for (int i = 0; i < 2; i++) {
    twin_free(rig, &of[i]);
    twin_free(rig, &medium[i]);
  }
  twin_free(rig, &f);
}

static void ends_couple(rig *rig) {
  rig_shape(rig, 33, 20, 18);
  for (int in_medium = 0; in_medium < 2; in_medium++) {
    coupling_check(rig, OPERATION_derivative, AXIS_Y | (unsigned)DERIVATIVE_FIRST, 1, in_medium);
    coupling_check(rig, OPERATION_gradient, 0, 3, in_medium);
  }
}

enum { SIDE = 33 }; /* points of each axis */

/* Number of the line along d on which a point lies. */
static int line_of(int d, const int p[3]) {
  return p[(d + 1) % 3] + SIDE * p[(d + 2) % 3];
}

/* From -1 at the low end to 1 at the high one. It and its powers up to 8 are exact. */
static double position(int i) {
  return (double)(2 * i - (SIDE - 1)) / (SIDE - 1);
}

/* Line j along *d holds the unit vector of point j mod SIDE. */
static double unit_value(const rig *rig, const void *d, int x, int y, int z) {
  const int p[3] = {x, y, z}, along = *(const int *)d;
  (void)rig;
  return line_of(along, p) % SIDE == p[along];
}

/* Line j along *d holds the power j mod (order + 1). Halo planes have negative numbers. */
static double power_value(const rig *rig, const void *d, int x, int y, int z) {
  const int p[3] = {x, y, z}, along = *(const int *)d;
  return pow(position(p[along]), abs(line_of(along, p)) % (rig->stencil.order + 1));
}

/* The first derivative along d where all axes have ends: the central one (upwind = 0), or D+ (1) or D- (-1)
 * by a stage, which takes D+ for a velocity against the axis and D- for one along it. */
static twin first_of(rig *rig, twin_value value, int d, int upwind) {
  twin f = twin_make(rig, value, &d), out = twin_zeros(rig, 1);
  kernels_call call = {.kind = OPERATION_derivative,
                       .options = (unsigned)d | (unsigned)DERIVATIVE_FIRST,
                       .in = {[ADVECTION_F] = f.device, [SUM_IN_BASE] = out.device},
                       .out = {out.device}};
  kernels_ends ends = {.bounded = {1, 1, 1}, .nz = SIDE};
  call.ends = &ends;
  if (upwind) {
    call.kind = OPERATION_advection;
    call.options = SUM_BASE | SUM_OWN | ADVECTION_UNIFORM | ADVECTION_GRADIENT | ADVECTION_UPWIND;
    call.uniform[d] = -upwind;
    call.weight[WEIGHT_PART + ADVECTION_PART_A] = -upwind;
    call.weight[WEIGHT_PART + ADVECTION_PART_DISSIPATION] = upwind;
  }
  assert_ok(kernels_ends_open(rig->backend, rig->context, PRECISION_DOUBLE, &rig->stencil, &ends));
  assert_ok(apply_bounded(rig->backend, &rig->launch, &call));
  twin_download(rig, &out);
  kernels_ends_close(rig->backend, rig->context, &ends);
  twin_free(rig, &f);
  return out;
}

/* H D+ + (H D-)^T = B. Central differences are exact to degree `order` inside and order/2 in the rows of a
 * closure, upwind ones to one degree less. */
static void first_check(rig *rig, int d, int upwind) {
  const kernels_shape *shape = &rig->launch.shape;
  const closure *closure = closure_of(rig->stencil.order);
  const double h = rig->stencil.spacing[d];
  twin plus = first_of(rig, unit_value, d, upwind), minus = first_of(rig, unit_value, d, -upwind);
  twin slope = first_of(rig, power_value, d, upwind);
  for (int k = 0; k < SIDE * SIDE * SIDE; k++) {
    const int p[3] = {k % SIDE, k / SIDE % SIDE, k / (SIDE * SIDE)}, line = line_of(d, p);
    const int i = p[d], j = line % SIDE, power = line % (rig->stencil.order + 1);
    const int from[2] = {i < SIDE - 1 - i ? i : SIDE - 1 - i, j < SIDE - 1 - j ? j : SIDE - 1 - j};
    const int exact = (from[0] < closure->rows ? 1 : 2) * rig->stencil.order / 2 - (upwind != 0);
    int q[3];
    q[d] = j; /* point j of the first line that holds the unit vector of point i */
    q[(d + 1) % 3] = i;
    q[(d + 2) % 3] = 0;
    double sum = (i == j) * ((i == 0) - (i == SIDE - 1));
    sum += h * reference_value(shape, plus.host, p[0], p[1], p[2]) *
           (from[0] < closure->rows ? closure->weight[from[0]] : 1.0);
    sum += h * reference_value(shape, minus.host, q[0], q[1], q[2]) *
           (from[1] < closure->rows ? closure->weight[from[1]] : 1.0);
    if (!(fabs(sum) <= 1e-14)) fail_msg("along %d, %d to %d: H D + (H D)^T - B = %g", d, j, i, sum);
    const double found = h * reference_value(shape, slope.host, p[0], p[1], p[2]);
    const double expected = power == 0 ? 0.0 : power * pow(position(i), power - 1) * 2.0 / (SIDE - 1);
    if (power <= exact && !(fabs(found - expected) <= 1e-14))
      fail_msg("along %d at %d: slope of power %d: %.17g, not %.17g", d, i, power, found, expected);
  }
  twin_free(rig, &plus);
  twin_free(rig, &minus);
  twin_free(rig, &slope);
}

static void ends_sum_by_parts(rig *rig) {
  for (int order = 2; order <= 8; order += 2) {
    rig_shape(rig, SIDE, SIDE, SIDE);
    rig_stencil(rig, order, 0.011, 0.013, 0.017);
    for (int d = 0; d < 3; d++)
      for (int upwind = -1; upwind <= 1; upwind++) first_check(rig, d, upwind);
  }
}

int main(int argc, char **argv) {
  static const rig_test tests[] = {RIG_TEST(every_combination_is_the_reference),
                                   RIG_TEST(large_launches_are_the_reference),
                                   RIG_TEST(ends_take_several_outputs),
                                   RIG_TEST(ends_of_long_rows),
                                   RIG_TEST(ends_of_longest_rows),
                                   RIG_TEST(ends_in_place),
                                   RIG_TEST(ends_couple),
                                   RIG_TEST_DOUBLE(ends_sum_by_parts)};
  return rig_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
