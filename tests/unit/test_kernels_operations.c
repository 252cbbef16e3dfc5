#include "rig.h"

#include <stdio.h>

/* Every operation of operations.h, in every way and with every combination of additions: bit for bit its
 * reference (reference_real.c), and not a point written beside the planes asked for. A new operation is
 * tested here once it is in the list. */

typedef struct way {
  const char *name;
  operation_kind kind;
  unsigned options;
} way;

static const way ways[] = {
#define X(name, options, way_name) {#way_name, OPERATION_##name, options},
    OPERATION_WAYS(X)
#undef X
};
enum { WAYS = sizeof ways / sizeof ways[0] };

/* Inputs with random numbers, outputs with what nobody writes; what a declaration does not read is NULL. */
typedef struct operands {
  operation of;
  twin in[OPERATION_INPUTS], out[OPERATION_OUTPUTS], tables;
} operands;

static operands operands_make(rig *rig, const way *way, unsigned options) {
  operands o = {.of = operation_describe(way->kind, options)};
  for (int i = 0; i < OPERATION_INPUTS; i++)
    if (o.of.inputs >> i & 1U) o.in[i] = twin_random(rig, i + 1);
  for (int k = 0; k < OPERATION_OUTPUTS; k++)
    if (operation_stores(&o.of, k)) o.out[k] = twin_sentinel(rig);
  if (o.of.velocity == VELOCITY_TABLES) o.tables = twin_tables(rig, OPERATION_INPUTS + 1);
  return o;
}

static void operands_free(rig *rig, operands *o) {
  for (int i = 0; i < OPERATION_INPUTS; i++)
    if (o->of.inputs >> i & 1U) twin_free(rig, &o->in[i]);
  for (int k = 0; k < OPERATION_OUTPUTS; k++)
    if (operation_stores(&o->of, k)) twin_free(rig, &o->out[k]);
  if (o->of.velocity == VELOCITY_TABLES) twin_free(rig, &o->tables);
}

static kernels_call call_make(const rig *rig, const way *way, unsigned options, const operands *o,
                              int device) {
  kernels_call call = {.kind = way->kind, .options = options, .uniform = {1.1, -0.7, 0.4}};
  for (int i = 0; i < OPERATION_INPUTS; i++) call.in[i] = device ? o->in[i].device : o->in[i].host;
  for (int k = 0; k < OPERATION_OUTPUTS; k++) call.out[k] = device ? o->out[k].device : o->out[k].host;
  for (int i = 0; i < OPERATION_SCALARS; i++) call.scalar[i] = (i % 2 ? -1.0 : 1.0) / (3.0 + i);
  if (o->of.velocity == VELOCITY_TABLES) call.tables = twin_tables_at(rig, &o->tables, device);
  return call;
}

static void operation_check(rig *rig, const way *way, unsigned additions) {
  const unsigned options = way->options | additions;
  operands o = operands_make(rig, way, options);
  const kernels_call device = call_make(rig, way, options, &o, 1), host = call_make(rig, way, options, &o, 0);
  char what[128];
  (void)snprintf(what, sizeof what, "%s with additions %u", way->name, additions);
  assert_ok(rig->backend->apply(&rig->launch, &device));
  reference_apply(&rig->launch, &host);
  for (int k = 0; k < OPERATION_OUTPUTS; k++)
    if (operation_stores(&o.of, k)) twin_assert_equal(rig, &o.out[k], what);
  operands_free(rig, &o);
}

/* What the engines rely on and a compiler may not notice (operation.h). */
static void declaration_check(const way *way, const operation *o) {
  for (int t = 0; t < OPERATION_TERMS; t++) {
    const operation_term *term = &o->term[t];
    if (!operation_has(o, t)) continue;
    if (term->fold == FOLD_CHAIN && term->of != DIFFERENCE_SECOND)
      fail_msg("%s: term %d: FOLD_CHAIN sums second derivatives only", way->name, t);
    const int *along = term->along;
    if (term->fold == FOLD_CHAIN && (along[0] != along[1] || along[1] != along[2]))
      fail_msg("%s: term %d: FOLD_CHAIN takes one input along all three axes", way->name, t);
  }
}

static void every_declaration_is_held(rig *rig) {
  unsigned found = 0;
  (void)rig;
  for (int w = 0; w < WAYS; w++) {
    found |= 1U << ways[w].kind;
    const operation o = operation_describe(ways[w].kind, ways[w].options | operation_additions(ways[w].kind));
    declaration_check(&ways[w], &o);
  }
  if (found != (1U << OPERATION_KINDS) - 1) fail_msg("an operation has no line in OPERATION_WAYS");
}

/* Each combination on two of the shapes, and on two ranges of another. */
static void every_combination_is_the_reference(rig *rig) {
  int count = 0;
  for (int w = 0; w < WAYS; w++) {
    for (unsigned additions = 0; additions <= operation_additions(ways[w].kind); additions++) {
      if (!operation_combines(ways[w].kind, ways[w].options, additions)) continue;
      for (int i = 0; i < 2; i++) {
        const int *shape = rig_shapes[(count + 3 * i) % RIG_SHAPES];
        rig_shape(rig, shape[0], shape[1], shape[2]);
        operation_check(rig, &ways[w], additions);
      }
      rig_shape(rig, 33, 20, 13);
      rig->launch.planes[0] = (kernels_planes){9, 13};
      rig->launch.planes[1] = (kernels_planes){1, 6};
      rig_stencil(rig, 2 + 2 * (count % 4), 0.02, 0.03, 0.04);
      operation_check(rig, &ways[w], additions);
      count++;
    }
  }
}

/* Large launches may take other kernels. */
static void large_launches_are_the_reference(rig *rig) {
  for (int w = 0; w < WAYS; w++) {
    const int *shape = rig_large[w % RIG_LARGE];
    rig_shape(rig, shape[0], shape[1], shape[2]);
    operation_check(rig, &ways[w], operation_additions(ways[w].kind));
  }
}

int main(int argc, char **argv) {
  static const rig_test tests[] = {RIG_TEST(every_declaration_is_held),
                                   RIG_TEST(every_combination_is_the_reference),
                                   RIG_TEST(large_launches_are_the_reference)};
  return rig_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
