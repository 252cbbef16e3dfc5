#include "device.cuh"
#include "wave_call.h"
#include "wave_point.h"

/* Absorbing layers of waves (wave_layers.h), all of an axis in one launch. A thread marches along a line of a
 * layer, from the end inwards, and reads and writes each value once:
 *
 *     turn j:   p arrives at depth j
 *               psi at depth j - 4,       from nine values of p in registers
 *               the term at depth j - 8,  from nine values of p, nine of psi, and nine of psi before
 *
 * With one Laplacian the layers of an axis are a launch after the step, and add the terms to its results
 * (ADDS). With two, those of all axes are one launch before it, and the step reads the terms. Neighbouring
 * threads have neighbouring lines, which are neighbours in memory; but fields in a layer of x lie in rows, so
 * a block copies these to shared memory first (layer_rows). Turns are unrolled for the usual numbers of
 * points, and a thread then reads its line of p and of what it remembers before it computes: with a loop, a
 * turn would take some 100 instructions for 35 of arithmetic, and three values would be on their way at a
 * time instead of 34.
 *
 * Bytes per point of a layer of 10 points in single precision: psi 8, the term read and written 11 (14
 * points), p 5.6; with one Laplacian K and results 17. At 512^3 six layers hold 11.7 % of the points, so with
 * one Laplacian they move 4.9 bytes per point of the grid beside a step's 16; the goal was 15 % of a step. p,
 * K and results would stay on the chip if the step's kernel marched through psi; but it holds 239 registers
 * per thread, and what a block beside an end does longer, all others wait for. */

constexpr int LAYER_THREADS = 128, RADIUS = STENCIL_RADIUS;
constexpr int LAYER_PITCH = LAYER_THREADS + 2; /* of depths in shared memory: two rows of 16 have all banks */

/* A layer: lines along its axis, in rows or planes (`sheets`). Steps are along the line, from line to line,
 * and from sheet to sheet. */
struct layer {
  int axis, lines, sheets, chunks; /* lines of a sheet, sheets, and blocks for a sheet */
  int from[2], to[2];              /* lines, and sheets, to whose results terms are added */
  const real *p, *factor;
  real *out, *psi, *term;
  ptrdiff_t p_step[3], step[3];

  __host__ __device__ __forceinline__ int blocks() const {
    return chunks * sheets;
  }
  __device__ __forceinline__ bool adds_line(int line) const {
    return line >= from[0] && line < to[0];
  }
  __device__ __forceinline__ bool adds_sheet(int sheet) const {
    return sheet >= from[1] && sheet < to[1];
  }
};

struct layers_arguments {
  int points;    /* depths */
  size_t staged; /* bytes of shared memory for rows of x; 0: they are read where they are */
  const real *profile;
  real first[3][RADIUS], second[3][RADIUS + 1];
  layer of[6];
};

/* A line: p in global or shared memory. out: NULL if nothing is added here. */
struct layer_line {
  const real *p;
  real *psi, *term;
  ptrdiff_t p_step, step;
  const real *factor;
  real *out;
  real *staged; /* NULL, or where terms are left, in the place of p */
};

__device__ __forceinline__ real slope(const real *c, const real (&f)[2 * RADIUS + 1]) {
  return first_derivative(c, f[0], f[1], f[2], f[3], f[5], f[6], f[7], f[8]);
}

/* POINTS: the number of points, or 0 for one that is known at run time. */
template <int POINTS, bool ADDS>
__device__ __forceinline__ void layer_line_march(const layers_arguments &a, int axis, const layer_line &l) {
  constexpr int AHEAD = POINTS > 0 ? POINTS + RADIUS : 1; /* depths that are read ahead */
  constexpr int EARLY = POINTS > 0 ? 2 * RADIUS : 1;      /* of K and results, the depth itself included */
  const int points = POINTS > 0 ? POINTS : a.points, reach = points + RADIUS;
  const real *c1 = a.first[axis], *c2 = a.second[axis];
  const real *b = a.profile + 2 * axis * (ptrdiff_t)points, *weight = b + points;
  real f[3 * RADIUS + 1] = {}; /* the last ones of depth j; of psi and psi before those of depth j - 4 */
  real psi[2 * RADIUS + 1] = {}, psi_before[2 * RADIUS + 1] = {};
  real next_p[AHEAD], next_psi[AHEAD], next_term[AHEAD], factor[EARLY], out[EARLY];
  const bool adds = ADDS && l.out != nullptr;
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
    const int early = behind + EARLY - 1;
    if (adds && early >= 0 && early < reach) {
      factor[early % EARLY] = l.factor[early * l.p_step];
      out[early % EARLY] = l.out[early * l.p_step];
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
    if (ADDS && l.staged != nullptr) l.staged[behind * LAYER_PITCH] = term;
    if (adds) l.out[behind * l.p_step] = wave_layered(factor[behind % EARLY], term, out[behind % EARLY]);
  }
}

