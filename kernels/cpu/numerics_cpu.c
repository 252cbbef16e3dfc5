#include "numerics.h"

const numerics_cpu CPU_NAME(numerics_cpu_) = {
    .derivative = derivative_cpu,
    .gradient = gradient_cpu,
    .divergence = divergence_cpu,
    .laplacian = laplacian_cpu,
    .stage = stage_cpu,
    .axpy = axpy_cpu,
    .plane_sums = plane_sums_cpu,
    .stream = stream_cpu,
};
