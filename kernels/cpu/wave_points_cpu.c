#include "cpu.h"
#include "wave_cpu.h"
#include "wave_point.h"

/* Point sources and receivers (wave_call.h). */

void CPU_NAME(wave_inject_)(const kernels_launch *launch, const kernels_wave *call) {
  const wave_injection *injection = &call->injection;
  const real *weight = injection->weight, *signal = injection->signal;
  real *const out = call->out;
#pragma omp parallel for num_threads(launch->context->threads)
  for (int i = 0; i < injection->points; i++) {
    real value = out[injection->place[i]];
    for (int e = injection->first[i]; e < injection->first[i + 1]; e++)
      value = wave_injected(value, &weight[2 * e], &signal[2 * injection->source[e]]);
    out[injection->place[i]] = value;
  }
}

static real interpolate(const kernels_shape *shape, const real *p, const int *index, const real *weight) {
  real sum = 0;
  for (int k = 0; k < WAVE_NEAR; k++) {
    const real *plane = p + (ptrdiff_t)(index[2 * WAVE_NEAR + k] + KERNELS_HALO) * shape->plane;
    real across = 0;
    for (int j = 0; j < WAVE_NEAR; j++) {
      const real *row = plane + (ptrdiff_t)index[WAVE_NEAR + j] * shape->ldx;
      real along = 0;
      for (int i = 0; i < WAVE_NEAR; i++) along = REAL_FMA(weight[i], row[index[i]], along);
      across = REAL_FMA(weight[WAVE_NEAR + j], along, across);
    }
    sum = REAL_FMA(weight[2 * WAVE_NEAR + k], across, sum);
  }
  return sum;
}

void CPU_NAME(wave_receive_)(const kernels_launch *launch, const kernels_wave *call) {
  const wave_reception *reception = &call->reception;
  real *const trace = reception->trace;
#pragma omp parallel for num_threads(launch->context->threads)
  for (int r = 0; r < reception->receivers; r++) {
    const size_t at = 3 * WAVE_NEAR * (size_t)r;
    trace[r] =
        interpolate(&launch->shape, call->p, &reception->index[at], (const real *)reception->weight + at);
  }
}
