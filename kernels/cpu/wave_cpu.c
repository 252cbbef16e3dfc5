#include "cpu.h"
#include "wave_cpu.h"

extern const kernels kernels_cpu;

kernels_wave_function wave_cpu;

status wave_cpu(const kernels_launch *launch, const kernels_wave *call) {
  CHECK(BY_PRECISION(wave_cpu, call));
  return launch->edges == NULL ? STATUS_OK
                               : kernels_cpu.event_record(launch->edges, launch->context, launch->queue);
}
