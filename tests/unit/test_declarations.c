#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "kernels.h"
#include "operation_traits.h"

/* The declarations of kernels/operations.h, without any engine. */

/* A point at which parts compute nothing: it notes what is read. */
#define FDAPP_REAL double
#include "arithmetic.h"
struct operation_point {
  unsigned *inputs, *terms;
};
struct operation_values {
  unsigned *inputs;
  int *velocity; /* becomes 1 if the velocity is read */
};
#include "operations.h"

ARITHMETIC number point_input(const operation_point *at, int input) {
  *at->inputs |= OPERATION_BIT(input);
  return 1.0;
}

ARITHMETIC number point_term(const operation_point *at, int term) {
  *at->terms |= OPERATION_BIT(term);
  return 1.0;
}

ARITHMETIC number value_input(const operation_values *at, int input) {
  *at->inputs |= OPERATION_BIT(input);
  return 1.0;
}

ARITHMETIC number value_velocity(const operation_values *at, int axis) {
  (void)axis;
  *at->velocity = 1;
  return 1.0;
}

ARITHMETIC number point_scalar(const operation_point *at, int scalar) {
  (void)at;
  if (scalar >= OPERATION_SCALARS) fail_msg("scalar %d of at most OPERATION_SCALARS", scalar);
  return 1.0;
}

ARITHMETIC number point_weight(const operation_point *at, int weight) {
  (void)at;
  (void)weight;
  return 1.0;
}

/* The functions of a term along an axis read what the declaration says that they read. */
static void term_check(const kernels_way *way, unsigned options, const operation *o, int t, int axis) {
  unsigned own = 0, there = 0;
  int velocity = 0;
  const operation_values at = {&own, &velocity}, neighbour = {&there, &velocity};
  if (o->term[t].of == DIFFERENCE_PAIR) {
    (void)operation_pair(way->kind, options, t, axis, &at, &neighbour);
  } else {
    (void)operation_speed(way->kind, options, t, axis, &neighbour);
  }
  if (((own | there) & ~o->around) != 0)
    fail_msg("%s: .around is %#x, but the function of term %d reads the inputs %#x", way->name, o->around, t,
             own | there);
  if (velocity != o->term[t].product)
    fail_msg("%s: .product of term %d is %d, but its function reads %s velocity", way->name, t,
             o->term[t].product, velocity ? "the" : "no");
}

static void terms_check(const kernels_way *way, unsigned additions) {
  const unsigned options = way->options | additions;
  const operation o = operation_describe(way->kind, options);
  for (int t = 0; t < OPERATION_TERMS; t++) {
    for (int axis = 0; axis < 3 && operation_has(&o, t) && term_calls(&o.term[t]); axis++)
      if (o.term[t].along[axis] != OPERATION_NONE) term_check(way, options, &o, t, axis);
  }
}

/* What parts and the sum read is what the declaration says that they read. */
static void output_check(const kernels_way *way, unsigned additions) {
  const unsigned options = way->options | additions;
  const operation o = operation_describe(way->kind, options);
  unsigned inputs = 0;
  for (int k = 0; k < OPERATION_OUTPUTS; k++) {
    unsigned terms = 0;
    const operation_point at = {&inputs, &terms};
    if (!operation_stores(&o, k)) continue;
    (void)operation_output(way->kind, options, operation_parts(&o, options), operation_own(&o), k, &at);
    if (terms != o.needs[k])
      fail_msg("%s with additions %#x: .needs[%d] is %#x, but its parts read the terms %#x", way->name,
               additions, k, o.needs[k], terms);
  }
  if (inputs != operation_points(&o))
    fail_msg("%s with additions %#x: its points are %#x, but its parts and the sum read the inputs %#x",
             way->name, additions, operation_points(&o), inputs);
}

