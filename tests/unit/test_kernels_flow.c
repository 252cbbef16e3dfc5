#include "rig.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "conserved.h"
#include "flow_fields.h"

/* Compressible flow: values from three independent programs, every form and law of viscosity against fluxes
 * of conserved variables, and what holds to the bit. */

static const double pi = 3.14159265358979323846;

static double at(const rig *rig, const flow_fields *f, int unknown, int x, int y, int z) {
  return reference_value(&rig->launch.shape, f->of[unknown].host, x, y, z);
}

/* Copies the owned points to arrays without padding. */
static void unpack(const rig *rig, const flow_fields *f, double *const to[5]) {
  const kernels_shape *s = &rig->launch.shape;
  for (int k = 0; k < FLOW_UNKNOWNS; k++)
    for (int i = 0; i < s->nx * s->ny * s->nz; i++)
      to[k][i] = at(rig, f, k, i % s->nx, i / s->nx % s->ny, i / s->nx / s->ny);
}

static void arrays_make(double *of[5], int points) {
  for (int k = 0; k < 5; k++) {
    of[k] = calloc((size_t)points, sizeof(double));
    assert_non_null(of[k]);
  }
}

static void arrays_free(double *const of[5]) {
  for (int k = 0; k < 5; k++) free(of[k]);
}

/* ---- Values that three programs share to 2e-15 ---- */

static const double lengths[3] = {2.0 * 3.14159265358979323846, 5.0, 7.0};

static double waves(const rig *rig, int unknown, int x, int y, int z) {
  const kernels_shape *s = &rig->launch.shape;
  const double X = 2.0 * pi * x / s->nx, Y = 2.0 * pi * y / s->ny, Z = 2.0 * pi * z / s->nz;
  switch (unknown) {
  case FLOW_DENSITY:
    return 1.0 + 0.2 * sin(X + 2.0 * Y) + 0.1 * cos(Y - Z);
  case FLOW_U:
    return 0.3 + 0.5 * sin(X) * cos(Y) + 0.1 * cos(2.0 * Z + 0.5);
  case FLOW_V:
    return -0.2 + 0.4 * cos(X + Z) - 0.2 * sin(2.0 * Y);
  case FLOW_W:
    return 0.1 + 0.3 * sin(Y + Z) * cos(X) + 0.05 * sin(2.0 * X);
  default:
    return 2.0 + 0.3 * cos(X - Y) + 0.2 * sin(Z + 1.0);
  }
}

static void waves_shape(rig *rig) {
  rig_shape(rig, 16, 12, 20);
  rig_stencil(rig, 8, lengths[0] / 16, lengths[1] / 12, lengths[2] / 20);
}

/* Compares norm and the value at the point (3, 5, 7) with a table. */
static void expect_row(const double *f, const double row[2], const char *what, int k) {
  const int points = 16 * 12 * 20, point = 3 + 16 * (5 + 12 * 7);
  double sum = 0.0;
  for (int i = 0; i < points; i++) sum += f[i] * f[i];
  if (!(fabs(sqrt(sum) - row[0]) <= 1e-12 * row[0]) || !(fabs(f[point] - row[1]) <= 1e-12))
    fail_msg("%s, unknown %d: norm %.17g and value %.17g, expected %.17g and %.17g", what, k, sqrt(sum),
             f[point], row[0], row[1]);
}

static void the_reference_has_the_values(rig *rig) {
  static const double expected[5][2] = {{29.55750979507178, 0.66099647840279485},
                                        {22.18483994481009, -0.49578721565466694},
                                        {26.432023644443522, -0.029837294372000094},
                                        {11.230508209967535, 0.22184192159008986},
                                        {209.30306230345477, 2.6315879232063124}};
  double *state[5], *rate[5];
  waves_shape(rig);
  arrays_make(state, 16 * 12 * 20);
  arrays_make(rate, 16 * 12 * 20);
  flow_fields f = flow_fields_make(rig, waves);
  unpack(rig, &f, state);
  const conserved_box box = {{16, 12, 20}, &rig->stencil, flow_gas_of(FLOW_KEEP_PE, FLOW_CONSTANT)};
  conserved_rate(&box, state, rate);
  for (int k = 0; k < 5; k++) expect_row(rate[k], expected[k], "right-hand side", k);
  arrays_free(state);
  arrays_free(rate);
  flow_fields_free(rig, &f);
}

