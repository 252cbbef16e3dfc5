#ifndef FDAPP_KERNELS_OPERATION_H
#define FDAPP_KERNELS_OPERATION_H

/* The declaration of an operation, and properties that follow from it. The operations themselves are in
 * operations.h. Included by C17 and by CUDA files (C++17). */

enum {
  OPERATION_INPUTS = 12,
  OPERATION_OUTPUTS = 9, /* of a general operation without a sum; ... */
  LEAN_OUTPUTS = 3,      /* ... of a lean one (operation_traits.h); ... */
  SUM_OUTPUTS = 3,       /* ... and of one with a sum: the first ones */
  OPERATION_TERMS = 9,
  OPERATION_PARTS = 4,
  OPERATION_SCALARS = 4,
  OPERATION_NONE = -1 /* in operation_term.along: nothing is differenced along this axis */
};

/* The most outputs and terms of the declarations that a file is compiled for. The file of a way has its own
 * numbers (ways.cmake), because compilers make other code of longer loops and expressions, even where these
 * fold: with nine of both for all, a quarter of the ways got other instructions. */
#ifndef WAY_OUTPUTS
#define WAY_OUTPUTS OPERATION_OUTPUTS
#define WAY_TERMS   OPERATION_TERMS
#endif

/* An operation computes a right-hand side L, of which each output has parts. Without a sum the one part is
 * stored. With it, the engine stores
 *
 *   out[k] = base_k + w_own (own_k - base_k) + sum_i w_extra[i] (extra_i,k - base_k)
 *            + sum_j w_part[j] part_j,
 *
 * a Runge-Kutta stage, whatever L is. The terms are added in this order, each by one fma. The sum is asked
 * for by options of the call that are the same for every operation: SUM_BASE alone has no other term than
 * parts; OWN adds the unknowns' own states f, which L may difference; EXTRAS come with OWN. If L differences
 * own, SUM_BASE alone has it for the base, so that no array is read twice. */
enum { SUM_BASE = 1 << 16, SUM_OWN = 1 << 17, SUM_EXTRAS = 1 << 18, SUM_OPTIONS = 7 << 16 };

/* The arrays of the sum come after the inputs of the declaration, for output k each of these + k, and the
 * second extra SUM_OUTPUTS after the first one. */
enum {
  SUM_IN_BASE = OPERATION_INPUTS,
  SUM_IN_OWN = SUM_IN_BASE + SUM_OUTPUTS,
  SUM_IN_EXTRA = SUM_IN_OWN + SUM_OUTPUTS,
  OPERATION_ARRAYS = SUM_IN_EXTRA + 2 * SUM_OUTPUTS
};

enum {
  WEIGHT_OWN,
  WEIGHT_EXTRA,
  WEIGHT_PART = WEIGHT_EXTRA + 2,
  OPERATION_WEIGHTS = WEIGHT_PART + OPERATION_PARTS
};

typedef enum axis { AXIS_X, AXIS_Y, AXIS_Z } axis;

/* FIRST, SECOND: first and second derivative. DISSIPATION: the even difference that makes a central
 * difference upwind-biased (stencil.h). DAMPING: its divergence form, with the speed NAME_speed of the
 * operation (stencil.h). PAIR: the first difference of a two-point function, NAME_pair: its coefficients
 * multiply F(point, neighbour) as they multiply values, and so do closures' rows. */
typedef enum operation_difference {
  DIFFERENCE_FIRST,
  DIFFERENCE_SECOND,
  DIFFERENCE_DISSIPATION,
  DIFFERENCES, /* number of those with rows of their own beside ends */
  DIFFERENCE_DAMPING = DIFFERENCES,
  DIFFERENCE_PAIR
} operation_difference;

/* How the differences dx, dy, dz of a term become one number. SUM: (dx + dy) + dz; if the term has one axis,
 * its difference. VELOCITY: u dx + v dy + w dz, in the order of advective(). SPEED: the same with |u|, |v|,
 * |w|. CHAIN, for SECOND along all axes: the pairs of x, y and z of one input, then the centre, are added to
 * one sum; the centre's coefficients are summed over the axes in double and rounded once. */
