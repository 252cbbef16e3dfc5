#include "problems/problem.h"
#include "problems/rounded.h"

static double factor(const config *config, int d, double x, double time) {
  (void)time;
  return problem_standing(config, d, x);
}

/* Diffusion damps the wave and keeps its shape. */
static double scale(const config *config, double time) {
  return config->amplitude * rounded_exp(-config->diffusivity * problem_waves_squared(config) * time);
}

const initial_case case_cosine = {
    .name = "cosine",
    .help = "product of cosines with wave numbers kx, ky, kz; of sines from free and dirichlet ends",
    .keys = {PROBLEM_HEIGHT, PROBLEM_WAVES},
    .factor = factor,
    .scale = scale,
    .known_after = PROBLEM_SHIFT | PROBLEM_RETURN,
    .spreads = 1,
    .sound = SOUND_STANDS,
};
