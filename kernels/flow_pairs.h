#ifndef FDAPP_KERNELS_FLOW_PAIRS_H
#define FDAPP_KERNELS_FLOW_PAIRS_H

#include <math.h>

#include "arithmetic.h"
#include "flow.h"

/* Compressible flow by two-point fluxes, at a point: what a neighbour adds to the sums of a point, and what
 * follows from the sums. Both backends compute with these functions, and add the neighbours of a point in one
 * order: along z those below, from -4 to -1; along x, then y, from -4 to -1 and 1 to 4; along z those above.
 *
 * The derivative at point i of a flux F between two points is sum over neighbours n of 2 s a_l F(i, n), with
 * the coefficients a_l of the first difference and s = 1 above, -1 below. The centre is factored out of each
 * pair, so that every term vanishes to the bit where the velocity and the pressure are the same at both
 * points. With g = 1/(gamma - 1), d the axis, df = f_n - f_i:
 *
 *   product = (rho_i + rho_n)(u_i + u_n)_d,  k = s a/4 product
 *   M += s a/4 (product - 4 rho_i u_i),  N_j += k du_j,  N_d += s a dp
 *   X += s a dp (u_i + u_n)_d                                 (KEEP_PE; others: flow_energy)
 *
 *   d rho/dt = -2 M,  d(rho u_j)/dt = -(N_j + 2 u_j M),  dE/dt = -u.(N + u M) + e
 *   e = -((1 + g) p div u + g/2 X)
 *
 * KEEP_PE is that of N. Shima, Y. Kuya, Y. Tamaki and S. Kawai, J. Comput. Phys. 427 (2021) 110060; KEEP that
 * of Y. Kuya, K. Totani and S. Kawai, J. Comput. Phys. 375 (2018) 823. Viscous terms are compact: second
 * differences c_l of the velocity, of |u|^2/2 and of the temperature, first differences for the rest. */

#ifndef NUMBER_FILL
#define NUMBER_FILL(x) ((real)(x))
#endif

/* The sums of a point. G: first differences of the velocity, G + 3 j + d that of u_j along d. With viscosity
 * all are used, without DILATATION in the place of G; the last ones where the viscosity varies. */
enum {
  FLOW_M,
  FLOW_N,
  FLOW_X = FLOW_N + 3,
  FLOW_G,
  FLOW_THETA = FLOW_G, /* without viscosity */
  FLOW_DIFF_THETA = FLOW_G + 9,
  FLOW_DIFF_MU = FLOW_DIFF_THETA + 3,
  FLOW_SUMS = FLOW_DIFF_MU + 3
};

/* What is read of a point and of its neighbours: the unknowns, then the arrays of the first pass. */
enum { FLOW_READ_RATIO = FLOW_UNKNOWNS, FLOW_READ_THETA, FLOW_READ_MU, FLOW_READS };

/* What is read at the point alone: base, and two extras. */
enum { FLOW_BASE, FLOW_EXTRA = FLOW_UNKNOWNS, FLOW_POINTS = 3 * FLOW_UNKNOWNS };

/* The numbers of a call, rounded once. Each is one real, not one for each point of a line: a processor loads
 * and spreads a real in less time than 64 bytes (docs/explanation/performance.md, "Flow on the CPU"). */
typedef struct flow_numbers {
  real first[3][STENCIL_RADIUS];   /* a_l */
  real quarter[3][STENCIL_RADIUS]; /* a_l/4 */
  real second[3][STENCIL_RADIUS];  /* c_l times the viscosity; c_l/2 where it varies */
  real heating[3][STENCIL_RADIUS]; /* those over 2 scale */
  real third[3][STENCIL_RADIUS];   /* viscosity/3 a_l */
  real inner;                      /* 1/(gamma - 1) */
  real work, carried, scale;       /* e = -(work p div u + carried ratio M + scale X) */
  real conduct;                    /* 2 gamma/((gamma - 1) Pr) */
  real viscosity, law[3];          /* Sutherland: viscosity (T0 + S)/T0^(3/2), S, R */
  real weight_f, weight_extra[2];
  real step;                /* the weight of the right-hand side */
  real excess, half_excess; /* gamma - 1, half of it */
  real gamma;
  real spacing[3], steepest, squares; /* 1/h, root and sum of 1/h^2 */
  real most;                          /* the largest factor of the diffusive rate, max(1, gamma/Pr) */
  flow_law kind;
  flow_figure figure;
} flow_numbers;

