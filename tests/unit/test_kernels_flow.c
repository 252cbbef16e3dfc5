#include "rig.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "conserved.h"

/* Compressible flow: values from three independent programs, every form and law of viscosity against fluxes
 * of conserved variables, and what holds to the bit. */

static const double pi = 3.14159265358979323846;

/* A state on the backend, arrays of the first pass, and the last call. */
typedef struct fields {
  twin of[FLOW_UNKNOWNS];
} fields;

typedef double value_of(const rig *rig, int unknown, int x, int y, int z);

typedef struct source {
  value_of *value;
  int unknown;
} source;

static double from_source(const rig *rig, const void *user, int x, int y, int z) {
  const source *s = user;
  const int nz = rig->launch.shape.nz;
  return s->value(rig, s->unknown, x, y, (z + nz) % nz);
}

static fields fields_make(rig *rig, value_of *value) {
  fields made;
  for (int i = 0; i < FLOW_UNKNOWNS; i++)
    made.of[i] = twin_make(rig, from_source, &(source){.value = value, .unknown = i});
  return made;
}

static void fields_free(rig *rig, fields *f) {
  for (int i = 0; i < FLOW_UNKNOWNS; i++) twin_free(rig, &f->of[i]);
}

/* Sets halo planes to periodic images. */
static void wrap(rig *rig, twin *t) {
  const kernels_shape *shape = &rig->launch.shape;
  const size_t plane = (size_t)shape->plane * kernels_element_size(shape->precision);
  twin_download(rig, t);
  for (int z = -KERNELS_HALO; z < shape->nz + KERNELS_HALO; z++) {
    const int from = (z + KERNELS_HALO * shape->nz) % shape->nz;
    if (from != z)
      memcpy((char *)t->host + (size_t)(z + KERNELS_HALO) * plane,
             (char *)t->host + (size_t)(from + KERNELS_HALO) * plane, plane);
  }
  twin_upload(rig, t);
}

/* One stage, with its first pass; halos of the result are valid. */
static void stage(rig *rig, const flow_gas *gas, const fields *f, const fields *base, const fields *extra,
                  const double weights[3], double weight, fields *out) {
  fields work;
  flow_call call = {.gas = *gas, .weight_f = weights[0], .weight = weight};
  for (int i = 0; i < FLOW_WORKS; i++) work.of[i] = twin_sentinel(rig);
  for (int i = 0; i < FLOW_UNKNOWNS; i++) {
    call.f[i] = f->of[i].device;
    call.base[i] = base->of[i].device;
    for (int k = 0; k < 2 && extra != NULL; k++) call.extra[k][i] = extra[k].of[i].device;
    call.out[i] = out->of[i].device;
  }
  for (int k = 0; k < 2; k++) call.weight_extra[k] = weights[1 + k];
  for (int i = 0; i < FLOW_WORKS; i++) call.work[i] = work.of[i].device;
  call.pass = FLOW_FIRST;
  if (flow_works(gas) > 0) assert_ok(rig->backend->flow(&rig->launch, &call));
  for (int i = 0; i < flow_works(gas); i++) wrap(rig, &work.of[i]);
  call.pass = FLOW_STAGE;
  assert_ok(rig->backend->flow(&rig->launch, &call));
  call.pass = FLOW_DAMP;
  if (gas->dissipation > 0.0) assert_ok(rig->backend->flow(&rig->launch, &call));
  for (int i = 0; i < FLOW_UNKNOWNS; i++) wrap(rig, &out->of[i]);
  for (int i = 0; i < FLOW_WORKS; i++) twin_free(rig, &work.of[i]);
}

static double at(const rig *rig, const fields *f, int unknown, int x, int y, int z) {
  return reference_value(&rig->launch.shape, f->of[unknown].host, x, y, z);
}

