#include "wave_faces.cuh"
#include "wave_leap.cuh"

/* The tasks of the wave equation (wave_call.h). */

/* wave_layers.cu: advances what layers remember. With one Laplacian it follows the step, and adds to the
 * results; with two it finds the terms for the step. */
extern "C" status NAME(wave_layers)(const kernels_launch *launch, const kernels_wave *call);

constexpr int WAVE_THREADS = 256;

/* wave_twice.cu: two Laplacians on large slabs; false if others have to compute the step. [out] done: how it
 * ended. */
extern "C" bool NAME(wave_twice)(const kernels_launch *launch, const wave_arguments *a, const geometry *d,
                                 status *done);

static wave_arguments arguments_of(const kernels_launch *launch, const kernels_wave *call) {
  wave_arguments a = {};
  a.call = *call;
  for (int i = 0; i < 2; i++) a.c[i] = wave_coefficients_make(launch->stencil, call->scale[i]);
  if (call->twice) a.terms = wave_terms_make(launch, &call->layers);
  for (unsigned axes = 0; axes < 8; axes++) a.rate[axes] = (real)wave_rate(launch->stencil->spacing, axes);
  a.p = shifted(launch, call->p);
  a.before = shifted(launch, call->before);
  a.factor = shifted(launch, call->factor);
  a.out = shifted(launch, call->out);
  return a;
}

static status results(const kernels_launch *launch, const wave_arguments &a, const geometry &d) {
  status done = STATUS_OK;
  if (a.call.twice)
    return NAME(wave_twice)(launch, &a, &d, &done) ? done : wave_march_launch<true>(launch, a, d);
  return wave_leap_launch(launch, a, d, &done) ? done : wave_march_launch<false>(launch, a, d);
}

static status step(const kernels_launch *launch, const kernels_wave *call) {
  const wave_arguments a = arguments_of(launch, call);
  const geometry d = launch_geometry(launch);
  const wave_faces faces = wave_faces_of(call, d);
  const bool layers = call->layers.points > 0;
  CHECK(wave_faces_launch<false>(launch, a, d, faces));
  if (layers && call->twice) CHECK(NAME(wave_layers)(launch, call));
  CHECK(results(launch, a, d));
  if (layers && !call->twice) CHECK(NAME(wave_layers)(launch, call));
  return wave_faces_launch<true>(launch, a, d, faces);
}

/* A thread for each point of a plane, padding of rows included, which sets its images one after the other. */
static __global__ void __launch_bounds__(WAVE_THREADS)
    images_kernel(const __grid_constant__ kernels_wave call, const __grid_constant__ geometry d,
                  real *first) {
  const ptrdiff_t at = (ptrdiff_t)blockIdx.x * WAVE_THREADS + (ptrdiff_t)threadIdx.x;
  if (at >= (ptrdiff_t)d.ldx * d.ny) return;
  for (int i = 0; i < 2 * call.depth; i++) {
    const int end = i % 2, k = 1 + i / 2;
    const wave_image kind = call.ends[AXIS_Z][end];
    const real sign = kind == WAVE_EVEN ? (real)1 : kind == WAVE_ODD ? (real)-1 : (real)0;
    if (kind == WAVE_PERIODIC) continue;
    const real *from = first + d.plane(end == 0 ? k : d.nz - 1 - k) + at;
    first[d.plane(end == 0 ? -k : d.nz - 1 + k) + at] = sign * *from;
  }
}

static status images(const kernels_launch *launch, const kernels_wave *call) {
  const wave_image *ends = call->ends[AXIS_Z];
  const size_t points = (size_t)launch->shape.ldx * (size_t)launch->shape.ny;
  if (ends[0] == WAVE_PERIODIC && ends[1] == WAVE_PERIODIC) return STATUS_OK;
  kernel_launch(images_kernel, (unsigned)((points + WAVE_THREADS - 1) / WAVE_THREADS), WAVE_THREADS, 0,
                launch_stream(launch), *call, launch_geometry(launch), shifted(launch, call->out));
  return launch_done(launch, "wave, images");
}

/* A block for each row. `operated` and `out` may be the same array. */
static __global__ void __launch_bounds__(WAVE_THREADS)
    energy_kernel(const __grid_constant__ geometry d, const real *p, const real *before, const real *operated,
                  const real *factor, real *out) {
  const ptrdiff_t row =
      d.plane((int)(blockIdx.x / (unsigned)d.ny)) + (ptrdiff_t)(blockIdx.x % (unsigned)d.ny) * d.ldx;
  for (ptrdiff_t i = row + (int)threadIdx.x; i < row + d.nx; i += WAVE_THREADS)
    out[i] = wave_energy(p[i], before[i], operated[i], factor[i]);
}

