#ifndef FDAPP_KERNELS_CPU_MINPLUS_H
#define FDAPP_KERNELS_CPU_MINPLUS_H

#include "kernels.h"

/* The slot `minplus` in one precision; meaning: kernels.h. STATUS_MEMORY. */
status minplus_cpu_float(const kernels_launch *launch, const kernels_minplus *product);
status minplus_cpu_double(const kernels_launch *launch, const kernels_minplus *product);

#endif
