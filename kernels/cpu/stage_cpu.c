#include "numerics.h"

/* One Runge-Kutta stage of a bundle: the Laplacian, the advection term, then the combination. What passes in
 * x and y find waits in scratch lines; the last pass in z completes the point. */

typedef struct stage_job {
  cpu_frame frame;
  const real *f, *base, *extra[2], *velocity[3], *table[3];
  real *out;
  cpu_vector weight_f, weight_extra[2], advection, uniform[3], diffusion;
  int advective; /* the form has that part: with fluxes, the mean of both */
  int diffusive;
} stage_job;

typedef struct stage_work {
  const stage_job *job;
  cpu_scratch advective; /* the part in x and y, then all of it */
  cpu_scratch flux;      /* the part in x and y */
  cpu_scratch laplacian;
  cpu_output out;
  cpu_formula formula;
} stage_work;

/* Component d of the velocity at p: uniform, a field, or by formula. */
typedef cpu_vector (*stage_velocity)(const stage_work *work, const cpu_bundle *bundle, int d, cpu_place p);

LINE_INLINE cpu_vector velocity_uniform(const stage_work *work, const cpu_bundle *bundle, int d,
                                        cpu_place p) {
  (void)bundle;
  (void)p;
  return work->job->uniform[d];
}

LINE_INLINE cpu_vector velocity_stored(const stage_work *work, const cpu_bundle *bundle, int d, cpu_place p) {
  bundle_ahead(bundle, work->job->velocity[d], p);
  return line_load(work->job->velocity[d] + p.at);
}

LINE_INLINE cpu_vector velocity_formula(const stage_work *work, const cpu_bundle *bundle, int d,
                                        cpu_place p) {
  return formula_line(&work->formula, (axis)d, STENCIL_RADIUS + p.k, STENCIL_RADIUS + p.r,
                      bundle->patch->x0 + p.b * LINE);
}

/* u . grad f: x and y, then z. */
LINE_INLINE void advective_xy_keep(stage_work *work, const cpu_bundle *bundle, stage_velocity velocity,
                                   cpu_place p, cpu_vector dx, cpu_vector dy) {
  const cpu_vector u = velocity(work, bundle, 0, p), v = velocity(work, bundle, 1, p);
  *scratch_line(&work->advective, p) = advective_xy(u, v, dx, dy);
}