static status energy(const kernels_launch *launch, const kernels_wave *call) {
  const size_t rows = (size_t)launch->shape.ny * (size_t)launch->shape.nz;
  if (rows > INT32_MAX) return status_fail(STATUS_DEVICE, "kernel wave, energy: too many rows for a launch");
  kernel_launch(energy_kernel, (unsigned)rows, WAVE_THREADS, 0, launch_stream(launch),
                launch_geometry(launch), shifted(launch, call->p), shifted(launch, call->before),
                shifted(launch, call->operated), shifted(launch, call->factor), shifted(launch, call->out));
  return launch_done(launch, "wave, energy");
}

/* A thread for each point. */
static __global__ void __launch_bounds__(WAVE_THREADS)
    inject_kernel(const __grid_constant__ wave_injection injection, real *out) {
  const int i = (int)(blockIdx.x * WAVE_THREADS + threadIdx.x);
  if (i >= injection.points) return;
  const real *weight = static_cast<const real *>(injection.weight);
  const real *signal = static_cast<const real *>(injection.signal);
  const int64_t place = injection.place[i];
  real value = out[place];
  for (int e = injection.first[i]; e < injection.first[i + 1]; e++)
    value = wave_injected(value, &weight[2 * (ptrdiff_t)e], &signal[2 * injection.source[e]]);
  out[place] = value;
}

static status inject(const kernels_launch *launch, const kernels_wave *call) {
  const wave_injection &injection = call->injection;
  if (injection.points == 0) return STATUS_OK;
  kernel_launch(inject_kernel, (unsigned)divide_up(injection.points, WAVE_THREADS), WAVE_THREADS, 0,
                launch_stream(launch), injection, static_cast<real *>(call->out));
  return launch_done(launch, "wave, sources");
}

/* A thread for each plane of a receiver; the first one of these then adds the planes. */
static __global__ void __launch_bounds__(WAVE_THREADS)
    receive_kernel(const __grid_constant__ wave_reception reception, const __grid_constant__ geometry d,
                   const real *p) {
  const int thread = (int)(blockIdx.x * WAVE_THREADS + threadIdx.x), receiver = thread / WAVE_NEAR;
  const bool there = receiver < reception.receivers;
  const ptrdiff_t first = 3 * WAVE_NEAR * (ptrdiff_t)(there ? receiver : 0);
  const int *index = reception.index + first, k = thread % WAVE_NEAR;
  const real *weight = static_cast<const real *>(reception.weight) + first;
  const real *plane = p + d.plane(index[2 * WAVE_NEAR + k]);
  real across = 0;
  for (int j = 0; j < WAVE_NEAR; j++) {
    const real *row = plane + (ptrdiff_t)index[WAVE_NEAR + j] * d.ldx;
    real along = 0;
#pragma unroll
    for (int i = 0; i < WAVE_NEAR; i++) along = REAL_FMA(weight[i], row[index[i]], along);
    across = REAL_FMA(weight[WAVE_NEAR + j], along, across);
  }
  real sum = 0;
  const int lane = (int)threadIdx.x % 32 / WAVE_NEAR * WAVE_NEAR;
#pragma unroll
  for (int i = 0; i < WAVE_NEAR; i++)
    sum = REAL_FMA(weight[2 * WAVE_NEAR + i], __shfl_sync(~0U, across, lane + i), sum);
  if (there && k == 0) static_cast<real *>(reception.trace)[receiver] = sum;
}

static status receive(const kernels_launch *launch, const kernels_wave *call) {
  const wave_reception &reception = call->reception;
  constexpr int EACH = WAVE_THREADS / WAVE_NEAR;
  if (reception.receivers == 0) return STATUS_OK;
  kernel_launch(receive_kernel, (unsigned)divide_up(reception.receivers, EACH), WAVE_THREADS, 0,
                launch_stream(launch), reception, launch_geometry(launch), shifted(launch, call->p));
  return launch_done(launch, "wave, receivers");
}

extern "C" status NAME(wave)(const kernels_launch *launch, const kernels_wave *call) {
  switch (call->task) {
  case WAVE_STEP:
    return step(launch, call);
  case WAVE_IMAGES:
    return images(launch, call);
  case WAVE_ENERGY:
    return energy(launch, call);
  case WAVE_INJECT:
    return inject(launch, call);
  default:
    return receive(launch, call);
  }
}
