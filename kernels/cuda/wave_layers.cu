#include "device.cuh"
#include "wave_call.h"
#include "wave_point.h"

/* Absorbing layers of waves (wave_layers.h), all of a slab in one launch. A thread marches along a line of a
 * layer, from the end inwards, and reads and writes each value once:
 *
 *     turn j:   p arrives at depth j
 *               psi      at depth j - 4,  from nine values of p in registers
 *               zeta and the term at depth j - 8,  from nine values of p and nine of psi
 *
 * Neighbouring threads have neighbouring lines, which are neighbours in memory; but p of a layer of x lies in
 * rows, which a block copies to shared memory first. Turns are unrolled for the usual numbers of points, and
 * a thread then reads all of its line before it computes: with a loop, a turn would take some 100
 * instructions for 25 of arithmetic, and three values would be on their way at a time instead of 34.
 *
 * Bytes per point of a layer of 10 points in single precision: psi and zeta 16, p 5.6 (14 points), the term
 * 5.6, and as many again in the step that adds it: 33. At 512^3 six layers hold 11.7 % of the points, so they
 * move 3.8 bytes per point of the grid beside a step's 16: a quarter of a step, where the goal was 15 %.
 * Terms and p (17 of the 33) would stay on the chip if the steps' kernels marched through psi, too; these
 * hold 224 and 255 registers per thread already. */

constexpr int LAYER_THREADS = 128, RADIUS = STENCIL_RADIUS;
constexpr int LAYER_PITCH = LAYER_THREADS + 1; /* of depths in shared memory; odd for the sake of its banks */
constexpr size_t LAYER_SHARED = 48 << 10;      /* bytes that a block may have without being asked about */

/* A layer: lines along its axis, in rows or planes (`sheets`). Steps are along the line, from line to line,
 * and from sheet to sheet. */
struct layer {
  int axis, lines, chunks; /* lines of a sheet, and blocks for them */
  int blocks;
  const real *p;
  real *psi, *zeta, *term;
  ptrdiff_t p_step[3], memory_step[3], term_step[3];
};

struct layers_arguments {
  int points;  /* depths */
  bool staged; /* rows of p are copied to shared memory */
  const real *profile;
  real first[3][RADIUS], second[3][RADIUS + 1];
  layer of[6];
};

/* A line: p in global or shared memory. */
struct layer_line {
  const real *p;
  real *psi, *zeta, *term;
  ptrdiff_t p_step, memory_step, term_step;
};

/* POINTS: the number of points, or 0 for one that is known at run time. */
template <int POINTS>
__device__ __forceinline__ void march(const layers_arguments &a, int axis, const layer_line &l) {
  constexpr int AHEAD = POINTS > 0 ? POINTS + RADIUS : 1; /* depths that are read ahead */
  constexpr int UNROLLED = POINTS > 0 ? POINTS + 3 * RADIUS : 1;
  const int points = POINTS > 0 ? POINTS : a.points, reach = points + RADIUS;
  const real *c1 = a.first[axis], *c2 = a.second[axis];
  const real *b = a.profile + 2 * axis * (ptrdiff_t)points, *weight = b + points;
  real f[3 * RADIUS + 1] = {}, psi[2 * RADIUS + 1] = {}; /* the last ones of depth j, and of depth j - 4 */
  real next_p[AHEAD], next_psi[AHEAD], next_zeta[AHEAD];
#pragma unroll
  for (int k = 0; k < AHEAD; k++) {
    next_p[k] = l.p[k * l.p_step];
    if (k < points) next_psi[k] = l.psi[k * l.memory_step];
    if (k < points) next_zeta[k] = l.zeta[k * l.memory_step];
  }
#pragma unroll UNROLLED
  for (int j = 0; j < points + 3 * RADIUS; j++) {
    const int here = j - RADIUS, behind = j - 2 * RADIUS;
#pragma unroll
    for (int k = 0; k < 3 * RADIUS; k++) f[k] = f[k + 1];
    f[3 * RADIUS] = next_p[j % AHEAD];
    if (j + AHEAD < reach) next_p[j % AHEAD] = l.p[(j + AHEAD) * l.p_step];
#pragma unroll
    for (int k = 0; k < 2 * RADIUS; k++) psi[k] = psi[k + 1];
    psi[2 * RADIUS] = 0;
    if (here >= 0 && here < points) {
      const real slope = first_derivative(c1, f[4], f[5], f[6], f[7], f[9], f[10], f[11], f[12]);
      psi[2 * RADIUS] =
          wave_remember(constant_read(b + here), constant_read(weight + here), next_psi[here % AHEAD], slope);
      if (here + AHEAD < points) next_psi[here % AHEAD] = l.psi[(here + AHEAD) * l.memory_step];
      l.psi[here * l.memory_step] = psi[2 * RADIUS];
    }
    if (behind < 0) continue;
    real term = first_derivative(c1, psi[0], psi[1], psi[2], psi[3], psi[5], psi[6], psi[7], psi[8]);
    if (behind < points) {
      const real bend = second_derivative(c2, f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7], f[8]);
      const real zeta = wave_remember(constant_read(b + behind), constant_read(weight + behind),
                                      next_zeta[behind % AHEAD], bend + term);
      if (behind + AHEAD < points) next_zeta[behind % AHEAD] = l.zeta[(behind + AHEAD) * l.memory_step];
      l.zeta[behind * l.memory_step] = zeta;
      term += zeta;
    }
    l.term[behind * l.term_step] = term;
  }
}

