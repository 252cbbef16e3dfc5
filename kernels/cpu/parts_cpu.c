#ifndef FDAPP_CPU_CALLS /* with it, way_run_cpu_ is for every way */
#define WAY_PART    derivative_part
#define WAY_OUTPUTS 3
#define WAY_TERMS   4
#endif
#include "patch.h"

/* Parts of the first derivative (kernels_part): the same passes with less to compute. */

#define PARTS(X)                                                                                             \
  X(AXIS_X, PART_LOAD, load_x)                                                                               \
  X(AXIS_Y, PART_LOAD, load_y)                                                                               \
  X(AXIS_Z, PART_LOAD, load_z)                                                                               \
  X(AXIS_X, PART_HALOS, halos_x)                                                                             \
  X(AXIS_Y, PART_HALOS, halos_y)                                                                             \
  X(AXIS_Z, PART_HALOS, halos_z)

#define X(axis, part, name)                                                                                  \
  LINE_FLAT static void name(const void *job, const cpu_patch *patch) {                                      \
    static const operation of = OPERATION_DECLARED(derivative, (unsigned)axis | DERIVATIVE_FIRST);           \
    patch_run((cpu_way){&of, OPERATION_derivative, (unsigned)axis | DERIVATIVE_FIRST, part, 0}, job, patch); \
  }
PARTS(X)
#undef X

patch_function *CPU_NAME(part_patch_cpu_)(kernels_part part, axis along) {
  static patch_function *const patches[PART_WHOLE][3] = {
#define X(axis, part, name) [part][axis] = name,
      PARTS(X)
#undef X
  };
  return patches[part][along];
}

#ifdef FDAPP_CPU_CALLS
void CPU_NAME(way_run_cpu_)(const operation *of, operation_kind kind, unsigned options, int ends,
                            const void *job, const cpu_patch *patch) {
  patch_run((cpu_way){of, kind, options, PART_WHOLE, ends}, job, patch);
}
#endif