static inline void flow_numbers_axis(const struct stencil *stencil, const flow_gas *gas, double scale, int d,
                                     flow_numbers *c) {
  const double share = gas->law == FLOW_SUTHERLAND ? 0.5 : gas->viscosity;
  for (int l = 0; l < STENCIL_RADIUS; l++) {
    const double a = stencil->first[d][l], second = stencil->second[d][l + 1] * share;
    c->first[d][l] = (real)a;
    c->quarter[d][l] = (real)(0.25 * a);
    c->second[d][l] = (real)second;
    c->heating[d][l] = (real)(second / (2.0 * scale));
    c->third[d][l] = (real)(gas->viscosity / 3.0 * a);
  }
  c->spacing[d] = (real)(1.0 / stencil->spacing[d]);
}

static inline flow_numbers flow_numbers_make(const struct stencil *stencil, const flow_call *call) {
  const flow_gas *gas = &call->gas;
  const double inner = 1.0 / (gas->gamma - 1.0), excess = gas->gamma - 1.0;
  const double scales[FLOW_FORMS] = {0.5 * inner, inner, 1.0, 1.0};
  const int of_pressure = gas->form == FLOW_KEEP_PE || gas->form == FLOW_DIVERGENCE;
  const double t0 = gas->viscosity_temperature, s = gas->sutherland;
  double squares = 0.0;
  flow_numbers c;
  c.kind = gas->law;
  c.figure = call->figure;
  for (int d = 0; d < 3; d++) {
    flow_numbers_axis(stencil, gas, scales[gas->form], d, &c);
    squares += 1.0 / (stencil->spacing[d] * stencil->spacing[d]);
  }
  c.inner = (real)inner;
  c.work = (real)(of_pressure ? 1.0 + inner : 1.0);
  c.carried = (real)(2.0 * inner);
  c.scale = (real)(scales[gas->form]);
  c.conduct = (real)(2.0 * gas->gamma * inner / gas->prandtl);
  c.viscosity = (real)(gas->viscosity);
  c.law[0] = (real)(gas->viscosity * (t0 + s) / (t0 * sqrt(t0)));
  c.law[1] = (real)s;
  c.law[2] = (real)(gas->gas_constant);
  c.weight_f = (real)(call->weight_f);
  for (int i = 0; i < 2; i++) c.weight_extra[i] = (real)(call->weight_extra[i]);
  c.step = (real)(call->weight);
  c.excess = (real)excess;
  c.half_excess = (real)(0.5 * excess);
  c.gamma = (real)(gas->gamma);
  c.steepest = (real)(sqrt(squares));
  c.squares = (real)squares;
  c.most = (real)(gas->gamma > gas->prandtl ? gas->gamma / gas->prandtl : 1.0);
  return c;
}

/* |v|^2 of three numbers. */
ARITHMETIC number flow_square(const number *v) {
  return NUMBER_FMA(v[2], v[2], NUMBER_FMA(v[1], v[1], v[0] * v[0]));
}

/* Sutherland's law at a ratio p/density = R T: a root and a division, which are correctly rounded. */
ARITHMETIC number flow_sutherland(const flow_numbers *c, number ratio) {
  const number t = ratio / c->law[2];
  return c->law[0] * (t * NUMBER_ROOT(t)) / (t + c->law[1]);
}

/* The viscosity at a point where it is asked for by the law of the call. */
ARITHMETIC number flow_viscosity(const flow_numbers *c, number density, number pressure) {
  return c->kind == FLOW_SUTHERLAND ? flow_sutherland(c, pressure / density) : NUMBER_FILL(c->viscosity);
}

/* What two points of a pair have in common, `low` below `high`: no more than its sign depends on which of
 * them is the point i. */
typedef struct flow_between {
  number push;           /* a dp */
  number along, product; /* (u_i + u_n)_d, (rho_i + rho_n)(u_i + u_n)_d */
  number du[3], square;  /* |du|^2 */
  number warmth, theta;  /* differences of the ratio and of the dilatation, where they are read */
} flow_between;

