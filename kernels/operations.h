#ifndef FDAPP_KERNELS_OPERATIONS_H
#define FDAPP_KERNELS_OPERATIONS_H

/* Every operation, declared once. An operation reads arrays, takes differences of them, folds the differences
 * of the three axes into one number per term, and makes the parts of its outputs with a few lines of
 * arithmetic:
 *
 *   part j of output k at a point = NAME_part(k, j; terms there, inputs there, scalars).
 *
 * Most operations have one part. Several ones are what a Runge-Kutta stage adds with weights of their own, as
 * the engines add a scheme's sum to any operation (operation.h).
 *
 * Both engines (cpu/, cuda/), fdbench, the counts of memory traffic and the kernel tests read these
 * declarations. Engines know operations by name where tiles were measured (tiles.cuh), for stages in pairs
 * (pair.cu), and for parts of a derivative. operation_traits.h says which are lean. A new operation is a line
 * in LEAN_WAYS or GENERAL_WAYS, and in OPERATIONS, a NAME_operation and a NAME_part below, and an independent
 * reference in tests/support.
 *
 * Included by C17 and by CUDA files (C++17). Files that include arithmetic.h first also get the arithmetic.
 */

#include "operation.h"

/* ---- derivative: any of out[0] = first derivative, out[1] = second derivative, out[2] = dissipation, of f
 * along an axis; options: the axis and those that are wanted ---- */

enum { DERIVATIVE_AXIS = 3, DERIVATIVE_FIRST = 4, DERIVATIVE_SECOND = 8, DERIVATIVE_DISSIPATION = 16 };

#define DERIVATIVE_ALONG(axis, options) (((options)&DERIVATIVE_AXIS) == (axis) ? 0 : (int)OPERATION_NONE)
#define DERIVATIVE_TERM(of, options)                                                                         \
  OPERATION_TERM(of, DERIVATIVE_ALONG(AXIS_X, options), DERIVATIVE_ALONG(AXIS_Y, options),                   \
                 DERIVATIVE_ALONG(AXIS_Z, options))

#define derivative_operation(options)                                                                        \
  .outputs = OPERATION_IF((options)&DERIVATIVE_FIRST, 0) | OPERATION_IF((options)&DERIVATIVE_SECOND, 1) |    \
             OPERATION_IF((options)&DERIVATIVE_DISSIPATION, 2),                                              \
  .needs = {1, 2, 4},                                                                                        \
  .term = {DERIVATIVE_TERM(DIFFERENCE_FIRST, options), DERIVATIVE_TERM(DIFFERENCE_SECOND, options),          \
           DERIVATIVE_TERM(DIFFERENCE_DISSIPATION, options)}

/* ---- gradient: out[0..2] = grad f, of input 0. Upwind differences add a dissipation of the three outputs'
 * own states, inputs 1 to 3, each along its own axis ---- */

/* Options of the gradient and of the divergence, and their parts. With MEDIUM all parts are multiplied by
 * input MEDIUM_IN at the point: by what varies in a medium. */
enum { OPTION_UPWIND = 1, OPTION_MEDIUM = 2 };
enum { PART_TERM, PART_DISSIPATION };
enum { MEDIUM_IN = 4 };
#define MEDIUM_AT_POINT(options) OPERATION_IF((options)&OPTION_MEDIUM, MEDIUM_IN)

enum { GRADIENT_OWN = 1 };

/* Output k needs term k and, if upwind, term 3 + k. */
#define GRADIENT_NEEDS(options, k) (1U << (k) | ((options)&OPTION_UPWIND ? 8U << (k) : 0U))

