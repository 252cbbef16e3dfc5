#include "wave_hand.cuh"
#include "wave_twice.cuh"

/* Reallocating registers needs compute capability 9.0, so this file is compiled for that alone. */

/* How a launch is divided, and what a multiprocessor computes one after the other, in points. */
struct plan {
  pair_cut cut; /* of blocks that hand rims to one another */
  int chunk;    /* planes of a piece */
  long cost;    /* LONG_MAX: not possible */
};

/* The device has code and room for a kernel. */
template <class Kernel>
static bool has_room(const kernels_launch *launch, Kernel *kernel, int threads, size_t shared) {
  int blocks = 0;
  if (shared <= launch->context->shared_limit &&
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared) == cudaSuccess &&
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, shared) == cudaSuccess)
    return blocks > 0;
  (void)cudaGetLastError();
  return false;
}

/* Nothing is negated beyond ends of x and y, nor zero beyond any end; so there are no layers, either. */
static bool has_plain_images(const kernels_wave &call) {
  for (int i = 0; i < 6; i++) {
    const wave_image kind = call.ends[i / 2][i % 2];
    if (kind == WAVE_ZERO || (kind == WAVE_ODD && i < 4)) return false;
  }
  return true;
}

/* Beyond all ends of x and y fields are zero. */
static bool has_zeros_around(const kernels_wave &call) {
  for (int i = 0; i < 4; i++) {
    if (call.ends[i / 2][i % 2] != WAVE_ZERO) return false;
  }
  return true;
}

static auto twice_kernel(const wave_arguments &a) {
  return has_plain_images(a.call) ? wave_twice_kernel<false> : wave_twice_kernel<true>;
}

/* Blocks that compute q around their tiles, and beyond walls as a Laplacian of images. Of a zero that is
 * negated this would be another zero; so other ends have images of q, which are written for whole vectors
 * inside. */
static plan plan_alone(const kernels_launch *launch, const wave_arguments &a, const geometry &d) {
  using Tile = wave_twice_tile;
  const int multiprocessors = launch->context->multiprocessors;
  plan p = {{}, 0, LONG_MAX};
  const bool whole = d.nx % HALO == 0 && d.ny % HALO == 0;
  if (!(has_plain_images(a.call) || has_zeros_around(a.call) || whole) ||
      !has_room(launch, twice_kernel(a), Tile::THREADS, Tile::SHARED_BYTES))
    return p;
  const int tiles = divide_up(d.nx, Tile::WIDTH) * divide_up(d.ny, Tile::HEIGHT);
  p.chunk = march_chunk(tiles, d.longest(), multiprocessors, 4 * HALO);
  p.cost = (long)divide_up(tiles * d.pieces(p.chunk), multiprocessors) * (p.chunk + 4 * HALO) * Tile::CORE;
  return p;
}

constexpr size_t COUNTERS = 64 << 10; /* bytes of words and counters in the exchange memory, as in pair.cu */

static auto hand_kernel(const wave_arguments &a) {
  return a.terms.count > 0 ? wave_hand_kernel<true> : wave_hand_kernel<false>;
}

/* Blocks that hand rims to one another, all at the same time. */
static plan plan_handed(const kernels_launch *launch, const wave_arguments &a, const geometry &d) {
  using Tile = wave_hand_tile;
  const int across = d.nx % Tile::WIDTH, down = d.ny % Tile::HEIGHT, planes = d.planes(0);
  const pair_cut cut = {divide_up(d.nx, Tile::WIDTH), divide_up(d.ny, Tile::HEIGHT), 0, 0, false};
  plan p = {cut, 0, LONG_MAX};
  p.cut.pieces =
      std::min(launch->context->multiprocessors / (cut.tiles_x * cut.tiles_y), planes / (4 * HALO));
  if (p.cut.pieces == 0 || planes < d.planes() || d.nx % VECTOR != 0 || d.ny % WAVE_ROWS != 0 ||
      (across != 0 && across < 2 * HALO) || (down != 0 && down < 2 * HALO))
    return p;
  p.chunk = divide_up(planes, p.cut.pieces);
  if ((3 + (size_t)p.cut.pieces * (size_t)p.chunk) * sizeof(unsigned) > COUNTERS ||
      !has_room(launch, hand_kernel(a), Tile::THREADS, Tile::SHARED_BYTES))
    return p;
  p.cost = (long)(p.chunk + 4 * HALO) * Tile::CORE;
  return p;
}

static status launch_handed(const kernels_launch *launch, const wave_arguments &a, const geometry &d,
                            const plan &p) {
  using Tile = wave_hand_tile;
  constexpr double PATIENCE = 30.0; /* seconds */
  const unsigned blocks = (unsigned)(p.cut.tiles_x * p.cut.tiles_y * p.cut.pieces);
  kernels_context *context = launch->context;
  CHECK(context_exchange(context, COUNTERS + (size_t)Tile::RIM_PLANES * blocks * Tile::RIMS * sizeof(real)));
  unsigned char *memory = static_cast<unsigned char *>(context->exchange);
  unsigned *words = reinterpret_cast<unsigned *>(memory);
  pair_exchange exchange = {};
  exchange.rims = memory + COUNTERS;
  exchange.seamed = words;
  exchange.stuck = words + 1;
  exchange.left = words + 2;
  exchange.counters = words + 3;
  exchange.blocks = blocks;
  exchange.planes = p.chunk;
  exchange.patience = (unsigned long long)(1e9 * PATIENCE);
  exchange.late = context->late;
  CHECK_CUDA(kernel_launch_together(hand_kernel(a), blocks, Tile::THREADS, Tile::SHARED_BYTES,
                                    launch_stream(launch), a, d, p.cut, exchange));
  return launch_done(launch, "wave, two Laplacians");
}

extern "C" bool NAME(wave_twice)(const kernels_launch *launch, const wave_arguments *a, const geometry *d,
                                 status *done) {
  using Tile = wave_twice_tile;
  constexpr size_t LEAST = 32 * Tile::CORE; /* points for each multiprocessor */
  if (a->call.plain || !wave_is_large(*d, LEAST * (size_t)launch->context->multiprocessors)) return false;
  const plan handed = plan_handed(launch, *a, *d), alone = plan_alone(launch, *a, *d);
  if (handed.cost == LONG_MAX && alone.cost == LONG_MAX) return false;
  if (handed.cost <= alone.cost) {
    *done = launch_handed(launch, *a, *d, handed);
    return true;
  }
  const int tiles = divide_up(d->nx, Tile::WIDTH) * divide_up(d->ny, Tile::HEIGHT);
  kernel_launch(twice_kernel(*a), (unsigned)(tiles * d->pieces(alone.chunk)), Tile::THREADS,
                Tile::SHARED_BYTES, launch_stream(launch), *a, *d, alone.chunk);
  *done = launch_done(launch, "wave, two Laplacians");
  return true;
}
