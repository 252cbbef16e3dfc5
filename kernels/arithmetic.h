#ifndef FDAPP_KERNELS_ARITHMETIC_H
#define FDAPP_KERNELS_ARITHMETIC_H

/* The one order of arithmetic. Every backend computes every point with these functions and nothing else, so
 * all give the same bits: the operations and the places of fma are fixed here, and compilers must contract
 * nothing by themselves (-ffp-contract=off, --fmad=false). Included by C and by CUDA files that are compiled
 * once per precision with FDAPP_REAL defined as float or double. */

#ifndef FDAPP_REAL
#error "define FDAPP_REAL as float or double"
#endif

typedef FDAPP_REAL real;

#ifdef __cplusplus
#define ARITHMETIC static __device__ __forceinline__
#define REAL_FMA(a, b, c)                                                                                    \
  fma((a), (b), (c)) /* overloaded: correctly rounded in the type of its arguments                           \
                      */
#define REAL_ABS(a)  fabs(a)
#define REAL_ROOT(a) sqrt(a) /* correctly rounded, too (nvcc's --prec-sqrt=true, which is its default) */
#else
#define ARITHMETIC        static inline __attribute__((always_inline))
#define REAL_FMA(a, b, c) _Generic((a), float : __builtin_fmaf, double : __builtin_fma)((a), (b), (c))
#define REAL_ABS(a)       _Generic((a), float : __builtin_fabsf, double : __builtin_fabs)(a)
#define REAL_ROOT(a)      _Generic((a), float : __builtin_sqrtf, double : __builtin_sqrt)(a)
#endif

/* The type of a value: one point, or several points side by side if the including file defines a type and an
 * fma for them. */
#ifndef FDAPP_NUMBER
#define FDAPP_NUMBER real
#define NUMBER_FMA   REAL_FMA
#define NUMBER_ABS   REAL_ABS
#define NUMBER_ROOT  REAL_ROOT
#endif
typedef FDAPP_NUMBER number;

/* First derivative: c[k-1] multiplies f(+k) - f(-k), outermost pair first. */
ARITHMETIC number first_derivative(const number *c, number m4, number m3, number m2, number m1, number p1,
                                   number p2, number p3, number p4) {
  number d = c[3] * (p4 - m4);
  d = NUMBER_FMA(c[2], p3 - m3, d);
  d = NUMBER_FMA(c[1], p2 - m2, d);
  return NUMBER_FMA(c[0], p1 - m1, d);
}

/* Adds the four pairs of a second derivative to s, outermost first; c[k] multiplies f(+k) + f(-k). The
 * Laplacian is s = 0, then x pairs, y pairs, z pairs, then fma(c0, f, s) with c0 = cx[0] + cy[0] + cz[0]
 * summed in double. */
ARITHMETIC number second_pairs(const number *c, number s, number m4, number m3, number m2, number m1,
                               number p1, number p2, number p3, number p4) {
  s = NUMBER_FMA(c[4], p4 + m4, s);
  s = NUMBER_FMA(c[3], p3 + m3, s);
  s = NUMBER_FMA(c[2], p2 + m2, s);
  return NUMBER_FMA(c[1], p1 + m1, s);
}

/* Second derivative along one axis. */
ARITHMETIC number second_derivative(const number *c, number m4, number m3, number m2, number m1,
                                    number centre, number p1, number p2, number p3, number p4) {
  const number none = {0};
  return NUMBER_FMA(c[0], centre, second_pairs(c, none, m4, m3, m2, m1, p1, p2, p3, p4));
}

/* Even difference: c[k-1] multiplies f(+k) - 2 f + f(-k), outermost pair first. The centre is subtracted from
 * each pair, so the difference of a constant is exactly zero, however the coefficients are rounded. */
