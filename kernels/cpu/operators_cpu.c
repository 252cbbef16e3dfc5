#include "numerics.h"

/* Derivative, gradient, divergence and Laplacian. */

typedef struct operator_job {
  cpu_frame frame;
  const real *in[3];
  real *out[3];
} operator_job;

LINE_INLINE void store_x_emit(void *out, const cpu_bundle *bundle, cpu_place p, cpu_vector dx,
                              cpu_vector dy) {
  (void)dy;
  bundle_store(bundle, out, p, dx);
}

/* ahead: what the following bundle, of one plane, will want from memory, by line and row. Where a strip is
 * whole rows it is asked for row after row, as memory has them, not line by line of all rows: d/dy takes up
 * to a fifth less time so, the others do not (docs/explanation/performance.md, "Prefetches"). */
typedef struct derivative_y_work {
  const real *ahead;
  ptrdiff_t line, row;
  cpu_output out;
} derivative_y_work;

LINE_INLINE void derivative_y_emit(void *data, const cpu_bundle *bundle, cpu_place p, cpu_vector dx,
                                   cpu_vector dy) {
  (void)dx;
  derivative_y_work *work = data;
  line_ahead(work->ahead + p.b * work->line + p.r * work->row);
  bundle_store(bundle, &work->out, p, dy);
}

LINE_INLINE void store_z_emit(void *out, const cpu_bundle *bundle, cpu_place p, cpu_vector dz) {
  bundle_store(bundle, out, p, dz);
}

LINE_INLINE void derivative_x_bundle(const operator_job *job, const cpu_bundle *bundle, int planes) {
  const cpu_operand x = {.f = job->in[0], .ahead = job->in[0]};
  cpu_output out = {.to = job->out[0]};
  pass_xy(bundle, &x, NULL, 0, store_x_emit, &out, planes);
}

PATCH_FUNCTION(derivative_x_patch, operator_job, derivative_x_bundle)

LINE_INLINE void derivative_y_bundle(const operator_job *job, const cpu_bundle *bundle, int planes) {
  const cpu_operand y = {.f = job->in[0]};
  const ptrdiff_t row = job->frame.row;
  const ptrdiff_t first = bundle->row[STENCIL_RADIUS] + STENCIL_RADIUS * row + bundle->patch->x0;
  derivative_y_work work = {job->in[0] + first + bundle->ahead, LINE, row, {.to = job->out[0]}};
  if (bundle->patch->lines * LINE >= job->frame.nx) {
    work.line = CPU_ROWS * LINE;
    work.row = LINE;
  }
  pass_xy(bundle, NULL, &y, 0, derivative_y_emit, &work, planes);
}

PATCH_FUNCTION(derivative_y_patch, operator_job, derivative_y_bundle)

LINE_INLINE void derivative_z_bundle(const operator_job *job, const cpu_bundle *bundle, int planes) {
  const cpu_operand z = {.f = job->in[0], .ahead = job->in[0] + STENCIL_RADIUS * job->frame.plane};
  cpu_output out = {.to = job->out[0]};
  pass_z(bundle, z, NULL, store_z_emit, &out, planes);
}

PATCH_FUNCTION(derivative_z_patch, operator_job, derivative_z_bundle)

static const tile_plan plan_row = {
    .window = 1,
    .arrays = 2,
    .block = 1,
};
static const tile_plan plan_column = {
    .window = WIDTH - 1 + CPU_PLANES,
    .arrays = 2,
    .block = CPU_PLANES,
};

status derivative_cpu(const kernels_launch *launch, axis direction, const void *f, void *out) {
  static const patch_function functions[3] = {derivative_x_patch, derivative_y_patch, derivative_z_patch};
  const operator_job job = {.frame = frame_make(launch), .in = {f}, .out = {out}};
  tile_plan plan = direction == AXIS_Z ? plan_column : plan_row;
  /* d/dz reads no rows beside a tile's: few enough for their planes to stay in the second cache. */
  if (direction == AXIS_Z) plan.rows = 2 * CPU_ROWS;
  return tiles_run(launch, plan, functions[direction], &job);
}

