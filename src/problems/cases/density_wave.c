#include "problems/problem.h"
#include "problems/rounded.h"

/* The density alone varies, and travels with the velocity 1 along x: exact without viscosity. */
static void entry(const config *config, int d, double x, double time, double entry[PROBLEM_FLOW_ENTRIES]) {
  entry[0] = problem_wave(config, d) * (x - config->center[d] - (d == 0 ? time : 0.0));
}

static double value(const config *config, int unknown, double time, const double *const entry[3]) {
  (void)time;
  if (unknown == FLOW_DENSITY)
    return 1.0 + config->amplitude * rounded_cos(entry[0][0] + entry[1][0] + entry[2][0]);
  if (unknown == FLOW_PRESSURE) return problem_flow_pressure(config);
  return unknown == FLOW_U ? 1.0 : 0.0;
}

static const problem_flow flow = {
    .amplitude = 0.5, .largest = 1.0, .inviscid = 1, .entry = entry, .value = value};

const initial_case case_density_wave = {
    .name = "density_wave",
    .help = "flow: a cosine of the density around 1, carried along x by the velocity 1",
    .keys = {"initial.amplitude", PROBLEM_CENTER, PROBLEM_WAVES, "initial.mach", "initial.reynolds"},
    .flow = &flow,
};
