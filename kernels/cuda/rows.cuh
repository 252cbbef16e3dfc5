#ifndef FDAPP_CUDA_ROWS_CUH
#define FDAPP_CUDA_ROWS_CUH

#include "operations.cuh"

/* Differences along x alone. A warp loads 32 vectors of each of ROWS rows into registers, and lanes exchange
 * vectors by shuffles. Only the vectors on both sides of the 32 are loaded twice:
 *
 *     row      ... | left | lane 0 | lane 1 |  ...  | lane 31 | right | ...
 *     beside          of the last lanes                  of the first lanes */

constexpr int ROWS_WARPS = 8;

/* Fills `line` with the lane's own vector and SIDES vectors on each side. Lanes at the warp's ends take them
 * from `beside`: the first SIDES lanes hold the vectors right of the warp, the last SIDES those left. */
template <int SIDES>
__device__ __forceinline__ void neighbours_gather(const real (&own)[VECTOR], const real (&beside)[VECTOR],
                                                  real (&line)[VECTOR + 2 * HALO]) {
  constexpr unsigned ALL = 0xffffffffU;
  const int lane = (int)threadIdx.x;
#pragma unroll
  for (int v = 0; v < VECTOR; v++) {
    line[HALO + v] = own[v];
#pragma unroll
    for (int k = 1; k <= SIDES; k++) {
      line[HALO + v - k * VECTOR] = __shfl_sync(ALL, lane >= 32 - k ? beside[v] : own[v], lane - k);
      line[HALO + v + k * VECTOR] = __shfl_sync(ALL, lane < k ? beside[v] : own[v], lane + k);
    }
  }
}

/* The place in memory of a vector of a periodic row. It begins at column `first`. If it `joins`, two vectors
 * of memory make it: it starts `shift` elements into the first and continues with the second. At the end of a
 * row, where its beginning follows, the leading `keep` elements of the first stay in place. */
struct row_place {
  int first, second, shift, keep;
  bool joins;
};

/* Finds the vector at x, a multiple of VECTOR. Vectors HALO or more columns beyond the row are not needed:
 * they get any valid place. */
__device__ __forceinline__ row_place row_find(int x, int nx) {
  const int rest = nx % VECTOR, whole = nx - rest, past = min(x - whole, HALO);
  if (x < 0) return {whole + x, whole + x + VECTOR, rest, 0, rest > 0};
  if (past < 0) return {x, x, 0, 0, false};
  if (rest == 0) return {past, past, 0, 0, false};
  if (past == 0) return {whole, 0, VECTOR - rest, rest, true};
  return {past - VECTOR, past, VECTOR - rest, 0, true};
}

/* Joins the first vector, `to`, with the second, `next`; the result replaces `to`. */
__device__ __forceinline__ void vectors_join(const row_place &at, const real (&next)[VECTOR],
                                             real (&to)[VECTOR]) {
  real both[2 * VECTOR];
#pragma unroll
  for (int v = 0; v < VECTOR; v++) {
    both[v] = to[v];
    both[VECTOR + v] = next[v];
  }
#pragma unroll
  for (int by = 1; by < VECTOR; by *= 2) { /* indices are constants, so arrays stay in registers */
#pragma unroll
    for (int v = 0; v + by < 2 * VECTOR; v++) both[v] = at.shift & by ? both[v + by] : both[v];
  }
#pragma unroll
  for (int v = 0; v < VECTOR; v++) to[v] = v < at.keep ? to[v] : both[v];
}

template <int ROWS>
__device__ __forceinline__ void rows_join(const row_place &at, const real *f, int pitch,
                                          real (&to)[ROWS][VECTOR]) {
  real next[ROWS][VECTOR];
#pragma unroll
  for (int r = 0; r < ROWS; r++) vector_load(f + r * pitch + at.second, next[r]);
#pragma unroll
  for (int r = 0; r < ROWS; r++) vectors_join(at, next[r], to[r]);
}

/* blockDim is (32, ROWS_WARPS). blockIdx.x is the part of a row, blockIdx.y the range of planes. The groups
 * of ROWS rows of a range have consecutive numbers, and each lies in one plane: if ROWS does not divide ny,
 * the last group of a plane repeats rows of the group before it. A branch for missing rows was worse: the
 * compiler made a warp wait for some loads before it issued the others. */
template <class Op, int ROWS, int BLOCKS>
__global__ void __launch_bounds__(32 * ROWS_WARPS, BLOCKS)
    rows_kernel(const __grid_constant__ arguments a, const __grid_constant__ geometry d) {
  constexpr int SIDES = HALO / VECTOR;
  const kernels_planes range = d.range[blockIdx.y];
  const unsigned parts = (unsigned)divide_up(d.nx, 32 * VECTOR);
  const unsigned groups = (unsigned)divide_up(d.ny, ROWS); /* per plane */
  const unsigned group = blockIdx.x / parts * ROWS_WARPS + threadIdx.y;
  const int z = range.z0 + (int)(group / groups);
  const int y = min((int)(group % groups) * ROWS, d.ny - ROWS);
  if (z >= range.z1) return;
  const int lane = (int)threadIdx.x;
  const bool at_end = lane < SIDES || lane >= 32 - SIDES;
  const int x = ((int)(blockIdx.x % parts) * 32 + lane) * VECTOR;
  const int side = lane < SIDES ? x + 32 * VECTOR : x - 32 * VECTOR;
  const row_place here = row_find(x, d.nx), side_at = row_find(at_end ? side : 0, d.nx);
  const ptrdiff_t start = d.plane(z) + (ptrdiff_t)y * d.ldx;
  const real *field = a.in[Op::FIELD] + start;
  real own[ROWS][VECTOR], beside[ROWS][VECTOR] = {};
#pragma unroll
  for (int r = 0; r < ROWS; r++) {
    vector_load(field + r * d.ldx + here.first, own[r]);
    if (at_end) vector_load(field + r * d.ldx + side_at.first, beside[r]);
  }
  if (here.joins) rows_join(here, field, d.ldx, own);
  if (side_at.joins) rows_join(side_at, field, d.ldx, beside);
#pragma unroll
  for (int r = 0; r < ROWS; r++) {
    lines f, g;
    points at;
    real result[LEAN_OUTPUTS][VECTOR];
    neighbours_gather<SIDES>(own[r], beside[r], f.x);
#pragma unroll
    for (int v = 0; v < VECTOR; v++) at.input[Op::FIELD][v] = own[r][v];
    Op::apply(a, f, g, at, result);
    if (x >= d.x0 && x < d.x1 && y + r >= d.y0 && y + r < d.y1) Op::store(a, start + r * d.ldx + x, result);
  }
}

/* The rows per warp and blocks per multiprocessor that measured fastest (docs/explanation/performance.md,
 * "Whole rows for d/dx"). */
template <class Op>
static status rows_launch(const kernels_launch *launch, const arguments &a, const char *name) {
  constexpr int ROWS = by_precision_value(2, 4), BLOCKS = by_precision_value(6, 4);
  const geometry d = launch_geometry(launch);
  const size_t groups = (size_t)d.longest() * (size_t)divide_up(d.ny, ROWS);
  const size_t blocks = (groups + ROWS_WARPS - 1) / ROWS_WARPS * (size_t)divide_up(d.nx, 32 * VECTOR);
  const dim3 grid((unsigned)blocks, d.ranges());
  kernel_launch(rows_kernel<Op, ROWS, BLOCKS>, grid, dim3(32, ROWS_WARPS), 0, launch_stream(launch), a, d);
  return launch_done(launch, name);
}

#endif
