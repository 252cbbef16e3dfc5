#ifndef FDAPP_KERNELS_OPERATIONS_H
#define FDAPP_KERNELS_OPERATIONS_H

/* Every operation, declared once. An operation reads arrays, takes differences of them, folds the differences
 * of the three axes into one number per term, and finishes with a few lines of arithmetic:
 *
 *   out[k] at a point = finish(k; terms there, inputs there, scalars).
 *
 * Both engines (cpu/, cuda/), fdbench, the counts of memory traffic and the kernel tests read these
 * declarations. Engines know operations by name where tiles were measured (tiles.cuh), for stages in pairs
 * (pair.cu), and for parts of a derivative. operation_traits.h says what fits. A new operation is a line in
 * OPERATION_WAYS and OPERATIONS, a NAME_operation and a NAME_finish below, and an independent reference in
 * tests/support.
 *
 * Included by C17 and by CUDA files (C++17). Files that include arithmetic.h first also get the finish
 * functions. */

#include "operation.h"

/* ---- derivative: any of out[0] = first derivative, out[1] = second derivative, out[2] = dissipation, of f
 * along an axis; options: the axis and those that are wanted ---- */

enum { DERIVATIVE_AXIS = 3, DERIVATIVE_FIRST = 4, DERIVATIVE_SECOND = 8, DERIVATIVE_DISSIPATION = 16 };

#define DERIVATIVE_ALONG(axis, options) (((options)&DERIVATIVE_AXIS) == (axis) ? 0 : (int)OPERATION_NONE)
#define DERIVATIVE_TERM(of, options)                                                                         \
  OPERATION_SUM(of, DERIVATIVE_ALONG(AXIS_X, options), DERIVATIVE_ALONG(AXIS_Y, options),                    \
                DERIVATIVE_ALONG(AXIS_Z, options))

#define derivative_operation(options)                                                                        \
  {                                                                                                          \
    .outputs = OPERATION_IF((options)&DERIVATIVE_FIRST, 0) | OPERATION_IF((options)&DERIVATIVE_SECOND, 1) |  \
               OPERATION_IF((options)&DERIVATIVE_DISSIPATION, 2),                                            \
    .needs = {1, 2, 4}, .term = {                                                                            \
      DERIVATIVE_TERM(DIFFERENCE_FIRST, options),                                                            \
      DERIVATIVE_TERM(DIFFERENCE_SECOND, options),                                                           \
      DERIVATIVE_TERM(DIFFERENCE_DISSIPATION, options)                                                       \
    }                                                                                                        \
  }

/* ---- gradient: out[0..2] = grad f ---- */

#define gradient_operation(options)                                                                          \
  {                                                                                                          \
    .outputs = 7, .needs = {1, 2, 4}, .term = { OPERATION_EACH_AXIS(DIFFERENCE_FIRST, 0, 0, 0) }             \
  }

/* ---- gradient_magnitude: out[0] = |grad f| ---- */

#define gradient_magnitude_operation(options)                                                                \
  {                                                                                                          \
    .outputs = 1, .needs = {7}, .term = { OPERATION_EACH_AXIS(DIFFERENCE_FIRST, 0, 0, 0) }                   \
  }

/* ---- divergence: out[0] = d in[0]/dx + d in[1]/dy + d in[2]/dz ---- */

#define divergence_operation(options)                                                                        \
  {                                                                                                          \
    .outputs = 1, .needs = {1}, .term = { OPERATION_SUM(DIFFERENCE_FIRST, 0, 1, 2) }                         \
  }

/* ---- laplacian: out[0] = the Laplacian of f ---- */

#define laplacian_operation(options)                                                                         \
  {                                                                                                          \
    .outputs = 1, .needs = {1}, .term = { {DIFFERENCE_SECOND, FOLD_CHAIN, {0, 0, 0}, 0} }                    \
  }

/* ---- axpy: out[0] = fma(a, in[0], in[1]); out[0] may be in[1] ---- */

enum { AXPY_X, AXPY_Y };
enum { AXPY_A };

#define axpy_operation(options)                                                                              \
  { .at_point = 3, .outputs = 1 }

/* ---- product: out[0] = in[0] in[1] ---- */

#define product_operation(options)                                                                           \
  { .at_point = 3, .outputs = 1 }

/* ---- The Runge-Kutta stages of the equations ---- */

#include "stages.h"

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

#define X(name, options, way) OPERATION_WAY_##way,
enum { OPERATION_WAYS(X) OPERATION_WAY_COUNT };
#undef X

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
  const operation own = operation_describe(kind, options);
  const operation some = operation_describe(kind, options | additions);
  const operation all = operation_describe(kind, options | operation_additions(kind));
  const unsigned brought = operation_inputs(&some) & ~operation_inputs(&own);
  const unsigned missing = operation_inputs(&all) & ~operation_inputs(&own) & ~brought;
  return (additions & ~operation_additions(kind)) == 0 && some.outputs != 0 &&
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

#include "stages.h" /* once more: their arithmetic */

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