#define gradient_operation(options)                                                                          \
  .at_point = MEDIUM_AT_POINT(options), .outputs = 7,                                                        \
  .needs = {GRADIENT_NEEDS(options, 0), GRADIENT_NEEDS(options, 1), GRADIENT_NEEDS(options, 2)},             \
  .part = {0, (options)&OPTION_UPWIND}, .differences_own = ((options)&OPTION_UPWIND) != 0,                   \
  .own_input = GRADIENT_OWN, .edges = (options)&SUM_BASE ? EDGES_FIRST : EDGES_NONE,                         \
  .term = {OPERATION_EACH_AXIS(DIFFERENCE_FIRST, 0, 0, 0),                                                   \
           OPERATION_EACH_AXIS(DIFFERENCE_DISSIPATION, GRADIENT_OWN, GRADIENT_OWN + 1, GRADIENT_OWN + 2)}

/* ---- gradient_magnitude: out[0] = |grad f| ---- */

#define gradient_magnitude_operation(options)                                                                \
  .outputs = 1, .needs = {7}, .term = {OPERATION_EACH_AXIS(DIFFERENCE_FIRST, 0, 0, 0)}

/* ---- divergence: out[0] = d in[0]/dx + d in[1]/dy + d in[2]/dz. Upwind differences add a dissipation of the
 * output's own state, input 3, along all axes ---- */

enum { DIVERGENCE_OWN = 3 };

#define divergence_operation(options)                                                                        \
  .at_point = MEDIUM_AT_POINT(options), .outputs = 1, .needs = {(options)&OPTION_UPWIND ? 3U : 1U},          \
  .part = {0, (options)&OPTION_UPWIND}, .differences_own = ((options)&OPTION_UPWIND) != 0,                   \
  .own_input = DIVERGENCE_OWN,                                                                               \
  .term = {OPERATION_TERM(DIFFERENCE_FIRST, 0, 1, 2),                                                        \
           OPERATION_TERM(DIFFERENCE_DISSIPATION, DIVERGENCE_OWN, DIVERGENCE_OWN, DIVERGENCE_OWN)}

/* ---- curl: out[0..2] = the curl of in[0..2] ---- */

#define curl_operation(options)                                                                              \
  .outputs = 7, .needs = {3, 12, 48},                                                                        \
  .term = {OPERATION_TERM(DIFFERENCE_FIRST, OPERATION_NONE, 2, OPERATION_NONE),                              \
           OPERATION_TERM(DIFFERENCE_FIRST, OPERATION_NONE, OPERATION_NONE, 1),                              \
           OPERATION_TERM(DIFFERENCE_FIRST, OPERATION_NONE, OPERATION_NONE, 0),                              \
           OPERATION_TERM(DIFFERENCE_FIRST, 2, OPERATION_NONE, OPERATION_NONE),                              \
           OPERATION_TERM(DIFFERENCE_FIRST, 1, OPERATION_NONE, OPERATION_NONE),                              \
           OPERATION_TERM(DIFFERENCE_FIRST, OPERATION_NONE, 0, OPERATION_NONE)}

/* ---- velocity_gradient: out[3 i + j] = the derivative of in[i] along axis j, for i = 0 to 2 ---- */

#define velocity_gradient_operation(options)                                                                 \
  .outputs = 511, .needs = {1, 2, 4, 8, 16, 32, 64, 128, 256},                                               \
  .term = {OPERATION_EACH_AXIS(DIFFERENCE_FIRST, 0, 0, 0), OPERATION_EACH_AXIS(DIFFERENCE_FIRST, 1, 1, 1),   \
           OPERATION_EACH_AXIS(DIFFERENCE_FIRST, 2, 2, 2)}

/* ---- skew_advection: out[0] = (u . grad f + div(u f))/2 with f = in[0], u = in[1..3], as differences of the
 * two-point function (u_i + u_j)/2 f_j ---- */

#define skew_advection_operation(options)                                                                    \
  .outputs = 1, .needs = {1}, .around = 1, .velocity = VELOCITY_STORED, .velocity_input = 1,                 \
  .term = {{DIFFERENCE_PAIR, FOLD_SUM, {0, 0, 0}, 1}}