typedef enum operation_fold { FOLD_SUM, FOLD_VELOCITY, FOLD_SPEED, FOLD_CHAIN } operation_fold;

/* Source of the velocity: three scalars of the call, three inputs, or tables (kernels_tables). */
typedef enum operation_velocity {
  VELOCITY_NONE,
  VELOCITY_UNIFORM,
  VELOCITY_STORED,
  VELOCITY_TABLES
} operation_velocity;

/* What a launch may ask of the operation's edge planes: nothing; that they are computed first
 * (kernels_launch.edges); or also that the kernel itself sends them (kernels_launch.sends). */
typedef enum operation_edges { EDGES_NONE, EDGES_FIRST, EDGES_SENT } operation_edges;

typedef struct operation_term {
  operation_difference of;
  operation_fold fold;
  int along[3]; /* the input that is differenced along x, y, z, or OPERATION_NONE; of a PAIR, any that it
                 * reads */
  int product;  /* 1: each value is multiplied by the velocity's component along the axis before it is
                 * differenced, and the product rounded: a flux. Of a PAIR or DAMPING: its function reads the
                 * velocity's component along the axis */
} operation_term;

/* A declaration leaves out members that are zero, and has the others in this order, as C++ wants it. Terms
 * are in use if an output needs them, and inputs are read if a term in use, a part or the sum takes them.
 * Engines compute terms in ascending order. The last term that an output needs is in use in every way of the
 * operation (OPERATION_WAYS) that writes the output. */
typedef struct operation {
  unsigned sum;                      /* of SUM_OPTIONS; set by OPERATION_DECLARED, not by a declaration */
  unsigned at_point;                 /* mask of the inputs that parts read at the point itself */
  unsigned outputs;                  /* mask of the arrays written, each once */
  unsigned needs[OPERATION_OUTPUTS]; /* mask of the terms that the parts of this output read */
  unsigned part[OPERATION_PARTS];    /* the options that bring parts 1, 2, ...; part 0 is always there */
  int differences_own;               /* 1: terms difference the own states of the outputs, ... */
  int own_input;                     /* ... which are this input and those after it */
  unsigned around;                   /* mask of the inputs that functions of PAIR and DAMPING terms read */
  operation_velocity velocity;
  int velocity_input; /* STORED: first of the three inputs that hold u, v, w */
  operation_edges edges;
  operation_term term[OPERATION_TERMS];
} operation;

#define OPERATION_BIT(i)           (1U << (i))
#define OPERATION_IF(condition, i) ((condition) ? OPERATION_BIT(i) : 0U)

/* A term with FOLD_SUM of inputs x, y and z. */
#define OPERATION_TERM(of, x, y, z)                                                                          \
  { of, FOLD_SUM, {x, y, z}, 0 }
/* Three terms: the differences of inputs x, y and z, each along its own axis. */
#define OPERATION_EACH_AXIS(of, x, y, z)                                                                     \
  OPERATION_TERM(of, x, OPERATION_NONE, OPERATION_NONE)                                                      \
  , OPERATION_TERM(of, OPERATION_NONE, y, OPERATION_NONE),                                                   \
      OPERATION_TERM(of, OPERATION_NONE, OPERATION_NONE, z)

#if defined(__CUDACC__)
#define DESCRIBE static inline __host__ __device__ constexpr
#elif defined(__cplusplus)
#define DESCRIBE static inline constexpr
#else
#define DESCRIBE static inline
#endif

DESCRIBE int mask_count(unsigned mask) {
  int count = 0;
  for (; mask != 0; mask &= mask - 1) count++;
  return count;
}

/* 1 if output k is written. */
DESCRIBE int operation_stores(const operation *o, int k) {
  return (int)(o->outputs >> k & 1U);
}

/* Mask of the terms in use. It has no loop, so compilers know the result before they inline what depends on
 * it. */
DESCRIBE unsigned operation_terms(const operation *o) {
#define TERMS_OF(k) (WAY_OUTPUTS > (k) && (o->outputs & OPERATION_BIT(k)) ? o->needs[k] : 0U)
  return TERMS_OF(0) | TERMS_OF(1) | TERMS_OF(2) | TERMS_OF(3) | TERMS_OF(4) | TERMS_OF(5) | TERMS_OF(6) |
         TERMS_OF(7) | TERMS_OF(8);
#undef TERMS_OF
}

