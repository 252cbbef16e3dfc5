#include "numerics.h"

/* One Runge-Kutta stage of a bundle: the Laplacian, the advection term, then the combination. What passes in
 * x and y find waits in scratch lines; the last pass in z completes the point. */

typedef struct stage_job {
  cpu_frame frame;
  const real *f, *base, *extra[2], *velocity[3], *table[3];
  real *out;
  cpu_vector weight_f, weight_extra[2], advection, uniform[3], diffusion;
  int advective, conservative; /* which parts the form has; both: the mean */
  int diffusive;
} stage_job;

typedef struct stage_work {
  const stage_job *job;
  cpu_scratch advective; /* the part in x and y, then all of it */
  cpu_scratch flux;      /* the part in x and y */
  cpu_scratch laplacian;
  real product[3][CPU_PLANES][CPU_ROWS], sum[3][CPU_PLANES][CPU_ROWS]; /* of tables, for each row */
} stage_work;

/* Component d of the velocity at p. */
LINE_INLINE cpu_vector stage_velocity(const stage_job *job, const cpu_bundle *bundle, int d, cpu_place p) {
  if (job->velocity[d] == NULL) return job->uniform[d];
  bundle_ahead(bundle, job->velocity[d], p);
  return line_load(job->velocity[d] + p.at);
}

/* u . grad f: x and y, then z. */
LINE_INLINE void advective_xy_emit(void *data, const cpu_bundle *bundle, cpu_place p, cpu_vector dx,
                                   cpu_vector dy) {
  stage_work *work = data;
  const cpu_vector u = stage_velocity(work->job, bundle, 0, p), v = stage_velocity(work->job, bundle, 1, p);
  *scratch_line(&work->advective, p) = advective_xy(u, v, dx, dy);
}

LINE_INLINE cpu_vector advective_z(stage_work *work, const cpu_bundle *bundle, cpu_place p, cpu_vector dz) {
  return advective_add_z(*scratch_line(&work->advective, p), stage_velocity(work->job, bundle, 2, p), dz);
}

/* The combination with the advection term, stored. */
LINE_INLINE void stage_combine(stage_work *work, const cpu_bundle *bundle, cpu_place p, cpu_vector term) {
  const stage_job *job = work->job;
  const cpu_vector f = line_load(job->f + p.at);
  cpu_vector base = f, sum = f;
  if (job->base != NULL) {
    base = line_load(job->base + p.at);
    sum = blend(base, job->weight_f, f, base);
  }
  if (job->extra[0] != NULL) {
    for (int i = 0; i < 2; i++) {
      bundle_ahead(bundle, job->extra[i], p);
      sum = blend(sum, job->weight_extra[i], line_load(job->extra[i] + p.at), base);
    }
  }
  sum = line_fma(job->advection, term, sum);
  if (job->diffusive) sum = line_fma(job->diffusion, *scratch_line(&work->laplacian, p), sum);
  bundle_store(bundle, job->out, p, sum);
}

LINE_INLINE void advective_z_emit(void *data, const cpu_bundle *bundle, cpu_place p, cpu_vector dz) {
  stage_work *work = data;
  stage_combine(work, bundle, p, advective_z(work, bundle, p, dz));
}

LINE_INLINE void advective_keep_emit(void *data, const cpu_bundle *bundle, cpu_place p, cpu_vector dz) {
  stage_work *work = data;
  *scratch_line(&work->advective, p) = advective_z(work, bundle, p, dz);
}

LINE_INLINE void flux_z_emit(void *data, const cpu_bundle *bundle, cpu_place p, cpu_vector dz) {
  stage_work *work = data;
  const cpu_vector flux = divergence_add_z(*scratch_line(&work->flux, p), dz);
  stage_combine(work, bundle, p,
                work->job->advective ? skew(*scratch_line(&work->advective, p), flux) : flux);
}

LINE_INLINE void laplacian_keep_emit(void *data, const cpu_bundle *bundle, cpu_place p, cpu_vector pairs) {
  (void)bundle;
  stage_work *work = data;
  const stage_job *job = work->job;
  *scratch_line(&work->laplacian, p) = line_fma(job->frame.centre, line_load(job->f + p.at), pairs);
}

LINE_INLINE void stage_advective(stage_work *work, const cpu_bundle *bundle, pass_xy_function emit_xy,
                                 pass_z_function emit_z, int planes) {
  const stage_job *job = work->job;
  const cpu_operand x = {.f = job->f, .ahead = job->f + STENCIL_RADIUS * job->frame.plane};
  const cpu_operand y = {.f = job->f, .ahead = job->base}, z = {.f = job->f};
  pass_xy(bundle, &x, &y, 0, emit_xy, work, planes);
  pass_z(bundle, z, NULL, emit_z, work, planes);
}

LINE_INLINE void stage_flux(stage_work *work, const cpu_bundle *bundle, int planes) {
  const stage_job *job = work->job;
  const real *f = job->f, *const *u = job->velocity;
  const ptrdiff_t plane = STENCIL_RADIUS * job->frame.plane;
  const cpu_operand x = {.f = f, .g = u[0], .ahead = f + plane}, y = {.f = f, .g = u[1], .ahead = job->base};
  const cpu_operand z = {.f = f, .g = u[2], .ahead = u[2] + plane};
  pass_xy(bundle, &x, &y, 0, scratch_xy_emit, &work->flux, planes);
  pass_z(bundle, z, NULL, flux_z_emit, work, planes);
}

