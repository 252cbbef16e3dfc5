#ifndef FDAPP_KERNELS_WAVE_CPU_H
#define FDAPP_KERNELS_WAVE_CPU_H

#include "wave_call.h"

/* The tasks of the wave equation, compiled once per precision. */
status wave_cpu_float(const kernels_launch *launch, const kernels_wave *call);
status wave_cpu_double(const kernels_launch *launch, const kernels_wave *call);

#define WAVE_POINTS_CPU(REAL)                                                                                \
  void wave_inject_##REAL(const kernels_launch *launch, const kernels_wave *call);                           \
  void wave_receive_##REAL(const kernels_launch *launch, const kernels_wave *call);                          \
  status wave_layers_cpu_##REAL(const kernels_launch *launch, const kernels_wave *call);                     \
  status wave_step_##REAL(const kernels_launch *launch, const kernels_wave *call);                           \
  /* Keeps what wave_finish_row reads of a row that results replace. */                                      \
  void wave_keep_row_##REAL(const kernels_launch *launch, const kernels_wave *call, int z, int y,            \
                            const void *before, void *kept);                                                 \
  /* Applies the ends of axes to a row of results. before: what is kept of the row that they replaced. */    \
  void wave_finish_row_##REAL(const kernels_launch *launch, const kernels_wave *call, int z, int y,          \
                              const void *before, const void *factor, void *out);                            \
  /* Adds the layers' terms to a row of the first Laplacian, or with `factor` (K) to one of results. */      \
  void wave_add_layers_##REAL(const kernels_launch *launch, const kernels_wave *call, int z, int y,          \
                              const void *factor, void *row);
WAVE_POINTS_CPU(float)
WAVE_POINTS_CPU(double)
#undef WAVE_POINTS_CPU

#endif
