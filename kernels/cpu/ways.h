#ifndef FDAPP_KERNELS_CPU_WAYS_H
#define FDAPP_KERNELS_CPU_WAYS_H

/* The functions of each way of an operation (way.h), and of parts (parts_cpu.c). */

#include "cpu.h"

#define X(name, options, way_name)                                                                           \
  extern patch_function CPU_NAME(patch_##way_name##_cpu_), CPU_NAME(bounded_##way_name##_cpu_);
OPERATION_WAYS(X)
#undef X
extern patch_function *CPU_NAME(part_patch_cpu_)(kernels_part part, axis along);

/* Any way, where nothing is inlined (FDAPP_CPU_CALLS in lines.h): compiled once, for it would be the same in
 * the files of all ways. */
void CPU_NAME(way_run_cpu_)(const operation *of, operation_kind kind, unsigned options, int ends,
                            const void *job, const cpu_patch *patch);

#endif
