#include "problems/problem.h"
#include "problems/rounded.h"

/* A plane wave of sound in a gas at rest, travelling along its wave vector k with the velocity c = 1/mach.
 * Exact in the limit of small amplitudes, without viscosity. */
static double length_of(const config *config) {
  return sqrt(problem_waves_squared(config));
}

static void entry(const config *config, int d, double x, double time, double entry[PROBLEM_FLOW_ENTRIES]) {
  entry[0] = problem_wave(config, d) * (x - config->center[d]);
  if (d == 0) entry[0] -= length_of(config) / config->mach * time;
}

static double value(const config *config, int unknown, double time, const double *const entry[3]) {
  const double wave = config->amplitude * rounded_cos(entry[0][0] + entry[1][0] + entry[2][0]);
  const double c = 1.0 / config->mach, k = length_of(config);
  (void)time;
  if (unknown == FLOW_DENSITY) return 1.0 + wave;
  if (unknown == FLOW_PRESSURE) return problem_flow_pressure(config) + c * c * wave;
  return k > 0.0 ? c * wave * problem_wave(config, unknown - FLOW_U) / k : 0.0;
}

static const problem_flow flow = {
    .amplitude = 1e-6, .largest = 1.0, .inviscid = 1, .linear = 1, .entry = entry, .value = value};

const initial_case case_sound_wave = {
    .name = "sound_wave",
    .help =
        "flow: a plane wave of sound along kx, ky, kz, of relative height amplitude; exact if it is small",
    .keys = {"initial.amplitude", PROBLEM_CENTER, PROBLEM_WAVES, "initial.mach", "initial.reynolds"},
    .flow = &flow,
};
