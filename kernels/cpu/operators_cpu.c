#include "numerics.h"

/* Derivative, gradient, divergence and Laplacian. */

typedef struct operator_job {
  cpu_frame frame;
  const real *in[3];
  real *out[3];
} operator_job;

/* Stores a result as it is. */
LINE_INLINE void store_emit(void *out, const cpu_bundle *bundle, cpu_place p, cpu_vector d) {
  bundle_store(bundle, out, p, d);
}

LINE_INLINE void derivative_x_bundle(const operator_job *job, const cpu_bundle *bundle, int planes) {
  const real *f = job->in[0];
  pass_x(bundle, (cpu_pass){.f = f, .ahead = {f}, .emit = store_emit, .work = job->out[0]}, planes);
}

static void derivative_x_patch(const void *data, const cpu_patch *patch) {
  const operator_job *job = data;
  BUNDLES_RUN(derivative_x_bundle, job, patch);
}

LINE_INLINE void derivative_y_bundle(const operator_job *job, const cpu_bundle *bundle, int planes) {
  const real *f = job->in[0], *ahead = f + STENCIL_RADIUS * job->frame.row;
  pass_y(bundle, (cpu_pass){.f = f, .ahead = {ahead}, .emit = store_emit, .work = job->out[0]}, planes);
}

static void derivative_y_patch(const void *data, const cpu_patch *patch) {
  const operator_job *job = data;
  BUNDLES_RUN(derivative_y_bundle, job, patch);
}

LINE_INLINE void derivative_z_bundle(const operator_job *job, const cpu_bundle *bundle, int planes) {
  const real *f = job->in[0], *ahead = f + STENCIL_RADIUS * job->frame.plane;
  pass_z(bundle, (cpu_pass){.f = f, .ahead = {ahead}, .emit = store_emit, .work = job->out[0]}, planes);
}

static void derivative_z_patch(const void *data, const cpu_patch *patch) {
  const operator_job *job = data;
  BUNDLES_RUN(derivative_z_bundle, job, patch);
}

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
static const tile_plan plan_space = {
    .window = WIDTH - 1 + CPU_PLANES,
    .arrays = 2,
    .block = CPU_PLANES,
};

status derivative_cpu(const kernels_launch *launch, axis direction, const void *f, void *out) {
  static const patch_function functions[3] = {derivative_x_patch, derivative_y_patch, derivative_z_patch};
  const operator_job job = {.frame = frame_make(launch), .in = {f}, .out = {out}};
  return tiles_run(launch, direction == AXIS_Z ? plan_column : plan_row, functions[direction], &job);
}

LINE_INLINE void gradient_bundle(const operator_job *job, const cpu_bundle *bundle, int planes) {
  const real *f = job->in[0], *ahead = f + STENCIL_RADIUS * job->frame.plane;
  pass_x(bundle, (cpu_pass){.f = f, .emit = store_emit, .work = job->out[0]}, planes);
  pass_y(bundle, (cpu_pass){.f = f, .ahead = {ahead}, .emit = store_emit, .work = job->out[1]}, planes);
  pass_z(bundle, (cpu_pass){.f = f, .emit = store_emit, .work = job->out[2]}, planes);
}

static void gradient_patch(const void *data, const cpu_patch *patch) {
  const operator_job *job = data;
  BUNDLES_RUN(gradient_bundle, job, patch);
}

status gradient_cpu(const kernels_launch *launch, const void *f, void *const out[3]) {
  const operator_job job = {.frame = frame_make(launch), .in = {f}, .out = {out[0], out[1], out[2]}};
  tile_plan plan = plan_space;
  plan.arrays = 4;
  return tiles_run(launch, plan, gradient_patch, &job);
}

typedef struct divergence_work {
  cpu_scratch dx, dy;
  real *out;
} divergence_work;

LINE_INLINE void divergence_emit(void *data, const cpu_bundle *bundle, cpu_place p, cpu_vector dz) {
  divergence_work *work = data;
  bundle_store(bundle, work->out, p,
               divergence_sum(*scratch_line(&work->dx, p), *scratch_line(&work->dy, p), dz));
}

LINE_INLINE void divergence_bundle(const operator_job *job, const cpu_bundle *bundle, int planes) {
  const real *const *v = job->in;
  const real *y_ahead = v[1] + STENCIL_RADIUS * job->frame.row;
  const real *z_ahead = v[2] + STENCIL_RADIUS * job->frame.plane;
  divergence_work work;
  work.out = job->out[0];
  pass_x(bundle, (cpu_pass){.f = v[0], .ahead = {v[0]}, .emit = scratch_emit, .work = &work.dx}, planes);
  pass_y(bundle, (cpu_pass){.f = v[1], .ahead = {y_ahead}, .emit = scratch_emit, .work = &work.dy}, planes);
  pass_z(bundle, (cpu_pass){.f = v[2], .ahead = {z_ahead}, .emit = divergence_emit, .work = &work}, planes);
}

static void divergence_patch(const void *data, const cpu_patch *patch) {
  const operator_job *job = data;
  BUNDLES_RUN(divergence_bundle, job, patch);
}

status divergence_cpu(const kernels_launch *launch, const void *const v[3], void *out) {
  const operator_job job = {.frame = frame_make(launch), .in = {v[0], v[1], v[2]}, .out = {out}};
  tile_plan plan = plan_space;
  plan.arrays = 4;
  return tiles_run(launch, plan, divergence_patch, &job);
}

/* The centre, which completes the pairs. */
typedef struct laplacian_work {
  const real *f;
  cpu_vector centre;
  real *out;
} laplacian_work;

LINE_INLINE void laplacian_emit(void *data, const cpu_bundle *bundle, cpu_place p, cpu_vector pairs) {
  const laplacian_work *work = data;
  bundle_store(bundle, work->out, p, line_fma(work->centre, line_load(work->f + p.at), pairs));
}

LINE_INLINE void laplacian_bundle(const operator_job *job, const cpu_bundle *bundle, int planes) {
  laplacian_work work = {job->in[0], job->frame.centre, job->out[0]};
  pass_laplacian(bundle, job->in[0], laplacian_emit, &work, planes);
}

static void laplacian_patch(const void *data, const cpu_patch *patch) {
  const operator_job *job = data;
  BUNDLES_RUN(laplacian_bundle, job, patch);
}

status laplacian_cpu(const kernels_launch *launch, const void *f, void *out) {
  const operator_job job = {.frame = frame_make(launch), .in = {f}, .out = {out}};
  return tiles_run(launch, plan_space, laplacian_patch, &job);
}
