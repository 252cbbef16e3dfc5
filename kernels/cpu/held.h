#ifndef FDAPP_KERNELS_CPU_HELD_H
#define FDAPP_KERNELS_CPU_HELD_H

#include "task.h"

/* Checks what the passes can hold, where a way is compiled (way.h): a declaration that would be computed
 * wrongly does not compile. C has no constant expression for a member of a structure, so each fault is a call
 * that the optimiser removes from a sound declaration, of a function whose attribute makes it an error.
 * Builds that do not inline (lines.h) cannot remove the calls and do not check. */

#define FAULT(name, text) void name(void) __attribute__((error("kernels/operations.h: " text)))
FAULT(input_missing, "an input that a term or at_point names is not in .inputs");
FAULT(output_incomplete,
      "the last term that an output needs is part of every way that writes it; none only without terms");
FAULT(terms_left_out,
      "a way with more than four terms needs a line like #define gradient_stage_upwind_terms 6");
FAULT(velocity_missing,
      "a term multiplies by a velocity that the declaration has not, or is uniform in a flux");
FAULT(axis_missing, "only FOLD_SUM can leave out an axis");
FAULT(chain_misused, "FOLD_CHAIN sums DIFFERENCE_SECOND of one input, no product");
#undef FAULT

/* Of a term in use. */
LINE_INLINE void term_check(const operation *o, const operation_term *term) {
  const int x = term->along[AXIS_X], y = term->along[AXIS_Y], z = term->along[AXIS_Z];
  const int all = x != OPERATION_NONE && y != OPERATION_NONE && z != OPERATION_NONE;
  const unsigned reads = (x != OPERATION_NONE ? OPERATION_BIT(x) : 0U) |
                         (y != OPERATION_NONE ? OPERATION_BIT(y) : 0U) |
                         (z != OPERATION_NONE ? OPERATION_BIT(z) : 0U);
  const int chain = term->fold == FOLD_CHAIN,
            weighted = term->fold == FOLD_VELOCITY || term->fold == FOLD_SPEED;
  const int varies = o->velocity == VELOCITY_STORED || o->velocity == VELOCITY_TABLES;
  if (reads & ~o->inputs) input_missing();
  if (!all && term->fold != FOLD_SUM) axis_missing();
  if (chain && (term->of != DIFFERENCE_SECOND || x != y || x != z || term->product)) chain_misused();
  if ((weighted && o->velocity == VELOCITY_NONE) || (term->product && !varies)) velocity_missing();
}

/* o: with all additions; least: with none. */
LINE_INLINE void declaration_check(const operation *o, const operation *least) {
  const unsigned stored = o->velocity == VELOCITY_STORED ? 7U << o->velocity_input : 0U;
  if ((o->at_point | stored) & ~o->inputs) input_missing();
  if (o->terms >> WAY_TERMS != 0) terms_left_out();
#pragma GCC unroll 6
  for (int t = 0; t < WAY_TERMS; t++) {
    if (operation_has(o, t)) term_check(o, &o->term[t]);
  }
#pragma GCC unroll 3
  for (int k = 0; k < OPERATION_OUTPUTS; k++) {
    if (!operation_stores(o, k)) continue;
    const int last = o->needs[k] == 0 ? -1 : 31 - __builtin_clz(o->needs[k]);
    const operation *first = operation_stores(least, k) ? least : o;
    if (last < 0 ? o->terms != 0 : !operation_has(first, last)) output_incomplete();
  }
}

#endif
