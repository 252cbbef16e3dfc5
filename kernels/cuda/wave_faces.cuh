#ifndef FDAPP_CUDA_WAVE_FACES_CUH
#define FDAPP_CUDA_WAVE_FACES_CUH

#include "wave_march.cuh"

constexpr int WAVE_FACES_THREADS = 256;

/* The points on ends that absorb, in kernels of their own: one keeps p_before of these points, which the step
 * may overwrite, and one makes of the step's results what the ends leave of them. In a step's kernel blocks
 * march in step, so that all would wait for those beside an end. */
struct wave_faces {
  struct box {
    int from[3], extent[3], first; /* number of its first point */
  } of[6 * RANGES];
  int count, points;
};

static inline wave_faces wave_faces_of(const kernels_wave *call, const geometry &d) {
  const int n[3] = {d.nx, d.ny, d.nz};
  wave_faces faces = {};
  for (int r = 0; r < RANGES && !call->plain; r++) {
    int from[3] = {0, 0, d.range[r].z0}, to[3] = {n[0], n[1], d.range[r].z1}; /* of what is in no face yet */
    for (int i = 5; i >= 0 && d.planes(r) > 0; i--) {
      const int axis = i / 2, end = i % 2, at = end * (n[axis] - 1);
      if (!call->absorbs[axis][end] || at < from[axis] || at >= to[axis]) continue;
      wave_faces::box &box = faces.of[faces.count++];
      for (int k = 0; k < 3; k++) {
        box.from[k] = k == axis ? at : from[k];
        box.extent[k] = k == axis ? 1 : to[k] - from[k];
      }
      box.first = faces.points;
      faces.points += box.extent[0] * box.extent[1] * box.extent[2];
      (end == 0 ? from : to)[axis] = end == 0 ? 1 : at;
    }
  }
  return faces;
}

/* APPLIES: the second of the kernels. kept: room for the faces' points. */
template <bool APPLIES>
static __global__ void __launch_bounds__(WAVE_FACES_THREADS)
    wave_faces_kernel(const __grid_constant__ wave_arguments a, const __grid_constant__ geometry d,
                      const __grid_constant__ wave_faces faces, real *kept) {
  const int i = (int)(blockIdx.x * WAVE_FACES_THREADS + threadIdx.x);
  if (i >= faces.points) return;
  int b = 0;
  while (b + 1 < faces.count && i >= faces.of[b + 1].first) b++;
  const wave_faces::box &box = faces.of[b];
  const int line = (i - box.first) / box.extent[0];
  const int point[3] = {box.from[0] + (i - box.first) % box.extent[0], box.from[1] + line % box.extent[1],
                        box.from[2] + line / box.extent[1]};
  const ptrdiff_t at = d.plane(point[2]) + (ptrdiff_t)point[1] * d.ldx + point[0];
  if (!APPLIES) {
    kept[i] = a.before[at];
    return;
  }
  const int n[3] = {d.nx, d.ny, d.nz};
  int zero = 0;
  const unsigned axes = wave_ends_at(&a.call, n, point, &zero);
  a.out[at] = zero ? (real)0 : wave_absorbed(a.out[at], kept[i], a.factor[at], a.rate[axes]);
}

template <bool APPLIES>
static status wave_faces_launch(const kernels_launch *launch, const wave_arguments &a, const geometry &d,
                                const wave_faces &faces) {
  if (faces.points == 0) return STATUS_OK;
  CHECK(context_kept(launch->context, (size_t)faces.points * sizeof(real)));
  kernel_launch(wave_faces_kernel<APPLIES>, (unsigned)divide_up(faces.points, WAVE_FACES_THREADS),
                WAVE_FACES_THREADS, 0, launch_stream(launch), a, d, faces,
                static_cast<real *>(launch->context->kept));
  return launch_done(launch, "wave, ends that absorb");
}

#endif