/* A step of the classical scheme: f to f, by way of a, b, c. */
static void step(rig *rig, const flow_gas *gas, flow_fields *f, flow_fields *abc, double dt) {
  static const double none[3] = {0.0, 0.0, 0.0}, last[3] = {1.0 / 3.0, 1.0 / 3.0, 2.0 / 3.0};
  flow_stage(rig, gas, f, f, NULL, none, 0.5 * dt, &abc[0]);
  flow_stage(rig, gas, &abc[0], f, NULL, none, 0.5 * dt, &abc[1]);
  flow_stage(rig, gas, &abc[1], f, NULL, none, dt, &abc[2]);
  flow_stage(rig, gas, &abc[2], f, abc, last, dt / 6.0, f);
}

static void five_steps(rig *rig, flow_law law, const double expected[5][2], const char *what) {
  const flow_gas gas = flow_gas_of(FLOW_KEEP_PE, law);
  double *state[5];
  waves_shape(rig);
  arrays_make(state, 16 * 12 * 20);
  flow_fields f = flow_fields_make(rig, waves), abc[3];
  for (int i = 0; i < 3; i++) abc[i] = flow_fields_make(rig, waves);
  for (int i = 0; i < 5; i++) step(rig, &gas, &f, abc, 0.02);
  unpack(rig, &f, state);
  for (int k = 0; k < 5; k++) expect_row(state[k], expected[k], what, k);
  for (int i = 0; i < 3; i++) flow_fields_free(rig, &abc[i]);
  flow_fields_free(rig, &f);
  arrays_free(state);
}

static void five_steps_have_the_values(rig *rig) {
  static const double viscous[5][2] = {{62.802266006855568, 1.1894069983644691},
                                       {24.911115286169238, -0.11633597575303552},
                                       {22.898685761352329, -0.40800012290518939},
                                       {11.303399918299387, 0.041441775244574729},
                                       {124.76997161091037, 2.1470678023706329}};
  static const double inviscid[5][2] = {{62.803138363295382, 1.1896261771827603},
                                        {24.944575193994343, -0.11729405719710866},
                                        {22.948163331633307, -0.40701339954132154},
                                        {11.333400459128441, 0.041250520300210251},
                                        {124.76248256482698, 2.1443893028932286}};
  five_steps(rig, FLOW_CONSTANT, viscous, "with viscosity");
  five_steps(rig, FLOW_INVISCID, inviscid, "without");
}

/* ---- Every form and law, on shapes that fit nothing ---- */

/* The stage in conserved variables. */
static void expect_stage(rig *rig, const conserved_box *box, const flow_fields *const from[4],
                         const double weights[3], double weight, const flow_fields *found) {
  const int points = conserved_points(box);
  const int single = rig->launch.shape.precision == PRECISION_SINGLE;
  double *state[4][5], *rate[5], *result[5];
  arrays_make(rate, points);
  arrays_make(result, points);
  for (int i = 0; i < 4; i++) {
    arrays_make(state[i], points);
    unpack(rig, from[i], state[i]);
  }
  conserved_rate(box, state[0], rate);
  for (int i = 0; i < 4; i++) conserved_from(box, state[i]);
  for (int k = 0; k < 5; k++) {
    for (int i = 0; i < points; i++) {
      const double base = state[1][k][i];
      result[k][i] = base + weights[0] * (state[0][k][i] - base) + weights[1] * (state[2][k][i] - base) +
                     weights[2] * (state[3][k][i] - base) + weight * rate[k][i];
    }
  }
  conserved_to(box, result);
  unpack(rig, found, state[0]);
  for (int k = 0; k < 5; k++) {
    for (int i = 0; i < points; i++) {
      const double error = fabs(state[0][k][i] - result[k][i]);
      if (!(error <= (single ? 2e-5 : 3e-14)))
        fail_msg("form %d, law %d, order %d, unknown %d, point %d: %.17g, expected %.17g", (int)box->gas.form,
                 (int)box->gas.law, box->stencil->order, k, i, state[0][k][i], result[k][i]);
    }
  }
  for (int i = 0; i < 4; i++) arrays_free(state[i]);
  arrays_free(rate);
  arrays_free(result);
}