/* Copies p of a block's lines of x to shared memory, a line for each thread. */
template <int POINTS>
__device__ __forceinline__ void stage_rows(const layers_arguments &a, int lines, ptrdiff_t pitch,
                                           layer_line &l, const real *p) {
  const unsigned reach = (unsigned)(POINTS > 0 ? POINTS : a.points) + RADIUS,
                 values = (unsigned)lines * reach;
  real *const memory = reinterpret_cast<real *>(block_memory());
  for (unsigned i = threadIdx.x; i < values; i += LAYER_THREADS) {
    const int line = (int)(i / reach), j = (int)(i % reach);
    copy_element(memory + j * LAYER_PITCH + line, p + line * pitch + j * l.p_step);
  }
  copy_commit();
  copy_wait<0>();
  __syncthreads();
  l.p = memory + threadIdx.x;
  l.p_step = LAYER_PITCH;
}

template <int POINTS>
__global__ void __launch_bounds__(LAYER_THREADS) layers_kernel(const __grid_constant__ layers_arguments a) {
  int block = (int)blockIdx.x, i = 0;
  while (block >= a.of[i].blocks) block -= a.of[i++].blocks;
  const layer &of = a.of[i];
  const ptrdiff_t sheet = block / of.chunks;
  const int begin = block % of.chunks * LAYER_THREADS, line = begin + (int)threadIdx.x;
  const ptrdiff_t in_memory = sheet * of.memory_step[2] + line * of.memory_step[1];
  const real *const p = of.p + sheet * of.p_step[2];
  layer_line l = {p + line * of.p_step[1],
                  of.psi + in_memory,
                  of.zeta + in_memory,
                  of.term + sheet * of.term_step[2] + line * of.term_step[1],
                  of.p_step[0],
                  of.memory_step[0],
                  of.term_step[0]};
  if (of.axis == AXIS_X && a.staged)
    stage_rows<POINTS>(a, min(LAYER_THREADS, of.lines - begin), of.p_step[1], l, p + begin * of.p_step[1]);
  if (line < of.lines) march<POINTS>(a, of.axis, l);
}

/* The layer beside an end of this axis. */
static layer layer_of(const kernels_launch *launch, const kernels_wave *call, int axis, int end) {
  const kernels_shape *shape = &launch->shape;
  const wave_layers *layers = &call->layers;
  const int n[3] = {shape->nx, shape->ny, shape->nz}, beyond = axis == AXIS_Z ? 0 : layers->beyond;
  const int along[3] = {axis, axis == AXIS_X ? AXIS_Y : AXIS_X, axis == AXIS_Z ? AXIS_Y : AXIS_Z};
  const ptrdiff_t pitch[3] = {1, shape->ldx, shape->plane}, last = (n[axis] - 1) * pitch[axis];
  const auto begin = [&](void *array, int copies, int copy) {
    return static_cast<real *>(array) + wave_layers_at(layers, shape, copies, copy, axis, end, -beyond);
  };
  layer made = {axis, n[along[1]], divide_up(n[along[1]], LAYER_THREADS)};
  made.blocks = made.chunks * (n[along[2]] + 2 * beyond);
  made.p = shifted(launch, call->p) - beyond * shape->plane + (end == 0 ? 0 : last);
  made.psi = begin(layers->memory, WAVE_MEMORY, WAVE_PSI);
  made.zeta = begin(layers->memory, WAVE_MEMORY, WAVE_ZETA);
  made.term = begin(layers->term, WAVE_TERM, 0);
  for (int k = 0; k < 3; k++) {
    made.p_step[k] = k == 0 && end == 1 ? -pitch[axis] : pitch[along[k]];
    made.memory_step[k] = wave_layers_step(layers, shape, WAVE_MEMORY, axis, along[k]);
    made.term_step[k] = wave_layers_step(layers, shape, WAVE_TERM, axis, along[k]);
  }
  return made;
}

extern "C" status NAME(wave_layers)(const kernels_launch *launch, const kernels_wave *call) {
  /* The last one is where steps begin, which then find p and terms in the cache. */
  static const int order[] = {0, 1, 2, 3, 5, 4};
  const wave_layers *layers = &call->layers;
  const size_t staged = (size_t)wave_layers_depths(layers, WAVE_TERM) * LAYER_PITCH * sizeof(real);
  layers_arguments a = {layers->points, staged <= LAYER_SHARED, static_cast<const real *>(layers->profile)};
  int count = 0, blocks = 0;
  for (int d = 0; d < 3; d++) {
    for (int k = 0; k < RADIUS; k++) a.first[d][k] = (real)launch->stencil->first[d][k];
    for (int k = 0; k <= RADIUS; k++) a.second[d][k] = (real)launch->stencil->second[d][k];
  }
  for (const int i : order) {
    if (!layers->there[i / 2][i % 2]) continue;
    a.of[count] = layer_of(launch, call, i / 2, i % 2);
    blocks += a.of[count++].blocks;
  }
  if (blocks == 0) return STATUS_OK;
  const bool stages = a.staged && (layers->there[AXIS_X][0] || layers->there[AXIS_X][1]);
  kernel_launch(layers->points == 10   ? layers_kernel<10>
                : layers->points == 20 ? layers_kernel<20>
                                       : layers_kernel<0>,
                (unsigned)blocks, LAYER_THREADS, stages ? staged : 0, launch_stream(launch), a);
  return launch_done(launch, "wave, layers");
}
