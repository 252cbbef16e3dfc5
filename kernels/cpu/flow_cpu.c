#include "pairs.h"

#include "flow_damping.h"
#include "flow_figures.h"

/* Compressible flow on the engine of pairs.h: the stage of each form and law of viscosity, the first pass,
 * and figures. */

enum { UNKNOWNS = (1U << FLOW_UNKNOWNS) - 1, VELOCITY = 7U << FLOW_U };

/* Reads of a stage: constants, because form and law are. */
#define STAGE_WORKS(form, law)                                                                               \
  ((law) != FLOW_INVISCID ? (law) + 1 : ((form) == FLOW_KEEP || (form) == FLOW_KENNEDY_GRUBER))
#define STAGE_READS(form, law) ((1U << (FLOW_UNKNOWNS + STAGE_WORKS(form, law))) - 1)
#define STAGE_SUMS(law)                                                                                      \
  ((law) == FLOW_INVISCID ? FLOW_THETA + 1 : (law) == FLOW_CONSTANT ? (int)FLOW_DIFF_THETA : (int)FLOW_SUMS)

#define STAGES(X)                                                                                            \
  X(KEEP_PE, INVISCID)                                                                                       \
  X(KEEP_PE, CONSTANT)                                                                                       \
  X(KEEP_PE, SUTHERLAND)                                                                                     \
  X(KEEP, INVISCID)                                                                                          \
  X(KEEP, CONSTANT)                                                                                          \
  X(KEEP, SUTHERLAND)                                                                                        \
  X(KENNEDY_GRUBER, INVISCID)                                                                                \
  X(KENNEDY_GRUBER, CONSTANT)                                                                                \
  X(KENNEDY_GRUBER, SUTHERLAND)                                                                              \
  X(DIVERGENCE, INVISCID)                                                                                    \
  X(DIVERGENCE, CONSTANT)                                                                                    \
  X(DIVERGENCE, SUTHERLAND)

LINE_INLINE void across_CONSTANT(number *sums) {
  flow_across(FLOW_CONSTANT, sums);
}
#define across_INVISCID   NULL
#define across_SUTHERLAND NULL

