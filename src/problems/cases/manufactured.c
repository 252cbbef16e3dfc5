#include "problems/problem.h"
#include "problems/rounded.h"

/* phi = background + amplitude cos(w t) P(x), with w = 2 pi / period and P the product of cosines. The source
 * S = S_0(t) P + S_1(t) c.grad P makes this the solution. */

static double factor(const config *config, int d, double x, double time) {
  (void)time;
  return rounded_cos(problem_wave(config, d) * x);
}

static double scale(const config *config, double time) {
  return config->amplitude * rounded_cos(2.0 * PROBLEM_PI * time / config->period);
}

/* A cosine, and the sine of its derivative. */
static void entry(const config *config, const grid *grid, int d, int64_t i, double entry[2]) {
  const double phase = problem_wave(config, d) * (double)i * grid->h[d];
  entry[0] = rounded_cos(phase);
  entry[1] = rounded_sin(phase);
}

static double value(const config *config, int term, const double *const entry[3], const double velocity[3]) {
  const double cx = entry[0][0], cy = entry[1][0], cz = entry[2][0];
  if (term == 0) return cx * cy * cz;
  const double k[3] = {problem_wave(config, 0), problem_wave(config, 1), problem_wave(config, 2)};
  const double slope[3] = {-k[0] * entry[0][1] * cy * cz, -k[1] * cx * entry[1][1] * cz,
                           -k[2] * cx * cy * entry[2][1]};
  double sum = 0.0;
  for (int d = 0; d < 3; d++) sum += velocity[d] * slope[d];
  return sum;
}

static void factors(const config *config, double time, double velocity_factor,
                    double factors[CASES_SOURCES]) {
  const double w = 2.0 * PROBLEM_PI / config->period;
  const double squared = problem_waves_squared(config);
  factors[0] =
      config->amplitude * (config->diffusivity * squared * rounded_cos(w * time) - w * rounded_sin(w * time));
  factors[1] = config->amplitude * rounded_cos(w * time) * velocity_factor;
}

static const problem_source source = {.entry = entry, .value = value, .factors = factors};

const initial_case case_manufactured = {
    .name = "manufactured",
    .help = "standing wave, kx, ky, kz across and velocity.period in time, kept up by a source; exact always",
    .keys = {PROBLEM_HEIGHT, PROBLEM_WAVES, "velocity.period"},
    .factor = factor,
    .scale = scale,
    .source = &source,
};
