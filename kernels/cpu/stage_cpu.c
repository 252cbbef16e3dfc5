#include "numerics.h"

/* One Runge-Kutta stage. A block at a time: the advection term, the Laplacian, then the combination; each
 * pass is small enough to need no copies of itself for the combinations of options. */

typedef struct stage_job {
  cpu_frame frame;
  const real *f, *base, *extra[2], *velocity[3];
  real *out;
  real weight_f, weight_extra[2], advection, uniform[3], diffusion;
  int advective, conservative; /* which parts the form has; both: the mean */
} stage_job;

/* A(f) of the block in `term`. */
BLOCK_INLINE void block_advection(cpu_values *term, const stage_job *job, const cpu_block *block,
                                  int planes) {
  const real *const *velocity = job->velocity;
  cpu_values dx, dy, dz;
  if (job->advective) {
    block_first_z(&dz, block, job->f, NULL, planes);
    block_first_y(&dy, block, job->f, NULL, planes);
    block_first_x(&dx, block, job->f, NULL, job->f + STENCIL_RADIUS * job->frame.plane, planes);
    FOR_PLANES(k) {
      const ptrdiff_t at = block_at(block, k);
      if (velocity[0] == NULL) {
        const real u = job->uniform[0], v = job->uniform[1], w = job->uniform[2];
        FOR_LINE(i) term->at[k][i] = advective(u, v, w, dx.at[k][i], dy.at[k][i], dz.at[k][i]);
      } else {
        const real *u = velocity[0] + at, *v = velocity[1] + at, *w = velocity[2] + at;
        for (int d = 0; d < 3; d++) block_ahead(block, velocity[d], k);
        FOR_LINE(i) term->at[k][i] = advective(u[i], v[i], w[i], dx.at[k][i], dy.at[k][i], dz.at[k][i]);
      }
    }
  }
  if (job->conservative) {
    block_first_z(&dz, block, job->f, velocity[2], planes);
    block_first_y(&dy, block, job->f, velocity[1], planes);
    block_first_x(&dx, block, job->f, velocity[0], velocity[0], planes);
    FOR_PLANES(k) {
      FOR_LINE(i) {
        const real flux = divergence_sum(dx.at[k][i], dy.at[k][i], dz.at[k][i]);
        term->at[k][i] = job->advective ? skew(term->at[k][i], flux) : flux;
      }
    }
  }
}

/* The combination, in the place of `term`. */
BLOCK_INLINE void block_combine(cpu_values *term, const cpu_values *laplacian, const stage_job *job,
                                const cpu_block *block, int based, int extras, int diffusive, int planes) {
  FOR_PLANES(k) {
    const ptrdiff_t at = block_at(block, k);
    const real *f = job->f + at, *base = based ? job->base + at : f;
    const real *extra[2] = {job->extra[0] + at, job->extra[1] + at};
    if (based) block_ahead(block, job->base, k);
    if (extras) block_ahead(block, job->extra[0], k);
    if (extras) block_ahead(block, job->extra[1], k);
    FOR_LINE(i) {
      real sum = base[i];
      if (based) sum = blend(sum, job->weight_f, f[i], base[i]);
      if (extras) sum = blend(sum, job->weight_extra[0], extra[0][i], base[i]);
      if (extras) sum = blend(sum, job->weight_extra[1], extra[1][i], base[i]);
      sum = REAL_FMA(job->advection, term->at[k][i], sum);
      if (diffusive) sum = REAL_FMA(job->diffusion, laplacian->at[k][i], sum);
      term->at[k][i] = sum;
    }
  }
}

BLOCK_INLINE void stage_block(const stage_job *job, const cpu_block *block, const cpu_patch *patch,
                              int planes) {
  const int diffusive = job->diffusion != 0;
  cpu_values term, laplacian;
  block_advection(&term, job, block, planes);
  if (diffusive) block_laplacian(&laplacian, block, job->f, planes);
  if (job->extra[0] != NULL) {
    block_combine(&term, &laplacian, job, block, 1, 1, diffusive, planes);
  } else if (job->base != NULL) {
    block_combine(&term, &laplacian, job, block, 1, 0, diffusive, planes);
  } else {
    block_combine(&term, &laplacian, job, block, 0, 0, diffusive, planes);
  }
  block_store(job->out, block, &term, patch, planes);
}

static void stage_patch(const void *data, const cpu_patch *patch) {
  const stage_job *job = data;
  BLOCKS_RUN(stage_block, job, patch);
}

status stage_cpu(const kernels_launch *launch, const kernels_stage *stage) {
  const int stored = stage->velocity[0] != NULL;
  stage_job job = {
      .frame = frame_make(launch),
      .f = stage->f,
      .base = stage->base,
      .out = stage->out,
      .weight_f = (real)stage->weight_f,
      .advection = (real)stage->advection,
      .diffusion = (real)stage->diffusion,
      .advective = !stored || stage->form != FORM_CONSERVATIVE,
      .conservative = stored && stage->form != FORM_ADVECTIVE,
  };
  for (int i = 0; i < 2; i++) {
    job.extra[i] = stage->extra[i];
    job.weight_extra[i] = (real)stage->weight_extra[i];
  }
  for (int d = 0; d < 3; d++) {
    job.velocity[d] = stage->velocity[d];
    job.uniform[d] = (real)stage->uniform[d];
  }
  const int block = stored ? 2 : 4; /* as in divergence_cpu */
  const tile_plan plan = {
      .window = (job.conservative ? 2 : 1) * (2 * STENCIL_RADIUS + block),
      .arrays = 2 + (job.base != NULL) + (job.extra[0] != NULL) * 2 + stored * 3,
      .block = block,
  };
  return tiles_run(launch, plan, stage_patch, &job);
}
