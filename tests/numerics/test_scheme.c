/* The tables of the schemes: what follows from them against known numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>

#include "settings/scheme.h"
#include "tableau.h"

/* These fail with the scheme's name, which a form for linear equations does not have itself. */
static void check_count(const char *name, const char *fact, int found, int expected) {
  if (found != expected) fail_msg("%s: %s: found %d, expected %d", name, fact, found, expected);
}

static void check_near(const char *name, const char *fact, double found, double expected, double slack) {
  if (!(fabs(found - expected) < slack))
    fail_msg("%s: %s: found %.17g, expected %.17g within %g", name, fact, found, expected, slack);
}

static void check_stage(const char *name, int stage, int right, const char *rule) {
  if (!right) fail_msg("%s: .stage[%d] %s", name, stage, rule);
}

/* Words per point and step, states in memory, order and stages. */
static void test_costs(void **state) {
  (void)state;
  for (int i = 0; schemes_at(i) != NULL; i++) {
    const scheme *scheme = schemes_at(i);
    const tableau *known = tableau_of(scheme->name);
    for (int facts = 0; facts < 4; facts++) { /* linear, steady: only both together allow a cheaper form */
      const struct scheme *form = scheme_form(scheme, facts & 1, facts >> 1);
      check_count(scheme->name, "words per point and step", scheme_words(form),
                  facts == 3 ? known->linear_words : known->words);
      check_count(scheme->name, "states in memory", form->slots,
                  facts == 3 ? known->linear_slots : known->slots);
      check_count(scheme->name, "stages", form->stages, known->stages);
      check_count(scheme->name, "order", form->order, known->order);
    }
  }
}

/* The ends of the intervals on the imaginary and the negative real axis, and |R| between and beyond. */
static void test_limits(void **state) {
  (void)state;
  for (int i = 0; schemes_at(i) != NULL; i++) {
    const scheme *scheme = schemes_at(i);
    const tableau *known = tableau_of(scheme->name);
    check_near(scheme->name, "imaginary limit", scheme_imaginary_limit(scheme), known->imaginary,
               known->accuracy);
    check_near(scheme->name, "real limit", scheme_real_limit(scheme), known->real, known->accuracy);
    for (int k = 0; k < 50; k++) {
      const double real = -0.1 * k, imaginary = 0.07 * (k * 7 % 50);
      const double growth = cabs(tableau_growth(known, real + I * imaginary));
      check_near(scheme->name, "growth of a mode", scheme_growth(scheme, real, imaginary), growth,
                 1e-12 * fmax(1.0, growth));
    }
  }
}

/* A table that a stage can follow: slots that exist, f not overwritten, a constant state kept, times that
 * agree with the weights (the state of a stage is at the time c of the stage that reads it). */
static void check_table(const scheme *scheme) {
  double time[SCHEME_SLOTS] = {0.0}; /* of the states in the slots, over dt */
  if (scheme->stages < 1 || scheme->stages > SCHEME_STAGES || scheme->slots > SCHEME_SLOTS)
    fail_msg("%s: %d stages and %d slots do not fit a table", scheme->name, scheme->stages, scheme->slots);
  for (int i = 0; i < scheme->stages; i++) {
    const scheme_stage *stage = &scheme->stage[i];
    check_stage(scheme->name, i, stage->out != stage->f, "writes the slot that it reads neighbours of");
    check_stage(scheme->name, i,
                stage->out < scheme->slots && stage->f < scheme->slots && stage->base < scheme->slots,
                "uses a slot that does not exist");
    check_stage(scheme->name, i, fabs(time[stage->f] - stage->c) < 1e-13,
                "has a c that is not the time of the state that it reads");
    double sum = time[stage->base] + stage->weight * (time[stage->f] - time[stage->base]) + stage->b;
    for (int k = 0; k < stage->extras; k++)
      sum += stage->extra[k].weight * (time[stage->extra[k].slot] - time[stage->base]);
    time[stage->out] = sum;
  }
  check_near(scheme->name, "time of the result, over dt", time[scheme->result], 1.0, 1e-13);
}

/* For small z a step of order p is exp z up to a term of z^(p+1); the form for linear right-hand sides is the
 * same polynomial. */
static void test_tables(void **state) {
  (void)state;
  for (int i = 0; schemes_at(i) != NULL; i++) {
    const scheme *scheme = schemes_at(i);
    check_table(scheme);
    const double error = fabs(scheme_growth(scheme, 0.1, 0.0) - exp(0.1));
    const double next = fabs(scheme_growth(scheme, 0.05, 0.0) - exp(0.05));
    check_near(scheme->name, "power of the error of a step", log2(error / next), scheme->order + 1, 0.1);
    const struct scheme *form = scheme_form(scheme, 1, 1);
    for (int k = 0; k < 16; k++)
      check_near(scheme->name, "growth of a mode, of the form for linear equations",
                 scheme_growth(form, -0.2 * k, 0.15 * k), scheme_growth(scheme, -0.2 * k, 0.15 * k), 1e-13);
  }
}

/* A stage on numbers instead of fields: growth of the mode z, f being what it reads neighbours of. */
static double complex stage_value(const scheme_stage *stage, const double complex slots[], double complex f,
                                  double complex z) {
  const double complex base = stage->base == stage->f ? f : slots[stage->base];
  double complex out = base + stage->weight * (f - base) + stage->b * z * f;
  for (int k = 0; k < stage->extras; k++)
    out += stage->extra[k].weight * (slots[stage->extra[k].slot] - base);
  return out;
}

/* A step whose stages are pairs where they can be, what lies between being NaN: growth as of single ones, and
 * no sweep writes what it reads neighbours of. */
static void check_pairs(const char *name, const scheme *scheme) {
  const double complex z = -0.3 + 0.7 * I;
  double complex slots[SCHEME_SLOTS] = {1.0};
  int result = -1;
  const unsigned pairs = scheme_pairs(scheme, &result);
  for (int i = 0; i < scheme->stages; i++) {
    const scheme_stage *first = &scheme->stage[i], *last = first;
    double complex value = stage_value(first, slots, slots[first->f], z);
    if (pairs >> i & 1U) {
      last = &scheme->stage[++i];
      check_stage(name, i, i < scheme->stages && last->f == first->out && last->base != first->out,
                  "is no second of a pair");
      value = stage_value(last, slots, value, z);
      slots[first->out] = NAN;
    }
    const int out = i + 1 == scheme->stages ? result : last->out;
    check_stage(name, i, out != first->f && (last == first || (out != first->base && out != last->base)),
                "writes a slot that its sweep still reads");
    slots[out] = value;
  }
  check_near(name, "growth of a mode in pairs of stages", cabs(slots[result]),
             scheme_growth(scheme, creal(z), cimag(z)), 1e-14);
}

static void test_pairs(void **state) {
  (void)state;
  int result = -1;
  for (int i = 0; schemes_at(i) != NULL; i++) {
    const scheme *scheme = schemes_at(i);
    check_pairs(scheme->name, scheme);
    check_pairs(scheme->name, scheme_form(scheme, 1, 1));
  }
  const scheme *rk4 = scheme_form(schemes_at(schemes_find("rk4")), 1, 1);
  check_count("rk4", "pairs, as bits", (int)scheme_pairs(rk4, &result),
              1 << 0 | 1 << 2); /* two sweeps of two stages */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_costs),
      cmocka_unit_test(test_limits),
      cmocka_unit_test(test_pairs),
      cmocka_unit_test(test_tables),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
