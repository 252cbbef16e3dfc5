#include "problems/problem.h"
#include "problems/rounded.h"

/* The Taylor-Green vortex as a compressible flow of uniform temperature, as in C. Chapelier, M. De La Llave
 * Plata, F. Renac, AIAA 2012-3073: one wave across the domain, sizes of velocity and density 1. v is scaled
 * by ly/lx, so that the field is free of divergence in any domain. */
enum { SIN, COS, COS_TWICE };

static void entry(const config *config, int d, double x, double time, double entry[PROBLEM_FLOW_ENTRIES]) {
  const double phase = 2.0 * PROBLEM_PI * x / config->l[d];
  (void)time;
  entry[SIN] = rounded_sin(phase);
  entry[COS] = rounded_cos(phase);
  entry[COS_TWICE] = rounded_cos(2.0 * phase);
}

static double value(const config *config, int unknown, double time, const double *const e[3]) {
  const double mean = problem_flow_pressure(config);
  const double p = mean + (e[0][COS_TWICE] + e[1][COS_TWICE]) * (e[2][COS_TWICE] + 2.0) / 16.0;
  (void)time;
  if (unknown == FLOW_U) return e[0][SIN] * e[1][COS] * e[2][COS];
  if (unknown == FLOW_V) return -(config->l[1] / config->l[0]) * e[0][COS] * e[1][SIN] * e[2][COS];
  if (unknown == FLOW_W) return 0.0;
  return unknown == FLOW_PRESSURE ? p : p / mean;
}

static const problem_flow flow = {.amplitude = 1.0, .largest = 1e30, .entry = entry, .value = value};

const initial_case case_taylor_green_vortex = {
    .name = "taylor_green_vortex",
    .help = "flow: Taylor-Green vortex of velocity 1 and uniform temperature, at initial.mach",
    .keys = {"initial.mach", "initial.reynolds"},
    .flow = &flow,
};
