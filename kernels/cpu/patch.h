#ifndef FDAPP_KERNELS_CPU_PATCH_H
#define FDAPP_KERNELS_CPU_PATCH_H

/* An operation on a patch, made of the passes over its bundles. */

#include "general.h"

/* Which engine a way has is known when its file is compiled, or asked in the one function of all ways. */
#ifdef FDAPP_CPU_CALLS
#undef WAY_GENERAL
#define WAY_GENERAL operation_general(way.of)
#elif !defined(WAY_GENERAL)
#define WAY_GENERAL 0
#endif

/* The products and sums of a row and a plane. */
LINE_INLINE void formula_row(const real *y, const real *z, real *row) {
  typedef real numbers __attribute__((vector_size(KERNELS_TABLE * sizeof(real))));
  typedef lane_integer lanes __attribute__((vector_size(KERNELS_TABLE * sizeof(real))));
  const lanes products = {-1, -1, -1};
  numbers a, b;
  memcpy(&a, y, sizeof a);
  memcpy(&b, z, sizeof b);
  const numbers values = (numbers)((products & (lanes)(a * b)) | (~products & (lanes)(a + b)));
  memcpy(row, &values, sizeof values);
}

/* The same of rows y0 to y1 - 1 of planes k0 to k1 - 1, from the bundle's first. */
LINE_PASS void formula_rows(const cpu_task *task, int k0, int k1, int y0, int y1) {
  const cpu_bundle *bundle = task->bundle;
  for (int k = k0; k < k1; k++) {
    const real *z = task->job->table[AXIS_Z] + (bundle->patch->z + k) * KERNELS_TABLE;
    for (int r = y0; r < y1; r++) {
      const real *y = task->job->table[AXIS_Y] + (bundle->y + r) * KERNELS_TABLE;
      formula_row(y, z, task->work->formula.row[STENCIL_RADIUS + k][STENCIL_RADIUS + r]);
    }
  }
}

/* On the bundle's lines; where products with the velocity are differenced, on those around them in y and in
 * z, too. */
LINE_PASS void formula_open(const cpu_task *task) {
  const int rows = task->bundle->rows, planes = task->planes;
  const int around = operation_products(task->way.of), side = around ? STENCIL_RADIUS : 0;
  task->work->formula.x = task->job->table[AXIS_X];
  task->work->formula.pitch = task->job->frame.row + 2 * KERNELS_TABLE_SIDE;
  formula_rows(task, 0, planes, -side, rows + side);
  if (!around) return;
  formula_rows(task, -side, 0, 0, rows);
  formula_rows(task, planes, planes + side, 0, rows);
}

/* The layers that a bundle lies in. */
LINE_INLINE cpu_layer layer_make(const cpu_ends *ends, const cpu_lines *line, cpu_scratch *held,
                                 const cpu_bundle *bundle, int groups) {
  cpu_layer layer = {.ends = ends,
                     .line = line,
                     .lines = groups * bundle->patch->lines,
                     .first = {0, bundle->y, bundle->patch->z},
                     .count = {0, bundle->rows, bundle->patch->planes},
                     .held = held,
                     .row = {-1, -1, -1}};
  for (int high = 0; high < 2; high++)
    if (ends->adds[AXIS_X][high] && strip_meets(ends, bundle->patch, high)) layer.adds |= 1U << high;
  for (int d = AXIS_Y; d <= AXIS_Z; d++) {
    layer.row[d] = layer_row(&ends->of, d, layer.first[d], &layer.high[d]);
    if (layer.row[d] < 0) continue;
    const int high = layer.high[d], last = layer_row_of(&layer, d, layer.count[d] - 1);
    if (ends->adds[d][high] && (layer.row[d] == 0 || last == 0 || ends->pulls[d][high]))
      layer.adds |= 1U << (2 * d + high);
  }
  if (layer.adds != 0) layer.holds = ends->penalised;
  layer.within = bundle->patch->gap > 0 && ends->of.rows >= STENCIL_RADIUS && !bundle->images;
  return layer;
}

LINE_INLINE void lines_fill(const cpu_frame *frame, const cpu_patch *patch, cpu_lines *lines) {
  lines->groups = patch->gap > 0 && patch->lines <= STRIP / CPU_GROUPS ? CPU_GROUPS : 1;
  for (int b = 0, group = 0; group < lines->groups; group++) {
    for (int i = 0; i < patch->lines; i++, b++) {
      lines->x[b] = line_column(patch, i);
      lines->y[b] = group * CPU_ROWS;
      lines->at[b] = lines->x[b] + lines->y[b] * frame->row;
    }
  }
}

