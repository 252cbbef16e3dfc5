#include "problems/problem.h"
#include "problems/rounded.h"

/* A vortex along z of uniform entropy, carried along x by the velocity 1: with s = r/width,
 *
 *   velocity around the axis  amplitude s exp((1 - s^2)/2),
 *   T/T0 = 1 - (gamma - 1)/2 (amplitude mach)^2 exp(1 - s^2),  density = (T/T0)^(1/(gamma - 1)).
 *
 * C.-W. Shu, in Lecture Notes in Mathematics 1697 (1998), 325. Exact without viscosity, but for the periodic
 * images, where the exponential is cut. */
static void entry(const config *config, int d, double x, double time, double entry[PROBLEM_FLOW_ENTRIES]) {
  const double from = problem_nearest(x - config->center[d] - (d == 0 ? time : 0.0), config->l[d]);
  entry[0] = from / config->width;
  entry[1] = rounded_exp(-0.5 * entry[0] * entry[0]);
}

static double value(const config *config, int unknown, double time, const double *const entry[3]) {
  static const double root_e = 1.6487212707001282;
  const double swing = config->amplitude * root_e * (entry[0][1] * entry[1][1]);
  const double cooling = 0.5 * (config->gamma - 1.0) * (config->mach * swing) * (config->mach * swing);
  (void)time;
  if (unknown == FLOW_U) return 1.0 - swing * entry[1][0];
  if (unknown == FLOW_V) return swing * entry[0][0];
  if (unknown == FLOW_W) return 0.0;
  const double density = rounded_pow(1.0 - cooling, 1.0 / (config->gamma - 1.0));
  return unknown == FLOW_DENSITY ? density : problem_flow_pressure(config) * density * (1.0 - cooling);
}

static const problem_flow flow = {
    .amplitude = 1.0, .largest = 1e3, .inviscid = 1, .entry = entry, .value = value};

const initial_case case_isentropic_vortex = {
    .name = "isentropic_vortex",
    .help = "flow: a vortex along z of radius width, carried along x by the velocity 1",
    .keys = {"initial.amplitude", "initial.center_x", "initial.center_y", "initial.width", "initial.mach",
             "initial.reynolds"},
    .narrowest = 4.0,
    .widest = 0.125,
    .flow = &flow,
};
