#ifndef FDAPP_KERNELS_FLOW_FIGURES_H
#define FDAPP_KERNELS_FLOW_FIGURES_H

#include "flow_pairs.h"

/* Figures of a state (flow.h) at a point. */

/* The sums of a figure that needs neighbours: differences of the velocity as FLOW_G has them, the second
 * difference Phi with the viscosity, and the differences of the density. */
enum { FIGURE_PHI = 9, FIGURE_SLOPE, FIGURE_SUMS = FIGURE_SLOPE + 3 };

ARITHMETIC void flow_figure_pair(const flow_numbers *c, int d, int l, int up, const number *own,
                                 const number *other, number *sums) {
  const number a = flow_signed(up, NUMBER_FILL(c->first[d][l]));
  number du[3], mu = NUMBER_FILL(c->second[d][l]);
  if (c->kind == FLOW_SUTHERLAND)
    mu = mu * (flow_viscosity(c, own[FLOW_DENSITY], own[FLOW_PRESSURE]) +
               flow_viscosity(c, other[FLOW_DENSITY], other[FLOW_PRESSURE]));
  for (int j = 0; j < 3; j++) {
    du[j] = other[FLOW_U + j] - own[FLOW_U + j];
    sums[3 * j + d] = NUMBER_FMA(a, du[j], sums[3 * j + d]);
  }
  sums[FIGURE_PHI] = NUMBER_FMA((real)0.5 * mu, flow_square(du), sums[FIGURE_PHI]);
  sums[FIGURE_SLOPE + d] = NUMBER_FMA(a, other[FLOW_DENSITY] - own[FLOW_DENSITY], sums[FIGURE_SLOPE + d]);
}

/* A figure that needs no neighbours. */
ARITHMETIC number flow_figure_point(const flow_numbers *c, const number *own) {
  const number rho = own[FLOW_DENSITY], p = own[FLOW_PRESSURE], *u = own + FLOW_U;
  if (c->figure < FLOW_KINETIC) return rho * u[c->figure - FLOW_MOMENTUM];
  const number kinetic = (real)0.5 * rho * flow_square(u);
  if (c->figure == FLOW_KINETIC) return kinetic;
  if (c->figure == FLOW_ENERGY) return NUMBER_FMA(NUMBER_FILL(c->inner), p, kinetic);
  if (c->figure == FLOW_TEMPERATURE) return p / rho / c->law[2];
  return NUMBER_ROOT(flow_square(u)) / NUMBER_ROOT(c->gamma * p / rho);
}

/* viscous: 0 for a gas without viscosity. */
ARITHMETIC void flow_rates(const flow_numbers *c, int viscous, const number *own, number *rates) {
  const number rho = own[FLOW_DENSITY], p = own[FLOW_PRESSURE];
  /* The square of the speed of sound, and less than 0 where the pressure is, even if the density is, too. */
  const number square = NUMBER_FMA(p - NUMBER_ABS(p), NUMBER_FILL((real)1e30), c->gamma * p / rho);
  number rate = NUMBER_ROOT(square) * c->steepest;
  for (int d = 0; d < 3; d++)
    rate = NUMBER_FMA(NUMBER_ABS(own[FLOW_U + d]), NUMBER_FILL(c->spacing[d]), rate);
  rates[FLOW_RATE] = rate;
  if (viscous) rates[FLOW_DIFFUSIVE_RATE] = flow_viscosity(c, rho, p) / rho * c->most * c->squares;
}

ARITHMETIC number flow_figure_finish(const flow_numbers *c, const number *own, const number *sums) {
  const number *g = sums, theta = g[0] + g[4] + g[8];
  const number mu = flow_viscosity(c, own[FLOW_DENSITY], own[FLOW_PRESSURE]);
  const number rot[3] = {g[7] - g[5], g[2] - g[6], g[3] - g[1]};
  switch (c->figure) {
  case FLOW_EXPANSION:
    return theta;
  case FLOW_PRESSURE_WORK:
    return own[FLOW_PRESSURE] * theta;
  case FLOW_ENSTROPHY:
    return (real)0.5 * flow_square(rot);
  case FLOW_DISSIPATION:
    return NUMBER_FMA((real)(1.0 / 3.0) * mu * theta, theta, sums[FIGURE_PHI]);
  case FLOW_SOLENOIDAL:
    return mu * flow_square(rot);
  case FLOW_DILATATIONAL:
    return (real)(4.0 / 3.0) * mu * theta * theta;
  case FLOW_Q_CRITERION:
    return (real)0.5 * NUMBER_FMA(theta, theta, -flow_turning(flow_turning_across(g), g));
  case FLOW_DENSITY_GRADIENT:
    return NUMBER_ROOT(flow_square(sums + FIGURE_SLOPE));
  default:
    return rot[c->figure - FLOW_VORTICITY];
  }
}

#endif