/* A block's lines of x, from `begin` on, by way of shared memory: p, and with one Laplacian K and the
 * results, all on their way at once. LANES threads share a row, so that places in the fields follow by
 * additions. */
template <int POINTS> struct layer_rows {
  static constexpr int LANES = POINTS > 0 && POINTS + RADIUS <= 16 ? 16 : 32;
  static constexpr int ROWS = LAYER_THREADS / LANES; /* at a time */
  const layer &of;
  int reach, lines; /* values of a line, and lines of this block */
  int begin, row;   /* the block's first line, and the thread's first one of these */
  ptrdiff_t first;  /* where that one begins in a field */
  real *memory;

  __device__ __forceinline__ layer_rows(const layers_arguments &a, const layer &of, int sheet, int begin)
      : of(of), reach((POINTS > 0 ? POINTS : a.points) + RADIUS), lines(min(LAYER_THREADS, of.lines - begin)),
        begin(begin), row((int)threadIdx.x / LANES),
        first(sheet * of.p_step[2] + (begin + row) * of.p_step[1]),
        memory(reinterpret_cast<real *>(block_memory())) {}

  /* Calls use(line of the block, place in shared memory, place in a field) for a thread's values. */
  template <class Use> __device__ __forceinline__ void each(const Use &use) const {
    for (int j = (int)threadIdx.x % LANES; j < reach; j += LANES) {
      ptrdiff_t at = first + j * of.p_step[0];
#pragma unroll
      for (int k = 0; k < LANES; k++, at += ROWS * of.p_step[1])
        if (row + k * ROWS < lines) use(row + k * ROWS, j * LAYER_PITCH + row + k * ROWS, at);
    }
  }

  __device__ __forceinline__ void copy(bool adds) const {
    const int part = reach * LAYER_PITCH;
    each([&](int, int to, ptrdiff_t at) {
      copy_element(memory + to, of.p + at);
      if (adds) copy_element(memory + part + to, of.factor + at);
      if (adds) copy_element(memory + 2 * part + to, of.out + at);
    });
    copy_commit();
    copy_wait<0>();
    __syncthreads();
  }

  /* Adds the terms, which have taken the places of p. Each thread has copied what it reads else. */
  __device__ __forceinline__ void add() const {
    const int part = reach * LAYER_PITCH;
    __syncthreads();
    each([&](int line, int from, ptrdiff_t at) {
      if (of.adds_line(begin + line))
        of.out[at] = wave_layered(memory[part + from], memory[from], memory[2 * part + from]);
    });
  }
};

template <int POINTS, bool ADDS>
__device__ __forceinline__ void rows_march(const layers_arguments &a, const layer &of, int sheet, int begin,
                                           layer_line l) {
  const layer_rows<POINTS> rows(a, of, sheet, begin);
  const bool adds = ADDS && of.adds_sheet(sheet);
  rows.copy(adds);
  l.p = rows.memory + threadIdx.x;
  l.p_step = LAYER_PITCH;
  l.out = nullptr;
  l.staged = rows.memory + threadIdx.x;
  if ((int)threadIdx.x < rows.lines) layer_line_march<POINTS, ADDS>(a, of.axis, l);
  if (adds) rows.add();
}

template <int POINTS, bool ADDS>
__global__ void __launch_bounds__(LAYER_THREADS) layers_kernel(const __grid_constant__ layers_arguments a) {
  int block = (int)blockIdx.x, i = 0;
  while (block >= a.of[i].blocks()) block -= a.of[i++].blocks();
  const layer &of = a.of[i];
  const int sheet = block / of.chunks, begin = block % of.chunks * LAYER_THREADS;
  const int line = begin + (int)threadIdx.x;
  const ptrdiff_t at = sheet * of.step[2] + line * of.step[1],
                  p_at = sheet * of.p_step[2] + line * of.p_step[1];
  const bool adds = ADDS && of.adds_line(line) && of.adds_sheet(sheet);
  const layer_line l = {of.p + p_at,
                        of.psi + at,
                        of.term + at,
                        of.p_step[0],
                        of.step[0],
                        of.factor + p_at,
                        adds ? of.out + p_at : nullptr};
  if (of.axis == AXIS_X && a.staged > 0)
    rows_march<POINTS, ADDS>(a, of, sheet, begin, l);
  else if (line < of.lines)
    layer_line_march<POINTS, ADDS>(a, of.axis, l);
}

