#include "held.h"
#include "patch.h"

/* One way of an operation (OPERATION_WAYS): the files that include this one are made by ways.cmake. */

void CPU_NAME(WAY_NAME(patch_, _cpu_))(const void *job, const cpu_patch *patch) {
  static const operation of = WAY_OPERATION((unsigned)WAY_OPTIONS | (unsigned)WAY_ADDITIONS);
#ifndef FDAPP_CPU_CALLS
  static const operation least = WAY_OPERATION(WAY_OPTIONS);
  declaration_check(&of, &least);
#endif
  patch_run((cpu_way){&of, WAY_KIND, WAY_OPTIONS, PART_WHOLE, 0}, job, patch);
}

/* The same on a grid with ends: a function of its own, so that the other one has no tests for them. */
void CPU_NAME(WAY_NAME(bounded_, _cpu_))(const void *job, const cpu_patch *patch) {
  static const operation of = WAY_OPERATION((unsigned)WAY_OPTIONS | (unsigned)WAY_ADDITIONS);
  patch_run((cpu_way){&of, WAY_KIND, WAY_OPTIONS, PART_WHOLE, 1}, job, patch);
}
