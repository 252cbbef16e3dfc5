#include "problems/problem.h"

static void entry(const config *config, const grid *grid, axis axis, int64_t i, double table[KERNELS_TABLE]) {
  (void)grid;
  (void)i;
  for (int d = 0; d < 3 && axis == AXIS_X; d++) table[d] = config->uniform[d];
}

static void back(const config *config, double time, problem_map *map) {
  for (int d = 0; d < 3; d++) map->shift[d] = -config->uniform[d] * time;
}

const velocity_field velocity_uniform = {
    .name = "uniform",
    .help = "constant vector u, v, w; exact (with diffusion: cosine, gaussian)",
    .keys = {"velocity.u", "velocity.v", "velocity.w"},
    .uniform = 1,
    .entry = entry,
    .motion = PROBLEM_SHIFT,
    .back = back,
};