/* ---- laplacian: out[0] = the Laplacian of f ---- */

#define laplacian_operation(options)                                                                         \
  .outputs = 1, .needs = {1}, .term = {{DIFFERENCE_SECOND, FOLD_CHAIN, {0, 0, 0}, 0}}

/* ---- axpy: out[0] = fma(a, in[0], in[1]); out[0] may be in[1] ---- */

enum { AXPY_X, AXPY_Y };
enum { AXPY_A };

#define axpy_operation(options) .at_point = 3, .outputs = 1

/* ---- product: out[0] = in[0] in[1] ---- */

#define product_operation(options) .at_point = 3, .outputs = 1

/* ---- moments: mean out[0] and variance out[1] after a value x that has a share s of all weights, from those
 * before it: with d = x - mean, mean + s d and (1 - s) variance + s (1 - s) d^2 ---- */

enum { MOMENTS_X, MOMENTS_MEAN, MOMENTS_VARIANCE };
enum { MOMENTS_SHARE, MOMENTS_SPREAD }; /* s, s (1 - s) */

#define moments_operation(options) .at_point = 7, .outputs = 3

/* ---- mean_product: out[0], the mean of x y, from that before them, likewise; out[0] may be in[2] ---- */

enum { MEAN_PRODUCT_X, MEAN_PRODUCT_Y, MEAN_PRODUCT_MEAN };

#define mean_product_operation(options) .at_point = 7, .outputs = 1

/* ---- sound_energy: out[0] = p^2/K + (u^2 + v^2 + w^2)/V, of p, u, v, w, K and V: twice the density of the
 * energy ---- */

#define sound_energy_operation(options) .at_point = 63, .outputs = 1

/* ---- advection: L of df/dt = A(f), with dissipation and diffusion as further parts ----
 *
 * A is u.grad f, div(u f) or their mean. The dissipation is UPWIND, |u| Dx f + |v| Dy f + |w| Dz f with the
 * even differences D of stencil.h, where there is a GRADIENT, and DAMPED, with its damping C of these speeds,
 * for FLUX alone: then the sum over f is kept. The diffusion is the Laplacian of f. Velocity and time factors
 * are the weights'.
 *
 * Options: the velocity (one of three), and the parts of A (GRADIENT: u . grad f; FLUX: div(u f); both: their
 * mean), of which a uniform velocity has GRADIENT alone; additions bring the other parts. The velocity is
 * three inputs, of which the third needs valid halos for FLUX; or `uniform` of the call; or its tables. */

enum {
  ADVECTION_UNIFORM = 0,
  ADVECTION_STORED = 1,
  ADVECTION_FORMULA = 2,
  ADVECTION_VELOCITY = 3, /* mask of the three */
  ADVECTION_GRADIENT = 4,
  ADVECTION_FLUX = 8,
  ADVECTION_UPWIND = 16,
  ADVECTION_DIFFUSION = 32,
  ADVECTION_DAMPED = 64
};
enum { ADVECTION_F, ADVECTION_U };
enum { ADVECTION_TERM_LAPLACIAN, ADVECTION_TERM_DISSIPATION, ADVECTION_TERM_GRADIENT, ADVECTION_TERM_FLUX };
enum { ADVECTION_PART_A, ADVECTION_PART_DISSIPATION, ADVECTION_PART_DIFFUSION };

/* The options that bring the dissipation. */
#define ADVECTION_DISSIPATION(options)                                                                       \
  ((options)&ADVECTION_DAMPED ? ADVECTION_DAMPED : (options)&ADVECTION_GRADIENT ? ADVECTION_UPWIND : 0)
#define ADVECTION_FROM(options, velocity) (((options)&ADVECTION_VELOCITY) == (velocity))
/* Sending takes registers, so only stages with little arithmetic and nothing to load but states have it. */
#define ADVECTION_LEAN(options)                                                                              \
  (((options) & (ADVECTION_FLUX | ADVECTION_UPWIND | ADVECTION_DIFFUSION)) == 0 &&                           \
   !ADVECTION_FROM(options, ADVECTION_STORED))