LINE_INLINE cpu_vector advective_z(stage_work *work, const cpu_bundle *bundle, stage_velocity velocity,
                                   cpu_place p, cpu_vector dz) {
  return advective_add_z(*scratch_line(&work->advective, p), velocity(work, bundle, 2, p), dz);
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
  bundle_store(bundle, &work->out, p, sum);
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

/* What the passes of u . grad f hand their results to, for each kind of velocity: with one that asks which it
 * is, the loops of all have a test more and registers less (2 to 10 % of a stage with uniform velocity,
 * docs/explanation/performance.md, "Instructions per line"). */
typedef struct stage_emits {
  pass_xy_function xy;
  pass_z_function z, z_keep; /* the second before fluxes */
} stage_emits;

#define STAGE_EMITS(kind)                                                                                    \
  LINE_INLINE void kind##_xy_emit(void *data, const cpu_bundle *bundle, cpu_place p, cpu_vector dx,          \
                                  cpu_vector dy) {                                                           \
    advective_xy_keep(data, bundle, velocity_##kind, p, dx, dy);                                             \
  }                                                                                                          \
  LINE_INLINE void kind##_z_emit(void *data, const cpu_bundle *bundle, cpu_place p, cpu_vector dz) {         \
    stage_combine(data, bundle, p, advective_z(data, bundle, velocity_##kind, p, dz));                       \
  }                                                                                                          \
  LINE_INLINE void kind##_keep_emit(void *data, const cpu_bundle *bundle, cpu_place p, cpu_vector dz) {      \
    stage_work *work = data;                                                                                 \
    *scratch_line(&work->advective, p) = advective_z(work, bundle, velocity_##kind, p, dz);                  \
  }
STAGE_EMITS(uniform)
STAGE_EMITS(stored)
STAGE_EMITS(formula)

LINE_INLINE void stage_advective(stage_work *work, const cpu_bundle *bundle, pass_xy_function emit_xy,
                                 pass_z_function emit_z, int planes) {
  const stage_job *job = work->job;
  const cpu_operand x = {.f = job->f, .ahead = job->f + STENCIL_RADIUS * job->frame.plane};
  const cpu_operand y = {.f = job->f, .ahead = job->base}, z = {.f = job->f};
  pass_xy(bundle, &x, &y, 0, emit_xy, work, planes);
  pass_z(bundle, z, NULL, emit_z, work, planes);
}

LINE_INLINE void stage_flux(stage_work *work, const cpu_bundle *bundle, int by_formula, int planes) {
  const stage_job *job = work->job;
  const ptrdiff_t plane = STENCIL_RADIUS * job->frame.plane;
  cpu_operand x = {.f = job->f, .ahead = job->f + plane}, y = {.f = job->f, .ahead = job->base};
  cpu_operand z = {.f = job->f};
  if (by_formula) {
    x.formula = &work->formula;
    x.component = AXIS_X;
    y.formula = &work->formula;
    y.component = AXIS_Y;
    z.formula = &work->formula;
    z.component = AXIS_Z;
  } else {
    x.g = job->velocity[0];
    y.g = job->velocity[1];
    z.g = job->velocity[2];
    z.ahead = z.g + plane;
  }
  pass_xy(bundle, &x, &y, 0, scratch_xy_emit, &work->flux, planes);
  pass_z(bundle, z, NULL, flux_z_emit, work, planes);
}

/* The products and sums of rows y0 to y1 - 1 of planes k0 to k1 - 1, from the bundle's first. */
LINE_INLINE void formula_rows(cpu_formula *formula, const stage_job *job, const cpu_bundle *bundle, int k0,
                              int k1, int y0, int y1) {
  for (int k = k0; k < k1; k++) {
    const real *z = job->table[AXIS_Z] + (bundle->patch->z + k) * KERNELS_TABLE;
    for (int r = y0; r < y1; r++) {
      const real *y = job->table[AXIS_Y] + (bundle->y + r) * KERNELS_TABLE;
      real *row = formula->row[STENCIL_RADIUS + k][STENCIL_RADIUS + r], values[KERNELS_TABLE];
      for (int i = 0; i < KERNELS_TABLE; i++) values[i] = i < 3 ? y[i] * z[i] : y[i] + z[i];
      for (int i = 0; i < KERNELS_TABLE; i++) row[i] = values[i];
    }
  }
}

/* On the bundle's lines; with `around`, on those around them in y and in z, too. */
LINE_INLINE void formula_open(cpu_formula *formula, const stage_job *job, const cpu_bundle *bundle,
                              int around, int planes) {
  const int rows = bundle->rows, side = around ? STENCIL_RADIUS : 0;
  formula->x = job->table[AXIS_X];
  formula->pitch = job->frame.row + 2 * KERNELS_TABLE_SIDE;
  formula_rows(formula, job, bundle, 0, planes, -side, rows + side);
  if (!around) return;
  formula_rows(formula, job, bundle, -side, 0, 0, rows);
  formula_rows(formula, job, bundle, planes, planes + side, 0, rows);
}

/* by_formula and flux are constants, so that each kind of stage has loops of its own: with both in one
 * function it lost up to 10 % (docs/explanation/performance.md, "Instructions per line"). */
LINE_INLINE void stage_passes(const stage_job *job, const cpu_bundle *bundle, stage_emits emits,
                              int by_formula, int flux, int planes) {
  stage_work work;
  work.job = job;
  work.out = (cpu_output){.to = job->out};
  if (job->diffusive) pass_laplacian(bundle, job->f, laplacian_keep_emit, &work, planes);
  if (by_formula) formula_open(&work.formula, job, bundle, flux, planes);
  if (!flux) {
    stage_advective(&work, bundle, emits.xy, emits.z, planes);
    return;
  }
  if (job->advective) stage_advective(&work, bundle, emits.xy, emits.z_keep, planes);
  stage_flux(&work, bundle, by_formula, planes);
}

#define STAGE_PATCH(name, kind, by_formula, flux)                                                            \
  LINE_INLINE void name##_bundle(const stage_job *job, const cpu_bundle *bundle, int planes) {               \
    const stage_emits emits = {kind##_xy_emit, kind##_z_emit, kind##_keep_emit};                             \
    stage_passes(job, bundle, emits, by_formula, flux, planes);                                              \
  }                                                                                                          \
  PATCH_FUNCTION(name##_patch, stage_job, name##_bundle)
STAGE_PATCH(uniform, uniform, 0, 0)
STAGE_PATCH(stored, stored, 0, 0)
STAGE_PATCH(stored_flux, stored, 0, 1)
STAGE_PATCH(formula, formula, 1, 0)
STAGE_PATCH(formula_flux, formula, 1, 1)

status stage_cpu(const kernels_launch *launch, const kernels_stage *stage) {
  const int stored = stage->velocity[0] != NULL, formula = !stored && stage->tables.x != NULL;
  const int uniform = !stored && !formula, flux = !uniform && stage->form != FORM_ADVECTIVE;
  stage_job job = {
      .frame = frame_make(launch),
      .f = stage->f,
      .base = stage->base,
      .table = {stage->tables.x, stage->tables.y, stage->tables.z},
      .out = stage->out,
      .weight_f = line_fill((real)stage->weight_f),
      .advection = line_fill((real)stage->advection),
      .diffusion = line_fill((real)stage->diffusion),
      .advective = uniform || stage->form != FORM_CONSERVATIVE,
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
      .window = (stored && flux ? 2 : 1) * (WIDTH - 1 + CPU_PLANES),
      .arrays = 2 + (job.base != NULL) + (job.extra[0] != NULL) * 2 + stored * 3,
      .block = CPU_PLANES,
  };
  if (uniform) return tiles_run(launch, plan, uniform_patch, &job);
  if (formula) return tiles_run(launch, plan, flux ? formula_flux_patch : formula_patch, &job);
  return tiles_run(launch, plan, flux ? stored_flux_patch : stored_patch, &job);
}
