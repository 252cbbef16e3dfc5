#include "ends.h"

static void make_x(cpu_ends *e) {
  const int nx = e->of.n[AXIS_X], bounded = e->of.bounded[AXIS_X];
  e->inside[0] = bounded ? e->of.rows : 0;
  e->inside[1] = bounded ? nx - e->of.rows : nx + STORE;
  for (int high = 0; high < 2 && bounded; high++) {
    for (int row = 0; row < e->of.rows; row++) {
      const int column = LINE + (high ? e->of.rows - 1 - row : row);
      e->pull[high].of[column] = e->of.pull[AXIS_X][high][row];
      e->damping[high].of[column] = e->of.damping[AXIS_X][row];
      for (int of = 0; of < DIFFERENCES; of++)
        for (int j = 0; j < e->of.width; j++)
          e->row[of][high][j].of[column] = layer_coefficients(&e->of, AXIS_X, high, of, row)[j];
    }
  }
}

/* A uniform velocity that leaves by an end brings nothing in there. */
static void make_adds(cpu_ends *e) {
  for (int d = 0; d < 3; d++) {
    for (int high = 0; high < 2; high++) {
      for (int row = 0; row < e->of.rows && e->of.enters; row++)
        e->pulls[d][high] |= e->of.pull[d][high][row] != 0;
      const real speed = (high ? -1 : 1) * e->of.sign * e->job.uniform[d][0];
      const int enters = e->operation->velocity != VELOCITY_UNIFORM || speed > 0 || e->pulls[d][high];
      e->adds[d][high] = e->of.bounded[d] && (e->of.couples || (e->of.enters && enters));
    }
  }
  e->penalised =
      (e->of.enters ? 1U : 0U) | (e->of.couples ? e->operation->outputs & ((1U << LEAN_OUTPUTS) - 1U) : 0U);
}

void CPU_NAME(ends_make_cpu_)(const kernels_launch *launch, const kernels_call *call, cpu_ends *to) {
  layer_ends_make(launch, call, &to->of);
  make_x(to);
  make_adds(to);
}
