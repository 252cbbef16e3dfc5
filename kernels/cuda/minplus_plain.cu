#include "minplus.cuh"

/* For fdbench: the loop of additions and minima in registers that gives the ceiling of min-plus products, and
 * simpler ways of computing a product. */

constexpr int LOOP_THREADS = 64, LOOP_BLOCKS = by_precision_value(8, 4); /* per multiprocessor */
constexpr int LOOP_SIDE = 8;                                             /* a thread has its square of sums */
constexpr int LOOP_STEPS = 2048;
static_assert(KERNELS_LOOP >= 2 * LOOP_SIDE + LOOP_THREADS, "operands and results of the loop");

/* Each sum depends on the one before, so the compiler can leave out none. */
static __global__ void __launch_bounds__(LOOP_THREADS, LOOP_BLOCKS)
    loop_kernel(const real *__restrict__ in, real *__restrict__ out) {
  real add[LOOP_SIDE], most[LOOP_SIDE], sum[LOOP_SIDE][LOOP_SIDE];
#pragma unroll
  for (int i = 0; i < LOOP_SIDE; i++) {
    add[i] = in[i];
    most[i] = in[LOOP_SIDE + i];
#pragma unroll
    for (int j = 0; j < LOOP_SIDE; j++) sum[i][j] = (real)((int)threadIdx.x + i + j);
  }
#pragma unroll 4
  for (int step = 0; step < LOOP_STEPS; step++) {
#pragma unroll
    for (int i = 0; i < LOOP_SIDE; i++) {
#pragma unroll
      for (int j = 0; j < LOOP_SIDE; j++) sum[i][j] = lesser(sum[i][j] + add[j], most[i]);
    }
  }
  real least = sum[0][0];
#pragma unroll
  for (int i = 0; i < LOOP_SIDE; i++) {
#pragma unroll
    for (int j = 0; j < LOOP_SIDE; j++) least = lesser(sum[i][j], least);
  }
  if (blockIdx.x == 0) out[threadIdx.x] = least;
}

extern "C" status NAME(minplus_loop)(const kernels_launch *launch, const void *in, void *out, double *pairs) {
  const int blocks = launch->context->multiprocessors * LOOP_BLOCKS;
  kernel_launch(loop_kernel, (unsigned)blocks, LOOP_THREADS, 0, launch_stream(launch),
                static_cast<const real *>(in), static_cast<real *>(out));
  *pairs = (double)blocks * LOOP_THREADS * LOOP_SIDE * LOOP_SIDE * LOOP_STEPS;
  return context_launched(launch->context, launch->queue, "kernel loop of additions and minima");
}

/* A product with a matrix along y. */
struct plain_product {
  const real *in, *cost;
  real *out;
  int nx, points, count, ldx;
  ptrdiff_t pitch, plane;
};

constexpr int PLAIN_SIDE = 16; /* side of a block's tile; one value per thread */

/* A thread computes one value. SHARED: a block first loads PLAIN_SIDE values of k into shared memory;
 * otherwise each thread reads global memory. */
template <bool SHARED>
static __global__ void __launch_bounds__(PLAIN_SIDE *PLAIN_SIDE)
    plain_kernel(const __grid_constant__ plain_product m) {
  __shared__ real values[PLAIN_SIDE][PLAIN_SIDE], costs[PLAIN_SIDE][PLAIN_SIDE];
  const int column = (int)threadIdx.x % PLAIN_SIDE, row = (int)threadIdx.x / PLAIN_SIDE;
  const int x = (int)blockIdx.x * PLAIN_SIDE + column, i = (int)blockIdx.y * PLAIN_SIDE + row;
  const bool inside = x < m.nx && i < m.points;
  const real *in = m.in + (ptrdiff_t)blockIdx.z * m.plane + x, *cost = m.cost + i * m.pitch;
  real least = infinity();
  if constexpr (SHARED) {
    for (int k0 = 0; k0 < m.count; k0 += PLAIN_SIDE) {
      const bool there = k0 + row < m.count && x < m.nx;
      values[row][column] = there ? in[(ptrdiff_t)(k0 + row) * m.ldx] : infinity();
      costs[row][column] = k0 + column < m.count && i < m.points ? cost[k0 + column] : (real)0;
      __syncthreads();
#pragma unroll
      for (int k = 0; k < PLAIN_SIDE; k++) least = lesser(values[k][column] + costs[row][k], least);
      __syncthreads();
    }
  } else if (inside) {
    for (int k = 0; k < m.count; k++) least = lesser(in[(ptrdiff_t)k * m.ldx] + cost[k], least);
  }
  if (inside) m.out[(ptrdiff_t)blockIdx.z * m.plane + (ptrdiff_t)i * m.ldx + x] = least + (real)0;
}

extern "C" status NAME(minplus_plain)(const kernels_launch *launch, int variant,
                                      const kernels_minplus *what) {
  const kernels_shape *s = &launch->shape;
  const plain_product m = {static_cast<const real *>(what->in),
                           static_cast<const real *>(what->cost),
                           static_cast<real *>(what->out),
                           s->nx,
                           s->ny,
                           what->count,
                           s->ldx,
                           what->pitch,
                           s->plane};
  const dim3 grid((unsigned)divide_up(m.nx, PLAIN_SIDE), (unsigned)divide_up(m.points, PLAIN_SIDE),
                  (unsigned)s->nz);
  kernel_launch(variant == MINPLUS_NO_REUSE ? plain_kernel<false> : plain_kernel<true>, grid,
                PLAIN_SIDE * PLAIN_SIDE, 0, launch_stream(launch), m);
  return context_launched(launch->context, launch->queue, "kernel of a plain min-plus product");
}