/* 1 if the term is in use. */
DESCRIBE int operation_has(const operation *o, int term) {
  return (int)(operation_terms(o) >> term & 1U);
}

/* 1 if a term calls a function of the operation at neighbours. */
DESCRIBE int term_calls(const operation_term *term) {
  return term->of == DIFFERENCE_PAIR || term->of == DIFFERENCE_DAMPING;
}

/* 1 if a term in use reads the input at neighbours along the axis. */
DESCRIBE int operation_differences(const operation *o, int input, int axis) {
  for (int t = 0; t < WAY_TERMS; t++) {
    if (!operation_has(o, t) || o->term[t].along[axis] == OPERATION_NONE) continue;
    if (o->term[t].along[axis] == input) return 1;
    if (term_calls(&o->term[t]) && (o->around >> input & 1U)) return 1;
    if (o->term[t].product && o->velocity == VELOCITY_STORED && o->velocity_input + axis == input) return 1;
  }
  return 0;
}

/* 1 if a term in use differences anything along the axis. */
DESCRIBE int operation_along(const operation *o, int axis) {
  for (int t = 0; t < WAY_TERMS; t++) {
    if (operation_has(o, t) && o->term[t].along[axis] != OPERATION_NONE) return 1;
  }
  return 0;
}

/* 1 if a term in use multiplies by the velocity at the point itself. */
DESCRIBE int operation_velocity_at_point(const operation *o) {
  for (int t = 0; t < WAY_TERMS; t++) {
    const operation_fold fold = o->term[t].fold;
    if (operation_has(o, t) && (fold == FOLD_VELOCITY || fold == FOLD_SPEED)) return 1;
  }
  return 0;
}

/* 1 if a term in use differences products with the velocity. */
DESCRIBE int operation_products(const operation *o) {
  for (int t = 0; t < WAY_TERMS; t++) {
    if (operation_has(o, t) && o->term[t].product) return 1;
  }
  return 0;
}

/* The array with the own state of output 0; those of the others follow. */
DESCRIBE int operation_own(const operation *o) {
  return o->differences_own ? o->own_input : (int)SUM_IN_OWN;
}

/* Mask of the parts in use with some options of the declaration. It has no loop, as operation_terms. */
DESCRIBE unsigned operation_parts(const operation *o, unsigned options) {
  return 1U | ((o->part[1] & options) != 0 ? 2U : 0U) | ((o->part[2] & options) != 0 ? 4U : 0U) |
         ((o->part[3] & options) != 0 ? 8U : 0U);
}

/* Mask of the arrays that are read at the point itself: by parts and by the sum. */
DESCRIBE unsigned operation_points(const operation *o) {
  const unsigned own = o->outputs << operation_own(o), extra = o->outputs << SUM_IN_EXTRA;
  const int apart = (o->sum & SUM_OWN) || !o->differences_own; /* the base is an array of its own */
  if (!(o->sum & SUM_BASE)) return o->at_point;
  return o->at_point | (apart ? o->outputs << SUM_IN_BASE : 0U) |
         ((o->sum & SUM_OWN) || o->differences_own ? own : 0U) |
         (o->sum & SUM_EXTRAS ? extra | extra << SUM_OUTPUTS : 0U);
}

/* Mask of the arrays read, each once. */
DESCRIBE unsigned operation_inputs(const operation *o) {
  unsigned inputs = operation_points(o);
  for (int i = 0; i < OPERATION_INPUTS; i++) {
    for (int axis = 0; axis < 3; axis++) inputs |= OPERATION_IF(operation_differences(o, i, axis), i);
  }
  if (o->velocity == VELOCITY_STORED && operation_velocity_at_point(o)) inputs |= 7U << o->velocity_input;
  return inputs;
}

/* Numbers of arrays read and written, each once per point if caches are perfect. */
DESCRIBE int operation_reads(const operation *o) {
  return mask_count(operation_inputs(o));
}

DESCRIBE int operation_writes(const operation *o) {
  return mask_count(o->outputs);
}

#endif
