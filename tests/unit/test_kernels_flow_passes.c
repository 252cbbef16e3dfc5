#include "rig.h"

#include <string.h>

#include "flow_fields.h"

/* Passes of compressible flow: the bits of the CPU with one thread, whatever computes, and parts of the
 * planes those of the whole. */

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
                    .weight = 0.01,
                    .force = {0.3 * figure, -0.2 * figure, 0.7 * figure}}; /* of sources */
  flow_call cpu = call;
  twin number = twin_random(rig, 3); /* of which the first element is taken */
  flow_fields f = flow_fields_make(rig, flow_rough), base = flow_fields_make(rig, flow_rougher),
              extra = flow_fields_make(rig, flow_roughest);
  flow_fields out = flow_fields_make(rig, flow_even), work = flow_fields_make(rig, flow_even);
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
  flow_fields_free(rig, &f);
  flow_fields_free(rig, &base);
  flow_fields_free(rig, &extra);
  flow_fields_free(rig, &out);
  flow_fields_free(rig, &work);
  twin_free(rig, &number);
}

static void every_pass_has_the_bits_of_the_cpu(rig *rig) {
  for (int c = 0; c < FLOW_FORMS * FLOW_LAWS; c++) {
    const int *n = rig_shapes[c % 5];
    const flow_gas gas = flow_gas_of((flow_form)(c % FLOW_FORMS), (flow_law)(c / FLOW_FORMS));
    rig_shape(rig, n[0], n[1], n[2]);
    rig->launch.shape.whole = 1;
    expect_pass(rig, &gas, FLOW_STAGE, 0);
    if (flow_works(&gas) > 0) expect_pass(rig, &gas, FLOW_FIRST, 0);
  }
  /* enough points for each of five multiprocessors: what engines keep for large slabs */
  for (int c = 0; c < 4; c++) {
    const flow_gas gas = flow_gas_of(FLOW_KEEP_PE, c % 2 == 0 ? FLOW_INVISCID : FLOW_CONSTANT);
    rig_shape(rig, 70, 21, 19);
    rig->launch.shape.whole = c / 2;
    expect_pass(rig, &gas, FLOW_STAGE, 0);
  }
  flow_gas gas = flow_gas_of(FLOW_KEEP_PE, FLOW_SUTHERLAND);
  rig_shape(rig, 33, 20, 17);
  gas.dissipation = 0.3;
  for (int order = 2; order <= 8; order += 2) {
    rig_stencil(rig, order, 0.3, 0.4, 0.5);
    rig->launch.shape.whole = order % 4 == 0;
    expect_pass(rig, &gas, FLOW_DAMP, 0);
  }
  for (int forced = 0; forced < 2; forced++) expect_pass(rig, &gas, FLOW_SUPPLY, forced);
  for (int i = 0; i < FLOW_FIGURES; i++) expect_pass(rig, &gas, FLOW_FIGURE, i);
}

/* Parts of the planes give the bits of the whole, and write nothing else. */
static void parts_are_the_whole(rig *rig) {
  static const double none[3] = {0.0, 0.0, 0.0};
  const flow_gas gas = flow_gas_of(FLOW_KEEP_PE, FLOW_INVISCID);
  rig_shape(rig, 33, 20, 17);
  flow_fields f = flow_fields_make(rig, flow_rough), whole = flow_fields_make(rig, flow_even),
              parts = flow_fields_make(rig, flow_even);
  flow_stage(rig, &gas, &f, &f, NULL, none, 0.001, &whole);
  const kernels_planes ranges[2][2] = {{{0, 4}, {13, 17}}, {{4, 13}, {0, 0}}};
  for (int i = 0; i < 2; i++) {
    rig->launch.planes[0] = ranges[i][0];
    rig->launch.planes[1] = ranges[i][1];
    flow_stage(rig, &gas, &f, &f, NULL, none, 0.001, &parts);
  }
  for (int k = 0; k < FLOW_UNKNOWNS; k++) twin_assert_same(rig, &parts.of[k], &whole.of[k], "parts");
  flow_fields_free(rig, &f);
  flow_fields_free(rig, &whole);
  flow_fields_free(rig, &parts);
}

int main(int argc, char **argv) {
  static const rig_test tests[] = {RIG_TEST(every_pass_has_the_bits_of_the_cpu),
                                   RIG_TEST(parts_are_the_whole)};
  return rig_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