LINE_INLINE void stage_bundle(const stage_job *job, const cpu_bundle *bundle, int planes) {
  stage_work work;
  work.job = job;
  if (job->diffusive) pass_laplacian(bundle, job->f, laplacian_keep_emit, &work, planes);
  if (!job->conservative) {
    stage_advective(&work, bundle, advective_xy_emit, advective_z_emit, planes);
    return;
  }
  if (job->advective) stage_advective(&work, bundle, advective_xy_emit, advective_keep_emit, planes);
  stage_flux(&work, bundle, planes);
}

/* The same with the velocity of tables, in the advective form: functions of their own, for what they need
 * must not cost the others' loops a test and registers (2 to 10 % of a stage with uniform velocity,
 * run/results/kernels.md). */
LINE_INLINE void tables_open(stage_work *work, const cpu_bundle *bundle, int planes) {
  for (int k = 0; k < planes; k++) {
    const real *z = work->job->table[AXIS_Z] + (bundle->patch->z + k) * KERNELS_TABLE;
    for (int r = 0; r < bundle->rows; r++) {
      const real *y = work->job->table[AXIS_Y] + (bundle->y + r) * KERNELS_TABLE;
      for (int d = 0; d < 3; d++) {
        work->product[d][k][r] = y[d] * z[d];
        work->sum[d][k][r] = y[3 + d] + z[3 + d];
      }
    }
  }
}

LINE_INLINE cpu_vector tables_velocity(const stage_work *work, const cpu_bundle *bundle, int d, cpu_place p) {
  const int column = bundle->patch->x0 + p.b * LINE;
  const cpu_vector x = line_load(work->job->table[AXIS_X] + d * work->job->frame.row + column);
  return table_velocity(x, line_fill(work->product[d][p.k][p.r]), line_fill(work->sum[d][p.k][p.r]));
}

LINE_INLINE void tables_xy_emit(void *data, const cpu_bundle *bundle, cpu_place p, cpu_vector dx,
                                cpu_vector dy) {
  stage_work *work = data;
  const cpu_vector u = tables_velocity(work, bundle, 0, p), v = tables_velocity(work, bundle, 1, p);
  *scratch_line(&work->advective, p) = advective_xy(u, v, dx, dy);
}

LINE_INLINE void tables_z_emit(void *data, const cpu_bundle *bundle, cpu_place p, cpu_vector dz) {
  stage_work *work = data;
  const cpu_vector w = tables_velocity(work, bundle, 2, p);
  stage_combine(work, bundle, p, advective_add_z(*scratch_line(&work->advective, p), w, dz));
}

LINE_INLINE void tables_bundle(const stage_job *job, const cpu_bundle *bundle, int planes) {
  stage_work work;
  work.job = job;
  if (job->diffusive) pass_laplacian(bundle, job->f, laplacian_keep_emit, &work, planes);
  tables_open(&work, bundle, planes);
  stage_advective(&work, bundle, tables_xy_emit, tables_z_emit, planes);
}

static void tables_patch(const void *data, const cpu_patch *patch) {
  const stage_job *job = data;
  BUNDLES_RUN(tables_bundle, job, patch);
}

static void stage_patch(const void *data, const cpu_patch *patch) {
  const stage_job *job = data;
  BUNDLES_RUN(stage_bundle, job, patch);
}

status stage_cpu(const kernels_launch *launch, const kernels_stage *stage) {
  const int stored = stage->velocity[0] != NULL;
  stage_job job = {
      .frame = frame_make(launch),
      .f = stage->f,
      .base = stage->base,
      .table = {stage->tables.x, stage->tables.y, stage->tables.z},
      .out = stage->out,
      .weight_f = line_fill((real)stage->weight_f),
      .advection = line_fill((real)stage->advection),
      .diffusion = line_fill((real)stage->diffusion),
      .advective = !stored || stage->form != FORM_CONSERVATIVE,
      .conservative = stored && stage->form != FORM_ADVECTIVE,
      .diffusive = (real)stage->diffusion != 0,
  };
  for (int i = 0; i < 2; i++) {
    job.extra[i] = stage->extra[i];
    job.weight_extra[i] = line_fill((real)stage->weight_extra[i]);
  }
  for (int d = 0; d < 3; d++) {
    job.velocity[d] = stage->velocity[d];
    job.uniform[d] = line_fill((real)stage->uniform[d]);
  }
  const tile_plan plan = {
      .window = (job.conservative ? 2 : 1) * (WIDTH - 1 + CPU_PLANES),
      .arrays = 2 + (job.base != NULL) + (job.extra[0] != NULL) * 2 + stored * 3,
      .block = CPU_PLANES,
  };
  const int formula = !stored && stage->tables.x != NULL;
  return tiles_run(launch, plan, formula ? tables_patch : stage_patch, &job);
}
