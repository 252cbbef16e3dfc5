#include "device.cuh"
#include "wave_call.h"
#include "wave_point.h"

/* Absorbing layers of waves (wave_layers.h), all of a slab in one launch. A thread marches along a line of a
 * layer, from the end inwards, and reads and writes each value once:
 *
 *     turn j:   p arrives at depth j
 *               psi at depth j - 4,       from nine values of p in registers
 *               the term at depth j - 8,  from nine values of p, nine of psi, and nine of psi before
 *
 * Neighbouring threads have neighbouring lines, which are neighbours in memory; but p of a layer of x lies in
 * rows, which a block copies to shared memory first. Turns are unrolled for the usual numbers of points, and
 * a thread then reads all of its line before it computes: with a loop, a turn would take some 100
 * instructions for 35 of arithmetic, and three values would be on their way at a time instead of 34.
 *
 * Bytes per point of a layer of 10 points in single precision: psi 8, the term read 4 and written 5.6 (14
 * points), p 5.6, and the term again in the step that adds it, 5.6: 29. At 512^3 six layers hold 11.7 % of
 * the points, so they move 3.4 bytes per point of the grid beside a step's 16, or 21 %; the goal was 15 % of
 * a step. p and the terms that a step reads would stay on the chip if its kernels marched through psi, too;
 * these hold 224 and 242 registers per thread already. */

constexpr int LAYER_THREADS = 128, RADIUS = STENCIL_RADIUS;
constexpr int LAYER_PITCH = LAYER_THREADS + 1; /* of depths in shared memory; odd for the sake of its banks */
constexpr size_t LAYER_SHARED = 48 << 10;      /* bytes that a block may have without being asked about */

/* A layer: lines along its axis, in rows or planes (`sheets`). Steps are along the line, from line to line,
 * and from sheet to sheet. */
struct layer {
  int axis, lines, chunks; /* lines of a sheet, and blocks for them */
  int blocks;
  const real *p;
  real *psi, *term;
  ptrdiff_t p_step[3], step[3];
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
  real *psi, *term;
  ptrdiff_t p_step, step;
};

__device__ __forceinline__ real slope(const real *c, const real (&f)[2 * RADIUS + 1]) {
  return first_derivative(c, f[0], f[1], f[2], f[3], f[5], f[6], f[7], f[8]);
}

/* POINTS: the number of points, or 0 for one that is known at run time. */
template <int POINTS>
__device__ __forceinline__ void layer_line_march(const layers_arguments &a, int axis, const layer_line &l) {
  constexpr int AHEAD = POINTS > 0 ? POINTS + RADIUS : 1; /* depths that are read ahead */
  const int points = POINTS > 0 ? POINTS : a.points, reach = points + RADIUS;
  const real *c1 = a.first[axis], *c2 = a.second[axis];
  const real *b = a.profile + 2 * axis * (ptrdiff_t)points, *weight = b + points;
  real f[3 * RADIUS + 1] = {}; /* the last ones of depth j; of psi and psi before those of depth j - 4 */
  real psi[2 * RADIUS + 1] = {}, psi_before[2 * RADIUS + 1] = {};
  real next_p[AHEAD], next_psi[AHEAD], next_term[AHEAD];
#pragma unroll
  for (int k = 0; k < AHEAD; k++) {
    next_p[k] = l.p[k * l.p_step];
    if (k < points) next_psi[k] = l.psi[k * l.step];
    if (k < points) next_term[k] = l.term[k * l.step];
  }
#pragma unroll(POINTS > 0 ? POINTS + 3 * RADIUS : 1)
  for (int j = 0; j < points + 3 * RADIUS; j++) {
    const int here = j - RADIUS, behind = j - 2 * RADIUS;
#pragma unroll
    for (int k = 0; k < 3 * RADIUS; k++) f[k] = f[k + 1];
    f[3 * RADIUS] = next_p[j % AHEAD];
    if (j + AHEAD < reach) next_p[j % AHEAD] = l.p[(j + AHEAD) * l.p_step];
#pragma unroll
    for (int k = 0; k < 2 * RADIUS; k++) {
      psi[k] = psi[k + 1];
      psi_before[k] = psi_before[k + 1];
    }
    psi[2 * RADIUS] = psi_before[2 * RADIUS] = 0;
    if (here >= 0 && here < points) {
      const real before = next_psi[here % AHEAD];
      psi_before[2 * RADIUS] = before;
      psi[2 * RADIUS] =
          wave_remember(constant_read(b + here), constant_read(weight + here), before,
                        first_derivative(c1, f[4], f[5], f[6], f[7], f[9], f[10], f[11], f[12]));
      if (here + AHEAD < points) next_psi[here % AHEAD] = l.psi[(here + AHEAD) * l.step];
      l.psi[here * l.step] = psi[2 * RADIUS];
    }
    if (behind < 0) continue;
    real term = slope(c1, psi);
    if (behind < points) {
      const real bend = second_derivative(c2, f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7], f[8]);
      const real zeta = next_term[behind % AHEAD] - slope(c1, psi_before);
      if (behind + AHEAD < points) next_term[behind % AHEAD] = l.term[(behind + AHEAD) * l.step];
      term += wave_remember(constant_read(b + behind), constant_read(weight + behind), zeta, bend + term);
    }
    l.term[behind * l.step] = term;
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
  const ptrdiff_t at = sheet * of.step[2] + line * of.step[1];
  const real *const p = of.p + sheet * of.p_step[2];
  layer_line l = {p + line * of.p_step[1], of.psi + at, of.term + at, of.p_step[0], of.step[0]};
  if (of.axis == AXIS_X && a.staged)
    stage_rows<POINTS>(a, min(LAYER_THREADS, of.lines - begin), of.p_step[1], l, p + begin * of.p_step[1]);
  if (line < of.lines) layer_line_march<POINTS>(a, of.axis, l);
}

/* The layer beside an end of this axis. */
static layer layer_of(const kernels_launch *launch, const kernels_wave *call, int axis, int end) {
  const kernels_shape *shape = &launch->shape;
  const wave_layers *layers = &call->layers;
  const int n[3] = {shape->nx, shape->ny, shape->nz}, beyond = axis == AXIS_Z ? 0 : layers->beyond;
  const int along[3] = {axis, axis == AXIS_X ? AXIS_Y : AXIS_X, axis == AXIS_Z ? AXIS_Y : AXIS_Z};
  const ptrdiff_t pitch[3] = {1, shape->ldx, shape->plane}, last = (n[axis] - 1) * pitch[axis];
  const auto begin = [&](int part) {
    return static_cast<real *>(layers->memory) + wave_layers_at(layers, shape, part, axis, end, -beyond);
  };
  layer made = {axis, n[along[1]], divide_up(n[along[1]], LAYER_THREADS)};
  made.blocks = made.chunks * (n[along[2]] + 2 * beyond);
  made.p = shifted(launch, call->p) - beyond * shape->plane + (end == 0 ? 0 : last);
  made.psi = begin(WAVE_PSI);
  made.term = begin(WAVE_TERM);
  for (int k = 0; k < 3; k++) {
    made.p_step[k] = k == 0 && end == 1 ? -pitch[axis] : pitch[along[k]];
    made.step[k] = wave_layers_step(layers, shape, axis, along[k]);
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
