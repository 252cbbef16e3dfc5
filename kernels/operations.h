#ifndef FDAPP_KERNELS_OPERATIONS_H
#define FDAPP_KERNELS_OPERATIONS_H

/* Every operation, declared once. An operation reads arrays, takes differences of them, folds the differences
 * of the three axes into one number per term, and finishes with a few lines of arithmetic:
 *
 *   out[k] at a point = finish(k; terms there, inputs there, scalars).
 *
 * Both engines (cpu/, cuda/), fdbench, the counts of memory traffic and the kernel tests read these
 * declarations and know no operation by its name. A new operation is a line in OPERATION_WAYS and OPERATIONS,
 * a NAME_operation and a NAME_finish below, and an independent reference in tests/support.
 *
 * Included by C17 and by CUDA files (C++17). Files that include arithmetic.h first also get the finish
 * functions. */

#include "operation.h"

/* ---- derivative: any of out[0] = first derivative, out[1] = second derivative, out[2] = dissipation, of f
 * along an axis; options: the axis and those that are wanted ---- */

enum { DERIVATIVE_AXIS = 3, DERIVATIVE_FIRST = 4, DERIVATIVE_SECOND = 8, DERIVATIVE_DISSIPATION = 16 };

#define DERIVATIVE_OUTPUTS(options)                                                                          \
  (OPERATION_IF((options)&DERIVATIVE_FIRST, 0) | OPERATION_IF((options)&DERIVATIVE_SECOND, 1) |              \
   OPERATION_IF((options)&DERIVATIVE_DISSIPATION, 2))
#define DERIVATIVE_TERM(of, options)                                                                         \
  {                                                                                                          \
    of, FOLD_SUM,                                                                                            \
        {OPERATION_ALONG(0, AXIS_X, (options)&DERIVATIVE_AXIS),                                              \
         OPERATION_ALONG(0, AXIS_Y, (options)&DERIVATIVE_AXIS),                                              \
         OPERATION_ALONG(0, AXIS_Z, (options)&DERIVATIVE_AXIS)},                                             \
        0                                                                                                    \
  }

#define derivative_operation(options)                                                                        \
  {                                                                                                          \
    .inputs = 1, .at_point = 0, .outputs = DERIVATIVE_OUTPUTS(options), .needs = {1, 2, 4},                  \
    .velocity = VELOCITY_NONE, .velocity_input = 0, .edges = 0, .terms = DERIVATIVE_OUTPUTS(options),        \
    .term = {                                                                                                \
      DERIVATIVE_TERM(DIFFERENCE_FIRST, options),                                                            \
      DERIVATIVE_TERM(DIFFERENCE_SECOND, options),                                                           \
      DERIVATIVE_TERM(DIFFERENCE_DISSIPATION, options)                                                       \
    }                                                                                                        \
  }

/* ---- gradient: out[0..2] = grad f ---- */

#define gradient_operation(options)                                                                          \
  {                                                                                                          \
    .inputs = 1, .at_point = 0, .outputs = 7, .needs = {1, 2, 4}, .velocity = VELOCITY_NONE,                 \
    .velocity_input = 0, .edges = 0, .terms = 7, .term = {                                                   \
      {DIFFERENCE_FIRST, FOLD_SUM, {0, OPERATION_NONE, OPERATION_NONE}, 0},                                  \
      {DIFFERENCE_FIRST, FOLD_SUM, {OPERATION_NONE, 0, OPERATION_NONE}, 0},                                  \
      {DIFFERENCE_FIRST, FOLD_SUM, {OPERATION_NONE, OPERATION_NONE, 0}, 0}                                   \
    }                                                                                                        \
  }

/* ---- gradient_magnitude: out[0] = |grad f| ---- */

#define gradient_magnitude_operation(options)                                                                \
  {                                                                                                          \
    .inputs = 1, .at_point = 0, .outputs = 1, .needs = {7}, .velocity = VELOCITY_NONE, .velocity_input = 0,  \
    .edges = 0, .terms = 7, .term = {                                                                        \
      {DIFFERENCE_FIRST, FOLD_SUM, {0, OPERATION_NONE, OPERATION_NONE}, 0},                                  \
      {DIFFERENCE_FIRST, FOLD_SUM, {OPERATION_NONE, 0, OPERATION_NONE}, 0},                                  \
      {DIFFERENCE_FIRST, FOLD_SUM, {OPERATION_NONE, OPERATION_NONE, 0}, 0}                                   \
    }                                                                                                        \
  }