#define advection_operation(options)                                                                         \
  .outputs = 1,                                                                                              \
  .needs = {OPERATION_IF((options)&ADVECTION_DIFFUSION, ADVECTION_TERM_LAPLACIAN) |                          \
            OPERATION_IF((options)&ADVECTION_DISSIPATION(options), ADVECTION_TERM_DISSIPATION) |             \
            OPERATION_IF((options)&ADVECTION_GRADIENT, ADVECTION_TERM_GRADIENT) |                            \
            OPERATION_IF((options)&ADVECTION_FLUX, ADVECTION_TERM_FLUX)},                                    \
  .part = {0, (options)&ADVECTION_DISSIPATION(options), (options)&ADVECTION_DIFFUSION},                      \
  .differences_own = 1, .own_input = ADVECTION_F,                                                            \
  .velocity = ADVECTION_FROM(options, ADVECTION_STORED)    ? VELOCITY_STORED                                 \
              : ADVECTION_FROM(options, ADVECTION_FORMULA) ? VELOCITY_TABLES                                 \
                                                           : VELOCITY_UNIFORM,                               \
  .velocity_input = ADVECTION_U, .edges = ADVECTION_LEAN(options) ? EDGES_SENT : EDGES_FIRST,                \
  .term = {{DIFFERENCE_SECOND, FOLD_CHAIN, {ADVECTION_F, ADVECTION_F, ADVECTION_F}, 0},                      \
           {(options)&ADVECTION_DAMPED ? DIFFERENCE_DAMPING : DIFFERENCE_DISSIPATION,                        \
            (options)&ADVECTION_DAMPED ? FOLD_SUM : FOLD_SPEED,                                              \
            {ADVECTION_F, ADVECTION_F, ADVECTION_F},                                                         \
            ((options)&ADVECTION_DAMPED) != 0},                                                              \
           {DIFFERENCE_FIRST, FOLD_VELOCITY, {ADVECTION_F, ADVECTION_F, ADVECTION_F}, 0},                    \
           {DIFFERENCE_FIRST, FOLD_SUM, {ADVECTION_F, ADVECTION_F, ADVECTION_F}, 1}}

/* ---- The lists ---- */

/* X(NAME, ADDITIONS): the options that add outputs or parts. They may be combined with every way of the
 * operation and with one another, as far as operation_combines allows; ways with a sum add its arrays, too.
 */
#define OPERATIONS(X)                                                                                        \
  X(derivative, DERIVATIVE_FIRST | DERIVATIVE_SECOND | DERIVATIVE_DISSIPATION)                               \
  X(gradient, 0)                                                                                             \
  X(gradient_magnitude, 0)                                                                                   \
  X(product, 0)                                                                                              \
  X(moments, 0)                                                                                              \
  X(mean_product, 0)                                                                                         \
  X(sound_energy, 0)                                                                                         \
  X(divergence, 0)                                                                                           \
  X(laplacian, 0)                                                                                            \
  X(curl, 0)                                                                                                 \
  X(skew_advection, 0)                                                                                       \
  X(axpy, 0)                                                                                                 \
  X(advection, ADVECTION_UPWIND | ADVECTION_DIFFUSION)                                                       \
  X(velocity_gradient, 0)

/* X(NAME, OPTIONS, WAY): the options, without additions, for which engines have code, and the name of that
 * code. Any operation has the sum in a way with SUM_BASE. Lean ways have the engines that load each value
 * once; general ones the engines that can compute any declaration (operation_traits.h says which ways can be
 * lean). */
