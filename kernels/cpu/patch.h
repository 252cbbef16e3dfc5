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

/* The parts of a bundle's lines (cpu_layer). beside, held: 1 if all lines are beside ends, or wait. */
LINE_INLINE void layer_lines(cpu_layer *layer, const cpu_bundle *bundle, int beside, int held) {
  const int lines = bundle->patch->lines;
  int low = 0, high = lines;
  while (low < high && line_is_beside(layer->ends, bundle, low)) low += STORE_LINES;
  while (low < high && line_is_beside(layer->ends, bundle, high - 1)) high -= STORE_LINES;
  const int *adds = layer->ends->adds[AXIS_X];
  held |= low == high; /* a line may have points of both layers */
  layer->line[1] = beside ? lines : low;
  layer->line[2] = beside ? lines : high;
  layer->held[1] = held ? lines : adds[0] ? low : 0;
  layer->held[2] = held || !adds[1] ? lines : high;
  layer->line[3] = layer->held[3] = lines;
}

/* The layers that a bundle lies in. whole: 1 if its lines are all computed alike. */
LINE_INLINE cpu_layer layer_make(const cpu_ends *ends, cpu_closures *closures, const cpu_bundle *bundle,
                                 int planes, int whole) {
  cpu_layer layer = {.ends = ends, .closures = closures, .row = {-1, -1, -1}};
  const int first[3] = {0, bundle->y, bundle->patch->z}, count[3] = {0, bundle->rows, planes};
  int penalised = 0;
  for (int d = AXIS_Y; d <= AXIS_Z; d++) {
    layer.row[d] = layer_row(&ends->of, d, first[d], &layer.high[d]);
    if (layer.row[d] < 0) continue;
    whole = 1;
    const int high = layer.high[d], last = layer_row_of(&layer, d, count[d] - 1);
    penalised |= ends->adds[d][high] && (layer.row[d] == 0 || last == 0 || ends->pulls[d][high]);
  }
  if (penalised || ends->adds[AXIS_X][0] || ends->adds[AXIS_X][1]) layer.holds = ends->penalised;
  layer_lines(&layer, bundle, whole || bundle->images, penalised);
  return layer;
}

/* ends: NULL without. */
LINE_INLINE void bundle_run(cpu_way way, const cpu_job *job, const cpu_ends *ends, const cpu_bundle *bundle,
                            int planes) {
  cpu_work work;
  cpu_closures closures;
  cpu_layer layer;
  const int along_z = operation_along(way.of, AXIS_Z);
  const int whole =
      way.of->terms == 0 || bundle->rows == 1 || (along_z && (planes == 1 || bundle->column->images));
  if (way.ends) layer = layer_make(ends, &closures, bundle, planes, whole);
  const cpu_task task = {way, job, bundle, &work, planes, way.ends ? &layer : NULL};
  for (int k = 0; k < OPERATION_OUTPUTS; k++) work.out[k] = (cpu_output){.to = job->out[k]};
  if (way.of->velocity == VELOCITY_TABLES) formula_open(&task);
  if (way.of->terms == 0) pass_points(&task);
#pragma GCC unroll 6
  for (int t = 0; t < WAY_TERMS; t++) passes_run(&task, t);
  if (way.ends && layer.holds != 0) CPU_NAME(penalties_cpu_)(&layer, bundle, planes, work.out);
}

/* Where the bundles that begin at row y end at the latest: none has rows in and outside a layer. */
LINE_INLINE int patch_end(const cpu_ends *ends, const cpu_patch *patch, int y) {
  if (ends == NULL || !ends->of.bounded[AXIS_Y]) return patch->y1;
  const int low = ends->of.rows, high = ends->of.n[AXIS_Y] - ends->of.rows;
  const int end = y < low ? low : y < high ? high : patch->y1;
  return end < patch->y1 ? end : patch->y1;
}

/* All bundles of a patch, with the number of planes as a constant. Job and patch are local copies, so the
 * compiler knows that stores cannot alias them and keeps them in registers. */
LINE_INLINE void patch_run(cpu_way way, const void *data, const cpu_patch *given) {
  const cpu_job job = *(const cpu_job *)data;
  const cpu_ends *ends = way.ends ? &((const cpu_bounded_job *)data)->ends : NULL;
  const cpu_patch patch = *given;
  const cpu_column column = column_make(&job.frame, &patch);
  for (int y = patch.y0, rows; y < patch.y1; y += rows) {
    rows = y + CPU_ROWS <= patch_end(ends, &patch, y) ? CPU_ROWS : 1;
    const cpu_bundle bundle = bundle_make(&job.frame, &patch, &column, y, rows);
    if (operation_along(way.of, AXIS_Z) && patch.planes == CPU_PLANES) {
      bundle_run(way, &job, ends, &bundle, CPU_PLANES);
    } else {
      bundle_run(way, &job, ends, &bundle, 1);
    }
  }
}

#endif
