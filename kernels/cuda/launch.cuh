#ifndef FDAPP_CUDA_LAUNCH_CUH
#define FDAPP_CUDA_LAUNCH_CUH

#include "pipeline.cuh"

/* Chooses the kernel and the tile of an operation. */

template <class A, class B> using by_precision = std::conditional_t<sizeof(real) == sizeof(float), A, B>;

/* The table: tiles that were fastest on compute capability 9.0 (run/results/kernels.md). A device with less
 * shared memory than a tile needs takes the kernel without shared memory. */
template <class Op> struct tile_of {
  using type = tile<64, 4, 2, 2>; /* gradient, Laplacian, uniform stages */
};
template <> struct tile_of<derivative_operation<AXIS_X>> { using type = tile<64 * VECTOR, 4, 2, 2>; };
template <> struct tile_of<derivative_operation<AXIS_Y>> { using type = tile<16 * VECTOR, 4, 2, 2>; };
template <> struct tile_of<derivative_operation<AXIS_Z>> { using type = tile<16 * VECTOR, 4, 3, 0>; };
template <> struct tile_of<divergence_operation> { using type = tile<16 * VECTOR, 4, 2, 2>; };
template <advection FORM, bool DIFFUSION, int ADDED> struct tile_of<stage_operation<FORM, DIFFUSION, ADDED>> {
  using uniform = std::conditional_t < ADDED<3, tile<64, 4, 2, 2>, tile<64, 2, 2, 2>>;
  using advective = by_precision < tile<64, 2, 2, 2>, tile<32, 2, ADDED<3 ? 2 : 1, 2>>;
  using flux = by_precision<tile<64, 2, 1, 2>, tile<32, 2, 1, 2>>;
  using stored = std::conditional_t<FORM == advection::ADVECTIVE, advective, flux>;
  using type = std::conditional_t<FORM == advection::UNIFORM, uniform, stored>;
};

constexpr size_t SHARED_STATIC = 128; /* what a kernel has besides its rings, rounded up */

/* Fewer planes or points than these do not fill the pipeline. */
constexpr int PIPELINE_PLANES = 24;
constexpr size_t PIPELINE_POINTS = (size_t)1 << 20;

/* The number of pieces along z that takes the fewest rounds of planes, with `resident` blocks at once. */
static inline int pieces_choose(int tiles, int planes, int lead, int resident) {
  int best = 1;
  long least = LONG_MAX;
  for (int pieces = 1; pieces <= 16 && planes / pieces >= 2 * HALO; pieces++) {
    const long rounds = divide_up(tiles * pieces, resident);
    const long cost = rounds * (divide_up(planes, pieces) + lead);
    if (cost < least) {
      least = cost;
      best = pieces;
    }
  }
  return best;
}

/* Groups of whole rows of tiles, as many as are resident at once. */
static inline pace pace_make(const kernels_launch *launch, const cut &c, int blocks, int resident, int every,
                             int iterations) {
  pace p = {launch->context->pace[launch->queue], blocks, 0, 0};
  if (every == 0 || blocks == 1) return p;
  const int whole = resident / c.tiles_x * c.tiles_x;
  p.group = whole > 0 ? whole : resident;
  p.steps = divide_up(iterations, every);
  if (PACE_COUNTERS + divide_up(blocks, p.group) > CONTEXT_PACE_WORDS) p.group = 0;
  return p;
}

template <class Op, class Tile>
static status pipeline_launch(const kernels_launch *launch, const arguments &a, const char *name) {
  constexpr size_t shared = pipeline<Op, Tile>::SHARED_BYTES;
  const geometry d = launch_geometry(launch);
  const auto kernel = pipeline_kernel<Op, Tile>;
  int resident = 0;
  CHECK_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared));
  CHECK_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, THREADS, shared));
  if (resident == 0)
    return direct_launch<Op>(launch, a, name); /* what is left of the device has no place for a block */
  resident *= launch->context->multiprocessors;
  const int planes = d.planes();
  constexpr int lead = 2 * pipeline<Op, Tile>::LEAD;
  cut c = {divide_up(d.nx, Tile::WIDTH), divide_up(d.ny, Tile::HEIGHT), 0};
  const int tiles = c.tiles_x * c.tiles_y;
  c.chunk = divide_up(planes, pieces_choose(tiles, planes, lead, resident));
  const int blocks = tiles * d.pieces(c.chunk);
  const pace paced = pace_make(launch, c, blocks, resident, Tile::PACE, c.chunk + lead);
  kernel<<<(unsigned)blocks, THREADS, shared, launch_stream(launch)>>>(a, d, c, paced);
  return context_launched(launch->context, launch->queue, name);
}

template <class Op>
static status operation_launch(const kernels_launch *launch, const arguments &a, const char *name) {
  using Tile = typename tile_of<Op>::type;
  const geometry d = launch_geometry(launch);
  const int planes = d.planes();
  const bool large = planes >= PIPELINE_PLANES && d.ny >= 2 * HALO && d.nx >= 2 * HALO &&
                     (size_t)planes * d.ny * d.nx >= PIPELINE_POINTS && (size_t)d.ny * d.ldx < INT32_MAX;
  const bool fits = pipeline<Op, Tile>::SHARED_BYTES + SHARED_STATIC <= launch->context->shared_limit;
  if (large && fits) return pipeline_launch<Op, Tile>(launch, a, name);
  return direct_launch<Op>(launch, a, name);
}

#endif
