/* One way of an operation (OPERATION_WAYS): the files that include this one are made by ways.cmake. */

#ifdef FDAPP_CPU_CALLS
#include "ways.h"
#define WAY_RUN(of, ends, job, patch) CPU_NAME(way_run_cpu_)(of, WAY_KIND, WAY_OPTIONS, ends, job, patch)
#else
#include "patch.h"
/* A call that the optimiser cannot remove is an error: the way has more terms than WAY_TERMS, or more outputs
 * than WAY_OUTPUTS. */
void terms_left_out(void) __attribute__((error("kernels/operations.h: a way with more than four terms needs "
                                               "a line like #define gradient_stage_upwind_terms 6")));
void outputs_left_out(void)
    __attribute__((error("kernels/operations.h: a way with more than three outputs needs "
                         "a line like #define velocity_gradient_outputs 9")));
#define WAY_RUN(of, ends, job, patch)                                                                        \
  patch_run((cpu_way){of, WAY_KIND, WAY_OPTIONS, PART_WHOLE, ends}, job, patch)
#endif

LINE_FLAT void CPU_NAME(WAY_NAME(patch_, _cpu_))(const void *job, const cpu_patch *patch) {
  static const operation of = WAY_OPERATION((unsigned)WAY_OPTIONS | (unsigned)WAY_ADDITIONS);
#ifndef FDAPP_CPU_CALLS
  if (operation_terms(&of) >> WAY_TERMS != 0) terms_left_out();
  if (of.outputs >> WAY_OUTPUTS != 0) outputs_left_out();
#endif
  WAY_RUN(&of, 0, job, patch);
}

/* The same on a grid with ends: a function of its own, so that the other one has no tests for them. */
LINE_FLAT void CPU_NAME(WAY_NAME(bounded_, _cpu_))(const void *job, const cpu_patch *patch) {
  static const operation of = WAY_OPERATION((unsigned)WAY_OPTIONS | (unsigned)WAY_ADDITIONS);
  WAY_RUN(&of, 1, job, patch);
}