/* ---- divergence: out[0] = d in[0]/dx + d in[1]/dy + d in[2]/dz ---- */

#define divergence_operation(options)                                                                        \
  {                                                                                                          \
    .inputs = 7, .at_point = 0, .outputs = 1, .needs = {1}, .velocity = VELOCITY_NONE, .velocity_input = 0,  \
    .edges = 0, .terms = 1, .term = {                                                                        \
      {DIFFERENCE_FIRST, FOLD_SUM, {0, 1, 2}, 0}                                                             \
    }                                                                                                        \
  }

/* ---- laplacian: out[0] = the Laplacian of f ---- */

#define laplacian_operation(options)                                                                         \
  {                                                                                                          \
    .inputs = 1, .at_point = 0, .outputs = 1, .needs = {1}, .velocity = VELOCITY_NONE, .velocity_input = 0,  \
    .edges = 0, .terms = 1, .term = {                                                                        \
      {DIFFERENCE_SECOND, FOLD_CHAIN, {0, 0, 0}, 0}                                                          \
    }                                                                                                        \
  }

/* ---- axpy: out[0] = fma(a, in[0], in[1]); out[0] may be in[1] ---- */

enum { AXPY_X, AXPY_Y };
enum { AXPY_A };

#define axpy_operation(options)                                                                              \
  {                                                                                                          \
    .inputs = 3, .at_point = 3, .outputs = 1, .needs = {0}, .velocity = VELOCITY_NONE, .velocity_input = 0,  \
    .edges = 0, .terms = 0, .term = {                                                                        \
      {DIFFERENCE_FIRST, FOLD_SUM, {OPERATION_NONE, OPERATION_NONE, OPERATION_NONE}, 0}                      \
    }                                                                                                        \
  }

/* ---- product: out[0] = in[0] in[1] ---- */

#define product_operation(options)                                                                           \
  {                                                                                                          \
    .inputs = 3, .at_point = 3, .outputs = 1, .needs = {0}, .velocity = VELOCITY_NONE, .velocity_input = 0,  \
    .edges = 0, .terms = 0, .term = {                                                                        \
      {DIFFERENCE_FIRST, FOLD_SUM, {OPERATION_NONE, OPERATION_NONE, OPERATION_NONE}, 0}                      \
    }                                                                                                        \
  }

/* ---- stage: one Runge-Kutta stage of advection and diffusion (kernels_stage has the formula) ----
 *
 * Options: the velocity (one of three), the parts of the advection term (GRADIENT: u . grad f; FLUX: div(u
 * f); both: their mean), and the additions. A uniform velocity has GRADIENT alone; EXTRAS come with a
 * BASE. */

enum {
  STAGE_UNIFORM = 0,
  STAGE_STORED = 1,
  STAGE_FORMULA = 2,
  STAGE_VELOCITY = 3, /* mask of the three */
  STAGE_GRADIENT = 4,
  STAGE_FLUX = 8,
  STAGE_BASE = 16,
  STAGE_EXTRAS = 32,
  STAGE_UPWIND = 64,
  STAGE_DIFFUSION = 128
};
enum { STAGE_IN_F, STAGE_IN_BASE, STAGE_IN_EXTRA, STAGE_IN_U = STAGE_IN_EXTRA + 2 };
enum { STAGE_TERM_LAPLACIAN, STAGE_TERM_DISSIPATION, STAGE_TERM_GRADIENT, STAGE_TERM_FLUX };
enum {
  STAGE_WEIGHT_F,
  STAGE_WEIGHT_EXTRA,
  STAGE_WEIGHT_ADVECTION = STAGE_WEIGHT_EXTRA + 2,
  STAGE_WEIGHT_DISSIPATION,
  STAGE_WEIGHT_DIFFUSION
};

#define STAGE_POINTS(options)                                                                                \
  (OPERATION_BIT(STAGE_IN_F) | OPERATION_IF((options)&STAGE_BASE, STAGE_IN_BASE) |                           \
   OPERATION_IF((options)&STAGE_EXTRAS, STAGE_IN_EXTRA) |                                                    \
   OPERATION_IF((options)&STAGE_EXTRAS, STAGE_IN_EXTRA + 1))
