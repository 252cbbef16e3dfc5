#include "problems/problem.h"
#include "problems/rounded.h"

/* Whole waves fit each axis, so all images of the centre give the same value. */
static double body(const config *config, const double offset[3]) {
  double phase = 0.0;
  for (int d = 0; d < 3; d++) phase += problem_wave(config, d) * offset[d];
  return rounded_cos(phase);
}

const initial_case case_plane_wave = {
    .name = "plane_wave",
    .help = "cosine of the phase along the wave vector kx, ky, kz; as sound it travels that way",
    .keys = {PROBLEM_HEIGHT, PROBLEM_CENTER, PROBLEM_WAVES},
    .body = body,
    .known_after = PROBLEM_SHIFT | PROBLEM_RETURN,
    .sound = SOUND_TRAVELS,
};