/* The layer beside an end of this axis. */
static layer layer_of(const kernels_launch *launch, const kernels_wave *call, int axis, int end) {
  const kernels_shape *shape = &launch->shape;
  const wave_layers *layers = &call->layers;
  const int n[3] = {shape->nx, shape->ny, shape->nz}, beyond = axis == AXIS_Z ? 0 : layers->beyond;
  const int along[3] = {axis, axis == AXIS_X ? AXIS_Y : AXIS_X, axis == AXIS_Z ? AXIS_Y : AXIS_Z};
  const ptrdiff_t pitch[3] = {1, shape->ldx, shape->plane}, last = (n[axis] - 1) * pitch[axis];
  const ptrdiff_t first = (end == 0 ? 0 : last) - beyond * shape->plane;
  const auto begin = [&](int part) {
    return static_cast<real *>(layers->memory) + wave_layers_at(layers, shape, part, axis, end, -beyond);
  };
  layer made = {axis, n[along[1]], n[along[2]] + 2 * beyond, divide_up(n[along[1]], LAYER_THREADS)};
  made.p = shifted(launch, call->p) + first;
  made.factor = shifted(launch, call->factor) + first;
  made.out = shifted(launch, call->out) + first;
  made.psi = begin(WAVE_PSI);
  made.term = begin(WAVE_TERM);
  for (int i = 0; i < 2; i++) { /* nothing is added on ends where results are zero */
    const wave_image *ends = call->ends[along[1 + i]];
    made.from[i] = !call->plain && ends[0] == WAVE_ODD;
    made.to[i] = n[along[1 + i]] - (!call->plain && ends[1] == WAVE_ODD);
  }
  for (int k = 0; k < 3; k++) {
    made.p_step[k] = k == 0 && end == 1 ? -pitch[axis] : pitch[along[k]];
    made.step[k] = wave_layers_step(layers, shape, axis, along[k]);
  }
  return made;
}

template <bool ADDS>
static status layers_launch(const kernels_launch *launch, const layers_arguments &a, int count) {
  const auto kernel = a.points == 10   ? layers_kernel<10, ADDS>
                      : a.points == 20 ? layers_kernel<20, ADDS>
                                       : layers_kernel<0, ADDS>;
  int blocks = 0;
  for (int i = 0; i < count; i++) blocks += a.of[i].blocks();
  if (blocks == 0) return STATUS_OK;
  const size_t shared = a.of[0].axis == AXIS_X ? a.staged : 0;
  CHECK_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared));
  kernel_launch(kernel, (unsigned)blocks, LAYER_THREADS, shared, launch_stream(launch), a);
  return launch_done(launch, "wave, layers");
}

extern "C" status NAME(wave_layers)(const kernels_launch *launch, const kernels_wave *call) {
  /* The last one is where steps begin, which then find p and terms in the cache. */
  static const int order[] = {0, 1, 2, 3, 5, 4};
  const wave_layers *layers = &call->layers;
  const size_t fields = call->twice ? 1 : 3; /* p, and K and the results */
  const size_t staged = fields * (size_t)(layers->points + RADIUS) * LAYER_PITCH * sizeof(real);
  const bool room = staged <= launch->context->shared_limit;
  layers_arguments a = {layers->points, room ? staged : 0, static_cast<const real *>(layers->profile)};
  int count = 0;
  for (int d = 0; d < 3; d++) {
    for (int k = 0; k < RADIUS; k++) a.first[d][k] = (real)launch->stencil->first[d][k];
    for (int k = 0; k <= RADIUS; k++) a.second[d][k] = (real)launch->stencil->second[d][k];
  }
  for (int i = 0; i < 6; i++) {
    const int axis = order[i] / 2, end = order[i] % 2;
    if (layers->there[axis][end]) a.of[count++] = layer_of(launch, call, axis, end);
    if (call->twice || i % 2 == 0) continue;
    CHECK(layers_launch<true>(launch, a, count));
    count = 0;
  }
  return call->twice ? layers_launch<false>(launch, a, count) : STATUS_OK;
}