/* Copies the owned points to arrays without padding. */
static void unpack(const rig *rig, const fields *f, double *const to[5]) {
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

static flow_gas gas_of(flow_form form, flow_law law) {
  return (flow_gas){.form = form,
                    .law = law,
                    .gamma = 1.4,
                    .gas_constant = 1.0,
                    .prandtl = 0.71,
                    .viscosity = law == FLOW_INVISCID ? 0.0 : 0.01,
                    .viscosity_temperature = 1.5,
                    .sutherland = 0.6};
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
  fields f = fields_make(rig, waves);
  unpack(rig, &f, state);
  const conserved_box box = {{16, 12, 20}, &rig->stencil, gas_of(FLOW_KEEP_PE, FLOW_CONSTANT)};
  conserved_rate(&box, state, rate);
  for (int k = 0; k < 5; k++) expect_row(rate[k], expected[k], "right-hand side", k);
  arrays_free(state);
  arrays_free(rate);
  fields_free(rig, &f);
}

/* A step of the classical scheme: f to f, by way of a, b, c. */
static void step(rig *rig, const flow_gas *gas, fields *f, fields *abc, double dt) {
  static const double none[3] = {0.0, 0.0, 0.0}, last[3] = {1.0 / 3.0, 1.0 / 3.0, 2.0 / 3.0};
  stage(rig, gas, f, f, NULL, none, 0.5 * dt, &abc[0]);
  stage(rig, gas, &abc[0], f, NULL, none, 0.5 * dt, &abc[1]);
  stage(rig, gas, &abc[1], f, NULL, none, dt, &abc[2]);
  stage(rig, gas, &abc[2], f, abc, last, dt / 6.0, f);
}

static void five_steps(rig *rig, flow_law law, const double expected[5][2], const char *what) {
  const flow_gas gas = gas_of(FLOW_KEEP_PE, law);
  double *state[5];
  waves_shape(rig);
  arrays_make(state, 16 * 12 * 20);
  fields f = fields_make(rig, waves), abc[3];
  for (int i = 0; i < 3; i++) abc[i] = fields_make(rig, waves);
  for (int i = 0; i < 5; i++) step(rig, &gas, &f, abc, 0.02);
  unpack(rig, &f, state);
  for (int k = 0; k < 5; k++) expect_row(state[k], expected[k], what, k);
  for (int i = 0; i < 3; i++) fields_free(rig, &abc[i]);
  fields_free(rig, &f);
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

static double hashed(int unknown, int x, int y, int z) {
  const unsigned h = (unsigned)x * 73856093U ^ (unsigned)y * 19349663U ^ (unsigned)z * 83492791U ^
                     (unsigned)unknown * 2654435U;
  return (double)(h * 2654435761U >> 8) / (1 << 23) - 1.0;
}

static double rough(const rig *rig, int unknown, int x, int y, int z) {
  (void)rig;
  const double noise = hashed(unknown, x, y, z);
  return unknown == FLOW_DENSITY ? 1.0 + 0.4 * noise : unknown == FLOW_PRESSURE ? 2.0 + 0.5 * noise : noise;
}

static double rougher(const rig *rig, int unknown, int x, int y, int z) {
  return rough(rig, unknown, x + 1000, y, z);
}

static double roughest(const rig *rig, int unknown, int x, int y, int z) {
  return rough(rig, unknown, x, y + 1000, z);
}

/* The stage in conserved variables. */
static void expect_stage(rig *rig, const conserved_box *box, const fields *const from[4],
                         const double weights[3], double weight, const fields *found) {
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
    flow_gas gas = gas_of((flow_form)(c % FLOW_FORMS), (flow_law)(c / FLOW_FORMS));
    gas.dissipation = c / FLOW_FORMS == 1 ? 0.0 : 0.7;
    rig_shape(rig, n[0], n[1], n[2]);
    rig_stencil(rig, 8 - 2 * (c % 4), 0.3, 0.4, 0.5);
    fields f = fields_make(rig, rough), base = fields_make(rig, rougher), extra[2];
    extra[0] = fields_make(rig, roughest);
    extra[1] = fields_make(rig, rough);
    fields out = extras ? fields_make(rig, rough) : base; /* out may be the base */
    const conserved_box box = {{n[0], n[1], n[2]}, &rig->stencil, gas};
    const fields before = fields_make(rig, rougher);
    stage(rig, &gas, &f, &base, extras ? extra : NULL, extras ? all : none, 0.01, &out);
    expect_stage(rig, &box, (const fields *const[4]){&f, &before, &extra[0], &extra[1]}, extras ? all : none,
                 0.01, &out);
    fields_free(rig, &f);
    fields_free(rig, &base);
    for (int i = 0; i < 2; i++) fields_free(rig, &extra[i]);
    if (extras) fields_free(rig, &out);
    fields_free(rig, (fields *)&before);
  }
}

static double even(const rig *rig, int unknown, int x, int y, int z) {
  static const double of[5] = {1.1, 0.3, -0.7, 0.9, 2.3};
  (void)rig;
  (void)x;
  (void)y;
  (void)z;
  return of[unknown];
}

/* ---- The bits of the CPU with one thread, whatever computes ---- */

/* A copy of each array in memory of the CPU's backend. */
typedef struct mirror {
  const kernels *cpu;
  kernels_context *context;
  twin *of[32];
  void *copy[32];
  int count;
} mirror;

static void *mirror_add(mirror *m, twin *t) {
  m->of[m->count] = t;
  assert_ok(m->cpu->memory_allocate(m->context, MEMORY_DEVICE, t->bytes, &m->copy[m->count]));
  memcpy(m->copy[m->count], t->host, t->bytes);
  return m->copy[m->count++];
}

static void mirror_check(rig *rig, mirror *m, const char *what) {
  for (int i = 0; i < m->count; i++) {
    memcpy(m->of[i]->host, m->copy[i], m->of[i]->bytes);
    twin_assert_equal(rig, m->of[i], what);
  }
}

static void expect_pass(rig *rig, const flow_gas *gas, flow_pass pass, int figure) {
  mirror m = {.cpu = kernels_find("cpu")};
  kernels_launch launch = rig->launch;
  flow_call call = {.pass = pass,
                    .gas = *gas,
                    .figure = (flow_figure)figure,
                    .weight_f = 0.4,
                    .weight_extra = {0.25, 0.15},
                    .weight = 0.01};
  flow_call cpu = call;
  twin number = twin_random(rig, 3); /* of which the first element is taken */
  fields f = fields_make(rig, rough), base = fields_make(rig, rougher), extra = fields_make(rig, roughest);
  fields out = fields_make(rig, even), work = fields_make(rig, even);
  assert_ok(m.cpu->context_create(&(kernels_setup){.threads = 1}, &m.context));
  launch.context = m.context;
  call.number = number.device;
  cpu.number = mirror_add(&m, &number);
  for (int i = 0; i < FLOW_UNKNOWNS; i++) {
    if (i != FLOW_V) call.source[i] = f.of[i].device;
    call.f[i] = f.of[i].device;
    cpu.f[i] = mirror_add(&m, &f.of[i]);
    if (i != FLOW_V) cpu.source[i] = cpu.f[i];
    call.base[i] = base.of[i].device;
    cpu.base[i] = mirror_add(&m, &base.of[i]);
    call.extra[0][i] = call.extra[1][i] = extra.of[i].device;
    cpu.extra[0][i] = cpu.extra[1][i] = mirror_add(&m, &extra.of[i]);
    call.out[i] = out.of[i].device;
    cpu.out[i] = mirror_add(&m, &out.of[i]);
    if (i >= FLOW_WORKS) continue;
    call.work[i] = work.of[i].device;
    cpu.work[i] = mirror_add(&m, &work.of[i]);
  }
  assert_ok(rig->backend->flow(&rig->launch, &call));
  assert_ok(m.cpu->flow(&launch, &cpu));
  mirror_check(rig, &m, "as on the CPU");
  for (int i = 0; i < m.count; i++) m.cpu->memory_free(m.context, MEMORY_DEVICE, m.copy[i]);
  m.cpu->context_destroy(m.context);
  fields_free(rig, &f);
  fields_free(rig, &base);
  fields_free(rig, &extra);
  fields_free(rig, &out);
  fields_free(rig, &work);
  twin_free(rig, &number);
}

static void every_pass_has_the_bits_of_the_cpu(rig *rig) {
  for (int c = 0; c < FLOW_FORMS * FLOW_LAWS; c++) {
    const int *n = rig_shapes[c % 5];
    const flow_gas gas = gas_of((flow_form)(c % FLOW_FORMS), (flow_law)(c / FLOW_FORMS));
    rig_shape(rig, n[0], n[1], n[2]);
    rig->launch.shape.whole = 1;
    expect_pass(rig, &gas, FLOW_STAGE, 0);
    if (flow_works(&gas) > 0) expect_pass(rig, &gas, FLOW_FIRST, 0);
  }
  /* enough points for each of five multiprocessors: what engines keep for large slabs */
  for (int c = 0; c < 4; c++) {
    const flow_gas gas = gas_of(FLOW_KEEP_PE, c % 2 == 0 ? FLOW_INVISCID : FLOW_CONSTANT);
    rig_shape(rig, 70, 21, 19);
    rig->launch.shape.whole = c / 2;
    expect_pass(rig, &gas, FLOW_STAGE, 0);
  }
  flow_gas gas = gas_of(FLOW_KEEP_PE, FLOW_SUTHERLAND);
  rig_shape(rig, 33, 20, 17);
  gas.dissipation = 0.3;
  for (int order = 2; order <= 8; order += 2) {
    rig_stencil(rig, order, 0.3, 0.4, 0.5);
    rig->launch.shape.whole = order % 4 == 0;
    expect_pass(rig, &gas, FLOW_DAMP, 0);
  }
  expect_pass(rig, &gas, FLOW_SUPPLY, 0);
  for (int i = 0; i < FLOW_FIGURES; i++) expect_pass(rig, &gas, FLOW_FIGURE, i);
}

/* ---- What holds to the bit ---- */

static double striped(const rig *rig, int unknown, int x, int y, int z) {
  return unknown == FLOW_DENSITY ? rough(rig, unknown, x, y, z) : even(rig, unknown, x, y, z);
}

/* After steps, the unknowns from `first` on are the bits that they were. */
static void expect_kept(rig *rig, flow_law law, double dissipation, value_of *value, int first) {
  flow_gas gas = gas_of(FLOW_KEEP_PE, law);
  gas.dissipation = dissipation;
  rig_shape(rig, 33, 20, 9);
  fields f = fields_make(rig, value), kept = fields_make(rig, value), abc[3];
  for (int i = 0; i < 3; i++) abc[i] = fields_make(rig, value);
  for (int i = 0; i < 3; i++) step(rig, &gas, &f, abc, 1e-3);
  for (int k = first; k < FLOW_UNKNOWNS; k++) twin_assert_same(rig, &f.of[k], &kept.of[k], "kept");
  for (int i = 0; i < 3; i++) fields_free(rig, &abc[i]);
  fields_free(rig, &f);
  fields_free(rig, &kept);
}

static void uniform_flow_stays_to_the_bit(rig *rig) {
  for (int law = 0; law < FLOW_LAWS; law++) expect_kept(rig, (flow_law)law, 0.0, even, FLOW_DENSITY);
  expect_kept(rig, FLOW_INVISCID, 0.3, even, FLOW_DENSITY);
}

static void a_wave_of_density_changes_nothing_else(rig *rig) {
  expect_kept(rig, FLOW_INVISCID, 0.0, striped, FLOW_U);
}

/* The dissipation moves mass, momentum and energy and makes none; it takes of the sum of each one's square.
 */
static void damping_keeps_sums_and_takes_squares(rig *rig) {
  for (int order = 2; order <= 8; order += 2) {
    double *before[5], *after[5];
    flow_gas gas = gas_of(FLOW_KEEP_PE, FLOW_INVISCID);
    gas.dissipation = 0.5;
    rig_shape(rig, 20, 17, 13);
    rig_stencil(rig, order, 0.3, 0.4, 0.5);
    const conserved_box box = {{20, 17, 13}, &rig->stencil, gas};
    const int points = conserved_points(&box);
    fields f = fields_make(rig, rough), out = fields_make(rig, rough);
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
    fields_free(rig, &f);
    fields_free(rig, &out);
  }
}

/* Parts of the planes give the bits of the whole, and write nothing else. */
static void parts_are_the_whole(rig *rig) {
  static const double none[3] = {0.0, 0.0, 0.0};
  const flow_gas gas = gas_of(FLOW_KEEP_PE, FLOW_INVISCID);
  rig_shape(rig, 33, 20, 17);
  fields f = fields_make(rig, rough), whole = fields_make(rig, even), parts = fields_make(rig, even);
  stage(rig, &gas, &f, &f, NULL, none, 0.001, &whole);
  const kernels_planes ranges[2][2] = {{{0, 4}, {13, 17}}, {{4, 13}, {0, 0}}};
  for (int i = 0; i < 2; i++) {
    rig->launch.planes[0] = ranges[i][0];
    rig->launch.planes[1] = ranges[i][1];
    stage(rig, &gas, &f, &f, NULL, none, 0.001, &parts);
  }
  for (int k = 0; k < FLOW_UNKNOWNS; k++) twin_assert_same(rig, &parts.of[k], &whole.of[k], "parts");
  fields_free(rig, &f);
  fields_free(rig, &whole);
  fields_free(rig, &parts);
}

int main(int argc, char **argv) {
  static const rig_test tests[] = {
      RIG_TEST_DOUBLE(the_reference_has_the_values),
      RIG_TEST_DOUBLE(five_steps_have_the_values),
      RIG_TEST(stages_are_those_of_conserved_variables),
      RIG_TEST(every_pass_has_the_bits_of_the_cpu),
      RIG_TEST(uniform_flow_stays_to_the_bit),
      RIG_TEST(a_wave_of_density_changes_nothing_else),
      RIG_TEST_DOUBLE(damping_keeps_sums_and_takes_squares),
      RIG_TEST(parts_are_the_whole),
  };
  return rig_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
