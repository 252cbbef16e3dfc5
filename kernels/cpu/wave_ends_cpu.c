#include "cpu.h"
#include "wave_cpu.h"
#include "wave_point.h"

/* Points on ends of axes, halo planes beyond ends, the energy, and which function does a task (wave_call.h).
 */

static const real *row_of(const kernels_shape *shape, const void *array, int z, int y) {
  return (const real *)array + (ptrdiff_t)(z + KERNELS_HALO) * shape->plane + (ptrdiff_t)y * shape->ldx;
}

static void finish_point(const kernels_launch *launch, const kernels_wave *call, const int at[3],
                         const real *before, const real *factor, real *out) {
  const int n[3] = {launch->shape.nx, launch->shape.ny, launch->shape.nz};
  int zero = 0;
  const unsigned axes = wave_ends_at(call, n, at, &zero);
  const real rate = (real)wave_rate(launch->stencil->spacing, axes);
  const int x = at[AXIS_X];
  if (axes != 0) out[x] = wave_absorbed(out[x], before[x], factor[x], rate);
  if (zero) out[x] = 0;
}

static int on_end(const wave_image ends[2], const int absorbs[2], int i, int n) {
  const int end = i == 0 ? 0 : 1;
  return (i == 0 || i == n - 1) && (absorbs[end] || ends[end] == WAVE_ODD);
}

/* From a point of row y of plane z on which ends act to the next one. */
static int points_apart(const kernels_launch *launch, const kernels_wave *call, int z, int y) {
  const kernels_shape *shape = &launch->shape;
  const int all = on_end(call->ends[AXIS_Y], call->absorbs[AXIS_Y], y, shape->ny) ||
                  on_end(call->ends[AXIS_Z], call->absorbs[AXIS_Z], z, shape->nz);
  return all ? 1 : shape->nx - 1;
}

void CPU_NAME(wave_keep_row_)(const kernels_launch *launch, const kernels_wave *call, int z, int y,
                              const void *before, void *kept) {
  const int step = points_apart(launch, call, z, y);
  for (int x = 0; x < launch->shape.nx; x += step) ((real *)kept)[x] = ((const real *)before)[x];
}

void CPU_NAME(wave_finish_row_)(const kernels_launch *launch, const kernels_wave *call, int z, int y,
                                const void *before, const void *factor, void *out) {
  const int step = points_apart(launch, call, z, y);
  if (call->plain) return;
  for (int x = 0; x < launch->shape.nx; x += step)
    finish_point(launch, call, (const int[3]){x, y, z}, before, factor, out);
}

static void fill_images(const kernels_launch *launch, const kernels_wave *call) {
  const kernels_shape *shape = &launch->shape;
  real *const first = (real *)call->out + KERNELS_HALO * shape->plane;
  for (int i = 0; i < 2 * call->depth; i++) {
    const int end = i % 2, k = 1 + i / 2;
    const wave_image kind = call->ends[AXIS_Z][end];
    const real sign = kind == WAVE_EVEN ? (real)1 : kind == WAVE_ODD ? (real)-1 : (real)0;
    if (kind == WAVE_PERIODIC) continue;
    const real *from = first + (end == 0 ? k : shape->nz - 1 - k) * shape->plane;
    real *to = first + (end == 0 ? -k : shape->nz - 1 + k) * shape->plane;
#pragma omp parallel for num_threads(launch->context->threads)
    for (ptrdiff_t x = 0; x < (ptrdiff_t)shape->ldx * shape->ny; x++) to[x] = sign * from[x];
  }
}

static void find_energy(const kernels_launch *launch, const kernels_wave *call) {
  const kernels_shape *shape = &launch->shape;
#pragma omp parallel for collapse(2) num_threads(launch->context->threads)
  for (int z = 0; z < shape->nz; z++) {
    for (int y = 0; y < shape->ny; y++) {
      const real *p = row_of(shape, call->p, z, y), *before = row_of(shape, call->before, z, y);
      const real *operated = row_of(shape, call->operated, z, y), *factor = row_of(shape, call->factor, z, y);
      real *out = (real *)row_of(shape, call->out, z, y);
      for (int x = 0; x < shape->nx; x++) out[x] = wave_energy(p[x], before[x], operated[x], factor[x]);
    }
  }
}

status CPU_NAME(wave_cpu_)(const kernels_launch *launch, const kernels_wave *call) {
  if (call->task == WAVE_STEP) return CPU_NAME(wave_step_)(launch, call);
  if (call->task == WAVE_INJECT) CPU_NAME(wave_inject_)(launch, call);
  if (call->task == WAVE_RECEIVE) CPU_NAME(wave_receive_)(launch, call);
  if (call->task == WAVE_IMAGES) fill_images(launch, call);
  if (call->task == WAVE_ENERGY) find_energy(launch, call);
  return STATUS_OK;
}
