#ifndef FDAPP_KERNELS_OPERATIONS_H
#define FDAPP_KERNELS_OPERATIONS_H

/* Every operation, declared once. An operation reads arrays, takes differences of them, folds the differences
 * of the three axes into one number per term, and finishes with a few lines of arithmetic:
 *
 *   out[k] at a point = finish(k; terms there, inputs there, scalars).
 *
 * Both engines (cpu/, cuda/), fdbench, the accounts of traffic and the kernel tests read these declarations;
 * none of them knows an operation by its name. A new operation is a line in OPERATION_WAYS and OPERATIONS, a
 * NAME_operation and a NAME_finish below, and an independent reference in tests/support.
 *
 * Included by C17 and by CUDA files (C++17). Files that include arithmetic.h first get the finish functions,
 * too. */

enum {
  OPERATION_INPUTS = 16,
  OPERATION_OUTPUTS = 3,
  OPERATION_TERMS = 6,
  OPERATION_SCALARS = 12,
  OPERATION_NONE = -1 /* in operation_term.along: nothing is differenced along this axis */
};

typedef enum axis { AXIS_X, AXIS_Y, AXIS_Z } axis;

/* FIRST: first derivative. SECOND: the pairs of the second derivative, then the centre; the coefficients of
 * the centre are summed over the term's axes in double and rounded once. DISSIPATION: the even difference
 * that makes a central difference upwind-biased, its centre included on each axis. */
typedef enum operation_difference {
  DIFFERENCE_FIRST,
  DIFFERENCE_SECOND,
  DIFFERENCE_DISSIPATION
} operation_difference;

/* How the differences dx, dy, dz of a term become one number. SUM: (dx + dy) + dz; of an axis alone, its
 * difference. VELOCITY: u dx + v dy + w dz, in the order of advective(). SPEED: the same with |u|, |v|, |w|.
 * CHAIN: the pairs of x, y and z are added to one sum, of one input; for SECOND alone. */
typedef enum operation_fold { FOLD_SUM, FOLD_VELOCITY, FOLD_SPEED, FOLD_CHAIN } operation_fold;

/* Where the velocity comes from: three scalars of the call, three inputs, or tables (kernels_tables). */
typedef enum operation_velocity {
  VELOCITY_NONE,
  VELOCITY_UNIFORM,
  VELOCITY_STORED,
  VELOCITY_TABLES
} operation_velocity;

typedef struct operation_term {
  operation_difference of;
  operation_fold fold;
  int along[3]; /* the input that is differenced along x, y, z, or OPERATION_NONE */
  int product;  /* 1: each value is multiplied by the velocity's component along the axis before it is
                 * differenced, and the product rounded: a flux */
} operation_term;

/* Engines take terms in ascending order; the last one is part of every way (OPERATION_WAYS) of the operation.
 */
typedef struct operation {
  unsigned inputs;                   /* mask of the arrays read, each once */
  unsigned at_point;                 /* mask of the inputs that finish reads at the point itself */
  int outputs;                       /* number of arrays written, each once */
  unsigned needs[OPERATION_OUTPUTS]; /* mask of the terms that finish reads for this output */
  operation_velocity velocity;
  int velocity_input; /* STORED: first of the three inputs that hold u, v, w */
  int edges;          /* 1: a launch may ask for its edge planes first (kernels_launch.edges) */
  unsigned terms;     /* mask of the terms in use */
  operation_term term[OPERATION_TERMS];
} operation;

#define OPERATION_BIT(i)           (1U << (i))
#define OPERATION_IF(condition, i) ((condition) ? OPERATION_BIT(i) : 0U)
#define OPERATION_ALONG(input, axis, direction)                                                              \
  ((unsigned)(axis) == (unsigned)(direction) ? (input) : (int)OPERATION_NONE)

/* ---- derivative: out[0] = d f / d axis; options: the axis ---- */

#define derivative_operation(options)                                                                        \
  {                                                                                                          \
    .inputs = 1, .at_point = 0, .outputs = 1, .needs = {1}, .velocity = VELOCITY_NONE, .velocity_input = 0,  \
    .edges = 0, .terms = 1, .term = {                                                                        \
      {DIFFERENCE_FIRST,                                                                                     \
       FOLD_SUM,                                                                                             \
       {OPERATION_ALONG(0, AXIS_X, options), OPERATION_ALONG(0, AXIS_Y, options),                            \
        OPERATION_ALONG(0, AXIS_Z, options)},                                                                \
       0}                                                                                                    \
    }                                                                                                        \
  }