static void every_declaration_is_sound(void **state) {
  unsigned found = 0;
  (void)state;
  for (const kernels_way *way = kernels_ways; way < kernels_ways + OPERATION_WAY_COUNT; way++) {
    const char *fault = operation_fault(way->kind, way->options);
    if (fault != NULL) fail_msg("kernels/operations.h: %s: %s", way->name, fault);
    const unsigned all = operation_additions(way->kind, way->options);
    for (unsigned additions = 0, more = 1; more; more = (additions = additions_next(all, additions)) != 0)
      if (operation_combines(way->kind, way->options, additions)) {
        output_check(way, additions);
        terms_check(way, additions);
      }
    found |= 1U << way->kind;
  }
#define X(name, additions)                                                                                   \
  if (!(found >> OPERATION_##name & 1U)) fail_msg("operation %s has no line in OPERATION_WAYS", #name);
  OPERATIONS(X)
#undef X
}

/* Engines that load each value once are for lean ways alone. */
static void lean_ways_are_lean(void **state) {
  (void)state;
#define X(name, options, way)                                                                                \
  {                                                                                                          \
    const operation o =                                                                                      \
        operation_describe(OPERATION_##name, (unsigned)(options) | OPERATION_ADDITIONS(name, options));      \
    if (lean_fault(&o) != NULL) fail_msg("%s belongs into GENERAL_WAYS: %s", #way, lean_fault(&o));          \
  }
  LEAN_WAYS(X)
#undef X
}

/* Each rule refuses a declaration that breaks it alone. */
static void every_rule_refuses(void **state) {
  enum { NONE = OPERATION_NONE };
  static const struct {
    operation of;
    const char *fault;
  } broken[] = {
      {{.outputs = 1, .needs = {1}, .term = {{DIFFERENCE_FIRST, FOLD_CHAIN, {0, 0, 0}, 0}}}, "FOLD_CHAIN"},
      {{.outputs = 1, .needs = {1}, .term = {{DIFFERENCE_SECOND, FOLD_CHAIN, {0, 1, 0}, 0}}}, "FOLD_CHAIN"},
      {{.outputs = 1,
        .needs = {1},
        .velocity = VELOCITY_UNIFORM,
        .term = {{DIFFERENCE_FIRST, FOLD_VELOCITY, {0, 0, NONE}, 0}}},
       "only FOLD_SUM"},
      {{.outputs = 1, .needs = {1}, .term = {{DIFFERENCE_FIRST, FOLD_SPEED, {0, 0, 0}, 0}}},
       "a velocity that there is not"},
      {{.outputs = 1,
        .needs = {1},
        .velocity = VELOCITY_UNIFORM,
        .term = {{DIFFERENCE_FIRST, FOLD_SUM, {0, 0, 0}, 1}}},
       "a flux needs"},
      {{.outputs = 1,
        .needs = {1},
        .velocity = VELOCITY_TABLES,
        .term = {{DIFFERENCE_DISSIPATION, FOLD_SUM, {0, 0, 0}, 1}}},
       "a flux has first differences only"},
      {{.outputs = 3, .needs = {1, 0}, .term = {OPERATION_TERM(DIFFERENCE_FIRST, 0, 0, 0)}},
       "an output needs no term"},
      {{.outputs = 1,
        .needs = {1},
        .velocity = VELOCITY_STORED,
        .term = {{DIFFERENCE_DAMPING, FOLD_SPEED, {0, 0, 0}, 1}}},
       "a term with a function of its own has FOLD_SUM"},
      {{.sum = SUM_BASE,
        .outputs = 15,
        .needs = {1, 1, 1, 1},
        .term = {OPERATION_TERM(DIFFERENCE_FIRST, 0, 0, 0)}},
       "a sum has at most three outputs"},
      {{.outputs = 1, .needs = {1}, .part = {0, 1}, .term = {OPERATION_TERM(DIFFERENCE_FIRST, 0, 0, 0)}},
       "no sum that adds them"},
      {{.outputs = 1U << 9, .term = {OPERATION_TERM(DIFFERENCE_FIRST, 0, 0, 0)}}, "OPERATION_OUTPUTS"},
      {{.outputs = 1, .needs = {513}, .term = {OPERATION_TERM(DIFFERENCE_FIRST, 0, 0, 0)}},
       "OPERATION_TERMS"},
      {{.outputs = 1, .needs = {1}, .term = {OPERATION_TERM(DIFFERENCE_FIRST, 12, 0, 0)}},
       "OPERATION_INPUTS"},
      {{.at_point = 1U << 12, .outputs = 1}, "OPERATION_INPUTS"},
      {{.outputs = 1, .velocity = VELOCITY_STORED, .velocity_input = 10}, "OPERATION_INPUTS"},
  };
  (void)state;
  for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
    const char *fault = declaration_fault(&broken[i].of, &broken[i].of);
    if (fault == NULL || strstr(fault, broken[i].fault) == NULL)
      fail_msg("declaration %d: expected \"%s\", found \"%s\"", (int)i, broken[i].fault,
               fault == NULL ? "no fault" : fault);
  }
  /* an addition brings the last term of an output that is always written */
  const operation late = {
      .outputs = 1,
      .needs = {3},
      .term = {OPERATION_TERM(DIFFERENCE_FIRST, 0, 0, 0), OPERATION_TERM(DIFFERENCE_FIRST, 0, 0, 0)}};
  operation least = late;
  least.needs[0] = 1;
  assert_non_null(strstr(declaration_fault(&late, &least), "not part of every way"));
}

/* Every output's terms are in use. */
static void terms_are_those_of_the_outputs(void **state) {
  (void)state;
  for (int k = 0; k < OPERATION_OUTPUTS; k++) {
    operation o = {.outputs = OPERATION_BIT(k)};
    for (int i = 0; i < OPERATION_OUTPUTS; i++) o.needs[i] = OPERATION_BIT(i);
    assert_int_equal(operation_terms(&o), OPERATION_BIT(k));
  }
}

/* Each rule of lean operations makes an operation general that breaks it alone. */
static void every_lean_rule_refuses(void **state) {
  enum { NONE = OPERATION_NONE };
  static const struct {
    operation of;
    const char *fault;
  } broken[] = {
      {{.outputs = 1,
        .needs = {3},
        .term = {OPERATION_TERM(DIFFERENCE_FIRST, 0, 0, 0),
                 OPERATION_TERM(DIFFERENCE_SECOND, 1, NONE, NONE)}},
       "second derivatives"},
      {{.outputs = 1,
        .needs = {3},
        .term = {OPERATION_TERM(DIFFERENCE_FIRST, 0, 0, 0), OPERATION_TERM(DIFFERENCE_FIRST, 1, 1, 1)}},
       "as a field"},
      {{.outputs = 1,
        .needs = {3},
        .term = {OPERATION_TERM(DIFFERENCE_FIRST, 0, 1, 2), OPERATION_TERM(DIFFERENCE_FIRST, 3, 1, 2)}},
       "as a component"},
      {{.outputs = 1, .needs = {1}, .term = {OPERATION_TERM(DIFFERENCE_FIRST, 1, 0, NONE)}},
       "lacks a component"},
      {{.outputs = 1,
        .needs = {1},
        .velocity = VELOCITY_TABLES,
        .term = {{DIFFERENCE_FIRST, FOLD_SUM, {0, 0, NONE}, 1}}},
       "leaves out an axis"},
      {{.outputs = 1,
        .needs = {3},
        .velocity = VELOCITY_TABLES,
        .term = {{DIFFERENCE_FIRST, FOLD_SUM, {0, 0, 0}, 1}, OPERATION_TERM(DIFFERENCE_FIRST, 1, 2, 3)}},
       "two triples"},
      {{.outputs = 1, .needs = {1}, .term = {OPERATION_TERM(DIFFERENCE_PAIR, 0, 0, 0)}},
       "a function of its own"},
      {{.outputs = 8, .needs = {[3] = 1}, .term = {OPERATION_TERM(DIFFERENCE_FIRST, 0, 0, 0)}},
       "more than three outputs"},
  };
  (void)state;
  for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
    const char *fault = lean_fault(&broken[i].of);
    assert_null(declaration_fault(&broken[i].of, &broken[i].of));
    if (fault == NULL || strstr(fault, broken[i].fault) == NULL)
      fail_msg("declaration %d: expected \"%s\", found \"%s\"", (int)i, broken[i].fault,
               fault == NULL ? "lean" : fault);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_declaration_is_sound), cmocka_unit_test(lean_ways_are_lean),
      cmocka_unit_test(every_rule_refuses), cmocka_unit_test(every_lean_rule_refuses),
      cmocka_unit_test(terms_are_those_of_the_outputs)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
