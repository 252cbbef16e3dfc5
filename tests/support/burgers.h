#ifndef FDAPP_TESTS_BURGERS_H
#define FDAPP_TESTS_BURGERS_H

#include "kernels.h"

/* out = base + weight du/dt(f) for Burgers' equation (burgers_pairs.h), by the engines of both backends. */
#ifdef __cplusplus
extern "C" {
#endif
typedef status burgers_stage(const kernels_launch *launch, const void *f, const void *base, double weight,
                             void *out);
burgers_stage burgers_cpu_float, burgers_cpu_double, burgers_cuda_float, burgers_cuda_double;
#ifdef __cplusplus
}
#endif

#endif