LINE_INLINE void gradient_xy_emit(void *data, const cpu_bundle *bundle, cpu_place p, cpu_vector dx,
                                  cpu_vector dy) {
  cpu_output *out = data;
  bundle_store(bundle, &out[0], p, dx);
  bundle_store(bundle, &out[1], p, dy);
}

LINE_INLINE void gradient_bundle(const operator_job *job, const cpu_bundle *bundle, int planes) {
  const cpu_operand f = {.f = job->in[0]};
  const cpu_operand x = {.f = job->in[0], .ahead = job->in[0] + STENCIL_RADIUS * job->frame.plane};
  cpu_output out[3] = {{.to = job->out[0]}, {.to = job->out[1]}, {.to = job->out[2]}};
  pass_xy(bundle, &x, &f, 0, gradient_xy_emit, out, planes);
  pass_z(bundle, f, NULL, store_z_emit, &out[2], planes);
}

PATCH_FUNCTION(gradient_patch, operator_job, gradient_bundle)

status gradient_cpu(const kernels_launch *launch, const void *f, void *const out[3]) {
  const operator_job job = {.frame = frame_make(launch), .in = {f}, .out = {out[0], out[1], out[2]}};
  tile_plan plan = plan_column;
  plan.arrays = 4;
  return tiles_run(launch, plan, gradient_patch, &job);
}

typedef struct divergence_work {
  cpu_scratch xy;
  cpu_output out;
} divergence_work;

LINE_INLINE void divergence_emit(void *data, const cpu_bundle *bundle, cpu_place p, cpu_vector dz) {
  divergence_work *work = data;
  bundle_store(bundle, &work->out, p, divergence_add_z(*scratch_line(&work->xy, p), dz));
}

LINE_INLINE void divergence_bundle(const operator_job *job, const cpu_bundle *bundle, int planes) {
  const real *const *v = job->in;
  const cpu_operand x = {.f = v[0], .ahead = v[0]};
  const cpu_operand y = {.f = v[1], .ahead = v[1] + STENCIL_RADIUS * job->frame.row};
  const cpu_operand z = {.f = v[2], .ahead = v[2] + STENCIL_RADIUS * job->frame.plane};
  divergence_work work;
  work.out = (cpu_output){.to = job->out[0]};
  pass_xy(bundle, &x, &y, 0, scratch_xy_emit, &work.xy, planes);
  pass_z(bundle, z, NULL, divergence_emit, &work, planes);
}

PATCH_FUNCTION(divergence_patch, operator_job, divergence_bundle)

status divergence_cpu(const kernels_launch *launch, const void *const v[3], void *out) {
  const operator_job job = {.frame = frame_make(launch), .in = {v[0], v[1], v[2]}, .out = {out}};
  tile_plan plan = plan_column;
  plan.arrays = 4;
  return tiles_run(launch, plan, divergence_patch, &job);
}

/* The centre, which completes the pairs. */
typedef struct laplacian_work {
  const real *f;
  cpu_vector centre;
  cpu_output out;
} laplacian_work;

LINE_INLINE void laplacian_emit(void *data, const cpu_bundle *bundle, cpu_place p, cpu_vector pairs) {
  laplacian_work *work = data;
  bundle_store(bundle, &work->out, p, line_fma(work->centre, line_load(work->f + p.at), pairs));
}

LINE_INLINE void laplacian_bundle(const operator_job *job, const cpu_bundle *bundle, int planes) {
  laplacian_work work = {job->in[0], job->frame.centre, {.to = job->out[0]}};
  pass_laplacian(bundle, job->in[0], laplacian_emit, &work, planes);
}

PATCH_FUNCTION(laplacian_patch, operator_job, laplacian_bundle)

status laplacian_cpu(const kernels_launch *launch, const void *f, void *out) {
  const operator_job job = {.frame = frame_make(launch), .in = {f}, .out = {out}};
  return tiles_run(launch, plan_column, laplacian_patch, &job);
}