#define STAGE_TERMS(options)                                                                                 \
  (OPERATION_IF((options)&STAGE_DIFFUSION, STAGE_TERM_LAPLACIAN) |                                           \
   OPERATION_IF((options)&STAGE_UPWIND, STAGE_TERM_DISSIPATION) |                                            \
   OPERATION_IF((options)&STAGE_GRADIENT, STAGE_TERM_GRADIENT) |                                             \
   OPERATION_IF((options)&STAGE_FLUX, STAGE_TERM_FLUX))
#define STAGE_FROM(options, velocity) (((options)&STAGE_VELOCITY) == (velocity))

#define stage_operation(options)                                                                             \
  {                                                                                                          \
    .inputs =                                                                                                \
        STAGE_POINTS(options) | (STAGE_FROM(options, STAGE_STORED) ? 7U * OPERATION_BIT(STAGE_IN_U) : 0U),   \
    .at_point = STAGE_POINTS(options), .outputs = 1, .needs = {STAGE_TERMS(options)},                        \
    .velocity = STAGE_FROM(options, STAGE_STORED)    ? VELOCITY_STORED                                       \
                : STAGE_FROM(options, STAGE_FORMULA) ? VELOCITY_TABLES                                       \
                                                     : VELOCITY_UNIFORM,                                     \
    .velocity_input = STAGE_IN_U, .edges = 1, .terms = STAGE_TERMS(options), .term = {                       \
      {DIFFERENCE_SECOND, FOLD_CHAIN, {STAGE_IN_F, STAGE_IN_F, STAGE_IN_F}, 0},                              \
      {DIFFERENCE_DISSIPATION, FOLD_SPEED, {STAGE_IN_F, STAGE_IN_F, STAGE_IN_F}, 0},                         \
      {DIFFERENCE_FIRST, FOLD_VELOCITY, {STAGE_IN_F, STAGE_IN_F, STAGE_IN_F}, 0},                            \
      {DIFFERENCE_FIRST, FOLD_SUM, {STAGE_IN_F, STAGE_IN_F, STAGE_IN_F}, 1}                                  \
    }                                                                                                        \
  }

/* ---- divergence_stage, gradient_stage: one Runge-Kutta stage of du/dt = div v or du/dt = grad f ----
 *
 *   out[k] = base_k + w_own (own_k - base_k) + sum_i w_extra[i] (extra_i,k - base_k) + w_term term_k
 *
 * for one and for three unknowns. The inputs, in this order: those that are differenced; base; with OWN,
 * own; with EXTRAS, which need OWN, the first and the second extra. base, own and each extra are one array
 * per output.
 *
 * UPWIND adds w_dissipation times a dissipation of own: along all axes for one unknown, of each of three
 * along its own axis. own is then always read, because it is differenced; without OWN it is base, too, so
 * that no array is read twice. */

enum { SUM_OWN = 1, SUM_EXTRAS = 2, SUM_UPWIND = 4 };
enum { SUM_WEIGHT_OWN, SUM_WEIGHT_EXTRA, SUM_WEIGHT_TERM = SUM_WEIGHT_EXTRA + 2, SUM_WEIGHT_DISSIPATION };
enum { SUM_BASE, SUM_IN_OWN, SUM_EXTRA }; /* input of output k: first + n times one of these + k */

/* Masks of the inputs of n outputs, of which `first` is the first. */
#define SUM_ARRAYS(first, n, which, count) (((1U << ((n) * (count))) - 1U) << ((first) + (n) * (which)))
#define SUM_POINTS(options, first, n)                                                                        \
  (((options)&SUM_OWN || !((options)&SUM_UPWIND) ? SUM_ARRAYS(first, n, SUM_BASE, 1) : 0U) |                 \
   ((options) & (SUM_OWN | SUM_UPWIND) ? SUM_ARRAYS(first, n, SUM_IN_OWN, 1) : 0U) |                         \
   ((options)&SUM_EXTRAS ? SUM_ARRAYS(first, n, SUM_EXTRA, 2) : 0U))

enum { DIVERGENCE_SUM = 3, GRADIENT_SUM = 1 }; /* the first input of the sum */
enum { DIVERGENCE_OWN = DIVERGENCE_SUM + SUM_IN_OWN, GRADIENT_OWN = GRADIENT_SUM + 3 * SUM_IN_OWN };

