#ifndef FDAPP_KERNELS_OPERATION_TRAITS_H
#define FDAPP_KERNELS_OPERATION_TRAITS_H

/* Properties of a declaration that engines need, and the rules that tell which declarations they can compute.
 * Included by C17 and by CUDA files (C++17).
 *
 * A lean operation differences at most one field, along any axes, and at most one triple of components,
 * component d along axis d. The components are three inputs, or products of the velocity and the field (a
 * flux). Everything else is read at the point alone. It has at most LEAN_OUTPUTS outputs, the first ones.
 * Lean operations have engines that load each value once, all others general ones, which load every neighbour
 * of a point. The field is the input of the first term that differences a single one; of another input, a
 * difference along one axis is that of a component. */

#include "operations.h"

typedef struct operation_traits {
  int field;                      /* the field, or OPERATION_NONE */
  unsigned fields, components[3]; /* masks of inputs; for a flux, components are the velocity */
  int along[3];                   /* 1: the field itself is differenced along this axis */
  int products, triple;           /* 1: there are products with the velocity; a triple */
  int complete;                   /* 1: every term that folds all three axes has all of them */
  unsigned points;                /* mask of the inputs needed at the point itself */
} operation_traits;

/* The one input that a term differences, or OPERATION_NONE if there are several. */
DESCRIBE int term_input(const operation_term *term) {
  int input = OPERATION_NONE;
  for (int d = 0; d < 3; d++) {
    if (term->along[d] == OPERATION_NONE) continue;
    if (input != OPERATION_NONE && input != term->along[d]) return OPERATION_NONE;
    input = term->along[d];
  }
  return input;
}

DESCRIBE int term_axes(const operation_term *term) {
  int axes = 0;
  for (int d = 0; d < 3; d++) axes += term->along[d] != OPERATION_NONE;
  return axes;
}

DESCRIBE void operation_traits_add(operation_traits *t, const operation *o, const operation_term *term) {
  const int input = term_input(term), all = term_axes(term) == 3;
  /* one: a difference along one axis of an input that is not the field */
  const int one = term_axes(term) == 1 && input != t->field && !term->product;
  const int is_field = input != OPERATION_NONE && !one;
  if (is_field) t->fields |= OPERATION_BIT(input);
  if (term->of != DIFFERENCE_FIRST) t->points |= one ? OPERATION_BIT(input) : t->fields; /* for the centre */
  if (!is_field || term->product) t->triple = 1;
  if ((!is_field && !one) || term->product || term->fold != FOLD_SUM) t->complete = t->complete && all;
  t->products = t->products || term->product;
  for (int d = 0; d < 3; d++) {
    if (term->along[d] == OPERATION_NONE) continue;
    if (is_field && !term->product) t->along[d] = 1;
    if (!is_field) t->components[d] |= OPERATION_BIT(term->along[d]);
    if (term->product && o->velocity == VELOCITY_STORED)
      t->components[d] |= OPERATION_BIT(o->velocity_input + d);
  }
}

DESCRIBE operation_traits operation_traits_make(const operation *o) {
  operation_traits t = {OPERATION_NONE, 0, {0, 0, 0}, {0, 0, 0}, 0, 0, 1, operation_points(o)};
  for (int i = OPERATION_TERMS - 1; i >= 0; i--) {
    if (operation_has(o, i) && term_input(&o->term[i]) != OPERATION_NONE) t.field = term_input(&o->term[i]);
  }
  for (int i = 0; i < OPERATION_TERMS; i++) {
    if (operation_has(o, i)) operation_traits_add(&t, o, &o->term[i]);
  }
  if (operation_velocity_at_point(o) && o->velocity == VELOCITY_STORED)
    t.points |= 7U * OPERATION_BIT(o->velocity_input);
  return t;
}

/* Returns why engines cannot compute a term in use, or NULL. */
DESCRIBE const char *term_fault(const operation *o, const operation_term *term) {
  const int chain = term->fold == FOLD_CHAIN;
  const int weighted = term->fold == FOLD_VELOCITY || term->fold == FOLD_SPEED;
  const int varies = o->velocity == VELOCITY_STORED || o->velocity == VELOCITY_TABLES;
  if (chain && (term->of != DIFFERENCE_SECOND || term_input(term) == OPERATION_NONE || term->product))
    return "FOLD_CHAIN sums second derivatives of one input, no product";
  if (term_axes(term) < 3 && term->fold != FOLD_SUM) return "only FOLD_SUM can leave out an axis";
  if (term_calls(term) && term->fold != FOLD_SUM) return "a term with a function of its own has FOLD_SUM";
  if (weighted && o->velocity == VELOCITY_NONE) return "a term multiplies by a velocity that there is not";
  if (term->product && !varies) return "a flux needs a velocity of three inputs or of tables";
  if (term->product && term->of != DIFFERENCE_FIRST && !term_calls(term))
    return "a flux has first differences only";
  return 0;
}

