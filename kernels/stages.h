#ifndef FDAPP_KERNELS_STAGES_H
#define FDAPP_KERNELS_STAGES_H

/* The operations that are Runge-Kutta stages of equations. Included by operations.h alone: first for the
 * declarations, once more for the arithmetic. */

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

#define STAGE_FROM(options, velocity) (((options)&STAGE_VELOCITY) == (velocity))
/* Sending takes registers, so only stages with little arithmetic and nothing to load but states have it. */
#define STAGE_LEAN(options)                                                                                  \
  (((options) & (STAGE_FLUX | STAGE_UPWIND | STAGE_DIFFUSION)) == 0 && !STAGE_FROM(options, STAGE_STORED))

#define stage_operation(options)                                                                             \
  {                                                                                                          \
    .at_point = OPERATION_BIT(STAGE_IN_F) | OPERATION_IF((options)&STAGE_BASE, STAGE_IN_BASE) |              \
                ((options)&STAGE_EXTRAS ? 3U * OPERATION_BIT(STAGE_IN_EXTRA) : 0U),                          \
    .outputs = 1,                                                                                            \
    .needs = {OPERATION_IF((options)&STAGE_DIFFUSION, STAGE_TERM_LAPLACIAN) |                                \
              OPERATION_IF((options)&STAGE_UPWIND, STAGE_TERM_DISSIPATION) |                                 \
              OPERATION_IF((options)&STAGE_GRADIENT, STAGE_TERM_GRADIENT) |                                  \
              OPERATION_IF((options)&STAGE_FLUX, STAGE_TERM_FLUX)},                                          \
    .velocity = STAGE_FROM(options, STAGE_STORED)    ? VELOCITY_STORED                                       \
                : STAGE_FROM(options, STAGE_FORMULA) ? VELOCITY_TABLES                                       \
                                                     : VELOCITY_UNIFORM,                                     \
    .velocity_input = STAGE_IN_U, .edges = STAGE_LEAN(options) ? EDGES_SENT : EDGES_FIRST, .term = {         \
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
#define SUM_NEEDS(options, n, k) (1U << (k) | ((options)&SUM_UPWIND ? 1U << ((n) + (k)) : 0U))

#define divergence_stage_operation(options)                                                                  \
  {                                                                                                          \
    .at_point = SUM_POINTS(options, DIVERGENCE_SUM, 1), .outputs = 1, .needs = {SUM_NEEDS(options, 1, 0)},   \
    .term = {                                                                                                \
      OPERATION_SUM(DIFFERENCE_FIRST, 0, 1, 2),                                                              \
      OPERATION_SUM(DIFFERENCE_DISSIPATION, DIVERGENCE_OWN, DIVERGENCE_OWN, DIVERGENCE_OWN)                  \
    }                                                                                                        \
  }

#define gradient_stage_operation(options)                                                                    \
  {                                                                                                          \
    .at_point = SUM_POINTS(options, GRADIENT_SUM, 3), .outputs = 7,                                          \
    .needs = {SUM_NEEDS(options, 3, 0), SUM_NEEDS(options, 3, 1), SUM_NEEDS(options, 3, 2)},                 \
    .edges = EDGES_FIRST, .term = {                                                                          \
      OPERATION_EACH_AXIS(DIFFERENCE_FIRST, 0, 0, 0),                                                        \
      OPERATION_EACH_AXIS(DIFFERENCE_DISSIPATION, GRADIENT_OWN, GRADIENT_OWN + 1, GRADIENT_OWN + 2)          \
    }                                                                                                        \
  }

#endif

#if defined(FDAPP_KERNELS_OPERATIONS_FINISH) && !defined(FDAPP_KERNELS_STAGES_FINISH)
#define FDAPP_KERNELS_STAGES_FINISH

/* Adds the extras of a sum: the inputs first and first + apart, with the weights `scalar` and the next one.
 */
ARITHMETIC number extras_add(number sum, number base, int first, int apart, int scalar,
                             const operation_point *at) {
  for (int i = 0; i < 2; i++)
    sum = blend(sum, point_scalar(at, scalar + i), point_input(at, first + i * apart), base);
  return sum;
}

/* Output k of n outputs; first: the first input of the sum. An upwind stage without OWN has its own state as
 * base. */
ARITHMETIC number sum_finish(unsigned options, int first, int n, int k, const operation_point *at) {
  const unsigned upwind = options & SUM_UPWIND, own = options & SUM_OWN;
  const number base = point_input(at, first + n * (upwind && !own ? SUM_IN_OWN : SUM_BASE) + k);
  number sum = base;
  if (own)
    sum = blend(base, point_scalar(at, SUM_WEIGHT_OWN), point_input(at, first + n * SUM_IN_OWN + k), base);
  if (options & SUM_EXTRAS) sum = extras_add(sum, base, first + n * SUM_EXTRA + k, n, SUM_WEIGHT_EXTRA, at);
  sum = NUMBER_FMA(point_scalar(at, SUM_WEIGHT_TERM), point_term(at, k), sum);
  return upwind ? NUMBER_FMA(point_scalar(at, SUM_WEIGHT_DISSIPATION), point_term(at, n + k), sum) : sum;
}

ARITHMETIC number divergence_stage_finish(unsigned options, int output, const operation_point *at) {
  return sum_finish(options, DIVERGENCE_SUM, 1, output, at);
}

ARITHMETIC number gradient_stage_finish(unsigned options, int output, const operation_point *at) {
  return sum_finish(options, GRADIENT_SUM, 3, output, at);
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
  if (options & STAGE_EXTRAS) sum = extras_add(sum, base, STAGE_IN_EXTRA, 1, STAGE_WEIGHT_EXTRA, at);
  sum = NUMBER_FMA(point_scalar(at, STAGE_WEIGHT_ADVECTION), stage_advection(options, at), sum);
  if (options & STAGE_UPWIND)
    sum = NUMBER_FMA(point_scalar(at, STAGE_WEIGHT_DISSIPATION), point_term(at, STAGE_TERM_DISSIPATION), sum);
  if (options & STAGE_DIFFUSION)
    sum = NUMBER_FMA(point_scalar(at, STAGE_WEIGHT_DIFFUSION), point_term(at, STAGE_TERM_LAPLACIAN), sum);
  return sum;
}

#endif