/* Output k needs term k and, with UPWIND, term n + k. */
#define divergence_stage_operation(options)                                                                  \
  {                                                                                                          \
    .inputs = 7U | SUM_POINTS(options, DIVERGENCE_SUM, 1),                                                   \
    .at_point = SUM_POINTS(options, DIVERGENCE_SUM, 1), .outputs = 1,                                        \
    .needs = {(options)&SUM_UPWIND ? 3U : 1U}, .velocity = VELOCITY_NONE, .velocity_input = 0, .edges = 0,   \
    .terms = (options)&SUM_UPWIND ? 3U : 1U, .term = {                                                       \
      {DIFFERENCE_FIRST, FOLD_SUM, {0, 1, 2}, 0},                                                            \
      {DIFFERENCE_DISSIPATION, FOLD_SUM, {DIVERGENCE_OWN, DIVERGENCE_OWN, DIVERGENCE_OWN}, 0}                \
    }                                                                                                        \
  }

#define gradient_stage_operation(options)                                                                    \
  {                                                                                                          \
    .inputs = 1U | SUM_POINTS(options, GRADIENT_SUM, 3), .at_point = SUM_POINTS(options, GRADIENT_SUM, 3),   \
    .outputs = 7,                                                                                            \
    .needs = {(options)&SUM_UPWIND ? 9U : 1U, (options)&SUM_UPWIND ? 18U : 2U,                               \
              (options)&SUM_UPWIND ? 36U : 4U},                                                              \
    .velocity = VELOCITY_NONE, .velocity_input = 0, .edges = 1, .terms = (options)&SUM_UPWIND ? 63U : 7U,    \
    .term = {                                                                                                \
      {DIFFERENCE_FIRST, FOLD_SUM, {0, OPERATION_NONE, OPERATION_NONE}, 0},                                  \
      {DIFFERENCE_FIRST, FOLD_SUM, {OPERATION_NONE, 0, OPERATION_NONE}, 0},                                  \
      {DIFFERENCE_FIRST, FOLD_SUM, {OPERATION_NONE, OPERATION_NONE, 0}, 0},                                  \
      {DIFFERENCE_DISSIPATION, FOLD_SUM, {GRADIENT_OWN, OPERATION_NONE, OPERATION_NONE}, 0},                 \
      {DIFFERENCE_DISSIPATION, FOLD_SUM, {OPERATION_NONE, GRADIENT_OWN + 1, OPERATION_NONE}, 0},             \
      {DIFFERENCE_DISSIPATION, FOLD_SUM, {OPERATION_NONE, OPERATION_NONE, GRADIENT_OWN + 2}, 0}              \
    }                                                                                                        \
  }

/* ---- The lists ---- */

/* X(NAME, ADDITIONS): the options that add arrays or terms. They may be combined with every way of the
 * operation and with one another, as far as operation_combines allows. */
#define OPERATIONS(X)                                                                                        \
  X(derivative, DERIVATIVE_FIRST | DERIVATIVE_SECOND | DERIVATIVE_DISSIPATION)                               \
  X(gradient, 0)                                                                                             \
  X(gradient_magnitude, 0)                                                                                   \
  X(product, 0)                                                                                              \
  X(divergence, 0)                                                                                           \
  X(laplacian, 0)                                                                                            \
  X(axpy, 0)                                                                                                 \
  X(divergence_stage, SUM_OWN | SUM_EXTRAS)                                                                  \
  X(gradient_stage, SUM_OWN | SUM_EXTRAS)                                                                    \
  X(stage, STAGE_BASE | STAGE_EXTRAS | STAGE_UPWIND | STAGE_DIFFUSION)

/* X(NAME, OPTIONS, WAY): the options, without additions, for which engines have code, and the name of that
 * code. */
#define OPERATION_WAYS(X)                                                                                    \
  X(derivative, AXIS_X, dx)                                                                                  \
  X(derivative, AXIS_Y, dy)                                                                                  \
  X(derivative, AXIS_Z, dz)                                                                                  \
  X(gradient, 0, gradient)                                                                                   \
  X(gradient_magnitude, 0, gradient_magnitude)                                                               \
  X(product, 0, product)                                                                                     \
  X(divergence, 0, divergence)                                                                               \
  X(laplacian, 0, laplacian)                                                                                 \
  X(axpy, 0, axpy)                                                                                           \
  X(divergence_stage, 0, divergence_stage)                                                                   \
  X(gradient_stage, 0, gradient_stage)                                                                       \
  X(divergence_stage, SUM_UPWIND, divergence_stage_upwind)                                                   \
  X(gradient_stage, SUM_UPWIND, gradient_stage_upwind)                                                       \
  X(stage, STAGE_UNIFORM | STAGE_GRADIENT, stage_uniform)                                                    \
  X(stage, STAGE_FORMULA | STAGE_GRADIENT, stage_formula)                                                    \
  X(stage, STAGE_FORMULA | STAGE_FLUX, stage_formula_conservative)                                           \
  X(stage, STAGE_FORMULA | STAGE_GRADIENT | STAGE_FLUX, stage_formula_skew)                                  \
  X(stage, STAGE_STORED | STAGE_GRADIENT, stage_stored_advective)                                            \
  X(stage, STAGE_STORED | STAGE_FLUX, stage_stored_conservative)                                             \
  X(stage, STAGE_STORED | STAGE_GRADIENT | STAGE_FLUX, stage_stored_skew)