#define X(form, law)                                                                                         \
  LINE_INLINE void pair_##form##_##law(const void *numbers, int d, int l, int up, const number *own,         \
                                       const number *other, number *sums) {                                  \
    flow_pair(numbers, FLOW_##form, FLOW_##law, d, l, up, own, other, sums);                                 \
  }                                                                                                          \
  LINE_INLINE void finish_##form##_##law(const void *numbers, const number *own, number *sums,               \
                                         const number *at, int points, number *out) {                        \
    flow_finish(numbers, FLOW_##form, FLOW_##law, own, sums, at, points, out);                               \
  }                                                                                                          \
  static void stage_##form##_##law(const void *job, const cpu_patch *patch) {                                \
    pairs_patch((pairs_system){STAGE_READS(FLOW_##form, FLOW_##law), STAGE_SUMS(FLOW_##law), FLOW_UNKNOWNS,  \
                               pair_##form##_##law, finish_##form##_##law, across_##law},                    \
                job, patch);                                                                                 \
  }
STAGES(X)
#undef X

static patch_function *const stages[FLOW_FORMS][FLOW_LAWS] = {
#define X(form, law) [FLOW_##form][FLOW_##law] = stage_##form##_##law,
    STAGES(X)
#undef X
};

LINE_INLINE void first_pair(const void *numbers, int d, int l, int up, const number *own, const number *other,
                            number *sums) {
  flow_first_pair(numbers, d, l, up, own, other, sums);
}

LINE_INLINE void first_finish(const void *numbers, const number *own, number *sums, const number *at,
                              int points, number *out) {
  (void)own;
  (void)points;
  flow_first_finish(numbers, sums, at, out);
}

#define FIRST(works)                                                                                         \
  static void first_##works(const void *job, const cpu_patch *patch) {                                       \
    pairs_patch((pairs_system){(works) > 1 ? VELOCITY : 0, 1, works, first_pair, first_finish, NULL}, job,   \
                patch);                                                                                      \
  }
FIRST(1)
FIRST(2)
FIRST(3)

LINE_INLINE void figure_pair(const void *numbers, int d, int l, int up, const number *own,
                             const number *other, number *sums) {
  flow_figure_pair(numbers, d, l, up, own, other, sums);
}

LINE_INLINE void figure_finish(const void *numbers, const number *own, number *sums, const number *at,
                               int points, number *out) {
  out[0] = points > 0 ? flow_figure_point(numbers, at) : flow_figure_finish(numbers, own, sums);
}

static void figure_near(const void *job, const cpu_patch *patch) {
  pairs_patch((pairs_system){UNKNOWNS, FIGURE_SUMS, 1, figure_pair, figure_finish, NULL}, job, patch);
}

static void figure_at(const void *job, const cpu_patch *patch) {
  pairs_patch((pairs_system){0, 0, 1, figure_pair, figure_finish, NULL}, job, patch);
}

LINE_INLINE void damping_pair(const void *numbers, int d, int l, int up, const number *own,
                              const number *other, number *sums) {
  damp_pair(numbers, d, l, up, own, other, sums);
}

LINE_INLINE void damping_finish(const void *numbers, const number *own, number *sums, const number *at,
                                int points, number *out) {
  (void)own;
  (void)points;
  damp_finish(numbers, sums, at, out);
}

static void damping(const void *job, const cpu_patch *patch) {
  pairs_patch((pairs_system){UNKNOWNS, DAMP_SUMS, FLOW_UNKNOWNS, damping_pair, damping_finish, NULL}, job,
              patch);
}

LINE_INLINE void source_finish(const void *numbers, const number *own, number *sums, const number *at,
                               int points, number *out) {
  (void)own;
  (void)sums;
  (void)points;
  supply_finish(numbers, at, out);
}

static void supply(const void *job, const cpu_patch *patch) {
  pairs_patch((pairs_system){0, 0, FLOW_UNKNOWNS, damping_pair, source_finish, NULL}, job, patch);
}

static status run_supply(const kernels_launch *launch, const flow_call *call, pairs_job *job) {
  const supply_numbers numbers = supply_numbers_make(call);
  const void *at[SUPPLY_POINTS];
  supply_arrays(call, at);
  job->numbers = &numbers;
  job->points = SUPPLY_POINTS;
  for (int i = 0; i < SUPPLY_POINTS; i++) job->at[i] = at[i];
  for (int i = 0; i < FLOW_UNKNOWNS; i++) job->out[i] = call->out[i];
  return tiles_run(launch, pairs_plan(0, SUPPLY_POINTS, FLOW_UNKNOWNS), supply, job);
}

static status run_damping(const kernels_launch *launch, const flow_call *call, pairs_job *job) {
  const damp_numbers numbers = damp_numbers_make(launch->stencil, call);
  job->numbers = &numbers;
  for (int i = 0; i < FLOW_UNKNOWNS; i++) job->at[i] = job->out[i] = call->out[i];
  job->points = FLOW_UNKNOWNS;
  return tiles_run(launch, pairs_plan(FLOW_UNKNOWNS, FLOW_UNKNOWNS, FLOW_UNKNOWNS), damping, job);
}

static status run_stage(const kernels_launch *launch, const flow_call *call, pairs_job *job) {
  const int works = flow_works(&call->gas), states = call->extra[0][0] != NULL ? 3 : 1;
  const void *const *const from[3] = {call->base, call->extra[0], call->extra[1]};
  for (int i = 0; i < works; i++) job->in[FLOW_UNKNOWNS + i] = call->work[i];
  for (int k = 0; k < states; k++)
    for (int i = 0; i < FLOW_UNKNOWNS; i++) job->at[k * FLOW_UNKNOWNS + i] = from[k][i];
  job->points = states * FLOW_UNKNOWNS;
  for (int i = 0; i < FLOW_UNKNOWNS; i++) job->out[i] = call->out[i];
  return tiles_run(launch, pairs_plan(FLOW_UNKNOWNS + works, job->points, FLOW_UNKNOWNS),
                   stages[call->gas.form][call->gas.law], job);
}

static status run_first(const kernels_launch *launch, const flow_call *call, pairs_job *job) {
  static patch_function *const firsts[FLOW_WORKS] = {first_1, first_2, first_3};
  const int works = flow_works(&call->gas);
  if (works == 0) return STATUS_OK;
  job->at[0] = call->f[FLOW_DENSITY];
  job->at[1] = call->f[FLOW_PRESSURE];
  job->points = 2;
  for (int i = 0; i < works; i++) job->out[i] = call->work[i];
  return tiles_run(launch, pairs_plan(works > 1 ? 3 : 0, 2, works), firsts[works - 1], job);
}

static status run_figure(const kernels_launch *launch, const flow_call *call, pairs_job *job) {
  const int near = call->figure >= FLOW_POINTWISE;
  job->points = near ? 0 : FLOW_UNKNOWNS;
  for (int i = 0; i < job->points; i++) job->at[i] = call->f[i];
  job->out[0] = call->out[0];
  return tiles_run(launch, pairs_plan(near ? FLOW_UNKNOWNS : 0, job->points, 1),
                   near ? figure_near : figure_at, job);
}

/* The largest of a line's elements; INFINITY if one is not finite. */
static double line_largest(cpu_vector line) {
  double largest = 0.0;
  for (int i = 0; i < LINE; i++)
    largest = !isfinite(line[i]) ? INFINITY : (double)line[i] > largest ? (double)line[i] : largest;
  return largest;
}

LINE_INLINE cpu_vector line_larger(cpu_vector a, cpu_vector best) {
  return line_choose(a > best, a, best);
}

/* Finds the largest rates of a row. */
LINE_INLINE void row_largest(const pairs_job *job, int viscous, ptrdiff_t row, double largest[FLOW_RATES]) {
  const int nx = job->frame.nx;
  cpu_vector best[FLOW_RATES] = {{0}}, rest[FLOW_RATES] = {{0}};
  for (int x = 0; x < nx; x += LINE) {
    number own[FLOW_UNKNOWNS], rates[FLOW_RATES] = {{0}};
    for (int i = 0; i < FLOW_UNKNOWNS; i++) {
      own[i] = line_load(job->in[i] + row + x);
      if (nx - x < LINE) own[i] = line_join(own[i], line_fill(own[i][0]), nx - x);
    }
    flow_rates(job->numbers, viscous, own, rates);
    for (int i = 0; i < (viscous ? FLOW_RATES : 1); i++) {
      best[i] = line_larger(rates[i], best[i]);
      rest[i] += rates[i] * line_fill(0); /* 0, or NaN where a rate is not finite */
    }
  }
  for (int i = 0; i < FLOW_RATES; i++) largest[i] = line_largest(best[i] + rest[i]);
}

static status run_largest(const kernels_launch *launch, const flow_call *call, const pairs_job *job) {
  const int planes = kernels_plane_count(launch), ny = job->frame.ny;
  const int viscous = call->gas.law != FLOW_INVISCID;
  double rate = 0.0, diffusive = 0.0;
#pragma omp parallel for collapse(2) schedule(static) reduction(max                                          \
                                                                : rate, diffusive)                           \
    num_threads(launch->context->threads)
  for (int i = 0; i < planes; i++) {
    for (int y = 0; y < ny; y++) {
      const ptrdiff_t row = row_offset(&job->frame, y, kernels_plane_at(launch, i));
      double largest[FLOW_RATES];
      if (viscous)
        row_largest(job, 1, row, largest);
      else
        row_largest(job, 0, row, largest);
      rate = fmax(rate, largest[FLOW_RATE]);
      diffusive = fmax(diffusive, largest[FLOW_DIFFUSIVE_RATE]);
    }
  }
  call->largest[FLOW_RATE] = rate;
  call->largest[FLOW_DIFFUSIVE_RATE] = diffusive;
  return STATUS_OK;
}

status CPU_NAME(flow_cpu_)(const kernels_launch *launch, const flow_call *call) {
  const flow_numbers numbers = flow_numbers_make(launch->stencil, call);
  pairs_job job = {.frame = frame_make(launch), .numbers = &numbers};
  for (int i = 0; i < FLOW_UNKNOWNS; i++) job.in[i] = call->f[i];
  if (call->pass == FLOW_FIRST) return run_first(launch, call, &job);
  if (call->pass == FLOW_DAMP) return run_damping(launch, call, &job);
  if (call->pass == FLOW_SUPPLY) return run_supply(launch, call, &job);
  if (call->pass == FLOW_LARGEST) return run_largest(launch, call, &job);
  return call->pass == FLOW_STAGE ? run_stage(launch, call, &job) : run_figure(launch, call, &job);
}