ARITHMETIC flow_between flow_between_make(const flow_numbers *c, int form, int law, int d, int l,
                                          const number *low, const number *high) {
  flow_between b;
  b.push = c->first[d][l] * (high[FLOW_PRESSURE] - low[FLOW_PRESSURE]);
  b.along = low[FLOW_U + d] + high[FLOW_U + d];
  b.product = (low[FLOW_DENSITY] + high[FLOW_DENSITY]) * b.along;
  for (int j = 0; j < 3; j++) b.du[j] = high[FLOW_U + j] - low[FLOW_U + j];
  b.square = flow_square(b.du);
  b.warmth = b.theta = NUMBER_FILL(0);
  if (law != FLOW_INVISCID || form == FLOW_KEEP || form == FLOW_KENNEDY_GRUBER)
    b.warmth = high[FLOW_READ_RATIO] - low[FLOW_READ_RATIO];
  if (law != FLOW_INVISCID) b.theta = high[FLOW_READ_THETA] - low[FLOW_READ_THETA];
  return b;
}

/* `b` above, -b below. */
ARITHMETIC number flow_signed(int up, number b) {
  return up ? b : -b;
}

/* The mass that flows between the points: adds to M, and returns k of the lower one. */
ARITHMETIC number flow_mass(const flow_numbers *c, int form, int d, int l, int up, const number *own,
                            const number *other, const flow_between *b, number *sums) {
  const number rho = own[FLOW_DENSITY], u = own[FLOW_U + d];
  if (form == FLOW_DIVERGENCE) {
    const number half = NUMBER_FILL((real)0.5 * c->first[d][l]);
    const number flux = other[FLOW_DENSITY] * other[FLOW_U + d];
    sums[FLOW_M] = NUMBER_FMA(half, flow_signed(up, flux - rho * u), sums[FLOW_M]);
    return c->first[d][l] * flux;
  }
  const number quarter = NUMBER_FILL(c->quarter[d][l]);
  sums[FLOW_M] = NUMBER_FMA(quarter, flow_signed(up, b->product - (rho + rho) * (u + u)), sums[FLOW_M]);
  return quarter * b->product;
}

/* The energy of a form. k: of the lower point. */
ARITHMETIC number flow_energy(const flow_numbers *c, int form, int d, int up, number k, const flow_between *b,
                              const number *other, number x) {
  if (form == FLOW_KEEP_PE) return NUMBER_FMA(b->push, b->along, x);
  if (form == FLOW_KEEP) return NUMBER_FMA(k, b->warmth, x);
  const number own_k = flow_signed(up, k), du = flow_signed(up, b->du[d]);
  if (form == FLOW_DIVERGENCE) {
    const number enthalpy = NUMBER_FMA(NUMBER_FILL(c->inner), other[FLOW_U + d], du);
    return NUMBER_FMA(b->push, enthalpy, NUMBER_FMA((real)0.5 * own_k, b->square, x));
  }
  const number warmth = flow_signed(up, b->warmth);
  const number carried = NUMBER_FMA(NUMBER_FILL(c->inner), warmth, (real)0.5 * b->square);
  return NUMBER_FMA(own_k, carried, NUMBER_FMA((real)0.5 * b->push, du, x));
}

/* Adds what a neighbour at distance l + 1 along d, above or below, adds to the sums of a point. b: what both
 * have in common. Signs of two factors that both change with the side are left out: their product is the same
 * to the bit. */
ARITHMETIC void flow_add(const flow_numbers *c, int form, int law, int d, int l, int up, const number *own,
                         const number *other, const flow_between *b, number *sums) {
  const number a = NUMBER_FILL(c->first[d][l]);
  const number k = flow_mass(c, form, d, l, up, own, other, b, sums);
  number weight = k;
  sums[FLOW_N + d] += b->push;
  sums[FLOW_X] = flow_energy(c, form, d, up, k, b, other, sums[FLOW_X]);
  if (law == FLOW_INVISCID) {
    sums[FLOW_THETA] = NUMBER_FMA(a, b->du[d], sums[FLOW_THETA]);
  } else {
    number mu = NUMBER_FILL(c->second[d][l]), heat = NUMBER_FILL(c->heating[d][l]);
    if (law == FLOW_SUTHERLAND) mu = mu * (own[FLOW_READ_MU] + other[FLOW_READ_MU]);
    if (law == FLOW_SUTHERLAND) heat = heat * (own[FLOW_READ_MU] + other[FLOW_READ_MU]);
    const number warmer = NUMBER_FMA(NUMBER_FILL(c->conduct), flow_signed(up, b->warmth), b->square);
    weight = up ? k - mu : k + mu;
    sums[FLOW_X] = NUMBER_FMA(-heat, warmer, sums[FLOW_X]);
    for (int j = 0; j < 3; j++) sums[FLOW_G + 3 * j + d] = NUMBER_FMA(a, b->du[j], sums[FLOW_G + 3 * j + d]);
    if (law == FLOW_SUTHERLAND) {
      const number steeper = other[FLOW_READ_MU] - own[FLOW_READ_MU];
      sums[FLOW_DIFF_THETA + d] = NUMBER_FMA(a, b->theta, sums[FLOW_DIFF_THETA + d]);
      sums[FLOW_DIFF_MU + d] = NUMBER_FMA(a, flow_signed(up, steeper), sums[FLOW_DIFF_MU + d]);
    } else {
      sums[FLOW_N + d] = NUMBER_FMA(NUMBER_FILL(c->third[d][l]), -b->theta, sums[FLOW_N + d]);
    }
  }
  for (int j = 0; j < 3; j++) sums[FLOW_N + j] = NUMBER_FMA(weight, b->du[j], sums[FLOW_N + j]);
}

