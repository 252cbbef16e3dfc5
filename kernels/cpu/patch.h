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

/* Returns 1 if a line lies in a layer of x, or has images there. */
LINE_INLINE int line_is_beside(const cpu_ends *ends, const cpu_bundle *bundle, int b) {
  const int x = bundle->patch->x0 + b * LINE;
  return line_at_edge(bundle->frame, x) || line_in_layer(ends, x);
}

/* The layers that a bundle lies in. */
LINE_INLINE cpu_layer layer_make(const cpu_ends *ends, const cpu_bundle *bundle) {
  const cpu_patch *patch = bundle->patch;
  cpu_layer layer = {
      .ends = ends, .row = {-1, -1, -1}, .line = {0, patch->lines, patch->lines, patch->lines}};
  if (bundle->rows > 1) {
    int *line = layer.line;
    if (!bundle->images) line[1] = 0;
    while (line[1] < line[2] && line_is_beside(ends, bundle, line[1])) line[1]++;
    while (line[1] < line[2] && line_is_beside(ends, bundle, line[2] - 1)) line[2]--;
    return layer;
  }
  layer.row[AXIS_Y] = layer_row(&ends->of, AXIS_Y, bundle->y, &layer.high[AXIS_Y]);
  layer.row[AXIS_Z] = layer_row(&ends->of, AXIS_Z, patch->z, &layer.high[AXIS_Z]);
  for (int d = AXIS_Y; d <= AXIS_Z; d++)
    layer.penalised |= layer.row[d] == 0 || (layer.row[d] > 0 && ends->pulls[d][layer.high[d]]);
  return layer;
}

/* ends: NULL without. */
LINE_INLINE void bundle_run(cpu_way way, const cpu_job *job, const cpu_ends *ends, const cpu_bundle *bundle,
                            int planes) {
  cpu_work work;
  cpu_layer layer;
  if (way.ends) layer = layer_make(ends, bundle);
  const cpu_task task = {way, job, bundle, &work, planes, way.ends ? &layer : NULL};
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
      bundle_run(way, &job, NULL, &bundle, CPU_PLANES);
    } else {
      bundle_run(way, &job, NULL, &bundle, 1);
    }
  }
}

/* Bundles of the same numbers of rows and planes, both constants. */
LINE_INLINE void bundles_run(cpu_way way, const cpu_job *job, const cpu_ends *ends, const cpu_patch *patch,
                             int rows, int planes) {
  const cpu_column column = column_make(&job->frame, patch);
  for (int y = patch->y0; y < patch->y1; y += rows) {
    const cpu_bundle bundle = bundle_make(&job->frame, patch, &column, y, rows);
    bundle_run(way, job, ends, &bundle, planes);
  }
}

/* The rows of a patch in three pieces, of which the middle one is whole bundles outside layers. Planes in
 * layers have no such piece. [out] piece: where pieces begin, and the end of the last one. */
LINE_INLINE void patch_pieces(const cpu_ends *ends, const cpu_patch *patch, int planes, int piece[4]) {
  const int side = ends->of.bounded[AXIS_Y] ? ends->of.rows : 0;
  const int low = side > patch->y0 ? side : patch->y0, end = ends->of.n[AXIS_Y] - side;
  const int high = end < patch->y1 ? end : patch->y1;
  const int whole =
      patch->planes == planes && !layer_meets(&ends->of, AXIS_Z, patch->z, planes) && low < high;
  piece[0] = patch->y0;
  piece[1] = whole ? low : patch->y1;
  piece[2] = whole ? low + (high - low) / CPU_ROWS * CPU_ROWS : patch->y1;
  piece[3] = patch->y1;
}

/* The same on a grid with ends. All bundles outside the middle piece are one row of one plane, so that
 * closures along y and z are compiled for one kind of bundle. */
LINE_INLINE void patch_run_bounded(cpu_way way, const void *data, const cpu_patch *given) {
  const cpu_job job = *(const cpu_job *)data;
  const cpu_ends *ends = &((const cpu_bounded_job *)data)->ends;
  const int planes = operation_along(way.of, AXIS_Z) ? CPU_PLANES : 1;
  int piece[4];
  patch_pieces(ends, given, planes, piece);
  for (int i = 0; i < 3; i++) {
    cpu_patch patch = *given;
    patch.y0 = piece[i];
    patch.y1 = piece[i + 1];
    if (i == 1) {
      bundles_run(way, &job, ends, &patch, CPU_ROWS, planes);
      continue;
    }
    patch.planes = 1;
    for (int k = 1; k <= given->planes; k++, patch.z++) {
      patch.next_z = k < given->planes ? patch.z + 1 : given->next_z;
      bundles_run(way, &job, ends, &patch, 1, 1);
    }
  }
}

#endif
