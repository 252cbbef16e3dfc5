#include "ends.h"

static void make_x(cpu_ends *e) {
  const int nx = e->of.n[AXIS_X], bounded = e->of.bounded[AXIS_X];
  e->inside[0] = bounded ? e->of.rows : 0;
  e->inside[1] = bounded ? nx - e->of.rows : nx + STORE;
  for (int high = 0; high < 2 && bounded; high++) {
    for (int row = 0; row < e->of.rows; row++) {
      const int column = LINE + (high ? e->of.rows - 1 - row : row);
      e->pull[high].of[column] = e->of.pull[AXIS_X][high][row];
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
      const real speed = (high ? -1 : 1) * e->of.sign * e->uniform[d];
      const int enters = e->velocity != VELOCITY_UNIFORM || speed > 0 || e->pulls[d][high];
      e->adds[d][high] = e->of.bounded[d] && (e->of.couples || (e->of.enters && enters));
    }
  }
}

void CPU_NAME(ends_make_cpu_)(const kernels_launch *launch, const kernels_call *call,
                              const kernels_ends *ends, const kernels_inflow *inflow,
                              const kernels_coupling *coupling, cpu_ends *to) {
  const operation of = operation_describe(call->kind, call->options);
  const ptrdiff_t first = KERNELS_HALO * launch->shape.plane;
  *to = (cpu_ends){.outputs = of.outputs, .velocity = of.velocity};
  layer_ends_make(launch, ends, inflow, coupling, &to->of);
  to->in = (const real *)call->in[0] + first;
  for (int k = 0; k < OPERATION_OUTPUTS; k++)
    if (of.outputs >> k & 1U) to->out[k] = (real *)call->out[k] + first;
  to->table[AXIS_X] = call->tables.x;
  to->table[AXIS_Y] = call->tables.y;
  to->table[AXIS_Z] = call->tables.z;
  if (to->of.enters) to->penalised |= 1;
  if (to->of.couples) to->penalised |= of.outputs;
  for (int d = 0; d < 3; d++) {
    to->uniform[d] = (real)call->uniform[d];
    if (of.velocity == VELOCITY_STORED)
      to->component[d] = (const real *)call->in[of.velocity_input + d] + first;
    for (int high = 0; high < 2 && to->of.enters; high++)
      for (int row = 0; row < to->of.rows; row++) to->pulls[d][high] |= to->of.pull[d][high][row] != 0;
  }
  make_x(to);
  make_adds(to);
}