#define LEAN_WAYS(X)                                                                                         \
  X(derivative, AXIS_X, dx)                                                                                  \
  X(derivative, AXIS_Y, dy)                                                                                  \
  X(derivative, AXIS_Z, dz)                                                                                  \
  X(gradient, 0, gradient)                                                                                   \
  X(gradient_magnitude, 0, gradient_magnitude)                                                               \
  X(product, 0, product)                                                                                     \
  X(moments, 0, moments)                                                                                     \
  X(mean_product, 0, mean_product)                                                                           \
  X(sound_energy, 0, sound_energy)                                                                           \
  X(divergence, 0, divergence)                                                                               \
  X(laplacian, 0, laplacian)                                                                                 \
  X(axpy, 0, axpy)                                                                                           \
  X(divergence, SUM_BASE, divergence_stage)                                                                  \
  X(gradient, SUM_BASE, gradient_stage)                                                                      \
  X(divergence, SUM_BASE | OPTION_UPWIND, divergence_stage_upwind)                                           \
  X(gradient, SUM_BASE | OPTION_UPWIND, gradient_stage_upwind)                                               \
  X(divergence, SUM_BASE | OPTION_MEDIUM, divergence_stage_medium)                                           \
  X(gradient, SUM_BASE | OPTION_MEDIUM, gradient_stage_medium)                                               \
  X(divergence, SUM_BASE | OPTION_MEDIUM | OPTION_UPWIND, divergence_stage_medium_upwind)                    \
  X(gradient, SUM_BASE | OPTION_MEDIUM | OPTION_UPWIND, gradient_stage_medium_upwind)                        \
  X(advection, SUM_BASE | ADVECTION_UNIFORM | ADVECTION_GRADIENT, stage_uniform)                             \
  X(advection, SUM_BASE | ADVECTION_FORMULA | ADVECTION_GRADIENT, stage_formula)                             \
  X(advection, SUM_BASE | ADVECTION_FORMULA | ADVECTION_FLUX, stage_formula_conservative)                    \
  X(advection, SUM_BASE | ADVECTION_FORMULA | ADVECTION_GRADIENT | ADVECTION_FLUX, stage_formula_skew)       \
  X(advection, SUM_BASE | ADVECTION_STORED | ADVECTION_GRADIENT, stage_stored_advective)                     \
  X(advection, SUM_BASE | ADVECTION_STORED | ADVECTION_FLUX, stage_stored_conservative)                      \
  X(advection, SUM_BASE | ADVECTION_STORED | ADVECTION_GRADIENT | ADVECTION_FLUX, stage_stored_skew)

#define GENERAL_WAYS(X)                                                                                      \
  X(curl, 0, curl)                                                                                           \
  X(skew_advection, 0, skew_advection)                                                                       \
  X(advection, SUM_BASE | ADVECTION_FORMULA | ADVECTION_FLUX | ADVECTION_DAMPED, stage_formula_damped)       \
  X(advection, SUM_BASE | ADVECTION_STORED | ADVECTION_FLUX | ADVECTION_DAMPED, stage_stored_damped)         \
  X(velocity_gradient, 0, velocity_gradient)

#define OPERATION_WAYS(X) LEAN_WAYS(X) GENERAL_WAYS(X)

/* X(NAME): operations with terms that are DIFFERENCE_PAIR, and with terms that are DIFFERENCE_DAMPING. */
#define OPERATION_PAIRS(X)    X(skew_advection)
#define OPERATION_DAMPINGS(X) X(advection)

/* The number of terms of ways that have more than four, and of outputs of ways that have more than three. All
 * others are compiled as if no way had more (WAY_TERMS and WAY_OUTPUTS in operation.h). */
#define gradient_stage_upwind_terms        6
#define gradient_stage_medium_upwind_terms 6
#define curl_terms                         6
#define velocity_gradient_terms            9
#define velocity_gradient_outputs          9

#define X(name, options, way) OPERATION_WAY_##way,
enum { OPERATION_WAYS(X) OPERATION_WAY_COUNT };
#undef X