static void stages_are_those_of_conserved_variables(rig *rig) {
  static const double none[3] = {0.0, 0.0, 0.0}, all[3] = {0.4, 0.25, 0.15};
  for (int c = 0; c < FLOW_FORMS * FLOW_LAWS; c++) {
    const int *n = rig_shapes[c % 5], extras = c % 2;
    flow_gas gas = flow_gas_of((flow_form)(c % FLOW_FORMS), (flow_law)(c / FLOW_FORMS));
    gas.dissipation = c / FLOW_FORMS == 1 ? 0.0 : 0.7;
    rig_shape(rig, n[0], n[1], n[2]);
    rig_stencil(rig, 8 - 2 * (c % 4), 0.3, 0.4, 0.5);
    flow_fields f = flow_fields_make(rig, flow_rough), base = flow_fields_make(rig, flow_rougher), extra[2];
    extra[0] = flow_fields_make(rig, flow_roughest);
    extra[1] = flow_fields_make(rig, flow_rough);
    flow_fields out = extras ? flow_fields_make(rig, flow_rough) : base; /* out may be the base */
    const conserved_box box = {{n[0], n[1], n[2]}, &rig->stencil, gas};
    const flow_fields before = flow_fields_make(rig, flow_rougher);
    flow_stage(rig, &gas, &f, &base, extras ? extra : NULL, extras ? all : none, 0.01, &out);
    expect_stage(rig, &box, (const flow_fields *const[4]){&f, &before, &extra[0], &extra[1]},
                 extras ? all : none, 0.01, &out);
    flow_fields_free(rig, &f);
    flow_fields_free(rig, &base);
    for (int i = 0; i < 2; i++) flow_fields_free(rig, &extra[i]);
    if (extras) flow_fields_free(rig, &out);
    flow_fields_free(rig, (flow_fields *)&before);
  }
}

/* ---- What holds to the bit ---- */

static double striped(const rig *rig, int unknown, int x, int y, int z) {
  return unknown == FLOW_DENSITY ? flow_rough(rig, unknown, x, y, z) : flow_even(rig, unknown, x, y, z);
}

/* After steps, the unknowns from `first` on are the bits that they were. */
static void expect_kept(rig *rig, flow_law law, double dissipation, flow_value *value, int first) {
  flow_gas gas = flow_gas_of(FLOW_KEEP_PE, law);
  gas.dissipation = dissipation;
  rig_shape(rig, 33, 20, 9);
  flow_fields f = flow_fields_make(rig, value), kept = flow_fields_make(rig, value), abc[3];
  for (int i = 0; i < 3; i++) abc[i] = flow_fields_make(rig, value);
  for (int i = 0; i < 3; i++) step(rig, &gas, &f, abc, 1e-3);
  for (int k = first; k < FLOW_UNKNOWNS; k++) twin_assert_same(rig, &f.of[k], &kept.of[k], "kept");
  for (int i = 0; i < 3; i++) flow_fields_free(rig, &abc[i]);
  flow_fields_free(rig, &f);
  flow_fields_free(rig, &kept);
}

static void uniform_flow_stays_to_the_bit(rig *rig) {
  for (int law = 0; law < FLOW_LAWS; law++) expect_kept(rig, (flow_law)law, 0.0, flow_even, FLOW_DENSITY);
  expect_kept(rig, FLOW_INVISCID, 0.3, flow_even, FLOW_DENSITY);
}

static void a_wave_of_density_changes_nothing_else(rig *rig) {
  expect_kept(rig, FLOW_INVISCID, 0.0, striped, FLOW_U);
}

