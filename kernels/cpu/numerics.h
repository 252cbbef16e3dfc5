#ifndef FDAPP_KERNELS_CPU_NUMERICS_H
#define FDAPP_KERNELS_CPU_NUMERICS_H

/* The numerical slots in one precision, gathered by numerics_cpu.c; signatures and meaning: kernels.h. */

#include "bundle.h"

#define derivative_cpu CPU_NAME(derivative_cpu_)
#define gradient_cpu   CPU_NAME(gradient_cpu_)
#define divergence_cpu CPU_NAME(divergence_cpu_)
#define laplacian_cpu  CPU_NAME(laplacian_cpu_)
#define stage_cpu      CPU_NAME(stage_cpu_)
#define axpy_cpu       CPU_NAME(axpy_cpu_)
#define plane_sums_cpu CPU_NAME(plane_sums_cpu_)
#define stream_cpu     CPU_NAME(stream_cpu_)

status derivative_cpu(const kernels_launch *launch, axis direction, const void *f, void *out);
status gradient_cpu(const kernels_launch *launch, const void *f, void *const out[3]);
status divergence_cpu(const kernels_launch *launch, const void *const v[3], void *out);
status laplacian_cpu(const kernels_launch *launch, const void *f, void *out);
status stage_cpu(const kernels_launch *launch, const kernels_stage *stage);
status axpy_cpu(const kernels_launch *launch, double a, const void *x, void *y);
status plane_sums_cpu(const kernels_launch *launch, const void *f, const void *reference,
                      kernels_plane_sums *sums);
status stream_cpu(const kernels_launch *launch, const kernels_stream *stream);

#endif
