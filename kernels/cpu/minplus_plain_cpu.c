#include <math.h>

#include "lines.h"

/* For fdbench: the loop of additions and minima in registers that gives the ceiling of min-plus products, and
 * simpler ways of computing a product. */

/* Number of independent sums: enough to hide the latency of an addition and a minimum, and no more than there
 * are registers. */
#ifdef __AVX512F__
enum { SUMS = 24 };
#else
enum { SUMS = 12 };
#endif
enum { STEPS = 1 << 17 };
_Static_assert((int)KERNELS_LOOP >= 3 * (int)LINE, "operands and results of the loop");

/* Each sum depends on the one before, so the compiler can leave out none. Only what is unrolled stays in
 * registers. */
static void loop_run(const real *in, real *out) {
  const cpu_vector add = line_load(in), most[2] = {line_load(in + LINE), line_load(in + 2 * LINE)};
  cpu_vector sum[SUMS];
#pragma GCC unroll 24
  for (int s = 0; s < SUMS; s++) sum[s] = line_fill((real)s);
  for (int step = 0; step < STEPS; step++) {
#pragma GCC unroll 24
    for (int s = 0; s < SUMS; s++) sum[s] = line_min(sum[s] + add, most[s % 2]);
  }
  cpu_vector least = sum[0];
#pragma GCC unroll 24
  for (int s = 1; s < SUMS; s++) least = line_min(sum[s], least);
  __builtin_memcpy(out, &least, sizeof least);
}

status CPU_NAME(minplus_loop_cpu_)(const kernels_launch *launch, const void *in, void *out, double *pairs) {
  const int threads = launch->context->threads;
#pragma omp parallel num_threads(threads)
  {
    real result[LINE];
    loop_run(in, result);
#pragma omp critical
    __builtin_memcpy(out, result, sizeof result);
  }
  *pairs = (double)threads * STEPS * SUMS * LINE;
  return STATUS_OK;
}

/* Row i of a plane of `out`, one value after another. */
static void row_no_reuse(const kernels_shape *shape, const kernels_minplus *product, const real *cost,
                         const real *in, real *out) {
  for (int x = 0; x < shape->nx; x++) {
    real least = (real)INFINITY;
    for (int k = 0; k < product->count; k++) {
      const real sum = in[(ptrdiff_t)k * shape->ldx + x] + cost[k];
      least = sum < least ? sum : least;
    }
    out[x] = least + 0;
  }
}

/* The whole row at once, from one row of `in` after another; it stays in the first-level cache. */
static void row_of_rows(const kernels_shape *shape, const kernels_minplus *product, const real *cost,
                        const real *in, real *out) {
  for (int x = 0; x < shape->ldx; x++) out[x] = (real)INFINITY;
  for (int k = 0; k < product->count; k++) {
    const real *row = in + (ptrdiff_t)k * shape->ldx;
    const cpu_vector add = line_fill(cost[k]);
    for (int x = 0; x < shape->ldx; x += LINE) {
      const cpu_vector least = line_min(line_load(row + x) + add, line_load(out + x));
      __builtin_memcpy(out + x, &least, sizeof least);
    }
  }
  for (int x = 0; x < shape->ldx; x++) out[x] += 0;
}

status CPU_NAME(minplus_plain_cpu_)(const kernels_launch *launch, int variant,
                                    const kernels_minplus *product) {
  const kernels_shape *shape = &launch->shape;
  const ptrdiff_t rows = (ptrdiff_t)shape->ny * shape->nz;
#pragma omp parallel for schedule(static) num_threads(launch->context->threads)
  for (ptrdiff_t row = 0; row < rows; row++) {
    const ptrdiff_t plane = row / shape->ny * shape->plane, i = row % shape->ny;
    const real *cost = (const real *)product->cost + i * product->pitch;
    const real *in = (const real *)product->in + plane;
    real *out = (real *)product->out + plane + i * shape->ldx;
    (variant == MINPLUS_NO_REUSE ? row_no_reuse : row_of_rows)(shape, product, cost, in, out);
  }
  return STATUS_OK;
}