/* The dissipation moves mass, momentum and energy and makes none; it takes of the sum of each one's square.
 */
static void damping_keeps_sums_and_takes_squares(rig *rig) {
  for (int order = 2; order <= 8; order += 2) {
    double *before[5], *after[5];
    flow_gas gas = flow_gas_of(FLOW_KEEP_PE, FLOW_INVISCID);
    gas.dissipation = 0.5;
    rig_shape(rig, 20, 17, 13);
    rig_stencil(rig, order, 0.3, 0.4, 0.5);
    const conserved_box box = {{20, 17, 13}, &rig->stencil, gas};
    const int points = conserved_points(&box);
    flow_fields f = flow_fields_make(rig, flow_rough), out = flow_fields_make(rig, flow_rough);
    flow_call call = {.pass = FLOW_DAMP, .gas = gas, .weight = 1e-3};
    for (int k = 0; k < FLOW_UNKNOWNS; k++) {
      call.f[k] = f.of[k].device;
      call.out[k] = out.of[k].device;
    }
    assert_ok(rig->backend->flow(&rig->launch, &call));
    for (int k = 0; k < FLOW_UNKNOWNS; k++) twin_download(rig, &out.of[k]);
    arrays_make(before, points);
    arrays_make(after, points);
    unpack(rig, &f, before);
    unpack(rig, &out, after);
    conserved_from(&box, before);
    conserved_from(&box, after);
    for (int k = 0; k < FLOW_UNKNOWNS; k++) {
      double sum = 0.0, size = 0.0, work = 0.0;
      for (int i = 0; i < points; i++) {
        const double change = after[k][i] - before[k][i];
        sum += change;
        size += fabs(change);
        work += change * before[k][i];
      }
      if (!(fabs(sum) <= 1e-13 * size)) fail_msg("order %d, %d: %g of %g is made", order, k, sum, size);
      if (!(work < -1e-3 * size)) fail_msg("order %d, %d: squares change by %g", order, k, work);
    }
    arrays_free(before);
    arrays_free(after);
    flow_fields_free(rig, &f);
    flow_fields_free(rig, &out);
  }
}

/* Noise with another density and pressure at one point. */
static int spoiled_at[3];
static double spoiled_density, spoiled_pressure;

static double spoiled(const rig *rig, int unknown, int x, int y, int z) {
  const int here = x == spoiled_at[0] && y == spoiled_at[1] && z == spoiled_at[2];
  if (here && unknown == FLOW_DENSITY) return spoiled_density;
  if (here && unknown == FLOW_PRESSURE) return spoiled_pressure;
  return flow_rough(rig, unknown, x, y, z);
}

static void find_largest(rig *rig, const flow_gas *gas, const flow_fields *f, double largest[FLOW_RATES]) {
  flow_call call = {.pass = FLOW_LARGEST, .gas = *gas, .largest = largest};
  for (int i = 0; i < FLOW_UNKNOWNS; i++) call.f[i] = f->of[i].device;
  largest[0] = largest[1] = -1.0;
  assert_ok(rig->backend->flow(&rig->launch, &call));
}

