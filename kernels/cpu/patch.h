#ifndef FDAPP_KERNELS_CPU_PATCH_H
#define FDAPP_KERNELS_CPU_PATCH_H

/* An operation on a patch, made of the passes over its bundles. */

#include "passes.h"

/* The products and sums of rows y0 to y1 - 1 of planes k0 to k1 - 1, from the bundle's first. */
LINE_INLINE void formula_rows(const cpu_task *task, int k0, int k1, int y0, int y1) {
  const cpu_bundle *bundle = task->bundle;
  for (int k = k0; k < k1; k++) {
    const real *z = task->job->table[AXIS_Z] + (bundle->patch->z + k) * KERNELS_TABLE;
    for (int r = y0; r < y1; r++) {
      const real *y = task->job->table[AXIS_Y] + (bundle->y + r) * KERNELS_TABLE;
      real *row = task->work->formula.row[STENCIL_RADIUS + k][STENCIL_RADIUS + r], values[KERNELS_TABLE];
      for (int i = 0; i < KERNELS_TABLE; i++) values[i] = i < 3 ? y[i] * z[i] : y[i] + z[i];
      for (int i = 0; i < KERNELS_TABLE; i++) row[i] = values[i];
    }
  }
}

/* On the bundle's lines; where products with the velocity are differenced, on those around them in y and in
 * z, too. */
LINE_INLINE void formula_open(const cpu_task *task) {
  const int rows = task->bundle->rows, planes = task->planes;
  const int around = operation_products(task->way.of), side = around ? STENCIL_RADIUS : 0;
  task->work->formula.x = task->job->table[AXIS_X];
  task->work->formula.pitch = task->job->frame.row + 2 * KERNELS_TABLE_SIDE;
  formula_rows(task, 0, planes, -side, rows + side);
  if (!around) return;
  formula_rows(task, -side, 0, 0, rows);
  formula_rows(task, planes, planes + side, 0, rows);
}

LINE_INLINE void bundle_run(cpu_way way, const cpu_job *job, const cpu_bundle *bundle, int planes) {
  cpu_work work;
  const cpu_task task = {way, job, bundle, &work, planes};
  for (int k = 0; k < OPERATION_OUTPUTS; k++) work.out[k] = (cpu_output){.to = job->out[k]};
  if (way.of->velocity == VELOCITY_TABLES) formula_open(&task);
  if (way.of->terms == 0) pass_points(&task);
#pragma GCC unroll 6
  for (int t = 0; t < WAY_TERMS; t++) passes_run(&task, t);
}

/* All bundles of a patch, with the number of planes as a constant. Job and patch are local copies, so the
 * compiler knows that stores cannot alias them and keeps them in registers. */
LINE_INLINE void patch_run(cpu_way way, const void *data, const cpu_patch *given) {
  const cpu_job job = *(const cpu_job *)data;
  const cpu_patch patch = *given;
  const cpu_column column = column_make(&job.frame, &patch);
  for (int y = patch.y0, rows; y < patch.y1; y += rows) {
    rows = y + CPU_ROWS <= patch.y1 ? CPU_ROWS : 1;
    const cpu_bundle bundle = bundle_make(&job.frame, &patch, &column, y, rows);
    if (operation_along(way.of, AXIS_Z) && patch.planes == CPU_PLANES) {
      bundle_run(way, &job, &bundle, CPU_PLANES);
    } else {
      bundle_run(way, &job, &bundle, 1);
    }
  }
}

#endif