#define X(name, additions) OPERATION_##name,
typedef enum operation_kind { OPERATIONS(X) OPERATION_KINDS } operation_kind;
#undef X

#define X(name, additions) name##_additions = (additions),
enum { OPERATIONS(X) };
#undef X

/* A declaration of `name` with its options: of an operation, or with a sum of what the engines compute. */
#define OPERATION_DECLARED(name, options)                                                                    \
  { .sum = (options)&SUM_OPTIONS, name##_operation(options) }

DESCRIBE operation operation_describe(operation_kind kind, unsigned options) {
  switch (kind) {
#define X(name, additions)                                                                                   \
  case OPERATION_##name: {                                                                                   \
    const operation described = OPERATION_DECLARED(name, options);                                           \
    return described;                                                                                        \
  }
    OPERATIONS(X)
#undef X
  default:
    break;
  }
  const operation none = OPERATION_DECLARED(axpy, 0);
  return none;
}

/* The additions of a way of an operation: options that may come with it. */
#define OPERATION_ADDITIONS(name, options)                                                                   \
  ((unsigned)name##_additions | ((options)&SUM_BASE ? (unsigned)SUM_OWN | (unsigned)SUM_EXTRAS : 0U))

DESCRIBE unsigned operation_additions(operation_kind kind, unsigned options) {
#define X(name, additions) kind == OPERATION_##name ? OPERATION_ADDITIONS(name, options):
  return OPERATIONS(X) 0U;
#undef X
}

/* The set of additions after `some`, in ascending order; 0 after all of them. */
DESCRIBE unsigned additions_next(unsigned all, unsigned some) {
  return (some - all) & all;
}

/* Returns 1 if two declarations have the same arrays and terms. */
DESCRIBE int operation_equals(const operation *a, const operation *b) {
  return operation_inputs(a) == operation_inputs(b) && operation_terms(a) == operation_terms(b) &&
         a->outputs == b->outputs;
}

/* Returns 1 if `additions` may go together: they are of this way, each brings something, something is
 * written, and extras come with own. */
DESCRIBE int operation_combines(operation_kind kind, unsigned options, unsigned additions) {
  const operation some = operation_describe(kind, options | additions);
  for (unsigned bit = 1; bit <= additions; bit <<= 1) {
    const operation without = operation_describe(kind, options | (additions & ~bit));
    if ((additions & bit) && operation_equals(&some, &without)) return 0;
  }
  return (additions & ~operation_additions(kind, options)) == 0 && some.outputs != 0 &&
         (!(additions & SUM_EXTRAS) || (additions & SUM_OWN));
}

#endif

/* ---- The arithmetic of each operation at a point, with the functions of arithmetic.h ---- */

#if defined(FDAPP_KERNELS_ARITHMETIC_H) && !defined(FDAPP_KERNELS_OPERATIONS_FINISH)
#define FDAPP_KERNELS_OPERATIONS_FINISH

/* One point, or several side by side. Each engine defines the type and the four functions, which return an
 * input (one of operation_points), a term in use, and a scalar and a weight, rounded to the field's
 * precision.
 */
typedef struct operation_point operation_point;
ARITHMETIC number point_input(const operation_point *at, int input);
ARITHMETIC number point_term(const operation_point *at, int term);
ARITHMETIC number point_scalar(const operation_point *at, int scalar);
ARITHMETIC number point_weight(const operation_point *at, int weight);

/* The values at a point or at one of its neighbours, for the functions of PAIR and DAMPING terms. Each engine
 * defines the type and the two functions, which return an input (one of `around`) and a component of the
 * velocity. */
typedef struct operation_values operation_values;
ARITHMETIC number value_input(const operation_values *at, int input);
ARITHMETIC number value_velocity(const operation_values *at, int axis);

ARITHMETIC number derivative_part(unsigned options, int output, int part, const operation_point *at) {
  (void)options;
  (void)part;
  return point_term(at, output);
}

/* A part times what varies in a medium. */
ARITHMETIC number medium_part(unsigned options, number part, const operation_point *at) {
  if (!(options & OPTION_MEDIUM)) return part;
  return point_input(at, MEDIUM_IN) * part;
}

ARITHMETIC number gradient_part(unsigned options, int output, int part, const operation_point *at) {
  return medium_part(options, point_term(at, part == PART_DISSIPATION ? 3 + output : output), at);
}

ARITHMETIC number gradient_magnitude_part(unsigned options, int output, int part, const operation_point *at) {
  (void)options;
  (void)output;
  (void)part;
  return magnitude(point_term(at, 0), point_term(at, 1), point_term(at, 2));
}

ARITHMETIC number divergence_part(unsigned options, int output, int part, const operation_point *at) {
  (void)output;
  return medium_part(options, point_term(at, part), at);
}

ARITHMETIC number curl_part(unsigned options, int output, int part, const operation_point *at) {
  (void)options;
  (void)part;
  return point_term(at, 2 * output) - point_term(at, 2 * output + 1);
}

ARITHMETIC number velocity_gradient_part(unsigned options, int output, int part, const operation_point *at) {
  (void)options;
  (void)part;
  return point_term(at, output);
}

ARITHMETIC number skew_advection_pair(unsigned options, int term, int axis, const operation_values *own,
                                      const operation_values *neighbour) {
  (void)options;
  (void)term;
  const number mean = (real)0.5 * (value_velocity(own, axis) + value_velocity(neighbour, axis));
  return mean * value_input(neighbour, 0);
}

ARITHMETIC number skew_advection_part(unsigned options, int output, int part, const operation_point *at) {
  (void)options;
  (void)output;
  (void)part;
  return point_term(at, 0);
}

ARITHMETIC number laplacian_part(unsigned options, int output, int part, const operation_point *at) {
  (void)options;
  (void)output;
  (void)part;
  return point_term(at, 0);
}

ARITHMETIC number axpy_part(unsigned options, int output, int part, const operation_point *at) {
  (void)options;
  (void)output;
  (void)part;
  return NUMBER_FMA(point_scalar(at, AXPY_A), point_input(at, AXPY_X), point_input(at, AXPY_Y));
}

ARITHMETIC number product_part(unsigned options, int output, int part, const operation_point *at) {
  (void)options;
  (void)output;
  (void)part;
  return point_input(at, 0) * point_input(at, 1);
}

ARITHMETIC number moments_part(unsigned options, int output, int part, const operation_point *at) {
  const number mean = point_input(at, MOMENTS_MEAN), variance = point_input(at, MOMENTS_VARIANCE);
  const number share = point_scalar(at, MOMENTS_SHARE), d = point_input(at, MOMENTS_X) - mean;
  (void)options;
  (void)part;
  if (output == 0) return NUMBER_FMA(share, d, mean);
  return NUMBER_FMA(point_scalar(at, MOMENTS_SPREAD), d * d, NUMBER_FMA(-share, variance, variance));
}

ARITHMETIC number mean_product_part(unsigned options, int output, int part, const operation_point *at) {
  const number mean = point_input(at, MEAN_PRODUCT_MEAN);
  const number product = point_input(at, MEAN_PRODUCT_X) * point_input(at, MEAN_PRODUCT_Y);
  (void)options;
  (void)output;
  (void)part;
  return NUMBER_FMA(point_scalar(at, MOMENTS_SHARE), product - mean, mean);
}

ARITHMETIC number sound_energy_part(unsigned options, int output, int part, const operation_point *at) {
  const number p = point_input(at, 0), u = point_input(at, 1), v = point_input(at, 2), w = point_input(at, 3);
  (void)options;
  (void)output;
  (void)part;
  return p * p / point_input(at, 4) + NUMBER_FMA(w, w, NUMBER_FMA(v, v, u * u)) / point_input(at, 5);
}

ARITHMETIC number advection_part(unsigned options, int output, int part, const operation_point *at) {
  (void)output;
  if (part == ADVECTION_PART_DISSIPATION) return point_term(at, ADVECTION_TERM_DISSIPATION);
  if (part == ADVECTION_PART_DIFFUSION) return point_term(at, ADVECTION_TERM_LAPLACIAN);
  if (!(options & ADVECTION_FLUX)) return point_term(at, ADVECTION_TERM_GRADIENT);
  if (!(options & ADVECTION_GRADIENT)) return point_term(at, ADVECTION_TERM_FLUX);
  return skew(point_term(at, ADVECTION_TERM_GRADIENT), point_term(at, ADVECTION_TERM_FLUX));
}

ARITHMETIC number advection_speed(unsigned options, int term, int axis, const operation_values *at) {
  (void)options;
  (void)term;
  return NUMBER_ABS(value_velocity(at, axis));
}

/* The two-point function of a term along an axis. */
ARITHMETIC number operation_pair(operation_kind kind, unsigned options, int term, int axis,
                                 const operation_values *own, const operation_values *neighbour) {
#define X(name)                                                                                              \
  if (kind == OPERATION_##name) return name##_pair(options, term, axis, own, neighbour);
  OPERATION_PAIRS(X)
#undef X
  (void)kind;
  (void)options;
  (void)term;
  (void)axis;
  (void)own;
  return value_input(neighbour, 0);
}

/* The speed of a damping along an axis, at least 0. */
ARITHMETIC number operation_speed(operation_kind kind, unsigned options, int term, int axis,
                                  const operation_values *at) {
#define X(name)                                                                                              \
  if (kind == OPERATION_##name) return name##_speed(options, term, axis, at);
  OPERATION_DAMPINGS(X)
#undef X
  return value_input(at, 0);
}

/* A part of an output. Files for one operation define WAY_PART (ways.cmake), because a compiler would inline
 * the parts of all operations before it removes all but one. */
ARITHMETIC number operation_part(operation_kind kind, unsigned options, int output, int part,
                                 const operation_point *at) {
#ifdef WAY_PART
  (void)kind;
  return WAY_PART(options, output, part, at);
#else
  switch (kind) {
#define X(name, additions)                                                                                   \
  case OPERATION_##name:                                                                                     \
    return name##_part(options, output, part, at);
    OPERATIONS(X)
#undef X
  default:
    break;
  }
  return point_input(at, 0);
#endif
}

/* What is stored for one output: its part, or the sum (operation.h). The options are the call's; parts: mask
 * of those in use; own: operation_own. */
ARITHMETIC number operation_output(operation_kind kind, unsigned options, unsigned parts, int own, int output,
                                   const operation_point *at) {
  const int differenced = own < OPERATION_INPUTS;
  if (!(options & SUM_BASE)) return operation_part(kind, options, output, 0, at);
  number base = point_input(at, output + (differenced ? own : (int)SUM_IN_BASE)), sum = base;
  if (options & SUM_OWN) {
    const number f = differenced ? base : point_input(at, output + own);
    if (differenced) base = point_input(at, output + SUM_IN_BASE);
    sum = blend(base, point_weight(at, WEIGHT_OWN), f, base);
  }
  for (int i = 0; i < 2 && (options & SUM_EXTRAS); i++) {
    const number extra = point_input(at, output + SUM_IN_EXTRA + i * SUM_OUTPUTS);
    sum = blend(sum, point_weight(at, WEIGHT_EXTRA + i), extra, base);
  }
  for (int j = 0; j < OPERATION_PARTS; j++) {
    if (parts >> j & 1U)
      sum = NUMBER_FMA(point_weight(at, WEIGHT_PART + j), operation_part(kind, options, output, j, at), sum);
  }
  return sum;
}

#endif
