#ifndef FDAPP_KERNELS_STENCIL_H
#define FDAPP_KERNELS_STENCIL_H

/* Coefficients of the centred 9-point differences, shared by all backends. Lower orders have the same shape
 * with outer coefficients zero: the order of accuracy is data, not code. */

enum { STENCIL_RADIUS = 4, STENCIL_ORDERS = 4 };

/* Coefficients for each axis (x, y, z), divided by h or h^2, in double; a backend rounds them once to the
 * field's precision. With k = 1..4:
 *
 *   f'(x)  ~ sum_k first[d][k-1] (f(x+kh) - f(x-kh)),
 *   f''(x) ~ second[d][0] f(x) + sum_k second[d][k] (f(x+kh) + f(x-kh)),
 *   D f(x) = sum_k dissipation[d][k-1] (f(x+kh) - 2 f(x) + f(x-kh)).
 *
 * D is -delta^8/(280 h), delta^6/(60 h), -delta^4/(12 h), delta^2/(2 h) for orders 8, 6, 4, 2. It is never
 * positive; -u f' + |u| D f is the upwind-biased difference, of one order less.
 *
 * Source: B. Fornberg, Math. Comp. 51 (1988) 699, tables 1 and 2.
 *
 * With a speed s that varies from point to point, s D f is no divergence. The damping
 *
 *   C f = damping[d] T(s delta^m f),   m = order / 2,   damping[d] = -1 / (m binomial(2m, m) h),
 *
 * is one, and equals s D f where s is constant. T is delta^m with its taps in reverse. For even m, fluxes s
 * delta^m f lie at points; for odd m halfway between points, with the mean of s at both. Any s >= 0 damps:
 * the sum of f C f over the points is damping[d] times the sum of s (delta^m f)^2.
 *
 * taps: delta^m, from two points before a flux's point to two after it. For odd m, a flux's point is the one
 * after it, and the last tap is 0. share: of s at this point, and at the one before. */
enum { STENCIL_TAPS = 5 };
typedef struct stencil {
  int order; /* 2, 4, 6 or 8 */
  double spacing[3];
  double first[3][STENCIL_RADIUS];
  double second[3][STENCIL_RADIUS + 1];
  double dissipation[3][STENCIL_RADIUS];
  double damping[3], taps[STENCIL_TAPS], share[2];
} stencil;

/* The points from the first tap that is not 0 to a flux's own point; of `order`. From there to the last tap
 * there are order / 4. */
static inline int stencil_taps_before(int order) {
  return (order / 2 + 1) / 2;
}

/* Coefficients for `order` (2, 4, 6, 8; anything else is a programmer's error) on spacings hx, hy, hz > 0. */
stencil stencil_make(int order, const double spacing[3]);

/* h k* of the first derivative: the modified wavenumber times h at phase theta = k h, in 0..pi. */
double stencil_first_symbol(int order, double theta);

/* -h^2 times the symbol of the second derivative at phase theta, >= 0. */
double stencil_second_symbol(int order, double theta);

/* -h times the symbol of D at phase theta, >= 0. */
double stencil_dissipation_symbol(int order, double theta);

/* Largest stencil_first_symbol over theta: 1.730598 for order 8. */
double stencil_first_maximum(int order);

#endif