/* flow_add for one point and its neighbour. */
ARITHMETIC void flow_pair(const flow_numbers *c, int form, int law, int d, int l, int up, const number *own,
                          const number *other, number *sums) {
  const flow_between b = flow_between_make(c, form, law, d, l, up ? own : other, up ? other : own);
  flow_add(c, form, law, d, l, up, own, other, &b, sums);
}

/* flow_add for two points, l + 1 apart along d: each is the other's neighbour. */
ARITHMETIC void flow_couple(const flow_numbers *c, int form, int law, int d, int l, const number *low,
                            const number *high, number *sums_low, number *sums_high) {
  const flow_between b = flow_between_make(c, form, law, d, l, low, high);
  flow_add(c, form, law, d, l, 0, high, low, &b, sums_high);
  flow_add(c, form, law, d, l, 1, low, high, &b, sums_low);
}

/* sum over i, j of G_ij G_ji: what x and y give, and the rest. */
ARITHMETIC number flow_turning_across(const number *g) {
  const number mixed = g[1] * g[3];
  return NUMBER_FMA(g[4], g[4], NUMBER_FMA(g[0], g[0], mixed + mixed));
}

ARITHMETIC number flow_turning(number across, const number *g) {
  const number mixed = NUMBER_FMA(g[5], g[7], g[2] * g[6]);
  return NUMBER_FMA(g[8], g[8], across + (mixed + mixed));
}

/* When all neighbours along x and y are added: keeps of four sums what is needed of them later, where that is
 * one number, because engines that march are short of registers. */
ARITHMETIC void flow_across(int law, number *sums) {
  if (law == FLOW_CONSTANT) sums[FLOW_G] = flow_turning_across(sums + FLOW_G);
}

/* The rest of the friction where the viscosity varies: N_j -= mu/3 Q_j + sum D_i mu G_ij - 2/3 theta D_j mu,
 * G_ij the difference of u_i along j. */
ARITHMETIC void flow_varying(const number *own, number *sums) {
  const number third = own[FLOW_READ_MU] * (real)(1.0 / 3.0);
  const number expansion = own[FLOW_READ_THETA] * (real)(2.0 / 3.0);
  for (int j = 0; j < 3; j++) {
    number n = NUMBER_FMA(-third, sums[FLOW_DIFF_THETA + j], sums[FLOW_N + j]);
    for (int i = 0; i < 3; i++) n = NUMBER_FMA(-sums[FLOW_DIFF_MU + i], sums[FLOW_G + 3 * i + j], n);
    sums[FLOW_N + j] = NUMBER_FMA(expansion, sums[FLOW_DIFF_MU + j], n);
  }
}

/* e and the heat of friction and conduction, from the sums. */
ARITHMETIC number flow_heat(const flow_numbers *c, int form, int law, const number *own, const number *sums) {
  const number theta = law == FLOW_INVISCID ? sums[FLOW_THETA] : own[FLOW_READ_THETA];
  number lost = NUMBER_FMA(c->work * own[FLOW_PRESSURE], theta, c->scale * sums[FLOW_X]);
  if (form == FLOW_KEEP || form == FLOW_KENNEDY_GRUBER)
    lost = NUMBER_FMA(c->carried * own[FLOW_READ_RATIO], sums[FLOW_M], lost);
  if (law == FLOW_INVISCID) return -lost;
  const number mu = law == FLOW_SUTHERLAND ? own[FLOW_READ_MU] : NUMBER_FILL(c->viscosity);
  const number across = law == FLOW_CONSTANT ? sums[FLOW_G] : flow_turning_across(sums + FLOW_G);
  const number turning = flow_turning(across, sums + FLOW_G);
  const number friction = NUMBER_FMA((real)(-2.0 / 3.0) * theta, theta, turning);
  return NUMBER_FMA(mu, friction, -lost);
}