/* Returns what a declaration has more of than an operation holds (operation.h), or NULL. C compilers only
 * warn of elements beyond the end of .needs, .term and .part, so the masks that count them are compared. */
DESCRIBE const char *size_fault(const operation *o) {
  const unsigned inputs = o->at_point | o->around | (o->differences_own ? o->outputs << o->own_input : 0U) |
                          (o->velocity == VELOCITY_STORED ? 7U << o->velocity_input : 0U);
  unsigned needs = 0;
  if (o->outputs >> OPERATION_OUTPUTS != 0) return "more than OPERATION_OUTPUTS outputs";
  for (int k = 0; k < OPERATION_OUTPUTS; k++) needs |= o->needs[k];
  if (needs >> OPERATION_TERMS != 0) return "more than OPERATION_TERMS terms";
  if (inputs >> OPERATION_INPUTS != 0) return "more than OPERATION_INPUTS inputs";
  for (int i = 0; i < OPERATION_TERMS; i++) {
    for (int d = 0; d < 3; d++)
      if (o->term[i].along[d] >= OPERATION_INPUTS) return "more than OPERATION_INPUTS inputs";
  }
  return 0;
}

/* Returns why an operation is not lean, or NULL. */
DESCRIBE const char *lean_fault(const operation *declared) {
  const operation o = *declared;
  const operation_traits t = operation_traits_make(&o);
  if (o.outputs >> LEAN_OUTPUTS != 0) return "there are more than three outputs";
  for (int i = 0; i < OPERATION_TERMS; i++) {
    if (!operation_has(&o, i)) continue;
    if (term_calls(&o.term[i])) return "a term has a function of its own";
    if (o.term[i].of == DIFFERENCE_SECOND && term_input(&o.term[i]) != t.field)
      return "second derivatives are not of the field, the input of the first term with a single one";
  }
  if (mask_count(t.fields) > 1) return "several inputs are differenced as a field, along several axes each";
  for (int d = 0; d < 3; d++) {
    if (mask_count(t.components[d]) > 1)
      return "several inputs are differenced as a component along one axis";
    if ((t.components[d] == 0) != (t.components[0] == 0)) return "a triple lacks a component along an axis";
  }
  if (!t.complete) return "a sum of differences of several inputs leaves out an axis";
  if (t.products && o.velocity == VELOCITY_TABLES && t.components[0] != 0)
    return "there are two triples: a flux and stored components";
  return 0;
}

/* Returns 1 for an operation that general engines compute. */
DESCRIBE int operation_general(const operation *o) {
  return lean_fault(o) != 0;
}

/* Returns why no engine can compute a declaration, or NULL. most, least: with all additions and with none.
 */
DESCRIBE const char *declaration_fault(const operation *most, const operation *least) {
  const operation o = *most;
  if (size_fault(&o) != 0) return size_fault(&o);
  if ((o.sum & SUM_BASE) && o.outputs >> SUM_OUTPUTS != 0) return "a sum has at most three outputs";
  for (int i = 0; i < OPERATION_TERMS; i++) {
    const char *fault = operation_has(&o, i) ? term_fault(&o, &o.term[i]) : 0;
    if (fault != 0) return fault;
  }
  for (int k = 0; k < OPERATION_OUTPUTS; k++) {
    const operation *first = operation_stores(least, k) ? least : &o;
    unsigned last = o.needs[k]; /* its highest bit */
    while ((last & (last - 1)) != 0) last &= last - 1;
    if (operation_stores(&o, k) && last == 0 && operation_terms(&o) != 0)
      return "an output needs no term, but others do";
    if (operation_stores(&o, k) && (operation_terms(first) & last) != last)
      return "the last term that an output needs is not part of every way that writes it";
  }
  for (int j = 1; j < OPERATION_PARTS; j++)
    if (o.part[j] != 0 && !(o.sum & SUM_BASE)) return "several parts have no sum that adds them";
  return 0;
}

/* The same of a way of an operation. */
DESCRIBE const char *operation_fault(operation_kind kind, unsigned options) {
  const operation most = operation_describe(kind, options | operation_additions(kind, options));
  const operation least = operation_describe(kind, options);
  return declaration_fault(&most, &least);
}

#endif
