#include "problems/problem.h"
#include "problems/rounded.h"

/* A wave of u along y, which viscosity damps. Exact in the limit of small amplitudes, which heat nothing. */
static void entry(const config *config, int d, double x, double time, double entry[PROBLEM_FLOW_ENTRIES]) {
  const double length = config->l[0] / (2.0 * PROBLEM_PI);
  const double viscosity = config->reynolds > 0.0 ? length / config->reynolds : config->viscosity;
  const double k = problem_wave(config, 1);
  if (d == 1) entry[0] = rounded_sin(k * (x - config->center[1])) * rounded_exp(-viscosity * k * k * time);
}

static double value(const config *config, int unknown, double time, const double *const entry[3]) {
  (void)time;
  if (unknown == FLOW_DENSITY) return 1.0;
  if (unknown == FLOW_PRESSURE) return problem_flow_pressure(config);
  return unknown == FLOW_U ? config->amplitude * entry[1][0] : 0.0;
}

static const problem_flow flow = {.amplitude = 1e-6,
                                  .largest = 1e30,
                                  .inviscid = 1,
                                  .linear = 1,
                                  .viscous = 1,
                                  .entry = entry,
                                  .value = value};

const initial_case case_shear_wave = {
    .name = "shear_wave",
    .help = "flow: ky waves of u along y, damped by viscosity; exact if amplitude is small",
    .keys = {"initial.amplitude", "initial.center_y", "initial.ky", "initial.mach", "initial.reynolds"},
    .flow = &flow,
};
