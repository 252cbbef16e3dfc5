#include "numerics.h"

/* Derivative, gradient, divergence and Laplacian. */

typedef struct operator_job {
  cpu_frame frame;
  const real *in[3];
  real *out[3];
} operator_job;

BLOCK_INLINE void derivative_x_block(const operator_job *job, const cpu_block *block, const cpu_patch *patch,
                                     int planes) {
  cpu_values values;
  block_first_x(&values, block, job->in[0], NULL, job->in[0], planes);
  block_store(job->out[0], block, &values, patch, planes);
}

static void derivative_x_patch(const void *data, const cpu_patch *patch) {
  const operator_job *job = data;
  BLOCKS_RUN(derivative_x_block, job, patch);
}

BLOCK_INLINE void derivative_y_block(const operator_job *job, const cpu_block *block, const cpu_patch *patch,
                                     int planes) {
  cpu_values values;
  FOR_PLANES(k) block_ahead(block, job->in[0] + STENCIL_RADIUS * job->frame.row, k);
  block_first_y(&values, block, job->in[0], NULL, planes);
  block_store(job->out[0], block, &values, patch, planes);
}

static void derivative_y_patch(const void *data, const cpu_patch *patch) {
  const operator_job *job = data;
  BLOCKS_RUN(derivative_y_block, job, patch);
}

BLOCK_INLINE void derivative_z_block(const operator_job *job, const cpu_block *block, const cpu_patch *patch,
                                     int planes) {
  cpu_values values;
  FOR_PLANES(k) block_ahead(block, job->in[0] + STENCIL_RADIUS * job->frame.plane, k);
  block_first_z(&values, block, job->in[0], NULL, planes);
  block_store(job->out[0], block, &values, patch, planes);
}

static void derivative_z_patch(const void *data, const cpu_patch *patch) {
  const operator_job *job = data;
  BLOCKS_RUN(derivative_z_block, job, patch);
}

static const tile_plan plan_row = {.window = 1, .arrays = 2, .block = 1};
static const tile_plan plan_column = {.window = 2 * STENCIL_RADIUS + 4, .arrays = 2, .block = 4};

status derivative_cpu(const kernels_launch *launch, axis direction, const void *f, void *out) {
  static const patch_function functions[3] = {derivative_x_patch, derivative_y_patch, derivative_z_patch};
  const operator_job job = {.frame = frame_make(launch), .in = {f}, .out = {out}};
  return tiles_run(launch, direction == AXIS_Z ? plan_column : plan_row, functions[direction], &job);
}

BLOCK_INLINE void gradient_block(const operator_job *job, const cpu_block *block, const cpu_patch *patch,
                                 int planes) {
  const real *f = job->in[0];
  cpu_values values;
  block_first_z(&values, block, f, NULL, planes);
  block_store(job->out[2], block, &values, patch, planes);
  block_first_y(&values, block, f, NULL, planes);
  block_store(job->out[1], block, &values, patch, planes);
  block_first_x(&values, block, f, NULL, f + STENCIL_RADIUS * job->frame.plane, planes);
  block_store(job->out[0], block, &values, patch, planes);
}

static void gradient_patch(const void *data, const cpu_patch *patch) {
  const operator_job *job = data;
  BLOCKS_RUN(gradient_block, job, patch);
}

status gradient_cpu(const kernels_launch *launch, const void *f, void *const out[3]) {
  const operator_job job = {.frame = frame_make(launch), .in = {f}, .out = {out[0], out[1], out[2]}};
  tile_plan plan = plan_column;
  plan.arrays = 4;
  return tiles_run(launch, plan, gradient_patch, &job);
}

BLOCK_INLINE void divergence_block(const operator_job *job, const cpu_block *block, const cpu_patch *patch,
                                   int planes) {
  cpu_values dx, dy, dz;
  block_first_z(&dz, block, job->in[2], NULL, planes);
  block_first_y(&dy, block, job->in[1], NULL, planes);
  block_first_x(&dx, block, job->in[0], NULL, job->in[0], planes);
  FOR_PLANES(k) {
    block_ahead(block, job->in[1] + STENCIL_RADIUS * job->frame.row, k);
    block_ahead(block, job->in[2] + STENCIL_RADIUS * job->frame.plane, k);
    FOR_LINE(i) dx.at[k][i] = divergence_sum(dx.at[k][i], dy.at[k][i], dz.at[k][i]);
  }
  block_store(job->out[0], block, &dx, patch, planes);
}

static void divergence_patch(const void *data, const cpu_patch *patch) {
  const operator_job *job = data;
  BLOCKS_RUN(divergence_block, job, patch);
}

status divergence_cpu(const kernels_launch *launch, const void *const v[3], void *out) {
  const operator_job job = {.frame = frame_make(launch), .in = {v[0], v[1], v[2]}, .out = {out}};
  /* Few planes at a time where several arrays are read: more streams than the processor follows cost more. */
  const tile_plan plan = {.window = 2 * STENCIL_RADIUS + 2, .arrays = 4, .block = 2};
  return tiles_run(launch, plan, divergence_patch, &job);
}

BLOCK_INLINE void laplacian_block(const operator_job *job, const cpu_block *block, const cpu_patch *patch,
                                  int planes) {
  cpu_values values;
  block_laplacian(&values, block, job->in[0], planes);
  block_store(job->out[0], block, &values, patch, planes);
}

static void laplacian_patch(const void *data, const cpu_patch *patch) {
  const operator_job *job = data;
  BLOCKS_RUN(laplacian_block, job, patch);
}

status laplacian_cpu(const kernels_launch *launch, const void *f, void *out) {
  const operator_job job = {.frame = frame_make(launch), .in = {f}, .out = {out}};
  return tiles_run(launch, plan_column, laplacian_patch, &job);
}
