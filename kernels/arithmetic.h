#ifndef FDAPP_KERNELS_ARITHMETIC_H
#define FDAPP_KERNELS_ARITHMETIC_H

/* The one order of arithmetic. Every backend computes every point with these functions and nothing else, so
 * that all of them give the same bits: the operations and the places of fma are fixed here, and compilers are
 * told to contract nothing by themselves (-ffp-contract=off, --fmad=false). Included by C and by CUDA files
 * that are compiled once per precision with FDAPP_REAL defined as float or double. */

#ifndef FDAPP_REAL
#error "define FDAPP_REAL as float or double"
#endif

typedef FDAPP_REAL real;

#ifdef __CUDACC__
#define ARITHMETIC static __device__ __forceinline__
#define REAL_FMA(a, b, c)                                                                                    \
  fma((a), (b), (c)) /* overloaded: correctly rounded in the type of its arguments                           \
                      */
#else
#define ARITHMETIC        static inline __attribute__((always_inline))
#define REAL_FMA(a, b, c) _Generic((a), float : __builtin_fmaf, double : __builtin_fma)((a), (b), (c))
#endif

/* First derivative: c[k-1] multiplies f(+k) - f(-k), outermost pair first. */
ARITHMETIC real first_derivative(const real *c, real m4, real m3, real m2, real m1, real p1, real p2, real p3,
                                 real p4) {
  real d = c[3] * (p4 - m4);
  d = REAL_FMA(c[2], p3 - m3, d);
  d = REAL_FMA(c[1], p2 - m2, d);
  return REAL_FMA(c[0], p1 - m1, d);
}

/* Adds the four pairs of a second derivative to s, outermost first; c[k] multiplies f(+k) + f(-k). The
 * Laplacian is s = 0, then x pairs, y pairs, z pairs, then fma(c0, f, s) with c0 = cx[0] + cy[0] + cz[0]
 * summed in double. */
ARITHMETIC real second_pairs(const real *c, real s, real m4, real m3, real m2, real m1, real p1, real p2,
                             real p3, real p4) {
  s = REAL_FMA(c[4], p4 + m4, s);
  s = REAL_FMA(c[3], p3 + m3, s);
  s = REAL_FMA(c[2], p2 + m2, s);
  return REAL_FMA(c[1], p1 + m1, s);
}

/* u . grad f */
ARITHMETIC real advective(real u, real v, real w, real dx, real dy, real dz) {
  return REAL_FMA(w, dz, REAL_FMA(v, dy, u * dx));
}

/* Sum of three derivatives: divergence, and the conservative form, whose products u f are rounded before they
 * are differenced. */
ARITHMETIC real divergence_sum(real dx, real dy, real dz) {
  return (dx + dy) + dz;
}

/* Skew-symmetric form: mean of advective and conservative. */
ARITHMETIC real skew(real advective_part, real conservative_part) {
  return (real)0.5 * (advective_part + conservative_part);
}

/* b + w (f - b): one term of a Runge-Kutta combination, written with the difference so that a constant stays
 * exactly constant whatever the weights' rounding. */
ARITHMETIC real blend(real sum, real weight, real f, real base) {
  return REAL_FMA(weight, f - base, sum);
}

#endif