static void expect_largest(rig *rig, const flow_gas *gas, const flow_fields *f) {
  const double *h = rig->stencil.spacing, most = fmax(1.0, gas->gamma / gas->prandtl);
  const double squares = 1.0 / (h[0] * h[0]) + 1.0 / (h[1] * h[1]) + 1.0 / (h[2] * h[2]);
  const kernels_shape *s = &rig->launch.shape;
  double expected[FLOW_RATES] = {0.0, 0.0}, largest[FLOW_RATES];
  for (int i = 0; i < s->nx * s->ny * s->nz; i++) {
    double v[FLOW_UNKNOWNS];
    const int z = i / s->nx / s->ny;
    if (z >= rig->launch.planes[0].z1 && (z < rig->launch.planes[1].z0 || z >= rig->launch.planes[1].z1))
      continue;
    for (int k = 0; k < FLOW_UNKNOWNS; k++) v[k] = at(rig, f, k, i % s->nx, i / s->nx % s->ny, z);
    const double t = v[FLOW_PRESSURE] / v[FLOW_DENSITY], t0 = gas->viscosity_temperature;
    const double law = pow(t / t0, 1.5) * (t0 + gas->sutherland) / (t + gas->sutherland);
    const double mu = gas->viscosity * (gas->law == FLOW_SUTHERLAND ? law : 1.0);
    const double rates[] = {fabs(v[FLOW_U]) / h[0] + fabs(v[FLOW_V]) / h[1] + fabs(v[FLOW_W]) / h[2] +
                                sqrt(gas->gamma * t * squares),
                            mu / v[FLOW_DENSITY] * most * squares};
    for (int k = 0; k < FLOW_RATES; k++) expected[k] = fmax(expected[k], rates[k]);
  }
  find_largest(rig, gas, f, largest);
  const double eps = rig->launch.shape.precision == PRECISION_SINGLE ? 1e-6 : 1e-14;
  for (int k = 0; k < FLOW_RATES; k++)
    if (!(fabs(largest[k] - expected[k]) <= eps * expected[k]))
      fail_msg("rate %d: %.17g, expected %.17g", k, largest[k], expected[k]);
}

/* Where the largest value lies does not matter, nor what lies beside the points; and a point without a rate
 * is found. */
static void largest_rates_are_those_of_all_points(rig *rig) {
  for (int c = 0; c < RIG_SHAPES * FLOW_LAWS; c++) {
    const int *n = rig_shapes[c % RIG_SHAPES];
    const flow_gas gas = flow_gas_of(FLOW_KEEP_PE, (flow_law)(c % FLOW_LAWS));
    rig_shape(rig, n[0], n[1], n[2]);
    for (int d = 0; d < 3; d++) spoiled_at[d] = (c * 7 + d) % n[d];
    spoiled_density = 0.01;
    spoiled_pressure = 1.0;
    flow_fields f = flow_fields_make(rig, c < RIG_SHAPES ? flow_rough : spoiled);
    expect_largest(rig, &gas, &f);
    if (n[2] > 2) {
      rig->launch.planes[0].z1 = 1;
      rig->launch.planes[1] = (kernels_planes){2, n[2]};
      expect_largest(rig, &gas, &f);
    }
    flow_fields_free(rig, &f);
  }
  static const double without[][2] = {{NAN, 1.0}, {-1.0, 1.0}, {0.0, 1.0}, {1.0, -1.0}, {-1.0, -1.0}};
  for (int i = 0; i < 5; i++) {
    rig_shape(rig, 37, 11, 9);
    for (int d = 0; d < 3; d++) spoiled_at[d] = 2 + i + d;
    spoiled_density = without[i][0];
    spoiled_pressure = without[i][1];
    flow_fields f = flow_fields_make(rig, spoiled);
    const flow_gas gas = flow_gas_of(FLOW_KEEP_PE, FLOW_SUTHERLAND);
    double largest[FLOW_RATES];
    find_largest(rig, &gas, &f, largest);
    const int both = without[i][0] < 0.0 && without[i][1] < 0.0; /* so that the viscosity is a number */
    for (int k = 0; k < (both ? FLOW_DIFFUSIVE_RATE : FLOW_RATES); k++)
      assert_true(isinf(largest[k]) && largest[k] > 0.0);
    flow_fields_free(rig, &f);
  }
}

int main(int argc, char **argv) {
  static const rig_test tests[] = {
      RIG_TEST_DOUBLE(the_reference_has_the_values),
      RIG_TEST_DOUBLE(five_steps_have_the_values),
      RIG_TEST(stages_are_those_of_conserved_variables),
      RIG_TEST(uniform_flow_stays_to_the_bit),
      RIG_TEST(a_wave_of_density_changes_nothing_else),
      RIG_TEST_DOUBLE(damping_keeps_sums_and_takes_squares),
      RIG_TEST(largest_rates_are_those_of_all_points),
  };
  return rig_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
