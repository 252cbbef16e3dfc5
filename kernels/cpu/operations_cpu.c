#include <limits.h>

#include "task.h"

/* A call of any operation: its numbers as the passes want them, how its tiles are cut, and the function of
 * its way (way.h). */

/* Of each way: the functions for periodic grids, and for grids with ends. */
static patch_function *const patches[][2] = {
#define X(name, options, way_name) {CPU_NAME(patch_##way_name##_cpu_), CPU_NAME(bounded_##way_name##_cpu_)},
    OPERATION_WAYS(X)
#undef X
};

static int clamp(int value, int low, int high) {
  return value < low ? low : value > high ? high : value;
}

static cpu_job job_make(const kernels_launch *launch, const kernels_call *call, const operation *o) {
  cpu_job job = {.frame = frame_make(launch),
                 .additions = call->options & operation_additions(call->kind, call->options),
                 .terms = operation_terms(o),
                 .table = {call->tables.x, call->tables.y, call->tables.z},
                 .outputs = call->out};
  for (int i = 0; i < OPERATION_ARRAYS; i++) job.in[i] = call->in[i];
  for (int k = 0; k < LEAN_OUTPUTS; k++) job.out[k] = call->out[k];
  const real *numbers = call->numbers;
  for (int i = 0; i < OPERATION_SCALARS; i++)
    job.scalar[i] = line_fill(numbers != NULL ? numbers[i] : (real)call->scalar[i]);
  for (int i = 0; i < OPERATION_WEIGHTS; i++) job.weight[i] = line_fill((real)call->weight[i]);
  for (int d = 0; d < 3; d++) job.uniform[d] = line_fill((real)call->uniform[d]);
  return job;
}

/* An operation along z reads the planes of its window again while a tile marches through them. One along z
 * alone reads no rows beside a tile's: few enough for their planes to stay in the second cache. */
static tile_plan plan_make(const operation *o) {
  tile_plan plan = {
      .window = 1, .arrays = operation_reads(o) + operation_writes(o), .block = 1, .blocks = {0, INT_MAX}};
  int marched = 0;
  for (int i = 0; i < OPERATION_INPUTS; i++) marched += operation_differences(o, i, AXIS_Z);
  if (marched == 0) return plan;
  plan.window = marched * (WIDTH - 1 + CPU_PLANES);
  plan.block = CPU_PLANES;
  if (!operation_along(o, AXIS_X) && !operation_along(o, AXIS_Y)) plan.rows = 2 * CPU_ROWS;
  return plan;
}

status CPU_NAME(part_cpu_)(const kernels_launch *launch, kernels_part part, axis along, const void *f,
                           void *out) {
  const kernels_call call = kernels_derivative_call(along, f, out);
  const operation o = operation_describe(call.kind, call.options);
  const cpu_job job = job_make(launch, &call, &o);
  return tiles_run(launch, plan_make(&o), CPU_NAME(part_patch_cpu_)(part, along), &job);
}

/* Computes rows outside the layers of y and z. Lines beside ends of x are one patch, with a gap. */
static void rows_run(const cpu_ends *ends, const cpu_patch *rows) {
  const int *inside = ends->inside, x0 = rows->x0, lines = rows->lines;
  const int low = clamp((inside[0] - x0 + STORE - 1) / STORE * STORE_LINES, 0, lines);
  const int high = clamp((inside[1] - x0) / STORE * STORE_LINES, low, lines);
  cpu_patch middle = *rows, beside = *rows;
  middle.x0 += low * LINE;
  middle.next_x0 += low * LINE;
  middle.lines = high - low;
  beside.lines -= middle.lines;
  beside.before = low;
  beside.gap = middle.lines * LINE;
  if (middle.lines > 0) ends->outside_layers(ends, &middle);
  if (beside.lines > 0) ends->in_layers(ends, &beside);
}

/* Cuts a patch where the layers of y begin. What lies outside all layers is computed by the function for
 * periodic grids, because the one for grids with ends takes 12 (double) and 20 % (single
 * precision) longer there. */
static void patch_cut(const void *data, const cpu_patch *patch) {
  const cpu_ends *ends = data;
  const layer_ends *e = &ends->of;
  const int rows = e->bounded[AXIS_Y] ? e->rows : 0;
  const int low = clamp(rows, patch->y0, patch->y1), high = clamp(e->n[AXIS_Y] - rows, low, patch->y1);
  int end;
  const int along_z = layer_row(e, AXIS_Z, patch->z, &end) >= 0;
  cpu_patch part = *patch;
  for (int y = patch->y0; y < patch->y1; y = part.y1) {
    const int outside = !along_z && y >= low && y < high;
    const int most = outside && e->bounded[AXIS_X] ? y + CPU_GROUPS * CPU_ROWS : patch->y1;
    part.y0 = y;
    part.y1 = clamp(most, y, y < low ? low : y < high ? high : patch->y1);
    part.next_x0 = part.y1 < patch->y1 ? patch->x0 : patch->next_x0;
    part.next_y0 = part.y1 < patch->y1 ? part.y1 : patch->next_y0;
    part.next_z = part.y1 < patch->y1 ? patch->z : patch->next_z;
    if (outside) {
      rows_run(ends, &part);
    } else {
      ends->in_layers(ends, &part);
    }
  }
}

/* With ends, no patch has planes in and outside a layer of z. */
status CPU_NAME(apply_cpu_)(const kernels_launch *launch, const kernels_call *call) {
  const operation o = operation_describe(call->kind, call->options);
  tile_plan plan = plan_make(&o);
  int way = 0;
  CHECK(kernels_way_find(call, &way));
  const cpu_job job = job_make(launch, call, &o);
  if (!kernels_call_bounded(call)) return tiles_run(launch, plan, patches[way][0], &job);
  cpu_ends ends = {
      .job = job, .operation = &o, .outside_layers = patches[way][0], .in_layers = patches[way][1]};
  CPU_NAME(ends_make_cpu_)(launch, call, &ends);
  const int rows = call->ends->rows, z0 = call->ends->z0;
  if (call->ends->bounded[AXIS_Z]) plan.blocks = (kernels_planes){rows - z0, call->ends->nz - rows - z0};
  return tiles_run(launch, plan, patch_cut, &ends);
}