/* ends: NULL without, and then nothing of `line` is read. groups: number of the bundle's groups of rows, 1
 * without ends. */
LINE_PASS void bundle_run(cpu_way way, const cpu_job *job, const cpu_ends *ends, const cpu_lines *line,
                          const cpu_bundle *bundle, int groups) {
  cpu_work work;
  cpu_scratch held[LEAN_OUTPUTS];
  cpu_layer layer;
  if (way.ends) layer = layer_make(ends, line, held, bundle, groups);
  const cpu_task task = {way,
                         job,
                         bundle,
                         &work,
                         operation_along(way.of, AXIS_Z) ? bundle->patch->planes : 1,
                         way.ends ? &layer : NULL,
                         options_of_call(&way, job),
                         inputs_at_point_alone(way.of)};
  for (int k = 0; k < WAY_OUTPUTS; k++) work.out[k].to = job_out(job, k);
  if (way.of->velocity == VELOCITY_TABLES) formula_open(&task);
  if (WAY_GENERAL) {
    general_run(&task);
  } else {
    if (operation_terms(way.of) == 0) pass_points(&task);
#pragma GCC unroll 6
    for (int t = 0; t < WAY_TERMS; t++) passes_run(&task, t);
  }
  if (way.ends && layer.holds != 0) CPU_NAME(penalties_cpu_)(layer, bundle->patch->nontemporal);
}

/* Number of groups of rows of the bundle from row y on: one if a neighbouring row is an image, or the
 * velocity comes from tables, of which a bundle holds CPU_ROWS rows. */
LINE_INLINE int patch_groups(const cpu_way *way, const cpu_frame *frame, const cpu_patch *patch, int most,
                             int y) {
  const int end = patch->y1 < frame->ny - STENCIL_RADIUS ? patch->y1 : frame->ny - STENCIL_RADIUS;
  const int groups = (end - y) / CPU_ROWS;
  if (way->of->velocity == VELOCITY_TABLES || y < STENCIL_RADIUS || groups < 1) return 1;
  return groups < most ? groups : most;
}

/* A patch of an operation without terms: one bundle, because no row has neighbours. Making bundles and a copy
 * of the job took up to a third of axpy's time. */
LINE_PASS void patch_points(cpu_way way, const cpu_job *job, const cpu_patch *given) {
  const cpu_patch patch = *given;
  cpu_work work;
  cpu_bundle bundle;
  bundle.frame = &job->frame;
  bundle.patch = &patch;
  bundle.rows = patch.y1 - patch.y0;
  bundle.row[STENCIL_RADIUS] = row_offset(&job->frame, patch.y0, patch.z);
  for (int k = 0; k < WAY_OUTPUTS; k++) work.out[k].to = job_out(job, k);
  const cpu_task task = {way,
                         job,
                         &bundle,
                         &work,
                         patch.planes,
                         NULL,
                         options_of_call(&way, job),
                         inputs_at_point_alone(way.of)};
  pass_points(&task);
}

/* All bundles of a patch. Job and patch are local copies, so the
 * compiler knows that stores cannot alias them and keeps them in registers. */
LINE_PASS void patch_run(cpu_way way, const void *data, const cpu_patch *given) {
  if (operation_terms(way.of) == 0 && !way.ends) {
    patch_points(way, data, given);
    return;
  }
  const cpu_job job = *(const cpu_job *)data;
  const cpu_ends *ends = way.ends ? data : NULL;
  const cpu_patch patch = *given;
  const cpu_column column = column_make(&job.frame, &patch);
  cpu_lines line;
  if (way.ends) lines_fill(&job.frame, &patch, &line);
  for (int y = patch.y0, rows, groups; y < patch.y1; y += groups * rows) {
    rows = y + CPU_ROWS <= patch.y1 ? CPU_ROWS : patch.y1 - y;
    groups = way.ends ? patch_groups(&way, &job.frame, &patch, line.groups, y) : 1;
    const cpu_bundle bundle = bundle_make(&job.frame, &patch, &column, y, rows, groups * rows);
    bundle_run(way, &job, ends, &line, &bundle, groups);
  }
}

#endif