/* The number of terms of ways that have more than four. All others are compiled as if no way had more,
 * because compilers make other code of longer loops, even where they fold (kernels/ways.cmake). */
#define gradient_stage_upwind_terms 6

#define X(name, additions) OPERATION_##name,
typedef enum operation_kind { OPERATIONS(X) OPERATION_KINDS } operation_kind;
#undef X

#define X(name, additions) name##_additions = (additions),
enum { OPERATIONS(X) };
#undef X

/* The declaration of an operation with its options. */
DESCRIBE operation operation_describe(operation_kind kind, unsigned options) {
  switch (kind) {
#define X(name, additions)                                                                                   \
  case OPERATION_##name: {                                                                                   \
    const operation described = name##_operation(options);                                                   \
    return described;                                                                                        \
  }
    OPERATIONS(X)
#undef X
  default:
    break;
  }
  const operation none = axpy_operation(0);
  return none;
}

/* The additions of an operation: options that may come with each of its ways. */
DESCRIBE unsigned operation_additions(operation_kind kind) {
#define X(name, additions) kind == OPERATION_##name ? (unsigned)(additions):
  return OPERATIONS(X) 0U;
#undef X
}

/* Returns 1 if `additions` may go together: they are of this operation, something is written, and no input is
 * added without the one before it. */
DESCRIBE int operation_combines(operation_kind kind, unsigned options, unsigned additions) {
  const unsigned least = operation_describe(kind, options).inputs;
  const unsigned all = operation_describe(kind, options | operation_additions(kind)).inputs & ~least;
  const unsigned brought = operation_describe(kind, options | additions).inputs & ~least;
  const unsigned missing = all & ~brought;
  return (additions & ~operation_additions(kind)) == 0 &&
         operation_describe(kind, options | additions).outputs != 0 &&
         (missing == 0 || (missing & (0U - missing)) > brought);
}

#endif

/* ---- The arithmetic of each operation at a point, with the functions of arithmetic.h ---- */

#if defined(FDAPP_KERNELS_ARITHMETIC_H) && !defined(FDAPP_KERNELS_OPERATIONS_FINISH)
#define FDAPP_KERNELS_OPERATIONS_FINISH

/* One point, or several side by side. Each engine defines the type and the three functions, which return an
 * input (one of at_point), a term in use, and a scalar, rounded to the field's precision. */
typedef struct operation_point operation_point;
ARITHMETIC number point_input(const operation_point *at, int input);
ARITHMETIC number point_term(const operation_point *at, int term);
ARITHMETIC number point_scalar(const operation_point *at, int scalar);

ARITHMETIC number derivative_finish(unsigned options, int output, const operation_point *at) {
  (void)options;
  return point_term(at, output);
}

ARITHMETIC number gradient_finish(unsigned options, int output, const operation_point *at) {
  (void)options;
  return point_term(at, output);
}

ARITHMETIC number gradient_magnitude_finish(unsigned options, int output, const operation_point *at) {
  (void)options;
  (void)output;
  return magnitude(point_term(at, 0), point_term(at, 1), point_term(at, 2));
}

ARITHMETIC number divergence_finish(unsigned options, int output, const operation_point *at) {
  (void)options;
  (void)output;
  return point_term(at, 0);
}

ARITHMETIC number laplacian_finish(unsigned options, int output, const operation_point *at) {
  (void)options;
  (void)output;
  return point_term(at, 0);
}

ARITHMETIC number axpy_finish(unsigned options, int output, const operation_point *at) {
  (void)options;
  (void)output;
  return NUMBER_FMA(point_scalar(at, AXPY_A), point_input(at, AXPY_X), point_input(at, AXPY_Y));
}

ARITHMETIC number product_finish(unsigned options, int output, const operation_point *at) {
  (void)options;
  (void)output;
  return point_input(at, 0) * point_input(at, 1);
}