ARITHMETIC number even_difference(const number *c, number m4, number m3, number m2, number m1, number centre,
                                  number p1, number p2, number p3, number p4) {
  const number twice = centre + centre;
  number e = c[3] * ((p4 + m4) - twice);
  e = NUMBER_FMA(c[2], (p3 + m3) - twice, e);
  e = NUMBER_FMA(c[1], (p2 + m2) - twice, e);
  return NUMBER_FMA(c[0], (p1 + m1) - twice, e);
}

/* A flux of the damping (stencil.h): speed times delta^m f, with taps from the outside; the value at the
 * flux's own point is subtracted from each, so the flux of a constant is exactly zero. */
ARITHMETIC number damping_flux(const number *taps, const number *share, number m2, number m1, number centre,
                               number p1, number p2, number speed_before, number speed) {
  number f = taps[0] * (m2 - centre);
  f = NUMBER_FMA(taps[4], p2 - centre, f);
  f = NUMBER_FMA(taps[1], m1 - centre, f);
  f = NUMBER_FMA(taps[3], p1 - centre, f);
  return NUMBER_FMA(share[1], speed_before, share[0] * speed) * f;
}

/* The damping from the fluxes of five points around, by the same taps in reverse. `scale` is that of the
 * axis; in a layer beside an end it is divided by the point's quadrature weight, and fluxes that would read
 * beyond the end are 0. */
ARITHMETIC number damping_sum(const number *taps, number scale, number m2, number m1, number centre,
                              number p1, number p2) {
  number s = taps[4] * m2;
  s = NUMBER_FMA(taps[0], p2, s);
  s = NUMBER_FMA(taps[3], m1, s);
  s = NUMBER_FMA(taps[1], p1, s);
  return scale * NUMBER_FMA(taps[2], centre, s);
}

/* Adds the next point of a closure's row to the difference so far, which begins with 0. A row's points come
 * from the end inwards, and the point itself is one of them. The value at the point, `centre`, is subtracted
 * from each, so the difference of a constant is exactly zero, however the coefficients are rounded. */
ARITHMETIC number closure_add(number sum, number coefficient, number value, number centre) {
  return NUMBER_FMA(coefficient, value - centre, sum);
}

/* A velocity from tables (kernels.h): product = y z and sum = a + b, each rounded, are passed in. */
ARITHMETIC number table_velocity(number x, number product, number sum) {
  return NUMBER_FMA(x, product, sum);
}

/* u . grad f; with |u|, |v|, |w| and even differences, its dissipation. The part in x and y is separate, for
 * engines that get dz later. */
ARITHMETIC number advective_xy(number u, number v, number dx, number dy) {
  return NUMBER_FMA(v, dy, u * dx);
}

ARITHMETIC number advective_add_z(number xy, number w, number dz) {
  return NUMBER_FMA(w, dz, xy);
}

ARITHMETIC number advective(number u, number v, number w, number dx, number dy, number dz) {
  return advective_add_z(advective_xy(u, v, dx, dy), w, dz);
}

/* Sum of three derivatives, from the left: the divergence, and the conservative form, whose products u f are
 * rounded before they are differenced. */
ARITHMETIC number divergence_xy(number dx, number dy) {
  return dx + dy;
}

ARITHMETIC number divergence_add_z(number xy, number dz) {
  return xy + dz;
}

ARITHMETIC number divergence_sum(number dx, number dy, number dz) {
  return divergence_add_z(divergence_xy(dx, dy), dz);
}

/* Skew-symmetric form: mean of advective and conservative. */
ARITHMETIC number skew(number advective_part, number conservative_part) {
  return (real)0.5 * (advective_part + conservative_part);
}

/* Length of a vector. */
ARITHMETIC number magnitude(number x, number y, number z) {
  return NUMBER_ROOT(NUMBER_FMA(z, z, NUMBER_FMA(y, y, x * x)));
}

/* b + w (f - b): one term of a Runge-Kutta combination. Written with the difference, a constant stays exactly
 * constant, however the weights are rounded. */
ARITHMETIC number blend(number sum, number weight, number f, number base) {
  return NUMBER_FMA(weight, f - base, sum);
}

#endif