/* ---- gradient: out[0..2] = grad f ---- */

#define gradient_operation(options)                                                                          \
  {                                                                                                          \
    .inputs = 1, .at_point = 0, .outputs = 3, .needs = {1, 2, 4}, .velocity = VELOCITY_NONE,                 \
    .velocity_input = 0, .edges = 0, .terms = 7, .term = {                                                   \
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

/* ---- stage: one Runge-Kutta stage of advection and diffusion (kernels_stage has the formula) ----
 *
 * Options: the velocity (one of three), the parts of the advection term (GRADIENT: u . grad f; FLUX: div(u
 * f); both: their mean), and what is added. A uniform velocity has GRADIENT alone; EXTRAS come with a BASE.
 */

enum {
  STAGE_UNIFORM = 0,
  STAGE_STORED = 1,
  STAGE_FORMULA = 2,
  STAGE_VELOCITY = 3, /* mask of the three */
  STAGE_GRADIENT = 4,
  STAGE_FLUX = 8,
  STAGE_BASE = 16,
  STAGE_EXTRAS = 32,
  STAGE_DIFFUSION = 64
};
enum { STAGE_IN_F, STAGE_IN_BASE, STAGE_IN_EXTRA, STAGE_IN_U = STAGE_IN_EXTRA + 2 };
enum { STAGE_TERM_LAPLACIAN, STAGE_TERM_GRADIENT, STAGE_TERM_FLUX };
enum { STAGE_WEIGHT_F, STAGE_WEIGHT_EXTRA, STAGE_ADVECTION = STAGE_WEIGHT_EXTRA + 2, STAGE_DIFFUSION_WEIGHT };

#define STAGE_POINTS(options)                                                                                \
  (OPERATION_BIT(STAGE_IN_F) | OPERATION_IF((options)&STAGE_BASE, STAGE_IN_BASE) |                           \
   OPERATION_IF((options)&STAGE_EXTRAS, STAGE_IN_EXTRA) |                                                    \
   OPERATION_IF((options)&STAGE_EXTRAS, STAGE_IN_EXTRA + 1))
#define STAGE_TERMS(options)                                                                                 \
  (OPERATION_IF((options)&STAGE_DIFFUSION, STAGE_TERM_LAPLACIAN) |                                           \
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
      {DIFFERENCE_FIRST, FOLD_VELOCITY, {STAGE_IN_F, STAGE_IN_F, STAGE_IN_F}, 0},                            \
      {DIFFERENCE_FIRST, FOLD_SUM, {STAGE_IN_F, STAGE_IN_F, STAGE_IN_F}, 1}                                  \
    }                                                                                                        \
  }

/* ---- The lists ---- */

/* X(NAME, ADDITIONS): additions are the options of which each way below takes any combination in which no
 * array comes without the one before it: arrays and terms that are added. */
#define OPERATIONS(X)                                                                                        \
  X(derivative, 0)                                                                                           \
  X(gradient, 0)                                                                                             \
  X(divergence, 0)                                                                                           \
  X(laplacian, 0)                                                                                            \
  X(axpy, 0)                                                                                                 \
  X(stage, STAGE_BASE | STAGE_EXTRAS | STAGE_DIFFUSION)

/* X(NAME, OPTIONS, WAY): the options, additions apart, for which engines have code, and what to call that. */
#define OPERATION_WAYS(X)                                                                                    \
  X(derivative, AXIS_X, dx)                                                                                  \
  X(derivative, AXIS_Y, dy)                                                                                  \
  X(derivative, AXIS_Z, dz)                                                                                  \
  X(gradient, 0, gradient)                                                                                   \
  X(divergence, 0, divergence)                                                                               \
  X(laplacian, 0, laplacian)                                                                                 \
  X(axpy, 0, axpy)                                                                                           \
  X(stage, STAGE_UNIFORM | STAGE_GRADIENT, stage_uniform)                                                    \
  X(stage, STAGE_FORMULA | STAGE_GRADIENT, stage_formula)                                                    \
  X(stage, STAGE_FORMULA | STAGE_FLUX, stage_formula_conservative)                                           \
  X(stage, STAGE_FORMULA | STAGE_GRADIENT | STAGE_FLUX, stage_formula_skew)                                  \
  X(stage, STAGE_STORED | STAGE_GRADIENT, stage_stored_advective)                                            \
  X(stage, STAGE_STORED | STAGE_FLUX, stage_stored_conservative)                                             \
  X(stage, STAGE_STORED | STAGE_GRADIENT | STAGE_FLUX, stage_stored_skew)

#define X(name, additions) OPERATION_##name,
typedef enum operation_kind { OPERATIONS(X) OPERATION_KINDS } operation_kind;
#undef X

#define X(name, additions) name##_additions = (additions),
enum { OPERATIONS(X) };
#undef X

#if defined(__CUDACC__)
#define DESCRIBE static inline __host__ __device__ constexpr
#elif defined(__cplusplus)
#define DESCRIBE static inline constexpr
#else
#define DESCRIBE static inline
#endif

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

DESCRIBE unsigned operation_additions(operation_kind kind) {
  switch (kind) {
#define X(name, additions)                                                                                   \
  case OPERATION_##name:                                                                                     \
    return additions;
    OPERATIONS(X)
#undef X
  default:
    break;
  }
  return 0;
}

/* Arrays read; each is read once per point by a perfect engine, and o->outputs are written. */
DESCRIBE int operation_reads(const operation *o) {
  int count = 0;
  for (int i = 0; i < OPERATION_INPUTS; i++) count += (int)(o->inputs >> i & 1U);
  return count;
}

/* 1 if the term is in use. */
DESCRIBE int operation_has(const operation *o, int term) {
  return (int)(o->terms >> term & 1U);
}

/* 1 if a term in use differences the input itself along the axis, or, of a flux, its product. */
DESCRIBE int operation_differences(const operation *o, int input, int axis) {
  for (int t = 0; t < OPERATION_TERMS; t++) {
    if (!operation_has(o, t) || o->term[t].along[axis] == OPERATION_NONE) continue;
    if (o->term[t].along[axis] == input) return 1;
    if (o->term[t].product && o->velocity == VELOCITY_STORED && o->velocity_input + axis == input) return 1;
  }
  return 0;
}

/* 1 if a term in use differences anything along the axis. */
DESCRIBE int operation_along(const operation *o, int axis) {
  for (int t = 0; t < OPERATION_TERMS; t++) {
    if (operation_has(o, t) && o->term[t].along[axis] != OPERATION_NONE) return 1;
  }
  return 0;
}

/* 1 if a term in use multiplies by the velocity at the point itself. */
DESCRIBE int operation_velocity_at_point(const operation *o) {
  for (int t = 0; t < OPERATION_TERMS; t++) {
    const operation_fold fold = o->term[t].fold;
    if (operation_has(o, t) && (fold == FOLD_VELOCITY || fold == FOLD_SPEED)) return 1;
  }
  return 0;
}

/* 1 if a term in use differences products with the velocity. */
DESCRIBE int operation_products(const operation *o) {
  for (int t = 0; t < OPERATION_TERMS; t++) {
    if (operation_has(o, t) && o->term[t].product) return 1;
  }
  return 0;
}

#endif

/* ---- What each operation computes at a point, with the functions of arithmetic.h ---- */

#if defined(FDAPP_KERNELS_ARITHMETIC_H) && !defined(FDAPP_KERNELS_OPERATIONS_FINISH)
#define FDAPP_KERNELS_OPERATIONS_FINISH

/* A point, or several side by side. Each engine defines the type and the three functions: the value of an
 * input (one of at_point), of a term in use, and of a scalar, rounded to the field's precision. */
typedef struct operation_point operation_point;
ARITHMETIC number point_input(const operation_point *at, int input);
ARITHMETIC number point_term(const operation_point *at, int term);
ARITHMETIC number point_scalar(const operation_point *at, int scalar);

ARITHMETIC number derivative_finish(unsigned options, int output, const operation_point *at) {
  (void)options;
  (void)output;
  return point_term(at, 0);
}

ARITHMETIC number gradient_finish(unsigned options, int output, const operation_point *at) {
  (void)options;
  return point_term(at, output);
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
  sum = NUMBER_FMA(point_scalar(at, STAGE_ADVECTION), stage_advection(options, at), sum);
  if (options & STAGE_DIFFUSION) {
    const number laplacian = point_term(at, STAGE_TERM_LAPLACIAN);
    sum = NUMBER_FMA(point_scalar(at, STAGE_DIFFUSION_WEIGHT), laplacian, sum);
  }
  return sum;
}

/* What `finish` of an operation gives for one of its outputs. */
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