/* The sum of output k of n without `term`. `first`: its first input. */
ARITHMETIC number sum_extras(unsigned options, int first, int n, int k, number base, number sum,
                             const operation_point *at) {
  if (options & SUM_EXTRAS) {
    for (int i = 0; i < 2; i++) {
      const number extra = point_input(at, first + n * (SUM_EXTRA + i) + k);
      sum = blend(sum, point_scalar(at, SUM_WEIGHT_EXTRA + i), extra, base);
    }
  }
  return NUMBER_FMA(point_scalar(at, SUM_WEIGHT_TERM), point_term(at, k), sum);
}

ARITHMETIC number sum_finish(unsigned options, int first, int n, int k, const operation_point *at) {
  const number base = point_input(at, first + k);
  number sum = base;
  if (options & SUM_OWN)
    sum = blend(base, point_scalar(at, SUM_WEIGHT_OWN), point_input(at, first + n * SUM_IN_OWN + k), base);
  return sum_extras(options, first, n, k, base, sum, at);
}

ARITHMETIC number sum_upwind_finish(unsigned options, int first, int n, int k, const operation_point *at) {
  const number own = point_input(at, first + n * SUM_IN_OWN + k);
  number base = own, sum = own;
  if (options & SUM_OWN) {
    base = point_input(at, first + k);
    sum = blend(base, point_scalar(at, SUM_WEIGHT_OWN), own, base);
  }
  sum = sum_extras(options, first, n, k, base, sum, at);
  return NUMBER_FMA(point_scalar(at, SUM_WEIGHT_DISSIPATION), point_term(at, n + k), sum);
}

ARITHMETIC number divergence_stage_finish(unsigned options, int output, const operation_point *at) {
  return options & SUM_UPWIND ? sum_upwind_finish(options, DIVERGENCE_SUM, 1, output, at)
                              : sum_finish(options, DIVERGENCE_SUM, 1, output, at);
}

ARITHMETIC number gradient_stage_finish(unsigned options, int output, const operation_point *at) {
  return options & SUM_UPWIND ? sum_upwind_finish(options, GRADIENT_SUM, 3, output, at)
                              : sum_finish(options, GRADIENT_SUM, 3, output, at);
}

ARITHMETIC number stage_advection(unsigned options, const operation_point *at) {
  if (!(options & STAGE_FLUX)) return point_term(at, STAGE_TERM_GRADIENT);
  if (!(options & STAGE_GRADIENT)) return point_term(at, STAGE_TERM_FLUX);
  return skew(point_term(at, STAGE_TERM_GRADIENT), point_term(at, STAGE_TERM_FLUX));
}

ARITHMETIC number stage_finish(unsigned options, int output, const operation_point *at) {
  (void)output;
  const number f = point_input(at, STAGE_IN_F);
  number base = f, sum = f;
  if (options & STAGE_BASE) {
    base = point_input(at, STAGE_IN_BASE);
    sum = blend(base, point_scalar(at, STAGE_WEIGHT_F), f, base);
  }
  if (options & STAGE_EXTRAS) {
    for (int i = 0; i < 2; i++) {
      const number extra = point_input(at, STAGE_IN_EXTRA + i);
      sum = blend(sum, point_scalar(at, STAGE_WEIGHT_EXTRA + i), extra, base);
    }
  }
  sum = NUMBER_FMA(point_scalar(at, STAGE_WEIGHT_ADVECTION), stage_advection(options, at), sum);
  if (options & STAGE_UPWIND) {
    const number dissipation = point_term(at, STAGE_TERM_DISSIPATION);
    sum = NUMBER_FMA(point_scalar(at, STAGE_WEIGHT_DISSIPATION), dissipation, sum);
  }
  if (options & STAGE_DIFFUSION) {
    const number laplacian = point_term(at, STAGE_TERM_LAPLACIAN);
    sum = NUMBER_FMA(point_scalar(at, STAGE_WEIGHT_DIFFUSION), laplacian, sum);
  }
  return sum;
}

/* One output of an operation, by its `finish`. */
ARITHMETIC number operation_finish(operation_kind kind, unsigned options, int output,
                                   const operation_point *at) {
  switch (kind) {
#define X(name, additions)                                                                                   \
  case OPERATION_##name:                                                                                     \
    return name##_finish(options, output, at);
    OPERATIONS(X)
#undef X
  default:
    break;
  }
  return point_input(at, 0);
}

#endif