/* A state's part of the scheme's sum: adds its differences from the base to mass, momentum and energy. */
ARITHMETIC void flow_blend(const flow_numbers *c, real weight, const number *f, const number *base,
                           number *delta, number *mass, number *momentum, number *energy) {
  const number share = weight * f[FLOW_DENSITY];
  for (int j = 0; j < 3; j++) delta[j] = f[FLOW_U + j] - base[FLOW_U + j];
  *mass = NUMBER_FMA(NUMBER_FILL(weight), f[FLOW_DENSITY] - base[FLOW_DENSITY], *mass);
  for (int j = 0; j < 3; j++) momentum[j] = NUMBER_FMA(share, delta[j], momentum[j]);
  *energy = NUMBER_FMA(NUMBER_FILL(weight), f[FLOW_PRESSURE] - base[FLOW_PRESSURE], *energy);
  *energy = NUMBER_FMA(c->half_excess * share, flow_square(delta), *energy);
}

/* The new state: the update of the conserved variables, seen by an observer who moves with the base. at: base
 * and, if `points` is more than one state, the extras. */
ARITHMETIC void flow_finish(const flow_numbers *c, int form, int law, const number *own, number *sums,
                            const number *at, int points, number *out) {
  if (law == FLOW_SUTHERLAND) flow_varying(own, sums);
  number mass = NUMBER_FILL(0), energy = NUMBER_FILL(0), momentum[3], delta[3], rest[3], v[3];
  for (int j = 0; j < 3; j++) momentum[j] = NUMBER_FILL(0);
  for (int i = 0; i < 2 && points > (int)FLOW_EXTRA; i++)
    flow_blend(c, c->weight_extra[i], at + FLOW_EXTRA + i * FLOW_UNKNOWNS, at, rest, &mass, momentum,
               &energy);
  flow_blend(c, c->weight_f, own, at, delta, &mass, momentum, &energy);
  number heat = flow_heat(c, form, law, own, sums);
  heat = NUMBER_FMA(-flow_square(delta), sums[FLOW_M], heat);
  const number flow = sums[FLOW_M] + sums[FLOW_M];
  for (int j = 0; j < 3; j++) {
    heat = NUMBER_FMA(-delta[j], sums[FLOW_N + j], heat);
    momentum[j] =
        NUMBER_FMA(NUMBER_FILL(-c->step), NUMBER_FMA(flow, delta[j], sums[FLOW_N + j]), momentum[j]);
  }
  energy = NUMBER_FMA(NUMBER_FILL(c->excess * c->step), heat, energy);
  const number rho = at[FLOW_DENSITY] + NUMBER_FMA(NUMBER_FILL(-c->step), flow, mass);
  const number inverse = (real)1 / rho;
  for (int j = 0; j < 3; j++) v[j] = momentum[j] * inverse;
  out[FLOW_DENSITY] = rho;
  for (int j = 0; j < 3; j++) out[FLOW_U + j] = at[FLOW_U + j] + v[j];
  out[FLOW_PRESSURE] = at[FLOW_PRESSURE] + NUMBER_FMA(-c->half_excess * rho, flow_square(v), energy);
}

/* The first pass: a neighbour's part of the dilatation, and what follows at the point. at: density and
 * pressure. A pressure below 0 within a step gives a finite viscosity, so that the state at the step's end
 * shows where it is not positive. */
ARITHMETIC void flow_first_pair(const flow_numbers *c, int d, int l, int up, const number *own,
                                const number *other, number *sums) {
  const number du = flow_signed(up, other[FLOW_U + d] - own[FLOW_U + d]);
  sums[0] = NUMBER_FMA(NUMBER_FILL(c->first[d][l]), du, sums[0]);
}

ARITHMETIC void flow_first_finish(const flow_numbers *c, const number *sums, const number *at, number *out) {
  out[FLOW_RATIO] = at[1] / at[0];
  out[FLOW_DILATATION] = sums[0];
  out[FLOW_VISCOSITY] = flow_sutherland(c, NUMBER_ABS(out[FLOW_RATIO]));
}

#endif
